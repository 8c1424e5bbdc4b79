"""Base classes of protocols, which declare columns, settings, rows of folds, and invalid settings.

scikit-learn is imported only when needed, because plans and stores are read without it.
"""

from __future__ import annotations

import json
import logging
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provlab.core.protocols.importances import check_importances
from provlab.core.protocols.scorers import Scorers, stated_scorers
from provlab.project.components import build, component_class, component_json
from provsel.certificates import NOT_MEASURED, Theorem

if TYPE_CHECKING:
    from provlab.data import Dataset

log = logging.getLogger(__name__)

Kind = Literal[
    "text",
    "int32",
    "int64",
    "number",
    "seconds",
    "volatile bytes",
    "features",
    "counts",
    "names",
    "weights",
]


class Column(NamedTuple):
    """A column of a record.

    Attributes
    ----------
    name : str
    kind : str
        "text", "int32", "int64" or "number"; "features" and "counts" are lists of
        int32, and "names" and "weights" lists of strings and numbers. "seconds" and
        "volatile bytes" differ between two runs of the same trial on the same machine.
    default : value
        Value for a trial whose protocol measures something else.
    low, high : float
        Ends of the range of values, or of list elements; foreign classes have no range.
    """

    name: str
    kind: Kind
    default: Any = None
    low: float = -math.inf
    high: float = math.inf


def columns(
    kind: Kind, *names: str, low: float = -math.inf, high: float = math.inf
) -> tuple[Column, ...]:
    """Return columns of one kind and range, empty by default; seconds and bytes are never negative."""
    if kind in ("seconds", "volatile bytes"):
        low, high = 0.0, sys.float_info.max
    return tuple(Column(name, kind, low=low, high=high) for name in names)


def certificate_columns(*theorems: type[Theorem]) -> tuple[Column, ...]:
    """Return the distinct columns of theorems; a trial that does not measure them states that."""
    declared: dict[str, Column] = {}
    for theorem in theorems:
        for name, kind in theorem.columns().items():
            declared[name] = (
                Column(name, "text", NOT_MEASURED)
                if kind is str
                else Column(name, "number", math.nan)
            )
    return tuple(declared.values())


Rows = NDArray[np.int64]

FOLD_COLUMNS = columns("int32", "n_train", "n_test", "n_features", low=0)
"""Sizes of a fold."""


def rarest_class(dataset: Dataset, rows: Rows | slice = slice(None)) -> tuple[str, int]:
    """Return the name of the rarest class among the given rows, and the number of its rows."""
    classes, codes = np.unique(dataset.y, return_inverse=True)
    counts = np.bincount(codes[rows], minlength=classes.size)
    k = int(counts.argmin())
    return str(classes[k]) if dataset.class_names is None else repr(
        str(dataset.class_names[k])
    ), int(counts[k])


def check_rows(
    dataset: Dataset, train: Rows, test: Rows, fold: int, *, every_class: bool = True
) -> None:
    """Raise if a fold has no test rows, splits a group, or has training rows that lack a class.

    Without `every_class`, a class may be missing, as scikit-learn allows for given
    splits.

    Raises
    ------
    ValueError
        If this is the case. The message names the group or class, and an alternative.
    """
    if not test.size:
        raise ValueError(
            f"data set {dataset.name}: expected test rows in fold {fold}, got none; lower protocol.n_splits, because "
            f"there are few groups or their sizes differ much."
        )
    if dataset.groups is not None:
        both = np.intersect1d(dataset.groups[train], dataset.groups[test])
        if both.size:
            raise ValueError(
                f"data set {dataset.name}: expected each group on one side of fold {fold}, got {both.size} with "
                f"training rows and test rows, such as group {both[0]}; use protocol=tenfold, which keeps groups "
                f"whole, or leave out dataset.groups."
            )
    if dataset.is_regression or not every_class:
        return
    label, n_rows = rarest_class(dataset, train)
    if n_rows == 0:
        raise ValueError(
            f"data set {dataset.name}: expected training rows of each class in fold {fold}, got none of class {label}; "
            f"choose other folds, such as protocol=tenfold, or leave out that class."
        )


SETTINGS = ("supervised", "unsupervised", "unsupervised_with_center")
"""Rows for selection: support vectors of the model on all features; all training rows; these and the centre of their
ball."""

Record = dict[str, Any]

MODELS = {
    False: "model=libsvm, model=liblinear or model=logistic",
    True: "model=ridge, model=lasso or model=svr",
}
"""Suggested models for classes (False) and for a regression (True)."""


