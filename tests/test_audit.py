"""An audit computes stored trials again from their records alone: the same bits, and whatever is wrong is found."""

import io
import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from provlab.audit import CLOSE, DIFFERENT, IDENTICAL, compare, read_audits, run_audit, session
from provlab.audit.cells import cell_from
from provlab.identity.keys import canonical_json, digest, trial_key
from provlab.plan import identity_of, make_tasks
from provlab.project.components import REGISTRIES, registered
from provlab.site.collect import audited_cells
from provlab.store import SCHEMA, TrialStore
from provlab.trials import trial
from provsel.selectors import LeverageScoreSelector
from small_runs import BSS, FULL, LEVERAGE, UNIFORM, run_quietly, small_cell

SERIAL = {"name": "serial"}
KMEANS = {"_target_": "provsel.models.KMeansClustering", "n_clusters": None}
COMPRESSED = {"_target_": "provsel.models.CompressedLinearSVM", "n_components": 30, "variance": "1/l"}
ONLINE = {"_target_": "provsel.selectors.OnlineLeverageSelector", "n_features_to_select": 15}
LAPLACIAN = {"_target_": "provsel.selectors.LaplacianScoreSelector", "n_features_to_select": 15}
AT_SIZE = {
    "_target_": "provsel.selectors.AtSize",
    "selector": {"_target_": "provsel.selectors.L1SVMSelector", "C": 1.0},
    "n_features_to_select": 2,
    "parameter": "C",
    "low": 1e-3,
    "high": 10.0,
}
WHOLE = {"n_splits": 1, "repeats": 2, "draws": 2, "setting": "unsupervised"}
HALF = {"_target_": "provsel.selectors.LeverageScoreSelector", "n_features_to_select": 20}
ELSEWHERE = '{"machine":"another"}'


