"""A snapshot answers as the store does, and counts as keys do."""

from itertools import permutations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provlab.core.records import NUMBERS
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import SCHEMA, TrialStore
from small_runs import fake_records


@pytest.fixture
def store(tmp_path):
    filled = TrialStore(tmp_path / "store")
    filled.append(fake_records(0, 3, "b"))
    filled.append(fake_records(3, 4, "a"))
    filled.append(
        [
            record | {"features": None, "rank": None}
            for record in fake_records(7, 2, "c")
        ]
    )
    filled.append(fake_records(1, 2, "b"))  # again
    return filled


def by_cell(table):
    return repr(
        table.sort_by([("cell", "ascending"), ("key", "ascending")]).to_pylist()
    )


def test_a_snapshot_answers_as_the_store(store):
    snapshot = StoreSnapshot(store)
    assert len(snapshot) == 9
    for cells in (None, ["a"], ["c", "a"], ["nowhere"], []):
        assert by_cell(snapshot.query(cells)) == by_cell(store.query(cells)), cells
    assert (
        snapshot.query(["b"], ["fold", "error"]).to_pylist()
        == store.query(["b"], ["fold", "error"]).to_pylist()
    )
    assert (
        snapshot.query(["b"], ["features"]).schema
        == store.query(["b"], ["features"]).schema
    )
    assert snapshot.query().schema.equals(SCHEMA)


def test_lists_of_features_that_were_read_are_not_read_again(store):
    snapshot = StoreSnapshot(store)
    expected = {
        cells: by_cell(snapshot.query(cells)) for cells in (("a",), ("a", "c"), ())
    }
    held = snapshot.with_large(["a", "c", "nowhere"])
    for path in store.folder.iterdir():
        path.unlink()
    assert {cells: by_cell(held.query(cells)) for cells in expected} == expected
    # gone since
    assert held.query(["b"], ["features"])["features"].to_pylist() == [None] * 3


def test_features_are_of_the_trial_whatever_came_since(store):
    snapshot = StoreSnapshot(store, [])
    store.append(
        [
            record | {"features": [9]}
            for record in fake_records(0, 1, "a") + fake_records(30, 1, "a")
        ]
    )
    assert snapshot.query(["a"], ["fold", "features"]).to_pylist() == [
        {"fold": fold, "features": [3, 1, 2]} for fold in (3, 4, 5, 6)
    ]


def test_a_snapshot_is_of_one_moment(store):
    snapshot = StoreSnapshot(store)
    before = by_cell(snapshot.query())
    store.append(fake_records(20, 2, "a"))
    assert by_cell(snapshot.query()) == before
    assert len(StoreSnapshot(store)) == 11


def test_a_snapshot_of_nothing(tmp_path):
    snapshot = StoreSnapshot(TrialStore(tmp_path / "none"))
    assert len(snapshot) == 0
    assert snapshot.query().schema.equals(SCHEMA)
    assert snapshot.query(["a"], ["features", "cell"]).to_pylist() == []


def test_a_column_that_nobody_has_written_has_no_values_and_one_that_was_not_read_is_an_error(
    store,
):
    for snapshot in (
        StoreSnapshot(store),
        StoreSnapshot(store, ["error", "measure_of_nobody"]),
    ):
        table = snapshot.query(["a"], ["error", "measure_of_nobody", "features"])
        assert table.column_names == ["error", "measure_of_nobody", "features"]
        assert table["measure_of_nobody"].to_pylist() == [None] * 4
    with pytest.raises(KeyError, match="nmi"):
        snapshot.query(["a"], ["nmi"])


def test_records_without_key_or_cell_are_left_out_and_counted(store):
    [path] = [
        path
        for path in store.folder.glob("*.parquet")
        if "a" in pq.read_table(path)["cell"].to_pylist()
    ]
    table = pq.read_table(path)
    lost = len(table)
    place = table.column_names.index("cell")
    path.unlink()
    nameless = table.set_column(
        place, SCHEMA.field("cell"), pa.nulls(lost, pa.string())
    )
    pq.write_table(nameless, store.folder / "nameless.parquet")
    snapshot = StoreSnapshot(store)
    assert snapshot.n_nameless == lost
    assert set(snapshot.query()["key"].to_pylist()) == store.keys() - set(
        table["key"].to_pylist()
    )


@pytest.mark.parametrize("n_ours", [0, 2])
def test_trials_of_another_store_stand_beside_and_ours_come_first(tmp_path, n_ours):
    """Also where only one of the two has a column."""
    ours = TrialStore(tmp_path / "ours")
    theirs = TrialStore(tmp_path / "theirs")
    ours.append(fake_records(0, n_ours, "a"))
    theirs.append(
        [
            record | {"error": 0.25, "variance": "held"}
            for record in fake_records(1, 2, "a")
        ]
    )
    stores = (
        (ours, dict.fromkeys(range(n_ours), (0.5, None))),
        (theirs, dict.fromkeys((1, 2), (0.25, "held"))),
    )
    for (first, own), (second, others) in permutations(stores):
        beside = second.read(["cell", *NUMBERS, "error", "variance"], encoded=True)
        both = StoreSnapshot(first, ["error", "variance"], beside=[beside]).query(
            ["a"], ["fold", "error", "variance"]
        )
        lines = [tuple(line.values()) for line in both.to_pylist()]
        assert lines == [
            (fold, *values) for fold, values in sorted((others | own).items())
        ]
