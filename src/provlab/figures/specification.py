"""A specification curve: the effect of a claim in each universe, sorted, above the options that give it.

It is an SVG that pages hold and filter, and that stands alone as a file; Matplotlib takes a hundred times as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup, escape
from matplotlib.ticker import MaxNLocator

from provlab.figures.looks import kind_of

MAX_UNIVERSES = 1000
"""Universes that are drawn, evenly taken by effect."""

WIDTH, LEFT, RIGHT, TOP, HEIGHT, LINE = 560.0, 172.0, 552.0, 44.0, 190.0, 15.0
"""Places in units of the drawing, as narrow as letters allow that a telephone shows at 9 pixels; height of the upper
panel and of an option's line."""

STYLE = """
svg { font: 12.5px sans-serif; background: #fff } text { fill: #55606f; text-anchor: middle }
.row { fill: #1b2330; text-anchor: end } .legend { fill: #1b2330; text-anchor: start } .place { font-weight: 600 }
path { fill: none; stroke: #aab3bf } .grid { stroke: #dce0e6 } .zero { stroke: #1b2330 }
.margin, .here { stroke-dasharray: 3 3 } .printed { stroke: #1b2330; stroke-dasharray: 1 4 }
.default { fill: none; stroke: #1b2330; stroke-width: 1.4 } .interval { stroke-opacity: .45 }
.k-good { color: #0a6847 } .k-bad { color: #a22b06 } .k-open { color: #7a5300 } .k-info { color: #0a588f }
.k-mute { color: #55606f } [class*="k-"] { stroke: currentColor } .effect { fill: currentColor; stroke: none }
"""
"""Of a drawing that stands alone; those of a page take their colours from its style sheet."""


def by_effect(universes: pd.DataFrame) -> pd.DataFrame:
    """Return the universes of a claim that were run, by effect, with `is_default`: of all universes the first is that.

    There are at most about `MAX_UNIVERSES`; the ends and the defaults are always among them.
    """
    found = universes.assign(is_default=np.arange(len(universes)) == 0)
    found = found[found["verdict"] != "not run"].sort_values("effect", kind="stable", ignore_index=True)
    if len(found) <= MAX_UNIVERSES:
        return found
    taken = np.linspace(0, len(found) - 1, MAX_UNIVERSES).round().astype(int)
    return found[np.isin(np.arange(len(found)), taken) | found["is_default"]].reset_index(drop=True)


def specification_curve(
    universes: pd.DataFrame,
    places: Mapping[str, Sequence[str]],
    *,
    unit: str = "",
    margins: Sequence[float] = (),
    printed: float | None = None,
    alone: bool = False,
) -> Markup:
    """Return the drawing; nothing where no universe has an effect.

    Parameters
    ----------
    universes : DataFrame
        See `by_effect`: `verdict`, `effect`, `low`, `high`, `is_default`, and a column a place. What belongs to line k
        is one group with `data-row` k, so that a filter of a table of the same lines hides it too.
    places : mapping
        Place and its options, the default first.
    unit : str
        Of the effects.
    margins : sequence of float
        Lines where the verdict turns.
    printed : float, optional
        What the paper prints, as a line.
    alone : bool
        Make a file of its own, with its colours.

    References
    ----------
    Simonsohn, Simmons, Nelson (2020), Specification curve analysis, Nature Human Behaviour 4.
    """
    shown = universes[np.isfinite(universes["effect"].astype(float))]
    if shown.empty:
        return Markup("")
    drawn = [] if printed is None else [printed]
    low, high = _range(shown, [*margins, *drawn])
    bottom, step = TOP + HEIGHT, (RIGHT - LEFT) / len(shown)

    def y(value: float) -> float:
        return round(bottom - (min(max(value, low), high) - low) / (high - low) * HEIGHT, 1)

    def across(kind: str, at: float) -> str:
        return f'<path class="{kind}" d="M{LEFT:g} {y(at)}H{RIGHT:g}"/>' if low <= at <= high else ""

    def text(kind: str, x: float, at: float, words: str) -> str:
        short = words if len(words) <= 26 or kind != "row" else words[:25] + "…"
        return f'<text class="{kind}" x="{x:g}" y="{at:g}">{escape(short)}</text>'

    pieces, x = [], 10.0
    for verdict, n in universes["verdict"].value_counts().items():  # the legend
        words = f"{verdict} {n}"
        pieces.append(f'<path class="effect k-{kind_of(str(verdict))}" d="{_mark(str(verdict), x, 12.0, 4.0)}"/>')
        pieces.append(text("legend", x + 9, 16, words))
        x += 32 + 6.6 * len(words)
    pieces.append(f'<path class="axis" d="M{LEFT:g} {TOP:g}V{bottom:g}"/>')
    for tick in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high):
        if low <= tick <= high:
            pieces += [across("grid", tick), text("row", LEFT - 6, y(tick) + 4, f"{tick:g}")]
    pieces += [text("row", LEFT - 6, TOP - 10, unit), *(across("margin", at) for at in margins)]
    pieces += [across("zero", 0.0), *(across("printed", at) for at in drawn)]
    heights: dict[tuple[str, str], float] = {}
    at = bottom + 18
    for place, options in places.items():
        pieces.append(text("row place", LEFT - 8, at + 4, place))
        for option in options:
            at += LINE
            heights[place, option] = at
            pieces.append(f'<path class="grid" d="M{LEFT:g} {at:g}H{RIGHT:g}"/>{text("row", LEFT - 8, at + 4, option)}')
        at += LINE + 4
    radius = min(step * 0.36, 4.0)
    for k, line in enumerate(shown.to_dict("records")):
        x = LEFT + (k + 0.5) * step
        chosen = [heights[place, str(line[place])] for place in places]
        if line["is_default"]:
            pieces.append(f'<path class="here" d="M{x:.1f} {TOP:g}V{at - LINE:g}"/>')
        pieces.append(f'<g data-row="{shown.index[k]}">{_universe(line, places, x, y, chosen, radius)}</g>')
    n, others = len(shown), universes.loc[~universes.index.isin(shown.index), "verdict"].value_counts()
    said = f"{n} universes, sorted by effect"
    if n < len(universes):  # a universe of a bound that says nothing has no effect, and would be missed without a word
        rest = ", ".join(f"{m} {verdict}" for verdict, m in others.items())
        said = f"{n} of {len(universes)} universes, sorted by effect; the others have none ({rest})"
    pieces.append(text("tick", WIDTH / 2, at + 10, said))
    label = escape(f"Specification curve{f' ({unit})' if unit else ''}: {said}.")
    style = f' xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style' if alone else ""
    return Markup(
        f'<svg class="claim-plot curve" viewBox="0 0 {WIDTH:g} {at + 16:g}" role="img" aria-label="{label} The table '
        f'has the same numbers."{style}><title>{escape(said)}</title>{"".join(pieces)}</svg>\n'
    )


