"""The stored panel: written set by set and resumed, read again as the frame, and audited."""

import re
import shutil
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from pages_reader import read_pages

from provlab.bench import panel as panels
from provlab.bench.boards import BOARDS, RELEASES, release_board
from provlab.bench.methods import panel_methods
from provlab.bench.panel import panel_cells, panel_datasets
from provlab.bench.panel_answers import (
    SHAPES,
    medians,
    n_different,
    stored_answers,
    write_results,
)
from provlab.bench.panel_computing import compute, in_turn
from provlab.bench.panel_pages import write_panel
from provlab.bench.stored_panel import (
    CELL_DIGITS,
    OVERLAPS,
    file_of,
    not_stored,
    panel_of,
    read_overlaps,
    read_panel,
    read_trials,
    trials_from,
)
from provlab.cli import main
from provlab.core.store import TrialStore
from provlab.report.templating import Site
from provlab.verdicts.panel_frame import CHOSEN_SIZE
from provlab.verdicts.panel_pairs import against_all
from provlab.verdicts.panel_ranking import leaderboard
from provlab.verdicts.panel_scores import Scores
from provsel.selectors import FTestSelector
from small_runs import REPO, files_of

NAMES = ("all features", "F-test", "random")
METHODS = {name: panel_methods()[name] for name in NAMES}
SETS = {name: panel_datasets()[name] for name in ("breast_cancer", "shift")}
PANEL = Path("results/reference/benchmark")


def few_cells(name):
    """Return the cells of three methods by one judge, instead of the whole plan."""
    return [
        entry
        for entry in panel_cells(METHODS, {name: panel_datasets()[name]})
        if entry.model == "linear"
    ]


