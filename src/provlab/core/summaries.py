"""Summaries of trials for tables of papers: most frequent features, states of certificates, versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.project.documents import parse_json
from provsel.certificates import (
    HELD,
    NOT_SEPARABLE,
    THEOREMS,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    MarginPreservation,
    RadiusPreservation,
    SpectralSparsification,
    radius_margin_bound,
)
from provsel.certificates.theorem import SLACK

_Ints: TypeAlias = NDArray[np.int64]

ALL_CERTIFICATES = tuple(dict.fromkeys(theorem.name for theorem in THEOREMS))
"""Certificates whose states are in records."""

STATES = (HELD, VIOLATED, VACUOUS, UNDECIDED, NOT_SEPARABLE)

MARGIN, RADIUS = MarginPreservation.state_column(), RadiusPreservation.state_column()
SPECTRAL_ERROR = SpectralSparsification.column("spectral_error")
MARGIN_RATIO = MarginPreservation.column("margin_ratio")
RADIUS_RATIO = RadiusPreservation.column("radius_ratio")

RADIUS_MARGIN = "certificate_radius_margin"
RADIUS_MARGIN_RATIO = "certificate_radius_margin_ratio"
RADIUS_MARGIN_READS = (SPECTRAL_ERROR, MARGIN, MARGIN_RATIO, RADIUS, RADIUS_RATIO)
"""Columns of the records that `with_radius_margin` reads."""

TIES = ("higher_index", "earlier_place")
DRAWS = ("each", "union")


def most_frequent(
    selections: Iterable[NDArray[np.int32]], top: int, *, ties: str = TIES[0]
) -> list[int]:
    """Return the `top` most frequent features of selections.

    Parameters
    ----------
    selections : iterable of ndarray, int
        Selected features of each trial, in order of selection.
    top : int
    ties : {"higher_index", "earlier_place"}, default="higher_index"
        Order of equally frequent features: by decreasing index, or by average position
        of selection and then increasing index.

    Returns
    -------
    list of int
        Features by decreasing frequency.

    Raises
    ------
    ValueError
        If `ties` has another value.
    """
    if ties not in TIES:
        raise ValueError(
            f"most frequent features: expected ties to be one of {TIES}, got {ties!r}; set artefact.summary.ties."
        )
    features, times, places, _ = _count(selections)
    if ties == "higher_index":
        order = np.lexsort((-features, -times))
    else:
        order = np.lexsort((features, places / np.maximum(times, 1), -times))
    return [int(feature) for feature in features[order][:top]]


def selections_of(
    trials: pd.DataFrame, *, draws: str = DRAWS[0]
) -> list[NDArray[np.int32]]:
    """Return the selections of a cell's trials.

    Parameters
    ----------
    trials : DataFrame
        Trials with `repeat`, `fold` and `features`.
    draws : {"each", "union"}, default="each"
        "union" merges the draws of a fold into one selection with the features of all
        draws, in order.

    Raises
    ------
    ValueError
        If `draws` has another value.
    """
    if draws not in DRAWS:
        raise ValueError(
            f"selections: expected draws to be one of {DRAWS}, got {draws!r}; set artefact.summary.draws."
        )
    if draws == "each":
        return trials["features"].tolist()
    folds = trials.groupby(["repeat", "fold"], sort=True)["features"]
    return [
        np.array(
            list(dict.fromkeys(np.concatenate(draws_of_fold.tolist()).tolist())),
            np.int32,
        )
        for _, draws_of_fold in folds
    ]


def in_every_selection(selections: Iterable[NDArray[np.int32]]) -> list[int]:
    """Return the features that are in every selection, by average position in the order of selection."""
    features, times, places, n = _count(selections)
    order = np.lexsort((features, places))
    return [int(feature) for feature in features[order][times[order] == n]]


def _count(selections: Iterable[NDArray[np.int32]]) -> tuple[_Ints, _Ints, _Ints, int]:
    """Return the selected features, their counts, the sums of their positions, and the number of selections."""
    orders = [np.asarray(selection, dtype=np.int64) for selection in selections]
    chosen = np.concatenate([*orders, np.empty(0, np.int64)])
    place = np.concatenate(
        [*(np.arange(order.size) for order in orders), np.empty(0, np.int64)]
    )
    # integers, so sums are exact
    times, places = np.bincount(chosen), np.bincount(chosen, place).astype(np.int64)
    features = np.flatnonzero(times)
    return features, times[features], places[features], len(orders)


def count_states(trials: pd.DataFrame, names: Iterable[str]) -> dict[str, str]:
    """Return the trial counts by state for each certificate, such as "held 12, vacuous 88"; "" without a bound."""
    return {name: state_counts(trials[f"certificate_{name}"]) for name in names}


def state_counts(states: pd.Series) -> str:
    """Return the count of each state in a column, such as "held 12, vacuous 88"."""
    numbers = states.value_counts()
    return ", ".join(
        f"{state} {numbers[state]:,}" for state in STATES if numbers.get(state, 0)
    )


def with_radius_margin(trials: pd.DataFrame) -> pd.DataFrame:
    """Add the growth of B^2 / gamma^2 and the state of `radius_margin_bound`, which are not in records.

    B is the radius of the enclosing ball, and gamma the hard margin. The state is
    "held" or "violated" if both were measured and the margin has a bound. Otherwise it
    is the state of the radius or of the margin, which explains why.

    Parameters
    ----------
    trials : DataFrame
        Trials with the columns `RADIUS_MARGIN_READS`.

    Returns
    -------
    DataFrame
        The trials with `RADIUS_MARGIN` and `RADIUS_MARGIN_RATIO`.
    """
    error, margin, radius = (
        trials[name].to_numpy(float)
        for name in (SPECTRAL_ERROR, MARGIN_RATIO, RADIUS_RATIO)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = radius / margin  # infinite if a selection merges the classes
    within = ratio <= radius_margin_bound(error) * (1 + SLACK)
    state = pd.Series(np.where(within, HELD, VIOLATED), trials.index, dtype=object)
    for name in (MARGIN, RADIUS):
        said = trials[name].astype(object)
        state = state.where(said.isin([HELD, VIOLATED]), said)
    return trials.assign(**{RADIUS_MARGIN: state, RADIUS_MARGIN_RATIO: ratio})


def value_counts(values: pd.Series) -> list[tuple[str, int]]:
    """Return the values of a column and their counts, most frequent first; "" stands for a missing value."""
    return [
        (str(name), int(n))
        for name, n in values.astype(object).fillna("").value_counts().items()
    ]


def versions(text: str) -> dict[str, Any]:
    """Return the environment in a record; an untrusted string that is not a JSON object is unchanged."""
    try:
        stated = parse_json(text) if text else {}
    except ValueError:
        stated = None
    return stated if isinstance(stated, dict) else {"environment": text}
