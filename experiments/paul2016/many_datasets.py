"""A number on each of many data sets: error bars, paired differences with a forest plot of them, and means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provlab.core.frames import ERROR, mean_interval, standard_error_scale
from provlab.core.tables import Traced
from provlab.report.figures.looks import Look, looks
from provlab.report.figures.style import TWO_COLUMNS, draw_bars, save_figure, style

TRIAL_COLUMNS = ["error", "n_train", "n_test"]
"""Columns of the records that `paired_differences` reads."""

LINE = 0.115
"""Inches of a data set: 80 are a page."""

PANEL = 0.95
"""Inches of a method's line of panels: eight are a page."""

TITLE = 10
"""Characters in a line of a method's name: what stands above a panel where a page has seven."""

OVERALL = "all data sets"


def draw_error_bars(frame: pd.DataFrame, stem: Path, title: str, *, baseline: str) -> list[Path]:
    """Draw a panel a method and column of the artefact: data sets along x, a marker and a bar of one sd each.

    The paper has all methods in one panel. Eighty sets of eight methods hide each other there; here each method stands
    alone, against a line of the baseline. Data sets stand by its increasing error: an order by name would be none to
    the eye.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.core.frames`; values in percent.
    stem : path
        Where the files go, without suffix.
    title : str
    baseline : str
        A row; where the artefact does not have it, data sets stand by the mean of all methods, without a line.

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    frame = frame.astype({"value": float, "sd": float})
    methods, columns = looks(frame["row"]), frame["column"].unique()
    own = frame[frame["row"] == baseline]
    ordering = frame if own.empty else own
    datasets = ordering.groupby("dataset")["value"].mean().sort_values(kind="stable").index
    place = {name: k for k, name in enumerate(datasets, start=1)}
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.8 + PANEL * len(methods)), layout="constrained")
        panels = figure.subplots(len(methods), len(columns), sharex=True, sharey=True, squeeze=False)
        for line, (row, look) in zip(panels, methods.items(), strict=True):
            for panel, column in zip(line, columns, strict=True):
                _draw_baseline(panel, own[own["column"] == column], place)
                part = frame[(frame["row"] == row) & (frame["column"] == column)].dropna(subset=["value"])
                _draw_sets(panel, part, place, row, look)
            line[0].set_ylabel(fill(row, TITLE), color=look.colour)
        for panel, column in zip(panels[0], columns, strict=True):
            panel.set_title(str(column))
        panels[0, 0].set_xlim(0, len(datasets) + 1)
        panels[0, 0].set_ylim(bottom=0)
        figure.supylabel(ERROR.label, fontsize=8)
        order = f"by the error of {baseline}, the grey line" if len(own) else "by the mean of all methods"
        figure.supxlabel(f"data set, {order} (names in the CSV file)", fontsize=8)
        return save_figure(figure, stem, title)


def _draw_baseline(panel: Axes, own: pd.DataFrame, place: dict[str, int]) -> None:
    line = own.assign(x=own["dataset"].map(place)).sort_values("x")
    panel.plot(line["x"], line["value"], color="0.3", linewidth=0.8, zorder=4)  # above the bars, which hide it


def _draw_sets(panel: Axes, part: pd.DataFrame, place: dict[str, int], row: str, look: Look) -> None:
    x, y, spread = part["dataset"].map(place), part["value"], part["sd"]
    draw_bars(panel, (x, x), (y - spread, y + spread), color=look.colour, linewidth=0.5, alpha=0.4, zorder=2)
    panel.plot(x, y, look.marker, color=look.colour, label=row, markersize=1.8, markeredgewidth=0.3, zorder=3)
    panel.grid(axis="y")


def paired_differences(trials: pd.DataFrame, baseline: str) -> pd.DataFrame:
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

    Returns
    -------
    DataFrame
        row, column, dataset (`OVERALL` for that of all), difference, low, high (NaN for fewer than two folds), n: folds
        or data sets. Empty where the baseline has no trials.
    """
    names, place = ["row", "column", "dataset"], ["column", "dataset", "repeat", "fold"]
    numbers = trials.astype(dict.fromkeys(TRIAL_COLUMNS, float)).groupby(["row", *place], sort=False)[TRIAL_COLUMNS]
    folds = numbers.mean().reset_index()
    own = folds.loc[folds["row"] == baseline, [*place, "error"]].rename(columns={"error": "of_baseline"})
    paired = folds[folds["row"] != baseline].merge(own, on=place)
    paired["difference"] = ERROR.factor * (paired["error"] - paired["of_baseline"])
    paired = paired.dropna(subset=["difference"])
    scales = standard_error_scale(paired, names)
    lines = [
        (*key, *mean_interval(found, float(scales[key])))
        for key, found in paired.groupby(names, sort=False)["difference"]
    ]
    each = pd.DataFrame(lines, columns=[*names, "difference", "low", "high", "n"])
    over = [
        (row, column, OVERALL, *mean_interval(found["difference"], 1 / np.sqrt(len(found))))
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
                panel.set_title(fill(method, TITLE), color=look.colour)
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
    draw_bars(panel, (low, high), (y, y), color=look.colour, linewidth=0.7)
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


def mean_over_datasets(frame: pd.DataFrame, baseline: str) -> list[list[str]]:
    """Return table rows: mean error (mean sd) over data sets, and on how many sets a row beats the baseline row.

    Where the baseline was left out of the artefact, only the means.
    """
    columns, names = list(frame["column"].unique()), list(frame["row"].unique())
    values = frame.assign(value=frame["value"].astype(float)).pivot(index="dataset", columns=["row", "column"])
    rows = []
    for row in names:
        pairs = [(values["value"][row, column], values["sd"][row, column]) for column in columns]
        texts = ["" if means.isna().all() else f"{means.mean():.2f} ({sds.mean():.2f})" for means, sds in pairs]
        rows.append([row, *(Traced(text, row, column) for text, column in zip(texts, columns, strict=True))])
    for row in names:
        if row != baseline and baseline in names:
            wins = [_wins(values["value"][row, column], values["value"][baseline, column]) for column in columns]
            rows.append([f"{row}: sets better than {baseline}", *wins])
    return rows


def _wins(values: pd.Series, baseline: pd.Series) -> str:
    both = values.notna() & baseline.notna()
    return f"{int((values[both] < baseline[both]).sum())} of {int(both.sum())}"
