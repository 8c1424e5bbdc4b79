"""Certificates: what a selection preserved, measured beside what its theorem promises."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.enclosing_ball import minimum_enclosing_ball
from provsel.kernels.hard_margin import hard_margin
from provsel.kernels.spectral import gram_matrix
from provsel.labels import signs_of_two_classes
from provsel.models.libsvm import fit_gram
from provsel.reducers import reduced_rows
from provsel.selectors._base import BaseSelector
from provsel.selectors.on_support_vectors import OnSupportVectors
from provsel.training_view import TrainingView
from provsel.values import ValuesWithNaN

HELD, VIOLATED, VACUOUS = "held", "violated", "vacuous"
NOT_SEPARABLE, NOT_MEASURED, NO_BOUND = "not separable", "not measured", "no bound"

SLACK = 1e-7
"""Relative tolerance of every comparison: the kernels certify their own optima to better than that."""

MAX_ROWS = 2000
"""Margin and radius are measured up to this many rows: both work on the n x n Gram matrix."""


@dataclass(frozen=True, eq=False)
class Certificate(ValuesWithNaN):
    """Measured quantities of one selection, the bounds they should meet, and whether they do.

    With V the right singular vectors of the rows that were selected from, R = S D the selection with its
    weights, and E = V^T V - V^T R R^T V. States are "held", "violated", "vacuous" (the bound says nothing: it needs
    ||E||_2 < 1/2, or nothing was left out), "not separable", "no bound" (the method promises none), or "not
    measured".

    Attributes
    ----------
    spectral_error, spectral_bound : float
        ||E||_2, and what the method's lemma promises for it.
    eigenvalue_min, eigenvalue_max, eigenvalue_low, eigenvalue_high : float
        Extreme eigenvalues of V^T R R^T V, and the promised range.
    spectral : str
        State of both.
    margin_ratio, margin_bound : float
        Squared hard margin after over before, and its bound 1 - ||E|| / (1 - ||E||) from the measured ||E||_2
        (Theorems 1-4, equations 11-13; they hold for the hard margin only).
    margin : str
    soft_value, soft_bound : float
        Z, the optimum of the soft-margin dual on all features, and the lower bound
        Z~ - ||E|| / (1 - ||E||) ||w~||^2 / 2 that equation 11 gives for it, at any C.
    soft : str
    radius_ratio, radius_bound : float
        Squared radius of the minimum enclosing ball after over before, and its bound 1 + ||E||_2 (Theorem 5).
    radius : str
    score_sum, score_sum_bound : float
        Sum of online leverage scores, and what the proof of Lemma 2 of Wang, Shen, Li promises for it.
    scores : str
    cost_ratio_min, cost_ratio_max : float
        k-means cost of a partition on the selection over that on all features, over the partitions at hand; their
        Lemma 3 promises 1 -+ epsilon.
    cost : str
    partition_ratio, partition_bound : float
        Cost on all features of the partition that is best on the selection over that of the partition of all
        features, and (1 + epsilon) / (1 - epsilon), their Theorem 2.
    partition : str
    optimum, objective : float
        Of the SVM without compression, and of the vector recovered from the compressed one, in the original problem;
        for the feature-selective SVM with the feature weights of the compressed one.
    delta, zero_delta : float
        Smallest delta for which the left inequality of Theorem 5 (7) of Giesen, Laue, Mueller holds, and that for
        which it holds of w = 0, about which there is nothing to say.
    recovery : str
        "violated": the right inequality fails, or no delta of the theorem, below 1/2, is enough; "vacuous": `delta` is
        not below `zero_delta`; else "held".
    loss_change, norm_ratio, expansion_ratio : float
        What their proof needs, with w the optimum and w_bar that of the compressed problem: the change of the loss of
        w, up to delta (Lemma 1); ||Lambda w||^2 / ||w||^2, up to 1 + delta (Lemma 2); ||Lambda^T w_bar||^2 /
        ||w_bar||^2, up to 1 + delta (Lemma 4).

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), Lemmas 1-3, Theorems 1-5. Wang, Shen, Li (2018), Theorem 1 (of eigenvalues),
    Lemmas 2 and 3, Theorem 2. Giesen, Laue, Mueller (2013), Lemmas 1, 2, 4, Theorems 5 and 7.
    """

    spectral_error: float = np.nan
    spectral_bound: float = np.nan
    eigenvalue_min: float = np.nan
    eigenvalue_max: float = np.nan
    eigenvalue_low: float = np.nan
    eigenvalue_high: float = np.nan
    spectral: str = NOT_MEASURED
    margin_ratio: float = np.nan
    margin_bound: float = np.nan
    margin: str = NOT_MEASURED
    soft_value: float = np.nan
    soft_bound: float = np.nan
    soft: str = NOT_MEASURED
    radius_ratio: float = np.nan
    radius_bound: float = np.nan
    radius: str = NOT_MEASURED
    score_sum: float = np.nan
    score_sum_bound: float = np.nan
    scores: str = NOT_MEASURED
    cost_ratio_min: float = np.nan
    cost_ratio_max: float = np.nan
    cost: str = NOT_MEASURED
    partition_ratio: float = np.nan
    partition_bound: float = np.nan
    partition: str = NOT_MEASURED
    optimum: float = np.nan
    objective: float = np.nan
    delta: float = np.nan
    zero_delta: float = np.nan
    recovery: str = NOT_MEASURED
    loss_change: float = np.nan
    norm_ratio: float = np.nan
    expansion_ratio: float = np.nan

    @property
    def held(self) -> bool:
        """Whether nothing that was measured violates its bound."""
        return VIOLATED not in asdict(self).values()

    def as_record(self) -> dict[str, float | str]:
        """Return the fields with the prefix `certificate_`."""
        return {f"certificate_{name}": value for name, value in asdict(self).items()}


def certify(
    selector: BaseSelector, X: Any, y: Any = None, *, C: float | None = 1.0, radius: bool = True
) -> Certificate:
    """Measure what a fitted selector preserved of the rows it was fitted on.

    Parameters
    ----------
    selector : selector
        Fitted on X (and y); for `OnSupportVectors` the certificate is about its support vectors.
    X : ndarray or sparse of shape (n, d)
    y : ndarray of shape (n,), optional
        Two classes; without labels no margin is measured.
    C : float or None, default=1.0
        Of the soft-margin certificate; None leaves it out.
    radius : bool, default=True
        Measure the enclosing balls too; Theorem 5 speaks of the unsupervised setting.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> X = np.random.default_rng(0).standard_normal((10, 500))
    >>> certify(BSSSelector(400).fit(X), X).spectral
    'held'
    """
    view = TrainingView(X, None if y is None else np.asarray(y))
    if isinstance(selector, OnSupportVectors):
        rows = selector.support_rows_
        view = TrainingView(view.X[rows], None if view.y is None else view.y[rows])
    if view.n_features != selector.n_features_in_:
        raise ValueError(
            f"certify: expected X with the {selector.n_features_in_} features that the selector was fitted on, "
            f"got {view.n_features}; pass the training rows."
        )
    return certify_view(selector, view, C=C, radius=radius)


def certify_view(
    selector: BaseSelector, view: TrainingView, *, C: float | None, radius: bool, margin: bool = True
) -> Certificate:
    """Certify on the rows that were selected from; fits on the same view share their full-feature parts."""
    inner = selector.selector_ if isinstance(selector, OnSupportVectors) else selector
    basis = view.basis()
    V = basis.V
    kept = V[inner.indices_] * inner.weights_[:, None]
    eigenvalues = np.linalg.eigvalsh(kept.T @ kept)
    error = float(max(1 - eigenvalues[0], eigenvalues[-1] - 1, 0.0))
    fields: dict[str, Any] = {
        "spectral_error": error,
        "eigenvalue_min": float(eigenvalues[0]),
        "eigenvalue_max": float(eigenvalues[-1]),
        "spectral": NO_BOUND,
    }
    bound = getattr(inner, "spectral_bound_", None)
    if bound is not None and getattr(inner, "rank_", V.shape[1]) == V.shape[1]:
        low, high = inner.eigenvalue_range_
        inside = low * (1 - SLACK) <= eigenvalues[0] and eigenvalues[-1] <= high * (1 + SLACK)
        nothing_left_out = error <= SLACK and bool((inner.weights_ == 1.0).all())
        held = HELD if inside and error <= bound * (1 + SLACK) else VIOLATED
        fields |= {
            "spectral_bound": bound,
            "eigenvalue_low": low,
            "eigenvalue_high": high,
            "spectral": VACUOUS if nothing_left_out else held,
        }
    if hasattr(inner, "score_sum_bound"):
        fields |= _score_sum(inner, view.n_samples, float(basis.singular_values[0]))
    if view.n_samples <= MAX_ROWS and (margin or radius):
        reduced = gram_matrix(reduced_rows(inner, view.X))
        if margin and view.y is not None and np.unique(view.y).size == 2:
            fields |= _margin(view, reduced, error)
            if C is not None:
                fields |= _soft_margin(view, reduced, error, C)
        if radius:
            fields |= _radius(view, reduced, error)
    return Certificate(**fields)


def _score_sum(selector: Any, n: int, spectral_norm: float) -> dict[str, Any]:
    total = float(selector.scores_.sum())
    if not hasattr(selector, "spectral_bound_"):
        return {"score_sum": total, "scores": NO_BOUND}
    bound = selector.score_sum_bound(n, spectral_norm)
    held = HELD if total <= bound * (1 + SLACK) else VIOLATED
    # no score is above 1, so that a bound above the number of columns says nothing
    return {"score_sum": total, "score_sum_bound": bound, "scores": VACUOUS if bound >= selector.n_seen_ else held}


def _margin(view: TrainingView, reduced: NDArray[np.float64], error: float) -> dict[str, Any]:
    _, signs = signs_of_two_classes("certify", view.y)
    full = view.shared("hard margin", lambda: hard_margin(view.gram(), signs))
    if not full.separable:
        return {"margin": NOT_SEPARABLE}
    after = hard_margin(reduced, signs, alpha0=full.alpha)
    # a selection that merges the classes leaves no margin at all
    ratio = full.squared_norm / after.squared_norm if after.separable else 0.0
    fields = {"margin_ratio": float(ratio), "margin_bound": np.nan, "margin": VACUOUS}
    if error < 0.5:
        bound = 1 - error / (1 - error)
        tolerance = SLACK + full.gap + (after.gap if after.separable else 0.0)
        fields |= {"margin_bound": bound, "margin": HELD if ratio >= bound - tolerance else VIOLATED}
    return fields


def _soft_margin(view: TrainingView, reduced: NDArray[np.float64], error: float, C: float) -> dict[str, Any]:
    _, signs = signs_of_two_classes("certify", view.y)
    value, gap, _ = view.shared(f"soft margin {C!r}", lambda: _dual_optimum(view.gram(), signs, C))
    fields = {"soft_value": value, "soft_bound": np.nan, "soft": VACUOUS}
    if error < 0.5:
        after, _, squared_norm = _dual_optimum(reduced, signs, C)
        bound = after - 0.5 * error / (1 - error) * squared_norm
        # value + gap is at least the optimum, `after` at most: the comparison can only err towards "held" by gap
        held = value + gap >= bound - SLACK * abs(bound)
        fields |= {"soft_bound": bound, "soft": HELD if held else VIOLATED}
    return fields


def _dual_optimum(gram: NDArray[np.float64], signs: NDArray[np.float64], C: float) -> tuple[float, float, float]:
    """Return the dual value, the duality gap and ||w||^2 of the soft-margin SVM on a Gram matrix."""
    svm = fit_gram(gram, signs, C=C, tol=1e-6)
    coef = np.zeros(signs.size)
    coef[svm.support_] = svm.dual_coef_[0]
    squared_norm = float(coef @ gram @ coef)
    value = float(np.abs(coef).sum() - 0.5 * squared_norm)
    slack = np.maximum(0.0, 1 - signs * (gram @ coef + svm.intercept_[0]))
    return value, float(0.5 * squared_norm + C * slack.sum() - value), squared_norm


def _radius(view: TrainingView, reduced: NDArray[np.float64], error: float) -> dict[str, Any]:
    before = view.enclosing_ball()
    after = minimum_enclosing_ball(reduced)
    if before.squared_radius == 0.0:
        return {"radius": NOT_MEASURED}
    # The centre is a convex combination of the rows, so that appending it, as the proof does, changes neither
    # the row space nor ||E||_2.
    ratio, bound = float(after.squared_radius / before.squared_radius), 1 + error
    tolerance = bound * (SLACK + before.gap + after.gap)
    return {"radius_ratio": ratio, "radius_bound": bound, "radius": HELD if ratio <= bound + tolerance else VIOLATED}
