"""Columns of a user's own table as features, target, groups, weights and folds; what is not certain is asked about.

A value is quoted with its column and the line of the file, because that is where people look for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .files import TableError
from .own_table import Table, column_values
from .own_text import is_number, some

FEW = 20
"""Different numbers that may be classes. What more whole ones are is asked; more real ones are a regression."""

LARGEST_EXACT = 2**53
"""From this size on not all whole numbers are floating-point numbers of 64 bits."""

DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}[- .][A-Za-z]{3,9}[- .,]+\d{2,4})"
    r"([ T]\d{1,2}:\d.*)?|\d{1,2}:\d{2}(:\d{2})?(\.\d+)?|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
)
LIKE_NUMBER = re.compile(
    r"(?=.*\d)[$€£]?\s?[+-]?(\d{1,3}([,.' \u00a0]\d{3})+|\d*)([,.]\d+)?([eE][+-]?\d+)?(\s?[%$€£]|\s[A-Za-zµ°/]{1,4})?"
)
"""Numbers as people write them, which float() does not take."""


def features_of(table: Table, kept: list[int]) -> tuple[Any, list[int], dict[str, np.ndarray], list[str]]:
    """Return the columns that are features as numbers, which these are, names of categories, and notes for people.

    X, an ndarray or csr_array of shape (n, d), has NaN for missing values, and numbers for texts: `categories` are
    theirs by the name of the column. Of the columns `kept` those of dates, and of texts that differ from row to row,
    are left out.

    Raises
    ------
    ValueError
        Texts among numbers, columns without values, infinite values: quotes the first.
    """
    frame = table.columns
    if not hasattr(frame, "iloc"):
        X = frame[:, kept] if len(kept) < len(table.names) else frame
        _check_finite(table, X, kept)
        return X, kept, {}, _notes_of_rounding(table, X, kept)
    kinds = [kind.kind for kind in frame.dtypes]
    numbers = [k for k in kept if kinds[k] in "iufb"]
    X = np.empty(frame.shape)
    X[:, numbers] = frame.iloc[:, numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    categories: dict[str, np.ndarray] = {}
    dates, free = [], []
    for k in sorted({*kept} - {*numbers}):
        if (found := _column_of_texts(table, k)) is None:
            dates.append(k)
            continue
        codes, known = found
        n_known = int(np.count_nonzero(codes >= 0))
        _check_numbers(table, f"column {table.names[k]:.80}", codes, known)
        if all(map(is_number, known)) and not any(re.match(r"0\d", text) for text in known):
            X[:, k] = np.array([*map(float, known), np.nan])[codes]
        elif len(known) == n_known or len(known) > max(FEW, n_known // 2):
            free.append(k)
        else:
            X[:, k] = np.where(codes >= 0, codes, np.nan)
            categories[table.names[k]] = np.array(known, dtype=object)
    without = {*dates, *free}
    kept = [k for k in kept if k not in without]
    X = X[:, kept]
    names = np.array([table.names[k] for k in kept], dtype=object)
    if (empty := np.isnan(X).all(axis=0)).any():
        raise TableError(
            f"expected values in each column, got none in {some(names[empty])}; leave these columns out: "
            f"dataset.left_out=[{','.join(names[empty][:5]):.200}]."
        )
    _check_finite(table, X, kept)
    return X, kept, categories, _notes(table, X, kept, dates, free)


def _notes(table: Table, X: np.ndarray, kept: list[int], dates: list[int], free: list[int]) -> list[str]:
    """Return what people should know of the columns that are kept, and of those that are not."""
    kinds = [kind.kind for kind in table.columns.dtypes]
    unique = [kinds[k] in "iu" and len(np.unique(x)) == len(x) > 2 for k, x in zip(kept, X.T, strict=True)]
    ids = np.array(unique, dtype=bool)
    ids &= 2 * np.count_nonzero(ids) <= max(2, ids.size)  # where most columns have whole numbers, these are counts
    rounding = _notes_of_rounding(table, X, kept)
    constant = np.nanmin(X, axis=0) == np.nanmax(X, axis=0)
    if rounding:  # such a column may be equal only after it
        constant &= np.abs(X[0]) < LARGEST_EXACT
    said = (
        ("dates, in {}, are left out; to use them, write them as numbers, such as days", dates),
        ("text that differs in every row, in {}, is left out", free),
        (
            "whole numbers that differ in every row, in {0}; if they number the rows, set dataset.left_out=[{0}]",
            np.array(kept)[ids],
        ),
        ("constant columns: {}", np.array(kept)[constant]),
    )
    notes = [note.format(some([table.names[k] for k in found])) for note, found in said if len(found)]
    return [*rounding, *notes]


def _notes_of_rounding(table: Table, X: Any, kept: Sequence[int]) -> list[str]:
    """Return a note on the first column whose whole numbers are no floating-point numbers of 64 bits."""
    if X.dtype.kind not in "iuf":
        return []
    if sparse.issparse(X):
        entries = sparse.coo_array(X)
        large = np.unique(entries.coords[1][(entries.data >= LARGEST_EXACT) | (entries.data <= -LARGEST_EXACT)])
    else:
        largest = np.fmax.reduce(X, axis=0).astype(float)  # half precision has no number as large as the bound
        smallest = np.fmin.reduce(X, axis=0).astype(float)
        large = np.flatnonzero((largest >= LARGEST_EXACT) | (smallest <= -LARGEST_EXACT))
    for k in np.array(kept)[large].tolist():
        whole = _large_whole_numbers(table, k)
        rounded = next((number for number in whole if int(float(number)) != number), None)
        if rounded is not None:
            return [
                f"whole numbers beyond 2^53 in column {table.names[k]:.80}, such as {rounded}, are rounded to double "
                f"precision, here to {int(float(rounded))}: different ones may become equal; where they are names, set "
                f"dataset.left_out=[{table.names[k]:.80}]"
            ]
    return []


def _large_whole_numbers(table: Table, k: int) -> list[int]:
    """Return the whole numbers of a column that are not below 2^53 in size, as they are written where it is text."""
    if not hasattr(table.columns, "iloc") and table.columns.dtype.kind not in "iu":
        return []
    values = column_values(table, k)
    if values.dtype.kind in "iu":
        return [int(value) for value in values[(values >= LARGEST_EXACT) | (values <= -LARGEST_EXACT)]]
    if values.dtype.kind == "f":
        if table.texts is None or not (np.abs(values) >= LARGEST_EXACT).any():
            return []
        values = table.texts(k)
    if values.dtype.kind == "b":
        return []
    large = (text for text in {str(value) for value in values} if re.fullmatch(r"[+-]?\d{16,309}", text, re.ASCII))
    return sorted(number for number in map(int, large) if abs(number) >= LARGEST_EXACT)


def target_of(table: Table, place: int | None, task: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the target, shape (n,), and the names of its classes; None for a regression.

    It is column `place`, or apart where that is None. Two classes are -1 and +1, more 0, 1, ..., in the order of their
    names; `task` is "auto", "classification" or "regression".

    Raises
    ------
    ValueError
        Missing values, a single class, texts of a regression, and numbers that may be classes or not.
    """
    name = "the target" if place is None else f"the target {table.names[place]!r:.80}"
    labels = known_labels(name, _labels(table, place), table.where)
    n, kind = labels.size, labels.dtype.kind
    if kind not in "iuf":
        values = (labels if kind == "O" else labels.astype(str)).tolist()
        texts = [value.decode() if isinstance(value, bytes) else str(value) for value in values]
        # objects: one long text would blow up an array of fixed width
        classes = np.array(sorted({*texts}), dtype=object)
        codes = np.searchsorted(classes, np.array(texts, dtype=object))
        if classes.size > FEW:
            _check_numbers(table, name, codes, classes.tolist())
        if task == "regression" or (task == "auto" and classes.size > max(FEW, n // 2)):
            raise TableError(
                f"expected {'numbers' if task == 'regression' else 'classes'} in {name}, got {classes.size} different "
                f"texts in {n} rows, such as {classes[0]!r:.40}; choose another column as dataset.target."
            )
    else:
        if not (finite := np.isfinite(labels)).all():
            row = int(np.argmin(finite))
            raise TableError(
                f"expected finite numbers in {name}, got {labels[row]} in {table.where(row)}; leave this row out."
            )
        classes, codes = np.unique(labels, return_inverse=True)
        is_real = bool((classes != np.floor(classes)).any())
        if kind == "f" and not is_real and bool((np.abs(classes.astype(np.float64)) < LARGEST_EXACT).all()):
            classes = classes.astype(np.int64)  # names without ".0"
        few = classes.size == 2 if is_real else classes.size <= max(2, min(FEW, n // 2))
        if task == "auto" and not few and not (is_real and classes.size > min(FEW, n // 2)):
            raise TableError(
                f"expected classes or numbers to be predicted, got {classes.size} different "
                f"{'real' if is_real else 'whole'} numbers in {n} rows of {name}, which may be either; say "
                f"dataset.task=classification or dataset.task=regression."
            )
        if task == "regression" or (task == "auto" and not few):
            if classes.size < 2:
                raise TableError(f"expected numbers that differ in {name}, got only {classes[0]}; choose another.")
            return labels.astype(np.float64), None
    if classes.size < 2:
        raise TableError(f"expected at least two classes, got only {classes.tolist()!s:.200}; choose another target.")
    return (2 * codes - 1 if classes.size == 2 else codes), np.array([f"{each}" for each in classes], dtype=object)


def column_beside(table: Table, role: str, place: int | None) -> np.ndarray | None:
    """Return the column of groups, as their numbers from 0 in order, of weights, or of folds; None where there is none.

    Raises
    ------
    ValueError
        Missing values, weights that are negative or all zero, folds that are no whole numbers from -1 on.
    """
    if place is None and role not in table.vectors:
        return None
    import pandas as pd

    values = _values(table, role, place)
    if role == "groups":
        _check_beside(table, role, values, pd.isna(values), "a group in each row")
        if values.dtype.kind in "iufb":
            return np.unique(values, return_inverse=True)[1].astype(np.int64)
        texts = [str(value) for value in values]  # pandas would copy each of them, which could fill the memory
        places = {text: place for place, text in enumerate(sorted({*texts}))}
        return np.array([places[text] for text in texts], dtype=np.int64)
    numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(dtype=np.float64)
    if role == "sample_weight":
        fault = ~(np.isfinite(numbers) & (numbers >= 0))
        _check_beside(table, role, values, fault, "weights, which are numbers from 0 on")
        if not numbers.any():
            raise TableError(f"dataset.{role}: expected some weight above 0, got zeros only; choose another column.")
        return numbers
    fault = ~((numbers == np.floor(numbers)) & (numbers >= -1))
    _check_beside(table, role, values, fault, "numbers of folds, from 0 on, or -1")
    return numbers.astype(np.int64)


def _check_beside(table: Table, role: str, values: np.ndarray, fault: np.ndarray, expected: str) -> None:
    """Raise for the first value of a column that is at fault."""
    if fault.any():
        row = int(np.argmax(fault))
        raise TableError(
            f"dataset.{role}: expected {expected}, got {values[row]!s:.40} in {table.where(row)}; correct it."
        )


def known_labels(subject: str, y: Any, where: Callable[[int], str] = "row {} from 0".format) -> np.ndarray:
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
        raise TableError(
            f"{subject}: expected a label in each row, got {missing.size} without, the first in "
            f"{where(int(missing[0]))}; leave these rows out, or write a name where nothing means one."
        )
    labels = np.asarray(y)
    kinds = {isinstance(value, str): value for value in whole.ravel().tolist()} if labels.dtype.kind in "OU" else {}
    if len(kinds) > 1:
        raise TableError(
            f"{subject}: expected labels that are all texts or all numbers, got the text "
            f"{str(kinds[True])!r:.40} and the number {kinds[False]!s:.40}; write them in one way."
        )
    return labels


def _values(table: Table, role: str, place: int | None) -> Any:
    """Return a column, or what the format has for a role beside the columns."""
    if place is None:
        return np.asarray(table.vectors[role])
    return column_values(table, place)


def _labels(table: Table, place: int | None) -> Any:
    """Return the labels, of which None and NA may be names, and 01 may be another class than 1."""
    if place is None or table.texts is None:
        return _values(table, "target", place)
    column = table.columns.iloc[:, place]
    is_text = column.dtype.kind not in "iufb" or column.isna().all()
    if is_text or column.dtype.kind in "iu":
        texts = table.texts(place)
        if is_text or texts.str.match(r"[+-]?0\d").any():
            return texts.mask(texts == "").to_numpy(dtype=object)
    return column.to_numpy()


def _column_of_texts(table: Table, k: int) -> tuple[np.ndarray, list[str]] | None:
    """Return the numbers of the texts of a column, -1 where it has none, and the sorted texts; None for dates."""
    import pandas as pd

    column = table.columns.iloc[:, k]
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if column.dtype.kind in "mM" or kind in ("date", "time", "datetime", "timedelta", "period"):
        return None
    if kind in ("boolean", "decimal"):
        column = pd.to_numeric(column, errors="coerce")
    try:
        codes, values = pd.factorize(column)
    except TypeError:
        value = column.dropna().iloc[0]
        raise TableError(
            f"expected numbers or texts in column {table.names[k]!r:.80}, got {value!s:.40}; leave it out: "
            f"dataset.left_out=[{table.names[k]:.80}]."
        ) from None
    texts = [value.decode(errors="replace") if isinstance(value, bytes) else str(value).strip() for value in values]
    known = sorted({*texts} - {*table.how.na_values, ""})
    if known and all(map(DATE.fullmatch, known)) and not all(map(is_number, known)):
        return None
    number = {text: place for place, text in enumerate(known)}
    return np.array([*(number.get(text, -1) for text in texts), -1])[codes], known


def _check_numbers(table: Table, name: str, codes: np.ndarray, known: list[str]) -> None:
    """Raise where most of some texts are numbers, and others are not, or are written with other signs."""
    plain = np.array([*map(is_number, known), True])
    alike = np.array([is_number(text) or bool(LIKE_NUMBER.fullmatch(text)) for text in known] + [False])
    if plain.all() or 2 * np.count_nonzero(alike[codes]) <= np.count_nonzero(codes >= 0):
        return
    row = int(np.argmin(plain[codes]))
    text = known[codes[row]]
    step = _step_to_number(table, text) if LIKE_NUMBER.fullmatch(text) else _step_to_missing(table, text)
    raise TableError(f"expected numbers in {name}, as in most rows, got {text!r:.40} in {table.where(row)}; {step}.")


def _step_to_missing(table: Table, text: str) -> str:
    """Return what to do where a text may stand for a missing value."""
    words = [*table.how.na_values, text]
    listed = ",".join(word if re.fullmatch(r"[\w?./-]+", word) else f'"{word:.40}"' for word in words)
    return f"where it stands for a missing value, say 'dataset.na_values=[{listed:.200}]'"


def _step_to_number(table: Table, text: str) -> str:
    """Return what to do where a number is written with other signs: no setting that is set already, or not taken."""
    foreign = re.sub(r"[eE](?=[+-]?\d)|[\d\s,.'+-]", "", text)
    plain = re.sub(rf"[{re.escape(foreign)}]", "", text).strip() if foreign else text
    signs = [*dict.fromkeys(re.sub(r"[^,.' \u00a0]", "", plain))]
    steps = [f"write it without {foreign!r}, as {plain!r}: no setting takes this sign"] if foreign else []
    decimal = table.how.decimal or "."
    if table.texts is None or table.how.thousands or (foreign and signs in ([], [decimal])):
        steps = steps or ["write plain numbers, such as 1234.5"]
    elif len(signs) == 1 and signs[0] in ",." and signs[0] != decimal:
        steps.append(f"say whether it is 'dataset.decimal=\"{signs[0]}\"' or 'dataset.thousands=\"{signs[0]}\"'")
    else:
        others = [sign for sign in signs if sign != decimal]
        last = f" and 'dataset.decimal=\"{others[-1]}\"'" if len(others) > 1 else ""
        steps.append(f"say 'dataset.thousands=\"{others[0]}\"'{last}" if others else "write plain numbers")
    return "; ".join(steps)


def _check_finite(table: Table, X: Any, kept: Sequence[int]) -> None:
    """Raise for the first infinite value, or for NaN in a sparse matrix."""
    if X.dtype.kind != "f":
        return
    if sparse.issparse(X):
        entries = sparse.coo_array(X)
        wrong = np.transpose(entries.coords)[~np.isfinite(entries.data)]
    else:
        wrong = np.argwhere(np.isinf(X))
    if not len(wrong):
        return
    row, k = wrong[0].tolist()
    shown, step = f"{X[row, k]}", ""
    if table.texts is not None:
        shown = table.texts(kept[k]).iloc[row]
        step = f", or say that it is missing: dataset.na_values=[{shown:.40}]"
    raise TableError(
        f"expected finite numbers of 64 bits, got {shown:.40} in column {table.names[kept[k]]!r:.80}, "
        f"{table.where(row)}; correct it{step}."
    )
