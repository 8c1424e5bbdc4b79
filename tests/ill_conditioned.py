"""Matrices whose row spaces are known, from condition 1 to 1e14, and an SVD in extended precision.

`python tests/ill_conditioned.py` writes the table of docs/measured/conditions.md: rank
and state by selector.
"""

import warnings
from functools import cache

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgWarning, hadamard

from provsel.certificates import certify, certify_subset
from provsel.selectors import (
    AdaptiveRandomizedPivotingSelector,
    ApproximateBSSSelector,
    BSSSelector,
    DualSetSelector,
    LeverageScoreSelector,
    RandomlyPivotedQRSelector,
    RidgeLeverageSelector,
    RRQRSelector,
    SingleSVDSelector,
    SpectralSelectionSelector,
    StrongRRQRSelector,
)

SHAPES = {"wide": (12, 60), "tall": (60, 12), "square": (14, 18)}
CONDITIONS = (1e0, 1e4, 1e6, 1e7, 1e8, 1e10, 1e12, 1e13, 1e14)


def orthonormal(rng, n, k):
    return np.linalg.qr(rng.standard_normal((n, k)))[0]


def graded_columns(rng, shape, condition):
    return rng.standard_normal(shape) * np.geomspace(1, 1 / condition, shape[1])


def graded_rows(rng, shape, condition):
    return np.geomspace(1, 1 / condition, shape[0])[:, None] * rng.standard_normal(
        shape
    )


def giant_column(rng, shape, condition):
    X = rng.standard_normal(shape)
    X[:, 5] *= condition
    return X


def sparse_giant_column(rng, shape, condition):
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    X[np.arange(min(shape)), np.arange(min(shape))] = 1.0  # no empty row or column
    X[:, 5] = condition * rng.standard_normal(shape[0])
    return X


def spread_values(rng, shape, condition):
    k = min(shape)
    return (
        orthonormal(rng, shape[0], k) * np.geomspace(1, 1 / condition, k)
    ) @ orthonormal(rng, shape[1], k).T


