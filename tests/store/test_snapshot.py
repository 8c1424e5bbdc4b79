"""A snapshot answers as the store does, and merged files are read in part."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provlab.store import SCHEMA, StoreSnapshot, TrialStore
from provlab.store import trial_store as module
from provlab.store.stored_file import groups_with
from small_runs import fake_records


@pytest.fixture
def store(tmp_path):
    made = TrialStore(tmp_path / "store")
    made.append(fake_records(0, 3, "b"))
    made.append(fake_records(3, 4, "a"))
    made.append([record | {"features": None, "rank": None} for record in fake_records(7, 2, "c")])
    made.append(fake_records(1, 2, "b"))  # again
    return made


def by_cell(table):
    return repr(table.sort_by([("cell", "ascending"), ("key", "ascending")]).to_pylist())


def test_a_snapshot_answers_as_the_store(store):
    snapshot = StoreSnapshot.take(store)
    assert len(snapshot) == 9
    for cells in (None, ["a"], ["c", "a"], ["nowhere"], []):
        assert by_cell(snapshot.query(cells)) == by_cell(store.query(cells)), cells
    assert snapshot.query(["b"], ["fold", "error"]).to_pylist() == store.query(["b"], ["fold", "error"]).to_pylist()
    assert snapshot.query(["b"], ["features"]).schema == store.query(["b"], ["features"]).schema
    assert snapshot.query().schema.equals(SCHEMA)


def test_lists_of_features_that_were_read_are_not_read_again(store, monkeypatch):
    snapshot = StoreSnapshot.take(store)
    expected = {cells: by_cell(snapshot.query(cells)) for cells in (("a",), ("a", "c"), ("b", "a"), ())}
    held = snapshot.with_large(["a", "c", "nowhere"])
    asked, query = [], TrialStore.query
    monkeypatch.setattr(TrialStore, "query", lambda *arguments: (asked.append(arguments[1]), query(*arguments))[1])
    assert {cells: by_cell(held.query(cells)) for cells in expected} == expected
    assert asked == [["a", "b"]]


def test_a_snapshot_is_of_one_moment(store):
    snapshot = StoreSnapshot.take(store)
    before = by_cell(snapshot.query())
    store.append(fake_records(20, 2, "a"))
    assert by_cell(snapshot.query()) == before
    assert len(StoreSnapshot.take(store)) == 11


def test_a_snapshot_of_nothing(tmp_path):
    snapshot = StoreSnapshot.take(TrialStore(tmp_path / "none"))
    assert len(snapshot) == 0
    assert snapshot.query().schema.equals(SCHEMA)
    assert snapshot.query(["a"], ["features", "cell"]).to_pylist() == []


def test_a_column_that_nobody_has_written_has_no_numbers_and_one_that_was_not_read_is_an_error(store):
    snapshot = StoreSnapshot.take(store, ["error"])
    found = snapshot.query(["a"], ["error", "measure_of_nobody", "features"])
    assert found.column_names == ["error", "measure_of_nobody", "features"]
    assert found["measure_of_nobody"].to_pylist() == [None] * 4
    assert found["measure_of_nobody"].type == store.query(["a"], ["measure_of_nobody"])["measure_of_nobody"].type
    with pytest.raises(KeyError, match="nmi"):
        snapshot.query(["a"], ["nmi"])


def test_columns_that_an_older_file_lacks_are_null(store):
    [path, *_] = sorted(store.folder.glob("*.parquet"))
    table = pq.read_table(path)
    lost = set(table["key"].to_pylist())
    pq.write_table(table.drop_columns(["environment", "nmi"]), path)
    for line in StoreSnapshot.take(store).query().to_pylist():
        assert (line["environment"] is None) == (line["key"] in lost)
        assert (line["nmi"] is None) == (line["key"] in lost)


def test_a_query_of_a_merged_file_reads_the_groups_of_its_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GROUP", 4)
    store = TrialStore(tmp_path / "store")
    for k, cell in enumerate("cbad"):
        store.append(fake_records(10 * k, 4, cell))
    everything = by_cell(store.query())
    store.compact(minimum=0)
    [path] = store.folder.glob("*.parquet")
    with pq.ParquetFile(path) as file:
        assert file.num_row_groups == 4
        assert groups_with(file, ["b"]) == [1]
        assert groups_with(file, ["a", "d"]) == [0, 3]
        assert groups_with(file, ["bb"]) == []
    assert by_cell(store.query()) == everything
    assert [line["fold"] for line in store.query(["b"], ["fold"]).to_pylist()] == [10, 11, 12, 13]


def test_files_without_statistics_are_read_whole(tmp_path):
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 4, "a"))
    [path] = store.folder.glob("*.parquet")
    pq.write_table(pq.read_table(path), path, write_statistics=False)
    assert len(store.query(["a"])) == 4
    assert pa.types.is_dictionary(store.encoded(["key", "cell"])["cell"].type)


def test_records_without_key_or_cell_are_left_out_and_counted(store):
    [path, *_] = sorted(store.folder.glob("*.parquet"))
    table = pq.read_table(path)
    lost = len(table)
    place = table.column_names.index("cell")
    pq.write_table(table.set_column(place, SCHEMA.field("cell"), pa.nulls(lost, pa.string())), path)
    snapshot = StoreSnapshot.take(store)
    assert snapshot.n_nameless == lost
    assert set(snapshot.query()["key"].to_pylist()) == store.keys() - set(table["key"].to_pylist())


def test_a_saved_snapshot_is_the_same(store, tmp_path):
    snapshot = StoreSnapshot.take(store)
    snapshot.save(tmp_path / "snapshot.arrow")
    opened = StoreSnapshot.open(store, tmp_path / "snapshot.arrow")
    assert repr(opened.query().to_pylist()) == repr(snapshot.query().to_pylist())
    assert opened.query(["a"], ["features", "cell"]) == snapshot.query(["a"], ["features", "cell"])
