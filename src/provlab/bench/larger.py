"""The larger benchmark's plan: which methods, judges and sizes each of its data sets has, as ordinary cells.

Judges are models that are trained on what was selected. *Chosen* is a size that cross-validation within the training
rows chooses, all features among the sizes: it tells whether selection helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pandas as pd

from provlab.bench.panel import (
    CARDS,
    PanelCell,
    PanelDataset,
    base_cell,
    panel_protocol,
    stored_folder,
)
from provlab.core.cell import Cell
from provlab.core.composition import Composer, part_config
from provlab.core.plan import cells_of
from provlab.core.protocols.folds import MAX_TRAIN_ROWS
from provlab.project.documents import read_record
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class LargerMethod:
    """An entry of `larger_methods.yaml`.

    Attributes
    ----------
    choose : tuple of str
        Overrides that choose the selector, with SIZE and HALF in the place of numbers.
    sizes : {"fixed", "at most", "own"}
    tasks : tuple of {"classification", "regression"}
    multiclass : bool
        Whether labels may be of more than two classes.
    most : int, or None
        Training rows times columns up to which it is run.
    most_columns : int, or None
        Columns up to which it is defined.
    chosen : bool
        Whether cross-validation chooses its number of features as well.
    """

    choose: tuple[str, ...]
    sizes: Literal["fixed", "at most", "own"] = "fixed"
    tasks: tuple[Task, ...] = ("classification", "regression")
    multiclass: bool = True
    most: int | None = None
    most_columns: int | None = None
    chosen: bool = True

    def overrides(self, size: int) -> list[str]:
        """Return the overrides that choose the method, asked for `size` features."""
        half = str(max(1, size // 2))
        return [text.replace("SIZE", str(size)).replace("HALF", half) for text in self.choose]

    def takes(self, shape: tuple[int, int, int], task: str) -> bool:
        """Return whether it is run on data of so many training rows, columns and classes."""
        n_rows, n_columns, n_classes = shape
        if self.most is not None and n_rows * n_columns > self.most:
            return False
        if self.most_columns is not None and n_columns > self.most_columns:
            return False
        return task in self.tasks and (self.multiclass or n_classes <= 2)


@dataclass(frozen=True)
class Judge:
    """A model of each task, and the numbers of features that it judges."""

    sizes: tuple[int, ...]
    classification: tuple[str, ...]
    regression: tuple[str, ...]


@dataclass(frozen=True)
class ChosenSize:
    """How a number of features is chosen: sizes, as `CrossValidatedSize` takes them, its folds, and its models."""

    judge: str
    sizes: tuple[int, ...]
    cv: int
    classification: tuple[str, ...]
    regression: tuple[str, ...]


@dataclass(frozen=True)
class Judging:
    """What `judges.yaml` says."""

    judges: Mapping[str, Judge]
    chosen: ChosenSize


@dataclass(frozen=True)
class _Methods:
    methods: Mapping[str, LargerMethod]


@cache
def larger_methods() -> Mapping[str, LargerMethod]:
    """Return the methods of the larger benchmark by name."""
    return read_record(Path(__file__).with_name("larger_methods.yaml"), _Methods).methods


@cache
def judging() -> Judging:
    """Return the judges of the larger benchmark, and how a size is chosen."""
    return read_record(Path(__file__).with_name("judges.yaml"), Judging)


def larger_cells(name: str, dataset: PanelDataset, methods: Mapping[str, LargerMethod]) -> list[PanelCell]:
    """Return the cells of some methods on a data set.

    Raises
    ------
    ValueError
        The data set has no card.
    """
    base = base_cell(dataset)
    shape = shape_on_card(name)
    of_dataset = [text for text in dataset.choose if text.startswith(("preparation", "protocol"))]
    settings = (*panel_protocol().choose, *of_dataset)
    cells = []
    for title, method in methods.items():
        if not method.takes(shape, dataset.task):
            continue
        for size, judge in _judged(method, shape[1]):
            model: tuple[str, ...] = getattr(judging().judges[judge], dataset.task)
            cell = _cell((*settings, *model, *method.overrides(max(size, 1))))
            cells.append(PanelCell(title, name, dataset.domain, size, judge, dataset.support, cell))
        if method.chosen and method.sizes != "own" and shape[1] > min(judging().chosen.sizes):
            sizes = tuple(size for size in judging().chosen.sizes if size < shape[1])
            cell = _chosen_cell(settings, tuple(method.overrides(sizes[0])), dataset.task, sizes)
            judge = judging().chosen.judge
            cells.append(PanelCell(title, name, dataset.domain, CHOSEN_SIZE, judge, dataset.support, cell))
    return [entry._replace(cell=entry.cell.on(base.dataset, base.data)) for entry in cells]


def _judged(method: LargerMethod, n_columns: int) -> Iterator[tuple[int, str]]:
    """Yield each size of a method with each of its judges."""
    for judge, entry in judging().judges.items():
        if method.sizes == "own":
            yield (ALL_FEATURES if method.choose == ("selector=full",) else OWN_SIZE), judge
            continue
        for size in entry.sizes:
            if size < n_columns:
                yield size, judge


@cache
def _composer() -> Composer:
    return Composer()


@cache  # the same for all data sets with these folds
def _cell(overrides: tuple[str, ...]) -> Cell:
    """Return a cell of some settings; its data are no matter."""
    [cell] = cells_of(_composer()(overrides))
    return cell


@cache
def _chosen_cell(settings: tuple[str, ...], method: tuple[str, ...], task: Task, sizes: tuple[int, ...]) -> Cell:
    """Return the cell of a method whose number of features is chosen by cross-validation; its data are no matter."""
    chosen = judging().chosen
    judge: tuple[str, ...] = getattr(judging().judges[chosen.judge], task)
    config = dict(_composer()([*settings, *judge, "selector=cross_validated_size"]))
    inner = part_config("selector", method)
    config["selector"] = {
        **config["selector"],
        "selector": inner,
        "sizes": [*sizes, 1.0],
        "cv": chosen.cv,
        "model": part_config("model", getattr(chosen, task)),
        "scoring": "balanced_accuracy" if task == "classification" else None,
        "rule": "best",
        "task": task,
        "random_state": inner.get("random_state"),
    }
    [cell] = cells_of(config)
    return cell


def shape_on_card(name: str) -> tuple[int, int, int]:
    """Return training rows, columns after the preparation, and classes of a data set, as its card has them.

    Raises
    ------
    ValueError
        There is no card.
    """
    if name not in _cards().index:
        raise ValueError(
            f"larger benchmark: expected a card of {name} in {CARDS}, got none; run provsel reference --cards."
        )
    card = _cards().loc[name]
    n_rows = min(int(card["rows"] * 0.8), MAX_TRAIN_ROWS)
    return n_rows, int(card["prepared"]), int(card["classes"])


@cache
def _cards() -> pd.DataFrame:
    return pd.read_csv(stored_folder() / CARDS, index_col="dataset")
