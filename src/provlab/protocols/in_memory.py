"""Protocols on rows in memory: train a linear model on some and test it on others; cluster all, or select on them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from provlab.project.components import build
from provlab.protocols.base import (
    AbstractOwnSplit,
    AbstractProtocol,
    Fold,
    Method,
    Record,
    Rows,
    certificate_columns,
    check_rows,
    columns,
    rarest_class,
)
from provsel.certificates import (
    ClusteringCost,
    CompressedRecovery,
    FeatureSelectiveRecovery,
    MarginPreservation,
    MeasuredTrial,
    OnlineScoreSum,
    PartitionCost,
    RadiusPreservation,
    SoftMarginBound,
    SpectralSparsification,
)
from provsel.certificates.certifying import certify_trial

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator

    from provlab.datasets import Dataset
    from provlab.protocols.fitting import Fitted
    from provsel.training_view import TrainingView


class AbstractPrediction(AbstractProtocol):
    """A protocol that trains on some rows and tests on others.

    A regression has r2, rmse and mae in place of the error: R^2 on the test rows, and errors in units of the target.
    """

    columns = (
        *columns("number", "error", low=0, high=1),
        *columns("number", "r2", high=1),
        *columns("number", "rmse", "mae", low=0),
        *columns("number", "objective", "scaled_objective"),
        *certificate_columns(
            SpectralSparsification, MarginPreservation, SoftMarginBound, RadiusPreservation, OnlineScoreSum,
            CompressedRecovery, FeatureSelectiveRecovery,
        ),
        *columns("seconds", "train_cpu", "train_wall"),
    )  # fmt: skip
    scores = True

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, measures of the predictions, and certificates."""
        from provlab.protocols.fitting import classify, fit_selector

        return classify(method, fit_selector(method, seed, fold.view), fold, seed)


class AbstractFolds(AbstractPrediction):
    """Train on the other rows of a fold and test on its own, as a splitter of scikit-learn says."""

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Refuse fewer than two folds as well."""
        if not isinstance(protocol["n_splits"], int) or protocol["n_splits"] < 2:
            raise ValueError(f"protocol.n_splits: expected an integer above 1, got {protocol['n_splits']!r}.")
        super().check(protocol, method)

    @abstractmethod
    def splitter(self, dataset: Dataset, n_splits: int, split_seed: int) -> BaseCrossValidator:
        """Return scikit-learn's splitter for a data set, or raise where it has no such folds."""

    def splits(self, dataset: Dataset, n_splits: int, split_seed: int) -> Iterator[tuple[Rows, Rows]]:
        """Return training and test rows of each fold."""
        splitter = self.splitter(dataset, n_splits, split_seed)
        groups = dataset.groups if "Group" in type(splitter).__name__ else None  # others warn of what they do not take
        return iter(splitter.split(np.zeros(len(dataset.y)), dataset.y, groups))

    def rows(self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int) -> tuple[Rows, Rows]:
        """Return one fold of the splitter."""
        return next(islice(self.splits(dataset, n_splits, split_seed), fold, None))

    def check_folds(self, dataset: Dataset, n_splits: int) -> None:
        """Refuse a data set no fold of which has test rows, and training rows of each class."""
        first = None
        for fold, (train, test) in enumerate(self.splits(dataset, n_splits, split_seed=0)):
            try:
                check_rows(dataset, train, test, fold)
            except ValueError as error:
                first = first or error
            else:
                return
        if first is not None:
            raise first


class KFold(AbstractFolds):
    """Train on all folds but one and test on that one; the folds of a repeat are shuffled by its seed.

    Each fold has the same share of each class, and groups of rows stay whole.
    """

    name = "kfold"

    def splitter(self, dataset: Dataset, n_splits: int, split_seed: int) -> BaseCrossValidator:
        """Return a shuffled splitter: stratified for classes, and with whole groups where the data set has any."""
        from sklearn import model_selection

        n_groups = None if dataset.groups is None else np.unique(dataset.groups).size
        if n_groups is not None and n_groups < n_splits:
            step = f"lower protocol.n_splits to {n_groups}, or use protocol=leave_one_group_out"
            raise ValueError(
                f"data set {dataset.name}: expected at least n_splits = {n_splits} groups, got {n_groups}; "
                f"{step if n_groups > 1 else 'leave out dataset.groups, as all rows are of one'}."
            )
        if len(dataset.y) < n_splits:
            raise ValueError(
                f"data set {dataset.name}: expected at least n_splits = {n_splits} rows, got {len(dataset.y)}; lower "
                f"protocol.n_splits."
            )
        if not dataset.is_regression:
            check_class_sizes(dataset, n_splits)
        name = f"{'' if dataset.is_regression else 'Stratified'}{'' if n_groups is None else 'Group'}KFold"
        return getattr(model_selection, name)(n_splits, shuffle=True, random_state=split_seed)


