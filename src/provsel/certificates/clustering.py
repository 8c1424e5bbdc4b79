"""k-means on the selection: costs of partitions on the selection and on all features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from provsel.certificates.spectral import SpectralSparsification
from provsel.certificates.theorem import (
    HELD,
    NO_BOUND,
    SLACK,
    VACUOUS,
    VIOLATED,
    Theorem,
)
from provsel.certificates.trial import MeasuredTrial

if TYPE_CHECKING:
    from provsel.kernels.spectral import Matrix
    from provsel.training_view import TrainingView

Costs = tuple[NDArray[np.float64], NDArray[np.float64]]


class ClusteringCost(Theorem):
    r"""Every partition costs as much on the selection as on all features, up to a factor within 1 +- epsilon.

    Use it to check a k-means clustering of selected features.

    Promised by selectors with `spectral_bound_`, which gives epsilon; vacuous if
    `SpectralSparsification` is. It is checked for three partitions: the one found on
    the selection by the trial's fitted clusterer, the one found on all features by the
    same method and seed, and the latter improved on the selection.

    Attributes
    ----------
    cost_ratio_min, cost_ratio_max : float
        Smallest and largest ratio of the k-means cost on the selection to that on all
        features, over the three partitions.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import ClusteringCost, certify
    >>> from provsel.models import KMeansClustering
    >>> from provsel.selectors import OnlineLeverageSelector
    >>> X = np.random.default_rng(0).standard_normal((8, 6000))
    >>> selector = OnlineLeverageSelector(epsilon=0.5, random_state=0).fit(X)
    >>> model = KMeansClustering(2, random_state=0).fit(selector.transform(X))
    >>> certify(selector, X, model=model, also=[ClusteringCost]).cost.state
    'held'
    """

    name = "cost"
    source = "Wang, Shen, Li (2018), Lemma 3"
    prefix = "certificate_"

    cost_ratio_min: float = np.nan
    cost_ratio_max: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the extreme ratios; `trial.model` is a clusterer that was fitted on the reduced rows."""
        costs, reduced = trial.shared(
            "partition costs", lambda: _partition_costs(trial)
        )
        ratios = reduced / costs
        low, high = float(ratios.min()), float(ratios.max())
        epsilon = getattr(trial.reducer, "spectral_bound_", None)
        if epsilon is None:
            state = NO_BOUND
        else:
            within = low >= 1 - epsilon - SLACK and high <= 1 + epsilon + SLACK
            state = VACUOUS if _says_nothing(trial) else HELD if within else VIOLATED
        return cls(cost_ratio_min=low, cost_ratio_max=high, state=state)


