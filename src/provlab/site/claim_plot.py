"""The plot behind a claim, without a script: by part the sample, the effect with its interval, zero and margins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from provlab.figures.looks import KINDS
from provlab.site.model_claims import ClaimPart
from provlab.site.svg import nice_ticks

MAX_DOTS = 500
"""Sample values of a part that are drawn; the table and the interval are of all."""

LEFT, RIGHT, TOP, ROW = 190.0, 700.0, 14.0, 52.0
"""Places in units of the drawing, which is 720 wide."""


def claim_svg(parts: Sequence[ClaimPart], unit: str) -> Markup:
    """Return the drawing of parts that share a unit; nothing where none has a sample, interval or margin.

    Parameters
    ----------
    parts : sequence of ClaimPart
    unit : str
        Of the horizontal axis.
    """
    shown = [part for part in parts if numbers_of(part)]
    if not any(part.sample or not math.isnan(part.low) or part.margins for part in shown):
        return Markup("")  # a lone effect is in the table
    low, high = axis_range(shown)
    bottom = TOP + ROW * len(shown)

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (RIGHT - LEFT), 1)

    pieces = [f'<path class="axis" d="M{LEFT:g} {bottom:g}H{RIGHT:g}"/>']
    for tick in nice_ticks(low, high):
        pieces.append(f'<path class="grid" d="M{x(tick)} {TOP:g}V{bottom:g}"/>')
        pieces.append(f'<text class="tick" x="{x(tick)}" y="{bottom + 16:g}">{tick:g}</text>')
    pieces.append(f'<text class="tick" x="{(LEFT + RIGHT) / 2:g}" y="{bottom + 34:g}">{escape(unit)}</text>')
    if low <= 0 <= high:
        pieces.append(f'<path class="zero" d="M{x(0.0)} {TOP - 6:g}V{bottom:g}"/>')
    for k, part in enumerate(shown):
        pieces += _row(part, TOP + ROW * (k + 0.5), x)
    title = f"{len(shown)} part{'s' if len(shown) > 1 else ''} in {unit or 'its unit'}"
    label = escape(describe(shown, unit))
    return Markup(
        f'<svg class="claim-plot" viewBox="0 0 720 {bottom + 42:g}" role="img" aria-label="{label}">'
        f"<title>{escape(title)}</title>{''.join(pieces)}</svg>"
    )


def describe(parts: Sequence[ClaimPart], unit: str) -> str:
    """Return what the plot shows, for those who do not see it."""
    lines = []
    for part in parts:
        text = f"{part.part}: {part.verdict}"
        if not math.isnan(part.effect):
            text += f", effect {part.effect:.3g}"
        if not (math.isnan(part.low) or math.isnan(part.high)):
            text += f", interval {part.low:.3g} to {part.high:.3g}"
        lines.append(text)
    return f"Effects in {unit or 'their unit'}. " + "; ".join(lines) + ". The table has the same numbers."


def numbers_of(part: ClaimPart) -> list[float]:
    """Return all finite numbers of a part that a plot shows, without its margins."""
    values = [part.effect, part.low, part.high, *(value for _, value in part.sample[:MAX_DOTS])]
    return [value for value in values if math.isfinite(value)]


def axis_range(parts: Sequence[ClaimPart]) -> tuple[float, float]:
    """Return the ends of an axis that holds all numbers, the margins and zero, with some room."""
    values = [value for part in parts for value in (*numbers_of(part), *part.margins) if math.isfinite(value)]
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room


def _row(part: ClaimPart, y: float, x: Callable[[float], float]) -> list[str]:
    kind = KINDS.get(part.verdict, "mute")
    name = part.part if len(part.part) <= 28 else part.part[:27] + "…"
    pieces = [f'<text class="row" x="{LEFT - 12:g}" y="{y + 4:g}">{escape(name)}</text>']
    margins = [margin for margin in part.margins if math.isfinite(margin)]
    pieces += [f'<path class="margin" d="M{x(margin)} {y - ROW / 2 + 2:g}v{ROW - 4:g}"/>' for margin in margins]
    for k, (label, value) in enumerate(part.sample[:MAX_DOTS]):
        if math.isfinite(value):
            # Golden-ratio steps spread dots evenly over the height, deterministically.
            height = y - 17 + 14 * ((k * 0.618034) % 1)
            pieces.append(
                f'<circle class="dot" cx="{x(value)}" cy="{height:.1f}" r="2.6">'
                f"<title>{escape(label)}: {value:.4g}</title></circle>"
            )
    if math.isfinite(part.low) or math.isfinite(part.high):
        ends = [x(end) if math.isfinite(end) else edge for end, edge in ((part.low, LEFT), (part.high, RIGHT))]
        caps = "".join(f"M{end} {y + 7:g}v10" for end in ends)
        pieces.append(f'<path class="interval k-{kind}" d="M{ends[0]} {y + 12:g}H{ends[1]}{caps}"/>')
    if math.isfinite(part.effect):
        pieces.append(f'<path class="effect k-{kind}" d="M{x(part.effect)} {y + 6:g}l6 6-6 6-6-6z"/>')
    return pieces