def check_class_sizes(dataset: Dataset, n_splits: int) -> None:
    """Refuse classes that have fewer rows than there are folds.

    Raises
    ------
    ValueError
        Names the smallest class, and what to choose instead.
    """
    label, smallest = rarest_class(dataset)
    if smallest < n_splits:
        lower = f"lower protocol.n_splits to {smallest}, " if smallest > 1 else ""
        raise ValueError(
            f"data set {dataset.name}: expected at least n_splits = {n_splits} rows of each class, got {smallest} of "
            f"class {label}; {lower}leave out such classes by +dataset.min_class_size={n_splits}, or state folds of "
            f"your own by dataset.fold and protocol=fixed_folds."
        )


class InverseKFold(KFold):
    """Train on one fold and test on all others."""

    name = "kfold_inverse"

    def splits(self, dataset: Dataset, n_splits: int, split_seed: int) -> Iterator[tuple[Rows, Rows]]:
        """Yield the folds of the shuffled split, with their parts exchanged."""
        for rest, one in super().splits(dataset, n_splits, split_seed):
            yield one, rest


class TimeOrder(AbstractFolds):
    """Test on each of some blocks of rows, and train on all rows before it: rows stand in the order of time."""

    name = "time_order"
    fixed: ClassVar[Mapping[str, Any]] = {"repeats": 1}

    def splitter(self, dataset: Dataset, n_splits: int, split_seed: int) -> BaseCrossValidator:
        """Return scikit-learn's splitter for time series."""
        from sklearn.model_selection import TimeSeriesSplit

        if n_splits >= len(dataset.y):
            raise ValueError(
                f"data set {dataset.name}: expected more than n_splits = {n_splits} rows, got {len(dataset.y)}; lower "
                f"protocol.n_splits."
            )
        return TimeSeriesSplit(n_splits)


class AbstractStatedFolds(AbstractFolds):
    """Folds that the data set states: how many there are is known when it is loaded."""

    fixed: ClassVar[Mapping[str, Any]] = {"n_splits": None, "repeats": 1}

    def count_folds(self, dataset: Dataset) -> int:
        """Return the number of folds of a data set."""
        return self.splitter(dataset, 0, 0).get_n_splits(dataset.X, dataset.y, dataset.groups)


class LeaveOneGroupOut(AbstractStatedFolds):
    """Test on each group of rows, and train on all other groups."""

    name = "leave_one_group_out"

    def splitter(self, dataset: Dataset, n_splits: int, split_seed: int) -> BaseCrossValidator:
        """Return a splitter with a fold for each group."""
        from sklearn.model_selection import LeaveOneGroupOut as Splitter

        if dataset.groups is None or np.unique(dataset.groups).size < 2:
            raise ValueError(
                f"data set {dataset.name}: expected at least two groups of rows for the split {self.name}, got "
                f"{'none' if dataset.groups is None else 'one'}; name their column by dataset.groups, or use "
                f"protocol=tenfold."
            )
        return Splitter()


class FixedFolds(AbstractStatedFolds):
    """Test on each fold that a column of the table states, and train on all other rows."""

    name = "fixed_folds"

    def splitter(self, dataset: Dataset, n_splits: int, split_seed: int) -> BaseCrossValidator:
        """Return a splitter with the folds of the data set."""
        from sklearn.model_selection import PredefinedSplit

        found = () if dataset.folds is None else np.unique(dataset.folds[dataset.folds >= 0])
        if len(found) < 2:
            raise ValueError(
                f"data set {dataset.name}: expected at least two folds for the split {self.name}, got "
                f"{len(found) or 'none'}; name their column by dataset.fold, or use protocol=tenfold."
            )
        return PredefinedSplit(dataset.folds)


