"""python experiments/simulations/graded.py [--csv FILE]: certificates of matrices of very different scales.

Matrices of 12 x 60 whose rows, columns, both or singular values go down to the last
number of their name. Each selector keeps 11 columns; the row has `rank_`, the rank k of
the approximation, and state and ratio of `certify_subset`. Beside them stands the true
ratio ||X - C C^+ X||_F^2 / ||X - X_k||_F^2 of the stored float64 values in 200 decimal
digits.
"""

import decimal
import warnings
from decimal import Decimal

import numpy as np
from tables import arguments, write_table

from provsel.certificates import certify_subset
from provsel.selectors import (
    AdaptiveRandomizedPivotingSelector,
    DualSetSelector,
    LeverageScoreSelector,
    RandomlyPivotedQRSelector,
    RRQRSelector,
    SingleSVDSelector,
    SpectralSelectionSelector,
    StrongRRQRSelector,
)

SHAPE = (12, 60)
KEPT = 11
DIGITS = 200
CONVERGED = Decimal("1e-60")
"""Cosine of the angle of two columns from which on they count as orthogonal."""

SELECTORS = {
    "single SVD": SingleSVDSelector(KEPT),
    "dual set": DualSetSelector(KEPT, rank=KEPT // 2),
    "spectral selection": SpectralSelectionSelector(KEPT),
    "volume sampling": AdaptiveRandomizedPivotingSelector(KEPT, random_state=0),
    "random pivots": RandomlyPivotedQRSelector(KEPT, random_state=0),
    "pivoted QR": RRQRSelector(KEPT),
    "strong RRQR": StrongRRQRSelector(KEPT),
    "leverage": LeverageScoreSelector(KEPT, random_state=0),
}
FIELDS = ["matrix", "selector", "rank", "k", "state", "ratio", "true ratio", "bound"]


def orthonormal(rng, n, k):
    """Return k orthonormal columns of length n."""
    return np.linalg.qr(rng.standard_normal((n, k)))[0]


def scales(length, smallest):
    """Return numbers from 1 down to `smallest`, in equal ratios."""
    return np.geomspace(1, smallest, length)


def scaled_rows(rng, shape, smallest):
    """Return Gaussian rows times scales."""
    return scales(shape[0], smallest)[:, None] * rng.standard_normal(shape)


def scaled_columns(rng, shape, smallest):
    """Return Gaussian columns times scales."""
    return rng.standard_normal(shape) * scales(shape[1], smallest)


def scaled_both(rng, shape, smallest):
    """Return a Gaussian matrix with scales of rows and of columns."""
    return scaled_rows(rng, shape, smallest) * scales(shape[1], smallest)


def shuffled_both(rng, shape, smallest):
    """Return `scaled_both` with rows and columns in another order."""
    return rng.permuted(scaled_both(rng, shape, smallest), axis=0)[
        :, rng.permutation(shape[1])
    ]


def giant_column(rng, shape, smallest):
    """Return a Gaussian matrix with one column that is longer."""
    X = rng.standard_normal(shape)
    X[:, 2] /= smallest
    return X


def dependent_rows(rng, shape, smallest):
    """Return scaled rows of a matrix of condition 1e6."""
    values = scales(shape[0], 1e-6)
    dependent = (orthonormal(rng, shape[0], shape[0]) * values) @ orthonormal(
        rng, shape[1], shape[0]
    ).T
    return scales(shape[0], smallest)[:, None] * dependent


def kahan(rng, shape, smallest):
    """Return Kahan's upper triangular matrix, whose last row is near zero."""
    n = shape[0]
    sine = smallest ** (1 / (n - 1))
    cosine = np.sqrt(1 - sine**2)
    X = np.zeros(shape)
    X[:, :n] = sine ** np.arange(n)[:, None] * (
        np.eye(n) - cosine * np.triu(np.ones((n, n)), 1)
    )
    return X


def spread_values(rng, shape, smallest):
    """Return a matrix whose singular values are scales: rounding of its values changes the small ones."""
    values = scales(shape[0], smallest)
    return (orthonormal(rng, shape[0], shape[0]) * values) @ orthonormal(
        rng, shape[1], shape[0]
    ).T


FAMILY = [
    (scaled_rows, 1e-16),
    (scaled_rows, 1e-40),
    (scaled_columns, 1e-40),
    (scaled_both, 1e-30),
    (shuffled_both, 1e-30),
    (giant_column, 1e-30),
    (dependent_rows, 1e-40),
    (kahan, 1e-16),
    (spread_values, 1e-16),
]


def exact(X):
    """Return X as an array of decimal numbers."""
    return np.vectorize(Decimal, otypes=[object])(X)


def length(x):
    """Return the Euclidean length of a vector."""
    return (x @ x).sqrt()


def true_values(X):
    """Return the singular values of X, decreasing, by Gram and Schmidt's process and one-sided Jacobi rotations."""
    with decimal.localcontext(prec=DIGITS):
        R = triangle(exact(X.T if X.shape[0] <= X.shape[1] else X))
        k = R.shape[1]
        largest = Decimal(1)
        while largest > CONVERGED:
            largest = Decimal(0)
            for i in range(k):
                for j in range(i + 1, k):
                    largest = max(largest, rotate(R, i, j))
        return np.sort([length(R[:, j]) for j in range(k)])[::-1]


def triangle(Q):
    """Return R of the QR factorisation of Q, whose columns become orthonormal in place."""
    k = Q.shape[1]
    R = exact(np.zeros((k, k)))
    for j in range(k):
        for i in range(j):
            R[i, j] = Q[:, i] @ Q[:, j]
            Q[:, j] -= R[i, j] * Q[:, i]
        R[j, j] = length(Q[:, j])
        Q[:, j] /= R[j, j]
    return R


def rotate(R, i, j):
    """Make columns i and j of R orthogonal, in place, and return the cosine of their angle before."""
    p, q, r = R[:, i] @ R[:, i], R[:, j] @ R[:, j], R[:, i] @ R[:, j]
    angle = abs(r) / (p * q).sqrt()
    if angle > CONVERGED:
        zeta = (q - p) / (2 * r)
        tangent = (1 if zeta >= 0 else -1) / (abs(zeta) + (1 + zeta * zeta).sqrt())
        cosine = 1 / (1 + tangent * tangent).sqrt()
        turned = cosine * (R[:, i] - tangent * R[:, j])
        R[:, j] = cosine * (tangent * R[:, i] + R[:, j])
        R[:, i] = turned
    return angle


def true_error(X, columns):
    """Return ||X - C C^+ X||_F^2 of some columns C of X."""
    with decimal.localcontext(prec=DIGITS):
        left = exact(X)
        for column in columns:
            direction = left[:, column].copy()
            square = direction @ direction
            if square > 0:
                left = left - np.outer(direction, direction @ left / square)
        return (left * left).sum()


def certified(X, selector):
    """Return the fields of a row after the selector's: four digits of each number, nothing where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X)
        certificate = certify_subset(selector, X)
    tail = (true_values(X)[int(certificate.k) :] ** 2).sum()
    true_ratio = float(true_error(X, selector.indices_) / tail)
    numbers = certificate.frobenius_ratio, true_ratio, certificate.frobenius_bound
    texts = ["" if np.isnan(number) else f"{number:.4g}" for number in numbers]
    return selector.rank_, int(certificate.k), certificate.state, *texts


def main():
    options = arguments(__doc__).parse_args()
    rows = []
    for make, smallest in FAMILY:
        X = make(np.random.default_rng(7), SHAPE, smallest)
        name = f"{make.__name__.replace('_', ' ')}, {smallest:.0e}"
        for label, selector in SELECTORS.items():
            rows.append((name, label, *certified(X, selector)))
    write_table(rows, options.csv, FIELDS)


if __name__ == "__main__":
    main()
