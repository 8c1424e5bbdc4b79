"""The comparison of selectors, end to end on small data: its numbers, tables, figure and advice."""

import re

import numpy as np
import pytest

from provlab.cli import main
from provlab.plan import compose_artefact
from provlab.recipe import load_recipe
from provlab.store import TrialStore
from provsel.stability import stability
from small_runs import artefact_command

SIZES = ["'10'", "'20'", "'10, clusters'", "'20, clusters'"]
TINY = [
    "artefact.only=[Made,Other]", "protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=2",
    *(
        f"+artefact.datasets.{name}={{choose:['dataset=synthetic','dataset.n_samples=45','dataset.n_features=60',"
        f"'dataset.seed={seed}'],columns:[{','.join(SIZES)}]}}"
        for seed, name in enumerate(["Made", "Other"])
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder that all share, as a user's: what two tests are about is computed once."""
    folder = tmp_path_factory.mktemp("selection")
    assert main(["reproduce", "selectors", "executor=serial", f"results={folder}", *TINY]) == 0
    return folder


def test_from_trials_to_advice(results, monkeypatch, capsys):
    run = artefact_command("selection", results, monkeypatch, capsys)
    frame, text = run("selectors", *TINY, "--render")
    rows = list(compose_artefact("selection/selectors").config.artefact.rows)
    assert list(frame["row"].unique()) == rows
    assert set(frame["state"]) == {"complete"}
    value = frame.set_index(["dataset", "row", "column"])["value"].astype(float)
    assert set(frame["column"]) == {
        f"{r}, {name}" for r in (10, 20) for name in ("error", "clusters", "ratio", "stability", "seconds")
    }
    # rank 5 of the best against 10 columns: RRQR's do better than random ones, and more columns than fewer
    ratio = value.xs("10, ratio", level="column")
    assert ratio["Made", "RRQR"] < ratio["Made", "random"]
    assert value["Made", "RRQR", "20, ratio"] < ratio["Made", "RRQR"]
    assert ratio["Made", "all features"] < 1e-12
    assert np.isnan(value["Made", "all features", "10, stability"])
    assert value["Made", "random", "10, stability"] < value["Made", "RRQR", "10, stability"]
    ranked = [float(rank) for rank in re.findall(r"\((\d+\.\d)\)", text)]
    assert len(ranked) == 5 * (len(rows) - 1)  # all features have none
    assert sum(ranked) == pytest.approx(5 * 20 * 21 / 2, abs=5)  # as printed, to one decimal
    assert "PARTIAL" not in text
    figure = (results / "figures" / "selection" / "selectors.svg").read_text()
    assert all(f">{word}<" in figure for word in rows)
    advice = (results / "tables" / "selection" / "advice.md").read_text()
    assert "## From 2 data sets, all methods\n" in advice
    assert advice.count("### ") == 5
    # what the page says is what the numbers say
    times = value.xs("10, seconds", level="column").unstack()
    assert (times > 0).all().all()
    assert advice.count("Friedman's test") == 5


def test_nothing_stored(tmp_path, monkeypatch, capsys):
    frame, text = artefact_command("selection", tmp_path, monkeypatch, capsys)("selectors", *TINY, "--render")
    assert frame["value"].isna().all()
    assert "PARTIAL" in text
    assert (tmp_path / "tables" / "selection" / "advice.md").read_text().count("No test") == 5


def test_the_stability_is_that_of_the_stored_features(results, monkeypatch, capsys):
    artefact = compose_artefact("selection/selectors", TINY)
    trials = TrialStore(results / "store")
    recipe = load_recipe("selection/selectors")
    frame = recipe.frame(artefact, trials).set_index(["dataset", "row", "column"])
    entry = next(e for e in artefact.entries if (e.dataset, e.row, e.column) == ("Made", "RRQR", "10"))
    found = trials.query([entry.cell.id], ["features", "n_features"]).to_pandas()
    assert len(found) == 3
    assert frame.loc[("Made", "RRQR", "10, stability"), "value"] == pytest.approx(
        stability(found["features"], 60).index
    )


def test_of_one_data_set_there_is_no_test_and_no_advice(results, monkeypatch, capsys):
    run = artefact_command("selection", results, monkeypatch, capsys)
    run("selectors", "artefact.only=[Made]", *TINY[1:], "--render")
    advice = (results / "tables" / "selection" / "advice.md").read_text()
    assert advice.count("No test: it takes two data sets") == 5
    assert "Best average rank" not in advice


def test_data_of_many_classes_have_the_methods_that_can_use_them(results, monkeypatch, capsys):
    shared = ["RRQR", "leverage", "random", "all features"]
    three = (
        "+artefact.datasets.Three={choose:['dataset=gaussian_clusters','dataset.n_samples=45','dataset.n_features=60'],"
        f"rows:[{','.join(shared)}],columns:[{','.join(SIZES)}]}}"
    )
    run = artefact_command("selection", results, monkeypatch, capsys)
    frame, text = run("selectors", "artefact.only=[Made,Three]", *TINY[1:], three)
    assert list(frame.loc[frame["dataset"] == "Three", "row"].unique()) == shared
    assert "1 data set of two classes, all methods" in text
    folder = results / "tables" / "selection"
    page = (folder / "selectors_all_data.md").read_text()
    assert all(row in page for row in shared)
    assert "RFE" not in page
    assert "RFE" in (folder / "selectors.md").read_text()
    advice = (folder / "advice.md").read_text()
    assert advice.count("No test: it takes two data sets") == 5  # one data set of two classes
    assert "## From all 2 data sets, methods for any number of classes" in advice


def test_rows_of_a_data_set_must_exist():
    with pytest.raises(ValueError, match=r"expected rows of Made among \['BSS', .*got \['SVD'\]; add them to rows"):
        compose_artefact(
            "selection/selectors",
            ["artefact.only=[Made]", "+artefact.datasets.Made={choose:['dataset=synthetic'],rows:[SVD]}"],
        )
