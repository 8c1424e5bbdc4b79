"""How well a partition of the rows agrees with their classes."""

from __future__ import annotations

from typing import Any

from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from provsel.kernels.clustering_cost import label_codes


def clustering_accuracy(y: Any, labels: Any) -> float:
    """Return the fraction of rows that are in the cluster of their class, for the best matching of the two.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes, of any values.
    labels : array-like of shape (n,)
        Clusters, of any values. A cluster is matched with one class at most, and a class with one cluster; where
        there are more of one kind than of the other, the rows of those left over count as wrong.

    Raises
    ------
    ValueError
        No rows, or another number of labels than of classes.
    """
    y, labels = label_codes("clustering_accuracy", y, labels)
    table = contingency_matrix(y, labels)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / y.size)


def clustering_scores(y: Any, labels: Any) -> dict[str, float]:
    """Return `accuracy` (`clustering_accuracy`), `nmi` and `ari`; arguments and errors as there.

    `nmi` is the mutual information of classes and clusters over the mean of their entropies, `ari` the Rand index
    adjusted for chance, both scikit-learn's.
    """
    y, labels = label_codes("clustering_scores", y, labels)
    return {
        "accuracy": clustering_accuracy(y, labels),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "ari": float(adjusted_rand_score(y, labels)),
    }
