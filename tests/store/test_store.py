"""The store gives back what was written, and whole files only, whatever became of them since."""

import errno
import os
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provlab.core.store import SCHEMA, TIMING, VERSION, TrialStore
from small_runs import (
    FULL,
    REPO,
    UNIFORM,
    fake_records,
    files_of,
    records_of,
    rows,
    run_quietly,
    small_cell,
)


@pytest.fixture
def store(tmp_path):
    return TrialStore(tmp_path / "store")


def files(store):
    return sorted(path.name for path in store.folder.iterdir())


def only_file(store):
    [path] = store.folder.glob("*.parquet")
    return path


def rewritten(store, change, **options):
    """Have another program write the store's only file anew, under a name that says nothing."""
    path = only_file(store)
    table = change(pq.read_table(path))
    path.unlink()
    pq.write_table(table, store.folder / f"{path.stem[:8]}.parquet", **options)


def test_an_empty_store_makes_no_folder(store):
    assert store.keys() == set()
    assert store.query().schema.equals(SCHEMA)
    store.append([])
    assert len(store.query()) == store.compact(minimum=0) == 0
    assert not store.folder.exists()


def test_round_trip_under_the_sha256_of_the_bytes(store):
    records = fake_records(0, 5)
    records[0] |= {"features": None, "rank": None, "error": 0.1 + 0.2}
    store.append(records[::-1])
    assert store.query().to_pylist() == records
    assert store.query().schema.equals(SCHEMA)
    assert store.keys() == {record["key"] for record in records}
    path = only_file(store)
    assert path.stem == sha256(path.read_bytes()).hexdigest()
    store.append(records)  # the same trials again change nothing
    assert files(store) == [path.name]
    assert pq.read_table(path).num_rows == 5  # any reader of Parquet reads it


def test_query_takes_cells_and_columns_and_each_trial_once(store):
    for first, n, cell in ((0, 3, "a"), (3, 2, "b"), (5, 1, "c"), (1, 2, "a")):
        store.append(fake_records(first, n, cell))
    expected = [
        {"fold": k, "cell": cell}
        for k, cell in [(0, "a"), (1, "a"), (2, "a"), (5, "c")]
    ]
    for _ in range(2):
        assert store.query(["a", "c"], ["fold", "cell"]).to_pylist() == expected
        assert len(store.keys()) == len(store.query()) == 6
        assert len(store.query(["nowhere"])) == len(store.query([])) == 0
        table = store.query(columns=["error", "nobody_wrote"])
        assert table.column_names == ["error", "nobody_wrote"]
        # neither a number nor a text yet
        assert table["nobody_wrote"].type == pa.null()
        store.compact(minimum=0)


def test_compact_keeps_the_content_and_holds_a_part_at_a_time(store):
    """A run of 1.8 million trials took 11 GB: all of it was sorted at once."""
    for k in range(0, 36, 3):
        store.append(fake_records(k, 3))
    before = rows(store)
    bytes_of_file = store.query().nbytes // 12
    assert store.compact() == 0  # not worth it yet
    assert store.compact(minimum=3, at_once=int(2.5 * bytes_of_file)) == 12
    assert [name[:7] for name in files(store)] == ["merged-"] * 4
    assert rows(store) == before
    assert store.compact(minimum=0) == 0  # merged files are left alone


def test_a_query_of_some_cells_reads_few_row_groups(store):
    """Row groups of other cells may hold anything: their pages are not looked at."""
    table = pa.Table.from_pylist(
        fake_records(0, 2, "a") + fake_records(2, 2, "b"), schema=SCHEMA
    )
    store.write(table, row_group_size=2)
    path = only_file(store)
    assert len(store.query(["b"], ["error"])) == 2
    whole = bytearray(path.read_bytes())
    state = path.stat()
    start = (
        pq.read_metadata(path)
        .row_group(0)
        .column(SCHEMA.names.index("error"))
        .data_page_offset
    )
    whole[start : start + 8] = b"nonsense"
    path.write_bytes(whole)
    # the same file, as far as this store can know
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert len(store.query(["b"], ["error"])) == 2
    # whoever sees it anew compares
    assert len(TrialStore(store.folder, read_only=True).query(["b"], ["error"])) == 0


