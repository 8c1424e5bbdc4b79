"""Cluster reduced rows, and compare what the partition costs on them and on all features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans

from provlab.project.components import build
from provlab.project.measures import MeasuredTrial
from provlab.protocols._base import AbstractWholeRows
from provlab.protocols.clustering_scores import clustering_scores, kmeans_cost
from provlab.protocols.columns import certificate_columns, columns
from provlab.protocols.fitting import Method, Record, fit_selector, is_certified, own_measures, unlabelled_certificate
from provlab.protocols.fold import Fold
from provsel.certificates.selection import HELD, NO_BOUND, SLACK, VACUOUS, VIOLATED, Certificate
from provsel.kernels.spectral import Matrix
from provsel.reducers import leaves_nothing_out, reduced_rows
from provsel.training_view import TrainingView, described

Labels = NDArray[np.int64]


class Clustering(AbstractWholeRows):
    """Cluster all rows on the selected features, and compare with their classes.

    The clusterer of a repeat has one seed for all methods: they differ in what they select only.
    """

    name = "all_rows"
    clusters = True
    keeps_fold = True
    columns = (
        *columns("number", "error", "nmi", "ari", "cost"),
        *certificate_columns(),
        *columns("seconds", "train_cpu", "train_wall"),
    )

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, scores of the partition, and certificates."""
        fitted = fit_selector(method, seed, fold.view, same_rows=True)
        model, view = build("model", method.model), fitted.rows
        if "random_state" in model.get_params():
            model.set_params(random_state=split_seed)
        with view.metered() as training:
            found = cluster_rows(fitted.reducer, model, view)
        record = fitted.as_record(view.n_features) | found.scores
        record |= {"train_cpu": training.own.cpu, "train_wall": training.own.wall}
        if is_certified(method, fitted.reducer):
            certificate = unlabelled_certificate(method, fitted)
            record |= certificate.as_record()
            record |= certify_clustering(fitted.reducer, model, view, found, certificate)
        return record | own_measures(method, MeasuredTrial(fitted.reducer, view, fold.X_test, fold.y_test))


@dataclass(frozen=True)
class Partition:
    """A partition found on reduced rows.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n, k)
        The reduced rows.
    labels : ndarray of shape (n,)
    scores : dict
        error = 1 - accuracy, nmi, ari against the classes, and cost: of the partition, on all features.
    """

    rows: Matrix
    labels: Labels
    scores: dict[str, float]


def cluster_rows(reducer: Any, model: Any, view: TrainingView) -> Partition:
    """Cluster the reduced rows of `view` by `model`, as many clusters as there are classes unless it says otherwise."""
    if leaves_nothing_out(reducer, view):
        rows, labels = view.X, _labels_of_all(model, view)
    else:
        rows = reduced_rows(reducer, view.X)
        labels = clone(model).fit(rows, view.y).labels_
    assert view.y is not None
    scores = clustering_scores(view.y, labels)
    error = 1.0 - scores.pop("accuracy")
    return Partition(rows, labels, {"error": error, **scores, "cost": kmeans_cost(view.X, labels)})


def certify_clustering(
    reducer: Any, model: Any, view: TrainingView, found: Partition, certificate: Certificate
) -> dict[str, float | str]:
    r"""Check Lemma 3 and Theorem 2 of Wang, Shen, Li (2018) on the partitions at hand; fields of a `Certificate`.

    Lemma 3 is about every partition P: cost on the selection over cost on all features is within 1 +- epsilon. It is
    checked for three: that of the selection, that of all features by the same method and seed, and the latter
    improved on the selection. Theorem 2 compares optimal partitions, which nobody can find; its proof needs only that
    the partition of the selection costs no more there than the other one does. The best of the three on the selection
    meets that, so that for this pair the theorem holds or is violated.

    Parameters
    ----------
    reducer : fitted selector
        With `spectral_bound_`, epsilon, where it promises anything.
    model : clusterer
    view : TrainingView
    found : Partition
    certificate : Certificate
        Of the selection: whether Theorem 1 is vacuous.
    """
    full = _labels_of_all(model, view)
    partitions = [found.labels, _improved(found.rows, full), full]
    costs = np.array([kmeans_cost(view.X, labels) for labels in partitions])
    reduced = np.array([kmeans_cost(found.rows, labels) for labels in partitions])
    ratios = reduced / costs
    best = int(np.argmin(reduced))
    fields: dict[str, float | str] = {
        "certificate_cost_ratio_min": float(ratios.min()),
        "certificate_cost_ratio_max": float(ratios.max()),
        "certificate_partition_ratio": float(costs[best] / costs[-1]),
        "certificate_cost": NO_BOUND,
        "certificate_partition": NO_BOUND,
    }
    epsilon = getattr(reducer, "spectral_bound_", None)
    if epsilon is None:
        return fields
    bound = (1 + epsilon) / (1 - epsilon)
    fields["certificate_partition_bound"] = bound
    if certificate.spectral == VACUOUS:
        return fields | {"certificate_cost": VACUOUS, "certificate_partition": VACUOUS}
    within = ratios.min() >= 1 - epsilon - SLACK and ratios.max() <= 1 + epsilon + SLACK
    kept = costs[best] / costs[-1] <= bound * (1 + SLACK)
    return fields | {
        "certificate_cost": HELD if within else VIOLATED,
        "certificate_partition": HELD if kept else VIOLATED,
    }


def _labels_of_all(model: Any, view: TrainingView) -> Labels:
    return view.shared(f"clusters {described(model)}", lambda: clone(model).fit(view.X, view.y).labels_)


def _improved(rows: Matrix, labels: Labels, rounds: int = 100) -> Labels:
    """Return the partition after Lloyd's iterations from the means of `labels`: its cost on `rows` never rises."""
    names, codes = np.unique(labels, return_inverse=True)
    starts = np.vstack([np.asarray(rows[codes == k].mean(axis=0)).ravel() for k in range(names.size)])
    return KMeans(names.size, init=starts, n_init=1, max_iter=rounds, tol=0.0).fit(rows).labels_
