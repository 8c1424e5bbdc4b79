"""The common part of ReliefF and MultiSURF: rows in units of the features' ranges, and the order of the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.relief import UnitRows
from provsel.models._base import warn_of_many_rows
from provsel.selectors._columns import discrete_mask, varying_columns
from provsel.selectors._ranked import Ranking


def ranking_of(
    name: str,
    X: NDArray[np.float64],
    discrete_features: Any,
    score: Callable[[UnitRows], NDArray[np.float64]],
) -> Ranking:
    """Return the ranking of the columns of X by their scores, on rows scaled to ranges of 1.

    Constant columns come last. Raises if all rows are equal, and warns of very many
    rows.
    """
    discrete = discrete_mask(name, discrete_features, X)
    varies = varying_columns(name, X)
    warn_of_many_rows(name, len(X), "fit it on a sample of the rows")
    scores = score(UnitRows.of(X, discrete))
    return Ranking.by_scores(np.where(varies, scores, -np.inf))
