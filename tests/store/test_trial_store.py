"""The store gives back what was written, and whole files only, whatever happens during a write."""

import contextlib
import errno
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provlab.store import SCHEMA, TIMING, VERSION, TrialStore, trial_store
from small_runs import FULL, UNIFORM, fake_records, rows, run_python, run_quietly, script_environment, small_cell

TESTS = Path(__file__).resolve().parents[1]


def files(folder):
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.fixture
def store(tmp_path):
    return TrialStore(tmp_path / "store")


@pytest.fixture(scope="module")
def real_store(tmp_path_factory):
    """A store with the trials of two cells; copied, never written to."""
    made = TrialStore(tmp_path_factory.mktemp("real") / "store")
    run_quietly([small_cell(UNIFORM), small_cell(FULL)], made)
    return made


@pytest.fixture
def copied(real_store, tmp_path):
    return TrialStore(shutil.copytree(real_store.folder, tmp_path / "store"))


def test_empty_store_makes_no_folder(store):
    assert store.keys() == set()
    assert store.query().num_rows == 0
    assert store.query().schema.names == SCHEMA.names
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
    assert [path.suffix for path in store.folder.iterdir()] == [".parquet"]


def test_real_records_keep_their_features_and_certificates(real_store):
    table = real_store.query().to_pylist()
    assert len(table) == 3 * (2 + 1)
    assert {len(row["features"]) for row in table if row["selector"] == "UniformSelector"} == {20}
    assert {row["features"] for row in table if row["selector"] == "FullDataSelector"} == {None}
    assert table == sorted(table, key=lambda row: row["key"])


def test_appending_twice_changes_nothing(store):
    store.append(fake_records(0, 4))
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    store.append(fake_records(0, 4)[::-1])
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before


def test_query_takes_cells_and_columns(store):
    store.append(fake_records(0, 3, "a"))
    store.append(fake_records(3, 2, "b"))
    store.append(fake_records(5, 1, "c"))
    assert store.query(["a", "c"], ["fold", "cell"]).to_pylist() == [
        {"fold": k, "cell": cell} for k, cell in [(0, "a"), (1, "a"), (2, "a"), (5, "c")]
    ]
    assert store.query(["nowhere"]).num_rows == 0
    assert store.query([]).num_rows == 0
    assert store.query(columns=["error"]).column_names == ["error"]


def test_a_key_in_two_files_counts_once(store):
    store.append(fake_records(0, 4))
    store.append(fake_records(2, 4))
    assert len(files(store.folder)) == 2
    assert [row["fold"] for row in store.query(columns=["fold"]).to_pylist()] == list(range(6))
    assert len(store.keys()) == 6


def test_compact_keeps_the_content(store):
    for k in range(0, 12, 3):
        store.append(fake_records(k, 3))
    before = rows(store)
    assert store.compact() == 0  # not worth it yet
    assert len(files(store.folder)) == 4
    assert store.compact(minimum=3) == 4
    [name] = files(store.folder)
    assert name.startswith("merged-")
    assert rows(store) == before
    assert store.compact(minimum=0) == 0  # merged files are left alone
    store.append(fake_records(12, 3))
    assert store.compact(minimum=0) == 1
    assert len(store.keys()) == 15


def test_compact_holds_a_part_of_a_large_store_at_a_time(store, monkeypatch):
    """A run of 1.8 million trials took 11 GB: all of it was sorted at once."""
    n, held = 5, []
    for k in range(12):
        store.append(fake_records(n * k, n))
    one = store.query().nbytes / 12
    monkeypatch.setattr(trial_store, "MERGED", int(2.5 * one))
    add = store.add
    monkeypatch.setattr(store, "add", lambda trials: (held.append(trials.nbytes), add(trials)))
    before = rows(store)
    assert store.compact(minimum=0) == 12
    assert len(held) == len(files(store.folder)) == 4
    assert max(held) < 3.5 * one
    assert rows(store) == before


@pytest.mark.parametrize("work", ["compact", "query"])
def test_the_folder_is_listed_as_often_whatever_the_number_of_files(tmp_path, monkeypatch, work):
    """A store with own measures took minutes to compact thousands of files: all were listed for each of them."""
    listings, glob = [], Path.glob
    monkeypatch.setattr(Path, "glob", lambda *args: listings.append(args) or glob(*args))
    counts = []
    for n_files in (3, 30):
        store = TrialStore(tmp_path / f"{n_files}")
        for k in range(n_files):
            store.append([{**record, "own": 1.0} for record in fake_records(k, 1)])
        listings.clear()
        if work == "compact":
            assert store.compact(minimum=0) == n_files
        else:
            assert store.query(columns=["own"])["own"].to_pylist() == [1.0] * n_files
        counts.append(len(listings))
    assert 0 < counts[0] == counts[1]


