"""Margins: a linear SVM on the selection separates the classes almost as well."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from provsel.certificates.theorem import (
    HELD,
    MAX_ROWS,
    NOT_SEPARABLE,
    SLACK,
    UNDECIDED,
    VACUOUS,
    Theorem,
    settled,
)
from provsel.certificates.trial import MeasuredTrial
from provsel.labels import signs_of_two_classes

MOST_ITERATIONS = 20_000_000
"""Limit on the iterations of LIBSVM, a few seconds; columns of very different scales would take minutes."""


class MarginPreservation(Theorem):
    """The squared hard margin keeps at least a share of 1 - ||E|| / (1 - ||E||), for the measured ||E||_2.

    Use it if the classes are separable, and `SoftMarginBound` otherwise.

    Holds for every selection in terms of its ||E||_2. Measured with labels of two
    classes and at most `MAX_ROWS` rows; vacuous for ||E||_2 >= 1/2, "not separable" if
    all features have no hard margin.

    Attributes
    ----------
    margin_ratio, margin_bound : float
        Squared hard margin on the selection over that on all features, and the
        theorem's lower bound.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> certify(BSSSelector(500).fit(X), X, y).margin.state
    'held'
    """

    name = "margin"
    source = "Paul, Magdon-Ismail, Drineas (2016), Theorems 1-4, equations 11-13"
    prefix = "certificate_"

    margin_ratio: float = np.nan
    margin_bound: float = np.nan

    question = "margin"

    @property
    def is_good(self) -> bool:
        """Whether the bound on the margin is not vacuous, and holds."""
        return self.state == HELD

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the ratio of the margins of two hard-margin SVMs, each with its duality gap as tolerance."""
        from provsel.kernels.hard_margin import hard_margin

        signs = _signs(trial)
        if signs is None:
            return cls()
        full = trial.rows.shared(
            "hard margin", lambda: hard_margin(trial.rows.gram(), signs)
        )
        if not full.separable:
            return cls(state=NOT_SEPARABLE)
        after = trial.of_selection(
            "hard margin",
            lambda: hard_margin(trial.reduced_gram, signs, alpha0=full.alpha),
        )
        error = trial.spectral_error
        # a selection that merges the classes leaves no margin
        ratio = float(
            full.squared_norm / after.squared_norm if after.separable else 0.0
        )
        if error >= 0.5:
            return cls(
                margin_ratio=ratio,
                state=VACUOUS if trial.rows.basis().is_decided else UNDECIDED,
            )
        bound = 1 - error / (1 - error)
        tolerance = SLACK + full.gap + (after.gap if after.separable else 0.0)
        # the derivative of the bound is at most 4 below ||E||_2 = 1/2
        state = settled(bound - tolerance - ratio, 4 * trial.eigenvalue_error)
        return cls(margin_ratio=ratio, margin_bound=bound, state=state)


class SoftMarginBound(Theorem):
    """The optimum Z of the soft-margin dual on all features is at least Z~ - ||E|| / (1 - ||E||) ||w~||^2 / 2.

    Holds for every selection, at any C; `MarginPreservation` is about the hard margin
    only. Measured and vacuous under the same conditions, except that LIBSVM may need
    more than 20 million iterations, as on columns of very different scales; then it is
    not measured.

    Attributes
    ----------
    soft_value, soft_bound : float
        Z, and the bound from the optimum Z~ and the weights w~ on the selection, in
        units of the dual objective: sum of alpha minus ||w||^2 / 2.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> certify(BSSSelector(500).fit(X), X, y, C=0.1).soft.state
    'held'
    """

    name = "soft"
    source = "Paul, Magdon-Ismail, Drineas (2016), equation 11"
    prefix = "certificate_"

    soft_value: float = np.nan
    soft_bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial, C: float | None = 1.0) -> Self:
        """Return Z and its bound at the given C; None measures nothing."""
        signs = _signs(trial)
        if signs is None or C is None:
            return cls()
        view, error = trial.rows, trial.spectral_error
        value, gap, _ = view.shared(
            f"soft margin {C!r}", lambda: _dual_optimum(view.gram(), signs, C)
        )
        if gap == np.inf:
            return cls()
        if error >= 0.5:
            return cls(
                soft_value=value,
                state=VACUOUS if view.basis().is_decided else UNDECIDED,
            )
        after, _, squared_norm = _dual_optimum(trial.reduced_gram, signs, C)
        bound = after - 0.5 * error / (1 - error) * squared_norm
        # value + gap is at least the optimum, `after` at most: the comparison can only
        # err towards "held" by gap
        state = settled(
            bound - SLACK * abs(bound) - value - gap,
            2 * squared_norm * trial.eigenvalue_error,
        )
        return cls(soft_value=value, soft_bound=bound, state=state)


def _signs(trial: MeasuredTrial) -> NDArray[np.float64] | None:
    """Return the labels as -1 and 1; None without two classes, or with too many rows for a Gram matrix."""
    y = trial.rows.y
    if y is None or trial.rows.n_samples > MAX_ROWS or np.unique(y).size != 2:
        return None
    return signs_of_two_classes("certify", y)[1]


def _dual_optimum(
    gram: NDArray[np.float64], signs: NDArray[np.float64], C: float
) -> tuple[float, float, float]:
    """Return dual value, gap and ||w||^2 of the soft-margin SVM on a Gram matrix; inf if the gap was not reached."""
    from provsel.models._libsvm_library import fit_gram

    svm = fit_gram(
        gram, (signs > 0).astype(np.int64), C=C, tol=1e-6, max_iter=MOST_ITERATIONS
    )
    coef = np.zeros(signs.size)
    coef[svm.support] = svm.dual_coef[0]
    squared_norm = float(coef @ gram @ coef)
    value = float(np.abs(coef).sum() - 0.5 * squared_norm)
    slack = np.maximum(0.0, 1 - signs * (gram @ coef + svm.intercept[0]))
    gap = float(0.5 * squared_norm + C * slack.sum() - value)
    return value, np.inf if svm.n_iter.max() >= MOST_ITERATIONS else gap, squared_norm
