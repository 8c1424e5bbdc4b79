"""Cluster all rows on the selected features, and compare with their classes."""

from __future__ import annotations

from provlab.project.components import build
from provlab.protocols._base import AbstractWholeRows
from provlab.protocols.columns import certificate_columns, columns
from provlab.protocols.fold import Fold
from provlab.protocols.method import Method, Record
from provsel.certificates import ClusteringCost, MeasuredTrial, OnlineScoreSum, PartitionCost, SpectralSparsification
from provsel.certificates.certifying import certify_trial


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
        from provlab.protocols.fitting import fit_selector, is_certified, own_measures
        from provlab.protocols.partitions import cluster_rows, partition_scores

        fitted = fit_selector(method, seed, fold.view)
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
