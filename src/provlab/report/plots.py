"""Drawings of pages: a plot for Plotly, which a browser draws and a reader asks, and small ones without a script.

A spec is {"selects": labels, "views": [{"keys", "data", "layout"}]}: one view is shown at a time, chosen by its keys.
Fonts and the colours of paper and grid are the theme's; assets/report.js adds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from provlab.report.figures.looks import Look, kind_of, looks

Spec = dict[str, Any]

DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot"}
"""Plotly's names of `provlab.report.figures.looks.LINES`."""

NUMBER_FIRST = r"([-+]?\d[\d,]*(?:\.\d+)?)(?:,\s+(.*))?"
"""A column such as "300", or "300, NMI": a number, and what is plotted over it."""

MAX_TICKS = 12

MAX_LINKED = 1000
"""Numbers of a plot that lead to their traces at a click; the table's always do."""


def plain(text: object) -> str:
    """Return untrusted text as Plotly shows it as it is: Plotly reads tags and links in names and labels."""
    return escape(str(text), quote=False)


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
        parts = found["column"].str.extract(f"^{NUMBER_FIRST}$", flags=re.DOTALL)
        quantity = parts[1].fillna(unit or "value")
        found = found.assign(x=parts[0].str.replace(",", "").astype(float), first=datasets, second=quantity)
        selects, keys, found = ["Data set", "Quantity"], ["first", "second"], found.dropna(subset="x")
    else:
        x = datasets if found["dataset"].nunique() > 1 else found["row"]
        selects, keys, found = ["Column"], ["column"], found.assign(x=x.map(plain))
    views = []
    for key, view in found.groupby(keys, sort=False):
        if lines:
            view, axis = view.sort_values("x", kind="stable"), _number_axis(view["x"])
        else:
            axis = {"type": "category"}
            if x is datasets:
                means = view.groupby("x", sort=False)["number"].mean().sort_values(kind="stable")
                axis |= {"title": {"text": "data set, sorted by mean"}, "categoryarray": means.index.tolist()}
        data: list[Spec] = []
        for row, look in looks(view["row"]).items():
            data.append(_series(view[view["row"] == row], str(row), look, lines, len(found) <= MAX_LINKED))
        for row, look in looks(view["row"]).items():
            data += _printed(view[(view["row"] == row) & np.isfinite(view["printed_number"])], str(row), look)
        own = unit if view["column"].iloc[0] in columns else str(key[-1])
        layout = {"hovermode": "closest", "xaxis": axis, "yaxis": {"title": {"text": plain(own)}}}
        views.append({"keys": [str(each) for each in key], "data": data, "layout": layout})
    return {"selects": selects, "views": views}


def _series(line: pd.DataFrame, name: str, look: Look, lines: bool, linked: bool) -> Spec:
    made: Spec = {
        "type": "scatter", "mode": "lines+markers" if lines else "markers", "name": plain(name),
        "x": line["x"].tolist(), "y": [float(f"{y:.6g}") for y in line["number"]],
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 7},
        "line": {"color": look.colour, "width": 1.5, "dash": DASHES[look.line]},
        "hovertemplate": "%{x}: %{y}<extra>%{fullData.name}</extra>",
    }  # fmt: skip
    if line["sd"].notna().any():
        spread = [float(f"{sd:.6g}") for sd in line["sd"].fillna(0.0)]
        made["error_y"] = {"type": "data", "array": spread, "thickness": 1, "width": 3, "color": look.colour}
    return made | ({"customdata": line["trace"].tolist()} if linked else {})


def _printed(line: pd.DataFrame, name: str, look: Look) -> list[Spec]:
    """Return what is printed of a row as hollow marks in the colour of ours."""
    if line.empty:
        return []
    marker = {"color": look.colour, "symbol": f"{look.symbol}-open", "size": 12, "line": {"width": 1.5}}
    return [{
        "type": "scatter", "mode": "markers", "name": f"{plain(name)}, printed", "x": line["x"].tolist(),
        "y": line["printed_number"].tolist(), "marker": marker, "showlegend": False,
        "hovertemplate": "%{x}: %{y}<extra>%{fullData.name}</extra>",
    }]  # fmt: skip


def _number_axis(places: pd.Series) -> Spec:
    """Return an axis with ticks where there are numbers, logarithmic where these span more than a factor of 50."""
    ticks = sorted({*places})
    if len(ticks) > MAX_TICKS:
        return {}
    kind = "log" if ticks[0] > 0 and ticks[-1] > 50 * ticks[0] else "linear"
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [f"{x:g}" for x in ticks], "type": kind}


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
    if not np.isnan(interval).all():
        first, last = (x(end) if not np.isnan(end) else edge for end, edge in zip(interval, (5.0, 155.0), strict=True))
        pieces += f'<path class="interval{kind}" d="M{first:g} 21H{last:g}"/>'
    if isfinite(mean):
        pieces += f'<path class="mean{kind}" d="M{x(mean):g} 15l-4 7h8z"/>'
    return Markup(f'<svg class="strip" viewBox="0 0 160 26" role="img" aria-label="{escape(label)}">{pieces}</svg>')
