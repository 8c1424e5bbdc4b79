"""A number against the number of features, one panel a data set."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provsel.reports.error_bars import TITLE_WIDTH
from provsel.reports.figures import MARKERS, PALETTE, TWO_COLUMNS, save_figure, style

PANELS = 3
"""Panels in a row, at two columns."""


def draw_curves(frame: pd.DataFrame, stem: Path, title: str, *, ylabel: str, flat: str = "") -> list[Path]:
    """Draw a line a method with bars of one sd, in one panel a data set.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `reports.frames`, with numbers of features as columns.
    stem : path
        Where the files go, without suffix.
    title, ylabel : str
    flat : str, optional
        A method that does not depend on the number of features: one dashed line, with its sd as a band.

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    methods, datasets = list(frame["row"].unique()), list(frame["dataset"].unique())
    lines = math.ceil(len(datasets) / PANELS)
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.8 + 1.9 * lines), layout="constrained")
        panels = figure.subplots(lines, min(PANELS, len(datasets)), squeeze=False)
        for panel, dataset in zip(panels.flat, datasets, strict=False):
            found = frame[frame["dataset"] == dataset].dropna(subset=["value"])
            x = sorted({int(column) for column in found["column"]})
            for k, method in enumerate(methods):
                part = found[found["row"] == method]
                look = {"color": PALETTE[k % len(PALETTE)], "label": method}
                if method == flat:
                    _draw_flat(panel, part, **look)
                else:
                    _draw_line(panel, part, (k - len(methods) / 2) * 0.004 * (max(x, default=1)), k, **look)
            panel.set_title(dataset)
            panel.set_xticks(x)
            panel.tick_params(axis="x", labelrotation=45 if len(x) > 6 else 0)
            panel.grid(axis="y", linewidth=0.3, color="0.85")
            panel.set_axisbelow(True)
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        for line in panels:
            line[0].set_ylabel(ylabel)
        for panel in panels.flat[: len(datasets)][-panels.shape[1] :]:  # with none below
            panel.set_xlabel("number of selected features")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(textwrap.fill(title, TITLE_WIDTH), fontsize=8)
        return save_figure(figure, stem)


def _draw_line(panel: Axes, part: pd.DataFrame, shift: float, k: int, *, color: str, label: str) -> None:
    x = part["column"].astype(int).to_numpy()
    order = np.argsort(x)
    y, spread = part["value"].to_numpy(float)[order], part["sd"].to_numpy(float)[order]
    # bars a little apart, so that those of one x do not hide each other
    panel.vlines(x[order] + shift, y - spread, y + spread, color=color, linewidth=0.5, alpha=0.4)
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
