"""Hard-margin linear SVM with intercept from a Gram matrix, as the nearest points of two convex hulls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from provsel.kernels.simplex_qp import Array, maximize_on_simplices, translate_gram

INSEPARABLE = 1e-14
"""Hulls count as meeting when ||w_p||^2 / 2 <= INSEPARABLE (sum_i p_i ||x_i||)^2: about 50 times its rounding."""
TRACE = 1e-7
"""Share of the longest row added to each ||x_i|| there: an entry of p that should be 0 may leave 1e-16."""


class HardMargin(NamedTuple):
    """The widest margin between two classes, with the certificate of its optimality.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Dual variables, >= 0, with sum_i y_i alpha_i = 0; w = sum_i alpha_i y_i x_i. NaN
        if inseparable.
    intercept : float
        b of the decision w.x + b, in the middle between the classes. NaN if
        inseparable.
    squared_norm : float
        ||w||^2 = sum_i alpha_i = 1 / gamma^2, which is twice the dual value. NaN if inseparable.
    gap : float
        Relative: (1 - gap) / squared_norm <= gamma^2 of this w <= optimal gamma^2 <= 1
        / squared_norm, and y_i (w.x_i + b) >= sqrt(1 - gap) for all i. NaN if
        inseparable.
    separable : bool
        False if the convex hulls of the classes meet, up to rounding. A gap below 1
        proves a True.
    """

    alpha: Array
    intercept: float
    squared_norm: float
    gap: float
    separable: bool


def hard_margin(
    G: Array, y: Array, *, tol: float = 1e-8, alpha0: Array | None = None
) -> HardMargin:
    """Return the hard-margin SVM of the rows with Gram matrix G.

    The problem max sum_i a_i - ||sum_i a_i y_i x_i||^2 / 2, y^T a = 0, a >= 0 is
    unbounded for inseparable rows. Therefore the nearest points of the classes' convex
    hulls are computed, a bounded problem: with weights p that sum to 1 in each class
    and w_p = sum_i p_i y_i x_i, gamma = ||w_p|| / 2 and a = 2 p / ||w_p||^2.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Gram matrix of the rows; translating them changes the intercept only.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    tol : float, default=1e-8
        Requested gap. Exact solves on the final support usually reach about 1e-12.
    alpha0 : ndarray of shape (n,), default=None
        Only its support is used, as a first guess; by default all rows, because nearly
        all texts are support vectors.

    Returns
    -------
    HardMargin
        The number of steps is bounded; `gap` states the tolerance reached.

    References
    ----------
    Block pivoting after Judice & Pires (1994) and Kim & Park (2011), see
    `maximize_on_simplices`.
    """
    positive, negative = y > 0, y < 0
    groups = np.stack([positive, negative]).astype(np.float64)
    start = np.arange(y.size)
    if (
        alpha0 is not None
        and (alpha0[positive] > 0).any()
        and (alpha0[negative] > 0).any()
    ):
        start = np.flatnonzero(alpha0 > 0)
    local = translate_gram(G)
    signed = local * np.outer(y, y)
    # Rounding of w_p grows with the rows' lengths, before the translation or after it.
    norms = np.sqrt(np.maximum(local.diagonal(), 0.0)) + np.sqrt(
        max(float(G.diagonal().min()), 0.0)
    )
    floor = np.sqrt(INSEPARABLE) * (norms + TRACE * norms.max())
    q = np.zeros(y.size)
    p = maximize_on_simplices(
        signed, q, groups, start, tol=tol, block=y.size, floor=floor
    )
    slack = signed @ p
    squared_distance = float(p @ slack)
    if squared_distance <= 2.0 * float(p @ floor) ** 2:
        return HardMargin(np.full(y.size, np.nan), np.nan, np.nan, np.nan, False)
    width = slack[positive].min() + slack[negative].min()
    gap = 1.0 - max(width / squared_distance, 0.0) ** 2
    alpha = p * (2.0 / squared_distance)
    scores = G @ (alpha * y)
    intercept = -0.5 * float(scores[positive].min() + scores[negative].max())
    return HardMargin(
        alpha, intercept, 4.0 / squared_distance, max(float(gap), 0.0), True
    )
