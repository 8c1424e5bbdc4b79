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
from provlab.core.tables import Traced, mean_and_sd
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
BASELINE: dict[str, Any] = {"color": "0.3", "linewidth": 0.8, "zorder": 4}
"""Look of its line, above the bars, which would hide it."""


def draw_error_bars(
    frame: pd.DataFrame, stem: Path, title: str, *, baseline: str
) -> list[Path]:
    """Draw a panel a method and column of the artefact: data sets along x, a marker and a bar of one sd each.

    The paper has all methods in one panel. Eighty sets of eight methods hide each other
    there; here each method stands alone, against a line of the baseline. Data sets
    stand by its increasing error: an order by name would be none to the eye.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.core.frames`; values in percent.
    stem : path
        Where the files go, without suffix.
    title : str
    baseline : str
        A row; where the artefact does not have it, data sets stand by the mean of all
        methods, without a line.

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    frame = frame.astype({"value": float, "sd": float})
    methods = looks(frame["row"])
    columns = frame["column"].unique()
    of_baseline = frame[frame["row"] == baseline]
    ordering = frame if of_baseline.empty else of_baseline
    datasets = (
        ordering.groupby("dataset")["value"].mean().sort_values(kind="stable").index
    )
    frame = frame.assign(x=datasets.get_indexer(frame["dataset"]) + 1)
    of_baseline = frame[frame["row"] == baseline].sort_values("x")
    with style():
        figure = Figure(
            figsize=(TWO_COLUMNS, 0.8 + PANEL * len(methods)), layout="constrained"
        )
        panels = figure.subplots(
            len(methods), len(columns), sharex=True, sharey=True, squeeze=False
        )
        for line, (row, look) in zip(panels, methods.items(), strict=True):
            for panel, column in zip(line, columns, strict=True):
                line_of_baseline = of_baseline[of_baseline["column"] == column]
                panel.plot(line_of_baseline["x"], line_of_baseline["value"], **BASELINE)
                part = frame[
                    (frame["row"] == row) & (frame["column"] == column)
                ].dropna(subset=["value"])
                _draw_sets(panel, part, row, look)
            line[0].set_ylabel(fill(row, TITLE), color=look.colour)
        for panel, column in zip(panels[0], columns, strict=True):
            panel.set_title(str(column))
        panels[0, 0].set_xlim(0, len(datasets) + 1)
        panels[0, 0].set_ylim(bottom=0)
        figure.supylabel(ERROR.label, fontsize=8)
        order = (
            f"by the error of {baseline}, the grey line"
            if len(of_baseline)
            else "by the mean of all methods"
        )
        figure.supxlabel(f"data set, {order} (names in the CSV file)", fontsize=8)
        return save_figure(figure, stem, title)


def _draw_sets(panel: Axes, part: pd.DataFrame, row: str, look: Look) -> None:
    x, y, spread = part["x"], part["value"], part["sd"]
    draw_bars(
        panel,
        (x, x),
        (y - spread, y + spread),
        color=look.colour,
        linewidth=0.5,
        alpha=0.4,
        zorder=2,
    )
    panel.plot(
        x,
        y,
        look.marker,
        color=look.colour,
        label=row,
        markersize=1.8,
        markeredgewidth=0.3,
        zorder=3,
    )
    panel.grid(axis="y")


def paired_differences(trials: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return the mean difference in test error to a baseline's in points, with its interval, and that over data sets.

    Differences are of the same fold, after the mean over its draws. The interval of a
    data set is Student's with the standard error of Nadeau and Bengio (2003), see
    `standard_error_scale`; that of all is Student's over the data sets' means, which
    counts these as independent.

    Parameters
    ----------
    trials : DataFrame
        `row`, `column`, `dataset`, `repeat`, `fold` and `TRIAL_COLUMNS`, see
        `Rendering.trials`.
    baseline : str
        A row; its lines of the same column are the baseline.

    Returns
    -------
    DataFrame
        row, column, dataset (`OVERALL` for that of all), difference, low, high (NaN for
        fewer than two folds), n: folds or data sets. Empty where the baseline has no
        trials.
    """
    names = ["row", "column", "dataset"]
    place = ["column", "dataset", "repeat", "fold"]
    numbers = trials.astype(dict.fromkeys(TRIAL_COLUMNS, float)).groupby(
        ["row", *place], sort=False
    )[TRIAL_COLUMNS]
    folds = numbers.mean().reset_index()
    of_baseline = folds.loc[folds["row"] == baseline, [*place, "error"]]
    paired = folds[folds["row"] != baseline].merge(
        of_baseline, on=place, suffixes=("", "_of_baseline")
    )
    paired["difference"] = ERROR.factor * (
        paired["error"] - paired["error_of_baseline"]
    )
    paired = paired.dropna(subset=["difference"])
    scales = standard_error_scale(paired, names)
    header = [*names, "difference", "low", "high", "n"]
    lines = []
    for key, differences in paired.groupby(names, sort=False)["difference"]:
        lines.append((*key, *mean_interval(differences, float(scales[key]))))
    by_dataset = pd.DataFrame(lines, columns=header)
    lines = []
    for (row, column), means in by_dataset.groupby(["row", "column"], sort=False)[
        "difference"
    ]:
        lines.append(
            (row, column, OVERALL, *mean_interval(means, 1 / np.sqrt(len(means))))
        )
    return pd.concat(
        [by_dataset, pd.DataFrame(lines, columns=header)], ignore_index=True
    )


