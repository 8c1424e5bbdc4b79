"""provlab.rank and provsel rank, on a panel of three methods, two data sets and three folds that is computed here."""

import importlib.metadata
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from pages_reader import broken_links, read_pages
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, chi2

import provlab
from provlab.bench import panel as panels
from provlab.bench import rank as standing
from provlab.bench import rank_on_data, stored_panel, submission
from provlab.bench.methods import PanelMethod, panel_methods
from provlab.bench.panel import Judge, PanelDataset, panel_cells
from provlab.bench.stored_panel import file_of, panel_of, trials_from, write_dataset
from provlab.cli import main
from provlab.core.composition import compose_config
from provlab.core.plan import MANY_ROWS
from provlab.core.store import TrialStore
from provlab.project.documents import read_as
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.verdicts.claims.paired_tests import size_words
from provlab.verdicts.panel_frame import ALL_FEATURES
from provsel.selectors import BaseSelector, RRQRSelector, Selection
from small_runs import files_of

SETS = {
    "breast": PanelDataset(("dataset=bundled",), "measurements", "UCI"),
    "shift": PanelDataset(("dataset=design", "dataset.kind=shift", "dataset.n_samples=60", "dataset.n_features=30"),
                          "designs", "generated"),
}  # fmt: skip
RRQR = "provsel.selectors.RRQRSelector"
STORED = ("all features", "random", "F-test")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return a panel that is small enough to be computed, as the stored one."""
    whole = panels.judging()
    judging = replace(
        whole,
        choose=(*whole.choose, "protocol.n_splits=3", "protocol.repeats=1"),
        judges={
            "linear": Judge(
                (3, 10), ("model=libsvm",), ("model=ridge_cv", "protocol.scoring=[]")
            ),
            "boosting": Judge(
                (3, 10),
                ("model=neighbours",),
                ("model=neighbours_regression", "protocol.scoring=[]"),
            ),
        },
        chosen=replace(whole.chosen, sizes=(100,)),  # more columns than there are
    )
    data = replace(
        panels.panel_data(),
        quick={"classification": ("breast", "shift"), "regression": ()},
    )
    with pytest.MonkeyPatch.context() as patch:
        for module in (panels, rank_on_data):
            patch.setattr(module, "judging", lambda: judging)
        patch.setattr(standing, "panel_data", lambda: data)
        for module in (panels, standing, stored_panel, submission):
            patch.setattr(module, "panel_datasets", lambda: SETS)
        folder = tmp_path_factory.mktemp("stored")
        patch.setattr(panels, "stored_folder", lambda: folder)
        store = TrialStore(folder / "store")
        cells = panel_cells({name: panel_methods()[name] for name in STORED}, SETS)
        stored = panel_of(standing.computed(cells, store, {"name": "serial"}), SETS)
        for name in SETS:
            write_dataset(
                name, [entry for entry in cells if entry.dataset == name], store, folder
            )
        for module in (standing, rank_on_data):
            patch.setattr(module, "read_panel", lambda: stored)
        yield stored


@pytest.fixture(scope="module")
def results(small, tmp_path_factory):
    return tmp_path_factory.mktemp("results")


def test_a_selector_is_ranked_by_its_own_trials_alone(small, results):
    standing_of_mine = provlab.rank(RRQRSelector(7), results=results, name="mine")
    store = TrialStore(results / "store")
    assert len(store.keys()) == 2 * 2 * 2 * 3  # data sets, sizes, judges, folds
    assert {*standing_of_mine.leaderboard.index} == {*STORED, "mine"}
    kept = standing_of_mine.scores.lines.query("method == 'mine'")
    assert (kept["n_selected"] == kept["size"]).all()  # and not 7
    own = panel_cells(
        {"mine": standing.method_of(["selector=any", f"selector._target_={RRQR}"])},
        SETS,
    )
    trials = pd.concat([small, panel_of(trials_from(store, own), SETS)])
    errors = 100 * (
        1
        - trials.groupby(["domain", "method", "size", "model"])[
            "balanced_accuracy"
        ].mean()
    )
    by_method = {name: errors.xs(name, level="method") for name in ("mine", "F-test")}
    means = (by_method["mine"] - by_method["F-test"]).groupby("domain").mean()
    line = standing_of_mine.pairs.loc["F-test"]
    assert line["difference"] == pytest.approx(means.mean())
    ends = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert [line["low"], line["high"]] == pytest.approx([*ends])
    # two domains tell nothing
    assert [line["p_better"], line["verdict"]] == [1, "inconclusive"]
    answer, _, board = str(standing_of_mine).partition("mine: mean rank")
    assert answer.split() == " ".join(standing_of_mine.answer).split()
    assert answer.startswith(
        "These data cannot tell mine apart from all features (difference "
    )
    first, header, *lines, note = f"mine: mean rank{board}".splitlines()
    assert re.match(
        r"mine: mean rank [\d.]+ of 4, 95 % interval [\d.]+ to [\d.]+, on 2 data sets\.$",
        first,
    )
    assert header.split() == ["rank", "loss", "difference", "verdict"]
    assert [line.split("  ")[0] for line in lines] == [
        *standing_of_mine.leaderboard.index
    ]
    [beside] = [text for text in lines if text.startswith("F-test")]
    assert beside.split()[-2:] == [f"{line['difference']:+.1f}", "inconclusive"]
    assert note.startswith("loss: difference from all features")
    n_before = len(store.keys())
    again = provlab.rank(
        RRQRSelector(7), results=results, name="mine", against=["F-test"]
    )
    assert len(TrialStore(results / "store").keys()) == n_before
    assert {*again.leaderboard.index} == {"all features", "F-test", "mine"}
    pages = read_pages(results / "rank" / "mine")
    assert not [page.problems for page in pages.values() if page.problems]
    assert not broken_links(results / "rank" / "mine", pages)
    text = pages[results / "rank" / "mine" / "index.html"].text
    assert "mine compared with each other method" in text
    assert "Strongest" in text
    assert "These domains are too few to show a difference." in text


def test_the_command_line_shows_where_a_selector_stands(small, results, capsys):
    assert main(["rank", "selector=rrqr", f"results={results}", "--name", "mine"]) == 0
    said = capsys.readouterr()
    assert "mine beside 3 other methods" in said.out
    assert said.out.startswith("These data cannot tell mine apart from all features")
    assert "by data set, the strongest first: " in said.out
    assert (
        main(
            ["rank", "selector=rrqr", f"results={results}", "--name", "mine", "--json"]
        )
        == 0
    )
    # NaN is no JSON
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {line["method"] for line in printed["leaderboard"]} == {*STORED, "mine"}
    assert {line["method"]: line["verdict"] for line in printed["pairs"]}[
        "F-test"
    ] == "inconclusive"
    assert {line["dataset"] for line in printed["sets"]} == {*SETS}
    assert Path(printed["page"]).is_file()


def test_a_class_without_another_name_is_called_by_its_own(small, results, capsys):
    assert (
        main(
            ["rank", "selector=any", f"selector._target_={RRQR}", f"results={results}"]
        )
        == 0
    )
    assert "RRQRSelector beside 3 other methods" in capsys.readouterr().out
    assert (results / "rank" / "RRQRSelector" / "index.html").is_file()
    # of the default one
    assert main(["rank", "selector.n_features_to_select=3", f"results={results}"]) == 1
    said = capsys.readouterr()
    # a table of failures says no more than the reason
    assert "beside 3 other methods" not in said.out
    reason = "ValueError: BSSSelector: expected n_features_to_select to be greater than the rank of X"
    assert f"BSSSelector failed and has no results there: {reason}" in said.out
    assert f"rank: BSSSelector failed on breast: {reason}" in said.err
    assert "8 of 8 cells failed" in said.err


class Halves(BaseSelector):
    """Selects half of what it is asked for, or raises."""

    algorithm_version = 1

    def __init__(self, n_features_to_select=4, *, raises=False):
        self.n_features_to_select = n_features_to_select
        self.raises = raises

    def _select(self, view, rng):
        if self.raises:
            raise KeyError("half \x1b[2J")
        return Selection.unweighted(np.arange(self.n_features_to_select // 2))


def test_a_selector_that_raises_has_no_number_but_a_reason(small, results):
    ranked = provlab.rank(Halves(raises=True), results=results, name="broken")
    line = ranked.leaderboard.loc["broken"]
    assert line[["sets", "failed", "reason"]].tolist() == [
        0,
        2,
        "KeyError: 'half \\x1b[2J'",
    ]
    assert line[["rank", "loss", "balanced_error", "win_rate", "worst"]].isna().all()
    assert {*ranked.pairs["verdict"]} == {"failed"}
    assert ranked.pairs["difference"].isna().all()
    assert ranked.failed
    page = read_pages(results / "rank" / "broken")[
        results / "rank" / "broken" / "index.html"
    ]
    assert not page.problems
    assert "broken failed and has no results there: KeyError: 'half" in page.text
    store = TrialStore(results / "store")
    trials = store.query().to_pandas()
    # one of each cell, and no more
    assert (trials["failure"].str.startswith("KeyError")).sum() == 8
    n_before = len(store.keys())
    provlab.rank(Halves(raises=True), results=results, name="broken")
    assert len(TrialStore(results / "store").keys()) == n_before


def test_fewer_features_than_asked_are_said(small, results):
    ranked = provlab.rank(Halves(), results=results, name="halves")
    assert ranked.problems[0] == (
        "halves selected fewer features than requested: requested 3, selected 1 on average; "
        "requested 10, selected 5 on average"
    )
    text = read_pages(results / "rank" / "halves")[
        results / "rank" / "halves" / "index.html"
    ].text
    assert ranked.problems[0] in text
    assert not ranked.failed


def test_variants_are_counted_and_said(small, tmp_path):
    # a repeated one, and another size, are no other variants
    for number in (1, 1, 2, 3):
        ranked = provlab.rank(
            RRQRSelector(number, completion="norm"),
            results=tmp_path,
            name=f"mine {number}",
        )
    assert (ranked.submission.n_variants, ranked.problems) == (1, [])
    ranked = provlab.rank(RRQRSelector(2), results=tmp_path, name="again")
    assert ranked.submission.n_variants == 2
    assert ranked.problems[0].startswith(
        "2 variants were ranked from this results folder, see rank/variants.csv. "
    )
    listed = pd.read_csv(tmp_path / "rank" / "variants.csv")
    assert listed["name"].tolist() == ["mine 1", "again"]


@pytest.fixture
def exported(small, tmp_path):
    """Return a ranked method in a file, and the folder of the stored panel, of which only a copy is written."""
    path = tmp_path / "mine.parquet"
    arguments = [
        "selector=any",
        f"selector._target_={RRQR}",
        "--name",
        "mine",
        "--export",
        str(path),
    ]
    assert main(["rank", *arguments, f"results={tmp_path}"]) == 0
    folder = tmp_path / "panel"
    shutil.copytree(panels.stored_folder(), folder)
    return path, folder


def test_an_exported_method_is_audited_and_added(
    exported, tmp_path, monkeypatch, capsys
):
    path, folder = exported
    original = panels.stored_folder()
    assert (
        main(
            [
                "audit",
                "--panel",
                str(path),
                "--fraction",
                "1",
                "--results",
                str(tmp_path),
                "executor=serial",
            ]
        )
        == 0
    )
    audited = capsys.readouterr().out
    # data sets, sizes, judges, folds
    assert re.search(r"identical +│ +24 ", audited), audited
    monkeypatch.setattr(panels, "stored_folder", lambda: folder)
    assert main(["panel", "--add", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "added 24 trials of mine on 2 data sets; its author ranked 1 variants."
    )
    entry = yaml.safe_load(said.partition("methods.yaml:\n")[2])["mine"]
    method = read_as(PanelMethod, entry, "entry")
    assert method == submission.read_submission(path).method
    for name in SETS:
        cells = panel_cells(
            {**{name: panel_methods()[name] for name in STORED}, "mine": method},
            {name: SETS[name]},
        )
        assert not stored_panel.not_stored(name, cells, folder)
        now = pd.read_parquet(file_of(name, folder))
        others = now[now["method"] != "mine"].reset_index(drop=True)
        pd.testing.assert_frame_equal(others, pd.read_parquet(file_of(name, original)))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda mine: mine._replace(name="F-test"),
            "expected a method that the panel does not have, got 'F-test'",
        ),
        (
            lambda mine: mine._replace(trials=mine.trials[1:]),
            r"got none or too few of 3 features of breast by ",
        ),
        (
            lambda mine: mine._replace(trials=mine.trials.query("dataset == 'shift'")),
            "rank the method with --panel",
        ),
        (
            lambda mine: mine._replace(
                trials=pd.concat([mine.trials, mine.trials[:1].assign(cell="0" * 12)])
            ),
            "expected trials that the panel plans for mine, got 1 others, such as cell 000000000000 of breast",
        ),
    ],
)
def test_a_method_that_the_panel_does_not_expect_is_not_added(change, match, exported):
    path, folder = exported
    before = files_of(folder)
    with pytest.raises(ValueError, match=match):
        change(submission.read_submission(path)).add_to(folder)
    assert files_of(folder) == before


def test_what_is_no_exported_method_is_refused(small, tmp_path, capsys):
    stored = file_of("shift", panels.stored_folder())
    with pytest.raises(
        ValueError,
        match=r"shift\.parquet: expected a file written by provsel rank --export",
    ):
        submission.read_submission(stored)
    own = submission.Submission(
        "mine",
        PanelMethod(("selector=any", "selector._target_=__main__.Mine")),
        1,
        small,
    )
    with pytest.raises(
        ValueError,
        match=r"expected a file name that ends in \.parquet .* got mine\.csv",
    ):
        own.write("mine.csv")
    with pytest.raises(
        ValueError, match=r"a module that others can import, got __main__\.Mine"
    ):
        own.write(tmp_path / "mine.parquet")
    arguments = [
        "rank",
        "dataset=bundled",
        "--export",
        "mine.parquet",
        f"results={tmp_path}",
    ]
    assert main(arguments) == 2
    assert "expected --export without a data set" in capsys.readouterr().err
    assert (
        main(
            [
                "rank",
                "selector=rrqr",
                "--export",
                "mine.csv",
                f"results={tmp_path / 'none'}",
            ]
        )
        == 2
    )
    assert "expected a file name that ends in .parquet" in capsys.readouterr().err
    assert not (tmp_path / "none").exists(), "it is refused before any trial"


def two_classes():
    """Return a table of noise, of which one column tells two classes."""
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 15))).add_prefix(
        "c"
    )
    frame.loc[30:, "c3"] += 3
    return frame.assign(y=np.repeat(["a", "b"], 30))


def written(folder, frame):
    """Write a data set of one's own, and return the settings that choose it."""
    frame.to_csv(folder / "own.csv", index=False)
    return ["dataset=file", f"dataset.path={folder / 'own.csv'}", "dataset.target=y"]