def written(folder, datasets=SETS):
    """Compute what is missing below a folder, and return what is said of it."""
    return [
        *compute(
            datasets,
            folder / "results",
            folder / PANEL,
            {"name": "serial"},
            1.0,
            few_cells,
        )
    ]


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Return a folder with three methods on two small data sets."""
    folder = tmp_path_factory.mktemp("panel")
    lines = written(folder)
    assert [line["failed"] for line in lines] == [0, 0]
    return folder


@pytest.fixture
def folder(computed, tmp_path):
    shutil.copytree(computed, tmp_path / "own")
    return tmp_path / "own"


def test_the_frame_is_that_of_the_store(computed):
    store = TrialStore(computed / "results" / "breast-cancer" / "store")
    cells = few_cells("breast_cancer")
    panel = panel_of(trials_from(store, cells), SETS)
    stored = read_panel(computed / PANEL)
    keys = ["method", "size", "repeat", "fold"]
    expected = panel.sort_values(keys, ignore_index=True)
    read = stored[stored["dataset"] == "breast_cancer"].sort_values(
        keys, ignore_index=True
    )
    pd.testing.assert_frame_equal(expected, read, rtol=1e-6)  # in single precision
    assert len(read) == sum(entry.cell.n_trials for entry in cells)
    assert {*read["task"]} == {"classification"}
    assert {*read["domain"]} == {SETS["breast_cancer"].domain}
    means = read.groupby(["method", "size"])["stability"].agg(["nunique", "mean"])
    assert means.loc[("F-test", 10), "nunique"] == 1
    assert means.loc[("F-test", 10), "mean"] > means.loc[("random", 10), "mean"]
    assert read.loc[read["method"] == "all features", "stability"].isna().all()


def only(name):
    return {name: SETS[name]}


def test_errors_follow_from_the_counts_of_classes(computed):
    trials = read_trials(computed / PANEL)
    panel = read_panel(computed / PANEL)
    for rows, wrong, error, accuracy in zip(
        trials["class_rows"],
        trials["class_errors"],
        panel["error"],
        panel["balanced_accuracy"],
        strict=True,
    ):
        assert error == pytest.approx(wrong.sum() / rows.sum())
        assert accuracy == pytest.approx(np.mean(1 - wrong / rows))


def test_anybodys_pandas_reads_the_files(computed):
    stored = pd.read_parquet(file_of("shift", computed / PANEL))
    assert {*stored["method"]} == {*NAMES}
    alike = pd.read_parquet(file_of("shift", computed / PANEL / OVERLAPS))
    assert alike[["first", "second"]].values.tolist() == [["F-test", "random"]]
    assert alike["overlap"].between(-20, 20).all(), (
        "random features are unlike any others"
    )


def test_overlaps_are_means_over_the_data_sets_of_a_task(computed):
    table = read_overlaps(computed / PANEL, "classification")
    assert [*table.index] == [*table.columns] == ["F-test", "random"]
    values = []
    for name in SETS:
        [line] = pd.read_parquet(file_of(name, computed / PANEL / OVERLAPS)).to_dict(
            "records"
        )
        values.append(line["overlap"])
    assert_allclose(table, [[1, np.mean(values) / 100], [np.mean(values) / 100, 1]])
    assert read_overlaps(computed / PANEL, "regression").empty


@pytest.mark.parametrize(
    ("value", "said"), [(0.9, "nearly the same features: F-test, random."), (0.5, "")]
)
def test_the_leaderboard_shows_which_methods_select_the_same(
    value, said, computed, tmp_path
):
    site = Site(tmp_path, tmp_path, (), "2026-12-01T00:00:00+00:00", 1, (), alone=True)
    overlap = pd.DataFrame(
        [[1.0, value], [value, 1.0]], ["F-test", "random"], ["F-test", "random"]
    )
    write_panel(site, Scores.of(read_panel(computed / PANEL)), overlap=overlap)
    page = read_pages(tmp_path)[tmp_path / "benchmark" / "index.html"]
    assert not page.problems
    assert "Methods that select the same features" in page.text
    assert ("nearly the same features" in page.text) == bool(said)
    assert said in page.text
    assert "F-test" in (tmp_path / "benchmark" / "selections.svg").read_text()


def test_only_cells_are_computed_that_a_file_lacks(folder):
    before = files_of(folder / PANEL)
    assert written(folder) == []
    cells = few_cells("shift")
    path = file_of("shift", folder / PANEL)
    table = pq.read_table(path)
    assert (table["method"][0].as_py(), table["size"][0].as_py()) == ("F-test", -2)
    pq.write_table(table.slice(1), path)
    [missing] = not_stored("shift", cells, folder / PANEL)
    assert (missing.method, missing.size) == ("F-test", CHOSEN_SIZE)
    [line] = written(folder)
    assert (line["data set"], line["trials"]) == ("shift", missing.cell.n_trials)
    assert files_of(folder / PANEL) == before, "what was there is as it was"
    shutil.rmtree(folder / PANEL)
    # after its time it begins no set
    assert [
        *compute(
            SETS,
            folder / "results",
            folder / PANEL,
            {"name": "serial"},
            -1.0,
            few_cells,
        )
    ] == []


@pytest.fixture
def with_another_f_test(folder, monkeypatch):
    """Return a computed folder, after which the F-test has another version, thus other keys."""
    with monkeypatch.context() as patch:
        patch.setattr(FTestSelector, "algorithm_version", 99)
        panels._cell.cache_clear()
        yield folder
    panels._cell.cache_clear()


def test_a_method_that_has_changed_is_computed_alone(with_another_f_test):
    """Its overlaps with methods that are not computed again cannot be known, and go."""
    folder = with_another_f_test
    stored = file_of("shift", folder / PANEL)
    before = pd.read_parquet(stored)
    missing = not_stored("shift", few_cells("shift"), folder / PANEL)
    assert {entry.method for entry in missing} == {"F-test"}
    lines = written(folder)
    assert [line["trials"] for line in lines] == [
        sum(
            entry.cell.n_trials for entry in few_cells(name) if entry.method == "F-test"
        )
        for name in SETS
    ]
    now = pd.read_parquet(stored)
    is_other = now["method"] != "F-test"
    pd.testing.assert_frame_equal(now[is_other], before[is_other])
    changing = ["cell", "select_cpu", "peak_memory"]
    pd.testing.assert_frame_equal(
        now.drop(columns=changing), before.drop(columns=changing)
    )
    assert not (now["cell"] == before["cell"])[~is_other].any()
    alike = pd.read_parquet(file_of("shift", folder / PANEL / OVERLAPS))
    assert alike.empty
    assert not not_stored("shift", few_cells("shift"), folder / PANEL)


def test_each_source_comes_first_with_its_smallest_set():
    datasets = panel_datasets()
    names = in_turn(datasets)
    assert sorted(names) == sorted(datasets)
    sources = [datasets[name].source for name in names]
    n_sources = len({*sources})
    assert len({*sources[:n_sources]}) == n_sources
    assert names.index("fri_c1_1000_50") > n_sources, (
        "fri_c4_500_50 of the same source is smaller"
    )


def test_tables_of_results_are_those_of_the_trials(folder):
    shutil.copy(REPO / PANEL / "_cards.csv", folder / PANEL)
    assert [path.name for path in write_results(folder / PANEL)] == [
        "_leaderboard.csv", "_against_all.csv", "_answers.csv", "_beside_random.csv", "_studies.csv",
    ]  # fmt: skip
    board, compared = (
        pd.read_csv(folder / PANEL / f"_{name}.csv")
        for name in ("leaderboard", "against_all")
    )
    scores = Scores.of(read_panel(folder / PANEL))
    assert board["method"].tolist() == [*leaderboard(scores).index]
    assert {*board["task"]} == {"classification"}
    assert_allclose(board["loss"], leaderboard(scores)["loss"], rtol=1e-5)
    assert {*compared["method"]} == {"F-test", "random"}
    assert {*compared["size"]} == {5, 10, 20, 50, 100, 200, CHOSEN_SIZE}
    everywhere = compared[compared["domain"] == "all domains"]
    assert_allclose(
        everywhere["difference"], against_all(scores)["difference"], rtol=1e-5
    )
    assert stored_answers(folder / PANEL, "classification") == [], (
        "two domains do not speak of a new one"
    )


def test_a_released_board_stays_as_it_was(folder, capsys):
    reference = folder / "results"
    shutil.copy(REPO / PANEL / "_cards.csv", folder / PANEL)
    panel = ["reference", "--panel", "--results", str(reference)]
    assert main([*panel, "--release", "2026-12-01"]) == 0
    assert capsys.readouterr().out.endswith("boards/2026-12-01.csv\n")
    released = (folder / PANEL / BOARDS / "2026-12-01.csv").read_bytes()
    assert released == (folder / PANEL / "_leaderboard.csv").read_bytes()
    [line] = pd.read_csv(folder / PANEL / RELEASES).to_dict("records")
    assert line["data sets"] == len(SETS)
    assert line["methods"] == len(NAMES)
    assert line["trials"] == len(read_trials(folder / PANEL))
    with pytest.raises(
        ValueError, match="expected a date without a release, got 2026-12-01"
    ):
        release_board(folder / PANEL, date(2026, 12, 1))
    with pytest.raises(
        ValueError,
        match="expected trials that no release has, got those of the release 2026-12-01",
    ):
        release_board(folder / PANEL, date(2026, 12, 2))
    path = file_of("shift", folder / PANEL)
    stored = pq.read_table(path)
    pq.write_table(
        stored.slice(1).replace_schema_metadata(stored.schema.metadata), path
    )
    assert main([*panel, "--release", "2026-12-02"]) == 0
    assert (folder / PANEL / BOARDS / "2026-12-01.csv").read_bytes() == released
    assert pd.read_csv(folder / PANEL / RELEASES)["digest"].nunique() == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--release", "2026-12-01"],
            "expected --panel with --release, got 2026-12-01 alone",
        ),
        (
            ["--panel", "--release", "12/2026"],
            "expected a date such as 2026-12-01, got '12/2026'",
        ),
    ],
)
def test_a_release_without_a_panel_or_a_date_is_refused(arguments, message, capsys):
    try:
        status = main(["reference", *arguments])
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert message in capsys.readouterr().err


def test_the_stored_tables_are_those_of_the_stored_trials():
    folder = REPO / PANEL
    panel = read_panel(folder)
    stored = pd.read_csv(folder / "_leaderboard.csv")
    for task, of_task in stored.groupby("task"):
        expected = leaderboard(Scores.of(panel, task))
        assert of_task["method"].tolist() == [*expected.index], (
            "run: provsel reference --panel"
        )
        assert_allclose(of_task["rank"], expected["rank"], rtol=1e-5)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_stored_answers_are_sentences_with_the_numbers_of_their_table(task):
    sentences = stored_answers(REPO / PANEL, task)
    answers = pd.read_csv(REPO / PANEL / "_answers.csv")
    chosen = answers.query(
        "task == @task and judge == 'linear' and size == @CHOSEN_SIZE"
    )
    chosen = chosen[chosen["place"] == "these domains, each the same"].set_index(
        "method"
    )
    one_of_each = [of_group["worse"].mean() for _, of_group in chosen.groupby("alike")]
    assert (
        f"raises it by more with {100 * np.median(one_of_each):.0f} %" in sentences[0]
    )
    assert (
        f"medians of {len(chosen)} methods, {len(one_of_each)} different ones"
        in sentences[0]
    )
    best = chosen["better"].idxmax()
    assert sentences[1].startswith(
        f"The methods most likely to lower it are {best} ({100 * chosen.at[best, 'better']:.0f} %)"
    )


def test_methods_that_select_nearly_the_same_features_count_as_one():
    answers = pd.read_csv(REPO / PANEL / "_answers.csv")
    alike = answers.drop_duplicates(["task", "method"]).set_index(["task", "method"])[
        "alike"
    ]
    assert (
        alike["classification", "strong RRQR"]
        == alike["classification", "RRQR"]
        == "RRQR"
    )
    assert alike["classification", "RFE"] == "RFE"
    lines = pd.DataFrame({
        "method": ["A", "B", "C", "D"], "alike": ["A", "A", "C", "D"],
        "better": [0.0, 0.2, 0.5, 0.9], "within": 0.1, "worse": [0.9, 0.7, 0.4, 0.0],
    })  # fmt: skip
    assert medians(lines).to_dict() == pytest.approx(
        {"better": 0.5, "within": 0.1, "worse": 0.4}
    )
    assert n_different(lines) == "4 methods, 3 different ones"
    assert n_different(lines[1:]) == "3 methods"


def test_stored_answers_are_probabilities_of_methods_as_the_questions_ask():
    answers = pd.read_csv(REPO / PANEL / "_answers.csv")
    beside = pd.read_csv(REPO / PANEL / "_beside_random.csv")
    for lines in (answers, beside):
        assert_allclose(lines[["better", "within", "worse"]].sum(axis=1), 1, atol=2e-4)
        assert (lines["low"] <= lines["high"]).all()
    linear = answers[answers["judge"] == "linear"]
    shaped = (
        linear[linear["place"].isin(SHAPES)].groupby(["task", "size", "method"]).size()
    )
    assert {*shaped} == {len(SHAPES)}
    assert len(shaped) == linear.groupby(["task", "size", "method"]).ngroups
    assert not answers.loc[answers["judge"] != "linear", "place"].isin(SHAPES).any()
    assert {panel_methods()[name].family for name in beside["method"]} == {"subset"}
    at_size = linear[linear["size"] == 20]
    domains = {*pd.read_csv(REPO / PANEL / "_cards.csv")["domain"]}
    for _, of_method in at_size.groupby(["task", "method"]):
        own = domains.intersection(of_method["place"])
        assert {f"without {name}" for name in own} == {
            *of_method["place"][of_method["place"].str.startswith("without")]
        }
    assert (
        not answers.loc[answers["size"] != 20, "place"].str.startswith("without").any()
    )


def audited(folder, *options):
    return main(
        [
            "audit",
            "--panel",
            str(folder / PANEL),
            "--results",
            str(folder / "audit"),
            *options,
            "executor=serial",
        ]
    )


def test_an_honest_panel_is_the_same_again_and_a_changed_number_is_found(
    folder, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "250")
    assert (
        audited(folder, "--method", "F-test", "--fraction", "0.3", "--seed", "1") == 0
    )
    assert re.search(r"identical\s+│\s+1[0-9]", capsys.readouterr().out)
    path = file_of("shift", folder / PANEL)
    table = pq.read_table(path)
    trials = table.to_pandas()
    trials["class_errors"] = [
        np.zeros_like(errors) for errors in trials["class_errors"]
    ]
    changed = type(table).from_pandas(trials, table.schema, preserve_index=False)
    pq.write_table(changed.replace_schema_metadata({"dataset": "shift"}), path)
    cell = trials.loc[
        (trials["method"] == "random") & (trials["size"] == 5), "cell"
    ].iloc[0]
    assert len(cell) == CELL_DIGITS
    assert audited(folder, "--cell", cell) == 1
    out = capsys.readouterr().out
    assert "class_errors: stored 2 values, at 0: 0" in out
    assert "shift random, 5 features, linear" in out


def test_what_is_no_file_of_a_panel_is_refused(folder):
    path = file_of("shift", folder / PANEL)
    pq.write_table(pq.read_table(path).drop_columns(["cell"]), path)
    with pytest.raises(
        ValueError, match=r"shift\.parquet: expected a file written by provsel panel"
    ):
        read_panel(folder / PANEL)
    path.write_bytes(b"no parquet")
    with pytest.raises(
        ValueError, match=r"shift\.parquet: expected a file written by provsel panel"
    ):
        read_panel(folder / PANEL)


def test_a_file_of_a_data_set_that_the_panel_has_no_more_is_left_out(folder):
    path = file_of("shift", folder / PANEL)
    pq.write_table(
        pq.read_table(path).replace_schema_metadata({"dataset": "gone"}), path
    )
    assert {*read_panel(folder / PANEL)["dataset"]} == {"breast_cancer"}
