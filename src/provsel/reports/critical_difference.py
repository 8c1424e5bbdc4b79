"""Critical-difference diagram: average ranks of methods on one axis, bars join those that are not told apart."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scikit_posthocs import critical_difference_diagram

from provsel.reports.figures import ONE_COLUMN, PALETTE, save_titled, style


def draw_critical_difference(
    ranks: pd.Series, pairs: pd.DataFrame, stem: Path, title: str, *, difference: float, alpha: float = 0.05
) -> list[Path]:
    """Draw average ranks, and a bar over each group of methods with no significant difference among them.

    Parameters
    ----------
    ranks : Series
        Average rank of each method, 1 is best.
    pairs : DataFrame
        p-value of each pair of methods; its order gives the colours.
    stem : path
        Where the files go, without suffix.
    title : str
    difference : float
        Critical difference, drawn as a scale.
    alpha : float

    Returns
    -------
    list of path
        PDF, PNG and SVG.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.2.4.
    """
    colors = {name: PALETTE[k % len(PALETTE)] for k, name in enumerate(pairs.index)}  # as in the error bars
    with style():
        figure = Figure(figsize=(ONE_COLUMN, 0.9 + 0.2 * len(ranks)), layout="constrained")
        axes = figure.subplots()
        drawn = critical_difference_diagram(
            ranks,
            pairs,
            alpha=alpha,
            ax=axes,
            color_palette=colors,
            label_fmt_left="{label} ({rank:.2f}) ",
            label_fmt_right=" ({rank:.2f}) {label}",
            text_h_margin=0.15,
            crossbar_props={"linewidth": 1.6, "color": "0.25"},
            marker_props={"s": 12},
        )
        for (bar,) in drawn["crossbars"]:  # drawn through a set, in an order that is another one in every process
            bar.set_xdata(sorted(bar.get_xdata()))
        axes.spines["top"].set_visible(True)
        _draw_scale(axes, float(ranks.min()), difference)
        return save_titled(figure, stem, title)


def _draw_scale(axes: Axes, start: float, difference: float) -> None:
    """Draw the critical difference above the numbers of the axis, where the library's own bar would cross them."""
    height = 1.4
    axes.errorbar(start + difference / 2, height, xerr=difference / 2, color="0.25", capsize=2, linewidth=1.0)
    axes.text(start + difference, height, f"  critical difference {difference:.2f}", va="center", fontsize=7)