def test_methods_are_ranked_on_other_data(small, results, tmp_path, capsys):
    command = [
        "rank",
        *written(tmp_path, two_classes()),
        f"results={results}",
        "--against",
        "F-test",
        "--against",
        "random",
    ]
    assert main(command) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "3 methods on own" in said
    assert said.startswith("F-test has the least balanced error: ")
    assert said.index("; all features: ") < said.index("3 methods on own")
    assert "In the benchmark: mean rank on" in said
    assert "panel" not in said, "the page calls it the benchmark"
    assert main([*command, "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["leaderboard"]
    assert [
        (line["method"], line["difference"])
        for line in lines
        if line["difference"] == 0
    ] == [("all features", 0)]
    page = read_pages(results / "rank" / "own")[results / "rank" / "own" / "index.html"]
    assert not page.problems
    assert page.text.index("F-test") < page.text.index("random")
    assert "Rank in the benchmark" in page.text
    assert size_words(1, 3) in page.text
    assert [
        path.parent.parent.name for path in (results / "runs").glob("*/run.json")
    ] == ["runs"]


def test_a_selector_is_ranked_among_the_others_on_other_data(
    small, results, tmp_path, capsys
):
    command = [
        "rank",
        *written(tmp_path, two_classes()),
        f"results={results}",
        "--against",
        "f_test",
        "--json",
    ]
    assert (
        main([*command, "selector=any", f"selector._target_={RRQR}", "--name", "mine"])
        == 0
    )
    lines = {
        line["method"]: line
        for line in json.loads(capsys.readouterr().out)["leaderboard"]
    }
    assert lines.keys() == {"all features", "F-test", "mine"}
    assert lines["F-test"]["rank"] < lines["mine"]["rank"]
    page = read_pages(results / "rank" / "own")[results / "rank" / "own" / "index.html"]
    assert re.search(r"mine\s+yours", page.text)
    assert (
        main([*command, "selector=bss", "+selector.rank=20", "--name", "broken"]) == 1
    )
    said = capsys.readouterr()
    assert "rank: broken failed on own: ValueError: BSSSelector: " in said.err


def test_methods_are_ranked_on_a_target_of_numbers(small, results, tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 15))).add_prefix("c")
    frame["y"] = 3 * frame["c3"] + 0.3 * rng.standard_normal(60)
    command = [
        "rank",
        *written(tmp_path, frame),
        f"results={results}",
        "--against",
        "mRMR",
        "--against",
        "uniform",
    ]
    assert main([*command, "selector=rfe", "--json"]) == 0
    lines = {
        line["method"]: line
        for line in json.loads(capsys.readouterr().out)["leaderboard"]
    }
    assert lines.keys() == {"all features", "mRMR", "random", "rfe"}
    errors = {method: line["unexplained_variance"] for method, line in lines.items()}
    assert max(errors["mRMR"], errors["rfe"]) < 40 < errors["random"]
    stored = TrialStore(results / "store").read(["r2", "selector"]).to_pandas().dropna()
    r2 = stored.loc[stored["selector"] == "SVMRFESelector", "r2"]
    assert errors["rfe"] == pytest.approx(100 * (1 - r2.mean()), abs=5e-3)
    page = read_pages(results / "rank" / "own")[results / "rank" / "own" / "index.html"]
    assert not page.problems
    assert "Unexplained variance (%)" in page.text
    assert "Unexplained variance minus that of all features" in page.text
    assert "alanced error" not in page.text
    assert main([*command, "--against", "chi2"]) == 2
    assert (
        "rank: chi-squared: this method needs classes, but the target is numeric"
        in capsys.readouterr().err
    )


