"""Curves: a number against the number of features; and error bars: a number on each of many data sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from provlab.figures.looks import Look, looks
from provlab.figures.style import TWO_COLUMNS, legend_of, save_figure, style

PANELS = 3
"""Panels in a row, at two columns."""

LARGER = 1.5
"""How much larger an inset must show the curves to be worth its place."""

AROUND = 0.09, 0.13
"""Parts of a panel's height below an inset, for the numbers of its axis, and between it and the curves."""


def draw_curves(
    frame: pd.DataFrame,
    stem: Path,
    title: str,
    *,
    ylabel: str,
    flat: str = "",
    xlabel: str = "number of selected features",
    log: str = "",
    from_zero: bool = False,
) -> list[Path]:
    """Draw a line a method with bars of one sd, in one panel a data set.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.frames`, with numbers as columns, such as those of features.
    stem : path
        Where the files go, without suffix.
    title, ylabel : str
    flat : str, optional
        A method that does not depend on the number of features: one dashed line, with its sd as a band.
    xlabel : str, optional
    log : {"", "x", "y", "xy"}
        Axes that are logarithmic.
    from_zero : bool, optional
        Let the y axis begin at 0, which a logarithmic one cannot. Where that leaves the curves close together and room
        below them, an inset shows them without their bars.

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    methods, datasets = list(frame["row"].unique()), list(frame["dataset"].unique())
    lines = max(math.ceil(len(datasets) / PANELS), 1)
    columns = min(PANELS, max(len(datasets), 1))  # one empty panel where nothing is stored
    look = looks(methods)
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.8 + 1.9 * lines), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False)
        names = {float(column): column for column in frame["column"].unique()}
        for panel, dataset in zip(panels.flat, datasets, strict=False):
            found = frame[frame["dataset"] == dataset].dropna(subset=["value"])
            x = sorted({float(column) for column in found["column"]})
            for k, method in enumerate(methods):
                # bars a little apart, so that those of one x do not hide each other
                shift = (k - len(methods) / 2) * 0.004
                _draw_method(panel, found[found["row"] == method], look[method], shift, "x" in log, method == flat)
            panel.set_title(dataset)
            if "x" in log and x:
                panel.set_xscale("log")
                panel.xaxis.set_minor_locator(NullLocator())
            if "y" in log:
                panel.set_yscale("log")
            panel.set_xticks(x, [names[value] for value in x])
            panel.tick_params(axis="x", labelrotation=45 if len(x) > 6 else 0)
            _draw_grid(panel)
            if from_zero:
                panel.set_ylim(bottom=0)
                _draw_inset(panel, found, look, flat)
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        for line in panels:
            line[0].set_ylabel(ylabel)
        for panel in panels.flat[: len(datasets)][-columns:]:  # with none below
            panel.set_xlabel(xlabel)
        legend_of(figure, panels.flat, methods)
        return save_figure(figure, stem, title)


def draw_error_bars(frame: pd.DataFrame, stem: Path, title: str) -> list[Path]:
    """Draw one panel a column of the artefact: data sets along x, a marker and a bar of one sd a method.

    Data sets stand by increasing mean error of all methods; an order by name would be no order to the eye.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.frames`; values in percent.
    stem : path
        Where the files go, without suffix.
    title : str

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    frame = frame.astype({"value": float, "sd": float})
    rows, columns = list(frame["row"].unique()), frame["column"].unique()
    look = looks(rows)
    datasets = frame.groupby("dataset")["value"].mean().sort_values(kind="stable").index
    place = {name: k for k, name in enumerate(datasets)}
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.6 + 2.0 * len(columns)), layout="constrained")
        panels = np.atleast_1d(figure.subplots(len(columns), 1, sharex=True, sharey=True))
        for panel, column in zip(panels, columns, strict=True):
            for k, row in enumerate(rows):
                part = frame[(frame["row"] == row) & (frame["column"] == column)].dropna(subset=["value"])
                if part.empty:
                    continue
                x = part["dataset"].map(place) + 1 + 0.6 * ((k + 0.5) / len(rows) - 0.5)
                y, spread, colour = part["value"], part["sd"], look[row].colour
                # bars stay pale, so that hundreds of them do not hide the markers
                panel.vlines(x, y - spread, y + spread, color=colour, linewidth=0.4, alpha=0.35)
                panel.plot(x, y, look[row].marker, color=colour, label=row, markersize=2.2, markeredgewidth=0.6)
            panel.set_ylabel(f"test error (%)\n{column}")
            panel.set_xlim(0, len(datasets) + 1)
            panel.set_ylim(bottom=0)
            _draw_grid(panel)
        panels[-1].set_xlabel("data set, by the mean error of all methods (names in the CSV file)")
        legend_of(figure, panels, rows)
        return save_figure(figure, stem, title)


def _draw_grid(panel: Axes) -> None:
    panel.grid(axis="y", linewidth=0.3, color="0.85")
    panel.set_axisbelow(True)


def _draw_method(panel: Axes, part: pd.DataFrame, look: Look, shift: float, log: bool, flat: bool) -> None:
    """Draw the line of a method with its bars; or its one number, the same in every column, with a band."""
    if part.empty:
        return
    x, y, spread = _points(part)
    label = str(part["row"].iloc[0])
    if flat:
        panel.axhline(y[0], color=look.colour, linestyle="--", label=label)
        if spread[0] > 0:
            panel.axhspan(y[0] - spread[0], y[0] + spread[0], color=look.colour, alpha=0.07, linewidth=0)
        return
    beside = x * (1 + 4 * shift) if log else x + shift * x.max()
    panel.vlines(beside, y - spread, y + spread, color=look.colour, linewidth=0.5, alpha=0.4)
    panel.plot(x, y, look.marker + look.linestyle, color=look.colour, label=label, markersize=2.5)


def _draw_inset(panel: Axes, found: pd.DataFrame, look: Mapping[str, Look], flat: str) -> None:
    """Show the means larger in the room below them, where there is enough of it."""
    values, spreads = found["value"].astype(float), found["sd"].astype(float).fillna(0)
    if values.empty:
        return
    top, (below, between) = panel.get_ylim()[1], AROUND
    height = float((values - spreads).min()) / top - below - between
    if height < LARGER * float(values.max() - values.min()) / top:
        return
    inset = panel.inset_axes((0.12, below, 0.86, height))
    for method, part in found.groupby("row", sort=False):
        kind = look[str(method)]
        x, y, _ = _points(part)
        if method == flat:
            inset.axhline(y[0], color=kind.colour, linestyle="--")
        else:
            inset.plot(x, y, kind.marker + kind.linestyle, color=kind.colour, markersize=2.0, linewidth=0.6)
    inset.set_xscale(panel.get_xscale())
    inset.set_xlim(panel.get_xlim())
    inset.set_xticks([])
    inset.tick_params(axis="y", labelsize=5, length=2, pad=1)
    inset.grid(axis="y", linewidth=0.3, color="0.85")
    inset.patch.set_alpha(0)
    inset.spines[["top", "right"]].set_visible(True)
    inset.spines[:].set_linewidth(0.4)


def _points(part: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, y and the sd of a method, by x."""
    found = part[["column", "value", "sd"]].astype(float).sort_values("column", kind="stable")
    x, y, spread = found.to_numpy().T
    return x, y, spread
