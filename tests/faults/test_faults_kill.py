"""Runs, writers and merges that are killed: what is stored is whole, and the same command resumes to the same bytes."""

import os
import random
import shutil
import time

import pytest
from fault_tools import (
    KILLED,
    killed_after,
    killed_at_byte,
    killed_at_call,
    leftovers,
    planned,
    reproduce,
    small_artefact,
    start,
    wait,
)

from provlab.core.store import TrialStore
from provsel.files import ABANDONED, replacing
from small_runs import fake_records, outcome, rows

SEED = 20260101
KILLS = 20
"""Of a run at random moments, the writer included."""

CHAIN = 10
"""Kills of one run before it may finish."""


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Tables and records of an undisturbed run, and its seconds in such a process."""
    results = tmp_path_factory.mktemp("undisturbed")
    small_artefact()
    begin = time.monotonic()
    assert wait(start(lambda: reproduce(results))) == 0
    seconds = time.monotonic() - begin
    tables, records = outcome(results)
    assert {name.rsplit(".")[-1] for name in tables} >= {"csv", "md", "tex", "json"}
    return tables, records, seconds


def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(tmp_path, expected):
    tables, records, seconds = expected
    chosen = random.Random(SEED)
    n_killed = 0
    stored_at = set()
    for chain in range(KILLS // CHAIN):
        results = tmp_path / f"results{chain}"
        for _ in range(CHAIN):
            while (
                killed_after(
                    chosen.uniform(0.0, seconds / 2), lambda at=results: reproduce(at)
                )
                != KILLED
            ):
                pass  # it was through before
            n_killed += 1
            keys = TrialStore(results / "store").keys()
            assert keys <= planned()
            stored_at.add(len(keys))
        assert not [name for name in leftovers(results) if name.endswith(".damaged")]
        reproduce(results)
        assert outcome(results) == (tables, records)
    assert n_killed == KILLS
    # not all before the first task was stored, nor all after the last
    assert len(stored_at) > 1


def every_call(folder, copy_of, body):
    """Yield the number of each call at which a process was killed, and the folder as it was then; the last is whole."""
    for n in range(1, 400):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(copy_of, folder)
        status = killed_at_call(n, folder, body)
        assert status in (0, KILLED)
        yield n, status
        if status == 0:
            return
    raise AssertionError("expected an end to the calls")


@pytest.fixture
def stored(tmp_path):
    """A store with three small files of two cells."""
    store = TrialStore(tmp_path / "original")
    for k, cell in enumerate("bab"):
        store.append(fake_records(3 * k, 3, cell))
    return store


def test_append_killed_at_every_call(stored, tmp_path):
    before = rows(stored)
    new = fake_records(9, 3, "c")
    store = TrialStore(tmp_path / "copy")
    after = None
    seen = []
    for _, status in every_call(store.folder, stored.folder, lambda: store.append(new)):
        seen.append(rows(store))
        store.append(new)
        after = after or rows(store)
        assert rows(store) == after
        assert (
            len([path for path in store.folder.iterdir() if path.suffix == ".parquet"])
            == 4
        )
        assert not [
            name for name in leftovers(store.folder) if name.endswith(".damaged")
        ]
        if status == 0:
            assert leftovers(store.folder) == []
    assert len(seen) > 5
    assert set(seen) == {before, after}  # all or nothing, and both occurred
    assert seen == sorted(seen, key=[before, after].index)


def test_merge_killed_at_every_call(stored, tmp_path):
    before = rows(stored)
    store = TrialStore(tmp_path / "copy")
    n_files = set()
    for _, status in every_call(
        store.folder, stored.folder, lambda: store.compact(minimum=0)
    ):
        n_files.add(
            len([path for path in store.folder.iterdir() if path.suffix == ".parquet"])
        )
        assert rows(store) == before
        store.compact(minimum=0)
        assert rows(store) == before
        assert (
            len([path for path in store.folder.iterdir() if path.suffix == ".parquet"])
            == 1
            or status == KILLED
        )
    assert n_files == {1, 2, 3, 4}  # before, between and after the removals


@pytest.mark.parametrize("use", ["append", "compact"])
def test_writer_killed_in_the_middle_of_the_file(use, stored, tmp_path):
    before = rows(stored)
    new = fake_records(9, 60, "c")
    whole = shutil.copytree(stored.folder, tmp_path / "whole")
    TrialStore(whole).append(new)
    size = max(path.stat().st_size for path in whole.glob("*.parquet"))
    n_killed = 0
    for n in (
        0,
        1,
        4,
        100,
        size // 2,
        size - 16_000,
        size - 3000,
        size - 200,
        size - 1,
    ):
        folder = shutil.copytree(stored.folder, tmp_path / f"at{n}")
        store = TrialStore(folder)
        uses = {
            "append": lambda at=store: at.append(new),
            "compact": lambda at=store: at.compact(minimum=0),
        }
        n_killed += killed_at_byte(n, uses[use]) < 0
        assert rows(store) == before or use == "append"
        uses[use]()
        assert rows(store) == (rows(TrialStore(whole)) if use == "append" else before)
    assert n_killed >= 5


def test_what_killed_writers_left_is_removed_after_an_hour(stored):
    names = [
        ".0123.parquet.0123456789ab.part",
        ".probe.0123456789ab.part",
        ".young.parquet.0123456789ab.part",
    ]
    others = [".0123.part", "notes.part", ".future.parquet.0123456789ab.part"]
    for name in [*names, *others]:
        (stored.folder / name).write_bytes(b"half a file")
    now = time.time()
    for name in (*names[:2], *others[:2]):
        os.utime(stored.folder / name, (now, now - ABANDONED - 60))
    os.utime(stored.folder / names[2], (now, now - ABANDONED / 2))
    os.utime(stored.folder / others[2], (now, now + 10 * ABANDONED))
    before = rows(stored)
    stored.prepare()
    assert leftovers(stored.folder) == sorted([names[2], *others])
    assert rows(stored) == before


def kind_of(descriptor):
    return (
        "folder"
        if os.path.isdir(os.readlink(f"/proc/self/fd/{descriptor}"))
        else "file"
    )


def test_the_names_in_the_folder_are_synced_before_anything_is_removed(
    stored, monkeypatch
):
    """Or a power cut after a merge could leave neither the large file nor the small ones."""
    calls = []
    for name in ("fsync", "replace", "unlink", "remove"):
        real = getattr(os, name)

        def noted(first, *rest, name=name, real=real, **options):
            calls.append(f"{name} {kind_of(first)}" if isinstance(first, int) else name)
            return real(first, *rest, **options)

        monkeypatch.setattr(os, name, noted)
    stored.compact(minimum=0)
    monkeypatch.undo()
    done = [call for call in calls if call.startswith(("fsync", "replace"))]
    assert done == ["fsync file", "replace", "fsync folder"]
    assert calls[: len(done)] == done
    assert calls.count("unlink") >= 3


def test_a_folder_that_cannot_be_synced_is_no_error(tmp_path, monkeypatch):
    real = os.fsync

    def only_files(descriptor):
        if kind_of(descriptor) == "folder":
            raise OSError(22, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    with replacing(tmp_path / "a") as temporary:
        temporary.write_bytes(b"x")
    assert (tmp_path / "a").read_bytes() == b"x"
