"""Curves: a number against the number of features; error bars: a number on each of many data sets; and forest plots.

A forest plot has paired differences to a baseline with intervals, a line a data set with its name, and all below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from provlab.figures.looks import Look, looks
from provlab.figures.style import TWO_COLUMNS, legend_of, save_figure, style
from provlab.frames import ERROR, Headline, mean_interval, standard_error_scale

PANELS = 3
"""Panels in a row, at two columns."""

TRIAL_COLUMNS = ["error", "n_train", "n_test"]
"""Columns of the records that `paired_differences` reads."""

LINE = 0.115
"""Inches of a data set: 80 are a page."""

OVERALL = "all data sets"


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
    """Draw a line a method with bars, in one panel a data set.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.frames`, with numbers as columns, such as those of features. Bars are of one sd, or from
        `low` to `high` where these are there.
    stem : path
        Where the files go, without suffix.
    title, ylabel : str
    flat : str, optional
        A method that does not depend on the number of features: one dashed line, with its bar as a band.
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
    frame = frame.astype({"value": float}).assign(x=frame["column"].astype(float))
    if "low" not in frame:
        sd = frame["sd"].astype(float)
        frame = frame.assign(low=frame["value"] - sd, high=frame["value"] + sd)
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
                x, y, low, high = line[["x", "value", "low", "high"]].to_numpy().T
                if method == flat and len(line):  # the same in every column
                    panel.axhline(y[0], color=look.colour, linestyle="--", label=method)
                    if low[0] < high[0]:
                        panel.axhspan(low[0], high[0], color=look.colour, alpha=0.07, linewidth=0)
                elif len(line):
                    # bars a little apart, so that those of one x do not hide each other
                    shift = (k - len(methods) / 2) * 0.004
                    beside = x * (1 + 4 * shift) if "x" in log else x + shift * x.max()
                    panel.vlines(beside, low, high, color=look.colour, linewidth=0.5, alpha=0.4)
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


def dots(frame: pd.DataFrame, *, xlabel: str) -> Figure:
    """Return a figure with a line a method, a dot at its value and a bar to both ends of its interval.

    Parameters
    ----------
    frame : DataFrame
        `row`, `dataset`, `value`, `low` and `high`, NaN where there is no interval; a panel a data set.
    xlabel : str
    """
    methods, datasets = looks(frame["row"]), list(frame["dataset"].unique())
    places = {method: -k for k, method in enumerate(methods)}
    n_columns = min(2, len(datasets))  # the names of methods take half of a panel
    n_lines = math.ceil(len(datasets) / n_columns)
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.5 + n_lines * (0.35 + 0.22 * len(methods))), layout="constrained")
        panels = figure.subplots(n_lines, n_columns, squeeze=False, sharey=True)
        for panel, dataset in zip(panels.flat, datasets, strict=False):
            for method, value, low, high in frame.loc[
                frame["dataset"] == dataset, ["row", "value", "low", "high"]
            ].itertuples(index=False):
                look, place = methods[method], places[method]
                panel.hlines(place, low, high, color=look.colour, linewidth=0.8)
                panel.plot(value, place, look.marker, color=look.colour, markersize=4)
            panel.set_title(dataset)
            panel.grid(axis="x")
        panels[0, 0].set_yticks([*places.values()], [*places])
        panels[0, 0].set_ylim(0.6 - len(methods), 0.6)  # no point on the frame
        for panel in panels.flat[len(datasets) :]:
            panel.set_axis_off()
        figure.supxlabel(xlabel, fontsize=8)
    return figure


def draw_error_bars(frame: pd.DataFrame, stem: Path, title: str, *, ylabel: str = ERROR.label) -> list[Path]:
    """Draw one panel a column of the artefact: data sets along x, a marker and a bar of one sd a method.

    Data sets stand by increasing mean of all methods; an order by name would be no order to the eye.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.frames`; values in percent.
    stem : path
        Where the files go, without suffix.
    title, ylabel : str

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
            panel.set_ylabel(f"{ylabel}\n{column}")
            panel.set_xlim(0, len(datasets) + 1)
            if ylabel == ERROR.label:
                panel.set_ylim(bottom=0)
            panel.grid(axis="y")
        panels[-1].set_xlabel("data set, by the mean of all methods (names in the CSV file)")
        legend_of(figure, panels, list(methods))
        return save_figure(figure, stem, title)


