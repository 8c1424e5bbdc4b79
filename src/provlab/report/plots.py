"""Plots of pages: interactive ones, which Plotly draws in the browser, and small static ones.

A spec is {"selects": labels, "views": [{"keys", "data", "layout"}]}. One view is shown
at a time, chosen by its keys. Fonts and the colours of paper and grid belong to the
theme, and assets/report.js adds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from math import isfinite, isnan
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from provlab.report.figures.looks import Look, kind_of, looks

Spec = dict[str, Any]

DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot"}
"""Plotly's names for `provlab.report.figures.looks.LINES`."""

NUMBER_FIRST = r"([-+]?\d[\d,]*(?:\.\d+)?)(?:,\s+(.*))?"
"""Matches a column such as "300" or "300, NMI": a number, and the quantity that is plotted against it."""

MAX_TICKS = 12

MAX_LINKED = 1000
"""Largest number of points that link to their traces; numbers of the table always do."""


def plain(text: object) -> str:
    """Escape untrusted text, because Plotly interprets tags and links in names and labels."""
    return escape(str(text), quote=False)


def numbers_plot(
    numbers: pd.DataFrame, columns: Iterable[str], unit: str
) -> Spec | None:
    """Return the plot of an artefact's numbers, or None if fewer than two of them are numeric.

    If columns are numbers, they become the axis, with a line per row. Otherwise several
    data sets become the axis, in the order of their means, as in the papers. Otherwise
    the rows do. Bars show one standard deviation, and hollow marks the printed values.

    Parameters
    ----------
    numbers : DataFrame
        `row`, `column`, `dataset`, `number` (NaN for text), `sd`, `printed_number`,
        `trace`.
    columns : iterable of str
        Columns of the artefact. A summary adds quantities in other units.
    unit : str
    """
    columns = list(columns)
    drawn = numbers[np.isfinite(numbers["number"])]
    if len(drawn) < 2:
        return None
    over_numbers = all(re.fullmatch(r"[\d.]+", column) for column in columns)
    over_datasets = not over_numbers and drawn["dataset"].nunique() > 1
    datasets = drawn["dataset"].replace("", "all")
    if over_numbers:
        parts = drawn["column"].str.extract(f"^{NUMBER_FIRST}$", flags=re.DOTALL)
        x = parts[0].str.replace(",", "").astype(float)
        drawn = drawn.assign(
            x=x, first=datasets, second=parts[1].fillna(unit or "value")
        ).dropna(subset="x")
        selects, keys = ["Data set", "Quantity"], ["first", "second"]
    else:
        x = datasets if over_datasets else drawn["row"]
        drawn = drawn.assign(x=x.map(plain))
        selects, keys = ["Column"], ["column"]
    views = []
    for key, lines in drawn.groupby(keys, sort=False):
        if over_numbers:
            lines = lines.sort_values("x", kind="stable")
            axis = _number_axis(lines["x"])
        else:
            axis = _category_axis(lines, over_datasets)
        label = unit if lines["column"].iloc[0] in columns else str(key[-1])
        layout = {
            "hovermode": "closest",
            "xaxis": axis,
            "yaxis": {"title": {"text": plain(label)}},
        }
        data = _traces(lines, over_numbers, len(drawn) <= MAX_LINKED)
        views.append(
            {"keys": [str(name) for name in key], "data": data, "layout": layout}
        )
    return {"selects": selects, "views": views}


def _traces(lines: pd.DataFrame, over_numbers: bool, linked: bool) -> list[Spec]:
    """Return a series for each row, with the printed numbers as hollow marks in the same colour."""
    series = []
    printed = []
    for row, look in looks(lines["row"]).items():
        of_row = lines[lines["row"] == row]
        series.append(_series(of_row, str(row), look, over_numbers, linked))
        of_row = of_row[np.isfinite(of_row["printed_number"])]
        if len(of_row):
            printed.append(_printed(of_row, str(row), look))
    return series + printed


