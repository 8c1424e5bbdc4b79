"""How often features were selected over the trials of a cell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_Ints: TypeAlias = NDArray[np.int64]


def most_frequent(selections: Iterable[NDArray[np.int32]], top: int) -> list[int]:
    """Return the `top` features that occur in most selections.

    Parameters
    ----------
    selections : iterable of ndarray, int
        Selected features of each trial, in order of selection.
    top : int

    Returns
    -------
    list of int
        By decreasing frequency; ties go to the feature that was selected earlier on average, then to the lower index.
    """
    features, times, places, _ = _counted(selections)
    order = np.lexsort((features, places / np.maximum(times, 1), -times))
    return [int(feature) for feature in features[order][:top]]


def in_every_selection(selections: Iterable[NDArray[np.int32]]) -> list[int]:
    """Return the features that are in every selection, by their average place in the order of selection."""
    features, times, places, n = _counted(selections)
    order = np.lexsort((features, places))
    return [int(feature) for feature in features[order][times[order] == n]]


def _counted(selections: Iterable[NDArray[np.int32]]) -> tuple[_Ints, _Ints, _Ints, int]:
    """Return the features that occur, how often, the sum of their places, and the number of selections."""
    orders = [np.asarray(selection, dtype=np.int64) for selection in selections]
    chosen = np.concatenate([*orders, np.empty(0, np.int64)])
    place = np.concatenate([*(np.arange(order.size) for order in orders), np.empty(0, np.int64)])
    features, which = np.unique(chosen, return_inverse=True)
    times, places = np.zeros(features.size, np.int64), np.zeros(features.size, np.int64)
    np.add.at(times, which, 1)
    np.add.at(places, which, place)
    return features, times, places, len(orders)


def share_relevant(features: Iterable[int], n_relevant: int) -> str:
    """Return how many of the features, counted from 0, are among the first `n_relevant`: "5 of 5"."""
    chosen = list(features)
    return f"{sum(feature < n_relevant for feature in chosen)} of {len(chosen)}"
