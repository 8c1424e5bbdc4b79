"""Partitions of reduced rows, and how well they agree with the classes."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from provlab.protocols.clustering_scores import clustering_scores
from provsel.certificates.clustering import clusterer_of_all
from provsel.kernels.clustering_cost import kmeans_cost
from provsel.reducers import leaves_nothing_out, reduced_rows
from provsel.training_view import TrainingView


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
