"""Specs of interactive plots: graph objects accept them, and they hold the numbers that the page shows."""

import dataclasses
import json
import math
import random

import pytest
from made_report import (
    COLUMNS,
    DATASETS,
    FIGURE1,
    ROWS,
    hostile_report,
    made_distribution,
    made_numbers,
    made_traces,
    ordinary_report,
)

from provlab.site.chart_parts import plain
from provlab.site.charts import PALETTE, artefact_plot, column_parts
from provlab.site.model import ArtefactPage, Number
from provlab.site.templating import script_json
from provlab.site.trace_charts import trace_plot


def accept(spec):
    """Let Plotly check a spec, which it does by name and value."""
    import plotly.graph_objects as go

    for view in spec["views"]:
        figure = go.Figure(data=view["data"])
        figure.update_layout(spec["layout"])
        figure.update_layout(view["layout"])
        assert len(figure.data) == len(view["data"])
    return spec


def made_page(rows=ROWS, columns=COLUMNS, datasets=DATASETS, **changed):
    numbers = made_numbers(FIGURE1, rows, columns, datasets, random.Random(1), changed.pop("printed", True))
    return ArtefactPage(
        FIGURE1, "", "complete", numbers=numbers, n_numbers=len(numbers), unit="test error (%)", **changed
    )


def test_plotly_refuses_a_wrong_name_so_accept_can_fail():
    with pytest.raises(ValueError, match="Invalid property"):
        accept({"views": [{"data": [{"type": "scatter", "no_such_name": 1}], "layout": {}}], "layout": {}})


def test_columns_that_are_numbers_become_an_axis_with_a_view_for_each_data_set():
    page = made_page(x_is_number=True)
    spec = accept(artefact_plot(page))
    assert [view["keys"] for view in spec["views"]] == [[name, "r"] for name in DATASETS]
    for view in spec["views"]:
        ours = [trace for trace in view["data"] if trace["mode"] == "lines+markers"]
        assert [trace["name"] for trace in ours] == list(ROWS)
        for trace in ours:
            assert trace["x"] == [300, 400, 500]
            expected = [n for n in page.numbers if (n.row, n.dataset) == (trace["name"], view["keys"][0])]
            assert trace["y"] == pytest.approx([n.value for n in expected], rel=1e-5)
            assert trace["error_y"]["array"] == pytest.approx([n.sd for n in expected], rel=1e-5)
            assert trace["customdata"] == [n.trace for n in expected]
        printed = [trace for trace in view["data"] if trace["mode"] == "markers"]
        assert [y for trace in printed for y in trace["y"]] == [
            float(n.printed) for n in page.numbers if n.dataset == view["keys"][0]
        ]
        assert sum(trace["showlegend"] for trace in printed) == 1


def test_lines_go_from_left_to_right_and_each_quantity_has_a_view_and_its_own_axis():
    page = made_page(
        ("BSS", "Lvg"), ("50", "2,048", "10", "10, NMI", "50, NMI"), ("CCAT",), x_is_number=True, printed=False
    )
    page = dataclasses.replace(
        page, traces=made_traces(FIGURE1, ("BSS",), ("10", "50", "2,048"), ("CCAT",), random.Random(1), 2)
    )
    spec = accept(artefact_plot(page))
    found = {tuple(view["keys"]): view for view in spec["views"]}
    assert {keys: [trace["x"] for trace in view["data"]] for keys, view in found.items()} == {
        ("CCAT", "test error (%)"): [[10, 50, 2048]] * 2,
        ("CCAT", "NMI"): [[10, 50]] * 2,
    }
    axes = {keys[1]: view["layout"]["xaxis"] for keys, view in found.items()}
    assert axes["NMI"]["type"] == "linear"
    assert axes["test error (%)"]["type"] == "log"
    assert axes["test error (%)"]["tickvals"] == [10, 50, 2048]
    titles = {keys[1]: view["layout"]["yaxis"]["title"]["text"] for keys, view in found.items()}
    assert titles == {"test error (%)": "test error (%)", "NMI": "NMI"}
    values = {number.column: number.value for number in page.numbers if number.row == "BSS"}
    assert found["CCAT", "NMI"]["data"][0]["y"] == pytest.approx([values["10, NMI"], values["50, NMI"]], rel=1e-5)


def test_data_sets_stand_in_the_order_of_their_mean():
    page = made_page(printed=False)
    for view in artefact_plot(page)["views"]:
        here = [number for number in page.numbers if [number.column] == view["keys"]]
        means = {d: sum(n.value for n in here if n.dataset == d) / len(ROWS) for d in DATASETS}
        assert view["layout"]["xaxis"]["categoryarray"] == sorted(DATASETS, key=means.__getitem__)