def cells_of_all_kinds():
    return [
        *(small_cell(selector, repeats=2) for selector in (BSS, UNIFORM, LEVERAGE, FULL)),
        *(small_cell(selector, setting="unsupervised") for selector in (LEVERAGE, FULL, AT_SIZE)),
        small_cell(UNIFORM, setting="unsupervised_with_center"),
        small_cell(FULL, model=COMPRESSED, setting="unsupervised"),
        *(small_cell(selector, model=KMEANS, **WHOLE, split="all_rows") for selector in (UNIFORM, LAPLACIAN)),
        *(small_cell(selector, **WHOLE, split="selection_only") for selector in (ONLINE, LAPLACIAN)),
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Results with trials of every kind; not written to but for ledgers."""
    results = tmp_path_factory.mktemp("whole")
    report, _ = run_quietly(cells_of_all_kinds(), TrialStore(results / "store"))
    assert report.failures == []
    return results


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    results = tmp_path_factory.mktemp("made")
    run_quietly([small_cell(HALF, draws=1, seed=2)], TrialStore(results / "store"))
    return results


@pytest.fixture
def results(made, tmp_path):
    """Results with the three trials of one cell, to be tampered with."""
    return Path(shutil.copytree(made, tmp_path / "results"))


def audit(results, **options):
    options = {"fraction": 1.0, "executor": SERIAL, "console": Console(file=io.StringIO()), **options}
    return run_audit(results, **options)[0]


def records(results):
    return TrialStore(results / "store").query().to_pylist()


def rewrite(results, change, columns=SCHEMA.names, name="tampered.parquet"):
    """Let `change` work on the list of records, and make one file of them."""
    lines = records(results)
    change(lines)
    for path in (results / "store").glob("*.parquet"):
        path.unlink()
    pq.write_table(pa.Table.from_pylist(lines, schema=SCHEMA).select(list(columns)), results / "store" / name)


def forged(record, **changes):
    """Return a record with another identity that is true to itself: key and cell follow from it."""
    config = canonical_json({**json.loads(record["config"]), **changes})
    key = trial_key(config, record["repeat"], record["fold"], record["draw"])
    return {**record, "config": config, "key": key, "cell": digest(json.loads(config))}


def differing(run):
    return {each.column for found in run.different for each in found.differences}


def next_float(value):
    return struct.unpack("<d", struct.pack("<q", struct.unpack("<q", struct.pack("<d", value))[0] + 1))[0]


def test_a_drawn_subset_has_the_bits_of_the_whole_run(whole):
    kinds = {"BSSSelector", "UniformSelector", "LeverageScoreSelector", "AtSize", "OnlineLeverageSelector"}
    runs = (audit(whole, fraction=0.4, seed=seed) for seed in range(5, 25))  # keys change with algorithms
    run = next(run for run in runs if kinds <= {each.selector for each in run.trials})
    assert run.n_stored == len(records(whole))
    assert run.n_drawn == round(0.4 * run.n_stored) == run.count(IDENTICAL) == len(run.trials)
    assert all(each.same_environment and not each.not_compared for each in run.trials)
    assert run.skipped == ()
    # there were mates: in the run, a fold's task held more than what was drawn of it
    drawn = {each.key for each in run.trials}
    tasks = [{each.key for each in task.trials} for task in make_tasks(cells_of_all_kinds())]
    assert any(drawn & task and task - drawn for task in tasks)


def test_everything_is_identical_and_counted_by_cell(whole):
    run = audit(whole)
    assert run.count(IDENTICAL) == run.n_stored == sum(cell.n_trials for cell in cells_of_all_kinds())
    assert run.by_cell() == {cell.id: (cell.n_trials, 0, 0) for cell in cells_of_all_kinds()}
    # a page shows those of the trials that its artefact plans
    fewer = [small_cell(selector, repeats=1, draws=1) for selector in (BSS, UNIFORM)]
    assert audited_cells([run, run], fewer) == {cell.id: (6, 0, 0) for cell in fewer}


def test_tasks_hold_exactly_the_drawn_trials(whole, monkeypatch):
    seen = []

    def watched(tasks, executor):
        seen.extend(tasks)
        return execute(tasks, executor)

    execute = session.execute
    monkeypatch.setattr(session, "execute", watched)
    run = audit(whole, fraction=0.3, seed=1)
    keys = [each.key for task in seen for each in task.trials]
    assert sorted(keys) == [each.key for each in run.trials]
    folds = [(task.data, task.split, task.repeat, task.fold) for task in seen if task.split == "kfold"]
    assert len(set(folds)) == len(folds)


def test_cells_come_back_from_their_configs():
    for cell in cells_of_all_kinds():
        again = cell_from(canonical_json(cell.identity))
        assert again.id == cell.id
        assert again.selector == cell.selector
        if cell.protocol["split"] != "selection_only":
            assert again.model == cell.model
    named = [name for kind in REGISTRIES for name in registered(kind)]
    assert len(named) == len({*named})  # a name alone says of which kind it is
    assert set(REGISTRIES) == {"selector", "model", "measure"}


@pytest.mark.parametrize("column", ["error", "certificate_spectral_error", "objective"])
def test_one_bit_of_a_float_is_found(results, column):
    def change(lines):
        lines[1][column] = next_float(lines[1][column] or 0.25)

    before = records(results)[1]
    rewrite(results, change)
    run = audit(results)
    assert (run.count(IDENTICAL), run.count(DIFFERENT)) == (2, 1)
    [found] = run.different
    [each] = found.differences
    assert (found.key, each.column, each.now) == (before["key"], column, repr(before[column]))
    assert each.stored != each.now
    assert run.by_cell() == {before["cell"]: (2, 0, 1)}


def test_minus_zero_and_null_and_nan_are_not_the_same(results):
    def change(lines):
        lines[0]["nmi"] = float("nan")  # null before
        lines[1]["certificate_score_sum"] = None  # nan before
        lines[2]["certificate_spectral_bound"] = None

    assert np.isnan(records(results)[1]["certificate_score_sum"])
    rewrite(results, change)
    run = audit(results)
    assert differing(run) == {"nmi", "certificate_score_sum", "certificate_spectral_bound"}
    [null] = [each for found in run.different for each in found.differences if each.column == "nmi"]
    assert (null.stored, null.now) == ("nan", "None")


def test_compared_values():
    here = dict.fromkeys(SCHEMA.names) | {"environment": "{}"}
    cases = [
        (0.0, -0.0, DIFFERENT, CLOSE),
        (float("nan"), float("nan"), IDENTICAL, IDENTICAL),
        (float("inf"), float("inf"), IDENTICAL, IDENTICAL),
        (float("inf"), 1e300, DIFFERENT, DIFFERENT),
        (float("nan"), 1.0, DIFFERENT, DIFFERENT),
        (0.0, 9e-10, DIFFERENT, CLOSE),
        (0.0, 1.1e-9, DIFFERENT, DIFFERENT),
        (1e6, 1e6 + 0.9, DIFFERENT, CLOSE),
        (1e6, 1e6 + 1.1, DIFFERENT, DIFFERENT),
        (None, 0.0, DIFFERENT, DIFFERENT),
    ]
    for stored, now, same, another in cases:
        for one, other in ((stored, now), (now, stored)):
            before, after = here | {"error": one}, here | {"error": other}
            assert compare(before, after)[0] == same
            assert compare(before | {"environment": ELSEWHERE}, after)[0] == another
            assert compare(before | {"environment": None}, after)[0] == another
            assert compare(before, after, absent={"error"}) == (IDENTICAL, ())


def test_one_feature_is_found(results):
    def change(lines):
        lines[2]["features"][7] += 1

    stored = records(results)[2]["features"]
    assert len(stored) > 8
    rewrite(results, change)
    [found] = audit(results).different
    [each] = found.differences
    assert each.column == "features"
    assert each.stored == f"{len(stored)} values, at 7: {stored[7] + 1}"
    assert each.now == f"{len(stored)} values, at 7: {stored[7]}"


def test_times_memory_and_revision_are_not_compared(results):
    def change(lines):
        for line in lines:
            line.update(select_cpu=1e9, train_wall=None, peak_memory=5, git_revision="0" * 40)

    rewrite(results, change)
    assert audit(results).count(IDENTICAL) == 3


def test_a_config_that_does_not_give_its_key_is_a_difference(results):
    def change(lines):
        lines[0]["config"] = lines[0]["config"].replace('"C":1.0', '"C":2.0')
        lines[1]["draw"] = 1

    rewrite(results, change)
    run = audit(results)
    assert (run.count(IDENTICAL), run.count(DIFFERENT), run.skipped) == (1, 2, ())
    assert differing(run) == {"key"}


def test_a_cell_that_is_not_that_of_the_config_is_a_difference(results):
    rewrite(results, lambda lines: lines[0].update(cell="0" * 64))
    run = audit(results)
    assert differing(run) == {"cell"}
    assert run.by_cell()["0" * 64] == (0, 0, 1)


def test_seeds_that_depend_on_more_than_the_key_are_found(whole, monkeypatch):
    monkeypatch.setattr(trial, "trial_seed", lambda *place: 7)
    run = audit(whole, fraction=0.4, seed=5)
    assert run.count(IDENTICAL) == 0
    assert {"seed", "features", "error"} <= differing(run)


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({}, IDENTICAL),
        ({"error": lambda value: value * (1 + 1e-8)}, CLOSE),
        ({"error": next_float, "certificate_soft_value": next_float}, CLOSE),
        ({"certificate_spectral_error": lambda value: value + 5e-10}, CLOSE),
        ({"error": lambda value: value + 1 / 20}, DIFFERENT),
        ({"error": lambda value: value * (1 + 1e-5)}, DIFFERENT),
        ({"error": lambda value: None}, DIFFERENT),
        ({"n_rows": lambda value: value + 1}, DIFFERENT),
        ({"certificate_spectral": lambda value: "violated"}, DIFFERENT),
        ({"features": lambda value: value[::-1]}, DIFFERENT),
        ({"seed": lambda value: value + 1}, DIFFERENT),
    ],
    ids=lambda case: "-".join(case) if isinstance(case, dict) else case,  # a function has no name that lasts
)
def test_in_another_environment_floats_agree_to_the_stated_digits(results, change, outcome):
    def apply(lines):
        for line in lines:
            line["environment"] = ELSEWHERE
        [line, *_] = (line for line in lines if line["error"] > 0)
        for column, function in change.items():
            line[column] = function(line[column])

    rewrite(results, apply)
    run = audit(results)
    expected = {IDENTICAL: 2, CLOSE: 0, DIFFERENT: 0}
    expected[outcome] += 1
    assert {name: run.count(name) for name in expected} == expected
    assert not any(found.same_environment for found in run.trials)
    assert {each.column for found in run.trials for each in found.differences} == set(change)


def test_columns_that_an_older_file_lacks_are_not_compared(results):
    lacking = ["certificate_spectral", "sampling_rate", "n_rows"]
    rewrite(results, lambda lines: None, [name for name in SCHEMA.names if name not in lacking])
    run = audit(results)
    assert run.count(IDENTICAL) == 3
    # a sampling rate is not measured here: nothing was left uncompared
    assert {found.not_compared for found in run.trials} == {("n_rows", "certificate_spectral")}
    rewrite(results, lambda lines: None)  # now the file has them, and nulls in them
    assert differing(audit(results)) == {"certificate_spectral", "n_rows"}


def test_a_merge_of_an_older_file_with_a_newer_one(results):
    def older(lines):
        for line in lines[:2]:
            line.update(git_revision="older", n_rows=None, certificate_soft=None)

    rewrite(results, older, name="merged-0.parquet")
    run = audit(results)
    assert run.count(IDENTICAL) == 3
    assert sorted(len(found.not_compared) > 0 for found in run.trials) == [False, True, True]

    # a null where the same revision wrote values elsewhere was no missing column
    rewrite(results, lambda lines: lines[0].update(n_rows=5), name="merged-0.parquet")
    assert differing(audit(results)) == {"n_rows"}
    assert len(audit(results).different) == 2


def test_a_file_without_environment_and_config_is_skipped(results):
    rewrite(results, lambda lines: None, [name for name in SCHEMA.names if name not in ("environment", "config")])
    run = audit(results)
    assert run.trials == ()
    assert run.skipped == (("the record has no config, repeat, fold or draw (older schema)", 3),)
    rewrite(results, lambda lines: None)
    assert audit(results).n_skipped == 3


def test_another_algorithm_version_is_skipped(results, monkeypatch):
    monkeypatch.setattr(LeverageScoreSelector, "algorithm_version", 99)
    run = audit(results)
    assert run.skipped == (("another algorithm_version: LeverageScoreSelector had 1, has 99 now", 3),)
    assert run.trials == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"dataset": {"name": "dexter"}, "data": identity_of({"name": "dexter"})},
            "the data are missing: provsel fetch dexter",
        ),
        ({"dataset": {"name": "dexter"}}, "the data set dexter has another identity now"),
        ({"dataset": {"name": "gone"}}, "the data set cannot be loaded: ValueError"),
        ({"data": "0" * 64}, "the data set synthetic has another identity now"),
        (
            {"selector": {"name": "GoneSelector", "algorithm_version": 1, "arguments": {}}},
            "the class GoneSelector does not exist now",
        ),
        (
            {"selector": {"name": "UniformSelector", "algorithm_version": 1, "arguments": {"gone": 1}}},
            "the config is not accepted now: ValueError: config of the selector UniformSelector: expected arguments",
        ),
        ({"protocol": {"split": "kfold"}}, "the config is not accepted now: ValueError: protocol: expected exactly"),
        ({"selector": [1, 2]}, "the config is not accepted now: TypeError"),
        ({"note": "more"}, "the config gives another key now"),
    ],
    ids=repr,
)
def test_what_cannot_be_computed_again_is_skipped_with_a_reason(results, monkeypatch, changes, reason):
    monkeypatch.setenv("PROVSEL_DATA", str(results / "no-data"))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)

    def change(lines):
        lines[0] = forged(lines[0], **changes)

    rewrite(results, change)
    run = audit(results)
    assert (run.count(IDENTICAL), run.count(DIFFERENT)) == (2, 0)
    [(found, number)] = run.skipped
    assert number == 1
    assert found.startswith(reason)


def test_a_fold_that_the_config_does_not_have_is_skipped(results):
    def change(lines):
        lines[0] = forged({**lines[0], "fold": 3})

    rewrite(results, change)
    run = audit(results)
    assert run.skipped == (("the config does not have such a trial: its fold or draw is beyond its numbers", 1),)
    assert run.count(IDENTICAL) == 2


def test_a_trial_that_fails_now_is_a_difference(results, monkeypatch):
    def broken(self, view, rng):
        raise ValueError("out of order")

    monkeypatch.setattr(LeverageScoreSelector, "_select", broken)
    run = audit(results)
    assert run.count(DIFFERENT) == 3
    assert {each.now for found in run.different for each in found.differences} == {"ValueError: out of order"}
    assert differing(run) == {"fails now"}


@pytest.mark.parametrize("executor", [SERIAL, {"name": "loky", "n_jobs": 1}], ids=lambda config: config["name"])
def test_a_task_that_cannot_begin_stops_no_other(results, monkeypatch, executor):
    def broken(task, dataset):
        if task.fold == 1:
            raise RuntimeError("no rows")
        return fold(task, dataset)

    fold = trial._fold
    monkeypatch.setattr(trial, "_fold", broken)
    run = audit(results, executor=executor)
    assert (run.count(IDENTICAL), run.count(DIFFERENT)) == (2, 1)
    [found] = run.different
    assert found.fold == 1
    assert found.differences[0].now == "RuntimeError: no rows"


def test_the_store_is_not_written_to(results):
    before = {path.name: path.read_bytes() for path in (results / "store").iterdir()}
    audit(results)
    assert {path.name: path.read_bytes() for path in (results / "store").iterdir()} == before
    assert sorted(path.name for path in results.iterdir()) == ["audits", "store"]
    assert len(read_audits(results)) == 1
