"""Features that a method selects: frequencies over folds, draws and repeats, order and weights."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.core.frames import FOLD_SIZES, planned_trials
from provlab.core.plan import feature_names_of, identity_of
from provlab.core.snapshot import Planned, TrialReader
from provlab.core.store import LARGE
from provlab.project.documents import canonical_json
from provsel.stability import stability

COLUMNS = ["feature", "index", "frequency", "times", "place", "weight", "weight_sd"]
"""Columns of the frame of `selected_features`."""

READ = [*LARGE, *FOLD_SIZES, "n_features", "n_selected"]
"""Columns of the records that `selected_features` reads."""

AT_ONCE = 10_000_000
"""Number of selected features, over all trials, in memory at a time: 300 MB with derived values."""

MAX_FEATURES = 100_000_000
"""Records with more features count as damaged, because the stability counts each feature."""

NO_LIST = "no list of features is stored: the method mixes features, or its trials were packed without lists"
KEEPS_ALL, KEEPS_NONE = "all features are selected", "no feature is selected"
SINGLE = "a single selection has no stability"
NUMBERED = "features are numbered from 1"

NO_STABILITY = np.nan, (np.nan, np.nan)
"""Stability and interval of a cell without a stability."""


@dataclass(frozen=True, eq=False)
class SelectedFeatures:
    """Features selected by the trials of a cell.

    Attributes
    ----------
    frame : DataFrame
        One row per feature that at least one trial selected, see `selected_features`.
    n_selections : int
        Number of trials with a stored selection; each draw of each fold of each repeat
        is a trial.
    n_features : int
        Number of features before selection; the maximum if a preparation created them
        in each fold.
    sizes : tuple of int
        Smallest and largest number of selected features.
    note : str
        Reason why features, names or the stability are missing; "" if nothing is
        missing.
    index, interval : float, tuple of float
        Stability and its 95 % interval, see `provsel.stability`; NaN if undefined.
    """

    frame: pd.DataFrame
    n_selections: int
    n_features: int
    sizes: tuple[int, int]
    note: str
    index: float
    interval: tuple[float, float]


def selected_features(
    trials: pd.DataFrame, names: Sequence[str] | None = None, note: str = ""
) -> SelectedFeatures:
    """Count the features selected by the trials of a cell.

    Each draw of each fold of each repeat is one selection, and all count equally. A
    trial without a list of features is left out unless it kept all features.

    Parameters
    ----------
    trials : DataFrame
        Trials of a cell with the columns `READ`, see `planned_trials`.
    names : sequence of str, optional
        Names of the features of the data set; by default numbers from 1. If a
        preparation created the columns, their names are in the records and may differ
        between folds.
    note : str, optional
        Reason why there are no names, see `data_names`.

    Returns
    -------
    SelectedFeatures
        Its frame has one row per selected feature, sorted by frequency, then by earlier
        selection, then by index. Its columns are

        - feature: the name of the feature;
         - index: column of the data set from 0; none if a preparation created the
           columns;
        - frequency: share of the selections that have the feature;
        - times: number of these selections;
        - place: median position in the order of selection, from 1; NaN if all features
          were kept or the method has no order, so that features are in column order;
        - weight, weight_sd: mean and standard deviation, over the selections that state
          it, of the factor by which a linear model multiplies the feature; NaN if none
          does.

    Raises
    ------
    ValueError
        If a list repeats a feature, or has one that is not in the data set.
    """
    n_features = int(trials["n_features"].fillna(0).max()) if len(trials) else 0
    selections, trials = _selections(trials)
    if not selections:
        return SelectedFeatures(
            pd.DataFrame(columns=COLUMNS), 0, n_features, (0, 0), NO_LIST, *NO_STABILITY
        )
    sizes = np.array([len(selection) for selection in selections])
    codes, labels = pd.factorize(np.concatenate(selections))
    if labels.dtype == object:  # columns created in each fold are identified by name
        texts = labels
        index = pd.array([pd.NA] * labels.size, "Int64")
        n_features = max(n_features, labels.size)
        selections = np.split(codes, np.cumsum(sizes)[:-1])
        note = ""
    else:
        _check_indices(labels, n_features)
        index = pd.array(labels, "Int64")
        if names is not None and len(names) != n_features:
            note = f"{NUMBERED}: the data have {len(names)} names, the trials {n_features} features"
            names = None
        if names is None:
            texts = np.array([str(label + 1) for label in labels], dtype=object)
        else:
            texts = np.array([names[label] for label in labels], dtype=object)
    times = np.bincount(codes, minlength=labels.size)
    place = _places(trials, codes, sizes, labels.size)
    weight, weight_sd = _weights(trials, codes, sizes, labels.size)
    frame = pd.DataFrame({
        "feature": pd.Series(texts, dtype=object), "index": index, "frequency": times / len(selections),
        "times": times, "place": place, "weight": weight, "weight_sd": weight_sd,
    })  # fmt: skip
    order = np.lexsort((labels, np.nan_to_num(place, nan=np.inf), -times))
    problem, index_of_stability, interval = _stability(
        trials, selections, sizes, n_features
    )
    return SelectedFeatures(
        frame=frame.iloc[order].reset_index(drop=True),
        n_selections=len(selections),
        n_features=n_features,
        sizes=(int(sizes.min()), int(sizes.max())),
        note="; ".join(filter(None, (problem, note))),
        index=index_of_stability,
        interval=interval,
    )


def largest_cells(cells: Iterable[Planned]) -> list[Planned]:
    """Return distinct cells; the largest plan of a cell is kept."""
    return list(
        {
            cell.id: cell for cell in sorted(cells, key=lambda cell: prod(cell.counts))
        }.values()
    )


def cells_that_select(store: TrialReader, cells: Sequence[Planned]) -> pd.Series:
    """Return whether any trial of a cell selects a proper subset, for cells with stored trials, by id."""
    sizes = planned_trials(store, cells, ["n_selected", "n_features"])
    return (sizes["n_selected"] < sizes["n_features"]).groupby(sizes["cell"]).any()


def cells_features(
    store: TrialReader, cells: Sequence[Planned], *, at_once: int = AT_ONCE
) -> Iterator[tuple[str, SelectedFeatures]]:
    """Yield the id and the selected features of each cell with stored trials, data set by data set.

    Lists are read for a few cells at a time, so memory does not grow with the number of
    trials.

    Parameters
    ----------
    store : TrialReader
    cells : sequence of Cell or Planned
        Distinct cells, see `unique_cells`.
    at_once : int, optional
        Number of selected features in memory at a time; a larger cell is read at once.
    """
    ordered = sorted(cells, key=lambda cell: cell.data)
    sizes = (
        planned_trials(store, ordered, ["n_selected"])
        .groupby("place")["n_selected"]
        .sum()
    )
    for _, batch in sizes.groupby((sizes.cumsum() - sizes) // at_once):
        chosen = [ordered[place] for place in batch.index]
        for place, trials in planned_trials(store, chosen, READ).groupby("place"):
            cell = chosen[int(str(place))]
            yield (
                cell.id,
                selected_features(
                    trials, *data_names(cell.data, canonical_json(cell.dataset))
                ),
            )


@lru_cache(maxsize=4)
def data_names(data: str, config: str) -> tuple[Sequence[str] | None, str]:
    """Return the feature names of a data set, or None with the reason why they are unknown.

    They are read if the data set is on this machine and has the identity `data` of the
    trials. The config is JSON from a possibly untrusted source.
    """
    dataset = json.loads(config)
    try:
        if identity_of(dataset) == data:
            return feature_names_of(dataset).tolist(), ""
        reason = "its file has changed since then"
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split())
    return (
        None,
        f"{NUMBERED}, because the names of data set {dataset.get('name')} cannot be read: {reason}",
    )


def _selections(trials: pd.DataFrame) -> tuple[list[Any], pd.DataFrame]:
    """Return the stored selections of trials, and these trials."""
    selections: list[Any] = []
    has_selection = []
    columns = (
        trials[name].tolist()
        for name in ("features", "feature_names", "n_features", "n_selected")
    )
    for features, feature_names, n_features, n_selected in zip(*columns, strict=True):
        selection: Any = None
        if isinstance(feature_names, Sized):
            selection = np.asarray(feature_names, object)
        elif isinstance(features, Sized):
            selection = features
        elif 0 < n_features == n_selected <= MAX_FEATURES:
            selection = np.arange(int(n_features))
        has_selection.append(selection is not None)
        if selection is not None:
            selections.append(selection)
    return selections, trials[np.array(has_selection, bool)]


def _check_indices(labels: NDArray[np.int64], n_features: int) -> None:
    """Raise if a feature is not in the data set."""
    if n_features > MAX_FEATURES or (
        labels.size and not 0 <= labels.min() <= labels.max() < n_features
    ):
        raise ValueError(
            f"selected features: expected numbers from 0 to {min(n_features, MAX_FEATURES) - 1}, got {labels.min()} to "
            f"{labels.max()}; the records are damaged or belong to other data: run provsel audit."
        )


def _stability(
    trials: pd.DataFrame,
    selections: list[Any],
    sizes: NDArray[np.int64],
    n_features: int,
) -> tuple[str, float, tuple[float, float]]:
    """Return the reason why the stability is undefined, or "", and the stability with its interval."""
    if sizes.sum() == 0:
        return KEEPS_NONE, *NO_STABILITY
    if sizes.sum() == len(selections) * n_features:
        return KEEPS_ALL, *NO_STABILITY
    if len(selections) < 2:
        return SINGLE, *NO_STABILITY
    places = list(zip(trials["repeat"], trials["fold"], strict=True))
    folds: list[tuple[int, int]] | None = None
    overlap = 0.0
    if len({*places}) > 1:  # otherwise there are only draws on one fold
        folds = places
        n_train, n_test = (trials[name].astype(float).mean() for name in FOLD_SIZES)
        if n_test > 0 and n_train > 0:  # seeds have no test rows
            overlap = float(n_test / n_train)
    report = stability(selections, n_features, samples=folds, overlap=overlap)
    return "", report.index, report.interval()


def _places(
    trials: pd.DataFrame, codes: NDArray[np.int64], sizes: NDArray[np.int64], n: int
) -> NDArray[np.float64]:
    """Return the median position of each of n features in the order of selection; NaN if unknown."""
    is_list = np.array(
        [isinstance(features, Sized) for features in trials["features"]], bool
    )
    lists = [np.asarray(features) for features in trials["features"][is_list]]
    medians = np.full(n, np.nan)
    if sizes.max() > 1 and all(
        (features[1:] >= features[:-1]).all() for features in lists
    ):
        return medians  # all are in column order
    listed = np.repeat(is_list, sizes)
    places = (np.arange(codes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes))[
        listed
    ]
    codes = codes[listed]
    # sorted jointly by feature and place, because grouping takes four times as long and
    # reports have thousands of cells
    span = int(sizes.max()) + 1
    ordered = np.sort(codes * span + places)
    times = np.bincount(codes, minlength=n)
    has_place = times > 0
    start = (np.cumsum(times) - times)[has_place]
    times = times[has_place]
    lower = ordered[start + (times - 1) // 2] % span
    upper = ordered[start + times // 2] % span
    medians[has_place] = 1 + (lower + upper) / 2
    return medians


def _weights(
    trials: pd.DataFrame, codes: NDArray[np.int64], sizes: NDArray[np.int64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and standard deviation of the weight of each of n features, over selections with weights."""
    of_trials = trials["coefficients"].tolist()
    if not any(isinstance(coefficients, Sized) for coefficients in of_trials):
        return np.full(n, np.nan), np.full(n, np.nan)
    weights = []
    for coefficients, size in zip(of_trials, sizes, strict=True):
        fits = isinstance(coefficients, Sized) and len(coefficients) == size
        weights.append(coefficients if fits else np.full(size, np.nan))
    by_feature = pd.Series(np.concatenate(weights).astype(float)).groupby(codes)
    return by_feature.mean().to_numpy(), by_feature.std().to_numpy()
