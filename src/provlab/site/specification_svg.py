"""A specification curve without a script: the effect in each universe, sorted, above the options that give it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from markupsafe import Markup, escape

from provlab.site.model_readings import ClaimReadings, UniverseLine
from provlab.site.svg import KINDS, nice_ticks

WIDTH, LEFT, RIGHT, TOP, HEIGHT, LINE = 560.0, 172.0, 552.0, 44.0, 190.0, 15.0
"""Places in units of the drawing, as narrow as letters allow that a telephone shows at 9 pixels; height of the upper
panel and of an option's line."""


def specification_svg(readings: ClaimReadings) -> Markup:
    """Return the drawing; nothing where no universe has an effect.

    What belongs to a universe is one group with `data-row`, its place in `readings.universes`: a filter of the table of
    universes hides it too.
    """
    shown = [(k, line) for k, line in enumerate(readings.universes) if math.isfinite(line.effect)]
    if not shown:
        return Markup("")
    low, high = _range(readings, [line for _, line in shown])
    bottom = TOP + HEIGHT
    step = (RIGHT - LEFT) / len(shown)

    def y(value: float) -> float:
        return round(bottom - (min(max(value, low), high) - low) / (high - low) * HEIGHT, 1)

    pieces = [*_legend(readings), f'<path class="axis" d="M{LEFT:g} {TOP:g}V{bottom:g}"/>']
    for tick in nice_ticks(low, high):
        pieces.append(f'<path class="grid" d="M{LEFT:g} {y(tick)}H{RIGHT:g}"/>')
        pieces.append(f'<text class="row" x="{LEFT - 6:g}" y="{y(tick) + 4:g}">{tick:g}</text>')
    if readings.unit:
        pieces.append(f'<text class="row" x="{LEFT - 6:g}" y="{TOP - 10:g}">{escape(_short(readings.unit))}</text>')
    pieces += [f'<path class="margin" d="M{LEFT:g} {y(at)}H{RIGHT:g}"/>' for at in readings.margins if low < at < high]
    if low <= 0 <= high:
        pieces.append(f'<path class="zero" d="M{LEFT:g} {y(0.0)}H{RIGHT:g}"/>')
    if math.isfinite(readings.printed):
        pieces.append(f'<path class="printed" d="M{LEFT:g} {y(readings.printed)}H{RIGHT:g}"/>')
    heights, labels, bottom_line = _option_lines(readings, bottom + 18)
    pieces += labels
    for place, (k, line) in enumerate(shown):
        x = LEFT + (place + 0.5) * step
        if line.is_default:
            pieces.append(f'<path class="here" d="M{x:.1f} {TOP:g}V{bottom_line - LINE / 2:g}"/>')
        pieces.append(_universe(line, k, x, min(step * 0.36, 4.0), y, heights))
    said = _said(readings, len(shown))
    pieces.append(f'<text class="tick" x="{WIDTH / 2:g}" y="{bottom_line + 14:g}">{escape(said)}</text>')
    label = escape(f"Specification curve{f' ({readings.unit})' if readings.unit else ''}: {said}.")
    return Markup(
        f'<svg class="claim-plot curve" viewBox="0 0 {WIDTH:g} {bottom_line + 20:g}" role="img" aria-label="{label} '
        f'The table below has the same numbers."><title>{escape(said)}</title>{"".join(pieces)}</svg>'
    )


def _legend(readings: ClaimReadings) -> list[str]:
    """Return the marks of the verdicts, each with its word and the number of universes."""
    counts, pieces, x = Counter(line.verdict for line in readings.universes), [], 10.0
    for verdict, n in counts.most_common():
        kind, text = KINDS.get(verdict, "mute"), f"{verdict} {n}"
        pieces.append(f'<path class="effect k-{kind}" d="{_mark(kind, x, 12.0, 4.0)}"/>')
        pieces.append(f'<text class="legend" x="{x + 9:g}" y="16">{escape(text)}</text>')
        x += 32 + 6.6 * len(text)
    return pieces


