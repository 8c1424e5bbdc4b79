"""Cluster reduced rows, and compare what the partition costs on them and on all features."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from provlab.project.components import build
from provlab.protocols._base import AbstractWholeRows
from provlab.protocols.clustering_scores import clustering_scores
from provlab.protocols.columns import certificate_columns, columns
from provlab.protocols.fitting import Method, Record, fit_selector, is_certified, own_measures
from provlab.protocols.fold import Fold
from provsel.certificates import ClusteringCost, MeasuredTrial, OnlineScoreSum, PartitionCost, SpectralSparsification
from provsel.certificates.certifying import certify_trial
from provsel.certificates.clustering import clusterer_of_all
from provsel.kernels.clustering_cost import kmeans_cost
from provsel.reducers import leaves_nothing_out, reduced_rows
from provsel.training_view import TrainingView


class Clustering(AbstractWholeRows):
    """Cluster all rows on the selected features, and compare with their classes.

    The clusterer of a repeat has one seed for all methods: they differ in what they select only.
    """

    name = "all_rows"
    clusters = True
    keeps_fold = True
    columns = (
        *columns("number", "error", "nmi", "ari", "cost"),
        *certificate_columns(SpectralSparsification, OnlineScoreSum, ClusteringCost, PartitionCost),
        *columns("seconds", "train_cpu", "train_wall"),
    )

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, scores of the partition, and certificates."""
        fitted = fit_selector(method, seed, fold.view, same_rows=True)
        model, view = build("model", method.model), fitted.rows
        if "random_state" in model.get_params():
            model.set_params(random_state=split_seed)
        with view.metered() as training:
            clusterer = cluster_rows(fitted.reducer, model, view)
            scores = partition_scores(view, clusterer.labels_)
        record = fitted.as_record(view.n_features) | scores
        record |= {"train_cpu": training.own.cpu, "train_wall": training.own.wall}
        trial = MeasuredTrial(fitted.reducer, view, fold.X_test, fold.y_test, clusterer)
        if is_certified(method, fitted.reducer):
            record |= certify_trial(trial, margin=False, radius=False, also=(ClusteringCost, PartitionCost)).as_record()
        return record | own_measures(method, trial)


def cluster_rows(reducer: Any, model: Any, view: TrainingView) -> Any:
    """Return a copy of a clusterer, fitted on the reduced rows of `view`: as many clusters as classes by default."""
    if leaves_nothing_out(reducer, view):
        return clusterer_of_all(model, view)
    return clone(model).fit(reduced_rows(reducer, view.X), view.y)


def partition_scores(view: TrainingView, labels: Any) -> dict[str, float]:
    """Return error = 1 - accuracy, nmi and ari against the classes, and cost: of the partition, on all features."""
    scores = clustering_scores(view.y, labels)
    error = 1.0 - scores.pop("accuracy")
    return {"error": error, **scores, "cost": kmeans_cost(view.X, labels)}