def test_features_of_text_columns_have_their_names(small, tmp_path):
    """Columns that a fold makes have names of their own: those of the file are not as many."""
    rng = np.random.default_rng(0)
    frame = (
        pd.DataFrame(rng.standard_normal((60, 3)))
        .add_prefix("c")
        .assign(y=np.repeat(["a", "b"], 30))
    )
    frame["colour"] = np.where(
        frame["y"] == "a", "red", rng.choice(["green", "blue"], 60)
    )
    assert (
        main(
            [
                "rank",
                *written(tmp_path, frame),
                f"results={tmp_path / 'results'}",
                "--against",
                "F-test",
            ]
        )
        == 0
    )
    trials = (
        TrialStore(tmp_path / "results" / "store")
        .read(["features", "feature_names"])
        .to_pylist()
    )
    named = [
        (len(trial["features"]), trial["feature_names"])
        for trial in trials
        if trial["features"]
    ]
    assert named
    for n_selected, names in named:
        assert len(names) == n_selected
        assert "colour_red" in names


def test_methods_on_other_data_are_those_that_are_installed(small, monkeypatch):
    chosen, missing = rank_on_data.chosen_methods()
    assert {*chosen} == {*STORED}
    assert missing == []

    def none(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", none)
    assert {*rank_on_data.chosen_methods()[0]} == {*STORED}  # of provsel
    with pytest.raises(
        ValueError,
        match=r"fastcan: expected the package fastcan, got none; .* -m pip install .*benchmark",
    ):
        rank_on_data.chosen_methods(["random", "fastcan"])


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(chi2, k=5),
        RFE(
            RandomForestClassifier(
                n_estimators=3, max_depth=4, class_weight="balanced"
            ),
            step=0.25,
        ),
        SelectFromModel(
            RandomForestClassifier(criterion="it's", random_state=1),
            threshold="1.25*median",
        ),
    ],
)
def test_a_selector_in_hand_is_chosen_with_its_arguments(selector):
    with estimators_in_hand():
        config = as_config(selector)
        method = standing.method_in_hand(selector)
        composed = compose_config(method.overrides(12))["selector"]
    size = next(
        name
        for name in ("k", "n_features_to_select", "max_features")
        if name in selector.get_params()
    )
    assert composed == {**config, size: 12}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("my_study.LargestVariance", "LargestVariance"),
        ("skrebate.relieff.ReliefF", "ReliefF of skrebate"),
    ],
)
def test_a_class_named_as_a_method_of_the_panel_is_told_apart(path, name):
    assert standing.name_of_class(path) == name
    standing.check_name(name)


