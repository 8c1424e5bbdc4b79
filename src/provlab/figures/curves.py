"""Curves: a number against the number of features; and error bars: a number on each of many data sets."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from provlab.figures.looks import looks
from provlab.figures.style import TWO_COLUMNS, legend_of, save_figure, style

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
        Let the y axis begin at 0, which a logarithmic one cannot.

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    methods, datasets = list(frame["row"].unique()), list(frame["dataset"].unique())
    frame = frame.astype({"value": float, "sd": float}).assign(x=frame["column"].astype(float))
    frame = frame.sort_values("x", kind="stable")
    n_lines = max(math.ceil(len(datasets) / PANELS), 1)
    n_columns = min(PANELS, max(len(datasets), 1))  # one empty panel where nothing is stored
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.8 + 1.9 * n_lines), layout="constrained")
        panels = figure.subplots(n_lines, n_columns, squeeze=False)
        for place, (panel, dataset) in enumerate(zip(panels.flat, datasets, strict=False)):
            found = frame[frame["dataset"] == dataset].dropna(subset=["value"])
            for k, (method, look) in enumerate(looks(methods).items()):
                line = found[found["row"] == method]
                x, y, spread = line[["x", "value", "sd"]].to_numpy().T
                if method == flat and len(line):  # the same in every column
                    panel.axhline(y[0], color=look.colour, linestyle="--", label=method)
                    if spread[0] > 0:
                        panel.axhspan(y[0] - spread[0], y[0] + spread[0], color=look.colour, alpha=0.07, linewidth=0)
                elif len(line):
                    # bars a little apart, so that those of one x do not hide each other
                    shift = (k - len(methods) / 2) * 0.004
                    beside = x * (1 + 4 * shift) if "x" in log else x + shift * x.max()
                    panel.vlines(beside, y - spread, y + spread, color=look.colour, linewidth=0.5, alpha=0.4)
                    panel.plot(x, y, look.marker + look.linestyle, color=look.colour, label=method, markersize=2.5)
            panel.set_title(dataset)
            if "x" in log and len(found):
                panel.set_xscale("log")
                panel.xaxis.set_minor_locator(NullLocator())
            if "y" in log:
                panel.set_yscale("log")
            ticks = found.drop_duplicates("x")
            panel.set_xticks(ticks["x"], ticks["column"])
            panel.tick_params(axis="x", labelrotation=45 if len(ticks) > 6 else 0)
            panel.grid(axis="y")
            if from_zero:
                panel.set_ylim(bottom=0)
            if place + n_columns >= len(datasets):  # with none below
                panel.set_xlabel(xlabel)
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        for panel in panels[:, 0]:
            panel.set_ylabel(ylabel)
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
    methods, columns = looks(frame["row"]), frame["column"].unique()
    datasets = frame.groupby("dataset")["value"].mean().sort_values(kind="stable").index
    place = {name: k for k, name in enumerate(datasets, start=1)}
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.6 + 2.0 * len(columns)), layout="constrained")
        panels = np.atleast_1d(figure.subplots(len(columns), 1, sharex=True, sharey=True))
        for panel, column in zip(panels, columns, strict=True):
            for k, (row, look) in enumerate(methods.items()):
                part = frame[(frame["row"] == row) & (frame["column"] == column)].dropna(subset=["value"])
                if part.empty:
                    continue
                x = part["dataset"].map(place) + 0.6 * ((k + 0.5) / len(methods) - 0.5)
                y, spread = part["value"], part["sd"]
                # bars stay pale, so that hundreds of them do not hide the markers
                panel.vlines(x, y - spread, y + spread, color=look.colour, linewidth=0.4, alpha=0.35)
                panel.plot(x, y, look.marker, color=look.colour, label=row, markersize=2.2, markeredgewidth=0.6)
            panel.set_ylabel(f"test error (%)\n{column}")
            panel.set_xlim(0, len(datasets) + 1)
            panel.set_ylim(bottom=0)
            panel.grid(axis="y")
        panels[-1].set_xlabel("data set, by the mean error of all methods (names in the CSV file)")
        legend_of(figure, panels, list(methods))
        return save_figure(figure, stem, title)
