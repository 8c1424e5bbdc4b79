"""Which features the cells of a page select: a table to read, the stability, a figure, and a file with more of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from provlab.export import write_csv
from provlab.features import COLUMNS, KEEPS_ALL, NO_LIST, SelectedFeatures, cells_features
from provlab.figures.frequencies import MAX_PANELS, frequency_figure
from provlab.figures.style import only_formats, save_figure, style
from provlab.frames import planned_trials
from provlab.plan import Entry, unique_cells
from provlab.report.templating import Site
from provlab.snapshot import StoreSnapshot

TOP = 30
"""Features of a table, the most frequent ones."""

NAMED = 5
"""Features that stand beside a stability."""

MAX_GROUPS, MAX_STABILITIES = 6, 300
"""Tables of features of a page, each of one data set and column, and lines of the table of stabilities."""

MAX_LINES = 100_000
"""Of the CSV file: where a page has many cells, it has the most frequent features of each, `TOP` at least."""

MAX_RANKS = 2000
"""Points of a line of the figure."""


@dataclass(eq=False)
class FeaturesPart:
    """What features.html shows, and what pages of single cells show of theirs.

    Attributes
    ----------
    cells : dict
        By the id of each cell with a list: its features, `TOP` of them.
    lines : list of dict
        One an entry: `entry`, `href` of its trace or "", `found`, and `always` and `ever`, how many features each and
        any selection has.
    groups : list of dict
        One a data set and column: `dataset`, `column`, `methods`, pairs of name and href, `n`, how many features any
        of them selects, and of `TOP` of these `rows`: `feature`, and for each method its frequency and weight.
    n_groups, n_lines : int
        How many there are, of which the page shows some.
    columns : list of str
        Those that the figure has.
    notes : list of str
        What is missing, and why.
    csv, figure : str
        Address below the report; "" where there is none.
    """

    cells: dict[str, SelectedFeatures] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    n_groups: int = 0
    n_lines: int = 0
    columns: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    csv: str = ""
    figure: str = ""

    @property
    def has_weights(self) -> bool:
        """Whether a linear model gives some feature a weight."""
        return any(found.frame["weight"].notna().any() for found in self.cells.values())


def write_features(
    site: Site, store: StoreSnapshot, entries: Sequence[Entry], name: str, href: Callable[[Entry], str] | None = None
) -> FeaturesPart:
    """Write the files of the part "Which features?" of a page, and return what its template shows.

    Parameters
    ----------
    site : Site
    store : StoreSnapshot
        Its lists stay on the disk: a few cells are read at a time.
    entries : sequence of Entry
        Rows are methods.
    name : str
        Folder of the page's files, below files/: a safe name.
    href : callable, optional
        The page of an entry, below the report.
    """
    cells = unique_cells([entry.cell for entry in entries])
    sizes = planned_trials(store, cells, ["n_selected", "n_features"])
    is_less = (sizes["n_selected"] < sizes["n_features"]).groupby(sizes["place"]).any()
    selecting = {cells[place].id for place in is_less.index[is_less]}
    part, stored = FeaturesPart(), {cells[place].id for place in is_less.index}
    groups: dict[tuple[str, str], list[Entry]] = {}
    for dataset in dict.fromkeys(entry.dataset for entry in entries):
        for entry in entries:
            if entry.dataset == dataset and entry.cell.id in selecting:
                groups.setdefault((dataset, entry.column), []).append(entry)
    columns = list(dict.fromkeys(column for _, column in groups))
    part.columns = columns if len(columns) <= MAX_PANELS else [columns[0], columns[len(columns) // 2], columns[-1]]
    by_cell: dict[str, list[Entry]] = {}
    for entry in (entry for members in groups.values() for entry in members):
        by_cell.setdefault(entry.cell.id, []).append(entry)
    shown = {entry.cell.id for members in [*groups.values()][:MAX_GROUPS] for entry in members}
    whole: dict[str, pd.DataFrame] = {}
    curves: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    written: dict[str, pd.DataFrame] = {}
    counts: dict[str, tuple[int, int]] = {}
    per_entry = max(TOP, MAX_LINES // max(1, sum(map(len, groups.values()))))
    for cell, found in cells_features(store, [members[0].cell for members in by_cell.values()]):
        if not found.n_selections:
            continue
        part.cells[cell.id] = _light(found)
        counts[cell.id] = int((found.frame["frequency"] == 1).sum()), len(found.frame)
        if cell.id in shown:
            whole[cell.id] = found.frame[["feature", "frequency", "weight"]]
        written[cell.id] = found.frame.head(per_entry)
        for entry in by_cell[cell.id]:
            if entry.column in part.columns:
                curves.setdefault((entry.column, entry.row), []).append(found.frame["frequency"].to_numpy()[:MAX_RANKS])
    part.n_groups = sum(any(entry.cell.id in part.cells for entry in members) for members in groups.values())
    for (dataset, column), members in groups.items():
        known = [entry for entry in members if entry.cell.id in whole]
        if known and len(part.groups) < MAX_GROUPS:
            part.groups.append({"dataset": dataset, "column": column, **_crossed(known, whole, href)})
    lines = [entry for members in groups.values() for entry in members if entry.cell.id in part.cells]
    part.n_lines = len(lines)
    for entry in lines[:MAX_STABILITIES]:
        always, ever = counts[entry.cell.id]
        address = href(entry) if href else ""
        part.lines.append(
            {"entry": entry, "href": address, "found": part.cells[entry.cell.id], "always": always, "ever": ever}
        )
    part.notes = _notes(entries, stored, selecting, part)
    if lines:
        part.csv, part.figure = (f"files/{name}/which-features{suffix}" for suffix in (".csv", ".svg"))
        _write_csv(site, part.csv, lines, written)
        _write_figure(site, part, curves)
    return part


def _light(found: SelectedFeatures) -> SelectedFeatures:
    """Return the most frequent features only: a page may have thousands of cells, and a cell 20,000 frequencies."""
    report = found.stability
    light = None if report is None else replace(report, frequencies=(), feature_names=())
    return replace(found, frame=found.frame.head(TOP), stability=light)


def _crossed(
    entries: Sequence[Entry], whole: dict[str, pd.DataFrame], href: Callable[[Entry], str] | None
) -> dict[str, Any]:
    """Return a table with a line a feature and a column a method, those first that the methods select most often."""
    frames = [whole[entry.cell.id].set_index("feature") for entry in entries]
    frequency = pd.concat([frame["frequency"] for frame in frames], axis=1, sort=False).fillna(0.0)
    weight = pd.concat([frame["weight"] for frame in frames], axis=1, sort=False)
    top = frequency.mean(axis=1).sort_values(ascending=False, kind="stable").index[:TOP]
    rows = [
        {"feature": feature, "cells": list(zip(*numbers, strict=True))}
        for feature, *numbers in zip(top, frequency.loc[top].to_numpy(), weight.loc[top].to_numpy(), strict=True)
    ]
    methods = [(entry.row, href(entry) if href else "") for entry in entries]
    return {"methods": methods, "n": len(frequency), "rows": rows}


def _notes(entries: Sequence[Entry], stored: set[str], selecting: set[str], part: FeaturesPart) -> list[str]:
    """Return what is not in the tables, and why: methods that keep all features, no lists, no names."""
    without: dict[str, dict[str, None]] = {}
    for entry in entries:
        cell = entry.cell.id
        if cell in stored and cell not in selecting:
            without.setdefault(KEEPS_ALL, {})[entry.row] = None
        elif cell in stored and cell not in part.cells:
            without.setdefault(NO_LIST, {})[entry.row] = None
    notes = [f"{', '.join(rows)}: {reason}" for reason, rows in without.items()]
    said = {note for found in part.cells.values() for note in found.note.split("; ") if note}
    return [*notes, *sorted(said)]


def _write_csv(site: Site, address: str, lines: Sequence[Entry], written: dict[str, pd.DataFrame]) -> None:
    frames = [
        written[entry.cell.id].assign(dataset=entry.dataset, column=entry.column, method=entry.row) for entry in lines
    ]
    path = site.folder / address
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.concat(frames, ignore_index=True)[["dataset", "column", "method", *COLUMNS]]
    write_csv(pa.Table.from_pandas(frame, preserve_index=False), path)


def _write_figure(site: Site, part: FeaturesPart, curves: dict[tuple[str, str], list[NDArray[np.float64]]]) -> None:
    """Draw the mean over data sets of the frequency of the k-th most frequent feature."""
    means, methods = [], list(dict.fromkeys(method for _, method in curves))
    for column, method in product(part.columns, methods):
        arrays = curves.get((column, method), [np.empty(0)])
        total = np.zeros(max(each.size for each in arrays))
        for each in arrays:
            total[: each.size] += each / len(arrays)
        means.append(pd.DataFrame({"column": column, "method": method, "frequency": total}))
    with only_formats("svg"), style():
        save_figure(frequency_figure(pd.concat(means)), (site.folder / part.figure).with_suffix(""))
