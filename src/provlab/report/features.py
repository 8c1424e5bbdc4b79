"""Which features the cells of a page select: a table to read, the stability, a figure, and a file with more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from provlab.export import write_csv
from provlab.features import KEEPS_ALL, NO_LIST, OnData, SelectedFeatures, cells_features
from provlab.figures.frequencies import MAX_PANELS, frequency_figure
from provlab.figures.style import only_formats, save_figure, style
from provlab.frames import planned_trials
from provlab.report.templating import Site
from provlab.snapshot import StoreSnapshot

TOP = 30
"""Features of a table, the most frequent ones."""

MAX_GROUPS, MAX_STABILITIES = 6, 300
"""Tables of features of a page, each of one data set and column, and lines of the table of stabilities."""

MAX_LINES = 100_000
"""Of the CSV file: where a page has many cells, it has the most frequent features of each, `TOP` at least."""

MAX_NOTES = 3
"""Reasons why names or stabilities are missing."""

MAX_RANKS = 2000
"""Points of a line of the figure."""


class FeaturesLine(NamedTuple):
    """A cell where a page shows it: its row is a method, its column such as a number of features."""

    method: str
    column: str
    dataset: str
    cell: OnData
    href: str = ""
    """Its own page, below the report."""


@dataclass(eq=False)
class FeaturesPart:
    """What features.html shows, and what pages of single cells show of theirs.

    Attributes
    ----------
    cells : dict
        By the id of each cell with a list: its features, `TOP` of them.
    lines : list of dict
        One a stored `line`, with `found`, and `always` and `ever`, how many features each and any selection has.
    groups : list of dict
        One a data set and column: `dataset`, `column`, its `lines`, `n`, how many features any of them selects, and
        of `TOP` of these `rows`: `feature`, and for each line its frequency and weight.
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
    site: Site,
    store: StoreSnapshot,
    lines: Sequence[FeaturesLine],
    name: str,
    selected: Mapping[str, SelectedFeatures] | None = None,
) -> FeaturesPart:
    """Write the files of the part "Which features?" of a page, and return what its template shows.

    Parameters
    ----------
    site : Site
    store : StoreSnapshot
        Its lists stay on the disk: a few cells are read at a time.
    lines : sequence of FeaturesLine
        Two may be of the same cell.
    name : str
        Folder of the page's files, below files/: a safe name.
    selected : mapping, optional
        What the cells selected, by their ids, where it is at hand; by default it is read, a few cells at a time.

    Raises
    ------
    ValueError
        For a damaged list, see `selected_features`.
    """
    # the same cell may be planned with other numbers of repeats: the largest ones count
    cells = [*{line.cell.id: line.cell for line in sorted(lines, key=lambda line: prod(line.cell.counts))}.values()]
    sizes = planned_trials(store, cells, ["n_selected", "n_features"])
    is_less = (sizes["n_selected"] < sizes["n_features"]).groupby(sizes["place"]).any()
    selecting = {cells[place].id: cells[place] for place in is_less.index[is_less]}
    part, stored = FeaturesPart(), {cells[place].id for place in is_less.index}
    groups: dict[tuple[str, str], list[FeaturesLine]] = {}
    for line in lines:
        if line.cell.id in selecting:
            groups.setdefault((line.dataset, line.column), []).append(line)
    order = [*dict.fromkeys(line.dataset for line in lines)]
    groups = dict(sorted(groups.items(), key=lambda item: order.index(item[0][0])))
    columns = list(dict.fromkeys(column for _, column in groups))
    part.columns = columns if len(columns) <= MAX_PANELS else [columns[0], columns[len(columns) // 2], columns[-1]]
    by_cell: dict[str, list[FeaturesLine]] = {}
    for line in chain.from_iterable(groups.values()):
        by_cell.setdefault(line.cell.id, []).append(line)
    shown = {line.cell.id for members in [*groups.values()][:MAX_GROUPS] for line in members}
    whole: dict[str, pd.DataFrame] = {}
    curves: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    written: dict[str, pd.DataFrame] = {}
    counts: dict[str, dict[str, int]] = {}
    per_line = max(TOP, MAX_LINES // max(1, sum(map(len, groups.values()))))
    chosen = [*selecting.values()]
    read = cells_features(store, chosen) if selected is None else ((cell, selected[cell.id]) for cell in chosen)
    for cell, found in read:
        if not found.n_selections:
            continue
        part.cells[cell.id] = _light(found)
        counts[cell.id] = {"always": int((found.frame["frequency"] == 1).sum()), "ever": len(found.frame)}
        written[cell.id] = found.frame.head(per_line)
        if cell.id in shown:
            whole[cell.id] = found.frame[["feature", "frequency", "weight"]]
        for line in by_cell[cell.id]:
            if line.column in part.columns:
                curve = found.frame["frequency"].to_numpy()[:MAX_RANKS]
                curves.setdefault((line.column, line.method), []).append(curve)
    for (dataset, column), members in groups.items():
        known = [line for line in members if line.cell.id in part.cells]
        part.n_groups += bool(known)
        if known and len(part.groups) < MAX_GROUPS and all(line.cell.id in whole for line in known):
            part.groups.append({"dataset": dataset, "column": column, **_crossed(known, whole)})
    found_lines = [line for line in chain.from_iterable(groups.values()) if line.cell.id in part.cells]
    part.n_lines = len(found_lines)
    part.lines = [
        {"line": line, "found": part.cells[line.cell.id], **counts[line.cell.id]}
        for line in found_lines[:MAX_STABILITIES]
    ]
    part.notes = _notes(lines, stored, set(selecting), part)
    if found_lines:
        part.csv, part.figure = (f"files/{name}/which-features{suffix}" for suffix in (".csv", ".svg"))
        _write_csv(site.folder / part.csv, found_lines, written)
        methods = list(dict.fromkeys(line.method for line in found_lines))
        _write_figure(site.folder / part.figure, part.columns, methods, curves)
    return part


def _light(found: SelectedFeatures) -> SelectedFeatures:
    """Return the most frequent features only: a page may have thousands of cells, and a cell 20,000 frequencies."""
    report = found.stability
    light = None if report is None else replace(report, frequencies=(), feature_names=())
    return replace(found, frame=found.frame.head(TOP), stability=light)


def _crossed(lines: Sequence[FeaturesLine], whole: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Return a table with a line a feature and a column a method, those first that the methods select most often."""
    frames = [whole[line.cell.id].set_index("feature") for line in lines]
    frequency = pd.concat([frame["frequency"] for frame in frames], axis=1, sort=False).fillna(0.0)
    weight = pd.concat([frame["weight"] for frame in frames], axis=1, sort=False)
    top = frequency.mean(axis=1).sort_values(ascending=False, kind="stable").index[:TOP]
    rows = [
        {"feature": feature, "cells": list(zip(*numbers, strict=True))}
        for feature, *numbers in zip(top, frequency.loc[top].to_numpy(), weight.loc[top].to_numpy(), strict=True)
    ]
    return {"lines": lines, "n": len(frequency), "rows": rows}


def _notes(lines: Sequence[FeaturesLine], stored: set[str], selecting: set[str], part: FeaturesPart) -> list[str]:
    """Return what is not in the tables, and why: methods that keep all features, no lists, no names."""
    without: dict[str, dict[str, None]] = {}
    for line in lines:
        cell = line.cell.id
        if cell in stored and cell not in part.cells:
            without.setdefault(NO_LIST if cell in selecting else KEEPS_ALL, {})[line.method] = None
    notes = [f"{', '.join(methods)}: {reason}" for reason, methods in without.items()]
    said = {note for found in part.cells.values() for note in found.note.split("; ") if note}
    more = [f"and {len(said) - MAX_NOTES} more notes like these"] if len(said) > MAX_NOTES else []
    return [*notes, *sorted(said)[:MAX_NOTES], *more]


def _write_csv(path: Path, lines: Sequence[FeaturesLine], written: dict[str, pd.DataFrame]) -> None:
    frames = [written[line.cell.id] for line in lines]
    frame, sizes = pd.concat(frames, ignore_index=True), [len(each) for each in frames]
    for name in ("method", "column", "dataset"):
        frame.insert(0, name, np.repeat([getattr(line, name) for line in lines], sizes))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(pa.Table.from_pandas(frame, preserve_index=False), path)


def _write_figure(
    path: Path, columns: list[str], methods: list[str], curves: dict[tuple[str, str], list[NDArray[np.float64]]]
) -> None:
    """Draw the mean over data sets of the frequency of the k-th most frequent feature."""
    means = []
    for column, method in product(columns, methods):
        arrays = curves.get((column, method), [np.empty(0)])
        total = np.zeros(max(each.size for each in arrays))
        for each in arrays:
            total[: each.size] += each / len(arrays)
        means.append(pd.DataFrame({"column": column, "method": method, "frequency": total}))
    with only_formats("svg"), style():
        save_figure(frequency_figure(pd.concat(means)), path.with_suffix(""))
