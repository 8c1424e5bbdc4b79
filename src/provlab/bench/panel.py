"""The panel: its cells, and their trials as a frame.

Each cell is ordinary, with an ordinary key: a data set of `datasets.yaml`, a method of `methods.yaml` at one of the
sizes of `panel.yaml`, one of its models, and the protocol `benchmark`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from provlab.bench.methods import PanelMethod
from provlab.core.cell import ID_DIGITS, Cell
from provlab.core.composition import Composer
from provlab.core.frames import planned_trials
from provlab.core.plan import cells_of, feature_names_of, load_from, places_of_first
from provlab.core.protocols import AbstractStatedFolds
from provlab.core.snapshot import TrialReader
from provlab.data.loaders.tables import table_entries
from provlab.project.documents import read_as, read_plain_yaml, read_record
from provlab.project.messages import did_you_mean
from provlab.verdicts.panel_frame import ALL_FEATURES, KEY, OWN_SIZE, WHERE, as_panel
from provsel.stability import stability

Entry = TypeVar("Entry")

FOLDER = "benchmark"
"""Of the stored panel, below the reference results."""

TABLE = "_datasets.csv"
"""The data sets of the panel, in the same folder. Pandas passes over it: it begins with an underscore."""


CARDS = "_cards.csv"
"""Those of the larger benchmark, see `provlab.bench.cards`."""


@dataclass(frozen=True)
class PanelDataset:
    """An entry of `datasets.yaml`.

    Attributes
    ----------
    choose : tuple of str
        Overrides that choose the data set, and its preparation unless it is standardised.
    domain : str
    source : str
        Source of the rows, which no two sets of the panel share, except in the larger panel.
    support : int
        Number of columns that the labels depend on: the first of the data set without `shuffle_columns`. 0 if unknown.
    folds : str
        How its rows are split, a name in `larger.yaml`; "twice" stands for the folds of `panel.yaml`.
    task : {"classification", "regression"}
    """

    choose: tuple[str, ...]
    domain: str
    source: str
    support: int = 0
    folds: str = "twice"
    task: str = "classification"


@dataclass(frozen=True)
class PanelProtocol:
    """The content of `panel.yaml`: overrides of all cells and of each model, sizes, and sets of the quick panel."""

    choose: tuple[str, ...]
    sizes: tuple[int, ...]
    models: Mapping[str, tuple[str, ...]]
    models_of_numbers: Mapping[str, tuple[str, ...]]
    quick: tuple[str, ...]


@dataclass(frozen=True)
class LargerPanel:
    """The content of `larger.yaml`: overrides of each kind of folds, tables, their settings, and other data sets.

    `permuted` names those that are controls as well, with permuted labels.
    """

    folds: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, tuple[str, ...]]
    permuted: tuple[str, ...]
    left_out: Mapping[str, str]
    sets: Mapping[str, PanelDataset]


class PanelCell(NamedTuple):
    """A cell of the panel, and its names in the frame."""

    method: str
    dataset: str
    domain: str
    size: int
    model: str
    support: int
    cell: Cell


@cache
def panel_datasets() -> Mapping[str, PanelDataset]:
    """Return the data sets of the panel by name."""
    path = Path(__file__).with_name("datasets.yaml")
    datasets: Mapping[str, PanelDataset] = read_as(Mapping[str, PanelDataset], read_plain_yaml(path), str(path))
    return datasets


@cache
def larger_panel() -> LargerPanel:
    """Return the description of the larger benchmark."""
    return read_record(Path(__file__).with_name("larger.yaml"), LargerPanel)


@cache
def larger_datasets() -> Mapping[str, PanelDataset]:
    """Return the data sets of the larger benchmark by name; their overrides also choose the folds."""
    larger = larger_panel()
    datasets = dict(larger.sets)
    for folds, names in larger.tables.items():
        for name in names:
            datasets[name] = _table(name, folds, larger.settings.get(name, ()))
    for name, dataset in datasets.items():
        datasets[name] = replace(dataset, choose=(*dataset.choose, *larger.folds[dataset.folds]))
    return datasets


def _table(name: str, folds: str, settings: tuple[str, ...]) -> PanelDataset:
    """Return a data set of the loader `tables`; relevant columns, which come first in the file, are shuffled."""
    entry = table_entries()[name]
    choose = ["dataset=tables", f"dataset.set={name}", "+dataset.distinct_rows=true", "preparation=varying", *settings]
    if entry.relevant:
        choose.append("+dataset.shuffle_columns=1")
    return PanelDataset(tuple(choose), entry.domain, entry.source, len(entry.relevant), folds, entry.task)


@cache
def panel_protocol() -> PanelProtocol:
    """Return how the panel judges."""
    return read_record(Path(__file__).with_name("panel.yaml"), PanelProtocol)


def stored_folder() -> Path:
    """Return the folder of the stored panel that comes with provsel: in an installed wheel, or in a checkout."""
    inside = Path(__file__).resolve().parent / "stored"
    return inside if inside.is_dir() else inside.parents[3] / "results" / "reference" / FOLDER


def some(kind: str, names: Iterable[str], entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries with the given names; all if none are given.

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
    return {name: entry for name, entry in entries.items() if name in names or not names}


def panel_cells(
    methods: Mapping[str, PanelMethod], datasets: Mapping[str, PanelDataset], *, is_regression: bool = False
) -> list[PanelCell]:
    """Return the cells of the given methods and data sets, grouped by data set.

    A size has a cell if the data set has more columns, and a method if it supports the number of classes.

    Parameters
    ----------
    methods, datasets : mapping
        By name. Other methods and data sets are judged in the same way.
    is_regression : bool, default=False
        Whether the targets of the data sets are numbers.

    Raises
    ------
    MissingDataError
        If a data set is neither in the stored table nor on this machine; names the command that fetches it.
    """
    protocol, compose = panel_protocol(), Composer()
    models = protocol.models_of_numbers if is_regression else protocol.models

    @cache
    def cell_of(prepared: tuple[str, ...], model: str, method: str, size: int) -> Cell:
        chosen = [*prepared, *models[model], *methods[method].overrides(max(size, 1))]
        [cell] = cells_of(compose([*protocol.choose, *chosen]))
        return cell

    cells = []
    for name, dataset in datasets.items():
        prepared = tuple(text for text in dataset.choose if text.startswith(("preparation", "protocol")))
        base = base_cell(dataset, compose)
        if isinstance(base.measured, AbstractStatedFolds):  # how many folds there are depends on the data
            prepared = dataset.choose  # else cells are composed on other data, which makes no difference
        d, n_classes = _shapes_after_preparation().get(" ".join(dataset.choose)) or shape_of(base)
        for title, method in methods.items():
            if n_classes > 2 and not is_regression and not method.multiclass:
                continue
            for size in _sizes(method, d):
                for model in models:
                    cell = cell_of(prepared, model, title, size).on(base.dataset, base.data)
                    cells.append(PanelCell(title, name, dataset.domain, size, model, dataset.support, cell))
    return cells


def _sizes(method: PanelMethod, d: int) -> list[int]:
    if method.sizes != "own":
        return [size for size in panel_protocol().sizes if size < d]
    return [ALL_FEATURES if method.family == "control" else OWN_SIZE]


def base_cell(dataset: PanelDataset, compose: Composer | None = None) -> Cell:
    """Return a cell of the protocol on a data set, with its config and identity; nothing is loaded."""
    choose = [*panel_protocol().choose, "protocol.scoring=[]", "selector=full", *dataset.choose]  # a model is no matter
    [cell] = cells_of((compose or Composer())(choose))
    return cell


def shape_of(cell: Cell) -> tuple[int, int]:
    """Return how many columns and classes the data set of a cell has, from the stored table or by loading it."""
    shapes = _stored_shapes()
    if cell.data not in shapes:
        data = load_from(cell.dataset)
        shapes[cell.data] = data.X.shape[1], data.n_classes
    return shapes[cell.data]


@cache
def _stored_shapes() -> dict[str, tuple[int, int]]:
    """Return columns and classes of a data set, cached by its identity, which contains the SHA-256 of its files."""
    path = stored_folder() / TABLE
    lines = pd.read_csv(path, usecols=["data", "columns", "classes"]) if path.is_file() else pd.DataFrame()
    return {line.data: (line.columns, line.classes) for line in lines.itertuples()}


@cache
def _shapes_after_preparation() -> dict[str, tuple[int, int]]:
    """Return from a data set's card how many columns a preparation leaves in each fold, and the classes."""
    path = stored_folder() / CARDS
    lines = pd.read_csv(path, usecols=["choose", "prepared", "classes"]) if path.is_file() else pd.DataFrame()
    return {line.choose: (line.prepared, line.classes) for line in lines.itertuples()}


