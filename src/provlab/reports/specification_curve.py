"""A specification curve: the effect of a claim in every universe, sorted, above the choices that give it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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

MARKERS = {"replicated": "o", "contradicted": "D", "no difference": "s", "depends on r": "s"}
"""Of verdicts, which differ without colours as well; the others have a triangle."""

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
        choices.set_xlabel(_said(universes))
        choices.set_xlim(-1, len(known))
        handles, labels = above.get_legend_handles_labels()
        legend_below(figure, handles, labels)
        return save_titled(figure, stem, title)


def _said(universes: pd.DataFrame) -> str:
    """Return what is drawn, and what cannot be: a universe of a bound that says nothing has no effect."""
    others = universes.loc[universes["effect"].isna(), "verdict"].value_counts()
    if others.empty:
        return f"{len(universes)} universes, by effect"
    rest = ", ".join(f"{n} {verdict}" for verdict, n in others.items())
    return f"{len(universes) - others.sum()} of {len(universes)} universes, by effect; the others have none ({rest})"


def _of_verdicts(known: pd.DataFrame) -> Iterator[tuple[str, np.ndarray, str]]:
    """Yield the verdicts that there are, their places and their colours."""
    for verdict in dict.fromkeys([*COLOURS, *known["verdict"]]):
        of = (known["verdict"] == verdict).to_numpy()
        if of.any():
            yield verdict, of, COLOURS.get(verdict, "black")


def _draw_effects(panel: Axes, known: pd.DataFrame, default: np.ndarray) -> None:
    x = np.arange(len(known))
    size = float(np.clip(160 / max(len(known), 1), 1.0, 3.0))
    ends = known[["low", "high"]].to_numpy(float)
    finite = np.isfinite(ends).all(axis=1)
    for verdict, of, colour in _of_verdicts(known):
        panel.vlines(x[of & finite], *ends[of & finite].T, color=colour, linewidth=size / 2.5, alpha=0.5)
        look: dict[str, Any] = {
            "marker": MARKERS.get(verdict, "^"),
            "color": colour,
            "markeredgewidth": 0,
            "linestyle": "none",
        }
        panel.plot(x[of], known["effect"].to_numpy()[of], markersize=size, **look)
        panel.plot([], [], markersize=4, label=f"{verdict} {of.sum()}", **look)  # thousands are drawn as dots
    if default.size:
        effect = known["effect"].to_numpy()[default]
        panel.plot(default, effect, "o", color="black", fillstyle="none", markersize=6, label="the defaults")


def _draw_choices(panel: Axes, known: pd.DataFrame, places: Mapping[str, Sequence[str]], default: np.ndarray) -> None:
    x, labels, line = np.arange(len(known)), {}, 0
    width = float(np.clip(200 / max(len(known), 1), 0.3, 2.0))
    for place, options in places.items():
        labels[line], line = place, line + 1
        for option in options:
            panel.axhline(line, color="0.88", linewidth=0.5, zorder=0)
            chosen = (known[place] == option).to_numpy()
            for _, of, colour in _of_verdicts(known):
                at = x[of & chosen]
                panel.plot(at, np.full(at.size, line), "|", color=colour, markersize=5, markeredgewidth=width)
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
