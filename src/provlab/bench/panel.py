"""Plan of the benchmark: data sets, methods, judges and sizes as ordinary cells with ordinary keys.

Judges are models that are trained on the selected features. A *chosen* size is chosen
by cross-validation within the training rows. All features are among its candidates, so
it shows whether selection helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from provlab.bench.methods import PanelMethod, Task
from provlab.core.cell import Cell
from provlab.core.composition import Composer, part_config
from provlab.core.plan import cells_of, load_from
from provlab.core.protocols import AbstractStatedFolds
from provlab.core.protocols.folds import MAX_TRAIN_ROWS
from provlab.data.loaders.tables import table_entries
from provlab.project.documents import read_record
from provlab.project.messages import did_you_mean
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE

Entry = TypeVar("Entry")

FOLDER = "benchmark"
"""Folder of the stored panel within the reference results."""

CARDS = "_cards.csv"
"""File of the cards in the same folder, see `provlab.bench.cards`."""

TUNED = "provlab.bench.selectors.TunedSelector"
"""Class of selectors whose parameters are tuned."""


@dataclass(frozen=True)
class PanelDataset:
    """A data set of the panel.

    Attributes
    ----------
    choose : tuple of str
        Overrides that choose the data set, its folds, and its preparation if it is not
        "standardise".
    domain : str
    source : str
        Source of the rows; data sets of one source count as one observation.
    support : int
        Number of columns that the labels depend on, which come first without
        `shuffle_columns`; 0 if unknown.
    folds : str
        Name in `datasets.yaml` of the way the rows are split.
    task : {"classification", "regression"}
    train_rows : int, or None
        Number of training rows in a fold if the folds state it.
    """

    choose: tuple[str, ...]
    domain: str
    source: str
    support: int = 0
    folds: str = "twice"
    task: Task = "classification"
    train_rows: int | None = None


@dataclass(frozen=True)
class PanelData:
    """Content of `datasets.yaml`.

    Attributes
    ----------
    folds : mapping
        Overrides for each kind of folds.
    tables, settings : mapping
        Data sets of the loader `tables` by kind of folds, and overrides for some of
        them.
    quick : mapping
        Data sets of the quick panel for each task.
    left_out : mapping
        Reasons for data sets that are left out, by name.
    sets : mapping
        All other data sets.
    """

    folds: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, tuple[str, ...]]
    quick: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str]
    sets: Mapping[str, PanelDataset]


@dataclass(frozen=True)
class Judge:
    """A model for each task, and the numbers of features that it judges."""

    sizes: tuple[int, ...]
    classification: tuple[str, ...]
    regression: tuple[str, ...]

    def model(self, task: Task) -> tuple[str, ...]:
        """Return the overrides that choose the model."""
        return self.classification if task == "classification" else self.regression


@dataclass(frozen=True)
class ChosenSize:
    """Settings of `CrossValidatedSize`: the candidate sizes, the number of folds, and the models."""

    judge: str
    sizes: tuple[int, ...]
    cv: int
    classification: tuple[str, ...]
    regression: tuple[str, ...]


@dataclass(frozen=True)
class Judging:
    """Content of `judges.yaml`: overrides of all cells, judges, judges for own data, and chosen sizes."""

    choose: tuple[str, ...]
    judges: Mapping[str, Judge]
    own_data: tuple[str, ...]
    chosen: ChosenSize


class PanelCell(NamedTuple):
    """A cell of the panel with its names in the DataFrame."""

    method: str
    dataset: str
    domain: str
    size: int
    model: str
    support: int
    cell: Cell


@cache
def panel_data() -> PanelData:
    """Return the content of `datasets.yaml`."""
    return read_record(Path(__file__).with_name("datasets.yaml"), PanelData)


@cache
def panel_datasets() -> Mapping[str, PanelDataset]:
    """Return the data sets of the panel by name."""
    data = panel_data()
    datasets = dict(data.sets)
    for folds, names in data.tables.items():
        for name in names:
            datasets[name] = _table(name, folds, data.settings.get(name, ()))
    for name, dataset in datasets.items():
        datasets[name] = replace(
            dataset, choose=(*dataset.choose, *data.folds[dataset.folds])
        )
    return datasets


def _table(name: str, folds: str, settings: tuple[str, ...]) -> PanelDataset:
    """Return a data set of the loader `tables`; columns are shuffled if the relevant ones come first in the file."""
    entry = table_entries()[name]
    choose = [
        "dataset=tables",
        f"dataset.set={name}",
        "+dataset.distinct_rows=true",
        "preparation=varying",
        *settings,
    ]
    if entry.relevant:
        choose.append("+dataset.shuffle_columns=1")
    return PanelDataset(
        tuple(choose),
        entry.domain,
        entry.source,
        len(entry.relevant),
        folds,
        entry.task,
    )


@cache
def judging() -> Judging:
    """Return the content of `judges.yaml`."""
    return read_record(Path(__file__).with_name("judges.yaml"), Judging)


def stored_folder() -> Path:
    """Return the folder of the stored panel that comes with provsel, in an installed wheel or a checkout."""
    inside = Path(__file__).resolve().parent / "stored"
    return (
        inside
        if inside.is_dir()
        else inside.parents[3] / "results" / "reference" / FOLDER
    )


def some(
    kind: str, names: Iterable[str], entries: Mapping[str, Entry]
) -> dict[str, Entry]:
    """Return the entries with the given names, or all if no name is given.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    names = list(names)
    for name in names:
        if name not in entries:
            raise ValueError(
                f"panel: expected a {kind} of the panel ({', '.join(entries)}), got {name!r:.80}"
                f"{did_you_mean(name, entries) or '; choose one of these.'}"
            )
    return {
        name: entry for name, entry in entries.items() if name in names or not names
    }


