"""Interactive plots of what stands behind a number or a verdict: distributions, and effects with their samples."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from provlab.reports.figures import PALETTE
from provlab.reports.trace import Distribution, Trace
from provlab.site.chart_parts import TEXT, Spec, plain, short, unique
from provlab.site.claim_plot import axis_range, numbers_of
from provlab.site.model_claims import ClaimPart

MAX_POINTS = 4000
"""Points beside boxes; with more only those outside the whiskers are drawn, or a page gets slow."""


def trace_plot(trace: Trace) -> Spec | None:
    """Return boxes with points by data set, a view for each measured column; None where no values differ."""
    views = []
    for name in unique(d.name for cell in trace.cells for d in cell.distributions if d.values):
        found = [(cell.dataset, d) for cell in trace.cells for d in cell.distributions if d.name == name and d.values]
        if min(d.minimum for _, d in found) == max(d.maximum for _, d in found):
            continue  # one line at one height says less than the table
        n_points = sum(len(d.values) for _, d in found)
        boxes = [
            _box(plain(dataset) or "all", d, "all" if n_points <= MAX_POINTS else "outliers") for dataset, d in found
        ]
        unit = found[0][1].unit
        title = f"{name} ({unit})" if unit else name
        layout = {"xaxis": {"type": "category"}, "yaxis": {"title": {"text": plain(title)}}, "showlegend": False}
        views.append({"keys": [name], "data": boxes, "layout": layout})
    return {"selects": ["Measured"], "views": views, "layout": {}} if views else None


def claim_plot(parts: Sequence[ClaimPart], unit: str) -> Spec | None:
    """Return sample, effect and interval of parts that share a unit; None where none has numbers."""
    shown = [part for part in parts if numbers_of(part)]
    if not shown:
        return None
    data: list[Spec] = []
    low, high = axis_range(shown)
    shapes = [_line(0.0, -0.5, len(shown) - 0.5, "solid", TEXT)]
    for k, part in enumerate(shown):
        sample = [(name, value) for name, value in part.sample if isfinite(value)]
        if sample:
            data.append({
                "type": "scatter", "mode": "markers", "x": [short(value) for _, value in sample],
                "y": [round(k - 0.3 + 0.22 * ((i * 0.618034) % 1), 3) for i in range(len(sample))],
                "text": [plain(name) for name, _ in sample], "hovertemplate": "%{text}: %{x}<extra></extra>",
                "marker": {"color": PALETTE[0], "opacity": 0.65, "size": 6}, "showlegend": False,
            })  # fmt: skip
        if isfinite(part.effect):
            bars = {
                "type": "data", "symmetric": False, "thickness": 2, "width": 8, "color": TEXT,
                "array": [short(min(part.high, high) - part.effect)],
                "arrayminus": [short(part.effect - max(part.low, low))],
            }  # fmt: skip
            data.append({
                "type": "scatter", "mode": "markers", "x": [short(part.effect)], "y": [k + 0.15],
                "text": [plain(part.part)],
                "hovertemplate": "%{text}: %{x}<extra></extra>", "showlegend": False,
                "marker": {"color": TEXT, "size": 11, "symbol": "diamond"}, "error_x": bars,
            })  # fmt: skip
        shapes += [_line(margin, k - 0.45, k + 0.45, "dash") for margin in part.margins if isfinite(margin)]
    ticks = {"tickmode": "array", "tickvals": list(range(len(shown))), "ticktext": [plain(part.part) for part in shown]}
    layout = {
        "xaxis": {"title": {"text": plain(unit)}, "range": [low, high], "zeroline": False},
        "yaxis": {**ticks, "range": [len(shown) - 0.5, -0.5], "zeroline": False, "showgrid": False, "automargin": True},
        "shapes": shapes, "hovermode": "closest", "height": 130 + 60 * len(shown),
    }  # fmt: skip
    return {"selects": [], "views": [{"keys": [], "data": data, "layout": {}}], "layout": layout}


def _box(dataset: str, distribution: Distribution, points: str) -> Spec:
    values = np.asarray(distribution.values, dtype=float)
    values = values[np.isfinite(values)]
    size = np.abs(values).max(initial=0.0)
    # Five digits below the largest: what a plot can show, in a fraction of the bytes.
    shown = np.round(values, 4 - int(np.floor(np.log10(size)))).tolist() if size > 0 else values.tolist()
    return {
        "type": "box", "name": dataset, "y": shown, "boxpoints": points, "jitter": 0.4, "pointpos": 0, "boxmean": True,
        "marker": {"color": PALETTE[0], "size": 4, "opacity": 0.6}, "line": {"color": PALETTE[0], "width": 1.2},
    }  # fmt: skip


def _line(x: float, low: float, high: float, dash: str, colour: str = "#808080") -> Spec:
    line = {"width": 1.2, "dash": dash, "color": colour}
    return {"type": "line", "x0": x, "x1": x, "y0": low, "y1": high, "line": line, "layer": "above"}
