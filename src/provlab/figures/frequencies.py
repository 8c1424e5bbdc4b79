"""How often features are selected, against their rank: a method that is sure of its features has a step."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from provlab.figures.looks import looks
from provlab.figures.style import TWO_COLUMNS, legend_of, style

MAX_PANELS = 3
"""In one row: all share their axes."""


def frequency_figure(frame: pd.DataFrame) -> Figure:
    """Return a figure with a line a method: the share of selections with its k-th most frequent feature, against k.

    A short line says that the same few features are selected each time, a long tail that others are.

    Parameters
    ----------
    frame : DataFrame
        `method` and `frequency`, the most frequent feature of each first; where there are several panels `column`.
    """
    frame = frame if "column" in frame else frame.assign(column="")
    panels = list(dict.fromkeys(frame["column"]))[:MAX_PANELS] or [""]
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 2.6), layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        drawn = looks(frame["method"])
        for panel, name in zip(axes, panels, strict=True):
            for method, look in drawn.items():
                shares = (
                    100 * frame.loc[(frame["column"] == name) & (frame["method"] == method), "frequency"].to_numpy()
                )
                if shares.size:
                    marked = {"marker": look.marker, "markersize": 3, "markevery": 0.15}
                    line = {"color": look.colour, "linestyle": look.linestyle, "label": method}
                    panel.plot(range(1, shares.size + 1), shares, **line, **marked)
            panel.set_title(name)
            panel.set_xscale("log")
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if len(panels) == 1 else (1,), numticks=12))
            panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            panel.xaxis.set_minor_formatter(NullFormatter())
            panel.set_ylim(0, 103)
            panel.grid(axis="y")
            panel.set_xlabel("rank of the feature by frequency")
        axes[0].set_ylabel("selections with the feature (%)")
        legend_of(figure, axes, list(drawn))
    return figure
