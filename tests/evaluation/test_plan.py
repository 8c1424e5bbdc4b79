"""What identifies a trial, and how trials are grouped."""

import hashlib
import json
import pkgutil
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provlab.core.cell import trial_seed
from provlab.core.composition import compose_config
from provlab.core.keys import seed_from, split_seed, trial_key
from provlab.core.plan import cells_of, make_tasks, trials_of, unique_cells
from provlab.project.components import build
from provlab.project.documents import canonical_json, digest
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.project.project import current_project
from provlab.run.task import run_task
from provsel.selectors import BSSSelector
from small_runs import BSS, FULL, LEVERAGE, UNIFORM, small_cell

SMALL = ["dataset.n_samples=60", "dataset.n_features=120"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


def keys(cell):
    return {key for *_, key in trials_of(cell)}


@given(VALUES, st.dictionaries(st.text(), VALUES, max_size=5))
def test_canonical_json_is_ascii_that_reads_back_in_any_order_of_keys(value, named):
    text = canonical_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert canonical_json(json.loads(text)) == text
    assert canonical_json(dict(reversed(named.items()))) == canonical_json(named)
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            canonical_json({"C": [value, number]})


def test_key_is_the_hash_of_the_full_dict():
    cell = small_cell(UNIFORM, repeats=2)
    trials = list(trials_of(cell))
    assert len(trials) == cell.n_trials == 2 * 3 * 2
    for repeat, fold, draw, key in trials:
        full = {"cell": cell.identity, "repeat": repeat, "fold": fold, "draw": draw}
        assert (
            key
            == hashlib.sha256(canonical_json(full).encode()).hexdigest()
            == digest(full)
        )
        assert key == trial_key(canonical_json(cell.identity), repeat, fold, draw)
    assert cell.id == digest(cell.identity)
    seeds = [seed_from(key) for *_, key in trials]
    assert len(set(seeds)) == len(trials)
    assert all(0 <= seed < 2**32 for seed in [*seeds, seed_from("f" * 64)])


def test_key_does_not_depend_on_the_numbers_of_repeats_and_draws():
    few = small_cell(UNIFORM, repeats=1, draws=1)
    many = small_cell(UNIFORM, repeats=3, draws=4)
    assert few.id == many.id
    assert keys(few) < keys(many)


@pytest.mark.parametrize(
    "overrides",
    [["executor=serial"], ["executor.n_jobs=1"], ["results=/somewhere/else"]],
)
def test_key_does_not_depend_on_executor_and_paths(overrides):
    [plain] = cells_of(compose_config([*SMALL, "selector.n_features_to_select=60"]))
    [elsewhere] = cells_of(
        compose_config([*SMALL, "selector.n_features_to_select=60", *overrides])
    )
    assert plain.id == elsewhere.id


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": {"n_relevant": 6}},
        {"identity": "another"},
        {"selector": {**BSS, "n_features_to_select": 61}},
        {"selector": {**BSS, "rescale": False}},
        {"selector": UNIFORM},
        {"model": {"_target_": "provsel.models.LibsvmSVM", "C": 2.0}},
        {"model": {"_target_": "provsel.models.LiblinearSVM", "C": 1.0}},
        {"setting": "unsupervised"},
        {"seed": 1},
        {"n_splits": 4},
        {"certify": False},
    ],
    ids=str,
)
def test_key_changes_with_what_the_numbers_depend_on(change):
    assert not keys(small_cell()) & keys(small_cell(**change))


class Versioned(BSSSelector):
    algorithm_version = 1


def test_key_changes_with_the_version_of_the_algorithm():
    with estimators_in_hand():
        selector = as_config(Versioned(60))
        before = small_cell(selector)
        assert before.identity["selector"]["algorithm_version"] == 1
        before_keys = keys(before)
        Versioned.algorithm_version = 2
        assert not before_keys & keys(small_cell(selector))


