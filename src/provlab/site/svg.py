"""Small drawings inside the pages: they need no script, and take their colours from the style sheet by class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from markupsafe import Markup, escape

from provlab.figures.looks import KINDS

_SHAPES = {
    "check": '<path d="M3 8.5 6.5 12 13 4.5"/>',
    "cross": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "wave": '<path d="M2.5 9.5c2-4 4-4 5.5-1.5s3.5 2.5 5.5-1.5"/>',
    "ring": '<circle cx="8" cy="8" r="5"/>',
    "half": '<circle cx="8" cy="8" r="5"/><path class="solid" d="M8 3a5 5 0 0 1 0 10z"/>',
    "down": '<path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10"/>',
    "alert": '<path d="M8 2.5 14 13H2zM8 6.5v3M8 11v.5"/>',
    "dash": '<path d="M3 8h10"/>',
    "same": '<path d="M3.5 6h9M3.5 10h9"/>',
}

ICONS = {
    "replicated": "check", "contradicted": "cross", "no difference": "same", "inconclusive": "wave", "not run": "ring",
    "depends on r": "half",
    "complete": "check", "partial": "half", "data missing": "down", "broken": "alert", "missing": "ring",
    "held": "check", "violated": "cross", "vacuous": "dash", "not separable": "ring", "no bound": "ring",
    "rank undecided": "wave",
}  # fmt: skip
"""Shape of each verdict and state: told apart without colour."""


@cache
def icon(name: str) -> Markup:
    """Return the shape of a verdict or state; its word always stands beside it."""
    shape = _SHAPES[ICONS.get(name, "ring")]
    return Markup(f'<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">{shape}</svg>')


def tally_bar(counts: Iterable[tuple[str, int]], what: str) -> Markup:
    """Return a bar with a piece for each of some counts, such as claims by verdict."""
    shown = [(name, n) for name, n in counts if n]
    total = sum(n for _, n in shown)
    label = f"{what}: " + (", ".join(f"{n} {name}" for name, n in shown) or "none")
    pieces, x = [], 0.0
    for name, n in shown:
        width = 200 * n / total
        # Gaps separate pieces where colours do not.
        pieces.append(
            f'<rect class="k-{KINDS.get(name, "mute")}" x="{x:.1f}" y="0" height="10" '
            f'width="{max(width - 1.5, 1):.1f}"/>'
        )
        x += width
    return Markup(
        f'<svg class="tally" viewBox="0 0 200 10" preserveAspectRatio="none" role="img" aria-label="{escape(label)}">'
        f"{''.join(pieces)}</svg>"
    )


def strip(values: Sequence[float], low: float, high: float, mean: float, label: str) -> Markup:
    """Return values as ticks on an axis from `low` to `high`, with a triangle below the mean."""
    span = high - low
    scale = 150 / span if span > 0 and math.isfinite(span) else 0.0

    # One path for all ticks, and equal places once: a page may hold thousands of values.
    found = np.asarray(values, dtype=float)
    places = 5 + (found[np.isfinite(found)] - low) * scale if scale else np.full(min(1, found.size), 80.0)
    ticks = "".join(f"M{x:g} 2v11" for x in np.unique(np.round(places, 1)).tolist())
    x = 5 + (mean - low) * scale if scale else 80.0
    pointer = f'<path class="mean" d="M{x:.1f} 14l-3.5 5h7z"/>' if math.isfinite(x) else ""
    return Markup(
        f'<svg class="strip" viewBox="0 0 160 20" role="img" aria-label="{escape(label)}">'
        f'<path class="axis" d="M5 13h150"/><path class="ticks" d="{ticks}"/>{pointer}</svg>'
    )


def nice_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return round numbers between `low` and `high`, at most `most` of them."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most - 1)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]