class PartitionCost(Theorem):
    """On all features, the selection's best partition costs at most (1 + epsilon) / (1 - epsilon) times the optimum.

    Use it with `ClusteringCost`, for the partition that the clusterer found.

    The theorem compares optimal partitions, which cannot be computed. Its proof only
    requires that the partition of the selection costs at most as much on the selection
    as the other one. The best of the three partitions of `ClusteringCost` on the
    selection meets that condition, so the theorem holds or is violated for this pair.
    Promised and vacuous under the same conditions as `ClusteringCost`.

    Attributes
    ----------
    partition_ratio, partition_bound : float
        Cost of that partition on all features, divided by the cost of the partition
        found on all features, and its bound.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import PartitionCost, certify
    >>> from provsel.models import KMeansClustering
    >>> from provsel.selectors import OnlineLeverageSelector
    >>> X = np.random.default_rng(0).standard_normal((8, 6000))
    >>> selector = OnlineLeverageSelector(epsilon=0.5, random_state=0).fit(X)
    >>> model = KMeansClustering(2, random_state=0).fit(selector.transform(X))
    >>> certify(selector, X, model=model, also=[PartitionCost]).partition.state
    'held'
    """

    name = "partition"
    source = "Wang, Shen, Li (2018), Theorem 2"
    prefix = "certificate_"

    partition_ratio: float = np.nan
    partition_bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the ratio; `trial.model` is a clusterer that was fitted on the reduced rows."""
        costs, reduced = trial.shared(
            "partition costs", lambda: _partition_costs(trial)
        )
        ratio = float(costs[int(np.argmin(reduced))] / costs[-1])
        epsilon = getattr(trial.reducer, "spectral_bound_", None)
        if epsilon is None:
            return cls(partition_ratio=ratio, state=NO_BOUND)
        bound = (1 + epsilon) / (1 - epsilon)
        held = HELD if ratio <= bound * (1 + SLACK) else VIOLATED
        state = VACUOUS if _says_nothing(trial) else held
        return cls(partition_ratio=ratio, partition_bound=bound, state=state)


class ClusteringRatio(Theorem):
    """On all features, the clustering of the reduced rows costs at most `bound` times the clustering of all features.

    Use it to compare methods of dimension reduction by their loss in k-means cost, with
    the bound that each paper states.

    Both clusterings use the same method, starts and seed; the theorems speak of optimal
    clusterings, which cannot be computed. Vacuous if all features are kept, or if a
    single cluster of all rows meets the bound, because every partition then does.

    Attributes
    ----------
    achieved, one_cluster : float
        Costs on all features of the clustering of the reduced rows, and of a single
        cluster, each divided by the cost of the clustering of all features.
    bound : float
        The `bound` passed to `measure`; NaN for a method without a guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import ClusteringRatio, MeasuredTrial
    >>> from provsel.models import KMeansClustering
    >>> from provsel.selectors import UniformSelector
    >>> from provsel.training_view import TrainingView
    >>> X = np.random.default_rng(0).standard_normal((30, 400)) + 5 * (np.arange(30) % 2)[:, None]
    >>> selector = UniformSelector(100, random_state=0).fit(X)
    >>> model = KMeansClustering(2, random_state=0).fit(selector.transform(X))
    >>> ClusteringRatio.measure(MeasuredTrial(selector, TrainingView(X), model=model), bound=1.5).state
    'held'
    """

    name = "ratio"
    source = "Wang, Shen, Li (2018), Table 1"
    prefix = "kmeans_"
    algorithm_version = 1  # part of keys, if a protocol measures it

    achieved: float = np.nan
    one_cluster: float = np.nan
    bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial, bound: float | None = None) -> Self:
        """Return the ratios; `trial.model` is a clusterer that was fitted on the reduced rows.

        Parameters
        ----------
        trial : MeasuredTrial
        bound : float, optional
            The ratio that the method's paper guarantees.
        """
        from provsel.kernels.clustering_cost import kmeans_cost
        from provsel.reducers import leaves_nothing_out

        X = trial.rows.X
        best = kmeans_cost(X, clusterer_of_all(trial.model, trial.rows).labels_)
        if best == 0:  # at most as many distinct rows as clusters, so there is no ratio
            return cls()
        achieved = kmeans_cost(X, trial.model.labels_) / best
        one_cluster = kmeans_cost(X, np.zeros(X.shape[0])) / best
        if bound is None:
            return cls(achieved=achieved, one_cluster=one_cluster, state=NO_BOUND)
        state = HELD if achieved <= bound * (1 + SLACK) else VIOLATED
        if one_cluster <= bound or leaves_nothing_out(trial.reducer, trial.rows):
            state = VACUOUS
        return cls(achieved=achieved, one_cluster=one_cluster, bound=bound, state=state)


def clusterer_of_all(model: Any, view: TrainingView) -> Any:
    """Return a copy of a clusterer, fitted on all features; fits on the same view share it."""
    from sklearn.base import clone

    from provsel.training_view import described

    return view.shared(
        f"clusters {described(model)}", lambda: clone(model).fit(view.X, view.y)
    )


def _says_nothing(trial: MeasuredTrial) -> bool:
    return SpectralSparsification.measure(trial).state == VACUOUS


def _partition_costs(trial: MeasuredTrial) -> Costs:
    """Return the costs of three partitions on all features and on the reduced rows; the last is from all features."""
    from provsel.kernels.clustering_cost import kmeans_cost
    from provsel.reducers import leaves_nothing_out, reduced_rows

    view = trial.rows
    rows = (
        view.X
        if leaves_nothing_out(trial.reducer, view)
        else reduced_rows(trial.reducer, view.X)
    )
    full = clusterer_of_all(trial.model, view).labels_
    partitions = [trial.model.labels_, _improved(rows, full), full]
    costs, reduced = (
        np.array([kmeans_cost(X, labels) for labels in partitions])
        for X in (view.X, rows)
    )
    return costs, reduced


def _improved(
    rows: Matrix, labels: NDArray[np.int64], rounds: int = 100
) -> NDArray[np.int64]:
    """Return the partition after Lloyd's iterations from the means of `labels`, which never increase its cost."""
    from sklearn.cluster import KMeans

    names, codes = np.unique(labels, return_inverse=True)
    starts = np.vstack(
        [np.asarray(rows[codes == k].mean(axis=0)).ravel() for k in range(names.size)]
    )
    return (
        KMeans(names.size, init=starts, n_init=1, max_iter=rounds, tol=0.0)
        .fit(rows)
        .labels_
    )
