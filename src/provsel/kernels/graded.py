"""Right singular vectors of matrices whose rows, columns or singular values differ by many orders of magnitude."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import qr, svd

Array = NDArray[np.float64]

BLOCK = 2**22
"""Values of X that are dense at a time."""

SHORT_BLOCK = 2**15
"""Values whose exponents are computed at a time: they stay in a cache."""

SWEEPS = 3
"""Rounds in which rows and columns are alternately brought to a length near one."""

NOTHING = -20_000
"""Replaces the exponent of zero: below all others, even after these are changed by rows and columns."""

GAP = 1e3
"""Ratio of the least singular value that is kept to the largest that is not, from which on the rank is certain."""

USUAL = 1e-100, 1e100
"""Largest values whose squares, and sums of them, are far from overflow and underflow."""


def rounding_levels(
    shape: tuple[int, ...], dtype: Any = np.float64
) -> tuple[float, float]:
    """Return the largest share of the largest singular value that is rounding, and the least that is not.

    Orthogonal transformations of an (n, d) matrix move singular values by about
    sqrt(max(n, d)) eps of the largest (Higham and Mary 2019, errors as independent
    random variables). Values between the two are undecided. Values of single precision
    carry rounding errors of that precision.
    """
    low = max(8.0, 0.5 * np.sqrt(max(shape))) * float(
        np.finfo(np.promote_types(dtype, np.float32)).eps
    )
    return low, 8.0 * low


def largest_size(X: Any) -> float:
    """Return the largest absolute value of X, dense or sparse, without an array of absolute values."""
    values = X.data if sparse.issparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def scale_exponent(X: Any) -> int:
    """Return the k for which the largest value of 2^k X is near 1; 0 if X has usual values, or only zeros."""
    largest = largest_size(X)
    if largest == 0 or USUAL[0] < largest < USUAL[1]:
        return 0
    return -int(np.frexp(largest)[1])


def scaled(X: Any, exponent: int) -> Any:
    """Return 2^exponent X in float64, exact unless values become denormal."""
    if not sparse.issparse(X):
        return np.ldexp(np.asarray(X, dtype=np.float64), exponent)
    X = X.astype(np.float64)
    return type(X)((np.ldexp(X.data, exponent), X.indices, X.indptr), shape=X.shape)


def graded_basis(X: Any) -> tuple[Array, Array, bool, float]:
    r"""Return V, sigma, whether the rank is certain, and the error of the span of V.

    The rows and columns of Z = D_r X D_c have lengths near one. X has the rank of Z,
    whose small singular values are not hidden by the scales of rows and columns. Z = Q
    R or R^T Q^T by Householder transformations of blocks of its longer side, so no Gram
    matrix squares the condition number. The row space of X is that of U^T D_r X, with
    the left singular vectors U of Z, or of W^T D_c^-1, with the right ones. Its basis
    comes from a QR factorisation with sorted rows and pivoted columns, stable row by
    row. A last SVD, of X times that basis, rotates it to singular vectors.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        Values of usual size; sparse X is made dense by blocks.

    Returns
    -------
    V : ndarray of shape (d, rank)
    sigma : ndarray of shape (rank,)
        Accurate to about eps of the largest.
    is_decided : bool
    error : float
        Bound on the sine of the angle between the span of V and the row space, to first
        order.

    References
    ----------
    Cox and Higham (1998), Stability of Householder QR factorization for weighted least
    squares problems; Demmel et al. (2012), Communication-optimal QR, for the blocks.
    """
    low, high = rounding_levels(X.shape, X.dtype)
    X = (
        sparse.csr_array(X, dtype=np.float64)
        if sparse.issparse(X)
        else np.asarray(X, dtype=np.float64)
    )
    n, d = X.shape
    rows, columns = equilibrating_exponents(X)
    is_tall = n >= d
    long, short = (
        (X, columns) if is_tall else (X.T.tocsr() if sparse.issparse(X) else X.T, rows)
    )
    along = rows if is_tall else columns
    R = triangle(long, lambda part, at: shifted(part, along[at], short))
    _, sizes, Wt = svd(R, check_finite=False)
    rank = int(np.sum(sizes > high * sizes[0]))
    W = Wt[:rank].T
    # Wt has the right singular vectors of Z if Z is tall, and the left ones if Z^T is
    # tall
    span = (
        np.ldexp(W, -columns[:, None])
        if is_tall
        else np.asarray(long @ np.ldexp(W, rows[:, None])) / sizes[:rank]
    )
    V = _row_wise_orthonormal(span)
    _, sigma, Yt = svd(triangle(X, lambda part, at: part @ V), check_finite=False)
    error = (
        rounding_levels(X.shape)[0] * sizes[0] / sizes[rank - 1] if rank < d else 0.0
    )
    return (
        np.ascontiguousarray(V @ Yt.T),
        sigma,
        is_certain(sizes, rank, low),
        float(error),
    )


def is_certain(sizes: Array, rank: int, low: float) -> bool:
    """Return whether singular values, decreasing, beyond the first `rank` are rounding, with a gap above them."""
    if rank in (0, sizes.size):
        return True
    left = float(sizes[rank])
    return left <= low * sizes[0] and sizes[rank - 1] >= GAP * max(
        left, np.finfo(np.float64).eps * sizes[0]
    )


def equilibrating_exponents(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return r and c for which the rows and columns of 2^r_i x_ij 2^c_j have largest values near 1; 0 for zeros."""
    coordinates = X.tocoo() if sparse.issparse(X) else None
    size = _exponents(X if coordinates is None else coordinates.data)
    exponents = [np.zeros(length, dtype=np.int16) for length in X.shape]
    for turn in range(2 * SWEEPS):
        # columns first: features in other units are the usual case
        side = (turn + 1) % 2
        if coordinates is None:
            fixed = exponents[1 - side][:, None] if side else exponents[1]
            largest = (size + fixed).max(axis=1 - side)
        else:
            largest = np.full(X.shape[side], NOTHING, dtype=np.int16)
            np.maximum.at(
                largest,
                coordinates.coords[side],
                size + exponents[1 - side][coordinates.coords[1 - side]],
            )
        exponents[side] = np.where(largest > NOTHING // 2, -largest, exponents[side])
    return exponents[0].astype(np.int64), exponents[1].astype(np.int64)


def triangle(X: Any, block: Callable[[Array, slice], Array]) -> Array:
    """Return R, shape (k, k), of the QR factorisation of the rows of X stacked on `block`, shape (n, k), part by part.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
    block : callable
        Takes dense rows of X and their numbers; returns an ndarray with k columns.
    """
    R: Array | None = None
    for at in _parts(X.shape):
        part = X[at].toarray() if sparse.issparse(X) else X[at]
        below = block(part, at)
        stacked = below if R is None else np.vstack([R, below])
        R = qr(stacked, mode="r", check_finite=False)[0][: stacked.shape[1]]
    assert R is not None
    if R.shape[0] < R.shape[1]:
        R = np.vstack([R, np.zeros((R.shape[1] - R.shape[0], R.shape[1]))])
    return R


def _parts(shape: tuple[int, int]) -> Iterator[slice]:
    # at least as many rows as columns, or the triangle above would be factorised
    # repeatedly
    step = max(BLOCK // max(shape[1], 1), 2 * shape[1], 1)
    return (
        slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step)
    )


def _exponents(values: Array) -> NDArray[np.int16]:
    """Return the k for which |2^-k x| is between 1/2 and 1; `NOTHING` for zeros."""
    exponents_of_values = np.empty(values.shape, dtype=np.int16)
    step = max(1, SHORT_BLOCK // max(1, values[:1].size))
    for at in (slice(start, start + step) for start in range(0, values.shape[0], step)):
        exponents_of_values[at] = np.where(
            values[at] == 0, NOTHING, np.frexp(values[at])[1]
        )
    return exponents_of_values


def shifted(
    values: Array, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> Array:
    """Return 2^(r_i + c_j) x_ij, as ldexp does, which takes seven times as long."""
    exponents = rows[:, None] + columns
    if np.abs(rows).max(initial=0) + np.abs(columns).max(initial=0) >= 1023:
        return np.ldexp(values, exponents)
    exponents += 1023  # as a float64 has the exponent of a power of two
    exponents <<= 52
    return values * exponents.view(np.float64)


def _row_wise_orthonormal(M: Array) -> Array:
    """Return an orthonormal basis of the columns of M, shape (d, k), whose rows may have very different lengths."""
    order = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    Q = np.empty_like(M)
    Q[order] = qr(M[order], mode="economic", pivoting=True, check_finite=False)[0]
    return Q