# ---- the frame

READ = {
    "n_selected": "n_selected", "error": "error", "balanced_accuracy": "balanced_accuracy",
    "neg_log_loss": "neg_log_loss", "subset_ratio": "subset_frobenius_ratio", "peak_memory": "peak_bytes",
    "failure": "failure",
}  # fmt: skip
"""Columns of the records, and what the frame calls them."""


def names_of(cells: Sequence[PanelCell]) -> pd.DataFrame:
    """Return a line per cell with its names in the frame."""
    return pd.DataFrame([entry[:-1] for entry in cells], columns=[*PanelCell._fields[:-1]])


def panel_frame(cells: Sequence[PanelCell], store: TrialReader) -> pd.DataFrame:
    """Return the stored trials of the given cells as a panel."""
    read = [*READ, "r2", "select_cpu", "shared_cpu", "features", "feature_names", "n_features", *WHERE]
    trials = planned_trials(store, [entry.cell for entry in cells], read).rename(columns=READ)
    trials["select_cpu"] += trials["shared_cpu"]
    trials["balanced_accuracy"] = trials["balanced_accuracy"].fillna(trials["r2"])  # one of them is measured
    trials["cell"] = trials["cell"].str[:ID_DIGITS]
    trials = trials.join(names_of(cells), on="place")
    # both models have the same selection, but for what draws: that of one of them is told
    of_one_model = trials[trials["model"] == trials.groupby(KEY)["model"].transform("max")]
    with_support = {entry.dataset: entry for entry in cells if entry.support}
    supports = {name: places_of_first(entry.cell.dataset, entry.support) for name, entry in with_support.items()}
    configs = {entry.dataset: entry.cell.dataset for entry in cells}
    lines = []
    for key, of_selection in of_one_model.groupby(KEY, sort=False):
        _, dataset, _ = key
        selections = with_places_in_data(of_selection, configs[dataset])
        lines.append(dict(zip(KEY, key, strict=True)) | selection_measures(selections, supports.get(dataset)))
    selections = pd.DataFrame(lines, columns=[*KEY, "stability", "stability_se", "support_f1", "false_discovery"])
    return as_panel(trials.merge(selections, how="left", on=KEY))