class OfficialSplit(AbstractPrediction, AbstractOwnSplit):
    """Train on the data set's own training rows and test on its test rows."""

    name = "official"


class AbstractWholeRows(AbstractProtocol):
    """A protocol on all rows: none are tested, and repeats differ in their seed only."""

    fixed: ClassVar[Mapping[str, Any]] = {"n_splits": 1, "setting": "unsupervised"}
    repeats_are_seeds = True

    def rows(self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int) -> tuple[Rows, Rows]:
        """Return all rows; nothing else is used."""
        return np.arange(len(dataset.y)), np.arange(0)


class Clustering(AbstractWholeRows):
    """Cluster all rows on the selected features, and compare with their classes.

    The clusterer of a repeat has one seed for all methods: they differ in what they select only.
    """

    name = "all_rows"
    clusters = True
    keeps_fold = True
    columns = (
        *columns("number", "error", "nmi", low=0, high=1),
        *columns("number", "ari", low=-1, high=1),
        *columns("number", "cost", low=0),
        *certificate_columns(SpectralSparsification, OnlineScoreSum, ClusteringCost, PartitionCost),
        *columns("seconds", "train_cpu", "train_wall"),
    )

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, scores of the partition, and certificates."""
        from provlab.protocols.fitting import fit_selector, is_certified, own_measures
        from provsel.kernels.clustering_cost import kmeans_cost

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
            record |= certify_trial(trial, margin=False, radius=False, also=(ClusteringCost, PartitionCost)).as_record()
        return record | own_measures(method, trial)


class SelectionOnly(AbstractWholeRows):
    """Time the selection on all rows; no model is fitted."""

    name = "selection_only"
    uses_model = False
    columns = (
        *certificate_columns(SpectralSparsification, OnlineScoreSum),
        *columns("seconds", "pass_cpu", "pass_wall"),
    )

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, its cost, and what can be certified without labels."""
        from provlab.protocols.fitting import fit_selector, is_certified, own_measures

        fitted = fit_selector(method, seed, fold.view)
        record = fitted.as_record(fold) | _search_and_pass(fitted, seed)
        trial = MeasuredTrial(fitted.reducer, fitted.rows, fold.X_test, fold.y_test)
        if is_certified(method, fitted.reducer):
            record |= certify_trial(trial, margin=False, radius=False).as_record()
        return record | own_measures(method, trial)


def _search_and_pass(fitted: Fitted, seed: int) -> Record:
    """Time the fit again with what its search found, where the method searches for a parameter."""
    from provsel.training_view import Cost, TrainingView

    if not hasattr(fitted.reducer, "calibrated"):
        return {}
    start = Cost.now()
    again = fitted.reducer.calibrated().set_params(random_state=seed).fit_view(TrainingView(fitted.rows.X))
    cost = Cost.now() - start
    if not np.array_equal(again.indices_, fitted.reducer.indices_):
        raise ArithmeticError(f"{type(again).__name__}: the pass at the calibrated rate keeps other features.")
    return {"pass_cpu": cost.cpu, "pass_wall": cost.wall}


def cluster_rows(reducer: Any, model: Any, view: TrainingView) -> Any:
    """Return a copy of a clusterer, fitted on the reduced rows of `view`: as many clusters as classes by default.

    Rows without features are one cluster.
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
    """Return how well clusters agree with the classes.

    Parameters
    ----------
    y, labels : ndarray of shape (n,)
        Classes and clusters, of any values.

    Returns
    -------
    dict
        error, the fraction of rows that are not in the cluster of their class, for the best matching of the two: a
        cluster is matched with one class at most, and a class with one cluster. Rows of clusters that are left over
        count as wrong. nmi, the mutual information over the mean of both entropies, and ari, the Rand index adjusted
        for chance: both scikit-learn's.
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    y, labels = (np.unique(each, return_inverse=True)[1] for each in (y, labels))
    table = contingency_matrix(y, labels)
    return {
        "error": 1.0 - float(table[linear_sum_assignment(table, maximize=True)].sum() / y.size),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "ari": float(adjusted_rand_score(y, labels)),
    }
