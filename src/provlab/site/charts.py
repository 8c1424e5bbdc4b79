"""The interactive plot of an artefact's numbers, see `chart_parts`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isfinite, isnan
from typing import Any

from provlab.figures.looks import PALETTE, Look, looks
from provlab.site.chart_parts import DASHES, Spec, plain, short, unique
from provlab.site.model import ArtefactPage, Number

Keys = tuple[str, ...]

MAX_TICKS = 12

MAX_LINKED = 1000
"""Numbers of a plot that lead to their traces at a click; the table's always do."""

_WITH_QUANTITY = re.compile(r"([-+]?\d[\d,]*(?:\.\d+)?)(?:,\s+(.*))?", re.DOTALL)
_WITH_NAME = re.compile(r"(.*?)\s*=\s*([-+]?\d[\d,]*(?:\.\d+)?)", re.DOTALL)


def artefact_plot(page: ArtefactPage) -> Spec | None:
    """Return the plot of an artefact's numbers; None where fewer than two are numbers.

    Columns that are numbers become an axis, with a line a row; else several data sets do, with a marker a row, as in
    the papers; else rows are listed with a dot each. Bars are one standard deviation.
    """
    numbers = [number for number in page.numbers if isfinite(number.value)]
    if len(numbers) < 2:
        return None
    linked = len(numbers) <= MAX_LINKED
    if page.x_is_number:
        main = page.unit or "value"

        def place(number: Number) -> Keys:
            return number.dataset or "all", column_parts(number.column)[1] or main

        return _spec(["Data set", "Quantity"], numbers, place, page, linked)
    return _spec(["Column"], numbers, lambda n: (n.column,), page, linked)


def column_parts(column: str) -> tuple[float | None, str]:
    """Split the name of a column with a number into the number and what is plotted over it.

    "300, NMI" is 300 and "NMI", "r=300" is 300 and "r"; the number is None where there is none.
    """
    if found := _WITH_QUANTITY.fullmatch(column):
        return float(found[1].replace(",", "")), found[2] or ""
    if found := _WITH_NAME.fullmatch(column):
        return float(found[2].replace(",", "")), found[1]
    return None, column


def _spec(
    selects: list[str], numbers: Sequence[Number], key: Callable[[Number], Keys], page: ArtefactPage, linked: bool
) -> Spec:
    """Return a view for each key: the reader chooses one, part by part."""
    several = len({number.dataset for number in numbers}) > 1
    make = _lines if page.x_is_number else _markers if several else _dots
    own = {trace.column for trace in page.traces}  # a summary adds quantities of other units beside these columns
    groups: dict[Keys, list[Number]] = {}
    for number in numbers:
        groups.setdefault(key(number), []).append(number)
    views = []
    for keys, here in groups.items():
        unit = page.unit if not own or here[0].column in own else keys[-1]
        views.append({"keys": list(keys), **make(here, unit, linked)})
    return {"selects": selects, "views": views, "layout": {"hovermode": "closest"}}


def _lines(numbers: Sequence[Number], unit: str, linked: bool) -> Spec:
    placed = [(x, number) for number in numbers if (x := column_parts(number.column)[0]) is not None]
    data, printed = [], []
    for row, look in looks(number.row for _, number in placed).items():
        series = sorted(((x, number) for x, number in placed if number.row == row), key=lambda pair: pair[0])
        xs, own = [x for x, _ in series], [number for _, number in series]
        data.append(_series(row, look, xs, own, "lines+markers", linked))
        printed.append(_printed(look, xs, own))
    layout = {"xaxis": _number_axis({x for x, _ in placed}), "yaxis": {"title": {"text": plain(unit)}}}
    return {"data": data + _with_one_legend(printed), "layout": layout}


def _number_axis(places: set[float]) -> Spec:
    """Return an axis with ticks where there are numbers, logarithmic where these span more than a factor of 50."""
    if not 0 < len(places) <= MAX_TICKS:
        return {}
    logarithmic = min(places) > 0 and max(places) > 50 * min(places)
    ticks = {"tickmode": "array", "tickvals": sorted(places), "ticktext": [f"{x:g}" for x in sorted(places)]}
    return {**ticks, "type": "log" if logarithmic else "linear"}


