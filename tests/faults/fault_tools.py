"""Processes that are killed at a stated moment, small file systems, and a run that is small enough for both."""

import ctypes
import json
import os
import resource
import signal
import sys
import time
import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from provlab.core.artefact import compose_artefact
from provlab.core.frames import error_summary
from provlab.core.plan import make_tasks
from provlab.core.recipe import Recipe
from provlab.core.store import TrialStore
from provlab.core.tables import write_tables
from small_runs import SMALL, run_quietly

NAME = "paul2016/table1"
KILLED = -signal.SIGKILL
LIMIT = 120
"""Seconds that a child may take before it counts as hanging."""

SKIP = 77
"""Exit status of a child that may not do what its test needs."""


def _render(rendering):
    rows = [
        [line.row, line.column, line.value, line.sd, line.n_trials]
        for line in rendering.frame.itertuples()
    ]
    return write_tables(
        rendering.tables,
        ["row", "column", "value", "sd", "n"],
        rows,
        caption="Made",
        note=rendering.note,
    )


def _summary(entry, trials, *, ties):
    return error_summary(entry, trials)


@cache
def small_artefact():
    """Return an artefact with two rows and one column on synthetic data: 9 trials in 3 tasks."""
    artefact = compose_artefact(NAME, SMALL)
    [column, *_] = dict.fromkeys(entry.column for entry in artefact.entries)
    rows = list(
        dict.fromkeys(entry.row for entry in artefact.entries if "BSS" not in entry.row)
    )[:2]
    chosen = tuple(
        entry
        for entry in artefact.entries
        if entry.column == column and entry.row in rows
    )
    return replace(artefact, entries=chosen)


def planned():
    """Return the keys of its trials."""
    return {
        trial.key
        for task in make_tasks(small_artefact().cells)
        for trial in task.trials
    }


def reproduce(results, executor=None):
    """Do what an artefact's script does after it has composed its config."""
    artefact = small_artefact()
    store = TrialStore(results / "store")
    recipe = Recipe(NAME, _render, _summary)
    report, _ = run_quietly(artefact.cells, store, executor)
    frame = recipe.frame(artefact, store)
    recipe.write(
        artefact, store, frame, results / "tables" / NAME, results / "figures" / NAME
    )
    return report


def leftovers(folder):
    """Return the names of temporary files and of files that were set aside below a folder."""
    return sorted(
        p.name
        for p in Path(folder).rglob("*")
        if p.name.endswith((".part", ".damaged"))
    )


def start(body):
    """Run a function in a process made by fork, which has everything imported; return its pid."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        body()
        status = 0
    except SystemExit as stop:
        status = stop.code
    except BaseException:
        traceback.print_exc()
    finally:
        # neither pytest nor the fixtures of the parent are this process's to end
        os._exit(status)


def ended_within(pid, seconds):
    """Return the exit status of a child, negative for a signal; None where it still runs after so many seconds."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(min(0.002, max(0.0, limit - time.monotonic())))
    return None


def wait(pid):
    """Return the exit status of a child."""
    status = ended_within(pid, LIMIT)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise AssertionError(f"a child did not end within {LIMIT} s")
    return status


def killed_after(seconds, body):
    """Run a function in a process that is killed after so many seconds; return how it ended."""
    pid = start(body)
    status = ended_within(pid, seconds)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        status = wait(pid)
    return status


def killed_at_call(n, folder, body):
    """Run a function in a process that is killed just before its n-th call of the system about files in a folder.

    Such calls are those that Python's audit hooks see (open, rename, remove, mkdir,
    listing), and fsync, before and after. What Arrow writes on its own is for
    `killed_at_byte`.
    """
    prefix = str(folder)
    count = iter(range(1, 100_000))

    def step():
        if next(count) == n:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event, arguments):
        if event.split(".")[0] in ("open", "os") and any(
            prefix in str(argument) for argument in arguments[:2]
        ):
            step()

    def whole():
        sync = os.fsync

        def fsync(descriptor):
            step()
            sync(descriptor)
            step()

        os.fsync = fsync
        sys.addaudithook(hook)
        body()

    return wait(start(whole))


def killed_at_byte(n, body):
    """Run a function in a process that the system kills at the first write beyond byte n of any file."""

    def whole():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
        resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))
        body()

    return wait(start(whole))


NEW_NAMESPACE = 0x20000
PRIVATE = 1 << 18 | 1 << 14
REMOUNT = 32
READ_ONLY = 1


def mount_own(folder, size, flags=0):
    """Make a folder a small file system that this process and its children alone see; return whether they may.

    Parameters
    ----------
    folder : Path
    size : str
        As tmpfs takes it, such as "256k".
    flags : int
        Of mount, to change what is there already.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if not flags and (
        libc.unshare(NEW_NAMESPACE) or libc.mount(None, b"/", None, PRIVATE, None)
    ):
        return False
    return (
        libc.mount(
            b"tmpfs", str(folder).encode(), b"tmpfs", flags, f"size={size}".encode()
        )
        == 0
    )


def on_small_disk(folder, size, body):
    """Run a function in a process for which a folder is a small file system of its own; return what it returns.

    Parameters
    ----------
    folder : Path
    size : str
        As tmpfs takes it, such as "256k".
    body : callable
        Of a function that makes the file system read-only.
    """
    reader, writer = os.pipe()

    def mount(flags):
        if not mount_own(folder, size, flags):
            raise SystemExit(SKIP)

    def whole():
        os.close(reader)
        mount(0)
        result = body(lambda: mount(REMOUNT | READ_ONLY))
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(json.dumps(result).encode())

    pid = start(whole)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    status = wait(pid)
    if status == SKIP:
        pytest.skip(
            "needs the right to mount a small tmpfs in a mount namespace of its own"
        )
    assert status == 0
    return json.loads(text)


def message(body):
    """Return the class and text of the error that a function raises, empty when it raises none."""
    try:
        body()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