def _range(shown: pd.DataFrame, lines: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: of effects, zero, lines, and intervals that are not far beyond these."""
    values = [0.0, *shown["effect"], *(at for at in lines if math.isfinite(at))]
    span = (max(values) - min(values)) or 1.0
    ends = [end for end in shown[["low", "high"]].to_numpy(float).ravel() if math.isfinite(end)]
    low = min([*values, *(end for end in ends if end > min(values) - span)])
    high = max([*values, *(end for end in ends if end < max(values) + span)])
    room = 0.04 * ((high - low) or 1.0)
    return low - room, high + room


def _universe(
    line: dict[str, Any],
    places: Mapping[str, Sequence[str]],
    x: float,
    y: Callable[[float], float],
    heights: list[float],
    radius: float,
) -> str:
    verdict, effect = str(line["verdict"]), float(line["effect"])
    kind = kind_of(verdict)
    said = f"{verdict}, {effect:.4g}; {', '.join(str(line[place]) for place in places)}"
    marks, width = "".join(f"M{x:.1f} {at - 5:g}v10" for at in heights), max(min(2 * radius, 4.0), 0.4)
    pieces = [
        f"<title>{escape(said)}{'; the defaults' if line['is_default'] else ''}</title>",
        f'<path class="choice k-{kind}" d="{marks}" stroke-width="{width:.1f}"/>',
    ]
    if math.isfinite(line["low"]) and math.isfinite(line["high"]):
        pieces.append(f'<path class="interval k-{kind}" d="M{x:.1f} {y(line["low"])}V{y(line["high"])}"/>')
    pieces.append(f'<path class="effect k-{kind}" d="{_mark(verdict, x, y(effect), max(radius, 1.2))}"/>')
    if line["is_default"]:
        pieces.append(f'<circle class="default" cx="{x:.1f}" cy="{y(effect)}" r="7"/>')
    return "".join(pieces)


def _mark(verdict: str, x: float, y: float, r: float) -> str:
    """Return the outline of a mark: diamond, triangle, square or disc, so that kinds differ without colours as well."""
    kind, s = kind_of(verdict), f"{1.3 * r:.1f}"
    if kind == "bad":
        return f"M{x:.1f} {y - 1.3 * r:.1f}l{s} {s}l-{s} {s}l-{s} -{s}z"
    if kind == "open":
        return f"M{x:.1f} {y - 1.1 * r:.1f}l{1.2 * r:.1f} {2 * r:.1f}h-{2.4 * r:.1f}z"
    if kind == "info":
        return f"M{x - 0.9 * r:.1f} {y - 0.9 * r:.1f}h{1.8 * r:.1f}v{1.8 * r:.1f}h-{1.8 * r:.1f}z"
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 -{2 * r:.1f} 0z"