def with_places_in_data(trials: pd.DataFrame, dataset: Mapping[str, Any]) -> pd.DataFrame:
    """Return trials whose `features` mean the same columns in each fold, even if the preparation differs by fold.

    Numbers are places of columns in the data set; columns that a preparation creates, such as of categories, follow.
    """
    if trials["feature_names"].isna().all():
        return trials
    places = {name: place for place, name in enumerate(feature_names_of(dataset))}
    selections = []
    for features, names in zip(trials["features"], trials["feature_names"], strict=True):
        if names is not None and features is not None:  # None where all are selected
            features = np.array([places.setdefault(name, len(places)) for name in names])
        selections.append(features)
    return trials.assign(features=pd.Series(selections, index=trials.index, dtype=object))


def selection_measures(trials: pd.DataFrame, support: frozenset[int] | None) -> dict[str, float]:
    """Return measures that need all folds of a selection, if every fold has one and leaves some features out."""
    if trials["features"].isna().any():
        return {}
    measures: dict[str, float] = {}
    n_features = int(trials["n_features"].max())
    selected = np.unique(np.concatenate([*trials["features"]]))
    reports = []
    for _, folds in trials.groupby(["repeat", "draw"])["features"]:
        if len(folds) > 1 and folds.map(len).any():
            # numbers below n_features: where columns that were left out count, places are larger
            numbers = [np.searchsorted(selected, features) for features in folds]
            reports.append(stability(numbers, max(n_features, selected.size)))
    if reports:
        measures["stability"] = float(np.mean([report.index for report in reports]))
        measures["stability_se"] = float(np.mean([report.variance**0.5 for report in reports]))
    if support is not None:
        sizes = trials["features"].map(len)
        hits = trials["features"].map(lambda features: len(support.intersection(features.tolist())))
        measures["support_recall"] = (hits / len(support)).mean()
        measures["support_f1"] = (2 * hits / (sizes + len(support))).mean()
        measures["false_discovery"] = (1 - hits / sizes).fillna(0.0).mean()  # of no features none is false
    return measures
