"""Formats of users' own files: text such as CSV, typed columns, or a matrix with separate vectors."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.files import COLUMN_BYTES, ROW_BYTES, TableError
from provlab.data.own.arff import was_read_otherwise
from provlab.data.own.table import Table, once, read_sound
from provlab.data.own.text import (
    JSON_LINES,
    PACKED,
    SVMLIGHT,
    TEXTS,
    Reading,
    TextTable,
    encoding_of,
    format_of,
    is_number,
    is_written_as_csv,
    layout_of,
    lines_of,
    open_unpacked,
)
from provlab.project.messages import listed
from provsel.streams.memory import check_memory, memory_limit
from provsel.streams.npz import COMPRESSED, compressed, npz_bytes, npz_headers, read_npz
from provsel.streams.svmlight_rows import SvmlightRows, query_ids

APART = (".npz", ".mat", *SVMLIGHT)
"""Formats that store labels separately from the columns."""

UNNAMED = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_0__")
"""Name that pandas gives to a nameless column; the first such column may number the rows."""

MATLAB_ADVICE = {
    "sparse": "write it in full, X = full(X), or as svmlight",
    "cell": "encode its strings as numbers, [~, ~, Y] = unique(Y)",
    "struct": "write its fields as variables",
    "char": "encode its strings as numbers, [~, ~, Y] = unique(cellstr(Y))",
}
"""Advice for each class of MATLAB variables that is not a numeric matrix."""

MATLAB_NUMBERS = {
    "double",
    "single",
    "logical",
    *(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64)),
}
"""Classes of variables that are matrices of real numbers, as `scipy.io.whosmat` calls them."""

TEXT_ROWS = 64
"""Number of rows of text read together, if each may be as long as all before it."""

TYPED_FACTOR = 8
"""Memory for a Stata file as a multiple of its size, because bytes become 64-bit floats."""


def read_table(file: Path, how: Reading) -> Table:
    """Return the content of a file."""
    return read_sound(FORMATS[format_of(file)][0], file, how)


def names_of(file: Path, how: Reading) -> list[str]:
    """Return the names of the columns of a file."""
    if format_of(file) in TEXTS:
        return [*once(layout_of, file, how).names]
    if format_of(file) == ".parquet":
        from pyarrow.parquet import read_schema

        schema = read_schema(file)
        index = _index_of(schema)
        return [name for name in schema.names if name not in index]
    return read_table(file, how).names


def has_index(file: Path, how: Reading) -> bool:
    """Return whether a nameless first column numbers or names the rows by integers or strings.

    Numbers may also restart, as in joined tables.
    """
    if format_of(file) in TEXTS:
        text = TextTable(file, how, once(layout_of, file, how))
        if text.layout.row_names:
            return True
        _check_text_size(text)
        column = text.read_column(0).fillna("")
    else:
        column = read_table(file, how).column(0)
    texts = [str(value).strip() for value in column]
    texts = [cell for cell in texts if cell]
    if not texts or not all(map(is_number, texts)):
        return len({*texts}) == len(texts)
    numbers = np.array(texts, dtype=np.float64)
    if (numbers != np.floor(numbers)).any():
        return False
    steps = np.diff(numbers)[numbers[1:] != numbers[0]]
    return np.unique(numbers).size == numbers.size or {*steps.tolist()} == {1.0}


def is_read_anew(file: Path, how: Reading) -> bool:
    """Return whether provsel 0.1.0 silently misread a file, so that its trials do not count."""
    if format_of(file) == ".arff":
        encoding = how.encoding or encoding_of(file)
        with io.TextIOWrapper(
            open_unpacked(file), encoding, errors="replace", newline=""
        ) as text:
            return was_read_otherwise(lines_of(text))
    if format_of(file) != ".parquet":
        return False
    from pyarrow.parquet import read_schema

    columns = _pandas_notes(read_schema(file)).get("columns") or []
    return any(
        str(column.get("name")) != column.get("field_name")
        for column in columns
        if column.get("name")
    )


def _check_size(file: Path, shape: Sequence[int], n_bytes: int | None = None) -> None:
    """Raise if the rows and columns need too much memory; `n_bytes` defaults to eight per number."""
    if len(shape) != 2:
        raise TableError(f"expected rows and columns, got shape {tuple(shape)}.")
    n, d = shape
    if n_bytes is None:
        n_bytes = 8 * n * d
    needed = n_bytes + ROW_BYTES * n + COLUMN_BYTES * d
    check_memory(f"data set {file.name}", needed, f"{n:,} rows of {d:,} columns")


# ---- text


def _check_text_size(text: TextTable) -> None:
    """Raise if a text table needs too much memory for its number of lines; those written as CSV fit in."""
    if is_written_as_csv(text.file, text.how):
        return
    is_packed = text.file.suffix.lower() in PACKED
    width = len(text.layout.names)
    n_newlines = 0
    n_returns = 0
    size = 0
    with open_unpacked(text.file) as content:
        while block := content.read(1 << 20):
            n_newlines += block.count(b"\n")
            n_returns += block.count(b"\r")  # Windows ends lines with both
            if is_packed:  # unpacked text may be longer than its numbers
                size += len(block)
            # a row shorter than the first line is filled up
            n_lines = max(n_newlines, n_returns)
            _check_size(text.file, (n_lines, width), max(8 * n_lines * width, size))


def _read_text(file: Path, how: Reading) -> Table:
    layout = once(layout_of, file, how)
    text = TextTable(file, how, layout)
    _check_text_size(text)
    # one block per type makes slices of thousands of columns fast
    frame = text.read().copy()
    notes = []
    if layout.row_names:
        frame = frame.iloc[:, 1:]
        notes.append("the first fields of the rows, which have no name, are left out")

    def where(row: int) -> str:
        return text.place_of(int(frame.index[row]))

    def texts(k: int) -> Any:
        return text.read_column(k + layout.row_names).iloc[frame.index].str.strip()

    width = len(layout.names)
    beyond = np.argwhere(frame.iloc[:, width:].notna().to_numpy())
    if len(beyond):
        row, k = beyond[0]
        raise TableError(
            f"expected no values after the last name, got {frame.iloc[row, width + k]!s:.40} in {where(row)}; "
            f"name that column in the first line."
        )
    if frame.iloc[:, 0].isna().any():
        is_empty = frame.isna().all(axis=1)
        if is_empty.any():  # NA may be a label
            cells = text.read_written().iloc[:, -frame.shape[1] :]
            is_empty = is_empty & (cells.fillna("") == "").all(axis=1)
            frame = frame[~is_empty]
        if is_empty.any():
            notes.append(
                f"{np.count_nonzero(is_empty)} rows without any value are left out"
            )
    return Table(frame.iloc[:, :width], [*layout.names], {}, where, texts, notes, how)


# ---- columns with types


def _pandas_notes(schema: Any) -> dict[str, Any]:
    """Return the pandas metadata of a schema; empty if they are not a mapping."""
    try:
        notes = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _index_of(schema: Any) -> list[str]:
    """Return the names of the columns that form the index of a DataFrame."""
    names = _pandas_notes(schema).get("index_columns")
    if not isinstance(names, list):
        return []
    return [name for name in names if name in schema.names]


def _table_of_arrow(table: Any, how: Reading) -> Table:
    """Return columns with the names and types of the schema, which pandas metadata may contradict."""
    import pandas as pd

    index = _index_of(table.schema)
    frame = table.drop_columns(index).to_pandas(ignore_metadata=True)
    for k, kind in enumerate(frame.dtypes):
        if kind == "category" and kind.categories.dtype.kind == "O":
            texts_once = pd.Index(kind.categories.to_numpy(dtype=object), dtype=object)
            frame.isetitem(
                k, pd.Categorical.from_codes(frame.iloc[:, k].cat.codes, texts_once)
            )
    table = _typed(frame, how)
    named = [name for name in index if not UNNAMED.fullmatch(name)]
    if named:
        table.notes.append(f"the index of the DataFrame, {listed(named)}, is left out")
    return table


def _typed(frame: Any, how: Reading) -> Table:
    return Table(frame, [*map(str, frame.columns)], how=how)


def _read_parquet(file: Path, how: Reading) -> Table:
    """Read columns, keeping each distinct string only once to save memory."""
    from pyarrow.parquet import ParquetFile

    metadata = ParquetFile(file).metadata
    shape = metadata.num_rows, metadata.num_columns
    size = 0
    texts: dict[str, None] = {}
    written_as_changes: dict[str, None] = {}
    for group in range(metadata.num_row_groups):
        for k in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(k)
            size += 8 * chunk.num_values  # a column of lists has more values than rows
            if chunk.physical_type == "BYTE_ARRAY":
                size += chunk.total_uncompressed_size
                texts[chunk.path_in_schema] = None
                if "DELTA_BYTE_ARRAY" in chunk.encodings:
                    written_as_changes[chunk.path_in_schema] = None
    _check_size(file, shape, size)
    for path in written_as_changes:  # such strings are longer than the file states
        for batch in ParquetFile(file).iter_batches(TEXT_ROWS, columns=[path]):
            size += batch.nbytes
            _check_size(file, shape, size)
    in_memory_once = [path for path in texts if path not in written_as_changes]
    return _table_of_arrow(
        ParquetFile(file, read_dictionary=in_memory_once).read(), how
    )


def _read_feather(file: Path, how: Reading) -> Table:
    from pyarrow import feather

    check_memory(f"data set {file.name}", file.stat().st_size, "columns")
    table = feather.read_table(file, memory_map=False)
    _check_size(file, table.shape, max(table.nbytes, 8 * math.prod(table.shape)))
    return _table_of_arrow(table, how)


def _read_stata(file: Path, how: Reading) -> Table:
    import pandas as pd

    size = file.stat().st_size
    check_memory(
        f"data set {file.name}", TYPED_FACTOR * size, f"{size:,} bytes of Stata"
    )
    return _typed(pd.read_stata(file), how)


def _read_json_lines(file: Path, how: Reading) -> Table:
    """Read one object per line, which maps column names to values."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    names: set[str] = set()
    limit = memory_limit()
    size = 0
    with open_unpacked(file) as content:
        for number, line in enumerate(lines_of(content), 1):
            if not line.strip():
                continue
            row = None
            with suppress(ValueError):
                row = json.loads(line)
            if not isinstance(row, dict):
                raise TableError(
                    f'expected a JSON object in each line, such as {{"a": 1, "label": "x"}}, got {line[:40]!r} in '
                    f"line {number}; write it as JSON lines."
                )
            rows.append(row)
            numbers.append(number)
            names.update(row)
            size += ROW_BYTES * len(row) + len(line)
            needed = max(size, 8 * len(rows) * len(names))
            if needed > limit:
                _check_size(file, (len(rows), len(names)), needed)
    table = _typed(pd.DataFrame(rows), how)
    return replace(table, where=lambda row: f"line {numbers[row]}")


