"""Counting places is counting keys."""

import pytest

from provlab.plan import trials_of
from provlab.store import StoreSnapshot, TrialStore
from small_runs import FULL, UNIFORM, fake_records, small_cell


@pytest.fixture
def store(tmp_path):
    return TrialStore(tmp_path / "store")


def record(cell, repeat, fold, draw, key):
    [blank] = fake_records(0, 1)
    return blank | {"key": key, "cell": cell.id, "repeat": repeat, "fold": fold, "draw": draw}


def stored(cell, chosen):
    return [record(cell, *trial) for k, trial in enumerate(trials_of(cell)) if k in chosen]


def test_an_empty_store_has_none(store):
    assert StoreSnapshot.take(store).count([small_cell(UNIFORM)]) == 0
    assert StoreSnapshot.take(store).count([]) == 0


def test_as_many_as_there_are_keys(store):
    cells = [small_cell(UNIFORM, repeats=2), small_cell(FULL, repeats=3), small_cell(UNIFORM, setting="unsupervised")]
    store.append(stored(cells[0], {0, 3, 7}))
    store.append(stored(cells[1], {1, 2}))
    store.append(stored(small_cell(UNIFORM, seed=9), {0, 1}))  # of a cell that is not asked for
    places = StoreSnapshot.take(store)
    for chosen in (cells, cells[:1], cells[1:], []):
        planned = {key for cell in chosen for *_, key in trials_of(cell)}
        assert places.count(chosen) == len(planned & store.keys())
    assert places.count(cells) == 5


def test_trials_beyond_the_planned_numbers_do_not_count(store):
    store.append(stored(small_cell(UNIFORM, repeats=3, draws=4), set(range(36))))
    for repeats, draws in ((3, 4), (1, 4), (2, 1), (1, 1)):
        assert (
            StoreSnapshot.take(store).count([small_cell(UNIFORM, repeats=repeats, draws=draws)]) == repeats * 3 * draws
        )


def test_a_trial_in_two_files_counts_once_and_one_without_a_place_not_at_all(store):
    cell = small_cell(UNIFORM)
    records = stored(cell, {0, 1, 2})
    store.append(records)
    store.append(records[:2])
    store.append([{**record(cell, 0, 0, 0, "f" * 64), "draw": None}])
    assert StoreSnapshot.take(store).count([cell]) == 3
