"""Figures of methods: curves against the number of features, dots with intervals, and selection frequencies."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

from provlab.report.figures.looks import Look, looks
from provlab.report.figures.style import (
    TWO_COLUMNS,
    draw_bars,
    legend_of,
    save_figure,
    style,
)

PANELS = 3
"""Panels in a row of a figure that is two columns wide."""

KEPT = ", features"
"""Suffix of columns that hold the number of features kept, see `seed_summary`."""


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
    width: float = TWO_COLUMNS,
) -> list[Path]:
    """Draw a line per method with bars, in one panel per data set.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.core.frames`, with numbers as columns, such as numbers
        of features. Bars show one sd, or the range from `low` to `high` if these
        columns exist. A row with the column "<number>, features" has the number of
        features kept. The point is then drawn at this number, with a bar of one sd to
        both sides, instead of at the requested number.
    stem : path
        Where the files go, without suffix.
    title, ylabel : str
    flat : str, optional
        A method that does not depend on the number of features, drawn as a dashed line
        with a band.
    xlabel : str, optional
    log : {"", "x", "y", "xy"}
        Logarithmic axes.
    from_zero : bool, optional
        Whether the y axis starts at 0; not for a logarithmic axis.
    width : float, optional
        In inches.

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    methods = list(frame["row"].unique())
    datasets = list(frame["dataset"].unique())
    frame = with_kept(frame.astype({"value": float}))
    if "low" not in frame:
        sd = frame["sd"].astype(float)
        frame = frame.assign(low=frame["value"] - sd, high=frame["value"] + sd)
    frame = frame.sort_values("x", kind="stable")
    n_lines = max(math.ceil(len(datasets) / PANELS), 1)
    # one empty panel if nothing is stored
    n_columns = min(PANELS, max(len(datasets), 1))
    with style():
        figure = Figure(figsize=(width, 0.8 + 1.9 * n_lines), layout="constrained")
        panels = figure.subplots(n_lines, n_columns, squeeze=False)
        for place, (panel, dataset) in enumerate(
            zip(panels.flat, datasets, strict=False)
        ):
            points = frame[frame["dataset"] == dataset].dropna(subset=["value"])
            for k, (method, look) in enumerate(looks(methods).items()):
                line = points[points["row"] == method]
                if method == flat and len(line):
                    _draw_flat(panel, line.iloc[0], look, method)
                elif len(line):
                    # shift bars slightly so that those at the same x do not overlap
                    shift = (k - len(methods) / 2) * min(0.004, 0.05 / len(methods))
                    _draw_line(panel, line, look, method, shift, is_log="x" in log)
            panel.set_title(dataset)
            if "x" in log and len(points):
                panel.set_xscale("log")
                panel.xaxis.set_minor_locator(NullLocator())
            if "y" in log:
                panel.set_yscale("log")
            ticks = points["column"].unique()
            panel.set_xticks(ticks.astype(float), ticks)
            panel.tick_params(axis="x", labelrotation=45 if len(ticks) > 6 else 0)
            panel.grid(axis="y")
            if from_zero:
                panel.set_ylim(bottom=0)
            if place + n_columns >= len(datasets):  # no panel below
                panel.set_xlabel(xlabel)
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        for panel in panels[:, 0]:
            panel.set_ylabel(ylabel)
        legend_of(figure, panels.flat, methods)
        return save_figure(figure, stem, title)


def _draw_flat(panel: Axes, point: pd.Series, look: Look, method: str) -> None:
    """Draw a number that is the same in every column as a dashed line with a band."""
    panel.axhline(point["value"], color=look.colour, linestyle="--", label=method)
    if point["low"] < point["high"]:
        panel.axhspan(
            point["low"], point["high"], color=look.colour, alpha=0.07, linewidth=0
        )


def _draw_line(
    panel: Axes,
    line: pd.DataFrame,
    look: Look,
    method: str,
    shift: float,
    *,
    is_log: bool,
) -> None:
    """Draw the points of a method with a line through them and bars in both directions."""
    x, y, low, high, left, right = (
        line[["x", "value", "low", "high", "left", "right"]].to_numpy().T
    )
    thin = {"color": look.colour, "linewidth": 0.7, "alpha": 0.75}
    beside = x * (1 + 4 * shift) if is_log else x + shift * x.max()
    draw_bars(panel, (beside, beside), (low, high), **thin)
    wide = left < right
    draw_bars(panel, (left[wide], right[wide]), (y[wide], y[wide]), **thin)
    panel.plot(
        x,
        y,
        look.marker + look.linestyle,
        color=look.colour,
        label=method,
        markersize=2.5,
    )


def with_kept(frame: pd.DataFrame) -> pd.DataFrame:
    """Add `x`, `left` and `right`, the mean number of features kept and this mean -+ its sd, to the rows of numbers.

    Without a row for the number kept, all three are the number in the column's name.
    Without an sd, all three are the mean.
    """
    place = ["row", "dataset", "column"]
    is_kept = frame["column"].str.endswith(KEPT)
    kept = (
        frame[is_kept]
        .reindex(columns=[*place, "value", "sd"])
        .set_axis([*place, "x", "spread"], axis=1)
    )
    kept["column"] = kept["column"].str.removesuffix(KEPT)
    lines = frame[~is_kept].merge(
        kept.astype({"x": float, "spread": float}), on=place, how="left", validate="m:1"
    )
    x = lines["x"].fillna(lines["column"].astype(float))
    spread = lines["spread"].fillna(0.0)
    return lines.assign(x=x, left=x - spread, right=x + spread)


def dots(frame: pd.DataFrame, *, xlabel: str, width: float = TWO_COLUMNS) -> Figure:
    """Return a figure with a line per method, a dot at its value and a bar to both ends of its interval.

    Parameters
    ----------
    frame : DataFrame
        Columns `row`, `dataset`, `value`, `low` and `high`, NaN without an interval.
        Each data set has its own panel.
    xlabel : str
    width : float, optional
        In inches.
    """
    methods = looks(frame["row"])
    datasets = list(frame["dataset"].unique())
    places = {method: -k for k, method in enumerate(methods)}
    n_columns = min(2, len(datasets))  # the names of methods fill half of a panel
    n_lines = math.ceil(len(datasets) / n_columns)
    with style():
        figure = Figure(
            figsize=(width, 0.5 + n_lines * (0.35 + 0.22 * len(methods))),
            layout="constrained",
        )
        panels = figure.subplots(n_lines, n_columns, squeeze=False, sharey=True)
        for panel, dataset in zip(panels.flat, datasets, strict=False):
            for line in frame[frame["dataset"] == dataset].itertuples():
                look, place = methods[line.row], places[line.row]
                panel.hlines(
                    place, line.low, line.high, color=look.colour, linewidth=0.8
                )
                panel.plot(
                    line.value, place, look.marker, color=look.colour, markersize=4
                )
            panel.set_title(dataset)
            panel.grid(axis="x")
        panels[0, 0].set_yticks([*places.values()], [*places])
        panels[0, 0].set_ylim(0.6 - len(methods), 0.6)  # keeps points off the frame
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        figure.supxlabel(xlabel, fontsize=8)
    return figure


def frequency_figure(frame: pd.DataFrame) -> Figure:
    """Plot the share of selections with the k-th most frequent feature of each method against k.

    A short line means that the same few features are selected each time, a long tail
    that the features vary.

    Parameters
    ----------
    frame : DataFrame
        Columns `method` and `frequency`, with the most frequent feature of each method
        first, and `column` for several panels.
    """
    frame = frame if "column" in frame else frame.assign(column="")
    panels = list(dict.fromkeys(frame["column"]))[:PANELS] or [""]
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 2.6), layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[
            0
        ]
        drawn = looks(frame["method"])
        # one tick per decade is too few for these
        few = frame.groupby(["column", "method"]).size().max() <= 20
        for panel, name in zip(axes, panels, strict=True):
            own = frame[frame["column"] == name]
            for method, look in drawn.items():
                shares = 100 * own.loc[own["method"] == method, "frequency"].to_numpy()
                if shares.size:
                    marked = {
                        "marker": look.marker,
                        "markersize": 3,
                        "markevery": 1 if shares.size <= 20 else 0.15,
                    }
                    line = {
                        "color": look.colour,
                        "linestyle": look.linestyle,
                        "label": method,
                    }
                    panel.plot(range(1, shares.size + 1), shares, **line, **marked)
            panel.set_title(name)
            panel.set_xscale("log")
            panel.xaxis.set_major_locator(
                LogLocator(
                    subs=(1, 2, 5) if few or len(panels) == 1 else (1,), numticks=12
                )
            )
            panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            panel.xaxis.set_minor_formatter(NullFormatter())
            panel.set_ylim(0, 103)
            panel.grid(axis="y")
            panel.set_xlabel("rank of the feature by frequency")
        axes[0].set_ylabel("selections with the feature (%)")
        legend_of(figure, axes, list(drawn), room=0.38)
    return figure