def _markers(numbers: Sequence[Number], unit: str, linked: bool) -> Spec:
    data, printed = [], []
    order = _by_mean(numbers)
    for row, look in looks(number.row for number in numbers).items():
        series = [number for number in numbers if number.row == row]
        x = [plain(number.dataset) or "all" for number in series]
        data.append(_series(row, look, x, series, "markers", linked))
        printed.append(_printed(look, x, series))
    layout = {"xaxis": {**order, "type": "category"}, "yaxis": {"title": {"text": plain(unit)}}}
    return {"data": data + _with_one_legend(printed), "layout": layout}


def _by_mean(numbers: Sequence[Number]) -> Spec:
    """Return an axis of data sets in the order of their mean over all rows, as the papers' figures have them."""
    values: dict[str, list[float]] = {}
    for number in numbers:
        values.setdefault(plain(number.dataset) or "all", []).append(number.value)
    order = sorted(values, key=lambda name: sum(values[name]) / len(values[name]))
    return {"title": {"text": "data set, by mean"}, "categoryorder": "array", "categoryarray": order}


def _dots(numbers: Sequence[Number], unit: str, linked: bool) -> Spec:
    trace = _series(
        "ours", Look(PALETTE[0], "circle"), [number.value for number in numbers], numbers, "markers", linked
    )
    trace["x"], trace["y"] = trace["y"], [plain(number.row) for number in numbers]
    trace["hovertemplate"] = "%{y}: %{x}<extra></extra>"
    if "error_y" in trace:
        trace["error_x"] = trace.pop("error_y")
    data = [trace]
    printed = [(plain(number.row), shown) for number in numbers if (shown := printed_value(number)) is not None]
    if printed:
        marker = {"symbol": "circle-open", "size": 12, "color": PALETTE[1], "line": {"width": 2}}
        data.append({
            "type": "scatter", "mode": "markers", "name": "printed", "x": [x for _, x in printed],
            "y": [row for row, _ in printed], "marker": marker, "hovertemplate": "%{y}, printed: %{x}<extra></extra>",
        })  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": plain(unit)}},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True},
        "height": 140 + 28 * len(unique(number.row for number in numbers)),
    }
    return {"data": data, "layout": layout}


def _series(name: str, look: Look, x: Sequence[Any], numbers: Sequence[Number], mode: str, linked: bool) -> Spec:
    colour = look.colour
    trace: Spec = {
        "type": "scatter", "mode": mode, "name": plain(name),
        "x": list(x), "y": [short(number.value) for number in numbers],
        "marker": {"color": colour, "symbol": look.symbol, "size": 7},
        "hovertemplate": "%{x}: %{y}<extra>%{fullData.name}</extra>",
    }  # fmt: skip
    if mode != "markers":
        trace["line"] = {"color": colour, "width": 1.5, "dash": DASHES[look.line]}
    if any(isfinite(number.sd) for number in numbers):
        spread = [0.0 if isnan(number.sd) else short(number.sd) for number in numbers]
        trace["error_y"] = {"type": "data", "array": spread, "thickness": 1, "width": 3, "color": colour}
    if linked:
        trace["customdata"] = [number.trace for number in numbers]
    return trace


def _printed(look: Look, x: Sequence[Any], numbers: Sequence[Number]) -> Spec | None:
    """Return what is printed as hollow markers in the colour of ours."""
    pairs = [
        (place, shown) for place, number in zip(x, numbers, strict=True) if (shown := printed_value(number)) is not None
    ]
    if not pairs:
        return None
    marker = {"color": look.colour, "symbol": f"{look.symbol}-open", "size": 12, "line": {"width": 1.5}}
    return {
        "type": "scatter", "mode": "markers", "name": "printed (hollow)", "x": [place for place, _ in pairs],
        "y": [shown for _, shown in pairs], "marker": marker, "legendgroup": "printed", "showlegend": False,
        "text": [plain(numbers[0].row)] * len(pairs), "hovertemplate": "%{x}, printed: %{y}<extra>%{text}</extra>",
    }  # fmt: skip


def _with_one_legend(printed: Sequence[Spec | None]) -> list[Spec]:
    found = [trace for trace in printed if trace is not None]
    return [{**trace, "showlegend": k == 0} for k, trace in enumerate(found)]


def printed_value(number: Number) -> float | None:
    """Return what is printed where it is one number, else None."""
    try:
        value = float(number.printed.replace(",", ""))
    except ValueError:
        return None
    return value if isfinite(value) else None