def sizes_of_judges(judges: Iterable[str] = ()) -> dict[str, tuple[int, ...]]:
    """Return the numbers of features for each judge. Chosen numbers are left out if judges are given."""
    names = tuple(judges)
    sizes = {}
    for judge in names or judging().judges:
        sizes[judge] = (*judging().judges[judge].sizes, OWN_SIZE, ALL_FEATURES)
    if not names:
        sizes[judging().chosen.judge] += (CHOSEN_SIZE,)
    return sizes


def panel_cells(
    methods: Mapping[str, PanelMethod],
    datasets: Mapping[str, PanelDataset],
    sizes: Mapping[str, Sequence[int]] | None = None,
) -> list[PanelCell]:
    """Return the cells of the given methods and data sets, grouped by data set.

    A size has a cell if the data set has more columns. A method has cells if it
    supports the task, the number of classes and the size of the data set.

    Parameters
    ----------
    methods, datasets : mapping
        Methods and data sets by name; they need not be in the panel.
    sizes : mapping, optional
        Numbers of features for each judge. The default is `sizes_of_judges`.

    Raises
    ------
    MissingDataError
        If a data set has no card and is not on this machine. The message names the
        command that fetches it.
    """
    sizes = sizes_of_judges() if sizes is None else sizes
    cells = []
    for name, dataset in datasets.items():
        base = base_cell(dataset)
        shape = shape_of(dataset)
        of_dataset = [
            text
            for text in dataset.choose
            if text.startswith(("preparation", "protocol"))
        ]
        # the number of folds depends on the data
        if isinstance(base.measured, AbstractStatedFolds):
            of_dataset = [*dataset.choose]  # other cells do not depend on the data
        settings = (*judging().choose, *of_dataset)
        smaller_sizes = tuple(
            size for size in judging().chosen.sizes if size < shape[1]
        )
        for title, method in methods.items():
            if not method.takes(shape, dataset.task):
                continue
            for judge, size in _judged(method, shape[1], sizes):
                candidates = smaller_sizes if size == CHOSEN_SIZE else ()
                cell = _cell(
                    settings, method, dataset.task, judge, size, candidates
                ).on(base.dataset, base.data)
                cells.append(
                    PanelCell(
                        title, name, dataset.domain, size, judge, dataset.support, cell
                    )
                )
    return cells


