"""`provsel select`: the answer first, then the evidence; what is wrong is one message."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from pages_reader import Page, broken_links

from provlab import select
from small_runs import run_python


@pytest.fixture
def table(outside):
    """A folder with a table of flowers: texts, missing cells, a patient and a date in each row."""
    rng = np.random.default_rng(3)
    n_rows = 80
    species = rng.choice(["iris", "rose"], n_rows)
    frame = pd.DataFrame(
        {"petal": (species == "rose") * 2.0 + rng.standard_normal(n_rows)}
    )
    frame["noise"] = rng.standard_normal(n_rows).round(3)
    frame["town"] = rng.choice(["Oslo", "Rome", "Lima"], n_rows)
    frame["patient"] = np.repeat(np.arange(20), 4)
    frame["day"] = [
        str(day.date()) for day in pd.date_range("2024-01-01", periods=n_rows)
    ]
    frame["species"] = species
    frame.loc[::9, "noise"] = None
    frame.to_csv("flowers.csv", index=False)
    return frame


QUICK = ["flowers.csv", "species", "--methods=f_test,rrqr", "--folds=4", "--jobs=1"]


def test_the_answer_comes_first_and_is_that_of_python(call, table):
    status, printed, notes = call("select", *QUICK, "dataset.left_out=[patient,day]")
    assert status == 0
    assert printed.startswith("Keep petal (by f_test): ")
    assert "all 3 columns" in printed.splitlines()[0]
    assert "dates" not in notes
    X = table.drop(columns=["patient", "day", "species"])
    selected = select(X, table["species"], methods="f_test,rrqr", n_splits=4, n_jobs=1)
    answer = printed.partition("\n\n")[0]
    assert answer.split() == " ".join(selected.answer).split()  # in lines of a terminal


def test_options_say_number_groups_time_and_metric(call, table):
    status, printed, _ = call(
        "select",
        *QUICK,
        "--groups=patient",
        "--features=2",
        "--metric=roc_auc",
        "--json",
    )
    assert status == 0
    answer = json.loads(printed)
    assert len(answer["features"]) == 2
    assert answer["features"][0] == "petal"
    assert answer["error"]["low"] < answer["error"]["value"] < answer["error"]["high"]
    assert {line["name"] for line in answer["table"]} == {
        "f_test",
        "rrqr",
        "all columns",
        "guessing",
    }
    assert answer["table"][0]["roc_auc"] > 0.8
    status, printed, _ = call(
        "select", "flowers.csv", "species", "--methods=f_test", "--time=day", "--jobs=1"
    )
    assert status == 0
    assert printed.startswith("Keep petal")
    assert "is the mean over 5 folds" in printed


def test_the_script_of_a_file_runs_and_selects_the_same(call, table, tmp_path):
    for settings in (
        ["dataset.left_out=[patient,day]"],
        ["dataset.left_out=[patient,day,town]"],
    ):
        arguments = [
            "--methods=f_test",
            "--folds=3",
            "--features=2",
            "--out=found",
            "--code",
            *settings,
        ]
        status, printed, _ = call("select", "flowers.csv", "species", *arguments)
        assert status == 0
        (tmp_path / "selection.py").write_text(printed)
        done = run_python(["selection.py"], tmp_path)
        assert done.returncode == 0, done.stderr
        features = json.loads((tmp_path / "found" / "features.json").read_text())
        assert done.stdout == f"{features}\n"
        assert ("TableSelector" in printed) == ("day]" in settings[0])


def test_a_folder_gets_answer_tables_figure_and_script(call, table, tmp_path):
    pytest.importorskip("matplotlib")
    status, printed, _ = call("select", *QUICK, "--out", "found")
    assert status == 0
    folder = tmp_path / "found"
    assert (folder / "answer.txt").read_text() == printed
    assert sorted(path.name for path in folder.iterdir()) == [
        "answer.txt", "assets", "curve.csv", "curve.svg", "features.json", "frequency.csv", "index.html",
        "selection.py", "table.csv",
    ]  # fmt: skip
    script = [sys.executable, folder / "selection.py"]
    written = subprocess.run(script, capture_output=True, text=True, check=False)
    assert written.returncode == 0, written.stderr
    page = Page(folder / "index.html")
    assert page.problems == []
    assert not broken_links(folder, {folder / "index.html": page})
    html = page.path.read_text(encoding="utf-8")
    assert (
        html.index("Keep petal (by f_test)") < html.index("<img") < html.index("<table")
    )
    assert pd.read_csv(folder / "table.csv")["name"].tolist()[-2:] == [
        "all columns",
        "guessing",
    ]
    assert "number of columns" in (folder / "curve.svg").read_text()


def test_data_sets_of_the_project_are_tables_as_well(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, printed, _ = call(
        "select",
        "dataset=synthetic",
        "dataset.n_samples=60",
        "dataset.n_features=40",
        "--methods=f_test",
        "--jobs=1",
    )
    assert status == 0
    assert "all 40 columns" in printed
    # the model of the paper is not that of other methods
    assert "LibsvmSVM()" not in printed


EXPECTED_WORDS = "expected TABLE TARGET, such as provsel select penguins.csv species, or dataset=NAME"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["flowers.csv", "specis"],
            "TARGET: expected a column of petal, noise, town, patient, day",
        ),
        (
            ["flowers.csv", "species", "--time=dai"],
            "--time: expected a column of the table, got 'dai'; did you mean 'day'?",
        ),
        (
            ["flowers.csv", "species", "selector=rfe"],
            "got 'selector=rfe'; use --methods for methods",
        ),
        (
            ["flowers.csv", "species", "extra"],
            f"{EXPECTED_WORDS}, got flowers.csv species extra.",
        ),
        (
            ["flowers.csv", "species", "dataset=digits"],
            f"{EXPECTED_WORDS}, got flowers.csv species dataset=digits.",
        ),
        (["no.csv", "species"], "there is no file"),
        (["dataset.target=y"], f"{EXPECTED_WORDS}, got dataset.target=y."),
    ],
)
def test_what_is_wrong_is_one_message(words, message, call, table):
    status, printed, said = call("select", *words, "--jobs=1")
    assert (status, printed) == (2, "")
    assert message in said
    assert said.count("provsel: ") == 1


def test_one_class_and_undecided_numbers_say_the_option(call, table):
    table.assign(species="rose").to_csv("one.csv", index=False)
    assert "expected" in call("select", "one.csv", "species")[2]
    table.assign(price=np.arange(80)).to_csv("prices.csv", index=False)
    status, _, said = call("select", "prices.csv", "price")
    assert status == 2
    assert "set --task classification or --task regression" in said


def test_the_table_that_comes_with_provsel_is_read_where_there_is_none_of_its_name(
    call, outside
):
    quick = ["penguins.csv", "species", "--methods=f_test", "--folds=6", "--jobs=1"]
    status, printed, _ = call("select", *quick)
    assert status == 0
    assert "all 7 columns" in " ".join(printed.split())
    own = pd.DataFrame(
        {"size": [0.0, 1.0] * 60, "noise": range(120), "species": ["rock", "king"] * 60}
    )
    own.to_csv("penguins.csv", index=False)
    status, printed, _ = call("select", *quick)
    assert status == 0
    assert printed.startswith("Keep size ")