def paired_differences(
    trials: pd.DataFrame, baseline: str, *, level: float = 0.95, headline: Headline = ERROR
) -> pd.DataFrame:
    """Return the mean difference in test error to a baseline's in points, with its interval, and that over data sets.

    Differences are of the same fold, after the mean over its draws. The interval of a data set is Student's with the
    standard error of Nadeau and Bengio (2003), see `standard_error_scale`; that of all is Student's over the
    data sets' means, which counts these as independent.

    Parameters
    ----------
    trials : DataFrame
        `row`, `column`, `dataset`, `repeat`, `fold` and `TRIAL_COLUMNS`, see `Rendering.trials`.
    baseline : str
        A row; its lines of the same column are the baseline.
    level : float, optional
    headline : Headline, optional
        Another measure, see `headline_of`: its column stands in the place of the error.

    Returns
    -------
    DataFrame
        row, column, dataset (`OVERALL` for that of all), difference, low, high (NaN for fewer than two folds), n: folds
        or data sets. Empty where the baseline has no trials.
    """
    names, place = ["row", "column", "dataset"], ["column", "dataset", "repeat", "fold"]
    measure, read = headline.column, [headline.column, *TRIAL_COLUMNS[1:]]
    folds = trials.astype(dict.fromkeys(read, float)).groupby(["row", *place], sort=False)[read].mean().reset_index()
    own = folds.loc[folds["row"] == baseline, [*place, measure]].rename(columns={measure: "of_baseline"})
    paired = folds[folds["row"] != baseline].merge(own, on=place)
    paired["difference"] = headline.factor * (paired[measure] - paired["of_baseline"])
    paired = paired.dropna(subset=["difference"])
    scales = standard_error_scale(paired, names)
    lines = [
        (*key, *mean_interval(found, float(scales[key]), level))
        for key, found in paired.groupby(names, sort=False)["difference"]
    ]
    each = pd.DataFrame(lines, columns=[*names, "difference", "low", "high", "n"])
    over = [
        (row, column, OVERALL, *mean_interval(found["difference"], 1 / np.sqrt(len(found)), level))
        for (row, column), found in each.groupby(["row", "column"], sort=False)
    ]
    return pd.DataFrame([*each.itertuples(index=False, name=None), *over], columns=each.columns)


def draw_forest(differences: pd.DataFrame, stem: Path, title: str, *, xlabel: str) -> list[Path]:
    """Draw a file a column of the artefact, with a panel a method and a line a data set, sorted by mean difference.

    A mark is filled where its interval leaves out 0. Below the line is the mean over data sets.

    Parameters
    ----------
    differences : DataFrame
        See `paired_differences`.
    stem : path
        Where the files go: `stem`-differences-<column>, without what is no letter or digit.
    title, xlabel : str

    Returns
    -------
    list of path
        PDF, PNG and SVG of each column.
    """
    paths: list[Path] = []
    for column, found in differences.groupby("column", sort=False):
        each = found[found["dataset"] != OVERALL]
        means = each.groupby("dataset", sort=False)["difference"].mean().sort_values(kind="stable")
        names = [str(name) for name in means.index]
        methods = looks(found["row"])
        with style():
            figure = Figure(figsize=(TWO_COLUMNS, 1.1 + LINE * (len(names) + 2)), layout="constrained")
            panels = figure.subplots(1, len(methods), sharex=True, sharey=True, squeeze=False)[0]
            for panel, (method, look) in zip(panels, methods.items(), strict=True):
                _draw_method(panel, found[found["row"] == method], names, look)
                panel.set_title(method, color=look.colour)
            panels[0].set_yticks([*range(len(names)), len(names) + 1], [*names, OVERALL])
            for panel in panels[1:]:
                panel.yaxis.set_visible(False)  # nothing of it is seen, and its ticks would take most of the time
            panels[0].get_yticklabels()[-1].set_fontweight("bold")
            panels[0].set_ylim(len(names) + 1.8, -0.8)
            figure.supxlabel(xlabel, fontsize=8)
            name = f"{stem.name}-differences-{re.sub(r'[^A-Za-z0-9]+', '', str(column))}"
            paths += save_figure(figure, stem.with_name(name), f"{title} {column}.")
    return paths


def _draw_method(panel: Axes, found: pd.DataFrame, names: Sequence[str], look: Look) -> None:
    places = {name: k for k, name in enumerate([*names, "", OVERALL])}
    y = found["dataset"].map(places).to_numpy(float)
    x, low, high = found[["difference", "low", "high"]].to_numpy(float).T
    for k in range(0, len(names), 2):  # so that the eye finds the name of a mark
        panel.axhspan(k - 0.5, k + 0.5, color="0.95", linewidth=0, zorder=0)
    panel.axvline(0, color="0.3", linewidth=0.6)
    panel.axhline(len(names), color="0.3", linewidth=0.4)
    panel.hlines(y, low, high, color=look.colour, linewidth=0.7)
    clear = (low > 0) | (high < 0)
    kind: dict[str, Any] = {"marker": look.marker, "linestyle": "none", "color": look.colour, "zorder": 3}
    kind |= {"markersize": 3.0, "markeredgewidth": 0.6}
    panel.plot(x[clear], y[clear], markerfacecolor=look.colour, **kind)
    panel.plot(x[~clear], y[~clear], markerfacecolor="white", **kind)
    for mean, end in zip(x[y == places[OVERALL]], high[y == places[OVERALL]], strict=True):
        at = np.nanmax([mean, end]), places[OVERALL]
        panel.annotate(f"{mean:+z.1f}", at, (4, 0), textcoords="offset points", fontsize=6, va="center")
    panel.tick_params(axis="y", length=0, labelsize=5.5)
    panel.tick_params(axis="x", labelsize=6)
    panel.spines["left"].set_visible(False)
