"""Measurements of a trial, with one function per kind of protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from provlab.core.protocols import AbstractProtocol
from provlab.core.protocols.base import Method, Record
from provlab.project.components import build
from provlab.run.fitting import (
    Fitted,
    classify,
    fit_selector,
    is_certified,
    own_measures,
)
from provlab.run.fold import Fold
from provlab.run.limited import measure_within_limit
from provlab.run.streamed import measure_from_file
from provsel.certificates import ClusteringCost, MeasuredTrial, PartitionCost
from provsel.certificates.certifying import certify_trial
from provsel.kernels.clustering_cost import kmeans_cost
from provsel.training_view import Cost, TrainingView


def measure(
    protocol: AbstractProtocol,
    method: Method,
    fold: Fold,
    *,
    seed: int,
    split_seed: int,
) -> Record:
    """Return the measurements of a trial: the columns of a selection, and those declared by its protocol."""
    return MEASURED[protocol.trial](method, fold, seed=seed, split_seed=split_seed)


def measure_predictions(
    method: Method, fold: Fold, *, seed: int, split_seed: int
) -> Record:
    """Return the selection, the measures of the predictions, and certificates."""
    return classify(method, fit_selector(method, seed, fold.view), fold, seed)


def measure_clusters(
    method: Method, fold: Fold, *, seed: int, split_seed: int
) -> Record:
    """Return the selection, the scores of the partition, and certificates."""
    fitted = fit_selector(method, seed, fold.view)
    model, view = build("model", method.model), fitted.rows
    if "random_state" in model.get_params():
        model.set_params(random_state=split_seed)
    with view.metered() as training:
        clusterer = cluster_rows(fitted.reducer, model, view)
        scores = partition_scores(view.y, clusterer.labels_)
        scores["cost"] = kmeans_cost(view.X, clusterer.labels_)
    record = fitted.as_record(fold) | scores
    record |= {"train_cpu": training.own.cpu, "train_wall": training.own.wall}
    trial = MeasuredTrial(fitted.reducer, view, fold.X_test, fold.y_test, clusterer)
    if is_certified(method, fitted.reducer):
        record |= certify_trial(
            trial, margin=False, radius=False, also=(ClusteringCost, PartitionCost)
        ).as_record()
    return record | own_measures(method, trial)


def measure_selection(
    method: Method, fold: Fold, *, seed: int, split_seed: int
) -> Record:
    """Return the selection, its cost, and the certificates that need no labels."""
    fitted = fit_selector(method, seed, fold.view)
    record = fitted.as_record(fold) | _search_and_pass(fitted, seed)
    trial = MeasuredTrial(fitted.reducer, fitted.rows, fold.X_test, fold.y_test)
    if is_certified(method, fitted.reducer):
        record |= certify_trial(trial, margin=False, radius=False).as_record()
    return record | own_measures(method, trial)


def _search_and_pass(fitted: Fitted, seed: int) -> Record:
    """If the method searches for a parameter, time a second fit with the value found."""
    if not hasattr(fitted.reducer, "calibrated"):
        return {}
    start = Cost.now()
    again = (
        fitted.reducer.calibrated()
        .set_params(random_state=seed)
        .fit_view(TrainingView(fitted.rows.X))
    )
    cost = Cost.now() - start
    if not np.array_equal(again.indices_, fitted.reducer.indices_):
        raise ArithmeticError(
            f"{type(again).__name__}: the pass at the calibrated rate keeps different features."
        )
    return {"pass_cpu": cost.cpu, "pass_wall": cost.wall}


def cluster_rows(reducer: Any, model: Any, view: TrainingView) -> Any:
    """Return a copy of a clusterer fitted on the reduced rows of `view`; by default with a cluster per class.

    Rows without features form one cluster.
    """
    from sklearn.base import clone

    from provsel.certificates.clustering import clusterer_of_all
    from provsel.reducers import leaves_nothing_out, reduced_rows

    if leaves_nothing_out(reducer, view):
        return clusterer_of_all(model, view)
    reduced = reduced_rows(reducer, view.X)
    clusterer = clone(model)
    if reduced.shape[1] == 0:
        clusterer.labels_ = np.zeros(reduced.shape[0], dtype=np.int64)
        return clusterer
    return clusterer.fit(reduced, view.y)


def partition_scores(y: Any, labels: Any) -> dict[str, float]:
    """Return the agreement of clusters with classes.

    Parameters
    ----------
    y, labels : ndarray of shape (n,)
        Class and cluster of each row, of any type.

    Returns
    -------
    dict
        error is the fraction of rows that are not in the cluster of their class, for
        the best one-to-one matching of clusters and classes. Rows of unmatched clusters
        count as wrong. nmi is the mutual information divided by the mean of both
        entropies, and ari the adjusted Rand index, both from scikit-learn.
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    y, labels = (np.unique(classes, return_inverse=True)[1] for classes in (y, labels))
    table = contingency_matrix(y, labels)
    return {
        "error": 1.0
        - float(table[linear_sum_assignment(table, maximize=True)].sum() / y.size),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "ari": float(adjusted_rand_score(y, labels)),
    }


MEASURED: dict[str, Callable[..., Record]] = {
    "predictions": measure_predictions,
    "predictions within a limit": measure_within_limit,
    "training from a file": measure_from_file,
    "clusters": measure_clusters,
    "selection": measure_selection,
}
"""Functions by the `trial` attribute of a protocol."""
