"""Plots of pages: Plotly accepts them, they show the numbers they were made from, and foreign names stay text."""

import json
import math
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from seen_paper import EVIL

from provlab.figures.looks import PALETTE
from provlab.report.plots import column_parts, margins_plot, numbers_plot, strip, trace_plot
from provlab.report.templating import environment, script_json
from provlab.report.trace import Trace, TracedCell

ROWS, COLUMNS, DATASETS = ("BSS", "Lvg", "RFE"), ("300", "400", "500"), ("TechTC 1", "TechTC 2")


def accept(spec):
    """Let Plotly check a spec, as a page has it; return it."""
    assert len({tuple(view["keys"]) for view in spec["views"]}) == len(spec["views"])
    for view in json.loads(script_json(spec))["views"]:
        go.Figure(data=view["data"], layout=view["layout"])
        assert len(view["keys"]) == len(spec["selects"])
    return spec


def made_numbers(rows=ROWS, columns=COLUMNS, datasets=DATASETS, printed=True, seed=0):
    rng = np.random.default_rng(seed)
    lines = [(row, column, name) for row in rows for column in columns for name in datasets]
    frame = pd.DataFrame(lines, columns=["row", "column", "dataset"])
    frame = frame.assign(number=rng.random(len(frame)) * 30, sd=rng.random(len(frame)))
    frame["printed_number"] = frame["number"] + 1 if printed else np.nan
    return frame.assign(trace=[f"trace/a/{k}.html" for k in range(len(frame))])


def test_columns_that_are_numbers_become_an_axis_with_a_line_a_row():
    numbers = made_numbers()
    spec = accept(numbers_plot(numbers.sample(frac=1, random_state=1), COLUMNS, "test error (%)"))
    assert spec["selects"] == ["Data set", "Quantity"]
    assert {tuple(view["keys"]) for view in spec["views"]} == {(name, "test error (%)") for name in DATASETS}
    for view in spec["views"]:
        ours = {trace["name"]: trace for trace in view["data"] if trace["mode"] == "lines+markers"}
        assert set(ours) == set(ROWS)
        for row, trace in ours.items():
            expected = numbers[(numbers["row"] == row) & (numbers["dataset"] == view["keys"][0])]
            assert trace["x"] == [300, 400, 500]
            assert trace["y"] == pytest.approx(expected["number"].tolist(), rel=1e-5)
            assert trace["error_y"]["array"] == pytest.approx(expected["sd"].tolist(), rel=1e-5)
            assert trace["customdata"] == expected["trace"].tolist()
        printed = [trace for trace in view["data"] if trace["mode"] == "markers"]
        assert len([y for trace in printed for y in trace["y"]]) == 9
        assert sum(trace["showlegend"] for trace in printed) == 1


def test_each_quantity_has_a_view_and_its_own_axis():
    numbers = made_numbers(("BSS",), ("50", "2,048", "10", "10, NMI", "50, NMI"), ("CCAT",), printed=False)
    spec = accept(numbers_plot(numbers, ("10", "50", "2048"), "test error (%)"))
    found = {tuple(view["keys"]): view for view in spec["views"]}
    assert {keys: [trace["x"] for trace in view["data"]] for keys, view in found.items()} == {
        ("CCAT", "test error (%)"): [[10, 50, 2048]], ("CCAT", "NMI"): [[10, 50]],
    }  # fmt: skip
    axes = {keys[1]: (view["layout"]["xaxis"]["type"], view["layout"]["yaxis"]["title"]["text"])
            for keys, view in found.items()}  # fmt: skip
    assert axes == {"test error (%)": ("log", "test error (%)"), "NMI": ("linear", "NMI")}


def test_several_data_sets_become_an_axis_in_the_order_of_their_means_and_else_rows_do():
    numbers = made_numbers(columns=("r=3", "r=4"), printed=False)
    for view in accept(numbers_plot(numbers, ("r=3", "r=4"), "%"))["views"]:
        here = numbers[numbers["column"] == view["keys"][0]]
        means = here.groupby("dataset")["number"].mean().sort_values()
        assert view["layout"]["xaxis"]["categoryarray"] == list(means.index)
        assert {trace["name"]: trace["x"] for trace in view["data"]} == {row: list(DATASETS) for row in ROWS}
    one = accept(numbers_plot(made_numbers(columns=("r=3",), datasets=("",)), ("r=3",), "%"))
    assert [trace["x"] for trace in one["views"][0]["data"]] == [[row] for row in ROWS] * 2


def test_text_and_missing_values_are_no_plot():
    numbers = made_numbers()
    assert numbers_plot(numbers.assign(number=np.nan), COLUMNS, "") is None
    assert numbers_plot(numbers[:1], COLUMNS, "") is None
    some = numbers.assign(number=numbers["number"].where(numbers.index > 0, math.inf))
    spec = accept(numbers_plot(some, COLUMNS, ""))
    assert sum(len(t["y"]) for v in spec["views"] for t in v["data"] if t["mode"] != "markers") == len(numbers) - 1


