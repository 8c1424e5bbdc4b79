"""Some classes of a data set of many, as a data set of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from provsel.checks import check_classes


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


def spelled_classes(name: str, classes: Sequence[int] | None) -> list[int] | None:
    """Return checked digits in one spelling: the order of two says their labels, that of more says nothing."""
    if classes is None:
        return None
    kept = check_classes(name, classes)
    kept = kept if len(kept) == 2 else sorted(kept)
    return None if kept == [*range(10)] else kept