@dataclass(frozen=True)
class Method:
    """Method of a cell: the configs of a selector and a model, and how they are used."""

    selector: Mapping[str, Any]
    model: Mapping[str, Any]
    setting: str
    certify: bool
    measures: tuple[Mapping[str, Any], ...] = ()
    scoring: Scorers = field(default_factory=dict)
    limit: float | None = None


SELECTED = (
    *columns("text", "selector"),
    *columns("int32", "n_rows", low=0),
    *columns("int32", "rank"),
    *columns("int32", "n_selected", low=0),
    *columns("int32", "n_repeats"),
    *columns("number", "sampling_rate"),
    *columns("features", "features", low=0),
    *columns("names", "feature_names"),
    *columns("weights", "coefficients"),
    *columns("seconds", "select_cpu", "select_wall", "shared_cpu", "shared_wall"),
)
"""Columns of every selection, see `fitting.Fitted.as_record`. `feature_names` names the selected columns if a
preparation created columns, which may differ between folds. `coefficients` are those of a linear model with one
coefficient vector, in the order of selection, if there are at most `fitting.MAX_COEFFICIENTS`.
"""


@cache
def _warn_once(setting: str, split: str) -> None:
    # once, because an artefact may have thousands of such cells
    log.warning("%s does not apply to %s", setting, split)


@lru_cache(maxsize=4096)
def _kind(model: str) -> str | None:
    """Return scikit-learn's type of an estimator; cached, because thousands of cells share few models."""
    from sklearn.utils import get_tags

    return get_tags(build("model", json.loads(model)["config"])).estimator_type


@lru_cache(maxsize=4096)
def _takes_weights(model: str) -> bool:
    from sklearn.utils.validation import has_fit_parameter

    return bool(
        has_fit_parameter(build("model", json.loads(model)["config"]), "sample_weight")
    )


def predicts_numbers(model: Mapping[str, Any]) -> bool:
    """Return whether the config of a model is that of a regression."""
    return _kind(component_json("model", model)) == "regressor"


