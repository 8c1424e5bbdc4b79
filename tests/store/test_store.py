"""The store gives back what was written, and whole files only, whatever became of them since."""

import errno
import logging
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provlab.store import SCHEMA, TIMING, VERSION, TrialStore
from small_runs import FULL, UNIFORM, fake_records, rows, run_quietly, script_environment, small_cell

TESTS = Path(__file__).resolve().parents[1]
EARLIER = TESTS.parent / "results" / "reference" / "sample"
"""A store that an earlier version wrote: its files have other names, and checksums before their footers."""


@pytest.fixture
def store(tmp_path):
    return TrialStore(tmp_path / "store")


@pytest.fixture(scope="module")
def real_store(tmp_path_factory):
    """A store with the trials of two cells; copied, never written to."""
    made = TrialStore(tmp_path_factory.mktemp("real") / "store")
    run_quietly([small_cell(UNIFORM), small_cell(FULL)], made)
    return made


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
    assert len(store.query()) == 0
    store.append([])
    assert store.compact(minimum=0) == 0
    assert not store.folder.exists()


def test_round_trip(store):
    records = fake_records(0, 5)
    records[0] |= {"features": None, "rank": None, "error": 0.1 + 0.2}
    store.append(records[::-1])
    assert store.query().to_pylist() == records
    assert store.query().schema.equals(SCHEMA)
    assert store.keys() == {record["key"] for record in records}


def test_a_file_has_the_sha256_of_its_bytes_as_name(store):
    store.append(fake_records(0, 4))
    path = only_file(store)
    if shutil.which("sha256sum"):
        said = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout
        assert said.split()[0] == path.stem
    store.append(fake_records(0, 4)[::-1])  # the same trials again change nothing
    assert files(store) == [path.name]
    assert pq.read_table(path).num_rows == 4  # any reader of Parquet reads it


def test_query_takes_cells_and_columns(store):
    store.append(fake_records(0, 3, "a"))
    store.append(fake_records(3, 2, "b"))
    store.append(fake_records(5, 1, "c"))
    expected = [{"fold": k, "cell": cell} for k, cell in [(0, "a"), (1, "a"), (2, "a"), (5, "c")]]
    assert store.query(["a", "c"], ["fold", "cell"]).to_pylist() == expected
    assert len(store.query(["nowhere"])) == len(store.query([])) == 0
    assert store.query(columns=["error", "nobody_wrote"]).column_names == ["error", "nobody_wrote"]
    store.compact(minimum=0)
    assert store.query(["a", "c"], ["fold", "cell"]).to_pylist() == expected


def test_a_key_in_two_files_counts_once(store):
    store.append(fake_records(0, 4))
    store.append(fake_records(2, 4))
    assert len(files(store)) == 2
    assert [row["fold"] for row in store.query(columns=["fold"]).to_pylist()] == list(range(6))
    assert len(store.keys()) == 6


def test_compact_keeps_the_content(store):
    for k in range(0, 12, 3):
        store.append(fake_records(k, 3))
    before = rows(store)
    assert store.compact() == 0  # not worth it yet
    assert store.compact(minimum=3) == 4
    assert only_file(store).name.startswith("merged-")
    assert rows(store) == before
    assert store.compact(minimum=0) == 0  # merged files are left alone
    store.append(fake_records(12, 3))
    assert store.compact(minimum=0) == 1
    assert len(store.keys()) == 15


def test_compact_holds_a_part_of_a_large_store_at_a_time(store):
    """A run of 1.8 million trials took 11 GB: all of it was sorted at once."""
    for k in range(12):
        store.append(fake_records(5 * k, 5))
    before, one = rows(store), store.query().nbytes // 12
    assert store.compact(minimum=0, at_once=int(2.5 * one)) == 12
    assert len(files(store)) == 4
    assert rows(store) == before