# ---- a matrix with separate vectors


def _chosen_variables(
    how: Reading,
    usual: Sequence[str],
    numbers: Collection[str],
    variables: Sequence[Any],
) -> dict[str, str]:
    """Return the names of the variables by role, including X.

    `usual` lists usual names of labels, `numbers` the readable variables, and
    `variables` the name, shape and type of each variable.
    """
    chosen = {}
    for role, stated in (("X", how.X or "X"), *how.vectors):
        names = usual if stated is None else [stated]
        readable = [name for name in names if name in numbers]
        if not readable:
            shown = ", ".join(
                f"{name} ({' x '.join(map(str, shape))} {kind})"
                for name, shape, kind in variables
            )
            step = f"name the variable, dataset.{role}=NAME, or write numbers"
            if role == "target":
                step += "; if they are a column of X, set dataset.target=-1"
            for name, _, kind in variables:
                if name in names:
                    step = MATLAB_ADVICE.get(kind, step)
            raise TableError(
                f"expected a variable {names[0]:.80} of real numbers, got {shown or 'none':.300}; {step}."
            )
        chosen[role] = readable[0]
    return chosen


def _matrix_table(
    X: Any, how: Reading, chosen: Mapping[str, str], arrays: Mapping[str, Any]
) -> Table:
    """Return a matrix with its labels, groups and other vectors."""
    if how.transpose:
        X = X.T
    names = _numbered(X)
    if "feature_names" in arrays:
        names = [*map(str, arrays["feature_names"])]
    if len(names) != X.shape[1]:
        raise TableError(
            f"expected {X.shape[1]} feature_names, got {len(names)}; write one for each column."
        )
    vectors = {
        role: arrays[name].ravel() for role, name in chosen.items() if role != "X"
    }
    for role, vector in vectors.items():
        if vector.size != X.shape[0]:
            raise TableError(
                f"expected {X.shape[0]} values in {chosen[role]}, one for each row of X, got {vector.size}; if the "
                f"columns of X are the samples, set dataset.transpose=true."
            )
    return Table(X, names, vectors)


