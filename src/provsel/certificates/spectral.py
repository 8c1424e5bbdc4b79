"""Spectral sparsification: the selection keeps the geometry of the row space."""

from __future__ import annotations

from typing import Self

import numpy as np

from provsel.certificates.theorem import (
    NO_BOUND,
    SLACK,
    UNDECIDED,
    VACUOUS,
    Theorem,
    settled,
)
from provsel.certificates.trial import MeasuredTrial


class SpectralSparsification(Theorem):
    """The eigenvalues of V^T R R^T V are in a range around 1, and ||E||_2 is within a bound; see `MeasuredTrial`.

    Use it to see how well any selection keeps the row space; all other bounds of
    selections are in terms of its
    ||E||_2.

    Promised by selectors with `spectral_bound_` and `eigenvalue_range_`, if the rank
    that they worked on is the rank of the rows. Measured for all selectors; vacuous if
    nothing was left out.

    Attributes
    ----------
    spectral_error, spectral_bound : float
        ||E||_2, relative to 1, and the bound that the method's lemma guarantees.
    eigenvalue_min, eigenvalue_max, eigenvalue_low, eigenvalue_high : float
        Extreme eigenvalues of V^T R R^T V, and the promised range.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> certify(BSSSelector(500).fit(X), X).spectral.state
    'held'
    """

    name = "spectral"
    source = "Paul, Magdon-Ismail, Drineas (2016), Lemmas 1 and 2; Wang, Shen, Li (2018), Theorem 1"
    prefix = "certificate_"

    spectral_error: float = np.nan
    spectral_bound: float = np.nan
    eigenvalue_min: float = np.nan
    eigenvalue_max: float = np.nan
    eigenvalue_low: float = np.nan
    eigenvalue_high: float = np.nan

    question = "geometry"

    @property
    def is_good(self) -> bool:
        """Whether ||E||_2 is below 1/2, where the theorems on margins and radii are no longer vacuous."""
        return self.spectral_error < 0.5 and self.state != UNDECIDED

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the extreme eigenvalues and ||E||_2 of any selection."""
        inner, error, eigenvalues = (
            trial.reducer,
            trial.spectral_error,
            trial.eigenvalues,
        )
        low, high = float(eigenvalues[0]), float(eigenvalues[-1])
        bound, basis = getattr(inner, "spectral_bound_", None), trial.rows.basis()
        if bound is None or getattr(inner, "rank_", basis.rank) != basis.rank:
            state = NO_BOUND if basis.is_decided else UNDECIDED
            return cls(
                spectral_error=error,
                eigenvalue_min=low,
                eigenvalue_max=high,
                state=state,
            )
        least, most = inner.eigenvalue_range_
        excess = max(
            least * (1 - SLACK) - low,
            high - most * (1 + SLACK),
            error - bound * (1 + SLACK),
        )
        nothing_left_out = error <= SLACK and bool((inner.weights_ == 1.0).all())
        return cls(
            spectral_error=error,
            spectral_bound=bound,
            eigenvalue_min=low,
            eigenvalue_max=high,
            eigenvalue_low=least,
            eigenvalue_high=most,
            state=VACUOUS
            if nothing_left_out and basis.is_decided
            else settled(excess, trial.eigenvalue_error),
        )
