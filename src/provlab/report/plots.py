"""Drawings of pages: plots for Plotly, which a browser draws and a reader asks, and small ones without a script.

A spec is {"selects": labels, "views": [{"keys", "data", "layout"}]}: one view is shown at a time, chosen by its keys.
Plotly's JSON are plain dicts, since hundreds are made. Fonts and the colours of paper and grid are the theme's;
assets/report.js adds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from provlab.figures.looks import PALETTE, Look, kind_of, looks
from provlab.report.trace import Trace

Spec = dict[str, Any]

DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot"}
"""Plotly's names of `provlab.figures.looks.LINES`."""

MAX_TICKS = 12

MAX_LINKED = 1000
"""Numbers of a plot that lead to their traces at a click; the table's always do."""

MAX_POINTS = 4000
"""Points beside boxes; with more only those outside the whiskers are drawn, or a page gets slow."""

_WITH_QUANTITY = re.compile(r"([-+]?\d[\d,]*(?:\.\d+)?)(?:,\s+(.*))?", re.DOTALL)
_WITH_NAME = re.compile(r"(.*?)\s*=\s*([-+]?\d[\d,]*(?:\.\d+)?)", re.DOTALL)


def plain(text: object) -> str:
    """Return untrusted text as Plotly shows it as it is: Plotly reads tags and links in names and labels."""
    return escape(str(text), quote=False)


def short(value: float) -> float | None:
    """Return a number with six significant digits, or None where JSON has no such number."""
    return float(f"{value:.6g}") if isfinite(value) else None


def column_parts(column: str) -> tuple[float | None, str]:
    """Split the name of a column with a number into the number and what is plotted over it.

    "300, NMI" is 300 and "NMI", "r=300" is 300 and "r"; the number is None where there is none.
    """
    if found := _WITH_QUANTITY.fullmatch(column):
        return float(found[1].replace(",", "")), found[2] or ""
    if found := _WITH_NAME.fullmatch(column):
        return float(found[2].replace(",", "")), found[1]
    return None, column


def numbers_plot(numbers: pd.DataFrame, columns: Iterable[str], unit: str) -> Spec | None:
    """Return the plot of an artefact's numbers; None where fewer than two are numbers.

    Columns that are numbers become an axis, with a line a row; else several data sets do, in the order of their means,
    as in the papers; else rows. Bars are one standard deviation; what is printed stands as hollow marks.

    Parameters
    ----------
    numbers : DataFrame
        `row`, `column`, `dataset`, `number` (NaN for text), `sd`, `printed_number`, `trace`.
    columns : iterable of str
        Those of the artefact. A summary adds quantities of other units beside these.
    unit : str
    """
    found, columns = numbers[np.isfinite(numbers["number"])], list(columns)
    if len(found) < 2:
        return None
    datasets = found["dataset"].replace("", "all")
    lines = all(re.fullmatch(r"[\d.]+", column) for column in columns)
    if lines:
        parts = [column_parts(column) for column in found["column"]]
        quantities = [name or unit or "value" for _, name in parts]
        found = found.assign(x=[x for x, _ in parts], first=datasets, second=quantities).dropna(subset="x")
        selects, keys = ["Data set", "Quantity"], ["first", "second"]
    else:
        x = datasets if found["dataset"].nunique() > 1 else found["row"]
        selects, keys, found = ["Column"], ["column"], found.assign(x=x.map(plain))
    views = []
    for key, view in found.groupby(keys, sort=False):
        own = unit if view["column"].iloc[0] in columns else str(key[-1])
        if lines:
            view, axis = view.sort_values("x", kind="stable"), _number_axis(view["x"])
        else:
            order = view.groupby("x", sort=False)["number"].mean()
            axis = {"type": "category"}
            if x is datasets:
                names = list(order.sort_values(kind="stable").index)
                axis |= {"title": {"text": "data set, by mean"}, "categoryorder": "array", "categoryarray": names}
        data = [
            _series(view[view["row"] == row], str(row), look, lines, len(found) <= MAX_LINKED)
            for row, look in looks(view["row"]).items()
        ]
        data += _printed(view)
        layout = {"hovermode": "closest", "xaxis": axis, "yaxis": {"title": {"text": plain(own)}}}
        views.append({"keys": [str(each) for each in key], "data": data, "layout": layout})
    return {"selects": selects, "views": views}


def _series(line: pd.DataFrame, name: str, look: Look, lines: bool, linked: bool) -> Spec:
    made: Spec = {
        "type": "scatter", "mode": "lines+markers" if lines else "markers", "name": plain(name),
        "x": line["x"].tolist(), "y": [short(y) for y in line["number"]],
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 7},
        "hovertemplate": "%{x}: %{y}<extra>%{fullData.name}</extra>",
    }  # fmt: skip
    if lines:
        made["line"] = {"color": look.colour, "width": 1.5, "dash": DASHES[look.line]}
    if line["sd"].notna().any():
        spread = [short(sd) for sd in line["sd"].fillna(0.0)]
        made["error_y"] = {"type": "data", "array": spread, "thickness": 1, "width": 3, "color": look.colour}
    if linked:
        made["customdata"] = line["trace"].tolist()
    return made