def clustered_values(rng, shape, condition):
    k = min(shape)
    values = np.where(np.arange(k) < k // 2, 1.0, 1 / condition)
    return (orthonormal(rng, shape[0], k) * values) @ orthonormal(rng, shape[1], k).T


def lauchli(rng, shape, condition):
    """A row of ones above a small multiple of the identity: squares lose it from 1e8 on."""
    n = min(shape)
    d = max(shape)
    X = np.zeros((d, n))
    X[0] = 1.0
    X[1 : n + 1] = np.eye(n) / condition
    return X if shape[0] > shape[1] else X.T


def kahan(rng, shape, condition):
    k = min(shape)
    sine = condition ** (-1 / (k - 1))
    R = np.triu(-np.sqrt(1 - sine**2) * np.ones((k, k)), 1) + np.eye(k)
    X = np.zeros(shape)
    X[:k, :k] = sine ** np.arange(k)[:, None] * R
    return X


def low_rank(rng, shape, condition):
    """Half of the rank, exactly, as entries are small integers: signs of a Hadamard matrix, repeated and scaled."""
    signs = hadamard(16)[:, : min(shape) // 2]
    left = signs[rng.integers(16, size=shape[0])]
    right = signs[rng.integers(16, size=shape[1])]
    return (left @ right.T).astype(float)


FAMILY = {
    make.__name__.replace("_", " "): make
    for make in (graded_columns, graded_rows, giant_column, sparse_giant_column, spread_values, clustered_values,
                 lauchli, kahan, low_rank)
}  # fmt: skip


def matrix(name, shape, condition):
    """Return X and its rank."""
    rng = np.random.default_rng(7)
    X = FAMILY[name](rng, SHAPES[shape], condition)
    k = min(SHAPES[shape])
    return X, np.linalg.matrix_rank(X) if name == "low rank" else k


@cache
def solved(name, shape, condition):
    """Return X and its rank, V and singular values, by `extended_basis`."""
    X, rank = matrix(name, shape, condition)
    return X, rank, *extended_basis(X, rank)


def extended_basis(X, rank):
    """Return V and the singular values of X, shape (n, d), to about 1e-18 of each, by one-sided Jacobi rotations."""
    A = X.T.astype(np.longdouble)  # columns are rows of X
    if A.shape[1] > A.shape[0]:
        A = _triangle(X.astype(np.longdouble)).T
    k = A.shape[1]
    for _ in range(60):
        largest = np.longdouble(0)
        for i in range(k):
            for j in range(i + 1, k):
                p = A[:, i] @ A[:, i]
                q = A[:, j] @ A[:, j]
                r = A[:, i] @ A[:, j]
                if abs(r) <= np.longdouble(1e-19) * np.sqrt(p * q):
                    continue
                largest = max(largest, abs(r) / np.sqrt(p * q))
                zeta = (q - p) / (2 * r)
                t = (1 if zeta >= 0 else -1) / (abs(zeta) + np.sqrt(1 + zeta**2))
                c = 1 / np.sqrt(1 + t**2)
                A[:, i], A[:, j] = (
                    c * A[:, i] - c * t * A[:, j],
                    c * t * A[:, i] + c * A[:, j],
                )
        if largest < 1e-18:
            break
    sigma = np.sqrt((A**2).sum(axis=0))
    order = np.argsort(-sigma)[:rank]
    return A[:, order] / sigma[order], sigma[order]


def _triangle(A):
    """Return R of A = Q R in the precision of A, by Gram and Schmidt's process, twice."""
    Q = A.copy()
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for j in range(A.shape[1]):
        for _ in range(3):
            step = Q[:, :j].T @ Q[:, j]
            Q[:, j] -= Q[:, :j] @ step
            R[:j, j] += step
        R[j, j] = np.sqrt(Q[:, j] @ Q[:, j])
        if R[j, j] ** 2 < 1e-34 * (A[:, j] @ A[:, j]):  # depends on those before
            Q[:, j], R[j, j] = 0, 0
        else:
            Q[:, j] /= R[j, j]
    return R


def selectors(X):
    """Return all selectors that rest on the basis or on pivots, by name, with numbers that X allows."""
    n, d = X.shape
    k = min(n, d)
    r = min(d, 4 * k)
    by_name = {
        "leverage": LeverageScoreSelector(k, random_state=0),
        "ridge": RidgeLeverageSelector(k),
        "single SVD": SingleSVDSelector(k),
        "dual set": DualSetSelector(k, rank=k // 2),
        "spectral selection": SpectralSelectionSelector(k),
        "volume sampling": AdaptiveRandomizedPivotingSelector(k, random_state=0),
        "random pivots": RandomlyPivotedQRSelector(k, random_state=0),
        "pivoted QR": RRQRSelector(k),
        "strong RRQR": StrongRRQRSelector(k),
    }
    if r > k:
        by_name |= {
            "BSS": BSSSelector(r),
            "approximate BSS": ApproximateBSSSelector(
                r, n_projections=k, random_state=0
            ),
        }
    return by_name


def fitted(selector, X):
    """Return the fitted selector, and whether it said that the rank is not certain."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X)
    return selector, any(
        issubclass(warning.category, LinAlgWarning) for warning in caught
    )


def quiet(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def table():
    # no rank of its own; as leverage
    left_out = {"approximate BSS", "ridge", "volume sampling"}
    names = [
        name for name in selectors(np.empty(SHAPES["wide"])) if name not in left_out
    ]
    lines = [
        "| matrix | condition | rank | " + " | ".join(names) + " |",
        "|" + "---|" * (len(names) + 3),
    ]
    for name in FAMILY:
        for condition in (
            CONDITIONS[:1] if name == "low rank" else (1e7, 1e10, 1e13, 1e14)
        ):
            X, rank = matrix(name, "wide", condition)
            cells = []
            for label in names:
                selector, undecided = fitted(selectors(X)[label], sparse.csr_array(X))
                has_bound = hasattr(selector, "spectral_bound_")
                state = (
                    quiet(certify, selector, X).spectral.state
                    if has_bound
                    else quiet(certify_subset, selector, X).state
                )
                cells.append(
                    f"{getattr(selector, 'rank_', '–')}{', ?' if undecided else ''} {state}"
                )
            lines.append(
                f"| {name} | {condition:.0e} | {rank} | " + " | ".join(cells) + " |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