def test_more_rows_than_colours_differ_in_symbol():
    rows = tuple(f"row {k}" for k in range(25))
    spec = accept(numbers_plot(made_numbers(rows, datasets=("d",), printed=False), COLUMNS, ""))
    looks = [(trace["marker"]["color"], trace["marker"]["symbol"]) for trace in spec["views"][0]["data"]]
    assert len(set(looks)) == len(rows)
    assert {colour for colour, _ in looks} == set(PALETTE)


class Named:
    """An entry, as far as plots know it."""

    def __init__(self, dataset):
        self.dataset = dataset


def made_trace(values, names=DATASETS):
    values = np.asarray(values, float)
    each = {"unit": "%", "by": "fold", "points": values, "minimum": values.min(), "maximum": values.max()}
    measured = [{"name": name, **each} for name in ("error", "select_cpu")]
    return Trace("p/a", "BSS", "300", [], [TracedCell(Named(name), 3, measured, [], [], []) for name in names])


def test_a_trace_has_a_view_for_each_measured_column_and_a_box_for_each_data_set():
    spec = accept(trace_plot(made_trace([1.0, 2.000001, 3.0])))
    assert [view["keys"] for view in spec["views"]] == [["error"], ["select_cpu"]]
    for view in spec["views"]:
        assert [box["name"] for box in view["data"]] == list(DATASETS)
        assert all(box["y"] == [1.0, 2.0, 3.0] and box["boxpoints"] == "all" for box in view["data"])
    many = trace_plot(made_trace(np.arange(200.0), [f"set {k}" for k in range(30)]))
    assert {box["boxpoints"] for box in many["views"][0]["data"]} == {"outliers"}
    assert trace_plot(made_trace([3.0] * 9)) is None


def test_the_curve_of_margins_rises_by_one_at_each_claim():
    spec = accept(margins_plot([4.0, 1.0, math.inf, 2.0, math.nan], "points"))
    [curve] = spec["views"][0]["data"]
    assert (curve["x"], curve["y"], curve["line"]["shape"]) == ([0, 1, 2, 4, 4.2], [0, 1, 2, 3, 3], "hv")
    assert margins_plot([1.0, math.nan], "points") is None


def test_foreign_names_are_shown_not_read_as_tags():
    numbers = made_numbers((EVIL, "b"), (EVIL,), (EVIL, "d"))
    for spec in (numbers_plot(numbers, (EVIL,), EVIL), trace_plot(made_trace([1.0, 2.0], [EVIL]))):
        accept(spec)
        shown = json.dumps([[view["data"], view["layout"]] for view in spec["views"]])
        assert "<script" not in shown
        assert "<img" not in shown
        assert "{{ 7*7 }}" in shown


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ("r=300", (300.0, "r")), ("300", (300.0, "")), ("1,024", (1024.0, "")), ("eps = 0.05", (0.05, "eps")),
        ("40, delta=0.3, w", (40.0, "delta=0.3, w")), ("-2", (-2.0, "")), ("r=3 of 4", (None, "r=3 of 4")),
    ],
)  # fmt: skip
def test_the_number_of_a_column(column, found):
    assert column_parts(column) == found


def test_a_strip_is_drawn_to_scale():
    drawn = strip([-2.0, 3.0, 8.0, 8.0, math.nan], (-2.0, 8.0), EVIL, mean=4.0, interval=(2.0, math.inf),
                  margins=(1.0,), verdict="contradicted")  # fmt: skip
    assert re.search(r'class="ticks" d="([^"]*)"', drawn)[1] == "M5 2v11M80 2v11M155 2v11"
    assert re.search(r'class="mean k-bad" d="M([\d.]+) ', drawn)[1] == f"{5 + 150 * 0.6:g}"
    assert re.search(r'class="interval k-bad" d="M([\d.]+) 21H([\d.]+)"', drawn).groups() == ("65", "155")
    assert re.search(r'class="zero" d="M([\d.]+)', drawn)[1] == "35"
    assert re.search(r'class="margin" d="M([\d.]+)', drawn)[1] == "50"
    assert "<script" not in drawn
    assert strip([3.0, 3.0], (3.0, 3.0), "").count("2v11") == 1
    assert "2v11" not in strip([], (0.0, 1.0), "")


def test_pieces_of_a_bar_are_as_long_as_their_counts():
    bar = environment().get_template("macros.html").module.tally_bar
    drawn = bar([("replicated", 3), ("contradicted", 0), ("not run", 1)])
    assert [float(width) for width in re.findall(r'width="([\d.]+)"', drawn)] == pytest.approx([150 - 1.5, 50 - 1.5])
    assert [float(x) for x in re.findall(r' x="([\d.]+)"', drawn)] == [0, 150]
    assert "3 replicated, 1 not run" in drawn


def test_verdicts_differ_in_shape_and_not_only_in_colour():
    icon = environment().get_template("macros.html").module.icon
    for names in (
        ("replicated", "contradicted", "no difference", "depends on r", "inconclusive", "vacuous", "not run"),
        ("complete", "partial", "not run", "data missing", "broken"),
    ):
        assert len({icon(name) for name in names}) == len(names)
