"""Bar chart of statements under their readings: each bar shows the shares of the verdicts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from provlab.report.figures.style import (
    ONE_COLUMN,
    legend_of,
    only_formats,
    save_figure,
    style,
)

COLOURS = {
    "replicated": "#2b7a3f", "no difference": "#e0a458", "contradicted": "#b5382c", "inconclusive": "#d8d8d8",
}  # fmt: skip
"""Colours of verdicts, in the order of the segments of a bar; other verdicts are grey."""

LINE = 0.17
"""Height of a bar in inches."""


def draw_statements(shares: pd.DataFrame, stem: Path) -> list[Path]:
    """Write an SVG with a bar per row of `shares`, which has the shares of verdicts of each statement."""
    columns = {verdict: shares.get(verdict, 0.0) for verdict in COLOURS}
    parts = pd.DataFrame(columns, index=shares.index).fillna(0.0)
    parts["inconclusive"] = 1 - parts.drop(columns="inconclusive").sum(axis=1)
    with style(), only_formats("svg"):
        figure = Figure(
            figsize=(2 * ONE_COLUMN, LINE * len(parts) + 1.2), layout="constrained"
        )
        axes = figure.subplots()
        left = pd.Series(0.0, parts.index)
        for verdict, colour in COLOURS.items():
            axes.barh(
                parts.index,
                parts[verdict],
                left=left,
                color=colour,
                label=verdict,
                height=0.8,
            )
            left = left + parts[verdict]
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_ylim(len(parts) - 0.4, -0.6)
        axes.set_xlabel("share of the readings")
        legend_of(figure, [axes])
        return save_figure(figure, stem)
