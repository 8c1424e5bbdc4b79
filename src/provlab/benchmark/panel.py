"""The panel: which cells it has, and their trials as its frame.

Each cell is an ordinary one, with an ordinary key: a data set of `datasets.yaml`, a method of `methods.yaml` asked for
one of the sizes of `panel.yaml`, one of its models, and the protocol `benchmark`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from provlab.benchmark.frame import ALL_FEATURES, KEY, OWN_SIZE, Panel
from provlab.benchmark.methods import PanelMethod, panel_methods
from provlab.datasets import MissingDataError
from provlab.documents import read_as, read_plain_yaml, read_record, with_known_keys
from provlab.frames import planned_trials
from provlab.identity.cell import Cell
from provlab.identity.keys import canonical_json
from provlab.messages import did_you_mean
from provlab.plan import Composer, cells_of, feature_names_of, files_missing, load_from
from provlab.store import TrialReader
from provsel.stability import stability

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class PanelDataset:
    """An entry of `datasets.yaml`.

    Attributes
    ----------
    choose : tuple of str
        Overrides that choose the data set, and its preparation where it is not standardised.
    domain : str
    source : str
        Of the rows: no two sets of the panel share one.
    support : int
        Number of columns that the labels depend on: the first of the data set without `shuffle_columns`. 0 where that
        is not known.
    """

    choose: tuple[str, ...]
    domain: str
    source: str
    support: int = 0


@dataclass(frozen=True)
class PanelProtocol:
    """What `panel.yaml` says: overrides of all cells, sizes, overrides of each model, and sets of the quick panel."""

    choose: tuple[str, ...]
    sizes: tuple[int, ...]
    models: Mapping[str, tuple[str, ...]]
    quick: tuple[str, ...]


class PanelCell(NamedTuple):
    """A cell of the panel, and how the frame calls it."""

    method: str
    dataset: str
    domain: str
    size: int
    model: str
    cell: Cell


class Shape(NamedTuple):
    """Rows, columns and classes of a data set, and the columns that its labels depend on, where these are known."""

    n: int
    d: int
    n_classes: int
    support: frozenset[int] | None


@cache
def panel_datasets() -> Mapping[str, PanelDataset]:
    """Return the data sets of the panel by name."""
    path = Path(__file__).with_name("datasets.yaml")
    entries = {name: with_known_keys(PanelDataset, each) for name, each in read_plain_yaml(path).items()}
    found: Mapping[str, PanelDataset] = read_as(Mapping[str, PanelDataset], entries, str(path))
    return found


@cache
def panel_protocol() -> PanelProtocol:
    """Return how the panel judges."""
    return read_record(Path(__file__).with_name("panel.yaml"), PanelProtocol)


def some(kind: str, names: Iterable[str], known: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries of some names, all where none are given.

    Raises
    ------
    ValueError
        For a name that there is not.
    """
    names = list(names)
    for name in names:
        if name not in known:
            raise ValueError(
                f"panel: expected a {kind} of the panel ({', '.join(known)}), got {name!r:.80}"
                f"{did_you_mean(name, known) or '; choose one of these'}."
            )
    return {name: each for name, each in known.items() if name in names or not names}


def check_here(datasets: Mapping[str, PanelDataset]) -> None:
    """Raise MissingDataError where files of some data sets are not here, with one command that gets them all."""
    cells = {name: base_cell(each) for name, each in datasets.items()}
    missing = {name: str(cell.dataset["name"]) for name, cell in cells.items() if files_missing(cell.dataset)}
    if missing:
        sources = " ".join(dict.fromkeys(missing.values()))
        raise MissingDataError(
            f"panel: expected the files of {len(datasets)} data sets, found none of {', '.join(missing)}; run provsel "
            f"fetch {sources}, or choose others by --dataset.",
            sources,
        )


def panel_cells(
    methods: Mapping[str, PanelMethod] | None = None, datasets: Mapping[str, PanelDataset] | None = None
) -> list[PanelCell]:
    """Return the cells of some methods on some data sets, data set by data set; all of the panel by default.

    A size has a cell where the data set has more columns, and a method where it takes as many classes. Data sets are
    loaded for that.

    Parameters
    ----------
    methods, datasets : mapping, optional
        By name. Others than those of the panel are judged in the same way.

    Raises
    ------
    MissingDataError
        A data set is not here: names it, and the command that gets it.
    """
    protocol, compose, made = panel_protocol(), Composer(), dict[str, Cell]()

    def cell_of(overrides: Sequence[str], base: Cell) -> Cell:
        if (key := canonical_json(overrides)) not in made:
            [made[key]] = cells_of(compose(overrides))  # on other data, which makes no difference
        return made[key].on(base.dataset, base.data)

    found = []
    for name, dataset in (panel_datasets() if datasets is None else datasets).items():
        prepared = [*protocol.choose, *(text for text in dataset.choose if text.startswith("preparation"))]
        base, shape = base_cell(dataset, compose), shape_of(dataset)
        for title, method in (panel_methods() if methods is None else methods).items():
            if shape.n_classes > 2 and not method.multiclass:
                continue
            for size in _sizes(method, shape.d):
                for model, of_model in protocol.models.items():
                    cell = cell_of([*prepared, *of_model, *method.overrides(max(size, 1))], base)
                    found.append(PanelCell(title, name, dataset.domain, size, model, cell))
    return found


