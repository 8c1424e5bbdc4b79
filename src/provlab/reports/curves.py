"""A number against the number of features, one panel a data set."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from provlab.reports.figures import MARKERS, PALETTE, TWO_COLUMNS, legend_below, save_titled, style

PANELS = 3
"""Panels in a row, at two columns."""


def draw_curves(
    frame: pd.DataFrame,
    stem: Path,
    title: str,
    *,
    ylabel: str,
    flat: str = "",
    xlabel: str = "number of selected features",
    log: str = "",
) -> list[Path]:
    """Draw a line a method with bars of one sd, in one panel a data set.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `reports.frames`, with numbers as columns, such as those of features.
    stem : path
        Where the files go, without suffix.
    title, ylabel : str
    flat : str, optional
        A method that does not depend on the number of features: one dashed line, with its sd as a band.
    xlabel : str, optional
    log : {"", "x", "y", "xy"}
        Axes that are logarithmic.

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    methods, datasets = list(frame["row"].unique()), list(frame["dataset"].unique())
    columns = min(PANELS, max(len(datasets), 1))  # one empty panel where nothing is stored
    lines = max(math.ceil(len(datasets) / PANELS), 1)
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.8 + 1.9 * lines), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False)
        names = {float(column): column for column in frame["column"].unique()}
        for panel, dataset in zip(panels.flat, datasets, strict=False):
            found = frame[frame["dataset"] == dataset].dropna(subset=["value"])
            x = sorted({float(column) for column in found["column"]})
            for k, method in enumerate(methods):
                part = found[found["row"] == method]
                look = {"color": PALETTE[k % len(PALETTE)], "label": method}
                if method == flat:
                    _draw_flat(panel, part, **look)
                else:
                    _draw_line(panel, part, (k - len(methods) / 2) * 0.004, k, "x" in log, max(x, default=1), **look)
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
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        for line in panels:
            line[0].set_ylabel(ylabel)
        for panel in panels.flat[: len(datasets)][-panels.shape[1] :]:  # with none below
            panel.set_xlabel(xlabel)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        legend_below(figure, handles, labels)
        return save_titled(figure, stem, title)


def _draw_line(
    panel: Axes, part: pd.DataFrame, shift: float, k: int, log: bool, widest: float, *, color: str, label: str
) -> None:
    x = part["column"].astype(float).to_numpy()
    order = np.argsort(x)
    y, spread = part["value"].to_numpy(float)[order], part["sd"].to_numpy(float)[order]
    # bars a little apart, so that those of one x do not hide each other
    beside = x[order] * (1 + 4 * shift) if log else x[order] + shift * widest
    panel.vlines(beside, y - spread, y + spread, color=color, linewidth=0.5, alpha=0.4)
    panel.plot(x[order], y, MARKERS[k % len(MARKERS)] + "-", color=color, label=label, markersize=2.5)


def _draw_flat(panel: Axes, part: pd.DataFrame, *, color: str, label: str) -> None:
    """Draw a method that has one number in every column."""
    if part.empty:
        panel.plot([], [], "--", color=color, label=label)
        return
    y, spread = float(part["value"].iloc[0]), float(part["sd"].iloc[0])
    panel.axhline(y, color=color, linestyle="--", label=label)
    if spread > 0:
        panel.axhspan(y - spread, y + spread, color=color, alpha=0.07, linewidth=0)
