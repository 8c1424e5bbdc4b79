"""How alike methods select: the tree of their selections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram

from provlab.report.figures.looks import GREY, PALETTE
from provlab.report.figures.style import ON_A_PAGE, save_figure, style
from provlab.verdicts.panel_families import THRESHOLD, tree


def draw_tree(overlap: pd.DataFrame, stem: Path) -> list[Path]:
    """Draw the tree of methods by the mean overlap of their selections, with families in colour.

    Parameters
    ----------
    overlap : DataFrame
        Methods x methods, see `provlab.verdicts.panel_families.overlaps`.
    stem : path
        As `save_figure`.
    """
    links = tree(overlap)
    is_family = links[:, 2] <= 1 - THRESHOLD
    with style():
        figure = Figure(figsize=(ON_A_PAGE, 0.6 + 0.14 * len(overlap)), layout="constrained")
        axes = figure.subplots()
        dendrogram(
            links, orientation="left", labels=[*overlap.index], ax=axes, leaf_font_size=7,
            link_color_func=lambda link: PALETTE[1] if is_family[link - len(overlap)] else GREY,
        )  # fmt: skip
        axes.axvline(1 - THRESHOLD, color=PALETTE[0], linewidth=0.6, linestyle="--")
        overlaps = np.linspace(0, 1, 6)
        axes.set_xticks(1 - overlaps, [f"{value:.1f}" for value in overlaps])
        axes.set_xlabel("mean overlap of the selections, corrected for chance")
        axes.tick_params(axis="y", length=0, pad=3)
        axes.spines["left"].set_visible(False)
        return save_figure(figure, stem, "")
