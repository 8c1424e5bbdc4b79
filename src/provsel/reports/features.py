"""How often features were selected over the trials of a cell."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


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
    times: dict[int, int] = {}
    places: dict[int, int] = {}
    for selection in selections:
        for place, feature in enumerate(selection.tolist()):
            times[feature] = times.get(feature, 0) + 1
            places[feature] = places.get(feature, 0) + place
    return sorted(times, key=lambda f: (-times[f], places[f] / times[f], f))[:top]


def in_every_selection(selections: Iterable[NDArray[np.int32]]) -> list[int]:
    """Return the features that are in every selection, by their average place in the order of selection."""
    orders = [selection.tolist() for selection in selections]
    places: dict[int, list[int]] = {}
    for order in orders:
        for place, feature in enumerate(order):
            places.setdefault(feature, []).append(place)
    common = [feature for feature, found in places.items() if len(found) == len(orders)]
    return sorted(common, key=lambda f: (sum(places[f]), f))


def share_relevant(features: Iterable[int], n_relevant: int) -> str:
    """Return how many of the features, counted from 0, are among the first `n_relevant`: "5 of 5"."""
    chosen = list(features)
    return f"{sum(feature < n_relevant for feature in chosen)} of {len(chosen)}"
