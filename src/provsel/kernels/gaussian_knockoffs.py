"""Second-order Gaussian knockoffs: copies of the columns with the same means and covariances, made without y."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh

Array = NDArray[np.float64]


def shrunk_correlation(Z: Array) -> Array:
    """Return the correlations of standardised columns Z, shape (n, d), shrunk to the identity as Ledoit and Wolf do."""
    n, d = Z.shape
    correlation = Z.T @ Z / n
    distance = float(((correlation - np.eye(d)) ** 2).sum())
    norms = np.einsum("nd,nd->n", Z, Z)
    noise = float((norms**2).sum() / n - (correlation**2).sum()) / n
    share = 1.0 if distance <= 0 else min(1.0, max(0.0, noise / distance))
    shrunk = (1 - share) * correlation
    shrunk[np.diag_indices(d)] = 1.0
    return shrunk


def equicorrelated_gap(correlation: Array) -> float:
    """Return s = min(2 lambda_min, 1): a column and its knockoff have the correlation 1 - s."""
    least = float(eigh(correlation, eigvals_only=True, subset_by_index=[0, 0])[0])
    return min(2 * least, 1.0)


def gaussian_knockoffs(
    Z: Array, correlation: Array, gap: float, rng: np.random.Generator
) -> Array:
    """Return knockoffs, shape (n, d), of rows Z of mean 0 whose columns have these correlations.

    They are drawn from the law of the second half of a Gaussian vector (z, z~) given
    the first, whose covariance is [[C, C - s I], [C - s I, C]]. Exchanging any z_j with
    z~_j therefore changes no second moment.
    """
    solved = cho_solve(cho_factor(correlation), np.eye(len(correlation)))
    mean = Z - gap * (Z @ solved)
    covariance = 2 * gap * np.eye(len(correlation)) - gap**2 * solved
    values, vectors = eigh(covariance)  # singular if s = 2 lambda_min
    # the symmetric root is continuous in the covariance, so that other processors draw the same
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return mean + rng.standard_normal(Z.shape) @ root


def knockoff_threshold(statistics: Array, fdr: float, *, offset: int = 1) -> float:
    """Return the least t > 0 with (offset + #{W <= -t}) / max(1, #{W >= t}) <= fdr; infinite if there is none.

    `offset` 1 gives the filter knockoff+.
    """
    sizes = np.unique(np.abs(statistics[statistics != 0]))
    ordered = np.sort(statistics)
    n_above = statistics.size - np.searchsorted(ordered, sizes, side="left")
    n_below = np.searchsorted(ordered, -sizes, side="right")
    passes = (offset + n_below) / np.maximum(n_above, 1) <= fdr
    return float(sizes[passes][0]) if passes.any() else np.inf
