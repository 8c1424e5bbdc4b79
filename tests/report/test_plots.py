"""Plots of pages: Plotly accepts them, they show the numbers they were made from, and foreign names stay text."""

import json
import math
import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from seen_paper import EVIL

from provlab.report.plots import numbers_plot, strip
from provlab.report.templating import script_json

ROWS = ("BSS", "Lvg", "RFE")
COLUMNS = ("300", "400", "500")
DATASETS = ("TechTC 1", "TechTC 2")


def accept(spec):
    """Let Plotly check a spec, as a page has it; return its views by keys."""
    for view in json.loads(script_json(spec))["views"]:
        go.Figure(data=view["data"], layout=view["layout"])
        assert len(view["keys"]) == len(spec["selects"])
    views = {tuple(view["keys"]): view for view in spec["views"]}
    assert len(views) == len(spec["views"])
    return views


def made_numbers(rows=ROWS, columns=COLUMNS, datasets=DATASETS, printed=True):
    rng = np.random.default_rng(0)
    lines = [
        (row, column, name) for row in rows for column in columns for name in datasets
    ]
    frame = pd.DataFrame(lines, columns=["row", "column", "dataset"])
    frame = frame.assign(number=rng.random(len(frame)) * 30, sd=rng.random(len(frame)))
    frame["printed_number"] = frame["number"] + 1 if printed else np.nan
    return frame.assign(trace=[f"trace/a/{k}.html" for k in range(len(frame))])


def test_columns_that_are_numbers_become_an_axis_with_a_line_a_row():
    numbers = made_numbers()
    views = accept(
        numbers_plot(numbers.sample(frac=1, random_state=1), COLUMNS, "test error (%)")
    )
    assert {*views} == {(name, "test error (%)") for name in DATASETS}
    for (dataset, _), view in views.items():
        ours = {
            trace["name"]: trace
            for trace in view["data"]
            if trace["mode"] == "lines+markers"
        }
        printed = {
            trace["name"]: trace for trace in view["data"] if trace["mode"] == "markers"
        }
        assert {*printed} == {f"{row}, printed" for row in ours}
        assert {*ours} == {*ROWS}
        assert len(
            {
                (trace["marker"]["color"], trace["marker"]["symbol"])
                for trace in ours.values()
            }
        ) == len(ROWS)
        for row, trace in ours.items():
            expected = numbers[
                (numbers["row"] == row) & (numbers["dataset"] == dataset)
            ]
            assert trace["x"] == [300, 400, 500]
            assert trace["y"] == pytest.approx(expected["number"].tolist(), rel=1e-5)
            assert trace["error_y"]["array"] == pytest.approx(
                expected["sd"].tolist(), rel=1e-5
            )
            assert trace["customdata"] == expected["trace"].tolist()
            assert (
                printed[f"{row}, printed"]["y"] == expected["printed_number"].tolist()
            )


def test_each_quantity_has_a_view_and_its_own_axis():
    numbers = made_numbers(
        ("BSS",),
        ("50", "2,048", "10", "10, NMI", "50, NMI", "-2 of 3"),
        ("CCAT",),
        printed=False,
    )
    views = accept(numbers_plot(numbers, ("10", "50", "2048"), "test error (%)"))
    axes = {
        key[1]: (
            view["data"][0]["x"],
            view["layout"]["xaxis"]["type"],
            view["layout"]["yaxis"]["title"]["text"],
        )
        for key, view in views.items()
    }
    assert axes == {
        "test error (%)": ([10, 50, 2048], "log", "test error (%)"),
        "NMI": ([10, 50], "linear", "NMI"),
    }


def test_foreign_names_are_shown_not_read_as_tags():
    spec = numbers_plot(made_numbers((EVIL, "b"), (EVIL,), (EVIL, "d")), (EVIL,), EVIL)
    accept(spec)
    shown = json.dumps([[view["data"], view["layout"]] for view in spec["views"]])
    assert "<script" not in shown
    assert "<img" not in shown
    assert "{{ 7*7 }}" in shown


def test_a_strip_is_drawn_to_scale():
    drawn = strip([-2.0, 3.0, 8.0, 8.0, math.nan], (-2.0, 8.0), EVIL, mean=4.0, interval=(2.0, math.inf),
                  margins=(1.0,), verdict="contradicted")  # fmt: skip
    for kind, place in {
        "ticks": "M5 2v11M80 2v11M155 2v11", "mean k-bad": "M95 15l-4 7h8z", "interval k-bad": "M65 21H155",
        "zero": "M35 0v26", "margin": "M50 0v26",
    }.items():  # fmt: skip
        assert re.search(f'class="{kind}" d="([^"]*)"', drawn)[1] == place
    assert "<script" not in drawn
    assert strip([3.0, 3.0], (3.0, 3.0), "").count("2v11") == 1
    assert "2v11" not in strip([], (0.0, 1.0), "")