def test_all_features_are_weighted_by_judge_as_the_methods_are():
    """Linear has two sizes and boosting one; the errors of all features by judge are 10 and 40 %."""
    lines = [
        (fold, method, judge, size, accuracy)
        for fold in range(3)
        for method, judge, size, accuracy in (
            ("F-test", "linear", 5, 0.9), ("F-test", "linear", 10, 0.9), ("F-test", "boosting", 5, 0.6),
            ("all", "linear", ALL_FEATURES, 0.9), ("all", "boosting", ALL_FEATURES, 0.6),
        )
    ]  # fmt: skip
    columns = ["fold", "method", "model", "size", "balanced_accuracy"]
    trials = pd.DataFrame(lines, columns=columns).assign(repeat=0)
    values = rank_on_data._fold_errors(trials, [], 0.25).values
    assert np.allclose(values["all"], 20)
    assert np.allclose(values["F-test"], 20)


def test_what_cannot_be_ranked_is_refused(small, results):
    for arguments, match in (
        ((RRQRSelector,), "expected an unfitted selector, got <class"),
        (
            (RRQRSelector(3), "F-test"),
            "expected a name that no method of the panel has, got 'F-test'",
        ),
    ):
        with pytest.raises(ValueError, match=match):
            provlab.rank(arguments[0], name="".join(arguments[1:]), results=results)
    with pytest.raises(
        ValueError,
        match="task: expected one of classification, regression, got 'numbers'",
    ):
        provlab.rank(RRQRSelector(3), task="numbers", results=results)
    with pytest.raises(
        ValueError,
        match="expected stored results of the quick panel, got none; provsel panel",
    ):
        provlab.rank(RRQRSelector(3), task="regression", results=results)
    with pytest.raises(ValueError, match="expected one of quick, full, got 'whole'"):
        provlab.rank(RRQRSelector(3), panel="whole", results=results)
    with pytest.raises(
        ValueError, match=r"expected a method of the panel .* got 'F-tset'"
    ):
        provlab.rank(RRQRSelector(3), against=["F-tset"], results=results)


