"""Similarity of methods by the features that they select: a tree, and families that count as one method.

The stored panel does not contain the selected features, so selections are read from the
trials of a store.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

THRESHOLD = 0.8
"""Methods whose mean overlap is at least this form one family."""

FOLD = ["dataset", "size", "repeat", "fold"]


def overlaps(selections: pd.DataFrame) -> pd.DataFrame:
    """Return the mean overlap between the selections of every two methods, corrected for chance.

    Let two selections keep a and b of d features, with r in common. Their overlap is
    the correlation of their indicators, (r / d - p q) / sqrt(p (1 - p) q (1 - q)) with
    p = a / d and q = b / d. It is 1 for equal selections and 0 on average for random
    ones; for a = b it is Kuncheva's index. It is undefined if a selection keeps no or
    all features.

    Parameters
    ----------
    selections : DataFrame
        One row per selection: method, dataset, size, repeat, fold, n_features, and
        features, the selected indices.

    Returns
    -------
    DataFrame
        Methods x methods in alphabetical order. All data sets have the same weight, and
        within a data set all sizes and folds for which both methods have a selection.
        NaN if there are none.

    Raises
    ------
    ValueError
        If a method has two selections for the same fold and size.

    References
    ----------
    Kuncheva (2007), A stability index for feature selection. Nogueira, Sechidis, Brown
    (2018), JMLR 18.
    """
    twice = selections[selections.duplicated(["method", *FOLD])]
    if len(twice):
        raise ValueError(
            f"overlaps: expected one selection per method and fold, got several for {twice['method'].iloc[0]} "
            f"on "
            f"{twice['dataset'].iloc[0]}; keep one line for each draw."
        )
    methods = sorted(selections["method"].unique())
    shape = (len(methods), len(methods))
    total = np.zeros(shape)
    n_datasets = np.zeros(shape)
    for _, of_dataset in selections.groupby("dataset", sort=True):
        sums = np.zeros(shape)
        counts = np.zeros(shape)
        for _, lines in of_dataset.groupby(FOLD, sort=True):
            places = pd.Index(methods).get_indexer(lines["method"])
            correlation = _correlations(lines)
            where = np.ix_(places, places)
            sums[where] += np.nan_to_num(correlation)
            counts[where] += np.isfinite(correlation)
        total += sums / np.maximum(counts, 1)
        n_datasets += counts > 0
    mean = np.where(n_datasets > 0, total / np.maximum(n_datasets, 1), np.nan)
    return pd.DataFrame(mean, index=methods, columns=methods)


def tree(overlap: pd.DataFrame) -> NDArray[np.float64]:
    """Return the average linkage of methods with distance 1 - overlap, see `scipy.cluster.hierarchy.linkage`.

    Two methods that were never compared have the distance of random selections.
    """
    distance = 1 - overlap.fillna(0.0).to_numpy()
    np.fill_diagonal(distance, 0.0)
    return np.asarray(
        linkage(squareform(np.maximum(distance, 0.0), checks=False), method="average")
    )


def families(overlap: pd.DataFrame) -> pd.Series:
    """Cut the tree at `THRESHOLD`, and return the family of each method, named after its first member."""
    if len(overlap) < 2:
        return pd.Series(overlap.index, index=overlap.index, name="family")
    labels = fcluster(tree(overlap), 1 - THRESHOLD + 1e-9, criterion="distance")
    names = pd.Series(overlap.index, index=overlap.index)
    return names.groupby(labels).transform("first").rename("family")


def _correlations(lines: pd.DataFrame) -> NDArray[np.float64]:
    """Return the pairwise overlaps of the selections of one fold, (n, n); NaN where undefined."""
    sizes = lines["features"].map(len).to_numpy()
    d = int(lines["n_features"].iloc[0])
    rows = np.repeat(np.arange(len(lines)), sizes)
    columns = np.concatenate(
        [np.asarray(features, dtype=np.int64) for features in lines["features"]]
    )
    indicators = sparse.csr_array(
        (np.ones(len(rows)), (rows, columns)), shape=(len(lines), d)
    )
    both = (indicators @ indicators.T).toarray()
    shares = sizes / d
    covariance = both / d - np.outer(shares, shares)
    deviation = np.sqrt(shares * (1 - shares))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(covariance / np.outer(deviation, deviation))
