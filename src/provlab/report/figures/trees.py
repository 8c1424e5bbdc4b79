"""Tree of methods by the similarity of their selections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram

from provlab.report.figures.looks import GREY, PALETTE
from provlab.report.figures.style import ON_A_PAGE, save_figure, style


def draw_tree(
    names: Sequence[str], links: NDArray[np.float64], threshold: float, stem: Path
) -> list[Path]:
    """Draw the tree of methods by the mean overlap of their selections, with families coloured.

    Parameters
    ----------
    names : sequence of str
        The n methods.
    links : ndarray of shape (n - 1, 4)
        Linkage matrix of `scipy.cluster.hierarchy.linkage`, with the distance 1 -
        overlap.
    threshold : float
        Smallest overlap of methods in one family.
    stem : path
        See `save_figure`.
    """
    is_family = links[:, 2] <= 1 - threshold
    with style():
        figure = Figure(
            figsize=(ON_A_PAGE, 0.6 + 0.14 * len(names)), layout="constrained"
        )
        axes = figure.subplots()
        dendrogram(
            links, orientation="left", labels=[*names], ax=axes, leaf_font_size=7,
            link_color_func=lambda link: PALETTE[1] if is_family[link - len(names)] else GREY,
        )  # fmt: skip
        axes.axvline(1 - threshold, color=PALETTE[0], linewidth=0.6, linestyle="--")
        overlaps = np.linspace(0, 1, 6)
        axes.set_xticks(1 - overlaps, [f"{value:.1f}" for value in overlaps])
        axes.set_xlabel("mean overlap of the selections, corrected for chance")
        axes.tick_params(axis="y", length=0, pad=3)
        axes.spines["left"].set_visible(False)
        return save_figure(figure, stem, "")
