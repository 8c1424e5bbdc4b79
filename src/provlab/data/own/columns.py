"""Columns of a user's own table as features; ambiguous columns raise an error.

Messages quote a value with its column and its line in the file, where users look for
it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.files import TableError
from provlab.data.own.table import Table
from provlab.data.own.text import is_number
from provlab.project.messages import listed

FEW = 20
"""Maximum number of distinct numbers taken as classes; more whole numbers are ambiguous, more real ones a
regression."""

ROWS_OF_A_CODE = 5
"""Whole numbers may be codes if each occurs in at least this many rows on average."""

LARGEST_EXACT = 2**53
"""From this size on, not all whole numbers are exact in double precision."""

DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}[- .][A-Za-z]{3,9}[- .,]+\d{2,4})"
    r"([ T]\d{1,2}:\d.*)?|\d{1,2}:\d{2}(:\d{2})?(\.\d+)?|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
)
LIKE_NUMBER = re.compile(
    r"(?=.*\d)[$€£]?\s?[+-]?(\d{1,3}([,.' \u00a0]\d{3})+|\d*)([,.]\d+)?([eE][+-]?\d+)?(\s?[%$€£]|\s[A-Za-zµ°/]{1,4})?"
)
"""Common notations of numbers that float() does not accept."""

DATE_KINDS = ("date", "time", "datetime", "timedelta", "period")


@dataclass(frozen=True)
class Features:
    """Feature columns as numbers.

    X, an ndarray or csr_array of shape (n, d), has NaN for missing values, and numbers
    instead of strings; `categories` has the strings by column name. `places` are the
    positions of the features in the table, and `notes` are remarks for the user on
    these and on left-out columns.
    """

    X: Any
    places: list[int]
    categories: dict[str, np.ndarray]
    notes: list[str]


def features_of(
    table: Table, places: list[int], categorical: Collection[int] = ()
) -> Features:
    """Return columns as features, without columns of dates and columns of strings that all differ.

    Numbers in `categorical` columns are taken as codes of categories.

    Raises
    ------
    TableError
        If there are strings among numbers, columns without values, or infinite values.
        The message quotes the first.
    """
    if not table.is_frame:
        return _features_of_matrix(table, places, categorical)
    kinds = [kind.kind for kind in table.columns.dtypes]
    numeric = [k for k in places if kinds[k] in "iufb" and k not in categorical]
    X = np.empty(table.columns.shape)
    X[:, numeric] = table.columns.iloc[:, numeric].to_numpy(
        dtype=np.float64, na_value=np.nan
    )
    categories = {}
    dates = []
    differing = []
    for k in sorted({*places} - {*numeric}):
        coded = _coded_texts(table, k, k in categorical)
        if coded is None:
            dates.append(k)
            continue
        codes, texts = coded
        n_values = int(np.count_nonzero(codes >= 0))
        if k not in categorical:
            as_categories = f"if the column has categories, set 'dataset.categorical=[{table.names[k]:.80}]'"
            check_numbers(
                table, f"column {table.names[k]:.80}", codes, texts, as_categories
            )
            if all(map(is_number, texts)) and not any(
                re.match(r"0\d", text) for text in texts
            ):
                X[:, k] = np.array([*map(float, texts), np.nan])[codes]
                continue
            if len(texts) == n_values or len(texts) > max(FEW, n_values // 2):
                differing.append(k)
                continue
        X[:, k] = np.where(codes >= 0, codes, np.nan)
        categories[table.names[k]] = np.array(texts, dtype=object)
    places = [k for k in places if k not in {*dates, *differing}]
    X = X[:, places]
    empty = [table.names[places[k]] for k in np.flatnonzero(np.isnan(X).all(axis=0))]
    if empty:
        raise TableError(
            f"expected values in each column, got none in {listed(empty)}; leave these columns out: "
            f"dataset.left_out=[{','.join(empty[:5]):.200}]."
        )
    _check_finite(table, X, places)
    notes = _notes_of_rounding(table, [k for k in places if kinds[k] in "iu"])
    if dates:
        notes.append(
            f"columns of dates are left out: {_named(table, dates)}; to use them, write them as numbers, such as days"
        )
    if differing:
        notes.append(
            f"columns with a different text in each row are left out: {_named(table, differing)}"
        )
    return Features(
        X, places, categories, [*notes, *_notes_of_values(table, X, places, categories)]
    )


def _features_of_matrix(
    table: Table, places: list[int], categorical: Collection[int]
) -> Features:
    if categorical:
        raise TableError(
            f"dataset.categorical: expected columns of a table, got column {_named(table, [*categorical])} of a "
            f"matrix; write it as CSV or Parquet."
        )
    X = table.columns
    if len(places) < len(table.names):
        X = X[:, places]
    _check_finite(table, X, places)
    notes = (
        _notes_of_rounding(table, places)
        if X.dtype.kind in "iu" and not sparse.issparse(X)
        else []
    )
    return Features(X, places, {}, notes)


def _notes_of_values(
    table: Table, X: np.ndarray, places: list[int], categories: dict[str, np.ndarray]
) -> list[str]:
    """Return notes on columns that seem to identify rows or to be codes, and on constant columns."""
    notes = []
    kinds = [kind.kind for kind in table.columns.dtypes]
    identifiers = []
    codes = []
    for k, values in zip(places, X.T, strict=True):
        different = np.unique(values[~np.isnan(values)])
        if kinds[k] in "iu" and different.size == values.size > 2:
            identifiers.append(k)
        is_whole = (
            table.names[k] not in categories
            and (different == np.floor(different)).all()
        )
        if (
            is_whole
            and 2 < different.size <= FEW
            and ROWS_OF_A_CODE * different.size <= len(X)
        ):
            codes.append(k)
    # otherwise these are counts
    if identifiers and 2 * len(identifiers) <= max(2, len(places)):
        names = _named(table, identifiers)
        notes.append(
            f"different whole numbers in each row of {names}; if they number the rows, set dataset.left_out=[{names}]"
        )
    if codes and 2 * len(codes) <= max(2, len(places)):  # otherwise these are counts
        names = ",".join(table.names[k] for k in codes)
        notes.append(
            f"few different whole numbers in {_named(table, codes)}; if they are codes of categories, set "
            f"'dataset.categorical=[{names:.400}]'"
        )
    for name, texts in categories.items():
        if len(texts) > FEW:
            notes.append(
                f"{len(texts)} different texts in {len(X)} rows of column {name:.80}, each of which becomes a feature; "
                f"if they are names, leave the column out, dataset.left_out=[{name:.80}], or keep the rows of each "
                f"in one fold, dataset.groups={name:.80}"
            )
    largest = np.nanmax(X, axis=0)
    # larger numbers may be rounded
    is_constant = (largest == np.nanmin(X, axis=0)) & (np.abs(largest) < LARGEST_EXACT)
    if is_constant.any():
        notes.append(
            f"constant columns: {_named(table, np.array(places)[is_constant])}"
        )
    return notes


def _named(table: Table, places: Sequence[int]) -> str:
    return listed([table.names[k] for k in places])


def _notes_of_rounding(table: Table, places: Sequence[int]) -> list[str]:
    """Return a note on the first column of integers that are not all exact in double precision."""
    for k in places:
        values = table.column(k)
        for number in values[
            np.abs(values.astype(np.float64)) >= LARGEST_EXACT
        ].tolist():
            if int(float(number)) != number:
                return [
                    f"whole numbers beyond 2^53 in column {table.names[k]:.80}, such as {number}, are rounded to "
                    f"double precision, here to {int(float(number))}: different ones may become equal; if they are "
                    f"names, set dataset.left_out=[{table.names[k]:.80}]"
                ]
    return []


# ---- texts


def text_of(value: Any) -> str:
    """Return a value as text; bytes are decoded."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def distinct_texts(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct texts, and the position of each text among them.

    Strings may be very long, so an array of fixed width, or a copy of each string as in
    pandas, could exhaust the memory.
    """
    distinct = np.array(sorted({*texts}), dtype=object)
    code_of = {text: code for code, text in enumerate(distinct)}
    return distinct, np.array([code_of[text] for text in texts], dtype=np.int64)


def _coded_texts(
    table: Table, k: int, is_category: bool
) -> tuple[np.ndarray, list[str]] | None:
    """Return the codes of a text column, with -1 for missing values, and its sorted strings; None for dates."""
    import pandas as pd

    column = table.columns.iloc[:, k]
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if column.dtype.kind in "mM" or kind in DATE_KINDS:
        return None
    if kind in ("boolean", "decimal"):
        column = pd.to_numeric(column, errors="coerce")
    elif is_category and table.texts is not None:
        column = table.texts(k)
    try:
        codes, values = pd.factorize(column)
    except TypeError:
        value = column.dropna().iloc[0]
        raise TableError(
            f"expected numbers or strings in column {table.names[k]!r:.80}, got {value!s:.40}; leave it out: "
            f"dataset.left_out=[{table.names[k]:.80}]."
        ) from None
    texts = [text_of(value).strip() for value in values]
    distinct = sorted({*texts} - {*table.how.na_values, ""})
    if (
        distinct
        and all(map(DATE.fullmatch, distinct))
        and not all(map(is_number, distinct))
    ):
        return None
    code_of = {text: code for code, text in enumerate(distinct)}
    recoded = [code_of.get(text, -1) for text in texts]
    return np.array([*recoded, -1])[codes], distinct


def check_numbers(
    table: Table, name: str, codes: np.ndarray, texts: list[str], *steps: str
) -> None:
    """Raise if most of the given strings are numbers and others are not, or use another notation.

    `steps` is further advice for strings that are not numbers at all.
    """
    is_plain = np.array([*map(is_number, texts), True])
    is_like_number = np.array(
        [is_number(text) or bool(LIKE_NUMBER.fullmatch(text)) for text in texts]
        + [False]
    )
    if is_plain.all() or 2 * np.count_nonzero(
        is_like_number[codes]
    ) <= np.count_nonzero(codes >= 0):
        return
    row = int(np.argmin(is_plain[codes]))
    text = texts[codes[row]]
    first_step = _step_to_missing(table, text)
    if LIKE_NUMBER.fullmatch(text):
        first_step = _step_to_number(table, text)
    step = "; ".join([first_step, *steps])
    n_plain = np.count_nonzero(is_plain[codes] & (codes >= 0))
    beside = ", as in most rows" if 2 * n_plain > codes.size else ""
    raise TableError(
        f"expected numbers in {name}{beside}, got {text!r:.40} in {table.where(row)}; {step}."
    )


def _step_to_missing(table: Table, text: str) -> str:
    """Return the advice for a string that may stand for a missing value."""
    written = []
    for word in (*table.how.na_values, text):
        is_plain = re.fullmatch(r"[\w?./-]+", word)
        written.append(word if is_plain else f'"{word:.40}"')
    return f"if it stands for a missing value, set 'dataset.na_values=[{','.join(written):.200}]'"


def _step_to_number(table: Table, text: str) -> str:
    """Return the advice for a number in another notation."""
    foreign = re.sub(r"[eE](?=[+-]?\d)|[\d\s,.'+-]", "", text)
    if foreign:
        plain = re.sub(rf"[{re.escape(foreign)}]", "", text).strip()
        return f"write it without {foreign!r}, as {plain!r}, because no setting covers this sign"
    signs = [f'"{sign}"' for sign in dict.fromkeys(re.sub(r"[^,.' \u00a0]", "", text))]
    if table.texts is None or table.how.thousands or not signs:
        return "write plain numbers, such as 1234.5"
    if len(signs) == 1:
        return f"set 'dataset.decimal={signs[0]}' or 'dataset.thousands={signs[0]}'"
    return f"set 'dataset.thousands={signs[0]}' and 'dataset.decimal={signs[-1]}'"


def _check_finite(table: Table, X: Any, places: Sequence[int]) -> None:
    """Raise if there is an infinite value in an array, naming the first; `make_dataset` refuses those of sparse X."""
    if X.dtype.kind != "f" or sparse.issparse(X):
        return
    wrong = np.argwhere(np.isinf(X))
    if not len(wrong):
        return
    row, k = wrong[0].tolist()
    shown = f"{X[row, k]}"
    step = "correct it"
    if table.texts is not None:
        shown = table.texts(places[k]).iloc[row]
        step = f"correct it, or declare it missing with dataset.na_values=[{shown:.40}]"
    raise TableError(
        f"expected finite numbers of 64 bits, got {shown:.40} in column {table.names[places[k]]!r:.80}, "
        f"{table.where(row)}; {step}."
    )
