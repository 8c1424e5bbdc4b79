"""Your own file: CSV, TSV, Parquet, npz, npy, svmlight or MATLAB, with a column of labels."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from provlab.datasets._mat import read_mat
from provlab.datasets._record import Dataset, make_dataset
from provlab.project import current_project
from provsel.streams import row_chunks
from provsel.streams.memory import MemoryLimitError, check_memory, within_memory
from provsel.streams.npz import COMPRESSED, compressed, npz_bytes, npz_headers, read_npz
from provsel.streams.sources import DAMAGED

T = TypeVar("T")

VERSION = 1

PATHS = ("path",)
"""Parameters that say where data are and not what: they are no part of an identity or a key."""

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
FORMATS = (*SEPARATORS, ".parquet", ".npz", ".npy", ".mat", *SVMLIGHT)
TARGETS = ("label", "target", "class", "y")
"""Names of the column of labels that need not be said."""

APART = (".npz", ".mat", *SVMLIGHT)
"""Formats that keep labels apart from the columns."""

SHOWN = 5

OF_A_ROW, OF_A_COLUMN = 64, 256
"""Bytes that loading takes beside the numbers: labels as Python objects, and names with what tells them apart."""


@dataclass(frozen=True)
class _Table:
    """Columns of a file, and their names; labels apart where the format has them so."""

    columns: Any
    names: list[str]
    labels: Any = None


def load(
    *,
    path: str = "",
    target: str | int | None = None,
    left_out: Sequence[str | int] = (),
    index: str | int | None = None,
) -> Dataset:
    """Load a file of your own.

    Parameters
    ----------
    path : str
        Relative to the project's folder. Its ending says the format: .csv, .tsv, .parquet; .npz with the arrays X (or
        data, indices, indptr and shape of a CSR matrix), y and optionally feature_names; .npy with one array of rows;
        .mat with X and Y; .svm, .svmlight or .libsvm.
    target : str or int, optional
        The column of labels, by name or number from 0 (-1 is the last). By default the one that is called label,
        target, class or y. Formats that keep labels apart, .npz, .mat and svmlight, have none.
    left_out : sequence of str or int, default=()
        Columns that are no features.
    index : str or int, optional
        Column that numbers or names the rows: left out as well.

    Returns
    -------
    Dataset
        Two classes are -1 and +1 in the order of their sorted names, which are `class_names`; more are 0, 1, ....

    Raises
    ------
    ValueError
        No such file, another format, a damaged file; complex numbers, texts or missing values among the features, or no
        labels; contents that would take more memory than PROVSEL_MEMORY_GB (in 10^9 bytes) allows, by default an eighth
        of the machine's.
    """
    [file] = files(path=path, target=target, left_out=left_out, index=index)
    with within_memory(f"data set {file.name}"):
        return _loaded(file, path, target, left_out, index)


def files(*, path: str, target: Any, left_out: Any, index: Any) -> list[Path]:
    """Check the parameters of `load`, and return its file."""
    for name, value in (("target", target), ("index", index)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
            raise ValueError(f"dataset.{name}: expected a column's name or number, got {value!r:.80}.")
    if isinstance(left_out, str) or not isinstance(left_out, Sequence):
        raise ValueError(f"dataset.left_out: expected a list of columns such as [id, date], got {left_out!r:.80}.")
    return [_file(path)]


def spelled(*, path: str, target: Any, left_out: Any, index: Any) -> dict[str, Any]:
    """Return the parameters of `load` with columns by their names, and by numbers from 0 where several share one.

    An index is no more than a column that is left out, so the first of all these is written as it.
    """
    [file] = files(path=path, target=target, left_out=left_out, index=index)
    apart = file.suffix.lower() in APART
    if apart and index is None and not left_out:
        return {"path": path, "target": target, "left_out": [], "index": None}
    stat = file.stat()
    names, subject = _names(file, stat.st_mtime_ns, stat.st_size), f"data set {file.name}"
    out = {_place(subject, "left_out", names, column) for column in left_out}
    if index is not None:
        out.add(_place(subject, "index", names, index))
    if not apart:
        place = _target(subject, names, target)
        out -= {place}
        target = _spelled(names, place)
    beside = [_spelled(names, place) for place in sorted(out)]
    return {"path": path, "target": target, "left_out": beside[1:], "index": beside[0] if beside else None}


def _spelled(names: Sequence[str], place: int) -> str | int:
    return names[place] if names.count(names[place]) == 1 else place


@lru_cache(maxsize=64)
def _names(file: Path, changed: int, size: int) -> list[str]:
    """Return the names of the columns of a file, read once while it stays as it is."""
    with within_memory(f"data set {file.name}"):
        return _sound(file, _read_names)


def _read_names(file: Path) -> list[str]:
    ending = file.suffix.lower()
    if ending in SEPARATORS:
        return _read_text(file, SEPARATORS[ending], nrows=0).names
    if ending == ".parquet":
        from pyarrow.parquet import read_schema

        return [str(name) for name in read_schema(file).empty_table().to_pandas().columns]
    return _read(file).names


def _sound(file: Path, read: Callable[[Path], T]) -> T:
    """Read a file, or say that it is damaged."""
    try:
        return read(file)
    except (ImportError, MemoryLimitError, MemoryError):
        raise
    except ValueError as error:
        if str(error).startswith((str(file), "data set")):
            raise
        raise _damaged(file, error) from error
    except DAMAGED as error:
        raise _damaged(file, error) from error


def _file(path: Any) -> Path:
    root = current_project().root
    if not isinstance(path, str) or path in ("", "???"):
        raise ValueError(f"dataset.path: expected the path of a file, got {path!r:.80}; such as dataset.path=my.csv.")
    file = root / Path(path).expanduser()
    if file.suffix.lower() not in FORMATS:
        raise ValueError(
            f"dataset.path: expected a file ending in {', '.join(FORMATS)}, got {path!r:.200}; convert it."
        )
    if not file.is_file():
        raise ValueError(
            f"dataset.path: expected a file, got {path!r:.200}, which is none in {root}; correct the path."
        )
    return file


def _loaded(file: Path, path: str, target: Any, left_out: Sequence[str | int], index: Any) -> Dataset:
    table, subject = _sound(file, _read), f"data set {file.name}"
    taken = {} if table.labels is not None else {"target": _target(subject, table.names, target)}
    if table.labels is not None and target is not None:
        raise ValueError(f"{subject}: expected no target, as its labels are apart, got {target!r:.80}; leave it out.")
    out = [_place(subject, "left_out", table.names, column) for column in left_out]
    if index is not None:
        out.append(_place(subject, "index", table.names, index))
    labels = table.labels if table.labels is not None else _labels(file, table, taken["target"])
    kept = [k for k in range(len(table.names)) if k not in {*out, *taken.values()}]
    X = _features(subject, table, kept)
    y, class_names = _coded(subject, np.asarray(labels))
    names = [table.names[k] for k in kept]
    return make_dataset(X, y, names, name=file.stem, source=path, class_names=class_names)


def _read(file: Path) -> _Table:
    ending = file.suffix.lower()
    if ending in SEPARATORS:
        return _read_text(file, SEPARATORS[ending])
    if ending == ".parquet":
        return _read_parquet(file)
    if ending == ".npz":
        return _read_npz(file)
    if ending == ".npy":
        X = np.load(file, mmap_mode="r", allow_pickle=False)
        _check_size(file, X.shape)
        return _Table(X, _numbered(X))
    if ending == ".mat":
        X, y = read_mat(file, ["X", "Y"])
        _check_size(file, X.shape)
        return _Table(X, _numbered(X), y.ravel())
    rows = row_chunks(file)
    # a value takes 16 bytes, and about as many characters
    _check_size(file, (rows.n_samples or 0, rows.n_features), file.stat().st_size // 16)
    chunks = [*rows]
    X = sparse.vstack([X for X, _ in chunks], format="csr")
    return _Table(X, _numbered(X), np.concatenate([y for _, y in chunks]))


def _check_size(file: Path, shape: Sequence[int], stored: int | None = None, more: int = 0) -> None:
    """Raise where d columns of n numbers, or the `stored` ones with an index each, and `more` bytes are too much."""
    if len(shape) != 2:
        raise ValueError(f"data set {file.name}: expected rows and columns, got shape {tuple(shape)}.")
    n, d = shape
    numbers = 8 * n * d if stored is None else 16 * stored
    check_memory(
        f"data set {file.name}", numbers + OF_A_ROW * n + OF_A_COLUMN * d + more, f"{n:,} rows of {d:,} columns"
    )


def _numbered(X: Any) -> list[str]:
    return [str(k) for k in range(1, X.shape[1] + 1)]


def _read_text(file: Path, separator: str, **options: Any) -> _Table:
    import pandas as pd

    with file.open(encoding="utf-8", newline="") as text:
        try:
            lines = csv.reader(text, delimiter=separator)
            width = len(next((line for line in lines if any(map(str.strip, line))), ()))
        except csv.Error as error:
            raise ValueError(f"{error!s:.80} in the first line") from error
    with file.open("rb") as binary:
        ends = [(block.count(b"\n"), block.count(b"\r")) for block in iter(lambda: binary.read(1 << 20), b"")]
    # a row may be shorter than the first line, and is filled up
    _check_size(file, (max(map(sum, zip(*ends, strict=True)), default=0), width))
    frame = pd.read_csv(file, sep=separator, encoding="utf-8", **options)
    names = [str(name).strip() for name in frame.columns]
    if names and all(_is_number(name) for name in names):
        raise ValueError(
            f"data set {file.name}: expected names of columns in the first line, got the numbers "
            f"{_some(names)}; write a line of names above."
        )
    return _Table(frame, names)


def _read_parquet(file: Path) -> _Table:
    import pandas as pd
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        about, columns = opened.metadata, [opened.schema.column(k) for k in range(len(opened.schema))]
    # a column of lists has more values than rows; texts are as long as they say
    longer = [k for k, each in enumerate(columns) if each.max_repetition_level or each.physical_type == "BYTE_ARRAY"]
    chunks = [about.row_group(group).column(k) for group in range(about.num_row_groups) for k in longer]
    wide = sum(max(each.length or 0, 8) - 8 for each in columns)
    more = sum(8 * chunk.num_values + chunk.total_uncompressed_size for chunk in chunks) + about.num_rows * wide
    _check_size(file, (about.num_rows, len(columns)), more=more)
    # texts stay dictionaries where the file has them so: one of a megabyte may stand in each row
    texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
    frame = pd.read_parquet(file, engine="pyarrow", read_dictionary=texts)
    return _Table(frame, [str(name) for name in frame.columns])


def _read_npz(file: Path) -> _Table:
    headers = npz_headers(file)
    form = COMPRESSED if headers.keys() >= COMPRESSED else frozenset({"X"})
    if not headers.keys() >= form | {"y"}:
        raise ValueError(f"data set {file.name}: expected arrays X and y, got {', '.join(headers) or 'none':.200}.")
    kept = form | {"y", "feature_names", "format"}
    _check_size(file, (0, 0) if form == COMPRESSED else headers["X"][0], more=npz_bytes(headers, kept))
    arrays = read_npz(file, kept)
    X: Any = compressed(arrays) if form == COMPRESSED else arrays["X"]
    if form == COMPRESSED:
        _check_size(file, X.shape, X.nnz)
    names = [str(name) for name in arrays["feature_names"]] if "feature_names" in arrays else _numbered(X)
    if len(names) != X.shape[1]:
        raise ValueError(
            f"data set {file.name}: expected {X.shape[1]} feature_names, got {len(names)}; write one for each column."
        )
    return _Table(X, names, arrays["y"])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _target(subject: str, names: list[str], target: str | int | None) -> int:
    if target is not None:
        return _place(subject, "target", names, target)
    usual = [k for k, name in enumerate(names) if name.lower() in TARGETS]
    if len(usual) == 1:
        return usual[0]
    raise ValueError(
        f"{subject}: expected one column of labels called {', '.join(TARGETS)}, got {len(usual)} among "
        f"{_some(names)}; say which: dataset.target=NAME, or a number from 0, -1 for the last."
    )


def _place(subject: str, parameter: str, names: list[str], column: str | int) -> int:
    """Return the number of a column that is given by name or number."""
    if isinstance(column, int) and not isinstance(column, bool) and -len(names) <= column < len(names):
        return column % len(names)
    if names.count(str(column)) == 1:
        return names.index(str(column))
    raise ValueError(f"{subject}: dataset.{parameter}: expected a column of {_some(names)}, got {column!r:.80}.")


def _labels(file: Path, table: _Table, k: int) -> Any:
    if not hasattr(table.columns, "iloc"):
        return table.columns[:, k]
    column = table.columns.iloc[:, k]
    if file.suffix.lower() in SEPARATORS and column.dtype.kind == "i":
        # pandas takes 01 for a number, and so for the same class as 1: where zeros lead, labels are codes
        again = _read_text(file, SEPARATORS[file.suffix.lower()], dtype={column.name: str})
        texts = again.columns.iloc[:, k].str.strip()
        column = texts if texts.str.match(r"[+-]?0\d").any() else column
    if hasattr(column, "cat"):  # pandas would write each row's text out
        return np.append(column.cat.categories.to_numpy(dtype=object), [None])[column.cat.codes]
    return column.to_numpy()


def _features(subject: str, table: _Table, kept: list[int]) -> Any:
    """Return the kept columns as numbers."""
    if not kept:
        raise ValueError(f"{subject}: expected at least one feature, got none beside labels and what is left out.")
    if not hasattr(table.columns, "iloc"):
        return table.columns[:, kept] if len(kept) < len(table.names) else table.columns
    frame = table.columns.iloc[:, kept]
    texts = [table.names[k] for k, kind in zip(kept, frame.dtypes, strict=True) if kind.kind not in "iufb"]
    if texts:
        found = frame.iloc[:, [table.names[k] for k in kept].index(texts[0])].dropna().iloc[:1].tolist()
        raise ValueError(
            f"{subject}: expected numbers, got {str(*found)!r:.40} in column {texts[0]!r:.80}"
            f"{f' and others in {len(texts) - 1} more' if len(texts) > 1 else ''}; leave them out, "
            f"dataset.left_out=[{','.join(texts[:SHOWN]):.200}], or encode categories first, as by pandas.get_dummies."
        )
    missing = frame.isna().sum()
    if missing.any():
        lacking = [str(name) for name, count in zip(frame.columns, missing, strict=True) if count]
        raise ValueError(
            f"{subject}: expected no missing values, got {int(missing.sum())} in {_some(lacking)}; fill them first, as "
            f"by sklearn.impute.SimpleImputer, or leave these columns out: dataset.left_out=[...]."
        )
    return frame.to_numpy(dtype=np.float64)


def _coded(subject: str, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as whole numbers, and the names of the classes in their order."""
    labels = known_labels(subject, labels)
    texts = labels.dtype.kind not in "iufb"
    if labels.dtype.kind == "c":
        raise ValueError(f"{subject}: expected labels as texts or real numbers, got {labels.dtype}; convert them.")
    if labels.dtype.kind == "O":  # not of fixed width, because one long text would blow up the array
        names = [value.decode() if isinstance(value, bytes) else str(value) for value in labels.tolist()]
        number = {name: k for k, name in enumerate(sorted({*names}))}
        classes, codes = np.array([*number], dtype=object), np.array([number[name] for name in names])
    else:
        classes, codes = np.unique(labels.astype(str) if texts else labels, return_inverse=True)
    if not texts and classes.size > max(20, labels.size // 2):
        raise ValueError(
            f"{subject}: expected classes as labels, got {classes.size} different numbers in {labels.size} rows; "
            f"regression is not what is measured here: choose another column as dataset.target."
        )
    if classes.size < 2:
        raise ValueError(
            f"{subject}: expected at least two classes, got only {classes.tolist()!s:.200}; choose another target."
        )
    return (2 * codes - 1 if classes.size == 2 else codes), np.array([f"{name}" for name in classes], dtype=object)


def known_labels(subject: str, y: Any) -> np.ndarray:
    """Return labels as an array of numbers or texts.

    Raises
    ------
    ValueError
        Labels that are missing, as None, NaN, NA, NaT or masked: how many and where. Numbers among texts.
    """
    import pandas as pd

    whole = np.asarray(y, dtype=object)
    missing = np.flatnonzero(pd.isna(whole) | (np.ma.getmaskarray(y) if np.ma.isMaskedArray(y) else False))
    if missing.size:
        raise ValueError(
            f"{subject}: expected a label in each row, got {missing.size} without, such as row"
            f"{'s' * (missing.size > 1)} {', '.join(map(str, missing[:SHOWN]))} from 0; leave these rows out."
        )
    labels = np.asarray(y)
    kinds = {isinstance(value, str): value for value in whole.ravel().tolist()} if labels.dtype.kind in "OU" else {}
    if len(kinds) > 1:
        raise ValueError(
            f"{subject}: expected labels that are all texts or all numbers, got the text "
            f"{str(kinds[True])!r:.40} and the number {kinds[False]!s:.40}; write them in one way."
        )
    return labels


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(f'{name:.40}' for name in names[:SHOWN])}{more}"


def _damaged(file: Path, error: BaseException) -> ValueError:
    return ValueError(
        f"{file}: expected a sound {file.suffix} file, got {type(error).__name__}: {error!s:.200}; repair it."
    )