class AbstractProtocol(ABC):
    """Declaration of how the trials of a cell are measured by `provlab.run.measuring`.

    Attributes
    ----------
    name : str
        Value of `protocol.split` in configs and keys.
    trial : str
        Name of the measurement of a trial in `provlab.run.measuring.MEASURED`.
    fixed : mapping
        Settings with fixed values, which settings of a sweep or artefact for k-fold
        columns do not change.
    repeats_are_seeds : bool
        Whether all repeats have the same rows, so that a task is one repeat of one
        cell.
    keeps_fold : bool
        Whether the tasks of a worker share the fold, because nothing in it depends on
        the repeat and costs from scratch are not measured.
    uses_model, clusters, scores, limits, measures_memory : bool
        Whether a model is fitted, whether it clusters, whether its predictions for test
        rows are judged here, whether `protocol.limit` ends a selection, and whether the
        memory of a selection is measured.
    every_class : bool
        Whether the training rows of a fold must have rows of each class.
    columns : tuple of Column
        Measurements of a trial in addition to the selection, see
        `provlab.run.measuring`.
    """

    name: ClassVar[str]
    trial: ClassVar[str]
    fixed: ClassVar[Mapping[str, Any]] = {}
    repeats_are_seeds: ClassVar[bool] = False
    keeps_fold: ClassVar[bool] = False
    uses_model: ClassVar[bool] = True
    clusters: ClassVar[bool] = False
    scores: ClassVar[bool] = False
    limits: ClassVar[bool] = False
    measures_memory: ClassVar[bool] = False
    every_class: ClassVar[bool] = True
    columns: ClassVar[tuple[Column, ...]]

    def complete_settings(self, protocol: Mapping[str, Any]) -> dict[str, Any]:
        """Return the effective settings of a config; warn about settings that do not apply."""
        for name, value in self.fixed.items():
            if protocol.get(name, value) != value:
                says = (
                    "whose folds are those of the data"
                    if value is None
                    else f"which has {name} = {value}"
                )
                _warn_once(
                    f"protocol.{name}={protocol[name]}",
                    f"the split {self.name}, {says}",
                )
        settings = {**protocol, **self.fixed}
        if protocol.get("scoring"):
            scorers = stated_scorers(protocol["scoring"])
            is_plain = all(name == scorer for name, scorer in scorers.items())
            settings["scoring"] = list(scorers) if is_plain else scorers
        return settings

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Raise if this protocol cannot measure a cell.

        Raises
        ------
        ValueError
            If it cannot. The message names the setting and an alternative.
        """
        from provsel.selectors import BaseSelector

        selector = component_class("selector", method.selector)
        if method.setting not in SETTINGS:
            raise ValueError(
                f"protocol.setting: expected one of {SETTINGS}, got {method.setting!r}."
            )
        selects = issubclass(selector, BaseSelector) or (
            method.setting == "supervised" and hasattr(selector, "get_support")
        )
        if method.setting != "unsupervised" and not selects:
            raise ValueError(
                f"protocol.setting: expected protocol.setting=unsupervised with {selector.__name__}, which selects "
                f"no features, "
                f"got {method.setting!r}."
            )
        check_importances(component_json("selector", method.selector))
        for name in ("repeats", "draws"):
            if not isinstance(protocol[name], int) or protocol[name] < 1:
                raise ValueError(
                    f"protocol.{name}: expected a positive integer, got {protocol[name]!r}."
                )
        for name, value in self.fixed.items():
            if value not in (None, protocol[name]):
                raise ValueError(
                    f"protocol.{name}: expected {value!r} for the split {self.name}, got {protocol[name]!r}."
                )
        if (
            self.uses_model
            and (_kind(component_json("model", method.model)) == "clusterer")
            != self.clusters
        ):
            raise ValueError(
                f"protocol.split: expected all_rows together with a clustering model, and with no other, got "
                f"{self.name} with {method.model['_target_']}; use protocol=clustering model=kmeans together."
            )
        needs_support = (
            self.uses_model
            and method.setting == "supervised"
            and predicts_numbers(method.model)
        )
        if needs_support and not hasattr(
            component_class("model", method.model), "n_support_"
        ):
            raise ValueError(
                f"protocol.setting: expected protocol.setting=unsupervised with {method.model['_target_']}, which "
                f"has no support "
                f"vectors, got 'supervised'; add protocol.setting=unsupervised."
            )
        if method.limit is not None and not self.limits:
            raise ValueError(
                f"protocol.limit: the split {self.name} never stops a selection, so no limit can be set, got "
                f"{method.limit!r:.80}; leave it out, or use protocol=benchmark."
            )
        if method.scoring and not self.scores:
            raise ValueError(
                f"protocol.scoring: the split {self.name} predicts no test rows, so no scorer can be set, got "
                f"{', '.join(method.scoring):.200}; leave it out, or use protocol=tenfold."
            )
        if method.scoring:
            from provlab.core.protocols.scoring import check_scorers

            check_scorers(method.scoring, build("model", method.model))

    def check_data(self, method: Method, dataset: Dataset) -> None:
        """Raise if the model does not fit the target or the weights of a data set.

        Raises
        ------
        ValueError
            If it does not. The message names models that fit.
        """
        if not self.uses_model:
            return
        target, wanted = method.model["_target_"], dataset.is_regression
        has_weights = dataset.sample_weight is not None
        if not self.scores and (wanted or has_weights):
            raise ValueError(
                f"protocol.split: expected classes without sample_weight for {self.name}, got "
                f"{'a numeric target' if wanted else 'sample_weight'}; use protocol=tenfold"
                f"{' model=ridge' if wanted else ', or leave out dataset.sample_weight'}."
            )
        if predicts_numbers(method.model) != wanted:
            raise ValueError(
                f"model: expected a model that predicts {'real numbers' if wanted else 'classes'}, as in the data, "
                f"got {target}; choose {MODELS[wanted]}, or set dataset.task="
                f"{'classification' if wanted else 'regression'} if that is what the target of your own file means."
            )
        if has_weights and not _takes_weights(component_json("model", method.model)):
            raise ValueError(
                f"model: expected a model that takes the sample_weight of the data, got {target}; choose "
                f"{MODELS[True] if wanted else 'model=logistic'}, or leave out dataset.sample_weight."
            )

    @abstractmethod
    def rows(
        self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int
    ) -> tuple[Rows, Rows]:
        """Return the training and test rows of a fold of the repeat with seed `split_seed`."""

    def check_folds(self, dataset: Dataset, n_splits: int) -> None:
        """Raise if no method can run on a data set because no fold is valid.

        Raises
        ------
        ValueError
            If so. The message states the reason for the first fold.
        """
        self.rows(dataset, n_splits=n_splits, split_seed=0, fold=0)


class AbstractOwnSplit(AbstractProtocol):
    """A protocol on the data set's own training and test rows, with one split and one repeat."""

    fixed: ClassVar[Mapping[str, Any]] = {"n_splits": 1, "repeats": 1}

    def rows(
        self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int
    ) -> tuple[Rows, Rows]:
        """Return the official split of the data set; the other arguments are not used."""
        if dataset.official_train is None:
            raise ValueError(
                f"data set {dataset.name}: expected an official split, got none; use protocol=tenfold, "
                f"or load a form of the data set that has its test rows (such as dataset.part=all)."
            )
        return dataset.official_train.nonzero()[0], (~dataset.official_train).nonzero()[
            0
        ]
