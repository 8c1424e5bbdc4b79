"""Which methods select the same features: the tree of their selections, and families that count as one method.

The stored panel keeps no features: selections come from the trials of a store.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

THRESHOLD = 0.8
"""Mean overlap from which two methods, or two families on average, count as one."""

FOLD = ["dataset", "size", "repeat", "fold"]


def overlaps(selections: pd.DataFrame) -> pd.DataFrame:
    """Return the mean overlap of the selections of each two methods, corrected for chance.

    The overlap of two selections of a and b among d features, r of them in both, is the correlation of their
    indicators, (r / d - p q) / sqrt(p (1 - p) q (1 - q)) with p = a / d and q = b / d: 1 of equal ones, 0 on average of
    random ones, and Kuncheva's index where a = b. A selection of no or of all features has none.

    Parameters
    ----------
    selections : DataFrame
        A line per selection: method, dataset, size, repeat, fold, n_features, and features, the indices.

    Returns
    -------
    DataFrame
        Methods x methods in alphabetical order. Each data set counts the same, and within it each size and fold at
        which both methods selected; NaN if there is none.

    Raises
    ------
    ValueError
        A method has two selections at one place.

    References
    ----------
    Kuncheva (2007), A stability index for feature selection. Nogueira, Sechidis, Brown (2018), JMLR 18.
    """
    twice = selections[selections.duplicated(["method", *FOLD])]
    if len(twice):
        raise ValueError(
            f"overlaps: expected one selection of each method in each fold, got several of {twice['method'].iloc[0]} "
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
    """Return the average linkage of methods by 1 - overlap, as of `scipy.cluster.hierarchy.linkage`.

    Two methods that were never compared count as unlike as random ones.
    """
    distance = 1 - overlap.fillna(0.0).to_numpy()
    np.fill_diagonal(distance, 0.0)
    return np.asarray(linkage(squareform(np.maximum(distance, 0.0), checks=False), method="average"))


def families(overlap: pd.DataFrame, threshold: float = THRESHOLD) -> pd.Series:
    """Return the family of each method, called as its first member: where the tree is cut at the threshold."""
    if len(overlap) < 2:
        return pd.Series(overlap.index, index=overlap.index, name="family")
    labels = fcluster(tree(overlap), 1 - threshold + 1e-9, criterion="distance")
    names = pd.Series(overlap.index, index=overlap.index)
    return names.groupby(labels).transform("first").rename("family")


def _correlations(lines: pd.DataFrame) -> NDArray[np.float64]:
    """Return the pairwise overlaps of the selections of one fold, (n, n); NaN where undefined."""
    sizes = lines["features"].map(len).to_numpy()
    d = int(lines["n_features"].iloc[0])
    rows = np.repeat(np.arange(len(lines)), sizes)
    columns = np.concatenate([np.asarray(features, dtype=np.int64) for features in lines["features"]])
    indicators = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(lines), d))
    both = (indicators @ indicators.T).toarray()
    shares = sizes / d
    covariance = both / d - np.outer(shares, shares)
    deviation = np.sqrt(shares * (1 - shares))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(covariance / np.outer(deviation, deviation))
