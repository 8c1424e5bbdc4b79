"""Features that the cells of a page select: tables, stability, a figure, and a file with more features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.core.selected import COLUMNS, KEEPS_ALL, NO_LIST, SelectedFeatures
from provlab.core.tables import write_frame
from provlab.report.figures.curves import PANELS, frequency_figure
from provlab.report.figures.style import only_formats, save_figure, style
from provlab.report.templating import Site

TOP = 30
"""Number of features in a table, which are the most frequent ones."""

MAX_GROUPS, MAX_STABILITIES = 6, 300
"""Limits of a page: tables of features, one per data set and column, and rows of the table of stability."""

MAX_LINES = 20_000
"""Row limit of the CSV file. For pages with many cells it has only the most frequent features, at least `TOP`."""

MAX_NOTES = 3
"""Reasons why names or stabilities are missing."""

MAX_METHODS = 20
"""Method limit of the figure: more lines would not be distinguishable. The table has all stabilities."""

MAX_RANKS = 2000
"""Number of points of a line in the figure."""


class FeaturesLine(NamedTuple):
    """A cell, by its id, and its position on a page: method, data set and column, such as a number of features."""

    method: str
    column: str
    dataset: str
    cell: str
    href: str = ""
    """Address of the cell's own page, relative to the report."""


