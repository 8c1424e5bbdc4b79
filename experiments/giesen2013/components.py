"""Numbers of compressed models against l, the number of random combinations: a row of panels a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provlab.report.figures.looks import Look, looks
from provlab.report.figures.style import TWO_COLUMNS, legend_of, save_figure, style


@dataclass(frozen=True)
class Panel:
    """One row of panels.

    Attributes
    ----------
    quantity : str
        Column of the trials.
    label : str
        Of the y axis.
    log : bool
        Whether that axis is logarithmic.
    limit : float or None
        A number to draw as a line: what a theorem allows.
    beside : str
        Another column, without regard to the method, whose median is drawn as a dotted
        line; "" for none.
    """

    quantity: str
    label: str
    log: bool = False
    limit: float | None = None
    beside: str = ""


def draw_against_components(
    trials: pd.DataFrame, panels: Sequence[Panel], stem: Path, title: str
) -> list[Path]:
    """Draw medians over draws as lines, and the range of the draws as bands, one column of panels a data set.

    Parameters
    ----------
    trials : DataFrame
        `row`, `dataset`, `l` and the quantities; one line a trial. A method that has
        one l only, or NaN as l, is a dashed line through the panel.
    panels : sequence of Panel
    stem : path
        Where the files go, without suffix.
    title : str

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    methods, datasets = list(trials["row"].unique()), list(trials["dataset"].unique())
    look = looks(methods)
    with style():
        size = TWO_COLUMNS, 0.9 + 1.7 * len(panels)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(
            len(panels),
            max(1, len(datasets)),
            squeeze=False,
            sharex="col",
            sharey="row",
        )
        for line, panel in zip(grid, panels, strict=True):
            for axes, dataset in zip(line, datasets, strict=False):
                _draw(axes, trials[trials["dataset"] == dataset], panel, look)
            line[0].set_ylabel(panel.label)
        for axes, dataset in zip(grid[0], datasets, strict=False):
            axes.set_title(dataset)
        for axes in grid[-1]:
            axes.set_xlabel(r"$\ell$")
        legend_of(figure, grid.flat, methods)
        return save_figure(figure, stem, title)


def _draw(
    axes: Axes, trials: pd.DataFrame, panel: Panel, looks_of: Mapping[str, Look]
) -> None:
    for method, kind in looks_of.items():
        part = trials[trials["row"] == method].dropna(subset=[panel.quantity])
        if part.empty:
            continue
        if part["l"].isna().all():
            axes.axhline(
                float(part[panel.quantity].median()),
                linestyle="--",
                color=kind.colour,
                label=method,
            )
            continue
        groups = part.groupby("l")[panel.quantity]
        x, middle = groups.median().index.to_numpy(float), groups.median().to_numpy()
        axes.fill_between(
            x, groups.min(), groups.max(), color=kind.colour, alpha=0.15, linewidth=0
        )
        axes.plot(
            x,
            middle,
            kind.marker + kind.linestyle,
            markersize=2.5,
            color=kind.colour,
            label=method,
        )
    if panel.limit is not None:
        axes.axhline(panel.limit, color="black", linewidth=0.6)
    if panel.beside:
        value = float(trials[panel.beside].median())
        if not np.isnan(value):
            axes.axhline(value, color="0.4", linestyle=":", label="w = 0")
    axes.set_xscale("log")
    axes.set_yscale("log" if panel.log else "linear")
    axes.grid(axis="y")