def _sizes(method: PanelMethod, d: int) -> list[int]:
    if method.sizes != "own":
        return [size for size in panel_protocol().sizes if size < d]
    return [ALL_FEATURES if method.kind == "control" else OWN_SIZE]


def base_cell(dataset: PanelDataset, compose: Composer | None = None) -> Cell:
    """Return a cell of the protocol on a data set, with its config and identity; nothing is loaded."""
    [cell] = cells_of((compose or Composer())([*panel_protocol().choose, "selector=full", *dataset.choose]))
    return cell


def shape_of(dataset: PanelDataset) -> Shape:
    """Return the shape of a data set, which is loaded."""
    return _shape(canonical_json(dict(base_cell(dataset).dataset)), dataset.support)


@cache
def _shape(config: str, support: int) -> Shape:
    parts = json.loads(config)
    found = load_from(parts)
    relevant = None
    if support:
        first = feature_names_of({**parts, "shuffle_columns": None})[:support]
        relevant = frozenset(np.flatnonzero(np.isin(found.feature_names, first)).tolist())
    n, d = found.X.shape
    return Shape(n, d, found.n_classes, relevant)


# ---- the frame

READ = {
    "n_selected": "n_selected", "error": "error", "balanced_accuracy": "balanced_accuracy",
    "neg_log_loss": "neg_log_loss", "subset_ratio": "subset_frobenius_ratio", "peak_memory": "peak_bytes",
    "failure": "failure",
}  # fmt: skip
"""Columns of the records, and what the frame calls them."""

WHERE = ["environment", "git_revision"]
"""Columns of the records that say where a trial was computed."""


def names_of(cells: Sequence[PanelCell]) -> pd.DataFrame:
    """Return a line a cell: how the frame calls it."""
    return pd.DataFrame([each[:-1] for each in cells], columns=[*PanelCell._fields[:-1]])


def panel_frame(
    cells: Sequence[PanelCell], store: TrialReader, datasets: Mapping[str, PanelDataset] | None = None
) -> Panel:
    """Return the stored trials of some cells as a panel; `datasets` are those of the cells, by default the panel's."""
    return Panel.of(*panel_tables(cells, store, panel_datasets() if datasets is None else datasets))


def panel_tables(
    cells: Sequence[PanelCell], store: TrialReader, datasets: Mapping[str, PanelDataset]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of `panel_frame`, and beside each trial where it was computed: environment and git_revision."""
    about = names_of(cells)
    read = [*READ, "select_cpu", "shared_cpu", "features", "n_features", *WHERE]
    found = planned_trials(store, [each.cell for each in cells], read).rename(columns=READ)
    found["select_cpu"] += found["shared_cpu"]
    trials = found.join(about, on="place")
    # both models have the same selection, but for what draws: that of one of them is told
    first = trials[trials["model"] == trials.groupby(KEY)["model"].transform("max")]
    lines = [
        dict(zip(KEY, key, strict=True)) | _of_all_folds(part, shape_of(datasets[key[1]]).support)
        for key, part in first.groupby(KEY, sort=False)
    ]
    selections = pd.DataFrame(lines, columns=[*KEY, "stability", "stability_se", "support_f1", "false_discovery"])
    domains = {name: dataset.domain for name, dataset in datasets.items()}
    return trials, selections.assign(domain=selections["dataset"].map(domains))


def _of_all_folds(trials: pd.DataFrame, support: frozenset[int] | None) -> dict[str, float]:
    """Return what only the folds of a selection tell together, where each has one and leaves something out."""
    if trials["features"].isna().any():
        return {}
    d, reports = int(trials["n_features"].iloc[0]), []
    for _, part in trials.groupby(["repeat", "draw"]):
        if len(part) > 1:
            reports.append(stability(part["features"], d))
    found = {}
    if reports:
        found = {
            "stability": np.mean([each.index for each in reports]),
            "stability_se": np.mean([each.variance**0.5 for each in reports]),
        }
    if support is not None:
        sizes = trials["features"].map(len)
        hits = trials["features"].map(lambda kept: len(support.intersection(kept.tolist())))
        found["support_f1"] = (2 * hits / (sizes + len(support))).mean()
        found["false_discovery"] = (1 - hits / sizes).mean()
    return found
