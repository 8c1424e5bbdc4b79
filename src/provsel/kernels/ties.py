"""Order by scores that rounding must not decide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.spectral import Array

BITS = 36
"""Of the mantissa that count: scores equal to about 1e-11 are ties, above what sums and eigenvectors round."""


def rank_ascending(scores: Array) -> NDArray[np.int64]:
    """Return the order, shape (d,), of scores of shape (d,) from the smallest; ties in the order of the columns.

    Duplicate columns have equal scores, but computed ones differ in their last digits by the order of the sums:
    without rounding, dense and sparse forms of the same data would be ranked differently.
    """
    mantissa, exponent = np.frexp(scores)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS)
    return np.argsort(rounded, kind="stable").astype(np.int64)
