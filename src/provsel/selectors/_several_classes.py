"""What selectors of two classes do with more: one problem a class, against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def by_total_weight(sizes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sum of the sizes |w| over the problems, shape (d,), and the features where it is not 0, largest first.

    `sizes` has shape (n_problems, d); ties are in order of index.
    """
    total: NDArray[np.float64] = sizes.sum(axis=0)
    kept = np.flatnonzero(total)
    return total, kept[np.argsort(-total[kept], kind="stable")]


def of_problems(values: Sequence[Any]) -> Any:
    """Return the value of the only problem, or an array with that of each."""
    return values[0] if len(values) == 1 else np.array(values)
