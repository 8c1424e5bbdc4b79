"""An audit computes stored trials again from their records alone: the same bits, and whatever is wrong is found."""

import json
import logging
import math
import re
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provlab.cli import INTERRUPTED
from provlab.core.keys import trial_key
from provlab.core.plan import identity_of
from provlab.core.store import SCHEMA, TrialStore
from provlab.custody.agreement import CLOSE, DIFFERENT, IDENTICAL, differences, outcomes
from provlab.custody.audit import CELLS_AT_ONCE, run_audit
from provlab.custody.audit_runs import read_audits
from provlab.project.documents import canonical_json, digest
from provlab.run.task import ClusterError
from provsel.selectors import LeverageScoreSelector
from small_runs import BSS, FULL, LEVERAGE, UNIFORM, files_of, run_quietly, small_cell

SERIAL = {"name": "serial"}
KMEANS = {"_target_": "provsel.models.KMeansClustering", "n_clusters": None}
COMPRESSED = {
    "_target_": "provsel.models.CompressedLinearSVM",
    "n_components": 30,
    "variance": "1/l",
}
ONLINE = {
    "_target_": "provsel.selectors.OnlineLeverageSelector",
    "n_features_to_select": 15,
}
LAPLACIAN = {
    "_target_": "provsel.selectors.LaplacianScoreSelector",
    "n_features_to_select": 15,
}
AT_SIZE = {
    "_target_": "provsel.selectors.AtSize",
    "selector": {"_target_": "provsel.selectors.L1SVMSelector", "C": 1.0},
    "n_features_to_select": 2,
    "parameter": "C",
    "low": 1e-3,
    "high": 10.0,
}
WHOLE = {"n_splits": 1, "repeats": 2, "draws": 2, "setting": "unsupervised"}
HALF = {
    "_target_": "provsel.selectors.LeverageScoreSelector",
    "n_features_to_select": 20,
}
ELSEWHERE = '{"machine":"another"}'


