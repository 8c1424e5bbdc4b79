"""Which features a method selects: how often over folds, draws and repeats, in which order, with which weights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.core.frames import FOLD_SIZES, Planned, planned_trials
from provlab.core.plan import feature_names_of, identity_of
from provlab.core.store import LARGE, TrialReader
from provlab.project.documents import canonical_json
from provsel.stability import stability

COLUMNS = ["feature", "index", "frequency", "times", "place", "weight", "weight_sd"]
"""Columns of the frame of `selected_features`."""

READ = [*LARGE, *FOLD_SIZES, "n_features", "n_selected"]
"""Columns of the records that `selected_features` reads."""

AT_ONCE = 10_000_000
"""Selected features, over all trials, that are read into memory together: 300 MB with what is made of them."""

MAX_FEATURES = 100_000_000
"""More features are taken for a damaged record: the stability counts each of them."""

NO_LIST = "no list of features is stored: the method mixes features, or its trials were packed without lists"
KEEPS_ALL, KEEPS_NONE = "all features are selected", "no feature is selected"
SINGLE = "a single selection has no stability"
NUMBERED = "features are numbered from 1"

NO_INDEX = np.nan, (np.nan, np.nan)
"""The stability of a cell that has none, and its interval."""


@dataclass(frozen=True, eq=False)
class SelectedFeatures:
    """What the trials of one cell selected.

    Attributes
    ----------
    frame : DataFrame
        One line a feature that some trial selected, see `selected_features`.
    n_selections : int
        Trials whose selection is stored: each draw of each fold of each repeat is one.
    n_features : int
        Number of features that there were to select from; the largest, where a preparation made them in each fold.
    sizes : tuple of int
        The smallest and the largest number of features of a selection.
    note : str
        Why something is missing: features, names or the stability; "" where all is there.
    index, interval : float, tuple of float
        The stability and its 95 % interval, see `provsel.stability`; NaN where there is none.
    """

    frame: pd.DataFrame
    n_selections: int
    n_features: int
    sizes: tuple[int, int]
    note: str
    index: float
    interval: tuple[float, float]


def selected_features(trials: pd.DataFrame, names: Sequence[str] | None = None, note: str = "") -> SelectedFeatures:
    """Count the features that the trials of one cell selected.

    Each draw of each fold of each repeat is one selection, and all count the same. A trial without a list of features
    is left out, but for one that kept all.

    Parameters
    ----------
    trials : DataFrame
        Of one cell, see `planned_trials`, with the columns `READ`.
    names : sequence of str, optional
        Names of the features of the data set; by default numbers from 1. Where a preparation made the columns, their
        names are those of the records: folds may have different ones.
    note : str, optional
        Why there are no names, see `data_names`.

    Returns
    -------
    SelectedFeatures
        Its frame has the lines of features that some trial selected, the most frequent first, then the one that was
        selected earlier, then by index. Its columns are

        - feature: the name;
        - index: column of the data set from 0; none where a preparation made the columns;
        - frequency: share of the selections that have the feature;
        - times: number of these selections;
        - place: median place in their order of selection, from 1; NaN where all features were kept, and of a method
          that gives no order: the features of each selection stand in that of the columns;
        - weight, weight_sd: mean and standard deviation, over the selections that say it, of what a linear model
          multiplies the feature by; NaN where none does.

    Raises
    ------
    ValueError
        A list with a feature twice, or with one that the data set does not have.
    """
    n_features = int(trials["n_features"].fillna(0).max()) if len(trials) else 0
    lists, keeps_all, trials = _selections(trials)
    if not lists:
        return SelectedFeatures(pd.DataFrame(columns=COLUMNS), 0, n_features, (0, 0), NO_LIST, *NO_INDEX)
    sizes = np.array([len(each) for each in lists])
    codes, labels = pd.factorize(np.concatenate(lists))
    index = pd.array(labels, "Int64") if labels.dtype != object else pd.array([pd.NA] * labels.size, "Int64")
    texts = labels
    if labels.dtype == object:  # a preparation made columns in each fold, identified by name
        n_features, note = max(n_features, labels.size), ""
        lists = np.split(codes, np.cumsum(sizes)[:-1])
    elif n_features > MAX_FEATURES or (labels.size and not 0 <= labels.min() <= labels.max() < n_features):
        raise ValueError(
            f"selected features: expected numbers from 0 to {min(n_features, MAX_FEATURES) - 1}, got {labels.min()} to "
            f"{labels.max()}; the records are damaged, or of other data: run provsel audit."
        )
    else:
        if names is not None and len(names) != n_features:
            note = f"{NUMBERED}: the data have {len(names)} names, the trials {n_features} features"
            names = None
        texts = np.array([str(k + 1) for k in labels] if names is None else [names[k] for k in labels], dtype=object)
    times = np.bincount(codes, minlength=labels.size)
    place = _places(trials, codes, sizes, keeps_all, labels.size)
    order = np.lexsort((labels, np.nan_to_num(place, nan=np.inf), -times))
    columns = {"feature": pd.Series(texts, dtype=object), "index": index, "frequency": times / len(lists)}
    columns |= {"times": times, "place": place}
    columns |= dict(zip(("weight", "weight_sd"), _weights(trials, codes, sizes, labels.size), strict=True))
    found = pd.DataFrame(columns).iloc[order].reset_index(drop=True)
    stable, problem = NO_INDEX, ""
    if sizes.sum() in (0, len(lists) * n_features):
        problem = KEEPS_ALL if sizes[0] else KEEPS_NONE
    elif len(lists) < 2:
        problem = SINGLE
    else:
        samples, overlap = _samples(trials)
        report = stability(lists, n_features, samples=samples, overlap=overlap)
        stable = report.index, report.interval()
    notes, ends = "; ".join(filter(None, (problem, note))), (int(sizes.min()), int(sizes.max()))
    return SelectedFeatures(found, len(lists), n_features, ends, notes, *stable)


def cells_features(
    store: TrialReader, cells: Sequence[Planned], *, at_once: int = AT_ONCE
) -> Iterator[tuple[Planned, SelectedFeatures]]:
    """Yield the selected features of each cell that has stored trials, data set by data set.

    Lists are read for a few cells at a time, so that memory does not grow with the number of trials.

    Parameters
    ----------
    store : TrialReader
    cells : sequence of Cell, or of what stands for one
        Distinct ones, see `unique_cells`.
    at_once : int, optional
        Selected features that are in memory together; a cell with more is read whole.
    """
    ordered = sorted(cells, key=lambda cell: cell.data)
    sizes = planned_trials(store, ordered, ["n_selected"]).groupby("place")["n_selected"].sum()
    for _, batch in sizes.groupby((sizes.cumsum() - sizes) // at_once):
        chosen = [ordered[place] for place in batch.index]
        for place, trials in planned_trials(store, chosen, READ).groupby("place"):
            cell = chosen[int(str(place))]
            yield cell, selected_features(trials, *data_names(cell.data, canonical_json(cell.dataset)))


@lru_cache(maxsize=4)
def data_names(data: str, config: str) -> tuple[Sequence[str] | None, str]:
    """Return the names of the features of a data set, or None, and why they are not known.

    They are read where the data set is on this machine and still the one of the trials, by its identity `data`. The
    config is JSON, and may be anybody's.
    """
    dataset = json.loads(config)
    try:
        if identity_of(dataset) == data:
            return feature_names_of(dataset).tolist(), ""
        reason = "its file has changed since"
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split())
    return None, f"{NUMBERED}, as the names of data set {dataset.get('name')} cannot be read: {reason}"


def _selections(trials: pd.DataFrame) -> tuple[list[Any], NDArray[np.bool_], pd.DataFrame]:
    """Return the selection of each trial that has one, which of them are selections of all features, and the trials."""
    lists, keeps_all, has = [], [], []
    columns = (trials[name].tolist() for name in ("features", "feature_names", "n_features", "n_selected"))
    for features, names, n_features, n_selected in zip(*columns, strict=True):
        every = not isinstance(features, Sized)
        has.append(isinstance(names, Sized) or not every or 0 < n_features == n_selected <= MAX_FEATURES)
        if has[-1]:
            keeps_all.append(every)
            if isinstance(names, Sized):
                lists.append(np.asarray(names, object))
            else:
                lists.append(np.arange(int(n_features)) if every else features)
    return lists, np.array(keeps_all, bool), trials[np.array(has, bool)]


def _samples(trials: pd.DataFrame) -> tuple[list[tuple[int, int]] | None, float]:
    """Return the repeat and fold of each trial, and test rows per training row; None and 0 of draws on one fold."""
    folds = list(zip(trials["repeat"], trials["fold"], strict=True))
    if len(set(folds)) == 1:
        return None, 0.0
    n_train, n_test = (trials[name].astype(float).mean() for name in FOLD_SIZES)
    return folds, float(n_test / n_train) if n_test > 0 and n_train > 0 else 0.0  # seeds have no test rows


def _places(
    trials: pd.DataFrame, codes: NDArray[np.int64], sizes: NDArray[np.int64], keeps_all: NDArray[np.bool_], n: int
) -> NDArray[np.float64]:
    """Return the median place of each of n features in the order of selection; NaN where nothing says that order."""
    found, listed = np.full(n, np.nan), (np.asarray(each) for each in trials["features"] if isinstance(each, Sized))
    if sizes.max() > 1 and not any((each[1:] < each[:-1]).any() for each in listed):  # all in the order of the columns
        return found
    place = np.arange(codes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    known, span = ~np.repeat(keeps_all, sizes), int(sizes.max()) + 1
    # one sort of feature and place together: a report has thousands of cells, and grouping takes four times as long
    ordered, times = np.sort(codes[known] * span + place[known]), np.bincount(codes[known], minlength=n)
    has = times > 0
    start, times = (np.cumsum(times) - times)[has], times[has]
    found[has] = 1 + (ordered[start + (times - 1) // 2] % span + ordered[start + times // 2] % span) / 2
    return found


def _weights(
    trials: pd.DataFrame, codes: NDArray[np.int64], sizes: NDArray[np.int64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean weight of each of n features and its standard deviation, over the selections that say one."""
    lists = trials["coefficients"].tolist()
    if not any(isinstance(each, Sized) for each in lists):
        return np.full(n, np.nan), np.full(n, np.nan)
    fits = (isinstance(each, Sized) and len(each) == size for each, size in zip(lists, sizes, strict=True))
    parts = [each if fit else np.full(size, np.nan) for each, size, fit in zip(lists, sizes, fits, strict=True)]
    grouped = pd.Series(np.concatenate(parts).astype(float)).groupby(codes)
    return grouped.mean().to_numpy(), grouped.std().to_numpy()
