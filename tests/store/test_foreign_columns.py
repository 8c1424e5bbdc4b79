"""Columns that no provsel wrote: of another type, with a name of ours, without values, nested, or twice."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provlab.store import TrialStore
from small_runs import fake_records


@pytest.fixture
def store(tmp_path):
    return TrialStore(tmp_path / "store")


OWN = {
    "number": pa.array([1.0, 2.0]), "text": pa.array(["a", "b"]), "nothing": pa.array([None, None], pa.float64()),
    "null": pa.nulls(2), "codes": pa.array(["a", "b"]).dictionary_encode(),
    "large": pa.array(["a", "b"], pa.large_string()), "whole": pa.array([1, 2]),
    "features": pa.array([[1], []], pa.list_(pa.int32())), "nested": pa.array([{"a": 1}, {"a": 2}]),
    "time": pa.array([1, 2], pa.timestamp("ms")), "bytes": pa.array([b"a", b"b"]), "bool": pa.array([True, False]),
}  # fmt: skip
"""Columns of foreign files."""


def with_column(store, name, first, column):
    """Write two records with another column; where `SCHEMA` has it, in its place."""
    store.append(fake_records(first, 2, "cell"))
    [path] = [path for path in store.folder.glob("*.parquet") if not path.name.startswith("own")]
    table = pq.read_table(path)
    path.unlink()
    place = table.column_names.index(name) if name in table.column_names else 0  # a nested one moves all others
    table = table.drop_columns(name) if name in table.column_names else table
    pq.write_table(table.add_column(place, name, column), store.folder / f"own{first}.parquet")


@pytest.mark.parametrize("second", OWN)
@pytest.mark.parametrize("first", OWN)
def test_an_own_column_has_one_type_or_is_refused_by_name(first, second, store):
    with_column(store, "mine", 0, OWN[first])
    with_column(store, "mine", 2, OWN[second])
    kinds = {"codes": "text", "large": "text", "null": "nothing"}
    kinds = {kinds.get(kind, kind) for kind in (first, second)} - {"nothing"}
    no_measure = {*kinds} & {"nested", "time", "bytes", "bool"}
    assert len(store.query(["cell"], ["key"])) == 4  # whatever else is there
    if len(kinds) < 2 and not no_measure:
        expected = [None if kind in ("nothing", "null") else OWN[kind].to_pylist() for kind in (first, second)]
        found = store.query(columns=["mine"])["mine"].to_pylist()
        assert found == [value for each in expected for value in each or [None, None]]
        assert store.encoded(["key", "mine"]).num_rows == 4
        return
    place = r"store file .*own\d\.parquet: expected "
    message = "own columns to have .*got 'mine' as" if no_measure else r"the column mine as .*own0\.parquet, got"
    for use in (store.query, store.columns):
        with pytest.raises(ValueError, match=place + message):
            use()


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("name", ["error", "source", "rank", "features"])
def test_a_column_of_ours_with_another_type_is_refused_by_name(name, kind, store):
    with_column(store, name, 0, OWN[kind])
    fitting = {"error": ("number", "whole"), "source": ("text", "codes", "large", "bytes"), "rank": ("number", "whole"),
               "features": ("features",)}  # fmt: skip
    if kind in (*fitting[name], "nothing", "null"):
        assert store.query(columns=[name])[name].null_count == (2 if kind in ("nothing", "null") else 0)
        return
    with pytest.raises(ValueError, match=rf"store file .*own0\.parquet: expected the column {name} as .*, got .*move"):
        store.query()


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "a b", "\x1b[31m", "a\u202eb", "a\nb", ""])
def test_a_column_that_no_measure_can_have_is_refused(name, store):
    with_column(store, name, 0, OWN["number"])
    with pytest.raises(ValueError, match="expected own columns to have a name of letters and digits") as caught:
        store.query()
    assert repr(name) in str(caught.value)


def test_a_file_with_a_column_twice_is_set_aside(store, caplog):
    store.append(fake_records(0, 2))
    [path] = store.folder.glob("*.parquet")
    table = pq.read_table(path)
    pq.write_table(table.append_column("error", table["error"]), path)
    assert len(store.query()) == 0
    assert "with one twice" in caplog.text
