"""Some classes of a data set of many, as a data set of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def keep_classes(name: str, y: np.ndarray, kept: Sequence[int] | None) -> tuple[Any, np.ndarray, str]:
    """Return which rows belong to the classes `kept`, their labels, and the name of that part.

    Parameters
    ----------
    name : str
        Of the whole.
    y : ndarray of shape (n,), int64
    kept : sequence of int, or None for all
        Of exactly two the first gets the label -1, the second +1; more keep theirs.
    """
    if kept is None:
        return slice(None), y, name
    rows = np.isin(y, kept)
    labels = np.where(y[rows] == kept[1], 1, -1) if len(kept) == 2 else y[rows]
    return rows, labels, "_".join([name, *map(str, kept)])