def test_a_merge_that_was_cut_short_shows_nothing_twice(store, monkeypatch):
    for k in range(0, 9, 3):
        store.append(fake_records(k, 3))
    before = rows(store)

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", stop)
        with pytest.raises(KeyboardInterrupt):
            store.compact(minimum=0)
    assert len([name for name in files(store.folder) if name.endswith(".parquet")]) == 4
    assert rows(store) == before
    store.compact(minimum=0)
    assert rows(store) == before


@pytest.mark.parametrize("keep", [0, 3, 100, -1], ids=["empty", "magic", "head", "without last byte"])
def test_truncated_file_is_set_aside(copied, caplog, keep):
    path = sorted(copied.folder.glob("*.parquet"))[0]
    lost = set(pq.read_table(path)["key"].to_pylist())
    every = copied.keys()
    path.write_bytes(path.read_bytes()[:keep])
    with caplog.at_level(logging.WARNING):
        assert copied.keys() == every - lost
    assert f"store file {path}: expected a whole Parquet file" in caplog.text
    assert "its trials will be run again" in caplog.text
    assert not path.exists()
    assert path.with_suffix(".damaged").exists()
    caplog.clear()
    assert copied.keys() == every - lost
    assert caplog.text == ""


def test_damaged_trials_are_run_again(copied, real_store):
    path = sorted(copied.folder.glob("*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-20])
    report, _ = run_quietly([small_cell(UNIFORM), small_cell(FULL)], copied)
    assert (report.n_found, report.n_run) == (6, 3)
    stable = [name for name in SCHEMA.names if name not in TIMING]
    assert rows(copied, columns=stable) == rows(real_store, columns=stable)


def test_flipped_bits_in_the_values_are_noticed(copied):
    """Without page checksums half of these would pass as other numbers."""
    path = sorted(copied.folder.glob("*.parquet"))[0]
    whole, before = path.read_bytes(), rows(copied)
    values_end = max(
        column.data_page_offset + column.total_compressed_size
        for group in [pq.read_metadata(path).row_group(0)]
        for column in (group.column(k) for k in range(group.num_columns))
    )
    chosen = random.Random(0)
    set_aside = 0
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[chosen.randrange(4, values_end)] ^= 1 << chosen.randrange(8)
        path.write_bytes(damaged)
        after = rows(copied)
        set_aside += not path.exists()
        assert after == before or not path.exists()
    assert set_aside > 75


def test_flipped_bits_in_the_footer_raise_nothing_strange(copied):
    path = sorted(copied.folder.glob("*.parquet"))[0]
    whole = path.read_bytes()
    path.unlink()
    others = copied.keys()
    chosen = random.Random(1)
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[chosen.randrange(len(whole) * 2 // 3, len(whole))] ^= 1 << chosen.randrange(8)
        path.write_bytes(damaged)
        # the bit may have been in the version number: refused, as a newer one
        with contextlib.suppress(ValueError):
            assert copied.keys() >= others


def test_foreign_file_is_set_aside(store, caplog):
    store.append(fake_records(0, 2))
    (store.folder / "page.parquet").write_text("<html>404</html>")
    assert len(store.keys()) == 2
    assert "page.parquet" in caplog.text
    assert (store.folder / "page.damaged").read_text() == "<html>404</html>"


def test_parquet_file_of_something_else_is_set_aside(store, caplog):
    store.append(fake_records(0, 2))
    pq.write_table(pa.table({"x": [1, 2]}), store.folder / "other.parquet")
    assert len(store.keys()) == 2
    assert "without the column key" in caplog.text


def test_nothing_is_set_aside_over_another_file(store):
    store.append(fake_records(0, 2))
    for text in ("mine", "first", "second"):
        path = store.folder / "page.damaged" if text == "mine" else store.folder / "page.parquet"
        path.write_text(text)
        assert len(store.keys()) == 2
    found = {path.name: path.read_text() for path in store.folder.glob("page*")}
    assert found == {"page.damaged": "mine", "page.2.damaged": "first", "page.3.damaged": "second"}
    assert len(store.damaged_files()) == 3


def test_a_store_of_somebody_else_stays_as_it_is(store, caplog):
    store.append(fake_records(0, 2))
    (store.folder / "page.parquet").write_text("<html>404</html>")
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    theirs = TrialStore(store.folder, read_only=True)
    assert len(theirs.query()) == len(theirs.keys()) == 2
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before
    assert "left where it is, its trials are left out" in caplog.text


def test_columns_that_an_older_file_lacks_are_null(store):
    records = fake_records(0, 2)
    store.append(records)
    [path] = store.folder.iterdir()
    pq.write_table(pq.read_table(path).drop_columns(["n_repeats", "certificate_soft"]), path)
    store.append(fake_records(2, 1))
    assert store.query(columns=["n_repeats", "certificate_soft", "fold"]).to_pylist() == [
        {"n_repeats": None, "certificate_soft": None, "fold": 0},
        {"n_repeats": None, "certificate_soft": None, "fold": 1},
        {"n_repeats": 1, "certificate_soft": "", "fold": 2},
    ]
    store.compact(minimum=0)
    assert store.query(columns=["n_repeats"]).to_pylist() == [{"n_repeats": n} for n in (None, None, 1)]


def test_newer_schema_is_refused_and_left_alone(store):
    store.append(fake_records(0, 1))
    [path] = store.folder.iterdir()
    newer = {"provsel_schema": str(VERSION + 1)}
    pq.write_table(pq.read_table(path).replace_schema_metadata(newer), path)
    for use in (store.keys, store.query):
        with pytest.raises(ValueError, match=rf"expected schema version up to {VERSION}, got {VERSION + 1}; .*upgrade"):
            use()
    assert path.exists()


def test_failed_write_leaves_nothing(store, monkeypatch):
    store.append(fake_records(0, 2))
    before = files(store.folder)
    whole = pq.write_table

    def half(table, where, **options):
        whole(table, where, **options)
        Path(where).write_bytes(Path(where).read_bytes()[:500])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", half)
    for use in (lambda: store.append(fake_records(2, 2)), lambda: store.compact(minimum=0)):
        with pytest.raises(OSError, match="No space left on device"):
            use()
        assert files(store.folder) == before
    monkeypatch.undo()
    store.append(fake_records(2, 2))
    assert len(store.keys()) == 4


def test_leftover_temporary_file_is_ignored(store):
    store.append(fake_records(0, 2))
    [path] = store.folder.iterdir()
    (store.folder / f".{path.name}.0123456789ab.part").write_bytes(b"half a file")
    assert len(store.keys()) == 2
    assert store.compact(minimum=0) == 1
    assert len(store.keys()) == 2


FILL = """
import sys
sys.path.insert(0, {tests!r})
sys.path.insert(0, {here!r})
from small_runs import fake_records
from provlab.store import TrialStore
store = TrialStore(sys.argv[1])
print("ready", flush=True)
{body}
"""


def filling(body):
    return FILL.format(tests=str(TESTS), here=str(Path(__file__).parent), body=body)


def test_file_size_limit_of_the_system_leaves_nothing(tmp_path):
    """A write that the system itself stops half-way, as on a full disk."""
    body = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store.append(fake_records(0, 2))
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    store.append(fake_records(2, 50))
except OSError as error:
    print("refused:", error)
"""
    done = run_python(["-c", filling(body), tmp_path / "store"], tmp_path)
    assert "refused:" in done.stdout, done.stderr
    assert len(files(tmp_path / "store")) == 1
    assert len(TrialStore(tmp_path / "store").keys()) == 2


def test_full_disk_leaves_nothing(tmp_path):
    mount = f"mount -t tmpfs -o size=64k tmpfs {tmp_path}"
    probe = ["unshare", "-m", "sh", "-c", mount]
    if not shutil.which("unshare") or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small tmpfs in a mount namespace")
    body = """
import os
k = 0
try:
    while True:
        store.append(fake_records(k, 20))
        k += 20
except OSError as error:
    print("refused:", error.errno, error)
names = os.listdir(sys.argv[1])
print("parts:", [name for name in names if name.endswith(".part")])
print("kept all:", len(store.keys()) == k > 0)
"""
    inside = f'{mount} && exec "$0" "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inside, sys.executable, "-c", filling(body), str(tmp_path / "store")],
        capture_output=True, text=True, timeout=60, env=script_environment(), check=False,
    )  # fmt: skip
    assert "No space left on device" in done.stdout, done.stderr
    assert "parts: []" in done.stdout
    assert "kept all: True" in done.stdout


def test_killed_process_leaves_a_readable_store(tmp_path, caplog):
    body = "for k in range(100000): store.append(fake_records(10 * k, 10)); print(k, flush=True)"
    for attempt in range(3):
        folder = tmp_path / f"store{attempt}"
        process = subprocess.Popen(
            [sys.executable, "-c", filling(body), str(folder)],
            stdout=subprocess.PIPE,
            text=True,
            env=script_environment(),
        )
        for line in process.stdout:
            if line.strip() == "3":
                break
        time.sleep(0.003 * (attempt + 1))
        os.kill(process.pid, signal.SIGKILL)
        written = process.stdout.read().split()
        assert process.wait() == -signal.SIGKILL
        store = TrialStore(folder)
        with caplog.at_level(logging.WARNING):
            n = len(store.keys())
        # at least what was reported as written, whole files only, nothing set aside
        assert n % 10 == 0
        assert n >= 10 * (int(written[-1] if written else 3) + 1)
        assert caplog.text == ""
        store.append(fake_records(10**7, 1))
        assert len(store.keys()) == n + 1


def test_two_writers_at_once(tmp_path):
    body = "for k in range(15): store.append(fake_records(10 * k + int(sys.argv[2]), 10)); store.compact(minimum=4)"
    folder = tmp_path / "store"
    arguments = [sys.executable, "-c", filling(body), str(folder)]
    writers = [subprocess.Popen([*arguments, first], env=script_environment()) for first in ("0", "5")]
    store = TrialStore(folder)
    while any(writer.poll() is None for writer in writers):
        store.query(columns=["fold"])
        time.sleep(0.02)
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(store.keys()) == 155