def _numbered(X: Any) -> list[str]:
    return [*map(str, range(1, X.shape[1] + 1))]


def _read_npz(file: Path, how: Reading) -> Table:
    headers = npz_headers(file)
    is_sparse = how.X is None and headers.keys() >= COMPRESSED
    variables = [(name, *header) for name, header in headers.items()]
    readable = {*headers, "X"} if is_sparse else {*headers}
    chosen = _chosen_variables(how, ["y", "Y"], readable, variables)
    needed = {*chosen.values(), "feature_names", "format"}
    if is_sparse:
        needed |= {*COMPRESSED}
    shape = (0, 0) if is_sparse else headers[chosen["X"]][0]
    _check_size(file, shape, 8 * math.prod(shape) + npz_bytes(headers, needed))
    arrays = read_npz(file, needed)
    X: Any = arrays.get(chosen["X"])
    if is_sparse:
        X = compressed(arrays)
        _check_size(file, X.shape, 16 * X.nnz)
    return _matrix_table(X, how, chosen, arrays)


def _read_npy(file: Path, how: Reading) -> Table:
    X = np.load(file, mmap_mode="r", allow_pickle=False)
    if X.dtype.names and X.ndim == 1:
        import pandas as pd

        _check_size(file, (X.size, len(X.dtype.names)), X.nbytes)
        return _typed(pd.DataFrame(np.array(X, dtype=X.dtype.newbyteorder("="))), how)
    if X.ndim == 1:
        X = X[:, None]
    _check_size(file, X.shape)
    return _matrix_table(X, how, {}, {})