def test_several_data_sets_become_an_axis_and_else_rows_are_listed():
    spec = accept(artefact_plot(made_page(printed=False)))
    assert [view["keys"] for view in spec["views"]] == [[name] for name in COLUMNS]
    assert all(trace["x"] == list(DATASETS) for view in spec["views"] for trace in view["data"])
    spec = accept(artefact_plot(made_page(datasets=("",))))
    assert [view["keys"] for view in spec["views"]] == [[name] for name in COLUMNS]
    for view in spec["views"]:
        assert [trace["name"] for trace in view["data"]] == ["ours", "printed"]
        assert all(trace["y"] == list(ROWS) for trace in view["data"])
        assert "error_x" in view["data"][0]
        assert "error_y" not in view["data"][0]


def test_text_and_missing_values_are_no_plot():
    text = tuple(Number("a", str(k), "", "40, 39", printed="40, 39") for k in range(5))
    assert artefact_plot(ArtefactPage("p/a", "", "complete", numbers=text)) is None
    assert artefact_plot(ArtefactPage("p/a", "", "not run")) is None
    page = made_page(x_is_number=True)
    some = (dataclasses.replace(page.numbers[0], value=math.inf), *page.numbers[1:], *text)
    spec = accept(artefact_plot(dataclasses.replace(page, numbers=some)))
    n_plotted = sum(len(t["y"]) for view in spec["views"] for t in view["data"] if t["mode"] == "lines+markers")
    assert n_plotted == len(page.numbers) - 1
    json.loads(script_json(spec))


def test_more_rows_than_colours_differ_in_dash_or_symbol():
    rows = tuple(f"row {k}" for k in range(25))
    spec = accept(artefact_plot(made_page(rows, COLUMNS, ("d",), x_is_number=True, printed=False)))
    looks = [(t["marker"]["color"], t["marker"]["symbol"], t["line"]["dash"]) for t in spec["views"][0]["data"]]
    assert len(set(looks)) == len(rows)
    assert {colour for colour, _, _ in looks} == set(PALETTE)


def test_a_trace_has_a_view_for_each_measured_column_and_a_box_for_each_data_set():
    (trace,) = made_traces(FIGURE1, ("BSS",), ("r=300",), DATASETS, random.Random(2))
    spec = accept(trace_plot(trace))
    assert [view["keys"] for view in spec["views"]] == [["error"], ["select_cpu"]]
    for k, view in enumerate(spec["views"]):
        assert [box["name"] for box in view["data"]] == list(DATASETS)
        for box, cell in zip(view["data"], trace.cells, strict=True):
            assert box["y"] == pytest.approx(cell.distributions[k].values, abs=1e-4 * cell.distributions[k].maximum)
            assert box["boxpoints"] == "all"
    many = dataclasses.replace(trace, cells=trace.cells * 10)
    assert {box["boxpoints"] for box in accept(trace_plot(many))["views"][0]["data"]} == {"outliers"}
    assert trace_plot(dataclasses.replace(trace, cells=())) is None
    equal = [dataclasses.replace(cell, distributions=(made_distribution([3.0] * 9),)) for cell in trace.cells]
    assert trace_plot(dataclasses.replace(trace, cells=tuple(equal))) is None


def test_foreign_names_are_shown_not_read_as_tags():
    page = hostile_report().papers[0].artefacts[0]
    specs = [artefact_plot(page), *(trace_plot(trace) for trace in page.traces)]
    for spec in specs:
        accept(spec)
        shown = json.dumps([[view["data"], view["layout"]] for view in spec["views"]] + [spec["layout"]])
        assert "<script" not in shown
        assert "<img" not in shown
        assert "{{ 7*7 }}" in shown
    assert plain("<b>a & b</b>") == "&lt;b&gt;a &amp; b&lt;/b&gt;"


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ("r=300", (300.0, "r")),
        ("300", (300.0, "")),
        ("1,024", (1024.0, "")),
        ("inverse, r=1,024", (1024.0, "inverse, r")),
        ("eps = 0.05", (0.05, "eps")),
        ("40, delta=0.3, w", (40.0, "delta=0.3, w")),
        ("10, NMI", (10.0, "NMI")),
        ("-2", (-2.0, "")),
        ("none", (None, "none")),
        ("r=3 of 4", (None, "r=3 of 4")),
    ],
)
def test_the_number_of_a_column(column, found):
    assert column_parts(column) == found


def test_all_plots_of_the_ordinary_report_are_accepted():
    for page in ordinary_report().papers[0].artefacts:
        for spec in (artefact_plot(page), *(trace_plot(trace) for trace in page.traces[:2])):
            if spec is not None:
                accept(spec)
