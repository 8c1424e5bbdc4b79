"""Plot of a measure against the number of features for one method, with all columns and guessing as baselines."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from provlab.report.figures.style import ON_A_PAGE, style

SHADES = ("0.35", "0.6")


def size_figure(
    curve: pd.DataFrame, label: str, method: str, lines: Mapping[str, pd.Series]
) -> Figure:
    """Return the figure of a curve with 95 % intervals.

    Parameters
    ----------
    curve : DataFrame
        The index holds the numbers of features. The columns are the measure, low and
        high.
    label : str
        Label of the measure.
    method : str
    lines : mapping
        Baselines by name, each with the measure, low and high. They are drawn as
        horizontal lines, the first one with its interval.
    """
    values = curve.iloc[:, 0]
    with style():
        figure = Figure(figsize=(ON_A_PAGE, 2.4), layout="constrained")
        axes = figure.subplots()
        for place, (name, line) in enumerate(lines.items()):
            shade = SHADES[place]
            axes.axhline(
                line[values.name],
                color=shade,
                linestyle="--" if place == 0 else ":",
                label=name,
            )
            if place == 0:
                axes.axhspan(
                    line["low"], line["high"], color=shade, alpha=0.12, linewidth=0
                )
        bars = [values - curve["low"], curve["high"] - values]
        axes.errorbar(
            curve.index,
            values,
            yerr=bars,
            marker="o",
            markersize=3,
            capsize=2,
            label=method,
        )
        axes.set_xscale("log")
        axes.set_xticks(curve.index, [f"{size:,}" for size in curve.index])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("number of columns")
        axes.set_ylabel(label)
        figure.legend(loc="outside upper center", ncols=3)
    return figure
