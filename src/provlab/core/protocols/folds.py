"""Protocols: train on some rows and test on others, cluster all rows, select on them, or train from a file."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from provlab.core.protocols.base import (
    AbstractOwnSplit,
    AbstractProtocol,
    Method,
    Rows,
    certificate_columns,
    check_rows,
    columns,
    rarest_class,
)
from provlab.data import rows_from
from provlab.project.components import build, component_class
from provsel.certificates import (
    ClusteringCost,
    CompressedRecovery,
    FeatureSelectiveRecovery,
    MarginPreservation,
    OnlineScoreSum,
    PartitionCost,
    RadiusPreservation,
    SoftMarginBound,
    SpectralSparsification,
)

if TYPE_CHECKING:
    from sklearn.model_selection import BaseCrossValidator

    from provlab.data import Dataset


MAX_TRAIN_ROWS = 2000
"""Maximum number of training rows in the benchmark; larger data sets are sampled. A change requires new names of the
splits that use it.
"""


class AbstractPrediction(AbstractProtocol):
    """A protocol that trains on some rows and tests on others.

    A regression has r2, rmse and mae instead of the error: R^2 on the test rows, and
    errors in units of the target.
    """

    trial = "predictions"
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


class AbstractFolds(AbstractPrediction):
    """Train and test on the folds of a scikit-learn splitter."""

    fewest_folds: ClassVar[int] = 2

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Also raise if there are fewer folds than `fewest_folds`."""
        if (
            not isinstance(protocol["n_splits"], int)
            or protocol["n_splits"] < self.fewest_folds
        ):
            least = self.fewest_folds - 1
            raise ValueError(
                f"protocol.n_splits: expected an integer above {least}, got {protocol['n_splits']!r}."
            )
        super().check(protocol, method)

    @abstractmethod
    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return a scikit-learn splitter for a data set; raise if such folds are impossible."""

    def splits(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> Iterator[tuple[Rows, Rows]]:
        """Return the training and test rows of each fold."""
        splitter = self.splitter(dataset, n_splits, split_seed)
        return iter(
            splitter.split(
                np.zeros(len(dataset.y)),
                dataset.y,
                groups_for(splitter, dataset.groups),
            )
        )

    def rows(
        self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int
    ) -> tuple[Rows, Rows]:
        """Return one fold of the splitter."""
        return next(islice(self.splits(dataset, n_splits, split_seed), fold, None))

    def check_folds(self, dataset: Dataset, n_splits: int) -> None:
        """Raise if no fold of a data set has test rows and training rows of each class."""
        first = None
        for fold, (train, test) in enumerate(
            self.splits(dataset, n_splits, split_seed=0)
        ):
            try:
                check_rows(dataset, train, test, fold, every_class=self.every_class)
            except ValueError as error:
                first = first or error
            else:
                return
        if first is not None:
            raise first


class KFold(AbstractFolds):
    """Train on all folds but one and test on that one, with folds shuffled by the seed of the repeat.

    Folds are stratified, and groups of rows are not split.
    """

    name = "kfold"

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return a shuffled splitter, stratified for classes, that keeps any groups together."""
        from sklearn import model_selection

        n_groups = None if dataset.groups is None else np.unique(dataset.groups).size
        if n_groups is not None and n_groups < n_splits:
            step = f"lower protocol.n_splits to {n_groups}, or use protocol=leave_one_group_out"
            raise ValueError(
                f"data set {dataset.name}: expected at least n_splits = {n_splits} groups, got {n_groups}; "
                f"{step if n_groups > 1 else 'leave out dataset.groups, because all rows are in one group'}."
            )
        if len(dataset.y) < n_splits:
            raise ValueError(
                f"data set {dataset.name}: expected at least n_splits = {n_splits} rows, got {len(dataset.y)}; lower "
                f"protocol.n_splits."
            )
        if not dataset.is_regression:
            check_class_sizes(dataset, n_splits)
        name = f"{'' if dataset.is_regression else 'Stratified'}{'' if n_groups is None else 'Group'}KFold"
        return getattr(model_selection, name)(
            n_splits, shuffle=True, random_state=split_seed
        )


