"""Runs of one's own: the table, the figure and the features that a sweep ends with, and the pages of them."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from pages_reader import Page
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from made_paper import made_paper
from provlab.bench.answer import limits
from provlab.bench.own_runs import read_runs
from provlab.bench.run_names import own_run
from provlab.bench.run_pages import features_lines
from provlab.bench.run_table import MAX_CURVES, draw_run
from provlab.cli import main
from provlab.core.store import TrialStore
from provlab.project.messages import to_install
from small_runs import FULL, LEVERAGE, SMALL, files_of, run_python, small_cell

SWEEP = [
    "-m", "dataset=digits", "selector=rrqr,leverage", "selector.n_features_to_select=5,10,20", "protocol.n_splits=3",
    "protocol.repeats=2", "protocol.draws=2", "protocol.setting=unsupervised", "executor=serial",
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("outside")


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """The folder of a sweep of two methods and three sizes."""
    folder = tmp_path_factory.mktemp("swept")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PROVSEL_PROJECT", raising=False)
        patch.chdir(folder)
        assert main(["run", *SWEEP]) == 0
    [run_folder] = (folder / "results" / "runs").iterdir()
    return run_folder


@pytest.fixture
def sweep_project(swept, monkeypatch):
    """The project of the sweep, as the working directory."""
    monkeypatch.chdir(swept.parents[2])
    return swept.parents[2]


def test_the_table_of_a_sweep_is_that_of_its_stored_trials(swept, sweep_project):
    table = pd.read_csv(swept / "table.csv")
    assert [*zip(table["method"], table["features"], strict=True)] == [
        *product(["RRQR", "LeverageScore"], [5, 10, 20])
    ]
    cells = [
        cell_of_run["id"]
        for cell_of_run in json.loads((swept / "run.json").read_text())["cells"]
    ]
    trials = TrialStore("results/store").query().to_pandas()
    for cell, line in zip(cells, table.to_dict("records"), strict=True):
        own = trials[trials["cell"] == cell]
        errors = 100 * own.groupby(["repeat", "fold"])["error"].mean().to_numpy()
        assert len(errors) == 6
        assert len(own) == line["trials"]
        ratio = (own["n_test"] / own["n_train"]).mean()
        half = student.ppf(0.975, 5) * np.sqrt((1 / 6 + ratio) * errors.var(ddof=1))
        assert line["value"] == pytest.approx(errors.mean(), rel=1e-12)
        assert line["sd"] == pytest.approx(errors.std(ddof=1), rel=1e-12)
        ends = max(errors.mean() - half, 0), errors.mean() + half
        assert (line["low"], line["high"]) == pytest.approx(ends, rel=1e-3)
        assert line["selected"] == pytest.approx(own["n_selected"].mean())
        assert line["seconds"] == pytest.approx(
            (own["select_cpu"] + own["shared_cpu"]).mean()
        )
    features = pd.read_csv(swept / "features.csv", dtype={"features": str})
    times = features[
        (features["method"] == "LeverageScore") & (features["features"] == "20")
    ].set_index("index")["times"]
    lists = trials.loc[trials["cell"] == cells[5], "features"]
    assert (
        times.to_dict() == pd.Series(np.concatenate([*lists])).value_counts().to_dict()
    )
    drawn = (swept / "figure.svg").read_text()
    assert all(
        text in drawn
        for text in (
            "RRQR",
            "LeverageScore",
            "test error (%)",
            "number of selected features",
        )
    )
    assert (swept / "figure.png").stat().st_size > 10_000


def test_the_same_sweep_changes_nothing_and_another_one_has_its_own_folder(
    sweep_project, capsys
):
    before = files_of(sweep_project)
    assert main(["run", *SWEEP]) == 0
    shown, said = capsys.readouterr()
    assert files_of(sweep_project) == before
    assert len(re.findall(r"│ (RRQR|LeverageScore) +│ (5|10|20) ", shown)) == 6
    assert re.match(
        r"(RRQR|LeverageScore) with 20 features has the least error: \d", shown
    )
    assert "told apart from the best (" in " ".join(shown.split())
    figure = r"table and figure: (results/runs/\S+/figure\.png); pages with the selected features: provsel report"
    [path] = re.findall(figure, said.splitlines()[-1])
    assert (sweep_project / path).is_file()
    assert (
        main(
            [
                "run",
                "dataset=digits",
                "selector=rrqr",
                "selector.n_features_to_select=5",
                *SWEEP[4:],
            ]
        )
        == 0
    )
    figure_of_one = re.search(figure, capsys.readouterr()[1])[1]
    assert figure_of_one != path
    drawn = (sweep_project / figure_of_one).with_suffix(".svg").read_text()
    assert "RRQR, 5 features" in drawn


@pytest.mark.parametrize(
    ("cells", "methods", "labels"),
    [
        ([{"selector": LEVERAGE}, {}], ["LeverageScore", "BSS"], ["synthetic"] * 2),
        (
            [{}, {"setting": "unsupervised"}],
            ["BSS, setting=supervised", "BSS, setting=unsupervised"],
            ["synthetic"] * 2,
        ),
        (
            [{}, {"dataset": {"seed": 1}}],
            ["BSS"] * 2,
            ["synthetic (seed=0)", "synthetic (seed=1)"],
        ),
        (
            [
                {"model": {"_target_": f"provsel.models.{name}"}}
                for name in ("LibsvmSVM", "LiblinearSVM")
            ],
            ["BSS, LibsvmSVM", "BSS, LiblinearSVM"],
            ["synthetic"] * 2,
        ),
        (
            [
                {"selector": {**LEVERAGE, "strategy": cell}}
                for cell in ("top", "sample")
            ],
            ["LeverageScore (strategy=top)", "LeverageScore (strategy=sample)"],
            ["synthetic"] * 2,
        ),
        ([{"repeats": 1}, {"repeats": 3}], ["BSS"], ["synthetic"]),
    ],
)
def test_names_say_what_differs(cells, methods, labels):
    run = own_run("", [small_cell(**cell) for cell in cells])
    assert [cell.method for cell in run.cells] == methods
    assert [cell.label for cell in run.cells] == labels
    assert max(cell.repeats for cell in run.cells) == max(
        cell.get("repeats", 1) for cell in cells
    )


@pytest.mark.parametrize(
    ("n_methods", "names"), [(MAX_CURVES, ["figure.svg"]), (MAX_CURVES + 1, [])]
)
def test_more_curves_than_can_be_told_apart_are_a_table_only(outside, n_methods, names):
    run = own_run("", [small_cell()])
    lines = [
        {
            "method": f"m{k}",
            "measure": "error",
            "features": size,
            "dataset": "d",
            "value": k,
            "selected": size,
        }
        for k in range(n_methods)
        for size in (5, 10)
    ]
    assert [
        path.name for path in draw_run(run, pd.DataFrame(lines), outside, ["svg"])
    ] == names


def first(**changes):
    return lambda content: {**content, "cells": [{**content["cells"][0], **changes}]}


DAMAGES = [
    (
        lambda content: "[" * 100_000,
        "expected JSON, got it is nested more than 20 levels",
    ),
    (lambda content: [], r"expected a mapping with command, cells, got \[\]"),
    (lambda content: {**content, "cells": []}, "cells: expected 1 to 100000, got 0"),
    (first(id="../../x"), "id: expected 64 hexadecimal digits, got '../../x'"),
    (
        first(repeats=0),
        r"repeats, n_splits, draws: expected 1 to 100000 of each, got \(0, 3, ",
    ),
    (first(draws="2"), "draws: expected a whole number, got '2'"),
    (first(measures=["error; DROP"]), "measures: expected 1 to 100 column names"),
    (first(method="x" * 501), "method: expected at most 500 characters, got 501"),
    (first(dataset={"path": "/etc/passwd"}), "dataset: expected a name, got"),
    (first(more=1), "got the unknown 'more'"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_a_damaged_run_is_named_and_the_others_are_shown(
    swept, outside, damage, message
):
    text = (swept / "run.json").read_text()
    for name, content in (("good", text), ("bad", damage(json.loads(text)))):
        path = outside / "results" / "runs" / name / "run.json"
        path.parent.mkdir(parents=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    runs, [problem] = read_runs(outside / "results")
    assert [*runs] == ["good"]
    assert re.search(
        rf"bad/run\.json: .*{message}.* Run the same again, or remove the folder\.$",
        problem,
    )


def test_a_project_without_papers_has_a_comparison_and_no_empty_parts(
    swept, sweep_project
):
    assert main(["report"]) == 0
    folder = sweep_project / "results" / "report"
    page = Page(folder / "index.html")
    own = Page(folder / "runs" / f"{swept.name}.html")
    assert page.text.count("Comparison of feature selectors") == 1
    assert f"provsel run {' '.join(SWEEP)}" in page.text
    for absent in ("Replication", "Claims", "Artefacts", "paper"):
        assert absent not in page.text
    table = pd.read_csv(swept / "table.csv")
    for written in (page, own):
        assert written.problems == []
        assert all(f"{value:.2f}" in written.text for value in table["value"])
        assert any(link.endswith(f"{swept.name}/figure.svg") for link in written.links)
    html = own.path.read_text(encoding="utf-8")
    assert html.index("has the least error") < html.index("<img") < html.index("<table")
    assert "has the least error" in page.text
    for link in own.links:
        if not link.startswith("#"):
            assert (own.path.parent / link).is_file(), link
    features = pd.read_csv(swept / "features.csv")
    for (_, size), lines in features.groupby(["method", "features"]):
        assert f"digits, {size} features" in own.text
        assert ", ".join(lines["feature"][:5]) in own.text
    assert (
        own.path.read_text(encoding="utf-8").count('<tr><th scope="row">pixel')
        == 3 * 30
    )


def test_features_stand_in_a_column_for_each_number_and_one_where_each_method_has_one():
    sizes = [
        replace(small_cell(LEVERAGE), selector={**LEVERAGE, "n_features_to_select": k})
        for k in (5, 10)
    ]
    sweep = features_lines(own_run("", [*sizes, small_cell(FULL)]))
    assert [(line.method, line.column) for line in sweep] == [
        ("LeverageScore", "5 features"), ("LeverageScore", "10 features"),
        ("FullData", "5 features"), ("FullData", "10 features"),
    ]  # fmt: skip
    single = features_lines(own_run("", [sizes[0], small_cell()]))
    assert [(line.method, line.column) for line in single] == [
        ("LeverageScore", ""),
        ("BSS", ""),
    ]


def test_runs_beside_papers_are_a_part_of_their_own_and_damage_is_said(
    outside, monkeypatch
):
    made_paper(outside, monkeypatch)
    assert main(["report"]) == 0
    assert "Runs" not in Page(outside / "results" / "report" / "index.html").text
    assert (
        main(
            [
                "run",
                "selector=uniform",
                "selector.n_features_to_select=20",
                *SMALL,
                "executor=serial",
            ]
        )
        == 0
    )
    broken = outside / "results" / "runs" / "broken" / "run.json"
    broken.parent.mkdir()
    broken.write_text("{")
    assert main(["report"]) == 0
    page = Page(outside / "results" / "report" / "index.html")
    assert "Replication report" in page.text
    assert "Your own runs synthetic: Uniform A run cannot be shown." in page.text
    runs = Page(outside / "results" / "report" / "runs" / "index.html")
    assert page.problems == []
    assert runs.problems == []
    assert "provsel run selector=uniform" in runs.text


def test_without_the_packages_of_figures_the_table_is_written(outside):
    script = "import sys; sys.modules['matplotlib'] = None; from provlab.cli import main; sys.exit(main(sys.argv[1:]))"
    done = run_python(["-c", script, "run", *SWEEP], outside)
    assert done.returncode == 0, done.stderr
    [folder] = (outside / "results" / "runs").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == [
        "features.csv",
        "run.json",
        "table.csv",
        "table.md",
    ]
    assert f"because packages are missing; {to_install('report')}.\n" in done.stderr


def test_a_report_of_nothing_says_what_to_do(outside, capsys):
    assert main(["report"]) == 2
    assert "provsel new my-study" in capsys.readouterr()[1]


# of scorers for other targets
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_no_interval_goes_beyond_the_values_of_a_measure():
    """Of each scorer of scikit-learn, the truth has the best value, and its opposite one of the worst."""
    y = np.array([0, 1] * 20)

    class Constant(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def __init__(self, answer):
            self.answer = answer

        def fit(self, X, y):
            return self

        def predict(self, X):
            return self.answer

        def predict_proba(self, X):
            return np.column_stack([1 - self.answer, self.answer]).astype(float)

    values = {}
    for name in get_scorer_names():
        with suppress(ValueError, TypeError):
            values[name] = [
                get_scorer(name)(Constant(answer).fit(None, y), np.zeros((40, 1)), y)
                for answer in (1 - y, y)
            ]
    assert len(values) > 40
    for name, (worst, best) in values.items():
        least, largest = limits(name)
        assert least <= worst <= best <= largest, name
    assert limits("RMSE") == limits("mae") == (0.0, np.inf)
    assert limits("accuracy") == (0.0, 1.0)
    assert limits("roc_auc")[1] == 1.0
    assert limits("neg_log_loss")[1] == 0.0
    assert limits("error") == (0.0, 100.0)