def test_no_key_holds_the_source_of_the_library():
    """A class of ours without an `algorithm_version` would get new keys with every docstring of the package."""
    root = current_project().root
    ours = re.compile(r"_target_: (provsel\.[\w.]+)")
    files = [
        path
        for folder in ("conf", "experiments")
        for path in (root / folder).rglob("*.yaml")
    ]
    named = {
        name
        for path in files
        for name in ours.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert {
        name
        for name in named
        if not hasattr(pkgutil.resolve_name(name), "algorithm_version")
    } == set()


def test_one_stream_begins_anew_in_every_fold():
    per_trial = small_cell(UNIFORM, repeats=2)
    restarted = small_cell(UNIFORM, repeats=2, stream="restarted")
    # of the trials, and of the draws
    for cell, n_seeds in ((per_trial, 12), (restarted, 2)):
        assert (
            len({trial_seed(cell, *place[:3]) for place in trials_of(cell)}) == n_seeds
        )
    assert len(keys(restarted)) == 12
    assert not keys(restarted) & keys(per_trial)
    # the default has the keys of configs that do not say it
    assert keys(small_cell(UNIFORM, repeats=2, stream="per_trial")) == keys(per_trial)
    records = [
        record for task in make_tasks([restarted]) for record in run_task(task).records
    ]
    first, second = [record["features"].tolist() for record in records[:2]]
    assert first != second
    drawn = [record["features"].tolist() for record in records]
    assert drawn == [first, second] * 6  # uniform draws do not depend on the rows


def test_all_methods_and_settings_share_the_folds():
    models = (
        {"_target_": f"provsel.models.{name}SVM"} for name in ("Libsvm", "Liblinear")
    )
    cells = [
        small_cell(UNIFORM),
        small_cell(BSS, setting="unsupervised"),
        *(small_cell(BSS, model=m) for m in models),
    ]
    tasks = make_tasks(cells)
    assert len(tasks) == 3
    assert {task.split_seed for task in tasks} == {split_seed(cells[0].data, 3, 0, 0)}
    others = [
        split_seed("a", 3, 0, 0),
        split_seed("a", 3, 0, 1),
        split_seed("a", 3, 1, 0),
        split_seed("b", 3, 0, 0),
    ]
    assert len(set(others)) == 4


def test_tasks_group_by_data_set_repeat_and_fold():
    more_relevant = {"n_relevant": 6}
    cells = [
        small_cell(s, dataset=d, repeats=2)
        for d in (None, more_relevant)
        for s in (BSS, UNIFORM)
    ]
    tasks = make_tasks(cells)
    assert len(tasks) == 2 * 2 * 3
    places = [(task.data, task.repeat, task.fold) for task in tasks]
    assert len(set(places)) == len(places)
    assert [place[0] for place in places] == [cells[0].data] * 6 + [cells[2].data] * 6
    assert [place[1:] for place in places[:6]] == [
        (r, f) for r in range(2) for f in range(3)
    ]
    for task in tasks:
        assert len(task.trials) == 1 + 2
        assert {task.cells[trial.cell].data for trial in task.trials} == {task.data}
        for trial in task.trials:
            cell = task.cells[trial.cell]
            assert trial.key == trial_key(
                canonical_json(cell.identity), task.repeat, task.fold, trial.draw
            )


def test_done_trials_are_left_out():
    cells = [small_cell(BSS), small_cell(UNIFORM)]
    every = {trial.key for task in make_tasks(cells) for trial in task.trials}
    done = keys(cells[0]) | {trial.key for trial in make_tasks(cells)[0].trials}
    left = make_tasks(cells, done=done)
    assert {trial.key for task in left for trial in task.trials} == every - done
    assert {task.fold for task in left} == {1, 2}
    assert make_tasks(cells, done=every) == []


def test_same_cells_are_merged_and_keep_every_trial_that_one_of_them_asks_for():
    assert unique_cells([small_cell(), small_cell()]) == [small_cell()]
    cells = [
        small_cell(UNIFORM, **counts)
        for counts in ({"draws": 1}, {"draws": 5}, {"repeats": 4, "draws": 2})
    ]
    planned = {trial.key for task in make_tasks(cells) for trial in task.trials}
    assert planned == {
        key for cell in unique_cells(cells) for *_, key in trials_of(cell)
    }
    assert all(keys(cell) <= planned for cell in cells)


@pytest.mark.parametrize(
    ("selector", "draws"),
    [
        (BSS, 1),
        (FULL, 1),
        (UNIFORM, 4),
        (LEVERAGE, 4),
        ({**LEVERAGE, "strategy": "top"}, 1),
    ],
    ids=["bss", "full", "uniform", "leverage", "leverage top"],
)
def test_only_random_methods_are_drawn_again(selector, draws):
    cell = small_cell(selector, draws=4)
    assert cell.n_draws == draws
    assert cell.n_trials == 3 * draws


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repeats": 0}, r"protocol\.repeats: expected a positive integer, got 0"),
        ({"repeats": 1.5}, r"protocol\.repeats: expected a positive integer, got 1\.5"),
        ({"draws": -1}, r"protocol\.draws: expected a positive integer, got -1"),
        ({"draws": "5"}, r"protocol\.draws: expected a positive integer, got '5'"),
        ({"n_splits": 1}, r"protocol\.n_splits: expected an integer above 1, got 1"),
        (
            {"n_splits": None},
            r"protocol\.n_splits: expected an integer above 1, got None",
        ),
        (
            {"setting": "both"},
            r"protocol\.setting: expected one of .*supervised.*unsupervised.*, got 'both'",
        ),
        (
            {"folds": 3},
            r"protocol: unknown setting 'folds'; settings of protocol are certify, draws, ",
        ),
        (
            {"split": "loo"},
            r"protocol.split: expected one of .*'kfold_inverse'.*, got 'loo'",
        ),
        (
            {"split": "official"},
            r"protocol\.n_splits: expected 1 for the split official, got 3",
        ),
        (
            {"stream": "once"},
            r"protocol.stream: expected one of \('per_trial', 'restarted'\), got 'once'",
        ),
        (
            {
                "stream": "restarted",
                "split": "selection_only",
                "n_splits": 1,
                "setting": "unsupervised",
            },
            r"protocol\.stream: expected per_trial for the split selection_only, whose",
        ),
    ],
    ids=str,
)
def test_bad_protocol(change, message):
    with pytest.raises(ValueError, match=message):
        small_cell(**change)


def test_a_missing_argument_is_named_with_what_adds_it():
    said = r"BSSSelector: expected a value for n_features_to_select, got none; .* \+selector\.n_features_to_select="
    with pytest.raises(ValueError, match=said):
        build("selector", {"_target_": BSS["_target_"], "rank": 3})
