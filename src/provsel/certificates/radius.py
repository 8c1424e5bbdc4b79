"""Minimum enclosing ball of the rows: bounds on its growth by a selection, and on that of its ratio to the margin."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provsel.certificates.theorem import MAX_ROWS, SLACK, Theorem, settled
from provsel.certificates.trial import MeasuredTrial


class RadiusPreservation(Theorem):
    """The squared radius of the minimum enclosing ball grows by a factor of at most 1 + ||E||_2.

    Use it without labels: the bound on the generalisation error contains the radius.

    Holds for every selection in terms of its measured ||E||_2. Needs at most `MAX_ROWS`
    rows, not all equal.

    Attributes
    ----------
    radius_ratio, radius_bound : float
        Squared radius on the selection over that on all features, and the theorem's
        upper bound.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> certify(BSSSelector(500).fit(X), X).radius.state
    'held'
    """

    name = "radius"
    source = "Paul, Magdon-Ismail, Drineas (2016), Theorem 5"
    prefix = "certificate_"

    radius_ratio: float = np.nan
    radius_bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the ratio of the squared radii of two balls, each with its gap as tolerance."""
        from provsel.kernels.enclosing_ball import minimum_enclosing_ball

        if trial.rows.n_samples > MAX_ROWS:
            return cls()
        after, before = (
            minimum_enclosing_ball(trial.reduced_gram),
            trial.rows.enclosing_ball(),
        )
        if before.squared_radius == 0.0:
            return cls()
        # The centre is a convex combination of the rows, so that appending it, as the
        # proof does, changes neither the row space nor ||E||_2.
        ratio, bound = (
            float(after.squared_radius / before.squared_radius),
            1 + trial.spectral_error,
        )
        tolerance = bound * (SLACK + before.gap + after.gap)
        state = settled(ratio - bound - tolerance, trial.eigenvalue_error)
        return cls(radius_ratio=ratio, radius_bound=bound, state=state)


def radius_margin_bound(spectral_error: ArrayLike) -> NDArray[np.float64]:
    """Return the largest growth of B^2 / gamma^2, (1 + eps) / (1 - eps) at eps = ||E|| / (1 - ||E||).

    B is the radius of the enclosing ball and gamma the hard margin;
    `radius_ratio / margin_ratio` is the measured growth. This eps is the smallest at
    which `MarginPreservation` and `RadiusPreservation` both have the form that the
    theorem combines: 1 - eps and 1 + eps. Infinite for ||E||_2 >= 1/2, where the margin
    has no bound.

    Parameters
    ----------
    spectral_error : array_like
        ||E||_2, at least 0.

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), Theorems 3 and 4.

    Examples
    --------
    >>> from provsel.certificates import radius_margin_bound
    >>> radius_margin_bound([0.0, 0.25, 0.5]).tolist()
    [1.0, 2.0, inf]
    """
    error = np.asarray(spectral_error, dtype=np.float64)
    remaining = np.maximum(1 - 2 * error, 0.0)  # (1 + eps) / (1 - eps) is 1 over this
    with np.errstate(divide="ignore"):
        return np.asarray(1 / remaining)