@pytest.mark.parametrize(
    ("arguments", "got"),
    [
        ([], "got neither"),
        (["selector=rrqr", "model=libsvm"], "got model=libsvm"),
    ],
)
def test_the_command_line_says_what_it_takes(arguments, got, capsys):
    assert main(["rank", *arguments]) == 2
    assert got in capsys.readouterr().err


def test_more_rows_than_methods_end_on_are_refused(tmp_path, capsys):
    rows = np.random.default_rng(0).standard_normal((MANY_ROWS + 2, 2))
    data = written(
        tmp_path,
        pd.DataFrame(rows).add_prefix("c").assign(y=["a", "b"] * (MANY_ROWS // 2 + 1)),
    )
    assert main(["rank", *data, f"results={tmp_path}"]) == 2
    said = capsys.readouterr().err
    assert (
        f"rank: expected at most {MANY_ROWS:,} rows, because more rows can take hours"
        in said
    )
    assert "+dataset.sample_rows=5000" in said
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("message", "target", "settings"),
    [
        (
            r"expected at least .* \d rows of each class, got 1 of class 'a'; leave out",
            ["a"] + ["b"] * 59,
            [],
        ),
        (
            r"expected at least .* \d groups, got 2; lower",
            ["a", "b"] * 30,
            ["dataset.groups=c0"],
        ),
    ],
)
def test_what_the_benchmark_does_not_measure_is_refused_before_the_run(
    message, target, settings, tmp_path, capsys
):
    data = written(
        tmp_path, pd.DataFrame(np.eye(60, 7)).add_prefix("c").assign(y=target)
    )
    assert main(["rank", *data, *settings, f"results={tmp_path}"]) == 2
    assert re.search(
        f"nothing was computed: data set own: {message}", capsys.readouterr().err
    )
    assert not (tmp_path / "store").exists()
