"""What ReliefF and MultiSURF share: rows in units of the features' ranges, and the order of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.relief import UnitRows
from provsel.models._base import warn_of_many_rows
from provsel.selectors._discrete import discrete_mask
from provsel.selectors._ranked import Ranking


def unit_rows(name: str, X: NDArray[np.float64], discrete_features: Any) -> UnitRows:
    """Return X, shape (n, d), with differences from 0 to 1; raise where all rows are equal, and warn of very many."""
    mask = discrete_mask(name, discrete_features, X.shape[1])
    if not np.ptp(X, axis=0).any():
        raise ValueError(
            f"{name}: expected at least two different rows, got {len(X)} equal ones; check how X was loaded."
        )
    warn_of_many_rows(name, len(X), "fit it on a sample of the rows")
    return UnitRows.of(X, mask)


def constants_last(X: NDArray[np.float64], scores: NDArray[np.float64]) -> Ranking:
    """Return the order of decreasing scores, shape (d,), with -inf for the constant columns of X."""
    return Ranking.by_scores(np.where(np.ptp(X, axis=0) > 0, scores, -np.inf))
