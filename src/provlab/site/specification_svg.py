"""A specification curve without a script: the effect in each universe, sorted, above the options that give it."""

from __future__ import annotations

import math
from collections.abc import Callable

from markupsafe import Markup, escape

from provlab.site.model_readings import ClaimReadings, UniverseLine
from provlab.site.svg import KINDS, nice_ticks

LEFT, RIGHT, TOP, HEIGHT, LINE = 190.0, 706.0, 12.0, 190.0, 15.0
"""Places in units of the drawing, which is 720 wide; height of the upper panel and of an option's line."""


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

    pieces = [f'<path class="axis" d="M{LEFT:g} {TOP:g}V{bottom:g}"/>']
    for tick in nice_ticks(low, high):
        pieces.append(f'<path class="grid" d="M{LEFT:g} {y(tick)}H{RIGHT:g}"/>')
        pieces.append(f'<text class="row" x="{LEFT - 6:g}" y="{y(tick) + 4:g}">{tick:g}</text>')
    pieces += [f'<path class="margin" d="M{LEFT:g} {y(at)}H{RIGHT:g}"/>' for at in readings.margins if low < at < high]
    if low <= 0 <= high:
        pieces.append(f'<path class="zero" d="M{LEFT:g} {y(0.0)}H{RIGHT:g}"/>')
    if math.isfinite(readings.printed):
        pieces.append(f'<path class="printed" d="M{LEFT:g} {y(readings.printed)}H{RIGHT:g}"/>')
    heights, labels, bottom_line = _option_lines(readings, bottom + 18)
    pieces += labels
    for place, (k, line) in enumerate(shown):
        pieces.append(_universe(line, k, LEFT + (place + 0.5) * step, min(step * 0.36, 4.0), y, heights))
    unit = f"{len(shown)} universes, sorted by effect" + (f" ({readings.unit})" if readings.unit else "")
    pieces.append(f'<text class="tick" x="{(LEFT + RIGHT) / 2:g}" y="{bottom_line + 14:g}">{escape(unit)}</text>')
    label = escape(f"Specification curve: {unit}. The table below has the same numbers.")
    return Markup(
        f'<svg class="claim-plot curve" viewBox="0 0 720 {bottom_line + 20:g}" role="img" aria-label="{label}">'
        f"<title>{escape(unit)}</title>{''.join(pieces)}</svg>"
    )


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
    heights: list[dict[str, float]] = []
    labels, at = [], top
    for place in readings.places:
        labels.append(f'<text class="row place" x="{LEFT - 8:g}" y="{at + 4:g}">{escape(_short(place.id))}</text>')
        at += LINE
        heights.append({})
        for option in place.options:
            labels.append(f'<text class="row" x="{LEFT - 8:g}" y="{at + 4:g}">{escape(_short(option))}</text>')
            heights[-1][option] = at
            at += LINE
    return heights, labels, at


def _universe(
    line: UniverseLine, k: int, x: float, radius: float, y: Callable[[float], float], heights: list[dict[str, float]]
) -> str:
    kind = KINDS.get(line.verdict, "mute")
    said = f"{line.verdict}, {line.effect:.4g}; {', '.join(line.options)}{'; the defaults' if line.is_default else ''}"
    marks = "".join(f"M{x:.1f} {of[option] - 4:g}v8" for of, option in zip(heights, line.options, strict=True))
    pieces = [f"<title>{escape(said)}</title>", f'<path class="choice" d="{marks}"/>']
    if math.isfinite(line.low) and math.isfinite(line.high):
        pieces.append(f'<path class="interval k-{kind}" d="M{x:.1f} {y(line.low)}V{y(line.high)}"/>')
    pieces.append(f'<circle class="effect k-{kind}" cx="{x:.1f}" cy="{y(line.effect)}" r="{max(radius, 1.2):.1f}"/>')
    if line.is_default:
        pieces.append(f'<circle class="default" cx="{x:.1f}" cy="{y(line.effect)}" r="7"/>')
    return f'<g data-row="{k}">{"".join(pieces)}</g>'


def _short(text: str) -> str:
    return text if len(text) <= 30 else text[:29] + "…"
