"""Which features the cells of a page select: a table to read, the stability, a figure, and a file with more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.core.frames import Planned, planned_trials
from provlab.core.snapshot import StoreSnapshot
from provlab.core.tables import write_frame
from provlab.report.figures.curves import PANELS, frequency_figure
from provlab.report.figures.style import only_formats, save_figure, style
from provlab.report.selected import KEEPS_ALL, NO_LIST, SelectedFeatures, cells_features
from provlab.report.templating import Site

TOP = 30
"""Features of a table, the most frequent ones."""

MAX_GROUPS, MAX_STABILITIES = 6, 300
"""Tables of features of a page, each of one data set and column, and lines of the table of stabilities."""

MAX_LINES = 20_000
"""Of the CSV file: where a page has many cells, it has the most frequent features of each, `TOP` at least."""

MAX_NOTES = 3
"""Reasons why names or stabilities are missing."""

MAX_METHODS = 20
"""Of the figure; with more its lines are not told apart, and the table has the stability of each."""

MAX_RANKS = 2000
"""Points of a line of the figure."""


class FeaturesLine(NamedTuple):
    """A cell where a page shows it: its row is a method, its column such as a number of features."""

    method: str
    column: str
    dataset: str
    cell: Planned
    href: str = ""
    """Its own page, below the report."""


@dataclass(eq=False)
class FeaturesPart:
    """What features.html shows, and what pages of single cells show of theirs.

    Attributes
    ----------
    cells : dict
        By the id of each cell with a list: its features, `TOP` of them.
    counts : dict
        By the same: how many features each selection has, and how many any of them.
    lines : list of FeaturesLine
        Some of the `n_lines` with a list, data set by data set.
    groups : list of dict
        Some of the `n_groups` data sets and columns: `dataset`, `column`, its `lines`, `n`, how many features any of
        them selects, and of `TOP` of these `rows`: `feature`, and for each line its frequency and weight.
    notes : list of str
        What is missing, and why.
    csv, figure : str
        Address below the report; "" where there is none.
    """

    cells: dict[str, SelectedFeatures] = field(default_factory=dict)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    lines: list[FeaturesLine] = field(default_factory=list)
    n_lines: int = 0
    groups: list[dict[str, Any]] = field(default_factory=list)
    n_groups: int = 0
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
    folder: str,
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
    folder : str
        Of the page's files, below the report.
    selected : mapping, optional
        What the cells selected, by their ids, where it is at hand, and with it their features.csv in the folder.

    Raises
    ------
    ValueError
        For a damaged list, see `selected_features`.
    """
    # the same cell may be planned with other numbers of repeats: the largest ones count
    cells = {line.cell.id: line.cell for line in sorted(lines, key=lambda line: prod(line.cell.counts))}
    sizes = planned_trials(store, [*cells.values()], ["n_selected", "n_features"])
    selects = (sizes["n_selected"] < sizes["n_features"]).groupby(sizes["cell"]).any()
    chosen = [cells[name] for name in selects.index[selects]]
    order = {name: place for place, name in enumerate(dict.fromkeys(line.dataset for line in lines))}
    groups: dict[tuple[str, str], list[FeaturesLine]] = {}
    for line in sorted(lines, key=lambda line: order[line.dataset]):
        if selects.get(line.cell.id):
            groups.setdefault((line.dataset, line.column), []).append(line)
    columns = list(dict.fromkeys(line.column for line in lines if selects.get(line.cell.id)))
    drawn = columns if len(columns) <= PANELS else [columns[0], columns[len(columns) // 2], columns[-1]]
    shown = {line.cell.id for members in [*groups.values()][:MAX_GROUPS] for line in members}
    per_line = max(TOP, MAX_LINES // max(1, sum(map(len, groups.values()))))
    part, whole = FeaturesPart(), dict[str, pd.DataFrame]()
    most, curves = dict[str, pd.DataFrame](), dict[str, NDArray[np.float64]]()
    for cell, found in cells_features(store, chosen) if selected is None else ((c, selected[c.id]) for c in chosen):
        if not found.n_selections:
            continue
        frequency = found.frame["frequency"].to_numpy()
        part.cells[cell.id] = replace(found, frame=found.frame.head(TOP))  # a page may have thousands of cells
        part.counts[cell.id] = int((frequency == 1).sum()), frequency.size
        most[cell.id], curves[cell.id] = found.frame.head(per_line), frequency[:MAX_RANKS]
        if cell.id in shown:
            whole[cell.id] = found.frame[["feature", "frequency", "weight"]]
    known = list[FeaturesLine]()
    for place, ((dataset, column), members) in enumerate(groups.items()):
        if own := [line for line in members if line.cell.id in part.cells]:
            known += own
            part.n_groups += 1
            if place < MAX_GROUPS:
                part.groups.append({"dataset": dataset, "column": column, **_crossed(own, whole)})
    part.lines, part.n_lines = known[:MAX_STABILITIES], len(known)
    part.notes = _notes(lines, selects, part)
    if known:
        part.csv = f"{folder}/features.csv"
        if selected is None:
            part.csv = f"{folder}/which-features.csv"
            names = pd.DataFrame([line[:3] for line in known], columns=["method", "column", "dataset"])
            frame = pd.concat([most[line.cell.id] for line in known], keys=range(len(known)), names=["line"])
            write_frame(names.join(frame.droplevel(1)), site.folder / part.csv)
        if len({line.method for line in known}) <= MAX_METHODS:
            part.figure = f"{folder}/which-features.svg"
            _write_figure(site.folder / part.figure, drawn, known, curves)
    return part


def _crossed(lines: Sequence[FeaturesLine], whole: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
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


def _notes(lines: Sequence[FeaturesLine], selects: pd.Series, part: FeaturesPart) -> list[str]:
    """Return what is not in the tables, and why: methods that keep all features, no lists, no names.

    `selects` says of each cell with trials whether some of them has a part of the features.
    """
    without: dict[str, dict[str, None]] = {}
    for line in lines:
        cell = line.cell.id
        if cell in selects.index and cell not in part.cells:
            without.setdefault(NO_LIST if selects[cell] else KEEPS_ALL, {})[line.method] = None
    notes = [f"{', '.join(methods)}: {reason}" for reason, methods in without.items()]
    said = {note for found in part.cells.values() for note in found.note.split("; ") if note}
    more = [f"and {len(said) - MAX_NOTES} more notes like these"] if len(said) > MAX_NOTES else []
    return [*notes, *sorted(said)[:MAX_NOTES], *more]


def _write_figure(
    path: Path, columns: Sequence[str], lines: Sequence[FeaturesLine], curves: Mapping[str, NDArray[np.float64]]
) -> None:
    """Draw the mean over data sets of the frequency of the k-th most frequent feature."""
    means = []
    for column, method in product(columns, dict.fromkeys(line.method for line in lines)):
        own = [curves[line.cell.id] for line in lines if (line.column, line.method) == (column, method)]
        ranks = pd.concat([pd.Series(each) for each in own], axis=1).fillna(0.0).mean(axis=1) if own else []
        means.append(pd.DataFrame({"column": column, "method": method, "frequency": ranks}))
    with only_formats("svg"), style():
        save_figure(frequency_figure(pd.concat(means)), path.with_suffix(""))