def _said(readings: ClaimReadings, n_shown: int) -> str:
    """Return what the drawing shows, and what it cannot: a universe of a bound that says nothing has no effect."""
    others = Counter(line.verdict for line in readings.universes if not math.isfinite(line.effect))
    if not others:
        return f"{n_shown} universes, sorted by effect"
    rest = ", ".join(f"{n} {verdict}" for verdict, n in others.most_common())
    return f"{n_shown} of {len(readings.universes)} universes, sorted by effect; the others have none ({rest})"


def _range(readings: ClaimReadings, shown: list[UniverseLine]) -> tuple[float, float]:
    """Return the ends of the axis: of effects, zero, the print, and intervals that are not far beyond these."""
    values = [0.0, *(line.effect for line in shown), *(at for at in readings.margins if math.isfinite(at))]
    values += [readings.printed] if math.isfinite(readings.printed) else []
    span = (max(values) - min(values)) or 1.0
    ends = [end for line in shown for end in (line.low, line.high) if math.isfinite(end)]
    low = min([*values, *(end for end in ends if end > min(values) - span)])
    high = max([*values, *(end for end in ends if end < max(values) + span)])
    room = 0.04 * ((high - low) or 1.0)
    return low - room, high + room


def _option_lines(readings: ClaimReadings, top: float) -> tuple[list[dict[str, float]], list[str], float]:
    """Return the heights of the options of each place, their lines with their names, and where they end."""
    heights: list[dict[str, float]] = []
    labels, at = [], top
    for place in readings.places:
        at += 4 if heights else 0
        labels.append(f'<text class="row place" x="{LEFT - 8:g}" y="{at + 4:g}">{escape(_short(place.id))}</text>')
        at += LINE
        heights.append({})
        for option in place.options:
            labels.append(f'<path class="grid" d="M{LEFT:g} {at:g}H{RIGHT:g}"/>')
            labels.append(f'<text class="row" x="{LEFT - 8:g}" y="{at + 4:g}">{escape(_short(option))}</text>')
            heights[-1][option] = at
            at += LINE
    return heights, labels, at


def _universe(
    line: UniverseLine, k: int, x: float, radius: float, y: Callable[[float], float], heights: list[dict[str, float]]
) -> str:
    kind = KINDS.get(line.verdict, "mute")
    said = f"{line.verdict}, {line.effect:.4g}; {', '.join(line.options)}{'; the defaults' if line.is_default else ''}"
    marks = "".join(f"M{x:.1f} {of[option] - 5:g}v10" for of, option in zip(heights, line.options, strict=True))
    width = max(min(2 * radius, 4.0), 0.4)
    pieces = [
        f"<title>{escape(said)}</title>",
        f'<path class="choice k-{kind}" d="{marks}" stroke-width="{width:.1f}"/>',
    ]
    if math.isfinite(line.low) and math.isfinite(line.high):
        pieces.append(f'<path class="interval k-{kind}" d="M{x:.1f} {y(line.low)}V{y(line.high)}"/>')
    pieces.append(f'<path class="effect k-{kind}" d="{_mark(kind, x, y(line.effect), max(radius, 1.2))}"/>')
    if line.is_default:
        pieces.append(f'<circle class="default" cx="{x:.1f}" cy="{y(line.effect)}" r="7"/>')
    return f'<g data-row="{k}">{"".join(pieces)}</g>'


def _mark(kind: str, x: float, y: float, r: float) -> str:
    """Return the outline of a mark; kinds of verdicts differ without colours as well."""
    if kind == "bad":
        s = f"{1.3 * r:.1f}"
        return f"M{x:.1f} {y - 1.3 * r:.1f}l{s} {s}l-{s} {s}l-{s} -{s}z"
    if kind == "open":
        return f"M{x:.1f} {y - 1.1 * r:.1f}l{1.2 * r:.1f} {2 * r:.1f}h-{2.4 * r:.1f}z"
    if kind == "info":
        return f"M{x - 0.9 * r:.1f} {y - 0.9 * r:.1f}h{1.8 * r:.1f}v{1.8 * r:.1f}h-{1.8 * r:.1f}z"
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 -{2 * r:.1f} 0z"


def _short(text: str) -> str:
    return text if len(text) <= 26 else text[:25] + "…"