def draw_forest(
    differences: pd.DataFrame, stem: Path, title: str, *, xlabel: str
) -> list[Path]:
    """Draw a file a column of the artefact, with a panel a method and a line a data set, sorted by mean difference.

    A mark is filled where its interval leaves out 0. Below the line is the mean over
    data sets.

    Parameters
    ----------
    differences : DataFrame
        See `paired_differences`.
    stem : path
        Where the files go: `stem`-differences-<column>, without what is no letter or
        digit.
    title, xlabel : str

    Returns
    -------
    list of path
        PDF, PNG and SVG of each column.
    """
    paths: list[Path] = []
    for column, part in differences.groupby("column", sort=False):
        of_sets = part[part["dataset"] != OVERALL].groupby("dataset", sort=False)[
            "difference"
        ]
        names = list(of_sets.mean().sort_values(kind="stable").index)
        methods = looks(part["row"])
        with style():
            figure = Figure(
                figsize=(TWO_COLUMNS, 1.1 + LINE * (len(names) + 2)),
                layout="constrained",
            )
            panels = figure.subplots(
                1, len(methods), sharex=True, sharey=True, squeeze=False
            )[0]
            for panel, (method, look) in zip(panels, methods.items(), strict=True):
                _draw_method(panel, part[part["row"] == method], names, look)
                panel.set_title(fill(method, TITLE), color=look.colour)
            panels[0].set_yticks(
                [*range(len(names)), len(names) + 1], [*names, OVERALL]
            )
            for panel in panels[1:]:
                # nothing of it is seen, and its ticks would take most of the time
                panel.yaxis.set_visible(False)
            panels[0].get_yticklabels()[-1].set_fontweight("bold")
            panels[0].set_ylim(len(names) + 1.8, -0.8)
            figure.supxlabel(xlabel, fontsize=8)
            name = (
                f"{stem.name}-differences-{re.sub(r'[^A-Za-z0-9]+', '', str(column))}"
            )
            paths += save_figure(figure, stem.with_name(name), f"{title} {column}.")
    return paths


def _draw_method(
    panel: Axes, part: pd.DataFrame, names: Sequence[str], look: Look
) -> None:
    y = pd.Index([*names, "", OVERALL]).get_indexer(part["dataset"])
    x, low, high = part[["difference", "low", "high"]].to_numpy(float).T
    for k in range(0, len(names), 2):  # so that the eye finds the name of a mark
        panel.axhspan(k - 0.5, k + 0.5, color="0.95", linewidth=0, zorder=0)
    panel.axvline(0, color="0.3", linewidth=0.6)
    panel.axhline(len(names), color="0.3", linewidth=0.4)
    draw_bars(panel, (low, high), (y, y), color=look.colour, linewidth=0.7)
    is_clear = (low > 0) | (high < 0)
    marks: dict[str, Any] = {
        "color": look.colour,
        "zorder": 3,
        "markersize": 3.0,
        "markeredgewidth": 0.6,
    }
    panel.plot(
        x[is_clear], y[is_clear], look.marker, markerfacecolor=look.colour, **marks
    )
    panel.plot(
        x[~is_clear], y[~is_clear], look.marker, markerfacecolor="white", **marks
    )
    for place in np.flatnonzero(part["dataset"] == OVERALL):
        right = np.nanmax([x[place], high[place]]), y[place]
        panel.annotate(
            f"{x[place]:+z.1f}",
            right,
            (4, 0),
            textcoords="offset points",
            fontsize=6,
            va="center",
        )
    panel.tick_params(axis="y", length=0, labelsize=5.5)
    panel.tick_params(axis="x", labelsize=6)
    panel.spines["left"].set_visible(False)


def mean_over_datasets(frame: pd.DataFrame, baseline: str) -> list[list[str]]:
    """Return table rows: mean error (mean sd) over data sets, and on how many sets a row beats the baseline row.

    Where the baseline was left out of the artefact, only the means.
    """
    columns = list(frame["column"].unique())
    numbers = frame.astype({"value": float})
    values = numbers.pivot(index="dataset", columns=["row", "column"], values="value")
    means = numbers.groupby(["row", "column"])[["value", "sd"]].mean()
    means_of_rows, wins_of_rows = [], []
    for row in frame["row"].unique():
        cells, wins = [], []
        for column in columns:
            mean, sd = means.loc[(row, column)]
            cells.append(Traced(mean_and_sd(mean, sd), row, column))
            if (baseline, column) in values:
                wins.append(_wins(values[row, column], values[baseline, column]))
        means_of_rows.append([row, *cells])
        if wins and row != baseline:
            wins_of_rows.append([f"{row}: sets better than {baseline}", *wins])
    return means_of_rows + wins_of_rows


def _wins(values: pd.Series, baseline: pd.Series) -> str:
    both = values.notna() & baseline.notna()
    return f"{int((values[both] < baseline[both]).sum())} of {int(both.sum())}"
