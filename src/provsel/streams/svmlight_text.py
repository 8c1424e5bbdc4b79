"""Parsing of lines of svmlight text, all at once if they are written plainly, and otherwise by scikit-learn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_NUMBER = rb"-?\.?(?:e[-+])?"
_NEGATIVE_ZERO = re.compile(rb"-0|-\d[^ :\n]*[eE]-\d{3}")
"""Possible zeros with a sign: one as written, and a number that is too small for a float."""

_ROWS = re.compile(rb"(?:%b(?: :%b)*+\n)*+" % (_NUMBER, _NUMBER))
"""Pattern of plainly written rows without their digits: label, and pairs of index and value. It never backtracks."""
_PAIRS = (b"e-", b"e+", b":-", b"\n-")
"""Positions of signs."""
_LINES = bytes.maketrans(b" :", b"\n\n")
_HEAD = b"%%%%MatrixMarket matrix array real general\n%d 1\n"
_LARGEST = 2**31 - 1
"""Index that scikit-learn also accepts."""


class Rows(NamedTuple):
    """Rows in file order.

    Attributes
    ----------
    y : ndarray of shape (n,), float64
    counts : ndarray of shape (n,), int64
        Values of each row.
    indices : ndarray of shape (nnz,), int64
        From 0.
    values : ndarray of shape (nnz,), float64
    """

    y: NDArray[np.float64]
    counts: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]


def parsed(
    lines: Sequence[bytes], *, zero_based: bool, n_features: int | None = None
) -> Rows:
    """Return the rows of lines "label index:value ...", none of which is empty or only a comment.

    Lines separated by single spaces, without comments or qid, are parsed together,
    which takes half the time. `load_svmlight_file` parses all others, with the same
    bits, and also finds faults.

    Raises
    ------
    ValueError, OverflowError and their like
        As `load_svmlight_file`.
    """
    rows = _plain(lines, zero_based, n_features)
    if rows is None:
        # slow import of all its loaders
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(
            BytesIO(b"".join(lines)), zero_based=zero_based, n_features=n_features
        )
        rows = Rows(
            y, np.diff(X.indptr).astype(np.int64), X.indices.astype(np.int64), X.data
        )
    return rows


def joined(
    parts: Sequence[Rows], n_features: int | None = None
) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """Return (X, y) of one part or more; X of shape (n, n_features), or as wide as the rows are."""
    y, counts, indices, values = (
        np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
        for arrays in zip(*parts, strict=True)
    )
    starts = np.concatenate([[0], np.cumsum(counts)])
    width = int(indices.max(initial=0)) + 1 if n_features is None else n_features
    return sparse.csr_matrix((values, indices, starts), shape=(y.size, width)), y


def _plain(
    lines: Sequence[bytes], zero_based: bool, n_features: int | None
) -> Rows | None:
    """Return the rows, or None unless the text has the form written by `dump_svmlight_file`.

    A + before labels and spaces at the end of lines, which many files have, are also
    accepted.
    """
    text = b"\n".join([line.rstrip() for line in lines]) + b"\n"
    if b"+" in text and b"+-" not in text:
        text = (b"\n" + text).replace(b"\n+", b"\n")[1:]
    if not _is_plain(text):
        return None
    counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    size = 2 * int(starts[-1]) + counts.size
    from scipy.io import mmread  # slow import of all its readers

    try:
        # SciPy's reader of matrices takes an eighth of the time of NumPy's of numbers,
        # for the same bits
        numbers = mmread(BytesIO(_HEAD % size + text.translate(_LINES))).ravel()
    except ValueError:
        return None
    if not numbers.all() and _NEGATIVE_ZERO.search(text):
        return None  # the reader treats -0 as 0
    labels = 2 * starts[:-1] + np.arange(counts.size)
    pairs = np.delete(numbers, labels).reshape(-1, 2)
    file_indices = pairs[:, 0]
    if file_indices.size:
        rising = file_indices[1:] > file_indices[:-1]
        # from one row to the next
        rising[starts[(starts > 0) & (starts < file_indices.size)] - 1] = True
        last = _LARGEST if n_features is None else n_features - int(zero_based)
        if not (
            rising.all()
            and file_indices.min() >= 1 - int(zero_based)
            and file_indices.max() <= last
        ):
            return None
    indices = file_indices.astype(np.int64) - (1 - int(zero_based))
    return Rows(numbers[labels], counts, indices, pairs[:, 1].copy())


def _is_plain(text: bytes) -> bool:
    """Return whether lines contain only numbers in the right places, which the number reader does not check."""
    if not _ROWS.fullmatch(text.translate(None, b"0123456789")):
        return False
    # signs only in these pairs, and otherwise a digit between any two other characters
    pairs = sum(text.count(pair) for pair in _PAIRS)
    codes = np.frombuffer(text, dtype=np.uint8)
    mark = (codes < ord("0")) | (codes > ord("9"))
    signs = text.count(b"-") + text.count(b"+") - text.startswith(b"-")
    return signs == pairs == np.count_nonzero(
        mark[1:] & mark[:-1]
    ) and not text.startswith((b"\n", b" ", b"-\n", b"- "))
