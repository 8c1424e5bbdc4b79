"""Critical-difference diagrams of average ranks, and Pareto fronts of two numbers per method."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from provlab.report.figures.looks import GREY, PALETTE, looks
from provlab.report.figures.style import ONE_COLUMN, TWO_COLUMNS, save_figure, style

MARGIN = 0.15
"""Distance, in ranks, between the outermost method and the names beside the axis."""

GAP = 4
"""Distance between a line and its label, in points. Spaces in a label would not do: SVG drops them at its ends."""


def draw_critical_difference(
    ranks: pd.Series, stem: Path, title: str, *, difference: float
) -> list[Path]:
    """Draw average ranks, and a bar over each group of methods without significant differences.

    Parameters
    ----------
    ranks : Series
        Average rank of each method, sorted; 1 is best.
    stem : path
        Where the files go, without suffix.
    title : str
    difference : float
        Critical difference, drawn as a scale above the numbers of the axis.

    Returns
    -------
    list of path
        PDF, PNG and SVG.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.2.4.
    """
    methods = looks(ranks.index)
    half = (len(ranks) + 1) // 2
    with style():
        figure = Figure(
            figsize=(ONE_COLUMN, 0.9 + 0.2 * len(ranks)), layout="constrained"
        )
        axes = figure.subplots()
        axes.yaxis.set_visible(False)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.spines["top"].set_visible(True)
        axes.spines["top"].set_position("zero")
        axes.xaxis.set_ticks_position("top")
        below = _draw_bars(axes, ranks, groups(ranks, difference))
        # names are stacked, the outermost method first, each with a line to its rank on
        # the axis
        for side, x, text, align, gap in (
            (
                ranks.iloc[:half],
                ranks.iloc[0] - MARGIN,
                "{name} ({rank:.2f})",
                "right",
                -GAP,
            ),
            (
                ranks.iloc[half:][::-1],
                ranks.iloc[-1] + MARGIN,
                "({rank:.2f}) {name}",
                "left",
                GAP,
            ),
        ):
            for line, (name, rank) in enumerate(side.items(), start=1):
                look = methods[str(name)]
                colour = look.colour
                label = text.format(name=name, rank=rank)
                axes.plot(
                    [x, rank, rank], [below - line, below - line, 0], color=colour
                )
                axes.scatter(
                    rank,
                    0,
                    s=12,
                    color=colour,
                    marker=look.marker,
                    linewidths=0.8,
                    zorder=3,
                )
                axes.annotate(
                    label,
                    (x, below - line),
                    (gap, 0),
                    textcoords="offset points",
                    color=colour,
                    ha=align,
                    va="center",
                )
        start = float(ranks.iloc[0])
        height = 1.4
        axes.errorbar(
            start + difference / 2,
            height,
            xerr=difference / 2,
            color="0.25",
            capsize=2,
            linewidth=1.0,
        )
        label = f"critical difference {difference:.2f}"
        axes.annotate(
            label,
            (start + difference, height),
            (GAP, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
        return save_figure(figure, stem, title)


def groups(ranks: pd.Series, difference: float) -> list[tuple[str, str]]:
    """Return the first and last method of each maximal group of neighbours without a significant difference.

    A group has at least two methods.

    Parameters
    ----------
    ranks : Series
        Average rank of each method, sorted.
    difference : float
        Critical difference.
    """
    last = np.searchsorted(ranks, ranks + difference, side="right") - 1
    begins = np.flatnonzero(
        (last > np.arange(len(ranks))) & (np.diff(last, prepend=-1) > 0)
    )
    return [(ranks.index[k], ranks.index[last[k]]) for k in begins]


def _draw_bars(axes: Axes, ranks: pd.Series, bars: list[tuple[str, str]]) -> float:
    """Draw a bar per group below the axis, each on the first free line, and return the height of the last bar."""
    # the end of the last bar on each line; bars are sorted by their start
    ends: list[float] = []
    for first, last in bars:
        line = next((k for k, end in enumerate(ends) if end < ranks[first]), len(ends))
        ends[line : line + 1] = [ranks[last]]
        axes.plot(
            [ranks[first], ranks[last]],
            [-line - 1] * 2,
            linewidth=1.6,
            color="0.25",
            zorder=3,
        )
    return -float(len(ends))


def draw_front(
    board: pd.DataFrame,
    measure: str,
    best: list[str],
    stem: Path,
    label: str,
    *,
    log: bool = False,
) -> list[Path]:
    """Plot the loss of each method against a measure, with names and a line for the Pareto front.

    Parameters
    ----------
    board : DataFrame
        Methods as the index, with the column loss.
    measure : str
        Column on the horizontal axis.
    best : list of str
        Methods on the front.
    stem : path
        See `save_figure`.
    label : str
        Label of the measure.
    log : bool, optional
        Whether the axis of the measure is logarithmic.
    """
    measured = board[[measure, "loss"]].dropna()
    chosen = measured.loc[best].sort_values([measure, "loss"])
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.plot(
            measured[measure],
            measured["loss"],
            "o",
            color=GREY,
            markersize=3,
            alpha=0.7,
        )
        axes.plot(chosen[measure], chosen["loss"], color="0.6", zorder=0)
        rises = len(chosen) > 0 and chosen["loss"].iloc[-1] > chosen["loss"].iloc[0]
        for turn, (name, (across, up)) in enumerate(chosen.iterrows()):
            axes.plot(across, up, "o", color=PALETTE[0], markersize=4)
            # neighbours on the line are close together, and names must not cover it
            above = turn % 2 == 1
            side = -1 if above == rises else 1
            axes.annotate(
                str(name), (across, up), (4 * side, 5 if above else -9), textcoords="offset points", fontsize=7,
                horizontalalignment="right" if side < 0 else "left",
                # the points of other methods lie below
                path_effects=[withStroke(linewidth=2, foreground="white")],
            )  # fmt: skip
        if log:
            axes.set_xscale("log")
        axes.margins(x=0.15)
        axes.set_xlabel(label)
        axes.set_ylabel(
            "mean loss compared with all features (points of balanced error)"
        )
        axes.grid(axis="y")
        return save_figure(figure, stem, "")


def draw_rankings(rankings: pd.DataFrame, figures: Path) -> list[Path]:
    """Draw a critical-difference diagram of each ranking below `figures`/<paper>/.

    Parameters
    ----------
    rankings : DataFrame
        Rows of results/rankings.csv; rows without a method were not ranked.
    figures : path
    """
    paths = []
    ranked = rankings[rankings["method"] != ""]
    for (name, column), lines in ranked.groupby(["artefact", "column"], sort=False):
        paper, artefact = name.split("/")
        stem = (
            figures
            / paper
            / f"critical_difference_{artefact}_{re.sub(r'[^A-Za-z0-9]+', '', column)}"
        )
        first = lines.iloc[0]
        title = f"{name}, {column}: average rank over {first['n']} data sets, Friedman p = {first['friedman_p']:.2g}"
        if first["note"]:
            title += f"; {first['note']}"
        ranks = lines.set_index("method")["rank"]
        paths += draw_critical_difference(
            ranks, stem, title, difference=first["critical_difference"]
        )
    return paths
