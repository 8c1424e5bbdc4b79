"""Tables from many fields in public collections; `tables.yaml` describes their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from provlab.data.dataset import Dataset, make_dataset
from provlab.data.r_data import MISSING_INTEGER, RVector, read_r_data
from provlab.project.documents import read_as, read_plain_yaml

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1

MAX_MISSING = 0.5
"""Share of missing values above which a row or a column is left out."""


@dataclass(frozen=True)
class Collection:
    """A collection of tables that were published together.

    Attributes
    ----------
    title, licence, homepage : str
        The licence is the one stated by the collection; the terms of the data owners
        still apply.
    """

    title: str
    licence: str
    homepage: str


@dataclass(frozen=True)
class TableEntry:
    """Description of a table. Columns are named as in the file, or numbered from 0 if it has no names.

    Attributes
    ----------
    file : str
        Path within `tables/`; its folder is the collection.
    target : str
        Column to predict.
    domain, source, citation : str
        Properties of the rows: their field, their owner, and where they were published.
    task : {"classification", "regression"}
    objects : tuple of str
        For an R file, the parts that are joined side by side; "a + b" means b below a.
    left_out, nominal : tuple of str
        Columns that are not features, and numeric columns that are codes, as patterns
        such as "cpu_*".
    groups : str or int
        Column of groups, which is not a feature, or the number of consecutive rows that
        form a group.
    time : tuple of str
        Columns by which rows are sorted, in order of priority.
    relevant : tuple of str
        All columns on which the target depends, if known. They are placed first.
    first_rows : int
        Number of rows taken from the start; 0 means all.
    """

    file: str
    target: str
    domain: str
    source: str
    citation: str = ""
    task: Literal["classification", "regression"] = "classification"
    objects: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    groups: str | int = ""
    time: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    first_rows: int = 0

    @property
    def collection(self) -> Collection:
        """Collection in which the table was published, if any."""
        return _index().collections[self.file.partition("/")[0]]


@dataclass(frozen=True)
class _Index:
    collections: Mapping[str, Collection]
    tables: Mapping[str, TableEntry]


@cache
def _index() -> _Index:
    path = Path(__file__).with_suffix(".yaml")
    index: _Index = read_as(_Index, read_plain_yaml(path), str(path))
    return index


def table_entries() -> Mapping[str, TableEntry]:
    """Return the entry of each table in `tables.yaml`, by name."""
    return _index().tables


CHOICES = {"set": tuple(table_entries())}

_BESIDE_THE_DATA = ("domain", "source", "citation")


def entry(*, set: str) -> dict[str, Any]:
    """Return the part of an entry that determines the data."""
    stated = asdict(table_entries()[set])
    return {
        name: value for name, value in stated.items() if name not in _BESIDE_THE_DATA
    }


def files(*, set: str) -> list[str]:
    """Return the file that `load` reads."""
    return [f"tables/{table_entries()[set].file}"]


def load(paths: list[Path], digest: str, *, set: str = "dermatology") -> Dataset:
    """Load one table without scaling.

    Repeated rows are kept unless `distinct_rows` is set.

    Rows without a target are left out, as are then rows and columns with more than half
    of their values missing.

    Parameters
    ----------
    set : str, default="dermatology"
        Name in `tables.yaml`.

    Returns
    -------
    Dataset
        Missing values are NaN, and texts are the numbers of their `categories`; both
        need a preparation. Two classes become -1 and +1 in the order of their names,
        and more classes become 0, 1, ... .
    """
    return read_table(paths[0], table_entries()[set], name=set, digest=digest)


def read_table(path: Path, entry: TableEntry, *, name: str, digest: str) -> Dataset:
    """Return the file that an entry describes as a data set with the given name."""
    [reader] = [
        function for ending, function in _READERS.items() if entry.file.endswith(ending)
    ]
    frame = reader(path, entry)
    if entry.first_rows:
        frame = frame[: entry.first_rows]
    frame = frame[frame[entry.target].notna()]
    if entry.time:
        frame = frame.sort_values([*entry.time], kind="stable")
    features = frame[_feature_names(frame, entry)]
    is_measured = features.isna().mean(axis=1) <= MAX_MISSING
    frame = frame[is_measured]
    features = features[is_measured]
    is_filled = features.isna().mean() <= MAX_MISSING
    features = features.loc[:, is_filled]
    y, class_names = _target_of(frame[entry.target], entry.task)
    X, categories = _numbers_of(features, entry.nominal)
    return make_dataset(
        X,
        y,
        features.columns,
        name=name,
        source=f"{entry.citation or entry.source}; {entry.file}, SHA-256 {digest}",
        regression=entry.task == "regression",
        missing=True,
        class_names=class_names,
        categories=categories,
        groups=_groups_of(frame, entry.groups),
    )


def _feature_names(frame: pd.DataFrame, entry: TableEntry) -> list[str]:
    """Return the columns that are features, with relevant ones first."""
    names = [*entry.relevant]
    for name in frame:
        is_beside = name in (entry.target, entry.groups) or _is_among(
            name, entry.left_out
        )
        if not is_beside and name not in entry.relevant:
            names.append(name)
    return names


def _is_among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _groups_of(frame: pd.DataFrame, groups: str | int) -> np.ndarray | None:
    """Return the group number of each row; None if there are no groups."""
    if isinstance(groups, int):
        return frame.index.to_numpy() // groups
    if not groups:
        return None
    return frame[groups].astype("category").cat.codes.to_numpy(np.int64)


def _target_of(column: pd.Series, task: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the target, and the names of its classes; None for a regression."""
    if task == "regression":
        return column.to_numpy(np.float64), None
    values = column.astype("category").cat
    labels = values.codes.to_numpy(np.int64)
    if len(values.categories) == 2:
        labels = 2 * labels - 1
    return labels, _texts(values.categories)