def _judged(
    method: PanelMethod, n_columns: int, sizes: Mapping[str, Sequence[int]]
) -> Iterator[tuple[str, int]]:
    """Yield each pair of a judge and a size of a method."""
    own = ALL_FEATURES if method.selector_name == "full" else OWN_SIZE
    has_candidates = min(judging().chosen.sizes) < n_columns
    for judge, of_judge in sizes.items():
        for size in of_judge:
            if method.sizes == "own":
                is_judged = size == own
            elif size == CHOSEN_SIZE:
                is_judged = method.chosen and has_candidates
            else:
                is_judged = 0 < size < n_columns
            if is_judged:
                yield judge, size


@cache
def _composer() -> Composer:
    return Composer()


@cache  # the same for all data sets with these folds
def _cell(
    settings: tuple[str, ...],
    method: PanelMethod,
    task: Task,
    judge: str,
    size: int,
    candidates: tuple[int, ...],
) -> Cell:
    """Return a cell of a method with a number of features, chosen if there are candidates, for any data set."""
    model = judging().judges[judge].model(task)
    if candidates:
        selector = _with_chosen_size(method, task, candidates)
    elif method.grid:
        selector = {
            "_target_": TUNED,
            "selector": part_config("selector", method.for_task(task).overrides(size)),
            "grid": {name: list(values) for name, values in method.grid},
            **_cross_validation(task),
        }
    else:
        [cell] = cells_of(
            _composer()([*settings, *model, *method.overrides(max(size, 1))])
        )
        return cell
    config = dict(_composer()([*settings, *model, "selector=cross_validated_size"]))
    [cell] = cells_of({**config, "selector": selector})
    return cell


def _with_chosen_size(
    method: PanelMethod, task: Task, sizes: tuple[int, ...]
) -> dict[str, Any]:
    """Return the config of a method whose number of features cross-validation chooses."""
    inner = part_config("selector", method.overrides(sizes[0]))
    return {
        **part_config("selector", ["selector=cross_validated_size"]),
        "selector": inner,
        "sizes": [*sizes, 1.0],
        **_cross_validation(task),
        "rule": "best",
        "task": task,
        "random_state": inner.get("random_state"),
    }


def _cross_validation(task: Task) -> dict[str, Any]:
    """Return the settings of cross-validation within the training rows: folds, model and scoring."""
    chosen = judging().chosen
    model = chosen.classification if task == "classification" else chosen.regression
    return {
        "cv": chosen.cv,
        "model": part_config("model", model),
        "scoring": "balanced_accuracy" if task == "classification" else None,
    }


def base_cell(dataset: PanelDataset) -> Cell:
    """Return a cell of the protocol on a data set, with its config and identity, without loading data."""
    # any model will do
    choose = [
        *judging().choose,
        "protocol.scoring=[]",
        "selector=full",
        *dataset.choose,
    ]
    [cell] = cells_of(_composer()(choose))
    return cell


def shape_of(dataset: PanelDataset) -> tuple[int, int, int]:
    """Return the numbers of training rows, prepared columns and classes, from the card or the data."""
    shapes = _shapes_on_cards()
    key = " ".join(text for text in dataset.choose if "permute_labels" not in text)
    if key in shapes:
        return shapes[key]
    data = load_from(base_cell(dataset).dataset)
    return (
        dataset.train_rows or _n_training_rows(data.n_rows),
        data.X.shape[1],
        data.n_classes,
    )


def _n_training_rows(n_rows: int) -> int:
    return min(int(n_rows * 0.8), MAX_TRAIN_ROWS)


@cache
def _shapes_on_cards() -> Mapping[str, tuple[int, int, int]]:
    """Return the shape of each data set that has a card, by the overrides of the data set."""
    path = stored_folder() / CARDS
    if not path.is_file():
        return {}
    cards = pd.read_csv(path, usecols=["choose", "rows", "prepared", "classes"])
    return {
        card.choose: (
            _n_training_rows(card.rows),
            int(card.prepared),
            int(card.classes),
        )
        for card in cards.itertuples()
    }