def cells_of_all_kinds():
    return [
        *(
            small_cell(selector, repeats=2)
            for selector in (BSS, UNIFORM, LEVERAGE, FULL)
        ),
        *(
            small_cell(selector, setting="unsupervised")
            for selector in (LEVERAGE, FULL, AT_SIZE)
        ),
        small_cell(UNIFORM, setting="unsupervised_with_center"),
        small_cell(FULL, model=COMPRESSED, setting="unsupervised"),
        *(
            small_cell(selector, model=KMEANS, **WHOLE, split="all_rows")
            for selector in (UNIFORM, LAPLACIAN)
        ),
        *(
            small_cell(selector, **WHOLE, split="selection_only")
            for selector in (ONLINE, LAPLACIAN)
        ),
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Results with trials of every kind; only audits are added."""
    results = tmp_path_factory.mktemp("whole")
    report, _ = run_quietly(cells_of_all_kinds(), TrialStore(results / "store"))
    assert report.failures == []
    return results


@pytest.fixture(scope="module")
def one_cell(tmp_path_factory):
    results = tmp_path_factory.mktemp("made")
    run_quietly([small_cell(HALF, draws=1, seed=2)], TrialStore(results / "store"))
    return results


@pytest.fixture
def results(one_cell, tmp_path):
    """Results with the three trials of one cell, to be tampered with."""
    shutil.copytree(one_cell / "store", tmp_path / "results" / "store")
    return tmp_path / "results"


def audit(results, **options):
    options = {"fraction": 1.0, "executor": SERIAL, **options}
    return run_audit(results, **options)[0]


def records(results):
    return TrialStore(results / "store").query().to_pylist()


def rewrite(results, change, columns=SCHEMA.names, name="tampered.parquet"):
    """Let `change` work on the list of records, and make one file of them."""
    lines = records(results)
    change(lines)
    for path in (results / "store").glob("*.parquet"):
        path.unlink()
    pq.write_table(
        pa.Table.from_pylist(lines, schema=SCHEMA).select(list(columns)),
        results / "store" / name,
    )


def forged(record, **changes):
    """Return a record with another identity that is true to itself: key and cell follow from it."""
    config = canonical_json({**json.loads(record["config"]), **changes})
    key = trial_key(config, record["repeat"], record["fold"], record["draw"])
    return {**record, "config": config, "key": key, "cell": digest(json.loads(config))}


def differing(run):
    return {column for _, columns in run.different for column, *_ in columns}


def next_float(value):
    return math.nextafter(value, math.inf)


def test_everything_is_identical_and_counted_by_cell(whole):
    run = audit(whole)
    planned = {cell.id: cell.n_trials for cell in cells_of_all_kinds()}
    assert (
        run.count(IDENTICAL)
        == run.n_stored
        == run.n_drawn
        == len(run.trials)
        == sum(planned.values())
    )
    assert Counter(run.trials["cell"]) == planned
    assert run.trials["same_environment"].all()
    assert not run.trials["not_compared"].any()
    assert run.skipped == {}
    assert run.different == []
    assert run.digits is None


@pytest.mark.parametrize("executor", [SERIAL, {"name": "loky", "n_jobs": 2}])
def test_a_drawn_subset_has_the_bits_of_the_whole_run(whole, executor):
    run = audit(whole, fraction=0.4, seed=5, executor=executor)
    assert run.n_drawn == round(0.4 * run.n_stored) == run.count(IDENTICAL)
    first, again, of_other_seed = (
        audit(whole, limit=3, seed=seed).trials["key"].tolist() for seed in (1, 1, 2)
    )
    assert first == again != of_other_seed


def test_folds_are_drawn_whole_but_for_one(whole):
    place = ["data", "repeat", "fold"]
    stored = TrialStore(whole / "store").query(columns=["key", *place]).to_pandas()
    everything = stored.groupby(place).size()
    drawn_at_all = set()
    for seed in range(6):
        run = audit(whole, fraction=0.3, seed=seed)
        drawn = stored[stored["key"].isin(run.trials["key"])].groupby(place).size()
        assert (drawn < everything.loc[drawn.index]).sum() <= 1
        drawn_at_all |= {*drawn.index}
    assert drawn_at_all == {*everything.index}


@pytest.mark.parametrize(
    ("column", "change", "differing_column"),
    [
        ("error", next_float, "error"),
        ("objective", lambda value: 0.25, "objective"),
        ("nmi", lambda value: float("nan"), "nmi"),  # null before
        # NaN before
        ("certificate_score_sum", lambda value: None, "certificate_score_sum"),
        (
            "certificate_spectral_bound",
            lambda value: None,
            "certificate_spectral_bound",
        ),
        ("seed", lambda value: value + 1, "seed"),
        ("features", lambda value: [*value[:7], value[7] + 1, *value[8:]], "features"),
        ("config", lambda value: value.replace('"C":1.0', '"C":2.0'), "key"),
        ("draw", lambda value: 1, "key"),
        ("cell", lambda value: "0" * 64, "cell"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_one_value_that_is_not_the_same_is_found(
    results, column, change, differing_column
):
    before = records(results)[1]
    assert change(before[column]) != before[column]
    rewrite(results, lambda lines: lines[1].update({column: change(lines[1][column])}))
    run = audit(results)
    assert run.count(IDENTICAL) == 2
    assert run.count(DIFFERENT) == 1
    assert run.skipped == {}
    [(where, [(name, stored, now)])] = run.different
    assert name == differing_column
    assert before["key"][:12] in where
    assert stored != now
    if column == "features":
        features = before["features"]
        assert stored == f"{len(features)} values, at 7: {features[7] + 1}"
        assert now == f"{len(features)} values, at 7: {features[7]}"


def test_compared_values():
    cases = [
        (0.0, -0.0, DIFFERENT, CLOSE),
        (float("nan"), float("nan"), IDENTICAL, IDENTICAL),
        (float("inf"), float("inf"), IDENTICAL, IDENTICAL),
        (float("inf"), 1e300, DIFFERENT, DIFFERENT),
        (float("nan"), 1.0, DIFFERENT, DIFFERENT),
        (float("nan"), None, DIFFERENT, DIFFERENT),
        (0.0, 9e-10, DIFFERENT, CLOSE),
        (0.0, 1.1e-9, DIFFERENT, DIFFERENT),
        (1e6, 1e6 + 0.9, DIFFERENT, CLOSE),
        (1e6, 1e6 + 1.1, DIFFERENT, DIFFERENT),
        (None, 0.0, DIFFERENT, DIFFERENT),
        (None, None, IDENTICAL, IDENTICAL),
    ]
    cases += [(second, first, *expected) for first, second, *expected in cases]
    for place, expected in (("{}", 2), (ELSEWHERE, 3), (None, 3)):
        tables = []
        for side, environment in ((0, place), (1, "{}")):
            records_of_side = [
                {"error": case[side], "environment": environment} for case in cases
            ]
            tables.append(pa.Table.from_pylist(records_of_side, schema=SCHEMA))
        outcome_of = outcomes(*tables, differences(*tables, ["error"]))
        assert outcome_of.tolist() == [case[expected] for case in cases]


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (
            {
                "select_cpu": lambda _: 1e9,
                "train_wall": lambda _: None,
                "peak_memory": lambda _: 5,
            },
            IDENTICAL,
        ),
        ({"error": next_float, "certificate_soft_value": next_float}, CLOSE),
        ({"error": lambda value: value * (1 + 1e-5)}, DIFFERENT),
        ({"features": lambda value: value[::-1]}, DIFFERENT),
        ({"seed": lambda value: value + 1}, DIFFERENT),
    ],
    # a function has no name that lasts
    ids=lambda case: "-".join(case) if isinstance(case, dict) else case,
)
def test_in_another_environment_floats_agree_to_the_stated_digits(
    results, change, outcome
):
    def apply(lines):
        for line in lines:
            # neither is compared
            line.update(environment=ELSEWHERE, git_revision="0" * 40)
        [line, *_] = (line for line in lines if line["error"] > 0)
        for column, function in change.items():
            line[column] = function(line[column])

    rewrite(results, apply)
    run = audit(results)
    expected = {IDENTICAL: 2, CLOSE: 0, DIFFERENT: 0}
    expected[outcome] += 1
    assert {name: run.count(name) for name in expected} == expected
    assert not run.trials["same_environment"].any()
    expected = set() if outcome == IDENTICAL else set(change)
    assert {
        column for columns in run.trials["differences"] for column, *_ in columns
    } == expected


def test_columns_that_an_older_file_lacks_are_not_compared(one_cell, results):
    lacking = ["certificate_spectral", "sampling_rate", "n_rows"]
    rewrite(
        results,
        lambda lines: None,
        [name for name in SCHEMA.names if name not in lacking],
    )
    run = audit(results)
    assert run.count(IDENTICAL) == 3
    # a sampling rate is not measured here: nothing was left uncompared
    assert {tuple(sorted(columns)) for columns in run.trials["not_compared"]} == {
        ("certificate_spectral", "n_rows")
    }

    def older(lines):
        for line in lines[:2]:
            line.update(git_revision="older", n_rows=None, certificate_soft=None)

    shutil.rmtree(results / "store")
    shutil.copytree(one_cell / "store", results / "store")
    rewrite(results, older)
    run = audit(results)
    assert run.count(IDENTICAL) == 3
    assert sorted(map(len, run.trials["not_compared"])) == [0, 2, 2]
    # a null where the same revision wrote values elsewhere was no missing column
    rewrite(results, lambda lines: lines[0].update(n_rows=5))
    assert differing(audit(results)) == {"n_rows"}
    assert audit(results).count(DIFFERENT) == 2


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"dataset": {"name": "dexter"}, "data": identity_of({"name": "dexter"})},
            "the data are missing: provsel fetch dexter",
        ),
        (
            {"dataset": {"name": "dexter"}},
            "not accepted now: ValueError: the data set dexter has another identity now",
        ),
        ({"dataset": {"name": "gone"}}, "not accepted now: ValueError: "),
        (
            {"data": "0" * 64},
            "not accepted now: ValueError: the data set synthetic has another identity now",
        ),
        (
            {
                "selector": {
                    "name": "GoneSelector",
                    "algorithm_version": 1,
                    "arguments": {},
                }
            },
            "not accepted now: ValueError: the class GoneSelector no longer exists",
        ),
        (
            {
                "selector": {
                    "name": "LeverageScoreSelector",
                    "algorithm_version": 99,
                    "arguments": {},
                }
            },
            "not accepted now: ValueError: this config now gives another key: config.selector.algorithm_version was "
            "99,",
        ),
        (
            {
                "selector": {
                    "name": "UniformSelector",
                    "algorithm_version": 1,
                    "arguments": {"gone": 1},
                }
            },
            "not accepted now: ValueError: config of the selector UniformSelector: expected arguments",
        ),
        (
            {"protocol": {"split": "kfold"}},
            "not accepted now: ValueError: protocol: expected certify, n_sp",
        ),
        ({"selector": [1, 2]}, "not accepted now: AttributeError"),
        ({"note": "more"}, "not accepted now: TypeError"),
        ({"fold": 3}, "the config has no such trial: its fold or draw is out of range"),
    ],
    ids=repr,
)
def test_what_cannot_be_computed_again_is_skipped_with_a_reason(
    results, no_data, changes, reason
):
    def change(lines):
        place = {
            name: changes.get(name, lines[0][name])
            for name in ("repeat", "fold", "draw")
        }
        lines[0] = forged(
            {**lines[0], **place},
            **{name: changes[name] for name in changes.keys() - place.keys()},
        )

    rewrite(results, change)
    run = audit(results)
    assert run.count(IDENTICAL) == 2
    assert run.count(DIFFERENT) == 0
    [(said, number)] = run.skipped.items()
    assert number == 1
    assert said[: len(reason)] == reason
    assert len(said) <= 200


def broken_at(calls, reason, monkeypatch):
    """Let the selection fail at some calls of this process, counted from 1."""
    count = iter(range(1, 1000))

    def broken(self, view, rng):
        if next(count) in calls:
            raise reason
        return select(self, view, rng)

    select = LeverageScoreSelector._select
    monkeypatch.setattr(LeverageScoreSelector, "_select", broken)


def test_a_trial_that_fails_now_is_a_difference(results, monkeypatch):
    broken_at([2], ValueError("out of order"), monkeypatch)
    run = audit(results)
    assert run.count(IDENTICAL) == 2
    assert run.count(DIFFERENT) == 1
    assert run.different[0][1] == [
        ("fails now", "a record", "ValueError: out of order")
    ]


@pytest.fixture
def command(one_cell, call):
    """Return a function: run `provsel audit` with arguments; returns its status, output and messages."""
    return lambda *arguments, at=one_cell: call(
        "audit", "--results", str(at), "executor=serial", *arguments
    )


def changed(results, folder, change):
    """Return results where `change` has given the records, of which it gets number and values, others."""
    TrialStore(folder / "store").append(
        [change(k, record) for k, record in enumerate(records(results))]
    )
    return folder


CELLS = ("aaaaaaaa" + "0" * 56, "aaaaaaaa" + "1" * 56, "bbbbbbbb" + "2" * 56)


@pytest.fixture(scope="module")
def blank(tmp_path_factory):
    """Results with thirty keys of three cells."""
    results = tmp_path_factory.mktemp("blank")
    TrialStore(results / "store").append(
        [{"key": f"{k:064x}", "cell": CELLS[k % 3]} for k in range(30)]
    )
    return results


@pytest.mark.parametrize(
    ("options", "n_drawn"),
    [
        ({"fraction": None}, 1),
        ({"fraction": 0.5}, 15),
        ({"fraction": 1.0, "limit": 7}, 7),
        ({"fraction": 0.1, "limit": 7}, 3),
        ({"fraction": None, "cell": "BBBBBBBB22"}, 10),
        ({"fraction": 0.3, "cell": CELLS[0]}, 3),
        ({"fraction": None, "cell": CELLS[0], "limit": 2}, 2),
    ],
    ids=str,
)
def test_number_of_drawn_trials(blank, options, n_drawn):
    run = audit(blank, seed=0, **options)
    assert run.n_drawn == n_drawn
    assert run.n_stored == 30
    assert sum(run.skipped.values()) == n_drawn
    assert run.cell in ({*CELLS} if "cell" in options else {""})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"fraction": 0.0},
            r"expected a fraction above 0 and up to 1, got 0\.0; use --fraction 0\.01",
        ),
        (
            {"fraction": float("nan")},
            "expected a fraction above 0 and up to 1, got nan",
        ),
        ({"limit": 0}, "expected a limit of at least 1 trial, got 0; omit --limit"),
        ({"seed": -1}, "expected a seed of at least 0, got -1; omit --seed"),
        (
            {"cell": "aaaa"},
            "expected the first 8 or more hex digits of a cell, got 'aaaa'; copy them",
        ),
        (
            {"cell": "aaaaaaaa"},
            f"expected one cell .* got 2, such as {CELLS[0]} and {CELLS[1]}; give more digits",
        ),
        ({"cell": "cccccccc"}, "no stored cell begins with cccccccc"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn(blank, options, message):
    with pytest.raises(ValueError, match=f"^audit: {message}"):
        audit(blank, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--results", "none"],
            r"audit: .*no trials are stored in none.store; compute some by provsel reproduce",
        ),
        (
            ["protocol.repeats=1"],
            "audit: expected settings of the executor, .*got 'protocol.repeats=1'; stored trials",
        ),
        # what an option says about trials that are not audited is not passed over
        (
            ["--method", "chi2"],
            r"--method works only with --panel, got 'chi2' alone; add --panel",
        ),
        (
            ["--panel", "--readings", "results"],
            "argument --readings: not allowed with argument --panel",
        ),
    ],
)
def test_bad_input_is_one_message(command, arguments, message):
    status, out, error = command(*arguments)
    assert status == 2
    assert out == ""
    assert re.search(message, error)
    assert not Path("none").exists()


def test_a_measure_that_only_some_cells_have_is_no_obstacle(tmp_path):
    """The records of so many cells are not read at once."""
    keys = [f"{k:064x}" for k in range(CELLS_AT_ONCE + 1)]
    TrialStore(tmp_path / "store").append(
        [{"key": keys[0], "cell": keys[0], "mine": 0.5}]
    )
    TrialStore(tmp_path / "store").append(
        [{"key": key, "cell": key} for key in keys[1:]]
    )
    assert sum(audit(tmp_path).skipped.values()) == len(keys)


def test_identical_trials(command, results):
    before = files_of(results / "store")
    status, out, _ = command("--fraction", "0.7", "--seed", "4", at=results)
    assert status == 0
    assert re.search(r"drawn +│ 2 +│ of 3 stored, with seed 4", out)
    assert re.search(r"identical +│ 2 ", out)
    assert re.search(r"different +│ 0 ", out)
    assert "2 of 2 were stored by these versions on this kind of machine" in out
    assert "another environment" not in out
    assert re.search(
        r"written: \S+audits/\d{8}T\d{6}\.\d{6}Z-4\.json$", out, re.MULTILINE
    )
    assert files_of(results / "store") == before
    [run] = read_audits(results)
    assert run.seed == 4
    assert run.fraction == 0.7
    assert run.n_stored == 3
    assert run.n_drawn == 2
    assert run.agreement.empty
    assert command("--fraction", "0.5", "--strict")[0] == 0


def test_differences_are_lines_and_foreign_text_is_shown_as_text(
    command, one_cell, tmp_path
):
    foreign = "[red]x[/] \x1b[31m\r<script>"
    folder = changed(
        one_cell,
        tmp_path,
        lambda k, record: {**record, "n_rows": 999, "error": 5.0, "dataset": foreign},
    )
    status, out, _ = command("--fraction", "1", at=folder)
    assert status == 1
    assert re.search(r"different +│ 3 +│ neither; listed below", out)
    assert "\x1b" not in out
    shown = re.escape(
        r"[red]x[/] \x1b[31m\r<script> LeverageScoreSelector, repeat 0, fold "
    )
    assert (
        len(
            re.findall(
                rf"^{shown}\d, draw 0 \[\w{{12}}\]: n_rows: stored 999, now \d+$",
                out,
                re.MULTILINE,
            )
        )
        == 3
    )


@pytest.mark.parametrize(
    ("change", "strict", "line"),
    [
        # the same bits, wherever they are from
        ({"environment": "{}"}, 0, r"identical +│ 3 "),
        ({"environment": "{}", "error": 1e-12}, 1, r"close +│ 3 "),
        (
            {"config": None, "environment": None},
            1,
            r"skipped +│ 3 +│ the record has no config",
        ),
    ],
    ids=str,
)
def test_strict_asks_for_the_same_bits_of_all(
    command, one_cell, tmp_path, change, strict, line
):
    more = change.pop("error", 0)
    folder = changed(
        one_cell,
        tmp_path,
        lambda k, record: {**record, "error": record["error"] + more, **change},
    )
    status, out, _ = command("--fraction", "1", at=folder)
    assert status == 0
    assert re.search(line, out)
    assert command("--fraction", "1", "--strict", at=folder)[0] == strict


LOST = ClusterError("executor: lost the scheduler at tcp://there")


@pytest.mark.parametrize(
    ("reason", "expected"), [(KeyboardInterrupt(), INTERRUPTED), (LOST, 2)]
)
def test_an_interrupt_keeps_what_was_compared(
    command, results, monkeypatch, reason, expected
):
    """A cluster that is lost says no more about the trials than a user who stops."""
    broken_at([3], reason, monkeypatch)
    status, _, error = command("--fraction", "1", "--seed", "3", at=results)
    assert status == expected
    assert str(reason) in error
    assert "interrupted: 2 of 3 drawn trials were compared, see " in error
    assert "--seed 3 draws the same trials again" in error
    [run] = read_audits(results)
    assert run.interrupted
    assert run.n_drawn == 3
    assert run.count(IDENTICAL) == 2


def test_the_file_of_an_audit_comes_back_as_it_was(one_cell, tmp_path):
    folder = changed(
        one_cell,
        tmp_path,
        lambda k, record: {**record, "n_rows": 999, "environment": "{}"},
    )
    TrialStore(folder / "store").append([{"key": "f" * 64, "cell": "e" * 64}])
    run = audit(folder)
    assert run.different
    assert run.skipped
    [again] = read_audits(folder)
    assert again.different == run.different
    assert again.trials.equals(run.trials)
    assert again.agreement.equals(run.agreement)
    assert again.when == run.when
    assert again.skipped == run.skipped
    assert again.digits is None
    assert read_audits(tmp_path / "nothing") == []


def test_a_file_that_no_audit_wrote_is_left_out(results, caplog):
    audit(results)
    [path] = (results / "audits").glob("*.json")
    written = json.loads(path.read_text())
    assert len(read_audits(results)) == 1
    wrong = {
        "when": "2001-02-03T04:05:06",
        "trials": [{**written["trials"][0], "outcome": "perfect"}],
        "note": "more",
    }
    others = [
        json.dumps({**written, name: value}).encode() for name, value in wrong.items()
    ]
    for text in (*others, b"", b"[" * 100_000, b"\xff\xfe\x00"):
        path.write_bytes(text)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert read_audits(results) == [], text
        assert re.search(
            r"\.json: expected a file written by this version of provsel audit, .*; the file is "
            r"ignored",
            caplog.text,
        )