def _numbers_of(
    features: pd.DataFrame, nominal: tuple[str, ...]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the features as numbers, and the strings that the numbers of text columns stand for."""
    X = np.empty(features.shape)
    categories = {}
    for place, (name, column) in enumerate(features.items()):
        if column.dtype.kind in "iufb" and not _is_among(str(name), nominal):
            X[:, place] = column.to_numpy(np.float64)
            continue
        values = column.astype("category").cat
        X[:, place] = np.where(values.codes >= 0, values.codes, np.nan)
        categories[str(name)] = _texts(values.categories)
    return X, categories


def _texts(values: pd.Index) -> np.ndarray:
    """Return names of classes or categories; whole numbers without a decimal point."""
    if values.dtype.kind == "f":
        values = values.map("{:g}".format)
    return values.to_numpy(dtype=object)


# ---- formats


def _with_some_names(path: Path, entry: TableEntry) -> pd.DataFrame:
    """Read a table whose header names only the last columns; the others are numbered."""
    with path.open(encoding="utf-8") as file:
        header = file.readline().strip().split(",")
        frame = _numbers(file, ",")
    n_unnamed = frame.shape[1] - len(header)
    return frame.set_axis([*map(str, range(n_unnamed)), *header], axis=1)


def _numbers(file: Path | IO[str], sep: str) -> pd.DataFrame:
    """Read a table as numbers with text columns unchanged; only tab-separated tables have a header.

    Python parses the numbers, because the rounding of the last bit in pandas depends on
    its version.
    """
    import pandas as pd

    header = 0 if sep == "\t" else None
    texts = pd.read_csv(file, sep=sep, header=header, na_values="?", dtype=object)
    columns: dict[str, Any] = {}
    for name, column in texts.items():
        columns[str(name)] = column
        with suppress(ValueError):
            columns[str(name)] = column.to_numpy(dtype=np.float64)
    return pd.DataFrame(columns)


def _r_objects(path: Path, entry: TableEntry) -> pd.DataFrame:
    """Read objects of an R file: vectors, matrices, data frames and lists of these."""
    import pandas as pd

    objects = read_r_data(path)
    columns: dict[str, Any] = {}
    for stack in entry.objects:
        first, *others = stack.split(" + ")
        table = _columns_of(first, objects[first])
        for name in others:
            table = _below(table, _columns_of(name, objects[name]))
        columns |= table
    return pd.DataFrame(columns)


def _below(upper: Mapping[str, Any], lower: Mapping[str, Any]) -> dict[str, Any]:
    """Return two tables stacked on top of each other."""
    columns = {}
    for name, column, column_below in zip(
        upper, upper.values(), lower.values(), strict=True
    ):
        columns[name] = np.concatenate([column, column_below])
    return columns


def _columns_of(name: str, value: RVector) -> dict[str, Any]:
    """Return the columns of an R object by name; a column without a name is named after the object."""
    if "dim" in value.attributes:
        return _columns_of_matrix(name, value)
    if "names" not in value.attributes or not any(
        isinstance(part, RVector) for part in value.values
    ):
        return {name: _vector(value)}
    columns: dict[str, Any] = {}
    for part, content in zip(
        value.attributes["names"].values, value.values, strict=True
    ):
        columns |= _columns_of(part, content)
    return columns


def _columns_of_matrix(name: str, value: RVector) -> dict[str, Any]:
    matrix = np.reshape(value.values, value.attributes["dim"].values, order="F")
    names = [f"{name}.{number}" for number in range(1, matrix.shape[1] + 1)]
    dimnames = value.attributes.get("dimnames")
    if dimnames and dimnames.values[1]:
        names = dimnames.values[1].values
    columns = {}
    for place, column in enumerate(names):
        columns[column] = _vector(RVector(matrix[:, place], {}))
    return columns


def _vector(value: RVector) -> np.ndarray:
    """Return numbers, with NaN for missing ones, or the strings of a factor."""
    if isinstance(value.values, list):
        return np.array(value.values, dtype=object)
    if "levels" in value.attributes:
        texts = np.array([None, *value.attributes["levels"].values], dtype=object)
        return texts[np.maximum(value.values, 0)]
    if value.values.dtype.kind == "i":
        return np.where(value.values == MISSING_INTEGER, np.nan, value.values)
    # R's missing value is a NaN with other bits
    return np.where(np.isnan(value.values), np.nan, value.values)


_READERS: dict[str, Callable[[Path, TableEntry], pd.DataFrame]] = {
    ".tsv.gz": lambda path, entry: _numbers(path, "\t"),
    ".csv.gz": lambda path, entry: _numbers(path, ","),
    ".data": _with_some_names,
    ".RData": _r_objects,
    ".rda": _r_objects,
}
"""Readers by file suffix."""