def test_a_query_of_some_cells_reads_few_row_groups(tmp_path):
    """Row groups of other cells may hold anything: their pages are not looked at."""
    store = TrialStore(tmp_path)
    table = pa.Table.from_pylist(fake_records(0, 2, "a") + fake_records(2, 2, "b"), schema=SCHEMA)
    pq.write_table(table, tmp_path / "two.parquet", row_group_size=2)
    assert len(store.query(["b"], ["error"])) == 2
    path, other = tmp_path / "two.parquet", pq.read_metadata(tmp_path / "two.parquet").row_group(0)
    whole, state = bytearray(path.read_bytes()), path.stat()
    start = other.column(SCHEMA.names.index("error")).data_page_offset
    whole[start : start + 8] = b"nonsense"
    path.write_bytes(whole)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # the same file, as far as this store can know
    assert len(store.query(["b"], ["error"])) == 2
    assert len(TrialStore(tmp_path, read_only=True).query(["b"], ["error"])) == 0  # whoever sees it anew compares it


@pytest.fixture(scope="module")
def one_file(tmp_path_factory):
    """A store of one file, its bytes, and its rows: as it is written now, and as an earlier version wrote it."""
    found = {}
    for name in ("now", "earlier"):
        store = TrialStore(tmp_path_factory.mktemp(name) / "store")
        if name == "now":
            store.append(fake_records(0, 4))
        else:
            shutil.copytree(EARLIER, store.folder)
        found[name] = store, only_file(store), only_file(store).read_bytes(), rows(store)
    return found


def reading(store, path, damaged):
    """Return what a new reader makes of other bytes: its rows, or None where it sets the file aside."""
    path.write_bytes(damaged)
    found = rows(TrialStore(store.folder))
    aside = path.with_suffix(".damaged")
    if aside.exists():
        assert aside.read_bytes() == bytes(damaged)
        assert found == "[]"
        aside.unlink()
        return None
    return found