@pytest.fixture(scope="module")
def one_file(tmp_path_factory):
    """A store of one file, its bytes, and its rows."""
    store = TrialStore(tmp_path_factory.mktemp("now") / "store")
    store.append(fake_records(0, 2))
    return store, only_file(store), only_file(store).read_bytes(), rows(store)


def reading(store, path, damaged):
    """Return what a new reader makes of other bytes: its rows, or None where it sets the file aside."""
    path.write_bytes(damaged)
    read = rows(TrialStore(store.folder))
    for aside in store.folder.glob("*.damaged"):
        assert aside.read_bytes() == bytes(damaged)
        assert read == "[]"
        aside.unlink()
        return None
    return read


@settings(max_examples=40, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere_gives_no_wrong_value(place, bit, one_file):
    store, path, whole, expected = one_file
    damaged = bytearray(whole)
    damaged[int(place * len(whole))] ^= 1 << bit
    assert reading(store, path, damaged) is None
    assert reading(store, path, whole) == expected


def test_a_file_that_was_cut_is_set_aside(one_file, caplog):
    store, path, whole, expected = one_file
    for length in (0, 3, 8, len(whole) // 2, len(whole) - 1):
        # of another program, without a digest
        for name in (path, path.with_name("another.parquet")):
            caplog.clear()
            assert reading(store, name, whole[:length]) is None
            assert (
                f"store file {name}: expected a complete Parquet file, got"
                in caplog.text
            )
            assert ".damaged, its trials will be rerun" in caplog.text
    assert reading(store, path, whole) == expected


def test_files_of_others_are_set_aside_or_passed_over(store, caplog):
    store.append(fake_records(0, 2))
    table = store.query()
    (store.folder / "page.parquet").write_text("<html>404</html>")
    pq.write_table(pa.table({"x": [1, 2]}), store.folder / "other.parquet")
    pq.write_table(
        table.append_column("error", table["error"]), store.folder / "twice.parquet"
    )
    for k, name in enumerate(
        ["=cmd|' /C calc'!A0", "a b", "\x1b[31m", "a\u202eb", "a\nb", ""]
    ):
        pq.write_table(
            table.append_column(name, table["error"]),
            store.folder / f"named{k}.parquet",
        )
    before = files_of(store.folder)
    theirs = TrialStore(store.folder, read_only=True)
    assert len(theirs.query()) == len(theirs.keys()) == 2
    assert files_of(store.folder) == before
    assert {
        "page.parquet",
        "other.parquet",
        "twice.parquet",
        "named0.parquet",
    } <= theirs.passed_over.keys()
    assert "left in place, its trials are left out" in caplog.text
    assert len(store.keys()) == 2
    assert len(list(store.folder.glob("*.damaged"))) == 9
    assert "a footer that lacks the column cell, names a column twice" in caplog.text
    assert r"a column '\x1b[31m', a name that measures cannot use" in caplog.text
    assert store.damaged_note().startswith(
        f"store {store.folder}: damaged files were set aside: 9 (named0-"
    )


def test_a_damaged_file_that_cannot_be_renamed_is_passed_over_and_not_merged(
    store, monkeypatch, caplog
):
    for k in range(3):
        store.append(fake_records(3 * k, 3))
    path = sorted(store.folder.iterdir())[0]
    path.write_bytes(path.read_bytes()[:-1])

    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "rename", refuse)
    assert len(store.keys()) == 6
    assert (
        "left in place (Read-only file system), its trials will be rerun" in caplog.text
    )
    assert store.compact(minimum=0) == 2
    assert path.exists()


def test_damaged_trials_are_run_again_and_reported(store):
    cells = [small_cell(UNIFORM), small_cell(FULL)]
    run_quietly(cells, store)
    stable = [name for name in SCHEMA.names if name not in TIMING]
    before = rows(store, columns=stable)
    path = sorted(store.folder.glob("*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-20])
    report, text = run_quietly(cells, store)
    assert report.n_found == 6
    assert report.n_run == 3
    assert "damaged files were set aside: 1 (" in text
    assert rows(store, columns=stable) == before


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO])
def test_a_file_that_the_system_does_not_give_is_not_called_damaged(
    number, store, monkeypatch
):
    store.append(fake_records(0, 2))
    path = only_file(store)

    def refuse(self, *_):
        raise OSError(number, os.strerror(number), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        with pytest.raises(
            OSError,
            match=rf"store file {path}: it could not be read: '.*'; the file was left in "
            rf"place",
        ):
            store.keys()
    assert len(store.keys()) == 2


def test_a_newer_schema_is_refused_and_left_alone(store):
    store.append(fake_records(0, 1))
    rewritten(
        store,
        lambda table: table.replace_schema_metadata(
            {"provsel_schema": str(VERSION + 1)}
        ),
    )
    for use in (store.keys, store.query):
        with pytest.raises(
            ValueError,
            match=rf"expected schema version up to {VERSION}, got {VERSION + 1}; .*upgrade",
        ):
            use()
    assert only_file(store).exists()


@pytest.mark.parametrize(
    "options",
    [
        {"write_page_checksum": True},
        {"write_statistics": False},
        {"use_dictionary": False},
    ],
)
def test_files_that_other_programs_wrote_are_read_and_merged(store, options):
    store.append(fake_records(0, 4))
    before = rows(store)
    rewritten(store, lambda table: table, **options)
    assert rows(store) == before
    assert len(store.query(["c"])) == 4
    assert store.compact(minimum=0) == 1
    assert rows(store) == before
    assert len(only_file(store).stem) == len("merged-") + 64


def test_a_store_of_an_earlier_version_is_read_and_continued(tmp_path):
    """Its files have other names, and checksums before their footers, which Parquet does not look at."""
    [sample] = (REPO / "results" / "reference" / "sample").glob("*.parquet")
    content = sample.read_bytes()
    store = TrialStore(tmp_path)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    (tmp_path / f"{'0' * 32}.parquet").write_bytes(
        content[:footer] + bytes(32) + content[footer:]
    )
    before = rows(store)
    n = len(store.keys())
    assert n > 50
    store.append(fake_records(0, 1))
    assert store.compact(minimum=0) == 2
    assert len(store.keys()) == n + 1
    assert rows(store, cells=set(store.query()["cell"].to_pylist()) - {"c"}) == before


def test_columns_that_an_older_file_lacks_are_null(store):
    store.append(fake_records(0, 2))
    rewritten(
        store, lambda table: table.drop_columns(["n_repeats", "certificate_soft"])
    )
    store.append(fake_records(2, 1))
    expected = [
        {"n_repeats": None, "certificate_soft": None, "fold": 0},
        {"n_repeats": None, "certificate_soft": None, "fold": 1},
        {"n_repeats": 1, "certificate_soft": "", "fold": 2},
    ]
    assert (
        store.query(columns=["n_repeats", "certificate_soft", "fold"]).to_pylist()
        == expected
    )
    store.compact(minimum=0)
    assert (
        store.query(columns=["n_repeats", "certificate_soft", "fold"]).to_pylist()
        == expected
    )


OWN = {
    "number": pa.array([1.0, 0.5]), "whole": pa.array([1, 0]), "text": pa.array(["a", "b"]),
    "codes": pa.array(["a", "b"]).dictionary_encode(), "large": pa.array(["a", "b"], pa.large_string()),
    "nothing": pa.array([None, None], pa.float64()), "null": pa.nulls(2),
    "features": pa.array([[1], []], pa.list_(pa.int32())), "nested": pa.array([{"a": 1}, {"a": 2}]),
    "time": pa.array([1, 2], pa.timestamp("ms")), "bool": pa.array([True, False]),
}  # fmt: skip
"""Columns of foreign files."""

KINDS = {**dict.fromkeys(("number", "whole"), "number"), **dict.fromkeys(("text", "codes", "large"), "text"),
         **dict.fromkeys(("nothing", "null"), "nothing")}  # fmt: skip


def with_column(store, name, first, column):
    """Write two records with another column; where `SCHEMA` has it, in its place."""
    table = pa.Table.from_pylist(fake_records(first, 2, "cell"), schema=SCHEMA)
    # a nested one moves all others
    place = table.column_names.index(name) if name in table.column_names else 0
    table = table.drop_columns(name) if name in table.column_names else table
    store.folder.mkdir(exist_ok=True)
    pq.write_table(
        table.add_column(place, name, column), store.folder / f"own{first}.parquet"
    )


@pytest.mark.parametrize("second", OWN)
@pytest.mark.parametrize("first", ["number", "text", "nothing", "bool"])
def test_an_own_column_has_one_type_or_is_refused_by_name(first, second, store):
    with_column(store, "mine", 0, OWN[first])
    with_column(store, "mine", 2, OWN[second])
    kinds = [KINDS.get(kind, "no measure's") for kind in (first, second)]
    assert len(store.query(["cell"], ["key"])) == 4  # whatever else is there
    if "no measure's" in kinds or len({*kinds} - {"nothing"}) == 2:
        message = r"(own\d\.parquet: expected the column mine as string, got|columns of the same type in all files)"
        with pytest.raises(ValueError, match=message):
            store.query()
        return
    expected = [value for kind in (first, second) for value in OWN[kind].to_pylist()]
    assert store.query(columns=["mine"])["mine"].to_pylist() == expected
    assert store.read(["mine"], encoded=True)["mine"].to_pylist() == expected
    store.compact(minimum=0)
    assert store.query(columns=["mine"])["mine"].to_pylist() == expected


@pytest.mark.parametrize(
    ("name", "fitting"),
    [
        ("error", {"number", "whole"}),
        ("source", {"text", "codes", "large"}),
        ("features", {"features"}),
    ],
)
@pytest.mark.parametrize("kind", OWN)
def test_a_column_of_ours_with_another_type_is_refused_by_name(
    name, fitting, kind, store
):
    with_column(store, name, 0, OWN[kind])
    if kind in fitting | {"nothing", "null"}:
        assert store.query(columns=[name])[name].null_count == (
            0 if kind in fitting else 2
        )
        assert store.query().schema.equals(SCHEMA)
    else:
        with pytest.raises(
            ValueError,
            match=rf"own0\.parquet: expected the column {name} as .*, got .*move it out",
        ):
            store.query()


def test_stored_trials_of_the_reference_have_numbers_and_keys_that_trials_can_have():
    store = TrialStore(REPO / "results" / "reference" / "sample", read_only=True)
    assert len(store.read()) > 80
    assert not store.passed_over


def test_a_file_is_checked_once_and_again_when_it_changes(tmp_path):
    records = records_of(small_cell(UNIFORM))
    store = TrialStore(tmp_path)
    store.append(records)
    assert len(store.keys()) == len(records)
    [path] = tmp_path.glob("*.parquet")
    path.unlink()
    swapped = [record | {"fold": (1, 0, 2)[record["fold"]]} for record in records]
    table = pa.Table.from_pylist(swapped, schema=SCHEMA)
    # a name that says nothing about its bytes
    pq.write_table(table, tmp_path / "merged.parquet")
    n_wrong = sum(record["fold"] < 2 for record in records)
    message = rf"merged\.parquet: expected keys, .*, got {n_wrong} of {len(records)} that do not, such as"
    for read in (store.keys, store.query, store.read):
        with pytest.raises(ValueError, match=message):
            read()
    assert (tmp_path / "merged.parquet").exists()
    assert len(TrialStore(tmp_path, check=False).query()) == len(records)
