"""Online ridge leverage: the kept columns preserve the geometry of X up to a ridge."""

from __future__ import annotations

from typing import Self

import numpy as np

from provsel.certificates.theorem import NO_BOUND, SLACK, UNDECIDED, Theorem, settled
from provsel.certificates.trial import MeasuredTrial


class RidgeSparsification(Theorem):
    """The eigenvalues of (X X^T + ridge I)^-1/2 (W W^T + ridge I) (X X^T + ridge I)^-1/2 are within 1 +- epsilon.

    W holds the kept columns with their weights. Measured for selectors with a `ridge`;
    promised, with probability 1 - 1/n, for those with a `ridge_range_`. Directions
    outside the span of X have the eigenvalue 1 and are left out.

    Attributes
    ----------
    eigenvalue_min, eigenvalue_max : float

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import RidgeSparsification, certify
    >>> from provsel.selectors import OnlineLeverageSelector
    >>> X = np.random.default_rng(0).standard_normal((5, 6000))
    >>> selector = OnlineLeverageSelector(outside_span="ridge", ridge=100.0, random_state=0).fit(X)
    >>> certify(selector, X, also=[RidgeSparsification]).sparsification.state
    'held'
    """

    name = "sparsification"
    source = "Cohen, Musco, Pachocki (2020), Theory of Computing 16"
    prefix = "ridge_"

    eigenvalue_min: float = np.nan
    eigenvalue_max: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the extreme eigenvalues, from the singular vectors: rank x rank."""
        selector, basis = trial.reducer, trial.rows.basis()
        ridge = getattr(selector, "ridge", None)
        if ridge is None or not hasattr(selector, "sampling_rate_"):
            return cls()
        squares = basis.singular_values**2
        kept = (
            basis.V[selector.indices_]
            * selector.weights_[:, None]
            * np.sqrt(squares / (squares + ridge))
        )
        eigenvalues = np.linalg.eigvalsh(
            kept.T @ kept + np.diag(ridge / (squares + ridge))
        )
        low, high = float(eigenvalues[0]), float(eigenvalues[-1])
        # singular values that count as zero do not matter if the ridge exceeds their
        # squares
        without = (basis.tolerance * basis.singular_values[0]) ** 2 / ridge
        doubtful = not basis.is_decided and without > SLACK
        if not hasattr(selector, "ridge_range_"):
            return cls(
                eigenvalue_min=low,
                eigenvalue_max=high,
                state=UNDECIDED if doubtful else NO_BOUND,
            )
        least, most = selector.ridge_range_
        excess = max(least * (1 - SLACK) - low, high - most * (1 + SLACK))
        return cls(
            eigenvalue_min=low,
            eigenvalue_max=high,
            state=settled(excess, np.inf if doubtful else 0.0),
        )