@dataclass(eq=False)
class FeaturesPart:
    """Content of features.html and of the pages of single cells.

    Attributes
    ----------
    cells : dict
        The `TOP` most frequent features of each cell with a list, by the cell's id.
    counts : dict
        By the cell's id: how many features every selection contains, and how many any
        selection contains.
    lines : list of FeaturesLine
        Some of the `n_lines` cells with a list, grouped by data set.
    groups : list of dict
        Some of the `n_groups` pairs of data set and column. Each has `dataset`,
        `column`, `lines`, the number `n` of features that any line selects, and `rows`
        of the `TOP` features, with the frequency and weight in each line.
    notes : list of str
        Missing parts, with the reasons.
    csv, figure : str
        Addresses relative to the report, "" for a missing file.
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
        return any(
            selected.frame["weight"].notna().any() for selected in self.cells.values()
        )


def write_features(
    site: Site,
    lines: Sequence[FeaturesLine],
    selects: pd.Series,
    features: Iterable[tuple[str, SelectedFeatures]],
    folder: str,
    csv: str = "",
) -> FeaturesPart:
    """Write the files of the section "Which features?" of a page, and return the content of its template.

    Parameters
    ----------
    site : Site
    lines : sequence of FeaturesLine
        Several lines may refer to the same cell.
    selects : Series of bool
        Whether any trial of a cell selects only some features, by the id of each cell
        with trials.
    features : iterable of (str, SelectedFeatures)
        Id and features of each such cell. An iterator saves memory, because a page may
        have thousands of cells.
    folder : str
        Folder of the page's files, relative to the report.
    csv : str, optional
        Address of an existing CSV file with the same features; by default one is
        written.
    """
    groups = _by_place(lines, selects)
    in_tables = {
        line.cell for members in list(groups.values())[:MAX_GROUPS] for line in members
    }
    n_lines = max(
        TOP, MAX_LINES // max(1, sum(len(members) for members in groups.values()))
    )
    part = FeaturesPart()
    frames: dict[str, pd.DataFrame] = {}
    curves: dict[str, NDArray[np.float64]] = {}
    for cell, selected in features:
        if selected.n_selections:
            frequency = selected.frame["frequency"].to_numpy()
            part.cells[cell] = replace(selected, frame=selected.frame.head(TOP))
            part.counts[cell] = int((frequency == 1).sum()), frequency.size
            frames[cell] = (
                selected.frame if cell in in_tables else selected.frame.head(n_lines)
            )
            curves[cell] = frequency[:MAX_RANKS]
    for number, ((dataset, column), members) in enumerate(groups.items()):
        with_list = [line for line in members if line.cell in part.cells]
        part.lines += with_list
        if with_list:
            part.n_groups += 1
            if number < MAX_GROUPS:
                part.groups.append(
                    {
                        "dataset": dataset,
                        "column": column,
                        **_crossed(with_list, frames),
                    }
                )
    part.notes = _notes(lines, selects, part)
    if part.lines:
        part.csv = csv or f"{folder}/which-features.csv"
        if not csv:
            _write_csv(site.folder / part.csv, part.lines, frames, n_lines)
        if len({line.method for line in part.lines}) <= MAX_METHODS:
            part.figure = f"{folder}/which-features.svg"
            columns = list(
                dict.fromkeys(line.column for line in lines if selects.get(line.cell))
            )
            _write_figure(site.folder / part.figure, columns, part.lines, curves)
    part.n_lines = len(part.lines)
    part.lines = part.lines[:MAX_STABILITIES]
    return part


def _by_place(
    lines: Sequence[FeaturesLine], selects: pd.Series
) -> dict[tuple[str, str], list[FeaturesLine]]:
    """Return the lines of cells that select only some features, grouped by data set and column."""
    datasets = list(dict.fromkeys(line.dataset for line in lines))
    groups: dict[tuple[str, str], list[FeaturesLine]] = {}
    for line in sorted(lines, key=lambda line: datasets.index(line.dataset)):
        if selects.get(line.cell):
            groups.setdefault((line.dataset, line.column), []).append(line)
    return groups


def _crossed(
    lines: Sequence[FeaturesLine], frames: Mapping[str, pd.DataFrame]
) -> dict[str, Any]:
    """Return a table of features by methods, with the most often selected features first."""
    by_method = [frames[line.cell].set_index("feature") for line in lines]
    frequency = pd.concat(
        [frame["frequency"] for frame in by_method], axis=1, sort=False
    ).fillna(0.0)
    weight = pd.concat([frame["weight"] for frame in by_method], axis=1, sort=False)
    top = frequency.mean(axis=1).sort_values(ascending=False, kind="stable").index[:TOP]
    rows = []
    for feature, frequencies, weights in zip(
        top, frequency.loc[top].to_numpy(), weight.loc[top].to_numpy(), strict=True
    ):
        rows.append(
            {"feature": feature, "cells": list(zip(frequencies, weights, strict=True))}
        )
    return {"lines": lines, "n": len(frequency), "rows": rows}


def _notes(
    lines: Sequence[FeaturesLine], selects: pd.Series, part: FeaturesPart
) -> list[str]:
    """Return notes on methods that the tables omit because they keep all features, or lists or names are missing."""
    methods_without: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.cell in selects.index and line.cell not in part.cells:
            reason = NO_LIST if selects[line.cell] else KEEPS_ALL
            methods_without.setdefault(reason, {})[line.method] = None
    notes = [
        f"{', '.join(methods)}: {reason}" for reason, methods in methods_without.items()
    ]
    of_cells = sorted(
        {
            note
            for selected in part.cells.values()
            for note in selected.note.split("; ")
            if note
        }
    )
    notes += of_cells[:MAX_NOTES]
    if len(of_cells) > MAX_NOTES:
        notes.append(f"and {len(of_cells) - MAX_NOTES} more notes like these")
    return notes


def _write_csv(
    path: Path,
    lines: Sequence[FeaturesLine],
    frames: Mapping[str, pd.DataFrame],
    n_lines: int,
) -> None:
    """Write the top features of each line with its method, column and data set."""
    parts = []
    for line in lines:
        frame = frames[line.cell].head(n_lines)
        parts.append(
            frame.assign(method=line.method, column=line.column, dataset=line.dataset)
        )
    write_frame(pd.concat(parts)[["method", "column", "dataset", *COLUMNS]], path)


def _write_figure(
    path: Path,
    columns: Sequence[str],
    lines: Sequence[FeaturesLine],
    curves: Mapping[str, NDArray[np.float64]],
) -> None:
    """Plot the frequency of the k-th most frequent feature, averaged over data sets, for at most `PANELS` columns."""
    if len(columns) > PANELS:
        columns = [columns[0], columns[len(columns) // 2], columns[-1]]
    means = []
    for column in columns:
        for method in dict.fromkeys(line.method for line in lines):
            of_cells = [
                pd.Series(curves[line.cell])
                for line in lines
                if (line.column, line.method) == (column, method)
            ]
            if of_cells:
                frequency = pd.concat(of_cells, axis=1).fillna(0.0).mean(axis=1)
                means.append(
                    pd.DataFrame(
                        {"column": column, "method": method, "frequency": frequency}
                    )
                )
    with only_formats("svg"), style():
        save_figure(frequency_figure(pd.concat(means)), path.with_suffix(""))
