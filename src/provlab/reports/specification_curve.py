"""A specification curve: the effect of a claim in every universe, sorted, above the choices that give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provlab.reports.figures import TWO_COLUMNS, legend_below, save_titled, style
from provlab.reports.looks import PALETTE

COLOURS = {
    "replicated": PALETTE[2], "contradicted": PALETTE[1], "no difference": PALETTE[0], "inconclusive": "0.55",
    "vacuous": PALETTE[3], "depends on r": PALETTE[4],
}  # fmt: skip

ROW = 0.13
"""Inches of an option's line."""


def draw_specification_curve(
    universes: pd.DataFrame,
    places: Mapping[str, Sequence[str]],
    stem: Path,
    title: str,
    *,
    ylabel: str,
    margins: Sequence[float] = (),
    printed: float | None = None,
) -> list[Path]:
    """Draw the effects with their intervals, coloured by verdict, and below them which option of each place they have.

    Parameters
    ----------
    universes : DataFrame
        One line a universe: `verdict`, `effect`, `low`, `high`, and a column a place. The first is the defaults'.
    places : mapping
        Place and its options, the default first.
    stem : path
        Where the files go, without suffix.
    title, ylabel : str
    margins : sequence of float
        Lines where the verdict turns.
    printed : float, optional
        What the paper prints, as a line.

    Returns
    -------
    list of path
        PDF, PNG and SVG.

    References
    ----------
    Simonsohn, Simmons, Nelson (2020), Specification curve analysis, Nature Human Behaviour 4.
    """
    known = universes[universes["effect"].notna()]
    order = np.argsort(known["effect"].to_numpy(), kind="stable")
    default = np.flatnonzero(known.index.to_numpy()[order] == universes.index[0])
    known = known.iloc[order]
    n_options = sum(len(options) for options in places.values())
    below = max(ROW * (n_options + len(places)), 0.3)
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 2.6 + below), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08)  # type: ignore[union-attr, call-arg]  # bold names
        above, choices = figure.subplots(2, 1, sharex=True, height_ratios=[1.9, below])
        _draw_effects(above, known, default)
        for margin in margins:
            above.axhline(margin, color="0.6", linewidth=0.6, linestyle=":")
        if margins or ((known["effect"] < 0).any() and (known["effect"] > 0).any()):
            above.axhline(0, color="0.6", linewidth=0.6)
        if printed is not None:
            above.axhline(printed, color="black", linewidth=0.8, linestyle="--", label=f"as printed, {printed:.3g}")
        above.set_ylabel(ylabel)
        _draw_choices(choices, known, places, default)
        above.tick_params(axis="x", length=0)
        choices.set_xlabel(f"{len(known)} universes, by effect")
        choices.set_xlim(-1, len(known))
        handles, labels = above.get_legend_handles_labels()
        legend_below(figure, handles, labels)
        return save_titled(figure, stem, title)


def _draw_effects(panel: Axes, known: pd.DataFrame, default: np.ndarray) -> None:
    x = np.arange(len(known))
    size = float(np.clip(160 / max(len(known), 1), 1.0, 3.0))
    ends = known[["low", "high"]].to_numpy(float)
    finite = np.isfinite(ends).all(axis=1)
    for verdict in dict.fromkeys([*COLOURS, *known["verdict"]]):
        of = (known["verdict"] == verdict).to_numpy()
        if of.any():
            colour = COLOURS.get(verdict, "black")
            panel.vlines(x[of & finite], *ends[of & finite].T, color=colour, linewidth=size / 2.5, alpha=0.5)
            panel.plot(x[of], known["effect"].to_numpy()[of], "o", color=colour, markersize=size, label=verdict)
    if default.size:
        effect = known["effect"].to_numpy()[default]
        panel.plot(default, effect, "D", color="black", fillstyle="none", markersize=6, label="the defaults")


def _draw_choices(panel: Axes, known: pd.DataFrame, places: Mapping[str, Sequence[str]], default: np.ndarray) -> None:
    x, labels, line = np.arange(len(known)), {}, 0
    for place, options in places.items():
        labels[line], line = place, line + 1
        for option in options:
            of = (known[place] == option).to_numpy()
            panel.plot(x[of], np.full(int(of.sum()), line), "|", color="0.25", markersize=4, markeredgewidth=0.8)
            labels[line], line = f"{option}", line + 1
    panel.set_ylim(line - 0.5, -0.5)
    panel.set_yticks(list(labels), list(labels.values()))
    for text, name in zip(panel.get_yticklabels(), labels.values(), strict=True):
        text.set_fontweight("bold" if name in places else "normal")
    panel.tick_params(axis="y", length=0, labelsize=6)
    panel.tick_params(axis="x", length=0, labelbottom=False)
    panel.spines[["left", "bottom"]].set_visible(False)
    for at in default:
        panel.axvline(at, color="0.7", linewidth=0.6, zorder=0)
