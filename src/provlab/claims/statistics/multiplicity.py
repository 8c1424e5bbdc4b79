"""Many comparisons at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values.

    Parameters
    ----------
    p_values : sequence of float
        NaN stands for a comparison that was planned but could not be made: it counts as 1, so that no verdict gets
        easier because others are missing.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.
    """
    values = np.asarray(p_values, dtype=float)
    missing = np.isnan(values)
    values = np.where(missing, 1.0, values)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order]))
    return [float(value) for value in np.where(missing, np.nan, adjusted)]
