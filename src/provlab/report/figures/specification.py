"""Specification curve: the sorted effects of a claim in all universes, above the options of each universe.

The SVG is part of pages, which can filter it, and also a file of its own. Matplotlib
would take a hundred times as long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from provlab.report.figures.looks import kind_of

MAX_UNIVERSES = 1000
"""Largest number of universes that are drawn, evenly spaced by effect."""

WIDTH, LEFT, RIGHT, TOP, HEIGHT, LINE = 560.0, 172.0, 552.0, 44.0, 190.0, 15.0
"""Positions in units of the drawing, and heights of the upper panel and of an option's row. The drawing is as narrow as
possible for text that a phone shows at 9 pixels."""

ENVIRONMENT = Environment(
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    loader=FileSystemLoader(Path(__file__).parent),
)
ENVIRONMENT.filters |= {"g": "{:g}".format, "tenth": "{:.1f}".format}


def by_effect(universes: pd.DataFrame) -> pd.DataFrame:
    """Return the universes of a claim that were run, sorted by effect; `is_default` marks the first universe.

    At most about `MAX_UNIVERSES` are returned, including the smallest and largest
    effect and the default.
    """
    universes = universes.assign(is_default=np.arange(len(universes)) == 0)
    run = universes[universes["verdict"] != "not run"].sort_values(
        "effect", kind="stable", ignore_index=True
    )
    if len(run) <= MAX_UNIVERSES:
        return run
    drawn = np.linspace(0, len(run) - 1, MAX_UNIVERSES).round().astype(int)
    return run[run.index.isin(drawn) | run["is_default"]].reset_index(drop=True)


def specification_curve(
    universes: pd.DataFrame,
    places: Mapping[str, Sequence[str]],
    *,
    unit: str = "",
    margins: Sequence[float] = (),
    printed: float | None = None,
    alone: bool = False,
) -> Markup:
    """Return the drawing, which is empty if no universe has an effect.

    Parameters
    ----------
    universes : DataFrame
        See `by_effect`: `verdict`, `effect`, `low`, `high`, `is_default`, and a column
        per place. The marks of row k form one group with `data-row` k, so that a filter
        of the table also hides them.
    places : mapping
        Options by place, the default first. Universes that were stored before a place
        was added have the option "" for it.
    unit : str
        Unit of the effects.
    margins : sequence of float
        Effects at which the verdict changes, drawn as lines.
    printed : float, optional
        Printed value, drawn as a line.
    alone : bool
        Whether to return a self-contained file that includes its colours.

    References
    ----------
    Simonsohn, Simmons, Nelson (2020), Specification curve analysis, Nature Human
    Behaviour 4.
    """
    shown = universes[np.isfinite(universes["effect"].astype(float))]
    if shown.empty:
        return Markup("")
    low, high = _range(shown, margins if printed is None else [*margins, printed])
    bottom = TOP + HEIGHT

    def y(value: float) -> float:
        return round(
            bottom - (min(max(value, low), high) - low) / (high - low) * HEIGHT, 1
        )

    places = {
        place: options
        for place, options in places.items()
        if (shown[place] != "").any()
    }
    rows, heights, end = _option_rows(places, bottom + 18)
    step = (RIGHT - LEFT) / len(shown)
    radius = min(step * 0.36, 4.0)
    ticks = [
        tick
        for tick in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)
        if low <= tick <= high
    ]
    drawing = ENVIRONMENT.get_template("specification.svg.j2").render(
        low=low, high=high, y=y, mark=_mark, kind_of=kind_of, finite=math.isfinite, unit=unit,
        said=_caption(universes, shown), alone=alone, legend=_legend(universes), ticks=ticks, margins=margins,
        printed=printed, rows=rows, lines=_marks(shown, places, heights, step), radius=radius,
        stroke=max(min(2 * radius, 4.0), 0.4), left=LEFT, right=RIGHT, top=TOP, bottom=bottom, width=WIDTH, end=end,
        lowest=end - LINE,
    )  # fmt: skip
    # escaped by the template
    return Markup("".join(map(str.strip, drawing.splitlines())) + "\n")


def _legend(universes: pd.DataFrame) -> list[tuple[str, str, float]]:
    """Return each verdict, its label with the number of universes, and the position of the label."""
    legend = []
    x = 10.0
    for verdict, n in universes["verdict"].value_counts().items():
        words = f"{verdict} {n}"
        legend.append((str(verdict), words, x))
        x += 32 + 6.6 * len(words)
    return legend


def _option_rows(
    places: Mapping[str, Sequence[str]], top: float
) -> tuple[list[tuple[str, str, float]], dict[tuple[str, str], float], float]:
    """Return the rows of places and options with class and height, the heights of options, and the last height."""
    rows = []
    heights = {}
    for place, options in places.items():
        rows.append(("row place", place, top))
        for k, option in enumerate(options, 1):
            heights[place, option] = top + k * LINE
            rows.append(("row", option, top + k * LINE))
        top += LINE * (len(options) + 1) + 4
    return rows, heights, top


def _marks(
    shown: pd.DataFrame,
    places: Mapping[str, Sequence[str]],
    heights: Mapping[tuple[str, str], float],
    step: float,
) -> list[dict[str, Any]]:
    """Return each universe with its number, its position on the axis, and its options with the heights of marks."""
    lines = []
    for k, (number, line) in enumerate(
        zip(shown.index, shown.to_dict("records"), strict=True)
    ):
        options = {place: str(line[place]) for place in places if line[place] != ""}
        marks = [heights[chosen] for chosen in options.items()]
        x = LEFT + (k + 0.5) * step
        lines.append(
            {
                **line,
                "number": number,
                "x": x,
                "options": options.values(),
                "heights": marks,
            }
        )
    return lines


def _caption(universes: pd.DataFrame, shown: pd.DataFrame) -> str:
    """Return a caption with the number of universes; a universe with a vacuous bound has no effect and is not drawn."""
    if len(shown) == len(universes):
        return f"{len(shown)} universes, sorted by effect"
    without = universes.loc[
        ~universes.index.isin(shown.index), "verdict"
    ].value_counts()
    counts = ", ".join(f"{n} {verdict}" for verdict, n in without.items())
    return f"{len(shown)} of {len(universes)} universes, sorted by effect; the others have none ({counts})"


def _range(shown: pd.DataFrame, lines: Sequence[float]) -> tuple[float, float]:
    """Return the limits of an axis that contains effects, zero, lines, and the intervals that are not far longer."""
    values = np.array(
        [0.0, *shown["effect"], *(value for value in lines if math.isfinite(value))],
        float,
    )
    span = float(np.ptp(values)) or 1.0
    ends = shown[["low", "high"]].to_numpy(float).ravel()
    ends = ends[np.isfinite(ends)]
    low = float(min([values.min(), *ends[ends > values.min() - span]]))
    high = float(max([values.max(), *ends[ends < values.max() + span]]))
    room = 0.04 * ((high - low) or 1.0)
    return low - room, high + room


def _mark(verdict: str, x: float, y: float, r: float) -> str:
    """Return the outline of a mark: diamond, triangle, square or disc, to distinguish kinds without colour."""
    kind, s = kind_of(verdict), f"{1.3 * r:.1f}"
    if kind == "bad":
        return f"M{x:.1f} {y - 1.3 * r:.1f}l{s} {s}l-{s} {s}l-{s} -{s}z"
    if kind == "open":
        return f"M{x:.1f} {y - 1.1 * r:.1f}l{1.2 * r:.1f} {2 * r:.1f}h-{2.4 * r:.1f}z"
    if kind == "info":
        return f"M{x - 0.9 * r:.1f} {y - 0.9 * r:.1f}h{1.8 * r:.1f}v{1.8 * r:.1f}h-{1.8 * r:.1f}z"
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 -{2 * r:.1f} 0z"
