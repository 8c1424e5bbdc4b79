"""Interactive plots of the distributions behind a number."""

from __future__ import annotations

import numpy as np

from provlab.figures.looks import PALETTE
from provlab.site.chart_parts import Spec, plain, unique
from provlab.site.trace import Distribution, Trace

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
