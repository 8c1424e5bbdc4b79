"""Several processes on one store, and worker processes that are killed: no trial is lost, and none counts twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from fault_tools import LIMIT, leftovers, planned, reproduce, start, wait

from cluster_processes import wait_until
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.run import executors
from provlab.run.task import run_task
from small_runs import fake_records, outcome, rows, run_python, script_environment

HERE = Path(__file__).resolve().parent
LOKY = f"""
import sys
from pathlib import Path
sys.path[:0] = [{str(HERE.parent)!r}, {str(HERE)!r}]
import dying_worker
import fault_tools
from provlab.run import executors
if __name__ == "__main__":
    results, loky = Path(sys.argv[1]), {{"name": "loky", "n_jobs": 2}}
"""
WORKER_DIES = """
    executors.run_in_worker = dying_worker.dies_after_the_first
    try:
        fault_tools.reproduce(results, loky)
    except OSError as error:
        print(f"{type(error).__name__}: {error}")
    print(len(fault_tools.TrialStore(results / "store").keys()), fault_tools.leftovers(results))
    report = fault_tools.reproduce(results, loky)
    print(report.n_found, report.n_run)
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    results = tmp_path_factory.mktemp("undisturbed")
    reproduce(results)
    return outcome(results)


def until(flag, body):
    """Call a function again and again until a file is there."""
    limit = time.monotonic() + LIMIT
    while not flag.exists() and time.monotonic() < limit:
        body()


def alive(pids):
    """Return those of the children that still run, and check how the others ended."""
    left = []
    for pid in pids:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
        else:
            left.append(pid)
    return left


def end(pids):
    """Kill children that still run; none is left in a test that passes."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        wait(pid)


def test_two_runs_and_a_merge_on_one_store(tmp_path, expected):
    store = TrialStore(tmp_path / "store")
    stop = tmp_path / "stop"
    reads = tmp_path / "reads"
    reads.touch()

    def after_two_reads(task):
        size = reads.stat().st_size
        wait_until(lambda: reads.stat().st_size >= size + 2)
        return run_task(task)

    def run():
        executors.run_task = after_two_reads  # in this child only
        reproduce(tmp_path)

    merging = start(lambda: until(stop, lambda: store.compact(minimum=0)))
    running = [start(run) for _ in range(2)]
    seen = set()
    try:
        while running:
            keys = store.keys()
            assert seen <= keys <= planned()  # what was there once stays
            snapshot = StoreSnapshot(store)
            assert keys <= set(snapshot.table["key"].to_pylist())
            assert len(snapshot) == len(set(snapshot.table["key"].to_pylist()))
            seen = keys
            with reads.open("ab") as log:
                log.write(b".")
            running = alive(running)
    finally:
        stop.touch()
        end(running)
    assert wait(merging) == 0
    assert reads.stat().st_size > 5
    reads.unlink()
    assert store.keys() == planned()
    assert len(store.query()) == len(planned())
    assert leftovers(tmp_path) == []
    assert outcome(tmp_path) == expected


@pytest.mark.parametrize("n_seen", [0, 2])
def test_a_listing_made_during_a_merge_loses_nothing(n_seen, tmp_path, monkeypatch):
    """It may lack the large file, which came after its place was passed, and the small ones, which went before."""
    store = TrialStore(tmp_path / "store")
    for k in range(4):
        store.append(fake_records(3 * k, 3))
    before = rows(store)
    real = TrialStore._files
    listings = []

    def listed(self):
        paths = real(self)
        if not listings:
            listings.append(paths)
            store.compact(minimum=0)
            return paths[:n_seen]  # the others went while it was made
        return paths

    monkeypatch.setattr(TrialStore, "_files", listed)
    assert rows(store) == before
    assert len(list(store.folder.glob("*.parquet"))) == 1


def test_files_that_always_go_away_are_an_error(tmp_path):
    store = TrialStore(tmp_path / "store")
    store.folder.mkdir()
    (store.folder / "gone.parquet").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError, match=r"store .*: its files disappeared "):
        store.keys()


def test_a_loky_run_that_is_killed_goes_on(tmp_path, expected):
    results = tmp_path / "results"
    command = [
        sys.executable,
        "-c",
        f"{LOKY}    fault_tools.reproduce(results, loky)",
        str(results),
    ]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=script_environment(),
        cwd=tmp_path,
    )
    children = []
    try:
        limit = time.monotonic() + LIMIT
        while (
            not list(results.glob("store/*.parquet"))
            and process.poll() is None
            and time.monotonic() < limit
        ):
            children = psutil.Process(process.pid).children(recursive=True)
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        _, alive = psutil.wait_procs(children, timeout=30)
        assert alive == []  # workers notice, and end
        assert 0 < len(TrialStore(results / "store").keys()) < len(planned())
        report = reproduce(results)
        assert report.n_found + report.n_run == len(planned())
        assert outcome(results) == expected
    finally:
        for child in children:
            if child.is_running():
                child.kill()


def test_a_loky_worker_that_is_killed_is_one_clear_error(tmp_path, expected):
    results = tmp_path / "results"
    results.mkdir()
    done = run_python(
        ["-c", f"{LOKY}{WORKER_DIES}", results],
        tmp_path,
        env={"FAULT_FOLDER": str(results)},
    )
    error, kept, again = done.stdout.splitlines()
    assert error.startswith(
        "ChildProcessError: executor loky: a worker process was killed"
    )
    assert error.endswith(
        "run the same command again, with fewer workers (executor.n_jobs=...) if it happens again."
    )
    n_kept, left = kept.split(" ", 1)
    assert int(n_kept) % 3 == 0
    assert left == "[]"
    assert 0 < int(n_kept) < len(planned())
    assert again == f"{n_kept} {len(planned()) - int(n_kept)}"
    assert outcome(results) == expected
