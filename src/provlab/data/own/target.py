"""Columns of a user's own table as target, groups, weights and folds; ambiguous columns raise an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from provlab.data.files import TableError
from provlab.data.own.columns import (
    FEW,
    LARGEST_EXACT,
    check_numbers,
    distinct_texts,
    text_of,
)
from provlab.data.own.table import Table


def target_of(
    table: Table, place: int | None, task: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the target, shape (n,), and the names of its classes; None for a regression.

    The target is column `place`, or stored separately if `place` is None. Two classes
    become -1 and
    +1, and more classes 0, 1, ..., in the order of their names. `task` is "auto", "classification"
    or "regression".

    Raises
    ------
    TableError
        If there are missing values, a single class, strings in a regression, or numbers
        that may or may not be classes.
    """
    name = "the target" if place is None else f"the target {table.names[place]!r:.80}"
    labels = known_labels(name, _labels(table, place), table.where)
    if labels.dtype.kind in "iuf":
        classes, codes = _numeric_classes(table, name, labels, task)
    else:
        classes, codes = _text_classes(table, name, labels, task)
    if classes is None:
        return labels.astype(np.float64), None
    if classes.size < 2:
        raise TableError(
            f"expected at least two classes, got only {classes.tolist()!s:.200}; choose another target."
        )
    if classes.size == 2:
        codes = 2 * codes - 1
    return codes, np.array([*map(str, classes)], dtype=object)


def _text_classes(
    table: Table, name: str, labels: np.ndarray, task: str
) -> tuple[Any, np.ndarray]:
    """Return the sorted class names, and the position of each label among them."""
    if labels.dtype.kind != "O":
        labels = labels.astype(str)
    texts = [*map(text_of, labels.tolist())]
    classes, codes = distinct_texts(texts)
    if classes.size > FEW:
        check_numbers(table, name, codes, classes.tolist())
    if task == "regression" or (
        task == "auto" and classes.size > max(FEW, labels.size // 2)
    ):
        expected = "numbers" if task == "regression" else "classes"
        raise TableError(
            f"expected {expected} in {name}, got {classes.size} different strings in {labels.size} rows, such as "
            f"{classes[0]!r:.40}; choose another column as dataset.target."
        )
    return classes, codes


def _numeric_classes(
    table: Table, name: str, labels: np.ndarray, task: str
) -> tuple[Any, Any]:
    """Return the sorted classes, and the position of each label among them; None twice for a regression."""
    n = labels.size
    is_finite = np.isfinite(labels)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        raise TableError(
            f"expected finite numbers in {name}, got {labels[row]} in {table.where(row)}; leave this row out."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    is_real = bool((classes != np.floor(classes)).any())
    if (
        labels.dtype.kind == "f"
        and not is_real
        and (np.abs(classes.astype(np.float64)) < LARGEST_EXACT).all()
    ):
        classes = classes.astype(np.int64)  # names without ".0"
    if task == "auto":
        are_few = (
            classes.size == 2 if is_real else classes.size <= max(2, min(FEW, n // 2))
        )
        if are_few:
            task = "classification"
        elif is_real and classes.size > min(FEW, n // 2):
            task = "regression"
        else:
            kind = "real" if is_real else "whole"
            raise TableError(
                f"expected classes or numbers to be predicted, got {classes.size} different {kind} numbers in {n} rows "
                f"of {name}, which may be either; set dataset.task=classification or dataset.task=regression."
            )
    if task == "classification":
        return classes, codes
    if classes.size < 2:
        raise TableError(
            f"expected different numbers in {name}, got only {classes[0]}; choose another target."
        )
    return None, None


def column_beside(table: Table, role: str, place: int | None) -> np.ndarray | None:
    """Return the column of groups (numbered from 0 in order), weights or folds; None if there is none.

    Raises
    ------
    TableError
        If there are missing values, negative weights, only zero weights, or folds that
        are not whole numbers of at least -1.
    """
    if place is None and role not in table.vectors:
        return None
    import pandas as pd

    values = _values(table, role, place)
    if role == "groups":
        _check_beside(table, role, values, pd.isna(values), "a group in each row")
        if values.dtype.kind in "iufb":
            return np.unique(values, return_inverse=True)[1].astype(np.int64)
        return distinct_texts([*map(str, values)])[1]
    numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(
        dtype=np.float64
    )
    if role == "sample_weight":
        is_wrong = ~(np.isfinite(numbers) & (numbers >= 0))
        _check_beside(
            table, role, values, is_wrong, "weights that are numbers of at least 0"
        )
        if not numbers.any():
            raise TableError(
                f"dataset.{role}: expected at least one weight above 0, got only zeros; choose another column."
            )
        return numbers
    is_wrong = ~((numbers == np.floor(numbers)) & (numbers >= -1))
    _check_beside(table, role, values, is_wrong, "fold numbers from 0, or -1")
    return numbers.astype(np.int64)


def _check_beside(
    table: Table, role: str, values: np.ndarray, is_wrong: np.ndarray, expected: str
) -> None:
    """Raise if a column has a wrong value, naming the first."""
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise TableError(
            f"dataset.{role}: expected {expected}, got {values[row]!s:.40} in {table.where(row)}; correct it."
        )


def known_labels(
    subject: str, y: Any, where: Callable[[int], str] = "row {} from 0".format
) -> np.ndarray:
    """Return labels as an array of numbers or strings.

    Raises
    ------
    TableError
        If labels are missing (None, NaN, NA, NaT or masked), with their number and
        place, or if numbers and strings are mixed.
    """
    import pandas as pd

    # in an array of strings, numbers would become strings
    as_they_are = np.asarray(y, dtype=object)
    is_missing = pd.isna(as_they_are)
    if np.ma.isMaskedArray(y):
        is_missing |= np.ma.getmaskarray(y)
    missing = np.flatnonzero(is_missing)
    if missing.size:
        stated = as_they_are[~is_missing].tolist()
        has_names = not stated or any(isinstance(label, str) for label in stated)
        of_classes = (
            ", or write a name if an empty cell is a class" if has_names else ""
        )
        raise TableError(
            f"{subject}: expected a value in each row, got {missing.size} without one, the first in "
            f"{where(int(missing[0]))}; leave these rows out{of_classes}."
        )
    labels = np.asarray(y)
    if labels.dtype.kind in "OU":
        by_kind = {
            isinstance(label, str): label for label in as_they_are.ravel().tolist()
        }
        if len(by_kind) > 1:
            raise TableError(
                f"{subject}: expected labels that are all strings or all numbers, got the string "
                f"{str(by_kind[True])!r:.40} and the number {by_kind[False]!s:.40}; write all of them in the same form."
            )
    return labels


def _values(table: Table, role: str, place: int | None) -> Any:
    """Return a column, or the values that the format stores separately for a role."""
    return np.asarray(table.vectors[role]) if place is None else table.column(place)


def _labels(table: Table, place: int | None) -> Any:
    """Return the labels as strings, because None and NA may be names, and 01 may be a class other than 1."""
    if place is None or table.texts is None:
        return _values(table, "target", place)
    column = table.columns.iloc[:, place]
    is_text = column.dtype.kind not in "iufb" or column.isna().all()
    if is_text or column.dtype.kind in "iu":
        texts = table.texts(place)
        if is_text or texts.str.match(r"[+-]?0\d").any():
            return texts.mask(texts == "").to_numpy(dtype=object)
    return column.to_numpy()
