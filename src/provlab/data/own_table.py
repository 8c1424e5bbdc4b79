"""A user's own file as a table of columns: text such as CSV, Parquet, npz, npy, svmlight or MATLAB.

Such a file is of unknown intent: nothing in it is run, and what would take more memory than the limit is refused before
anything asks for it.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from provlab.project.documents import file_state
from provsel.streams.memory import MemoryLimitError, check_memory, within_memory
from provsel.streams.npz import COMPRESSED, compressed, npz_bytes, npz_headers, read_npz
from provsel.streams.svmlight_rows import SvmlightRows, query_ids

from .files import TableError
from .own_arff import NUMERIC, is_read_otherwise
from .own_text import (
    OF_A_COLUMN,
    OF_A_ROW,
    PACKED,
    SVMLIGHT,
    TEXTS,
    Reading,
    format_of,
    is_number,
    layout_of,
    line_of,
    lines_of,
    opened,
    read_frame,
    read_whole,
    some,
    wide_rows,
)

T = TypeVar("T")

APART = (".npz", ".mat", *SVMLIGHT)
"""Formats that keep labels apart from the columns."""

UNNAMED = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_0__")
"""What pandas calls a column without a name: the first may number the rows."""

ADVICE = {
    "sparse": "write it in full, X = full(X), or as svmlight",
    "cell": "number its texts, [~, ~, Y] = unique(Y)",
    "struct": "write its fields as variables",
    "char": "number its texts, [~, ~, Y] = unique(cellstr(Y))",
}
"""By class of a MATLAB variable that is no matrix of numbers, what makes it one."""

_BATCH = 64
"""Rows of texts that are read together where each may be as long as all before it."""

_MAT_NUMBERS = {"double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
"""Classes of variables that are matrices of real numbers, as `scipy.io.whosmat` calls them."""


@dataclass(frozen=True)
class Table:
    """What a file holds: `columns`, a DataFrame, ndarray or csr_array of shape (n, d), and their `names`.

    `vectors` are, by roles such as "target", what formats have beside the columns, of shape (n,). `where` tells where a
    row stands in the file, as people see it. `texts` returns a column by its number as it is written; it is None where
    the file has types. `notes` are what people should know before the run. `how` is how the file was read.
    """

    columns: Any
    names: list[str]
    vectors: Mapping[str, Any] = field(default_factory=dict)
    where: Callable[[int], str] = "row {} from 0".format
    texts: Callable[[int], Any] | None = None
    notes: list[str] = field(default_factory=list)
    how: Reading = field(default_factory=Reading)


@contextmanager
def faults_of(file: Path) -> Iterator[None]:
    """Say of which file a fault is, which may be that memory ends."""
    with within_memory(f"data set {file.name}"):
        try:
            yield
        except TableError as error:
            raise ValueError(f"data set {file.name}: {error}") from error


def once(read: Callable[[Path, Reading], T], file: Path, how: Reading) -> T:
    """Return what is found in a file, read once while the file stays as it is."""
    return _once(read, file, file_state(file), how)


@lru_cache(maxsize=64)
def _once(read: Callable[[Path, Reading], Any], file: Path, state: object, how: Reading) -> Any:
    return _sound(read, file, how)


def _sound(read: Callable[[Path, Reading], T], file: Path, how: Reading) -> T:
    """Read a file, or say that it is damaged: on damage SciPy raises nearly anything, UnboundLocalError among it."""
    try:
        return read(file, how)
    except (ImportError, MemoryError, MemoryLimitError, TableError):
        raise
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith(str(file)):
            raise
        if isinstance(error, ValueError) and str(error).startswith(of_rows := f"row_chunks: {file}: "):
            raise TableError(str(error).removeprefix(of_rows)) from error
        raise ValueError(
            f"{file}: expected a sound {format_of(file)} file, got {type(error).__name__}: "
            f"{' '.join(str(error).split()):.200}; repair it."
        ) from error


def read_table(file: Path, how: Reading) -> Table:
    """Return what a file holds."""
    return _sound(FORMATS[format_of(file)][0], file, how)


def column_names(file: Path, how: Reading) -> list[str]:
    """Return the names of the columns of a file."""
    if format_of(file) in TEXTS:
        layout = once(layout_of, file, how)
        wide = wide_rows(file, layout)
        names = wide[0] if wide else read_frame(file, layout, nrows=0).columns
        return list(names[: layout.width])
    if format_of(file) == ".parquet":
        from pyarrow.parquet import read_schema

        schema = read_schema(file)
        return [name for name in schema.names if name not in _index_of(schema)]
    return read_table(file, how).names


def has_index(file: Path, how: Reading) -> bool:
    """Tell whether the first column, which has no name, numbers or names the rows: a whole number or text for each.

    Numbers may also be counted from the start again, as in tables that were joined.
    """
    if format_of(file) in TEXTS:
        layout = once(layout_of, file, how)
        if layout.row_names:
            return True
        _check_text(file, layout)
        column = read_frame(file, replace(layout, keep_default_na=False), dtype=str, usecols=[0]).iloc[:, 0].fillna("")
    else:
        table = read_table(file, how)
        column = column_values(table, 0)
    texts = [text for text in (str(value).strip() for value in column) if text]
    if not all(map(is_number, texts)):
        return len({*texts}) == len(texts)
    numbers = [float(text) for text in texts]
    if not all(map(float.is_integer, numbers)):
        return False
    steps = {b - a for a, b in pairwise(numbers) if b != numbers[0]}
    return len({*numbers}) == len(numbers) or steps == {1.0}


def is_read_anew(file: Path, how: Reading) -> bool:
    """Tell whether a file was read wrongly by provsel 0.1.0, without an error: its trials of then do not count."""
    if format_of(file) == ".arff":
        layout = once(layout_of, file, how)
        with opened(file, how) as binary:
            text = io.TextIOWrapper(binary, encoding=layout.encoding, errors="replace", newline="")
            return is_read_otherwise(islice(lines_of(text), layout.skip, None))
    if format_of(file) != ".parquet":
        return False
    from pyarrow.parquet import read_schema

    columns = _of_pandas(read_schema(file)).get("columns") or []
    return any(str(column.get("name")) != column.get("field_name") for column in columns if column.get("name"))


def _check_size(file: Path, shape: Sequence[int], numbers: int | None = None) -> None:
    """Raise where rows and columns take too much memory, of `numbers` bytes, by default eight for each."""
    if len(shape) != 2:
        raise TableError(f"expected rows and columns, got shape {tuple(shape)}.")
    n, d = shape
    needed = (8 * n * d if numbers is None else numbers) + OF_A_ROW * n + OF_A_COLUMN * d
    check_memory(f"data set {file.name}", needed, f"{n:,} rows of {d:,} columns")


def _numbered(X: Any) -> list[str]:
    return [str(k) for k in range(1, X.shape[1] + 1)]


def column_values(table: Table, place: int) -> Any:
    """Return a column of a table, shape (n,)."""
    if hasattr(table.columns, "iloc"):
        return table.columns.iloc[:, place].to_numpy()
    column = table.columns[:, [place]]
    return (column.toarray() if sparse.issparse(column) else column).ravel()


def _check_text(file: Path, layout: Reading) -> None:
    """Raise where a table of text takes too much memory, of which its lines are counted."""
    ends = {b"\n": -layout.skip, b"\r": -layout.skip}  # Windows ends a line with both
    size = 0
    with opened(file, layout) as binary:
        for block in iter(lambda: binary.read(1 << 20), b""):
            ends = {end: n + block.count(end) for end, n in ends.items()}
            size += len(block) if file.suffix.lower() in PACKED else 0
            # a row may be shorter than the first line, and is filled up; a packed text may be longer than its numbers
            n = max(0, *ends.values())
            _check_size(file, (n, layout.width), max(8 * n * layout.width, size))


def _read_text(file: Path, how: Reading) -> Table:
    layout = once(layout_of, file, how)
    _check_text(file, layout)
    frame = read_whole(file, layout).reset_index(drop=True)
    notes = ["the first fields of the rows, which have no name, are left out"] * layout.row_names

    def where(row: int) -> str:
        return f"line {line_of(file, layout, int(frame.index[row]))}"

    def texts(k: int | None = None) -> Any:
        alone = k is not None and not layout.row_names
        plain = replace(layout, keep_default_na=False)
        found = read_frame(file, plain, dtype=str, usecols=[k] if alone else None).iloc[frame.index]
        return found if k is None else found.iloc[:, 0 if alone else k].str.strip()

    beside = frame.iloc[:, layout.width :].notna().to_numpy()
    if beside.any():
        row, k = np.argwhere(beside)[0]
        raise TableError(
            f"expected no values after the last name, got {frame.iloc[row, layout.width + k]!s:.40} in {where(row)}; "
            f"give that column a name in the first line."
        )
    frame = frame.iloc[:, : layout.width]
    empty = frame.isna().all(axis=1).to_numpy()
    if empty.any() and (empty := empty & (texts().fillna("") == "").all(axis=1).to_numpy()).any():  # not NA as a label
        frame = frame[~empty]
        notes.append(f"{np.count_nonzero(empty)} rows without any value are left out")
    _check_types(layout, frame, where)
    return Table(frame, [*frame.columns], where=where, texts=texts, notes=notes, how=layout)


def _check_types(layout: Reading, frame: Any, where: Callable[[int], str]) -> None:
    """Raise for a text in an attribute that is declared as numbers."""
    for k, attribute in enumerate(layout.attributes):
        column = frame.iloc[:, k]
        if attribute.kind not in NUMERIC or column.dtype.kind in "iuf":
            continue
        row = next((row for row, value in enumerate(column) if value == value and not is_number(str(value))), None)
        if row is not None:
            text = str(column.iloc[row])
            raise TableError(
                f"expected numbers in attribute {attribute.name!r:.80}, which is declared {attribute.kind}, got "
                f"{text!r:.40} in {where(row)}; correct it, or where it stands for a missing value, say "
                f"'dataset.na_values=[{text:.40}]'."
            )


def _of_pandas(schema: Any) -> dict[str, Any]:
    """Return what pandas wrote beside a schema; nothing where that is no mapping."""
    try:
        beside = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return {}
    return beside if isinstance(beside, dict) else {}


def _index_of(schema: Any) -> list[str]:
    """Return the names of the columns that are the index of a frame."""
    listed = _of_pandas(schema).get("index_columns")
    return [name for name in listed if name in schema.names] if isinstance(listed, list) else []


def _read_parquet(file: Path, how: Reading) -> Table:
    """Read columns by the names and types of the schema: pandas' own notes beside it may say other ones.

    Each different text is in memory once, as it is in the file: a long one in each row takes no memory.
    """
    import pandas as pd
    from pyarrow.parquet import ParquetFile

    about = ParquetFile(file).metadata
    chunks = [
        about.row_group(group).column(k) for group in range(about.num_row_groups) for k in range(about.num_columns)
    ]
    # a column of lists has more values than rows; texts are as long as they say
    texts = [chunk for chunk in chunks if chunk.physical_type == "BYTE_ARRAY"]
    size = 8 * sum(chunk.num_values for chunk in chunks) + sum(chunk.total_uncompressed_size for chunk in texts)
    _check_size(file, (about.num_rows, about.num_columns), size)
    written_as_changes = {chunk.path_in_schema for chunk in texts if "DELTA_BYTE_ARRAY" in chunk.encodings}
    for path in written_as_changes:
        for batch in ParquetFile(file).iter_batches(_BATCH, columns=[path]):
            size += batch.nbytes
            _check_size(file, (about.num_rows, about.num_columns), size)
    packed = [*dict.fromkeys(chunk.path_in_schema for chunk in texts if chunk.path_in_schema not in written_as_changes)]
    table = ParquetFile(file, read_dictionary=packed).read()
    index = _index_of(table.schema)
    frame = table.drop_columns(index).to_pandas(ignore_metadata=True)
    for k, kind in enumerate(frame.dtypes):
        if kind == "category" and kind.categories.dtype.kind == "O":
            texts_once = pd.Index(kind.categories.to_numpy(dtype=object), dtype=object)
            frame.isetitem(k, pd.Categorical.from_codes(frame.iloc[:, k].cat.codes, texts_once))
    named = [name for name in index if not UNNAMED.fullmatch(name)]
    notes = [f"the index of the frame, {some(named)}, is left out"] if named else []
    return Table(frame, [str(name) for name in frame.columns], notes=notes, how=how)


def _chosen(how: Reading, usual: Sequence[str], numbers: Collection[str], listed: Sequence[Any]) -> dict[str, str]:
    """Return the names of the variables by their roles, of which X is one.

    `usual` are names of the labels, `numbers` the variables that can be read, `listed` name, shape and type of all.
    """
    found = {}
    for role, said in (("X", how.X or "X"), *how.vectors):
        names = usual if said is None else [said]
        name = next((name for name in names if name in numbers), None)
        if name is None:
            there = ", ".join(f"{name} ({' x '.join(map(str, shape))} {kind})" for name, shape, kind in listed)
            step = next((ADVICE[kind] for name, _, kind in listed if name in names and kind in ADVICE), "")
            if not step:
                column = "; where they are a column of X, say dataset.target=-1" if role == "target" else ""
                step = f"say which has them, dataset.{role}=NAME, or write numbers{column}"
            raise TableError(f"expected a variable {names[0]:.80} of real numbers, got {there or 'none':.300}; {step}.")
        found[role] = name
    return found


def _apart(X: Any, chosen: Mapping[str, str], arrays: Mapping[str, Any]) -> Table:
    """Return a matrix with the vectors beside it."""
    names = [str(name) for name in arrays["feature_names"]] if "feature_names" in arrays else _numbered(X)
    if len(names) != X.shape[1]:
        raise TableError(f"expected {X.shape[1]} feature_names, got {len(names)}; write one for each column.")
    vectors = {role: arrays[name].ravel() for role, name in chosen.items() if role != "X"}
    for role, vector in vectors.items():
        if vector.size != X.shape[0]:
            raise TableError(
                f"expected {X.shape[0]} values in {chosen[role]}, one for each row of X, got {vector.size}; transpose "
                f"the matrix where its columns are the samples."
            )
    return Table(X, names, vectors)


def _read_npz(file: Path, how: Reading) -> Table:
    headers = npz_headers(file)
    is_sparse = how.X is None and headers.keys() >= COMPRESSED
    listed = [(name, *header) for name, header in headers.items()]
    chosen = _chosen(how, ["y", "Y"], {*headers, *["X"] * is_sparse}, listed)
    kept = {*chosen.values(), "feature_names", "format", *(COMPRESSED if is_sparse else ())}
    shape = (0, 0) if is_sparse else headers[chosen["X"]][0]
    _check_size(file, shape, 8 * math.prod(shape) + npz_bytes(headers, kept))
    arrays = read_npz(file, kept)
    X: Any = compressed(arrays) if is_sparse else arrays[chosen["X"]]
    if is_sparse:
        _check_size(file, X.shape, 16 * X.nnz)
    return _apart(X, chosen, arrays)


def _read_npy(file: Path, how: Reading) -> Table:
    X = np.load(file, mmap_mode="r", allow_pickle=False)
    if X.dtype.names and X.ndim == 1:
        import pandas as pd

        _check_size(file, (X.size, len(X.dtype.names)), X.nbytes)
        frame = pd.DataFrame(np.array(X, dtype=X.dtype.newbyteorder("=")))
        return Table(frame, [*X.dtype.names], how=how)
    _check_size(file, X.shape)
    return Table(X, _numbered(X))


def _read_mat(file: Path, how: Reading) -> Table:
    from scipy.io import loadmat, whosmat

    try:
        listed = whosmat(str(file), appendmat=False)
    except NotImplementedError as error:
        raise TableError("expected format 4 to 7, got format 7.3, which is HDF5; save it with -v7.") from error
    shapes = {name: shape for name, shape, kind in listed if kind in _MAT_NUMBERS}
    chosen = _chosen(how, ["Y", "y"], shapes, listed)
    _check_size(file, shapes[chosen["X"]], 8 * sum(math.prod(shapes[name]) for name in chosen.values()))
    arrays = loadmat(str(file), variable_names=[*chosen.values()], appendmat=False)
    return _apart(arrays[chosen["X"]], chosen, arrays)


def _read_svmlight(file: Path, how: Reading) -> Table:
    rows = SvmlightRows(file, how.n_features, how.zero_based)
    _check_size(file, (rows.n_samples or 0, rows.n_features), file.stat().st_size)  # 16 bytes or characters a value
    chunks = [*rows.chunks(4096)]
    X = sparse.vstack([X for X, _ in chunks], format="csr")
    vectors, queries, notes = {"target": np.concatenate([y for _, y in chunks])}, query_ids(file), []
    if "groups" not in dict(how.vectors):
        notes = ["rows have qid: dataset.groups=qid puts equal ones into one fold"] * (queries is not None)
    elif queries is None:
        raise TableError("expected qid:NUMBER in each row, as dataset.groups=qid needs, got rows without.")
    else:
        vectors["groups"] = queries
    return Table(X, _numbered(X), vectors, notes=notes)


OF_TEXT = ("sep", "decimal", "thousands", "encoding", "header", "comment", "na_values", "keep_default_na")
FORMATS: dict[str, tuple[Callable[[Path, Reading], Table], tuple[str, ...]]] = {
    **dict.fromkeys(TEXTS, (_read_text, OF_TEXT)),
    ".arff": (_read_text, ("encoding", "na_values", "keep_default_na")),
    ".xlsx": (_read_text, ("sheet_name", "header", "decimal", "thousands", "na_values", "keep_default_na")),
    ".parquet": (_read_parquet, ("na_values",)),
    ".npz": (_read_npz, ("X",)),
    ".npy": (_read_npy, ()),
    ".mat": (_read_mat, ("X",)),
    **dict.fromkeys(SVMLIGHT, (_read_svmlight, ("zero_based", "n_features"))),
}
"""By ending of a file, what reads it, and the settings of `Reading` that are said of it."""
