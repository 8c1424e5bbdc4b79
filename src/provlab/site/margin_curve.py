"""The claims of a paper as a function of the margin: how many would be shown to be the same, or not worse, at each."""

from __future__ import annotations

import math
from collections.abc import Iterable

from markupsafe import Markup

from provlab.claims.decisions import POINTS
from provlab.site.model_claims import ClaimPage
from provlab.site.svg import nice_ticks

LEFT, RIGHT, TOP, BOTTOM = 60.0, 700.0, 12.0, 180.0
"""Places in units of the drawing, which is 720 wide."""


def margins_of(claims: Iterable[ClaimPage]) -> list[float]:
    """Return the smallest margins, in percentage points, of the paper's own claims that have one, ascending."""
    own = [claim for claim in claims if claim.kind == "paper" and claim.headline.unit == POINTS]
    return sorted(claim.smallest_margin for claim in own if math.isfinite(claim.smallest_margin))


def margin_svg(margins: list[float]) -> Markup:
    """Return a step curve that rises by one at each of some ascending margins; nothing for fewer than two."""
    if len(margins) < 2:
        return Markup("")
    n, end = len(margins), 1.05 * margins[-1]

    def x(margin: float) -> float:
        return round(LEFT + margin / end * (RIGHT - LEFT), 1)

    def y(count: float) -> float:
        return round(BOTTOM - count / n * (BOTTOM - TOP), 1)

    pieces = []
    for tick in nice_ticks(0.0, end):
        pieces.append(f'<path class="grid" d="M{x(tick)} {TOP:g}V{BOTTOM:g}"/>')
        pieces.append(f'<text class="tick" x="{x(tick)}" y="{BOTTOM + 16:g}">{tick:g}</text>')
    pieces += [
        f'<text class="row" x="{LEFT - 8:g}" y="{y(tick) + 4:g}">{tick:g}</text>' for tick in nice_ticks(0.0, n, 5)
    ]
    pieces.append(f'<path class="axis" d="M{LEFT:g} {TOP:g}V{BOTTOM:g}H{RIGHT:g}"/>')
    pieces.append(f'<text class="tick" x="{(LEFT + RIGHT) / 2:g}" y="{BOTTOM + 34:g}">margin ({POINTS})</text>')
    steps = "".join(f"H{x(margin)}V{y(k + 1)}" for k, margin in enumerate(margins))
    pieces.append(f'<path class="interval k-info" d="M{LEFT:g} {BOTTOM:g}{steps}H{RIGHT:g}"/>')
    middle = margins[(n - 1) // 2]
    label = f"{n} claims by smallest margin: {margins[0]:.3g} to {margins[-1]:.3g}, half at {middle:.3g} or less."
    return Markup(
        f'<svg class="claim-plot" viewBox="0 0 720 {BOTTOM + 42:g}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{''.join(pieces)}</svg>"
    )
