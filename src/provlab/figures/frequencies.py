"""How often features are selected, against their rank: a method that is sure of its features has a step."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from provlab.figures.looks import looks
from provlab.figures.style import ONE_COLUMN, TWO_COLUMNS, legend_of, style

MAX_PANELS = 3
"""In one row: all share their axes."""


def frequency_figure(frame: pd.DataFrame) -> Figure:
    """Return a figure with a line a method: the share of selections with the k-th most frequent feature, against k.

    Parameters
    ----------
    frame : DataFrame
        `method` and `frequency`, one line a feature, the most frequent first; where there are several panels `column`,
        one of them each, and where there are several data sets `dataset`: the line is the mean over them.

    Returns
    -------
    Figure
        A method with a short line selects the same few features each time; one with a long tail draws others each time.
    """
    parts = [name for name in ("column", "method", "dataset") if name in frame]
    frame = frame.assign(rank=frame.groupby(parts, sort=False).cumcount() + 1)
    if "column" not in frame:
        frame["column"] = ""
    frame["n"] = frame.groupby(["column", "method"])["dataset"].transform("nunique") if "dataset" in frame else 1
    shares = (100 * frame["frequency"] / frame["n"]).groupby([frame["column"], frame["method"], frame["rank"]]).sum()
    panels = list(dict.fromkeys(frame["column"]))[:MAX_PANELS] or [""]
    with style():
        figure = Figure(figsize=(ONE_COLUMN if len(panels) == 1 else TWO_COLUMNS, 2.6), layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        drawn = looks(frame["method"])
        for panel, name in zip(axes, panels, strict=True):
            for method, look in drawn.items():
                if (name, method) in shares.index.droplevel("rank"):
                    line = shares[name, method]
                    marked = {"marker": look.marker, "markersize": 3, "markevery": 0.15}
                    panel.plot(line.index, line, color=look.colour, linestyle=look.linestyle, label=method, **marked)
            panel.set_title(name)
            panel.set_xscale("log")
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
            panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            panel.xaxis.set_minor_formatter(NullFormatter())
            panel.set_ylim(0, 103)
            panel.grid(axis="y")
            panel.set_xlabel("rank of the feature by frequency")
        axes[0].set_ylabel("selections with the feature (%)")
        legend_of(figure, axes, list(drawn))
    return figure
