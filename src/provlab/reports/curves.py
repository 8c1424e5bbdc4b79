"""A number against the number of features, one panel a data set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from provlab.reports.figures import TWO_COLUMNS, legend_of, save_titled, style
from provlab.reports.looks import Look, looks

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
    columns = min(PANELS, max(len(datasets), 1))  # one empty panel where nothing is stored
    lines = max(math.ceil(len(datasets) / PANELS), 1)
    look = looks(methods)
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.8 + 1.9 * lines), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False)
        names = {float(column): column for column in frame["column"].unique()}
        for panel, dataset in zip(panels.flat, datasets, strict=False):
            found = frame[frame["dataset"] == dataset].dropna(subset=["value"])
            x = sorted({float(column) for column in found["column"]})
            for k, method in enumerate(methods):
                part = found[found["row"] == method]
                if part.empty:
                    continue
                if method == flat:
                    _draw_flat(panel, part, method, look[method])
                else:
                    shift = (k - len(methods) / 2) * 0.004
                    _draw_line(panel, part, shift, "x" in log, max(x, default=1), method, look[method])
            panel.set_title(dataset)
            if "x" in log and x:
                panel.set_xscale("log")
                panel.xaxis.set_minor_locator(NullLocator())
            if "y" in log:
                panel.set_yscale("log")
            panel.set_xticks(x, [names[value] for value in x])
            panel.tick_params(axis="x", labelrotation=45 if len(x) > 6 else 0)
            panel.grid(axis="y", linewidth=0.3, color="0.85")
            panel.set_axisbelow(True)
            if from_zero:
                panel.set_ylim(bottom=0)
                _draw_inset(panel, found, look, flat)
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        for line in panels:
            line[0].set_ylabel(ylabel)
        for panel in panels.flat[: len(datasets)][-panels.shape[1] :]:  # with none below
            panel.set_xlabel(xlabel)
        legend_of(figure, panels.flat, methods)
        return save_titled(figure, stem, title)


def _draw_line(panel: Axes, part: pd.DataFrame, shift: float, log: bool, widest: float, label: str, look: Look) -> None:
    x, y, spread = _points(part)
    # bars a little apart, so that those of one x do not hide each other
    beside = x * (1 + 4 * shift) if log else x + shift * widest
    panel.vlines(beside, y - spread, y + spread, color=look.colour, linewidth=0.5, alpha=0.4)
    panel.plot(x, y, look.marker + look.linestyle, color=look.colour, label=label, markersize=2.5)


def _draw_flat(panel: Axes, part: pd.DataFrame, label: str, look: Look) -> None:
    """Draw a method that has one number in every column."""
    y, spread = float(part["value"].iloc[0]), float(part["sd"].iloc[0])
    panel.axhline(y, color=look.colour, linestyle="--", label=label)
    if spread > 0:
        panel.axhspan(y - spread, y + spread, color=look.colour, alpha=0.07, linewidth=0)


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
        if method == flat:
            inset.axhline(float(part["value"].iloc[0]), color=kind.colour, linestyle="--")
        else:
            x, y, _ = _points(part)
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
    x = part["column"].astype(float).to_numpy()
    order = np.argsort(x)
    return x[order], part["value"].to_numpy(float)[order], part["sd"].to_numpy(float)[order]
