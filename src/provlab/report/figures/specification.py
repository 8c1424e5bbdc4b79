"""A specification curve: the effect of a claim in each universe, sorted, above the options that give it.

It is an SVG that pages hold and filter, and that stands alone as a file; Matplotlib takes a hundred times as long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from provlab.report.figures.looks import kind_of

MAX_UNIVERSES = 1000
"""Universes that are drawn, evenly taken by effect."""

WIDTH, LEFT, RIGHT, TOP, HEIGHT, LINE = 560.0, 172.0, 552.0, 44.0, 190.0, 15.0
"""Places in units of the drawing, as narrow as letters allow that a telephone shows at 9 pixels; height of the upper
panel and of an option's line."""

ENVIRONMENT = Environment(
    autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=FileSystemLoader(Path(__file__).parent)
)
ENVIRONMENT.filters |= {"g": "{:g}".format, "tenth": "{:.1f}".format}


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
        Place and its options, the default first. Universes that are older than a place have no option of it, "".
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
    low, high = _range(shown, [*margins, *([] if printed is None else [printed])])
    bottom, step = TOP + HEIGHT, (RIGHT - LEFT) / len(shown)

    def y(value: float) -> float:
        return round(bottom - (min(max(value, low), high) - low) / (high - low) * HEIGHT, 1)

    legend, x = [], 10.0
    for verdict, n in universes["verdict"].value_counts().items():
        legend.append((verdict, words := f"{verdict} {n}", x))
        x += 32 + 6.6 * len(words)
    rows, heights, end = [], dict[tuple[str, str], float](), bottom + 18
    known = {place: options for place, options in places.items() if (shown[place] != "").any()}
    for place, options in known.items():
        heights |= {(place, option): end + k * LINE for k, option in enumerate(options, 1)}
        rows += [("row place", place, end), *(("row", option, heights[place, option]) for option in options)]
        end += LINE * (len(options) + 1) + 4
    lines = []
    for k, line in enumerate(shown.to_dict("records")):
        of_places = {place: str(line[place]) for place in known if line[place] != ""}
        marks, at = [heights[each] for each in of_places.items()], LEFT + (k + 0.5) * step
        lines.append({**line, "number": shown.index[k], "x": at, "options": of_places.values(), "heights": marks})
    n, others = len(shown), universes.loc[~universes.index.isin(shown.index), "verdict"].value_counts()
    said = f"{n} universes, sorted by effect"
    if n < len(universes):  # a universe of a bound that says nothing has no effect, and would be missed without a word
        rest = ", ".join(f"{m} {verdict}" for verdict, m in others.items())
        said = f"{n} of {len(universes)} universes, sorted by effect; the others have none ({rest})"
    ticks = [tick for tick in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= tick <= high]
    radius = min(step * 0.36, 4.0)
    drawing = ENVIRONMENT.get_template("specification.svg.j2").render(
        low=low, high=high, y=y, mark=_mark, kind_of=kind_of, finite=math.isfinite, unit=unit, said=said, alone=alone,
        legend=legend, ticks=ticks, margins=margins, printed=printed, rows=rows, lines=lines, radius=radius,
        stroke=max(min(2 * radius, 4.0), 0.4), left=LEFT, right=RIGHT, top=TOP, bottom=bottom, width=WIDTH, end=end,
        lowest=end - LINE,
    )  # fmt: skip
    return Markup("".join(map(str.strip, drawing.splitlines())) + "\n")  # escaped by the template


def _range(shown: pd.DataFrame, lines: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: of effects, zero, lines, and intervals that are not far beyond these."""
    values = [0.0, *shown["effect"], *(at for at in lines if math.isfinite(at))]
    span = (max(values) - min(values)) or 1.0
    ends = [end for end in shown[["low", "high"]].to_numpy(float).ravel() if math.isfinite(end)]
    low = min([*values, *(end for end in ends if end > min(values) - span)])
    high = max([*values, *(end for end in ends if end < max(values) + span)])
    room = 0.04 * ((high - low) or 1.0)
    return low - room, high + room


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