def _printed(view: pd.DataFrame) -> list[Spec]:
    """Return what is printed as hollow marks in the colours of ours, with one entry of the legend."""
    data: list[Spec] = []
    for row, look in looks(view["row"]).items():
        line = view[(view["row"] == row) & np.isfinite(view["printed_number"])]
        if len(line):
            marker = {"color": look.colour, "symbol": f"{look.symbol}-open", "size": 12, "line": {"width": 1.5}}
            data.append({
                "type": "scatter", "mode": "markers", "name": "printed (hollow)", "x": line["x"].tolist(),
                "y": line["printed_number"].tolist(), "marker": marker, "legendgroup": "printed",
                "showlegend": not data, "text": [plain(row)] * len(line),
                "hovertemplate": "%{x}, printed: %{y}<extra>%{text}</extra>",
            })  # fmt: skip
    return data


def _number_axis(places: pd.Series) -> Spec:
    """Return an axis with ticks where there are numbers, logarithmic where these span more than a factor of 50."""
    ticks = sorted({*places})
    if not 0 < len(ticks) <= MAX_TICKS:
        return {}
    kind = "log" if ticks[0] > 0 and ticks[-1] > 50 * ticks[0] else "linear"
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{x:g}" for x in ticks], "type": kind}


def trace_plot(trace: Trace) -> Spec | None:
    """Return boxes with points by data set, a view for each measured column; None where no values differ."""
    measured: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for cell in trace.cells:
        for each in cell.measured:
            measured.setdefault(each["name"], []).append((cell.entry.dataset or "all", each))
    views = []
    for name, found in measured.items():
        if min(each["minimum"] for _, each in found) == max(each["maximum"] for _, each in found):
            continue  # one line at one height says less than the table
        points = "all" if sum(each["points"].size for _, each in found) <= MAX_POINTS else "outliers"
        boxes = [_box(plain(dataset), each["points"], points) for dataset, each in found]
        title = f"{name} ({found[0][1]['unit']})" if found[0][1]["unit"] else name
        layout = {"xaxis": {"type": "category"}, "yaxis": {"title": {"text": plain(title)}}, "showlegend": False}
        views.append({"keys": [name], "data": boxes, "layout": layout})
    return {"selects": ["Measured"], "views": views} if views else None


def _box(dataset: str, values: np.ndarray, points: str) -> Spec:
    size = np.abs(values).max(initial=0.0)
    # five digits below the largest: what a plot can show, in a fraction of the bytes
    shown = np.round(values, 4 - int(np.floor(np.log10(size)))).tolist() if size > 0 else values.tolist()
    return {
        "type": "box", "name": dataset, "y": shown, "boxpoints": points, "jitter": 0.4, "pointpos": 0, "boxmean": True,
        "marker": {"color": PALETTE[0], "size": 4, "opacity": 0.6}, "line": {"color": PALETTE[0], "width": 1.2},
    }  # fmt: skip


def margins_plot(margins: Sequence[float], unit: str) -> Spec | None:
    """Return a curve that rises by one at each smallest margin of some claims; None for fewer than two."""
    found = sorted(margin for margin in margins if isfinite(margin))
    if len(found) < 2:
        return None
    steps = {
        "type": "scatter", "mode": "lines", "line": {"shape": "hv", "color": PALETTE[0], "width": 2}, "name": "claims",
        "x": [0.0, *map(short, found), 1.05 * found[-1]], "y": [*range(len(found) + 1), len(found)],
    }  # fmt: skip
    axes = {"xaxis": {"title": {"text": f"margin ({unit})"}}, "yaxis": {"title": {"text": "claims"}}}
    return {"selects": [""], "views": [{"keys": [""], "data": [steps], "layout": axes}]}


def strip(
    values: Iterable[float],
    ends: tuple[float, float],
    label: str,
    *,
    mean: float = np.nan,
    interval: tuple[float, float] = (np.nan, np.nan),
    margins: Iterable[float] = (),
    verdict: str = "",
) -> Markup:
    """Return values as ticks on an axis between `ends`, with a triangle below the mean or effect, and its interval.

    Below the axis stand the interval as a bar, in the colour of a verdict, and margins as dashes; zero is a line.
    """
    low, high = ends
    scale = 150 / (high - low) if isfinite(high - low) and high > low else 0.0

    def x(value: float) -> float:
        return round(5 + (min(max(value, low), high) - low) * scale, 1) if scale else 80.0

    # one path for all ticks, and equal places once: a page may hold thousands of values
    ticks = "".join(f"M{place:g} 2v11" for place in sorted({x(value) for value in values if isfinite(value)}))
    pieces = f'<path class="axis" d="M5 13h150"/><path class="ticks" d="{ticks}"/>'
    if low < 0 < high:
        pieces += f'<path class="zero" d="M{x(0.0):g} 0v26"/>'
    pieces += "".join(f'<path class="margin" d="M{x(at):g} 0v26"/>' for at in margins if isfinite(at))
    kind = f" k-{kind_of(verdict)}" if verdict else ""
    if not (np.isnan(interval[0]) and np.isnan(interval[1])):
        first, last = (x(end) if not np.isnan(end) else edge for end, edge in zip(interval, (5.0, 155.0), strict=True))
        pieces += f'<path class="interval{kind}" d="M{first:g} 21H{last:g}"/>'
    if isfinite(mean):
        pieces += f'<path class="mean{kind}" d="M{x(mean):g} 15l-4 7h8z"/>'
    return Markup(f'<svg class="strip" viewBox="0 0 160 26" role="img" aria-label="{escape(label)}">{pieces}</svg>')