def _series(
    line: pd.DataFrame, name: str, look: Look, over_numbers: bool, linked: bool
) -> Spec:
    spec: Spec = {
        "type": "scatter", "mode": "lines+markers" if over_numbers else "markers", "name": plain(name),
        "x": line["x"].tolist(), "y": [float(f"{y:.6g}") for y in line["number"]],
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 7},
        "line": {"color": look.colour, "width": 1.5, "dash": DASHES[look.line]},
        "hovertemplate": "%{x}: %{y}<extra>%{fullData.name}</extra>",
    }  # fmt: skip
    if line["sd"].notna().any():
        spread = [float(f"{sd:.6g}") for sd in line["sd"].fillna(0.0)]
        spec["error_y"] = {
            "type": "data",
            "array": spread,
            "thickness": 1,
            "width": 3,
            "color": look.colour,
        }
    if linked:
        spec["customdata"] = line["trace"].tolist()
    return spec


def _printed(line: pd.DataFrame, name: str, look: Look) -> Spec:
    marker = {
        "color": look.colour,
        "symbol": f"{look.symbol}-open",
        "size": 12,
        "line": {"width": 1.5},
    }
    return {
        "type": "scatter", "mode": "markers", "name": f"{plain(name)}, printed", "x": line["x"].tolist(),
        "y": line["printed_number"].tolist(), "marker": marker, "showlegend": False,
        "hovertemplate": "%{x}: %{y}<extra>%{fullData.name}</extra>",
    }  # fmt: skip


def _category_axis(lines: pd.DataFrame, over_datasets: bool) -> Spec:
    """Return an axis of rows, or of data sets in the order of their means."""
    if not over_datasets:
        return {"type": "category"}
    means = lines.groupby("x", sort=False)["number"].mean().sort_values(kind="stable")
    title = {"text": "data set, sorted by mean"}
    return {"type": "category", "title": title, "categoryarray": means.index.tolist()}


def _number_axis(places: pd.Series) -> Spec:
    """Return an axis with a tick at each number; it is logarithmic if they span more than a factor of 50."""
    ticks = sorted({*places})
    if len(ticks) > MAX_TICKS:
        return {}
    kind = "log" if ticks[0] > 0 and ticks[-1] > 50 * ticks[0] else "linear"
    return {
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [f"{x:g}" for x in ticks],
        "type": kind,
    }


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
    """Return a drawing of values as ticks on an axis between `ends`, with a triangle below the mean or effect.

    Below the axis the interval is a bar in the colour of the verdict. Margins are
    dashed lines and zero is a solid one.
    """
    low, high = ends
    scale = 150 / (high - low) if isfinite(high - low) and high > low else 0.0

    def x(value: float) -> float:
        return (
            round(5 + (min(max(value, low), high) - low) * scale, 1) if scale else 80.0
        )

    # one path for all ticks without duplicates, because a page may hold thousands of
    # values
    places = {x(value) for value in values if isfinite(value)}
    ticks = [f"M{place:g} 2v11" for place in sorted(places)]
    pieces = (
        f'<path class="axis" d="M5 13h150"/><path class="ticks" d="{"".join(ticks)}"/>'
    )
    if low < 0 < high:
        pieces += f'<path class="zero" d="M{x(0.0):g} 0v26"/>'
    for margin in margins:
        if isfinite(margin):
            pieces += f'<path class="margin" d="M{x(margin):g} 0v26"/>'
    kind = f" k-{kind_of(verdict)}" if verdict else ""
    lower, upper = interval
    if not (isnan(lower) and isnan(upper)):
        first = 5.0 if isnan(lower) else x(lower)
        last = 155.0 if isnan(upper) else x(upper)
        pieces += f'<path class="interval{kind}" d="M{first:g} 21H{last:g}"/>'
    if isfinite(mean):
        pieces += f'<path class="mean{kind}" d="M{x(mean):g} 15l-4 7h8z"/>'
    return Markup(
        f'<svg class="strip" viewBox="0 0 160 26" role="img" aria-label="{escape(label)}">{pieces}</svg>'
    )
