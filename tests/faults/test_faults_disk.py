"""Disks that are full, folders that are read-only, clocks that jump."""

import contextlib
import errno
import io
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from fault_tools import leftovers, message, on_small_disk, reproduce, small_artefact
from rich.console import Console

from made_paper import made_paper
from provlab.cli import main
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.core.tables import write_text
from provlab.custody.site import build_report
from provlab.run import executors, runner
from provsel.files import ABANDONED, probe
from small_runs import SMALL, fake_records, files_of, outcome, rows

FULL = "No space left on device"
READ_ONLY = "Read-only file system"


def refusing(number, path=None):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number), path)

    return refuse


FAULTS = {
    "writing": lambda patch: patch.setattr(Path, "write_bytes", refusing(errno.ENOSPC)),
    "fsync": lambda patch: patch.setattr(os, "fsync", refusing(errno.ENOSPC)),
    "quota": lambda patch: patch.setattr(os, "fsync", refusing(errno.EDQUOT)),
    "replace": lambda patch: patch.setattr(os, "replace", refusing(errno.ENOSPC)),
    "read-only": lambda patch: patch.setattr(os, "replace", refusing(errno.EROFS)),
    "not allowed": lambda patch: patch.setattr(os, "replace", refusing(errno.EACCES)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_that_is_refused_anywhere_leaves_nothing(fault, tmp_path, monkeypatch):
    store = TrialStore(tmp_path / "store")
    for k in range(3):
        store.append(fake_records(3 * k, 3))
    before = rows(store)
    names = sorted(path.name for path in store.folder.iterdir())
    step = (
        "make it writable, or name another"
        if fault in ("read-only", "not allowed")
        else "make room"
    )
    expected = (
        rf"store {store.folder}: expected room for \d+ records, got '.*'; no partial file is left, .*: {step}.*, "
        rf"then run"
    )
    for use in (
        lambda: store.append(fake_records(9, 3)),
        lambda: store.compact(minimum=0),
    ):
        with monkeypatch.context() as patch:
            FAULTS[fault](patch)
            with pytest.raises(OSError, match=expected):
                use()
        assert sorted(path.name for path in store.folder.iterdir()) == names
        assert rows(store) == before
    store.append(fake_records(9, 3))
    assert store.compact(minimum=0) == 4
    assert len(store.keys()) == 12


def test_a_run_on_a_disk_that_gets_full_goes_on_later(tmp_path, monkeypatch):
    """Refused at the second file; the first stays, and no table is written."""
    reproduce(tmp_path / "undisturbed")
    results = tmp_path / "results"
    real = Path.write_bytes
    count = iter(range(100))

    def full_soon(*arguments):
        if next(count) == 1:
            refusing(errno.ENOSPC)()
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full_soon)
        with pytest.raises(
            OSError,
            match=rf"store .*expected room for 3 records, got '{FULL}'.*make room, then run",
        ):
            reproduce(results)
    assert len(TrialStore(results / "store").keys()) == 3
    assert not (results / "tables").exists()
    assert leftovers(results) == []
    report = reproduce(results)
    assert report.n_found == 3
    assert report.n_run == 6
    assert outcome(results) == outcome(tmp_path / "undisturbed")


def test_a_full_disk(tmp_path):
    """The real thing: appended until it is full, merged in no room, gone on after space is made."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def fill(_):
        store = TrialStore(folder / "store")
        k = 0
        refused = ""
        while k < 1000 and not refused:
            refused = message(lambda first=k: store.append(fake_records(first, 20)))
            k += 0 if refused else 20
        refusals = [
            refused,
            message(store.prepare),
            message(lambda: write_text(folder / "t.csv", "x" * 100_000)),
        ]
        store_merges = message(lambda: store.compact(minimum=0))
        kept = len(store.keys()), len(StoreSnapshot(store)), k
        left = leftovers(folder), sorted(path.name for path in folder.iterdir())
        for path in sorted(store.folder.iterdir())[:3]:
            path.unlink()
        store.prepare()
        store.append(fake_records(10_000, 20))
        return refusals, store_merges, kept, left, len(store.keys()) - k

    refusals, merges, (n_keys, n_rows, n_stored), left, more = on_small_disk(
        folder, "400k", fill
    )
    assert "expected room for 20 records, got 'No space left on device'" in refusals[0]
    assert all(FULL in text for text in refusals)
    assert merges == "" or FULL in merges
    assert n_keys == n_rows == n_stored
    assert left == [[], ["store"]]
    assert more == 20 - 3 * 20


def test_a_run_says_that_it_cannot_write_before_it_computes(tmp_path, monkeypatch):
    def forbidden(*_):
        raise AssertionError("computed what cannot be stored")

    for number, step in (
        (errno.EROFS, "make it writable, or name another"),
        (errno.ENOSPC, "make room"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(executors, "run_task", forbidden)
            patch.setattr(os, "fsync", refusing(number))
            with pytest.raises(
                OSError,
                match=rf"store .*: expected a folder that can be written, got .*{step}",
            ):
                reproduce(tmp_path / "results")
    (tmp_path / "file").write_text("x")
    with monkeypatch.context() as patch:
        patch.setattr(executors, "run_task", forbidden)
        with pytest.raises(
            OSError, match=r"store .*: expected a folder that can be written, got"
        ):
            reproduce(tmp_path / "file")


def test_a_merge_that_finds_no_room_does_not_spoil_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr(TrialStore, "compact", refusing(errno.ENOSPC))
    console = Console(file=io.StringIO(), width=200)
    report = runner.run_cells(
        small_artefact().cells,
        TrialStore(tmp_path),
        {"name": "serial"},
        console=console,
    )
    assert report.n_run == 9
    assert len(report.failures) == 0
    assert f"not merged: [Errno {errno.ENOSPC}] {FULL}" in console.file.getvalue()


TABLE = ["reproduce", "made2000/table", *SMALL, "executor=serial"]


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """Work in a project with one small table and without data, in which `results/store` is an empty folder."""
    made_paper(tmp_path, monkeypatch)
    (tmp_path / "results" / "store").mkdir(parents=True)
    return tmp_path


def test_commands_that_read_work_on_a_read_only_store(paper):
    """Tables, verdicts and the report go elsewhere; a file that is damaged is passed over."""

    def use(make_read_only):
        results = Path("results")
        codes = [main(TABLE)]
        before = files_of(results / "tables")
        shutil.rmtree(results / "tables")
        make_read_only()
        codes += [
            main([*TABLE, "--render"]),
            main(TABLE),
            main(["status"]),
            main(["verify", *SMALL]),
        ]
        is_same = files_of(results / "tables") == before
        page = build_report(results, SMALL)
        more = main([*TABLE, "protocol.repeats=2"])
        return codes, is_same, len(before), page.is_file(), more

    assert on_small_disk(paper / "results" / "store", "4m", use) == [
        [0] * 5,
        True,
        4,
        True,
        2,
    ]


def test_commands_that_write_say_what_helps_on_a_read_only_folder(paper):
    run = [
        "dataset=synthetic",
        "selector=uniform",
        "selector.n_features_to_select=3",
        "executor=serial",
    ]
    commands = [
        ["export"], ["report", *SMALL], ["merge", "theirs"], ["verify", *SMALL], TABLE, [*TABLE, "--render"],
        ["run", *run], ["run", "-m", *run],
    ]  # fmt: skip

    def use(make_read_only):
        assert main(TABLE) == 0
        shutil.copytree("results/store", "theirs")
        shutil.rmtree("results/tables")
        next(Path("results/store").glob("*.parquet")).unlink()
        make_read_only()
        outcomes = []
        for command in commands:
            with contextlib.redirect_stderr(io.StringIO()) as printed:
                try:
                    status = main(command)
                except SystemExit as stop:  # as Hydra ends a job
                    status = stop.code
            outcomes.append([status, printed.getvalue()])
        return outcomes

    for command, (status, printed) in zip(
        commands, on_small_disk(paper / "results", "40m", use), strict=True
    ):
        assert status in (1, 2), command
        assert re.search(
            rf"provsel: .*results/?.*: expected .*'{READ_ONLY}'.*; .*make it writable",
            printed,
        ), command


class Jumping:
    """A clock that is a year ahead, or back, at every other look."""

    def __init__(self):
        self.real = time.time
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return self.real() + (365 * 86400.0 if self.looks % 2 else -365 * 86400.0)


def test_results_do_not_depend_on_clocks(tmp_path, monkeypatch):
    reproduce(tmp_path / "undisturbed")
    results = tmp_path / "results"
    with monkeypatch.context() as patch:
        clock = Jumping()
        patch.setattr(time, "time", clock)
        patch.setattr(time, "time_ns", lambda: int(clock() * 1e9))
        reproduce(results)
    paths = sorted((results / "store").iterdir())
    for path, moment in zip(paths, (0, 1, 4_000_000_000), strict=True):  # 1970 and 2096
        os.utime(path, (moment, moment))
    os.utime(results / "store", (4_000_000_000, 4_000_000_000))
    report = reproduce(results)
    assert report.n_found == 9
    assert report.n_run == 0
    assert outcome(results) == outcome(tmp_path / "undisturbed")
    assert len(StoreSnapshot(TrialStore(results / "store"))) == 9


def test_a_clock_of_this_host_that_is_wrong_removes_no_living_writers_file(
    tmp_path, monkeypatch
):
    """Ages are differences of times of files, all by the clock of their file system."""
    store = TrialStore(tmp_path / "store")
    store.append(fake_records(0, 2))
    living = store.folder / ".0123.parquet.0123456789ab.part"
    living.write_bytes(b"half a file")
    now = time.time()
    for shift in (365 * 86400.0, -365 * 86400.0):
        monkeypatch.setattr(time, "time", lambda shift=shift: now + shift)
        store.prepare()
        assert living.exists()
    assert abs(probe(store.folder) - living.stat().st_mtime) < ABANDONED
