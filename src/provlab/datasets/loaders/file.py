"""Your own file: CSV, TSV, Parquet, npz, npy, svmlight or MATLAB, with a column of labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from provlab.datasets.dataset import Dataset, make_dataset
from provlab.datasets.own_table import (
    FORMATS,
    LABELS_APART,
    SEPARATORS,
    Table,
    column_names,
    column_of_texts,
    read_table,
    some,
)
from provlab.project import current_project
from provsel.streams.memory import within_memory

VERSION = 1

TARGETS = ("label", "target", "class", "y")
"""Names of the column of labels that need not be said."""

SHOWN = 5


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
    [file] = files(path=path)
    subject = f"data set {file.name}"
    with within_memory(subject):
        table = read_table(file)
        place, out = _places(file, table.names, target, left_out, index)
        kept = [k for k in range(len(table.names)) if k not in out]
        X = _features(subject, table, kept)
        labels = table.labels if place is None else _labels(file, table, place)
        y, class_names = _coded(subject, np.asarray(labels))
        names = [table.names[k] for k in kept]
        return make_dataset(X, y, names, name=file.stem, source=path, class_names=class_names)


def checked(*, path: str, target: Any, left_out: Any, index: Any) -> dict[str, Any]:
    """Check the parameters of `load`; return columns by their names, and by numbers from 0 where several share one.

    An index is no more than a column that is left out, so the first of all these is written as it.
    """
    for name, value in (("target", target), ("index", index)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
            raise ValueError(f"dataset.{name}: expected a column's name or number, got {value!r:.80}.")
    if isinstance(left_out, str) or not isinstance(left_out, Sequence):
        raise ValueError(f"dataset.left_out: expected a list of columns such as [id, date], got {left_out!r:.80}.")
    [file] = files(path=path)
    if file.suffix.lower() in LABELS_APART and (target, index) == (None, None) and not left_out:
        return {"path": path, "target": None, "left_out": [], "index": None}
    names = column_names(file)
    place, out = _places(file, names, target, left_out, index)
    spelled = {k: name if names.count(name) == 1 else k for k, name in enumerate(names)}
    beside = [spelled[k] for k in sorted(out - {place})]
    return {
        "path": path,
        "target": None if place is None else spelled[place],
        "left_out": beside[1:],
        "index": beside[0] if beside else None,
    }


def files(*, path: str, **_: Any) -> list[Path]:
    """Return the file of the user, below the folder of the project."""
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
    return [file]


def _places(
    file: Path, names: list[str], target: str | int | None, left_out: Sequence[str | int], index: str | int | None
) -> tuple[int | None, set[int]]:
    """Return the column of labels, None where they are apart, and all columns that are no features."""
    subject = f"data set {file.name}"
    out = {_place(subject, "left_out", names, column) for column in left_out}
    if index is not None:
        out.add(_place(subject, "index", names, index))
    if file.suffix.lower() in LABELS_APART:
        if target is None:
            return None, out
        raise ValueError(f"{subject}: expected no target, as its labels are apart, got {target!r:.80}; leave it out.")
    if target is None:
        usual = [k for k, name in enumerate(names) if name.lower() in TARGETS]
        if len(usual) != 1:
            raise ValueError(
                f"{subject}: expected one column of labels called {', '.join(TARGETS)}, got {len(usual)} among "
                f"{some(names)}; say which: dataset.target=NAME, or a number from 0, -1 for the last."
            )
        [target] = usual
    place = _place(subject, "target", names, target)
    return place, {*out, place}


def _place(subject: str, parameter: str, names: list[str], column: str | int) -> int:
    """Return the number of a column that is given by name or number."""
    if isinstance(column, int) and not isinstance(column, bool) and -len(names) <= column < len(names):
        return column % len(names)
    if names.count(str(column)) == 1:
        return names.index(str(column))
    raise ValueError(f"{subject}: dataset.{parameter}: expected a column of {some(names)}, got {column!r:.80}.")


def _labels(file: Path, table: Table, k: int) -> Any:
    if not hasattr(table.columns, "iloc"):
        return table.columns[:, k]
    column = table.columns.iloc[:, k]
    if file.suffix.lower() in SEPARATORS and column.dtype.kind == "i":
        # pandas takes 01 for a number, and so for the same class as 1: where zeros lead, labels are codes
        texts = column_of_texts(file, column.name).str.strip()
        column = texts if texts.str.match(r"[+-]?0\d").any() else column
    if hasattr(column, "cat"):  # pandas would write each row's text out
        return np.append(column.cat.categories.to_numpy(dtype=object), [None])[column.cat.codes]
    return column.to_numpy()


def _features(subject: str, table: Table, kept: list[int]) -> Any:
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
            f"{subject}: expected no missing values, got {int(missing.sum())} in {some(lacking)}; fill them first, as "
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
