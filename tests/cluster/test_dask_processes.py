"""A cluster of real processes: workers that die, that lack something, that come and go."""

import os
import signal
import threading
from collections import Counter
from dataclasses import replace

import dask
import numpy as np
import pytest
from distributed import LocalCluster
from test_dask_executor import assert_clean

from cluster_processes import (
    LIMIT,
    LOGGING_WORKER,
    processes,
    start_scheduler,
    start_worker,
    wait_until,
)
from provlab.core.plan import identity_of, make_tasks
from provlab.run.executors import execute
from provlab.run.task import ClusterError
from provsel import __version__
from small_runs import UNIFORM, outcome, reproduce_table1, small_cell
from test_paul2016_artefacts import write_set

TASKS = make_tasks([small_cell(UNIFORM, n_splits=10)])
NO_PROVSEL = """
import sys
for name in [name for name in sys.modules if name.split(".")[0] == "provsel"]:
    del sys.modules[name]
sys.modules["provsel"] = None
"""
OTHER_VERSION = """
import provsel
provsel.__version__ = "0.0.9"
"""
KILLS_ITSELF = """
import os
from provlab.run import dask
dask.run_task = lambda task: os._exit(9)
"""


@pytest.fixture
def start():
    with processes() as start:
        yield start


@pytest.fixture
def scheduler():
    """A scheduler in this process, that gives up on a task after the first worker that dies of it."""
    options = {
        "protocol": "tcp",
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": 60,
    }
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=0, processes=False, **options) as cluster,
    ):
        yield cluster


def run_on(scheduler, tasks=TASKS, patience=20.0):
    return list(
        execute(
            tasks,
            {
                "name": "dask",
                "address": scheduler.scheduler_address,
                "patience": patience,
            },
        )
    )


def test_a_killed_worker_costs_its_running_task_only(start, tmp_path, serial_table1):
    log = tmp_path / "log"
    log.touch()
    server, address = start_scheduler(start, tmp_path)
    # The first worker stands still in its second task until it is killed; the second
    # one waits until it is there.
    stands = LOGGING_WORKER.format(
        log=str(log), pause=f"time.sleep({LIMIT} if begun(os.getpid()) > 1 else 0)"
    )
    workers = [start_worker(start, address, tmp_path, stands)]
    victim = workers[0].pid
    waits = LOGGING_WORKER.format(
        log=str(log), pause=f"while begun({victim}) < 2: time.sleep(0.02)"
    )
    workers.append(start_worker(start, address, tmp_path, waits))
    lost = []

    def events(kind):
        lines = [line.split() for line in log.read_text().splitlines()]
        return [(int(pid), task) for name, pid, task in lines if name == kind]

    def begun_by(worker):
        return [pid for pid, _ in events("start")].count(worker)

    def kill():
        def stands_and_the_rest_is_stored():
            stored = len(list((tmp_path / "results" / "store").glob("*.parquet")))
            return begun_by(victim) == 2 and 1 <= len(events("end")) <= stored

        wait_until(stands_and_the_rest_is_stored, *workers, server)
        os.kill(victim, signal.SIGKILL)
        lost.append([task for pid, task in events("start") if pid == victim][-1])

    killer = threading.Thread(target=kill)
    killer.start()
    assert (
        reproduce_table1(
            tmp_path / "results", "executor=dask", f"executor.address={address}"
        )
        == 0
    )
    killer.join()
    assert outcome(tmp_path / "results") == serial_table1
    begun = Counter(task for _, task in events("start"))
    assert len(begun) == 6
    assert {task: times for task, times in begun.items() if times > 1} == {lost[0]: 2}
    assert workers[1].poll() is None  # not ours to close

    results = execute(TASKS, {"name": "dask", "address": address})
    next(results)
    server.kill()
    with pytest.raises(
        ClusterError,
        match=r"lost the scheduler at tcp://.*; finished trials are stored; run",
    ):
        list(results)


@pytest.mark.parametrize(
    ("preload", "message"),
    [
        (NO_PROVSEL, rf"on 1 different workers.* may lack memory, or an environment with provsel {__version__}"),
        (OTHER_VERSION, rf"on host \S+ cannot do the work: it has provsel 0\.0\.9, the client has {__version__}"),
        (KILLS_ITSELF, r"but all those workers died while running it.*run the same command again to resume"),
    ],
    ids=["no provsel", "other version", "kills its worker"],
)  # fmt: skip
def test_a_worker_that_cannot_do_the_work(preload, message, start, scheduler, tmp_path):
    start_worker(start, scheduler.scheduler_address, tmp_path, preload)
    with pytest.raises(ClusterError, match=message):
        run_on(scheduler)
    assert_clean(scheduler)


def test_a_worker_that_does_not_see_the_data(start, scheduler, tmp_path, monkeypatch):
    tokens = tmp_path / "mirror" / "techtc100" / "tokens"
    tokens.mkdir(parents=True)
    write_set(tokens, "Exp_1_2", ("opera", "submarine"), np.random.default_rng(0))
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "cache"))
    dataset = {"name": "techtc", "set": "Exp_1_2"}
    cell = replace(small_cell(UNIFORM), dataset=dataset, data=identity_of(dataset))
    empty = {
        name: str(tmp_path / "empty")
        for name in ("PROVSEL_DATA", "PROVSEL_DATA_MIRROR")
    }
    start_worker(start, scheduler.scheduler_address, tmp_path, **empty)
    with pytest.raises(
        ClusterError,
        match=r"(?s)on host \S+ cannot do the work: .*Exp_1_2.*the data of the client",
    ):
        run_on(scheduler, make_tasks([cell]))
    assert_clean(scheduler)


def test_workers_that_come_and_go(start, scheduler, tmp_path):
    preload = LOGGING_WORKER.format(log=str(tmp_path / "log"), pause="time.sleep(0.1)")
    first = start_worker(start, scheduler.scheduler_address, tmp_path, preload)
    scheduler.scheduler.allowed_failures = 3
    config = {"name": "dask", "address": scheduler.scheduler_address}
    # more than are run
    many = make_tasks([small_cell(UNIFORM, n_splits=10, repeats=50)])
    results = execute(many, config)
    next(results)
    late = start_worker(start, scheduler.scheduler_address, tmp_path, OTHER_VERSION)
    with pytest.raises(ClusterError, match=r"on host .* provsel 0\.0\.9, the client"):
        list(results)
    late.kill()
    wait_until(lambda: len(scheduler.scheduler.workers) == 1, first)
    results = execute(many, {**config, "patience": 0.5})
    next(results)
    first.kill()  # its tasks wait for another worker
    with pytest.raises(
        ClusterError,
        match=r"got none for 0.5 s \(executor.patience\); start some: dask worker tcp://",
    ):
        list(results)
    assert_clean(scheduler)