def _read_mat(file: Path, how: Reading) -> Table:
    from scipy.io import loadmat, whosmat

    try:
        variables = whosmat(str(file), appendmat=False)
    except NotImplementedError as error:
        raise TableError(
            "expected a file of format 4 to 7, got format 7.3, which is HDF5; save it with -v7."
        ) from error
    shapes = {name: shape for name, shape, kind in variables if kind in MATLAB_NUMBERS}
    chosen = _chosen_variables(how, ["Y", "y"], shapes, variables)
    _check_size(
        file,
        shapes[chosen["X"]],
        8 * sum(math.prod(shapes[name]) for name in chosen.values()),
    )
    arrays = loadmat(str(file), variable_names=[*chosen.values()], appendmat=False)
    return _matrix_table(arrays[chosen["X"]], how, chosen, arrays)


def _read_svmlight(file: Path, how: Reading) -> Table:
    rows = SvmlightRows(file, how.n_features, how.zero_based)
    # 16 bytes or characters per value
    _check_size(file, (rows.n_samples or 0, rows.n_features), file.stat().st_size)
    chunks = [*rows.chunks(4096)]
    X = sparse.vstack([X for X, _ in chunks], format="csr")
    vectors = {"target": np.concatenate([y for _, y in chunks])}
    queries = query_ids(file)
    notes = []
    if "groups" in dict(how.vectors):
        if queries is None:
            raise TableError(
                "expected qid:NUMBER in each row because of dataset.groups=qid, got rows without it."
            )
        vectors["groups"] = queries
    elif queries is not None:
        notes.append(
            "rows have qid; dataset.groups=qid keeps rows with equal qid in one fold"
        )
    return Table(X, _numbered(X), vectors, notes=notes)


TEXT_SETTINGS = (
    "sep",
    "decimal",
    "thousands",
    "encoding",
    "header",
    "comment",
    "na_values",
    "keep_default_na",
)
FORMATS: dict[str, tuple[Callable[[Path, Reading], Table], tuple[str, ...]]] = {
    **dict.fromkeys(TEXTS, (_read_text, (*TEXT_SETTINGS, "transpose"))),
    ".arff": (_read_text, ("encoding", "na_values", "keep_default_na")),
    ".xlsx": (
        _read_text,
        (
            "sheet_name",
            "header",
            "decimal",
            "thousands",
            "na_values",
            "keep_default_na",
            "transpose",
        ),
    ),
    ".parquet": (_read_parquet, ("na_values",)),
    ".feather": (_read_feather, ("na_values",)),
    ".dta": (_read_stata, ("na_values",)),
    **dict.fromkeys(JSON_LINES, (_read_json_lines, ("na_values",))),
    ".npz": (_read_npz, ("X", "transpose")),
    ".npy": (_read_npy, ("transpose",)),
    ".mat": (_read_mat, ("X", "transpose")),
    **dict.fromkeys(SVMLIGHT, (_read_svmlight, ("zero_based", "n_features"))),
}
"""Reader and accepted settings of `Reading` for each file suffix."""