@pytest.mark.parametrize("version", ["now", "earlier"])
@settings(max_examples=60, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere_gives_no_wrong_value(version, place, bit, one_file):
    store, path, whole, expected = one_file[version]
    damaged = bytearray(whole)
    at = int(place * len(whole))
    damaged[at] ^= 1 << bit
    found = reading(store, path, damaged)
    # only the first bytes, and the mark of the checksums of an earlier version, are of no value
    harmless = version == "earlier" and (at < 4 or damaged.find(b"provsel1") < 0)
    assert found is None or (harmless and found == expected)
    assert reading(store, path, whole) == expected


@pytest.mark.parametrize("version", ["now", "earlier"])
def test_a_file_that_was_cut_is_set_aside(version, one_file, caplog):
    store, path, whole, expected = one_file[version]
    for length in (0, 3, 4, 8, 100, len(whole) // 2, len(whole) - 8, len(whole) - 4, len(whole) - 1):
        caplog.clear()
        assert reading(store, path, whole[:length]) is None
        assert f"store file {path}: expected a whole Parquet file, got" in caplog.text
        assert f"moved to {path.stem}.damaged; its trials will be run again" in caplog.text.replace(
            ".damaged,", ".damaged;"
        )
    assert reading(store, path, whole) == expected


def test_without_a_digest_flipped_bits_of_the_footer_change_what_is_read(store):
    """The negative control: this is what the digest is for."""
    store.append(fake_records(0, 4))
    path, expected = only_file(store), rows(store)
    plain = path.rename(store.folder / "plain.parquet")
    whole, wrong = plain.read_bytes(), 0
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for at in range(footer + 30, footer + 630, 3):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        try:
            wrong += reading(store, plain, damaged) not in (None, expected)
        except ValueError:  # such as a column of another type
            continue
    assert wrong > 0


def test_files_of_others_are_set_aside(store, caplog):
    store.append(fake_records(0, 2))
    (store.folder / "page.parquet").write_text("<html>404</html>")
    pq.write_table(pa.table({"x": [1, 2]}), store.folder / "other.parquet")
    table = pq.read_table(sorted(store.folder.glob("[0-9a-f]*.parquet"), key=lambda path: -len(path.name))[0])
    pq.write_table(table.append_column("error", table["error"]), store.folder / "twice.parquet")
    (store.folder / "page.damaged").write_text("mine")
    assert len(store.keys()) == 2
    assert {name for name in files(store) if name.endswith(".damaged")} == {
        "other.damaged", "page.2.damaged", "page.damaged", "twice.damaged",
    }  # fmt: skip
    assert (store.folder / "page.2.damaged").read_text() == "<html>404</html>"
    assert (store.folder / "page.damaged").read_text() == "mine"
    assert "without the column cell, with one twice" in caplog.text
    note = store.damaged_note()
    assert note.startswith(f"store {store.folder}: 4 damaged files were set aside (other.damaged, page.2.damaged, ")


def test_a_store_of_somebody_else_stays_as_it_is(store, caplog):
    store.append(fake_records(0, 2))
    (store.folder / "page.parquet").write_text("<html>404</html>")
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    theirs = TrialStore(store.folder, read_only=True)
    assert len(theirs.query()) == len(theirs.keys()) == 2
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before
    assert [*theirs.passed_over] == ["page.parquet"]
    assert "left where it is, its trials are left out" in caplog.text


def test_a_damaged_file_that_cannot_be_renamed_is_passed_over_and_not_merged(store, monkeypatch, caplog):
    for k in range(3):
        store.append(fake_records(3 * k, 3))
    path = sorted(store.folder.iterdir())[0]
    path.write_bytes(path.read_bytes()[:-1])
    real = os.replace

    def refuse(source, target):
        if str(target).endswith(".damaged"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        real(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    assert len(store.keys()) == 6
    assert "left where it is (Read-only file system), its trials will be run again" in caplog.text
    assert store.compact(minimum=0) == 2
    assert path.exists()


def test_damaged_trials_are_run_again_and_reported(real_store, tmp_path):
    copied = TrialStore(shutil.copytree(real_store.folder, tmp_path / "store"))
    path = sorted(copied.folder.glob("*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-20])
    report, text = run_quietly([small_cell(UNIFORM), small_cell(FULL)], copied)
    assert (report.n_found, report.n_run) == (6, 3)
    assert "1 damaged file was set aside" in text
    stable = [name for name in SCHEMA.names if name not in TIMING]
    assert rows(copied, columns=stable) == rows(real_store, columns=stable)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO])
def test_a_file_that_the_system_does_not_give_is_not_called_damaged(number, store, monkeypatch):
    store.append(fake_records(0, 2))
    path = only_file(store)

    def refuse(self, *_):
        raise OSError(number, os.strerror(number), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        with pytest.raises(OSError, match=rf"store file {path}: expected to read it, got '.*'; it stays where it is"):
            store.keys()
    assert len(store.keys()) == 2


def test_a_newer_schema_is_refused_and_left_alone(store):
    store.append(fake_records(0, 1))
    rewritten(store, lambda table: table.replace_schema_metadata({"provsel_schema": str(VERSION + 1)}))
    for use in (store.keys, store.query):
        with pytest.raises(ValueError, match=rf"expected schema version up to {VERSION}, got {VERSION + 1}; .*upgrade"):
            use()
    assert only_file(store).exists()


@pytest.mark.parametrize(
    "options", [{"write_page_checksum": True}, {"write_statistics": False}, {"use_dictionary": False}]
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


def test_columns_that_an_older_file_lacks_are_null(store):
    store.append(fake_records(0, 2))
    rewritten(store, lambda table: table.drop_columns(["n_repeats", "certificate_soft"]))
    store.append(fake_records(2, 1))
    expected = [
        {"n_repeats": None, "certificate_soft": None, "fold": 0},
        {"n_repeats": None, "certificate_soft": None, "fold": 1},
        {"n_repeats": 1, "certificate_soft": "", "fold": 2},
    ]
    assert store.query(columns=["n_repeats", "certificate_soft", "fold"]).to_pylist() == expected
    store.compact(minimum=0)
    assert store.query(columns=["n_repeats", "certificate_soft", "fold"]).to_pylist() == expected
    assert len(store.encoded(["n_repeats"], complete=True)) == 3


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
    table = pa.Table.from_pylist(fake_records(first, 2, "cell"), schema=SCHEMA)
    place = table.column_names.index(name) if name in table.column_names else 0  # a nested one moves all others
    table = table.drop_columns(name) if name in table.column_names else table
    store.folder.mkdir(exist_ok=True)
    pq.write_table(table.add_column(place, name, column), store.folder / f"own{first}.parquet")


def test_an_own_column_has_one_type_or_is_refused_by_name(tmp_path):
    for first in OWN:
        for second in OWN:
            store = TrialStore(tmp_path / f"{first}-{second}")
            with_column(store, "mine", 0, OWN[first])
            with_column(store, "mine", 2, OWN[second])
            kinds = {"codes": "text", "large": "text", "null": "nothing"}
            kinds = {kinds.get(kind, kind) for kind in (first, second)} - {"nothing"}
            no_measure = {*kinds} & {"nested", "time", "bytes", "bool"}
            assert len(store.query(["cell"], ["key"])) == 4  # whatever else is there
            if len(kinds) < 2 and not no_measure:
                expected = [
                    [None] * 2 if kind in ("nothing", "null") else OWN[kind].to_pylist() for kind in (first, second)
                ]
                assert store.query(columns=["mine"])["mine"].to_pylist() == [*expected[0], *expected[1]]
                assert store.encoded(["key", "mine"]).num_rows == 4
                continue
            message = (
                "own columns to have .*got 'mine' as" if no_measure else r"the column mine as .*own0\.parquet, got"
            )
            for use in (store.query, store.columns):
                with pytest.raises(ValueError, match=r"store file .*own\d\.parquet: expected " + message):
                    use()


def test_a_column_of_ours_with_another_type_is_refused_by_name(tmp_path):
    fitting = {"error": {"number", "whole"}, "source": {"text", "codes", "large", "bytes"}, "features": {"features"}}
    for name, kinds in fitting.items():
        for kind in OWN:
            store = TrialStore(tmp_path / f"{name}-{kind}")
            with_column(store, name, 0, OWN[kind])
            if kind in kinds | {"nothing", "null"}:
                assert store.query(columns=[name])[name].null_count == (2 if kind in ("nothing", "null") else 0)
                continue
            with pytest.raises(ValueError, match=rf"own0\.parquet: expected the column {name} as .*, got .*move"):
                store.query()


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "a b", "\x1b[31m", "a\u202eb", "a\nb", ""])
def test_a_column_that_no_measure_can_have_is_refused(name, store):
    with_column(store, name, 0, OWN["number"])
    with pytest.raises(ValueError, match="expected own columns to have a name of letters and digits") as caught:
        store.query()
    assert repr(name) in str(caught.value)


FILL = """
import sys
sys.path[:0] = [{tests!r}]
from small_runs import fake_records
from provlab.store import TrialStore
store = TrialStore(sys.argv[1])
{body}
"""


def filling(body, folder, *arguments):
    script = FILL.format(tests=str(TESTS), body=body)
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder), *arguments],
        env=script_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_limit_of_the_system_on_the_size_of_files_leaves_nothing(store):
    """A write that the system itself stops half-way, as on a full disk."""
    body = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store.append(fake_records(0, 2))
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
for use in (lambda: store.append(fake_records(2, 50)), lambda: store.compact(minimum=0)):
    try:
        use()
    except OSError as error:
        print("refused:", error)
"""
    said, _ = filling(body, store.folder).communicate(timeout=120)
    assert said.count("refused: [Errno 27] store") == 2
    assert len(files(store)) == 1
    assert len(store.keys()) == 2


def test_a_killed_process_leaves_a_readable_store(tmp_path, caplog):
    body = "for k in range(100000): store.append(fake_records(10 * k, 10)); print(k, flush=True)"
    for attempt in range(3):
        store = TrialStore(tmp_path / f"store{attempt}")
        process = filling(body, store.folder)
        for line in process.stdout:
            if line.strip() == "3":
                break
        time.sleep(0.003 * (attempt + 1))
        process.kill()
        written = process.stdout.read().split()
        process.wait()
        with caplog.at_level(logging.WARNING):
            n = len(store.keys())
        # at least what was reported as written, whole files only, nothing set aside
        assert n % 10 == 0
        assert n >= 10 * (int(written[-1] if written else 3) + 1)
        assert caplog.text == ""


def test_two_writers_that_merge_and_a_reader(store):
    body = "for k in range(15): store.append(fake_records(10 * k + int(sys.argv[2]), 10)); store.compact(minimum=4)"
    writers = [filling(body, store.folder, first) for first in ("0", "5")]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        keys = store.keys()
        assert seen <= keys  # what was there once stays
        seen = keys
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(store.keys()) == len(store.query()) == 155


def test_a_copy_of_a_store_is_the_store(tmp_path):
    first, second = TrialStore(tmp_path / "a"), TrialStore(tmp_path / "b")
    first.append(fake_records(0, 3))
    second.append(fake_records(3, 3))
    for path in second.folder.iterdir():
        shutil.copy(path, first.folder)
    assert len(first.keys()) == 6