def check_class_sizes(dataset: Dataset, n_splits: int) -> None:
    """Raise if a class has fewer rows than there are folds.

    Raises
    ------
    ValueError
        If so. The message names the smallest class and an alternative.
    """
    label, smallest = rarest_class(dataset)
    if smallest < n_splits:
        lower = f"lower protocol.n_splits to {smallest}, " if smallest > 1 else ""
        raise ValueError(
            f"data set {dataset.name}: expected at least n_splits = {n_splits} rows of each class, got {smallest} of "
            f"class {label}; {lower}leave out such classes with +dataset.min_class_size={n_splits}, or state your "
            f"own folds with dataset.fold and protocol=fixed_folds."
        )


class InverseKFold(KFold):
    """Train on one fold and test on all others."""

    name = "kfold_inverse"

    def splits(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> Iterator[tuple[Rows, Rows]]:
        """Yield the folds of the shuffled split with training and test rows swapped."""
        for rest, single_fold in super().splits(dataset, n_splits, split_seed):
            yield single_fold, rest


class TimeOrder(AbstractFolds):
    """Test on successive blocks of rows, ordered by time, and train on all rows before each."""

    name = "time_order"
    fixed: ClassVar[Mapping[str, Any]] = {"repeats": 1}

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return scikit-learn's splitter for time series."""
        return blocks_of_time(dataset, n_splits)


def blocks_of_time(
    dataset: Dataset, n_splits: int, max_train_size: int | None = None
) -> BaseCrossValidator:
    """Return scikit-learn's splitter for time series, with an optional limit on training rows.

    Raises
    ------
    ValueError
        If there are fewer rows than blocks.
    """
    from sklearn.model_selection import TimeSeriesSplit

    if n_splits >= len(dataset.y):
        raise ValueError(
            f"data set {dataset.name}: expected more than n_splits = {n_splits} rows, got {len(dataset.y)}; lower "
            f"protocol.n_splits."
        )
    return TimeSeriesSplit(n_splits, max_train_size=max_train_size)


class AbstractStatedFolds(AbstractFolds):
    """Folds given by the data set, whose number is known only after loading."""

    fixed: ClassVar[Mapping[str, Any]] = {"n_splits": None, "repeats": 1}

    def count_folds(self, dataset: Dataset) -> int:
        """Return the number of folds of a data set."""
        return self.splitter(dataset, 0, 0).get_n_splits(
            dataset.X, dataset.y, dataset.groups
        )


class LeaveOneGroupOut(AbstractStatedFolds):
    """Test on each group of rows and train on all other groups."""

    name = "leave_one_group_out"

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return a splitter with a fold for each group."""
        from sklearn.model_selection import LeaveOneGroupOut as Splitter

        if dataset.groups is None or np.unique(dataset.groups).size < 2:
            raise ValueError(
                f"data set {dataset.name}: expected at least two groups of rows for the split {self.name}, got "
                f"{'none' if dataset.groups is None else 'one'}; name their column with dataset.groups, or use "
                f"protocol=tenfold."
            )
        return Splitter()


class FixedFolds(AbstractStatedFolds):
    """Test on each fold in a column of the table and train on all other rows."""

    name = "fixed_folds"

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return a splitter with the folds of the data set."""
        from sklearn.model_selection import PredefinedSplit

        folds = (
            ()
            if dataset.folds is None
            else np.unique(dataset.folds[dataset.folds >= 0])
        )
        if len(folds) < 2:
            raise ValueError(
                f"data set {dataset.name}: expected at least two folds for the split {self.name}, got "
                f"{len(folds) or 'none'}; name their column with dataset.fold, or use protocol=tenfold."
            )
        return PredefinedSplit(dataset.folds)


class GivenSplits(AbstractStatedFolds):
    """Train and test on the rows in a file of splits, whatever their number and size."""

    name = "given_splits"
    every_class = False
    fewest_folds = 1

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return scikit-learn's splitter for given splits."""
        from sklearn.model_selection import check_cv

        if dataset.splits is None:
            raise ValueError(
                f"data set {dataset.name}: expected given splits for the split {self.name}, got none; name their "
                f"file with "
                f"dataset.splits, or use protocol=tenfold."
            )
        return check_cv(dataset.splits)


class SplitterFolds(AbstractStatedFolds):
    """Train and test on the rows given by `protocol.cv`, a splitter in scikit-learn's style.

    A random splitter without `random_state` gets the seed of the folds.
    """

    name = "splitter"
    every_class = False
    fewest_folds = 1

    def __init__(self, cv: str = "null") -> None:
        self.cv = cv

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Also raise if `protocol.cv` is not a splitter."""
        self._built()
        super().check(protocol, method)

    def _built(self) -> Any:
        config = json.loads(self.cv)
        if not isinstance(config, dict):
            raise ValueError(
                f"protocol.cv: expected a mapping with the _target_ of a splitter, got {config!r:.80}; set for "
                f"example protocol.cv._target_=sklearn.model_selection.RepeatedKFold."
            )
        return build("splitter", config)

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return the splitter that the config names."""
        splitter = self._built()
        if getattr(splitter, "random_state", 0) is None:
            splitter.random_state = split_seed
        return splitter

    def splits(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training and test rows of each fold; any error of a foreign class becomes a ValueError."""
        splitter = self.splitter(dataset, n_splits, split_seed)
        with _faults_of(splitter, dataset):
            for train, test in splitter.split(
                dataset.X, dataset.labels, groups_for(splitter, dataset.groups)
            ):
                yield rows_from(train, dataset.n_rows), rows_from(test, dataset.n_rows)

    def count_folds(self, dataset: Dataset) -> int:
        """Return the number of folds; they are counted if the splitter does not state it."""
        splitter = self.splitter(dataset, 0, 0)
        if hasattr(splitter, "get_n_splits"):
            with _faults_of(splitter, dataset):
                groups = groups_for(splitter, dataset.groups)
                return int(splitter.get_n_splits(dataset.X, dataset.labels, groups))
        return sum(1 for _ in self.splits(dataset, 0, 0))


@contextmanager
def _faults_of(splitter: Any, dataset: Dataset) -> Iterator[None]:
    """Turn any error of a splitter, which may be third-party code, into a ValueError that names the data set."""
    try:
        yield
    except Exception as error:
        text = f"{type(error).__name__}: {error}".rstrip(".")
        raise ValueError(
            f"data set {dataset.name}: expected splits of {type(splitter).__name__}, got {text}; change its "
            f"arguments, protocol.cv."
        ) from error


def groups_for(splitter: Any, groups: Any) -> Any:
    """Return groups only for splitters that use them, because other scikit-learn splitters warn about them."""
    is_of_scikit_learn = type(splitter).__module__.startswith("sklearn.")
    return (
        groups if "Group" in type(splitter).__name__ or not is_of_scikit_learn else None
    )


class OfficialSplit(AbstractPrediction, AbstractOwnSplit):
    """Train on the official training rows of the data set and test on its test rows."""

    name = "official"


class AbstractWholeRows(AbstractProtocol):
    """A protocol on all rows without a test, whose repeats differ only in their seed."""

    fixed: ClassVar[Mapping[str, Any]] = {"n_splits": 1, "setting": "unsupervised"}
    repeats_are_seeds = True

    def rows(
        self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int
    ) -> tuple[Rows, Rows]:
        """Return all rows; the other arguments are not used."""
        return np.arange(len(dataset.y)), np.arange(0)


class Clustering(AbstractWholeRows):
    """Cluster all rows on the selected features, and compare the clusters with the classes.

    The clusterer of a repeat has the same seed for all methods, so methods differ only
    in their selections.
    """

    name = "all_rows"
    trial = "clusters"
    clusters = True
    keeps_fold = True
    columns = (
        *columns("number", "error", "nmi", low=0, high=1),
        *columns("number", "ari", low=-1, high=1),
        *columns("number", "cost", low=0),
        *certificate_columns(
            SpectralSparsification, OnlineScoreSum, ClusteringCost, PartitionCost
        ),
        *columns("seconds", "train_cpu", "train_wall"),
    )


class SelectionOnly(AbstractWholeRows):
    """Time the selection on all rows without fitting a model."""

    name = "selection_only"
    trial = "selection"
    uses_model = False
    columns = (
        *certificate_columns(SpectralSparsification, OnlineScoreSum),
        *columns("seconds", "pass_cpu", "pass_wall"),
    )


class BenchmarkFolds(KFold):
    """Like `KFold`, but failures are recorded and not retried, and the memory of selections is measured.

    `protocol.limit` is the limit in CPU seconds of a selection, including shared work.
    After a method was stopped, the same process does not try it again on the data set,
    in any fold, with as many features or more. `class_rows` and `class_errors` count
    the test rows of each class, in order, and the misclassified ones. A panel has
    hundreds of thousands of trials, so numbers have single precision, and records have
    no coefficients. They have feature names only if a preparation creates columns that
    are not in the data.
    """

    name = "benchmark"
    trial = "predictions within a limit"
    fixed: ClassVar[Mapping[str, Any]] = {"setting": "unsupervised"}
    limits = True
    measures_memory = True
    columns = (
        *KFold.columns,
        *columns("text", "failure"),
        *columns("counts", "class_rows", "class_errors", low=0),
        *columns("number", "subset_ratio", low=0),
        *columns("volatile bytes", "peak_memory"),
    )

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Also raise for a limit that is not a number of seconds."""
        check_limit(self.name, method)
        super().check(protocol, method)


def check_limit(split: str, method: Method) -> None:
    """Raise if the limit of a selection is not a number of seconds."""
    if not isinstance(method.limit, int | float) or not method.limit > 0:
        raise ValueError(
            f"protocol.limit: expected a positive number of CPU seconds with the split {split}, got "
            f"{method.limit!r:.80}; set for example protocol.limit=300."
        )


class BenchmarkSample(BenchmarkFolds):
    """Train on a stratified sample of `MAX_TRAIN_ROWS` rows and test on all other rows.

    Use it for data sets with more than 5/4 of that number of rows. For smaller ones,
    five folds do not train on more rows and test each row once. The samples of a repeat
    are drawn independently, so test rows occur in several folds.
    """

    name = "benchmark_sample"

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return scikit-learn's splitter for random samples, stratified for classes."""
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        most = MAX_TRAIN_ROWS * 5 // 4
        if len(dataset.y) <= most or dataset.groups is not None:
            got = (
                f"{len(dataset.y)} rows" if dataset.groups is None else "groups of rows"
            )
            raise ValueError(
                f"data set {dataset.name}: expected more than {most} rows without groups for the split "
                f"{self.name}, got {got}; use protocol=benchmark."
            )
        kind = ShuffleSplit if dataset.is_regression else StratifiedShuffleSplit
        return kind(n_splits, train_size=MAX_TRAIN_ROWS, random_state=split_seed)


class BenchmarkTimeOrder(BenchmarkFolds):
    """Test on successive blocks of rows and train on the `MAX_TRAIN_ROWS` rows before each."""

    name = "benchmark_time_order"
    fixed: ClassVar[Mapping[str, Any]] = {**BenchmarkFolds.fixed, "repeats": 1}

    def splitter(
        self, dataset: Dataset, n_splits: int, split_seed: int
    ) -> BaseCrossValidator:
        """Return scikit-learn's splitter for time series."""
        return blocks_of_time(dataset, n_splits, MAX_TRAIN_ROWS)


class BenchmarkSplitter(SplitterFolds):
    """Like `SplitterFolds`, with the records of `BenchmarkFolds`."""

    name = "benchmark_splitter"
    trial = BenchmarkFolds.trial
    fixed: ClassVar[Mapping[str, Any]] = {**SplitterFolds.fixed, **BenchmarkFolds.fixed}
    fewest_folds = 2
    limits = True
    measures_memory = True
    columns = BenchmarkFolds.columns

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Also raise for a limit that is not a number of seconds."""
        check_limit(self.name, method)
        super().check(protocol, method)


class StreamedTraining(AbstractOwnSplit):
    """Train on the data set's own split from a file, in a separate process whose memory is measured."""

    name = "streamed"
    trial = "training from a file"
    columns = (
        *columns("number", "error", low=0, high=1),
        *columns("number", "objective"),
        *columns("seconds", "train_cpu", "train_wall"),
        *columns("int64", "file_bytes", low=0),
        *columns("volatile bytes", "peak_memory"),
    )

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Raise for a selector, because the model trains on rows of the file, and for models that are not linear."""
        from provsel.models import BaseLinearSVM
        from provsel.selectors import FullDataSelector

        super().check(protocol, method)
        if method.measures:
            raise ValueError(
                "protocol.measures: measures cannot be set with the split streamed, whose model is in another process."
            )
        selector = component_class("selector", method.selector)
        if selector is not FullDataSelector or method.setting != "unsupervised":
            raise ValueError(
                f"protocol.split: the split streamed trains on unchanged rows from a file and needs "
                f"selector=full and setting=unsupervised; got {selector.__name__} and {method.setting}."
            )
        if not issubclass(component_class("model", method.model), BaseLinearSVM):
            raise ValueError(
                f"protocol.split: the split streamed needs a linear model, got {method.model['_target_']}; use "
                f"model=..."
            )
