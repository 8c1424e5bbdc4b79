"""The base of all protocols: a class says which rows train and test, what is measured, and which columns that fills."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from provlab.keys import canonical_json
from provlab.project.components import build, component_class
from provlab.protocols.columns import Column
from provlab.protocols.fold import Fold
from provlab.protocols.method import SETTINGS, Method, Record

if TYPE_CHECKING:
    from provlab.datasets import Dataset

log = logging.getLogger(__name__)


@cache
def _warn_once(setting: str, split: str) -> None:
    log.warning("%s does not apply to %s", setting, split)  # an artefact may have thousands of such cells


@lru_cache(maxsize=4096)
def _clusters(model: str) -> bool:
    """Tell whether a model clusters; thousands of cells have the same few."""
    from sklearn.base import is_clusterer

    return bool(is_clusterer(build("model", json.loads(model))))


class AbstractProtocol(ABC):
    """How the trials of a cell are measured.

    Attributes
    ----------
    name : str
        `protocol.split` in configs and keys.
    fixed : mapping
        Settings that have one value here: what a sweep or an artefact sets for its k-fold columns does not apply.
    repeats_are_seeds : bool
        All repeats have the same rows, and a task is one repeat of one cell.
    keeps_fold : bool
        The tasks of a worker share the fold: nothing in it depends on the repeat, and no cost from nothing is measured.
    uses_model, clusters : bool
        Whether a model is fitted, and whether it clusters.
    columns : tuple of Column
        What `run` measures beside the selection.
    """

    name: ClassVar[str]
    fixed: ClassVar[Mapping[str, Any]] = {}
    repeats_are_seeds: ClassVar[bool] = False
    keeps_fold: ClassVar[bool] = False
    uses_model: ClassVar[bool] = True
    clusters: ClassVar[bool] = False
    columns: ClassVar[tuple[Column, ...]]

    def completed(self, protocol: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a config as they apply; of one that does not, a warning says so."""
        for name, value in self.fixed.items():
            if protocol.get(name, value) != value:
                _warn_once(f"protocol.{name}={protocol[name]}", f"the split {self.name}, which has {name} = {value}")
        return {**protocol, **self.fixed}

    def check(self, protocol: Mapping[str, Any], method: Method) -> None:
        """Refuse a cell that cannot be measured in this way.

        Raises
        ------
        ValueError
            Names the setting, and what to choose instead.
        """
        from provsel.selectors import BaseSelector

        selector = component_class("selector", method.selector)
        if method.setting not in SETTINGS:
            raise ValueError(f"protocol.setting: expected one of {SETTINGS}, got {method.setting!r}.")
        selects = issubclass(selector, BaseSelector) or (
            method.setting == "supervised" and hasattr(selector, "get_support")
        )
        if method.setting != "unsupervised" and not selects:
            raise ValueError(
                f"protocol.setting: expected unsupervised with {selector.__name__}, which selects no features, "
                f"got {method.setting!r}."
            )
        for name in ("repeats", "draws"):
            if not isinstance(protocol[name], int) or protocol[name] < 1:
                raise ValueError(f"protocol.{name}: expected a positive integer, got {protocol[name]!r}.")
        self.check_folds(protocol)
        if self.uses_model and _clusters(canonical_json(method.model)) != self.clusters:
            raise ValueError(
                f"protocol.split: expected all_rows with a model that clusters, and only with such a one, "
                f"got {self.name} with {method.model['_target_']}; use protocol=clustering model=kmeans together."
            )

    @abstractmethod
    def check_folds(self, protocol: Mapping[str, Any]) -> None:
        """Refuse other numbers of folds and repeats than this protocol can have, or another setting."""

    @abstractmethod
    def fold(self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int) -> Fold:
        """Return the rows of one fold of the repeat that `split_seed` stands for."""

    @abstractmethod
    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return what one trial measures: the columns of a selection, and those declared."""


class AbstractOwnSplit(AbstractProtocol):
    """A protocol on the data set's own training and test rows: there is one split, and so one repeat."""

    fixed: ClassVar[Mapping[str, Any]] = {"n_splits": 1, "repeats": 1}

    def check_folds(self, protocol: Mapping[str, Any]) -> None:
        """Refuse more than one of either."""
        n_splits, repeats = protocol["n_splits"], protocol["repeats"]
        if (n_splits, repeats) != (1, 1):
            raise ValueError(
                f"protocol: expected n_splits = repeats = 1 for the {self.name} split, there is only one; "
                f"got n_splits = {n_splits!r}, repeats = {repeats!r}."
            )

    def fold(self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int) -> Fold:
        """Return the data set's split; nothing else is used."""
        if dataset.official_train is None:
            raise ValueError(
                f"data set {dataset.name}: expected one with an official split, got none; use protocol=tenfold, "
                f"or load a form of the data set that has its test rows (such as dataset.part=all)."
            )
        return Fold.of(dataset, dataset.official_train.nonzero()[0], (~dataset.official_train).nonzero()[0])


class AbstractWholeRows(AbstractProtocol):
    """A protocol on all rows: none are tested, and repeats differ in their seed only."""

    fixed: ClassVar[Mapping[str, Any]] = {"n_splits": 1}
    repeats_are_seeds = True

    def check_folds(self, protocol: Mapping[str, Any]) -> None:
        """Refuse folds, and a setting that needs them."""
        if (protocol["n_splits"], protocol["setting"]) != (1, "unsupervised"):
            raise ValueError(
                f"protocol: expected n_splits = 1 and setting = unsupervised for the split {self.name}, which has no "
                f"test rows; got n_splits = {protocol['n_splits']!r}, setting = {protocol['setting']!r}."
            )

    def fold(self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int) -> Fold:
        """Return all rows; nothing else is used."""
        return Fold.all_rows(dataset)
