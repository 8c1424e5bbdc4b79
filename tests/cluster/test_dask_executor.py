"""executor=dask: the same results from processes of this machine and from a cluster that is there already."""

import copy
import logging
import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest
from distributed import LocalCluster

from cluster_processes import free_port, wait_until
from provlab.cli import INTERRUPTED, main
from provlab.core.plan import make_tasks
from provlab.custody.audit_runs import read_audits
from provlab.data import DataIntegrityError
from provlab.run.dask import run_on_worker
from provlab.run.executors import execute
from provlab.run.task import ClusterError, run_task
from provsel import __version__
from small_runs import (
    SMALL,
    TABLE1,
    UNIFORM,
    outcome,
    reproduce_table1,
    small_cell,
    start_script,
)


def keys(results):
    return sorted(record["key"] for result in results for record in result.records)


def address(cluster):
    return cluster.scheduler_address


@contextmanager
def threads_here(n_workers=2, threads_per_worker=1, **options):
    """A cluster of threads in this process, which tests can look into; its scheduler has an address all the same."""
    with LocalCluster(
        n_workers=n_workers, threads_per_worker=threads_per_worker, processes=False, protocol="tcp", host="127.0.0.1",
        dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL, **options,
    ) as cluster:  # fmt: skip
        yield cluster


@pytest.fixture(scope="module")
def cluster():
    options = {
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": logging.CRITICAL,
        "memory_limit": 0,
    }
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster:
        yield cluster


def assert_clean(cluster):
    """Nothing of a run is left on the scheduler."""
    server = cluster.scheduler
    wait_until(lambda: not server.tasks and set(server.clients) <= {"fire-and-forget"})
    assert not [name for name in server.worker_plugins if "provsel" in name]


def test_same_results_from_an_existing_cluster_that_stays_clean(
    tmp_path, serial_table1, cluster, capfd
):
    assert (
        reproduce_table1(
            tmp_path, "executor=dask", f"executor.address={cluster.scheduler_address}"
        )
        == 0
    )
    assert outcome(tmp_path) == serial_table1
    assert_clean(cluster)
    assert len(cluster.scheduler.workers) == 2  # not ours to close
    assert "distributed" not in capfd.readouterr().err


def test_an_audit_on_a_cluster(tmp_path, cluster, capsys):
    assert reproduce_table1(tmp_path, "executor=serial") == 0
    where = ["executor=dask", f"executor.address={cluster.scheduler_address}"]
    assert (
        main(
            [
                "audit",
                "--results",
                str(tmp_path),
                "--fraction",
                "0.2",
                "--strict",
                *where,
            ]
        )
        == 0
    )
    assert_clean(cluster)
    gone = [
        "executor=dask",
        f"executor.address=tcp://127.0.0.1:{free_port()}",
        "executor.patience=1",
    ]
    assert main(["audit", "--results", str(tmp_path), "--fraction", "0.2", *gone]) == 2
    assert "fails now" not in capsys.readouterr().out
    assert [
        (run.interrupted, len(run.trials) > 0) for run in read_audits(tmp_path)
    ] == [(True, False), (False, True)]


def group_exists(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_ctrl_c_ends_the_cluster_that_was_started_here(tmp_path, serial_table1):
    results = tmp_path / "results"
    overrides = [
        *SMALL,
        f"results={results}",
        "executor=dask",
        "executor.n_jobs=1",
        "protocol.repeats=8",
    ]
    process = start_script(TABLE1, overrides, tmp_path)
    try:
        wait_until(lambda: list(results.glob("store/*.parquet")), process)
        # as a terminal does: the workers get it too
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == INTERRUPTED, error
    assert "interrupted:" in error
    assert "Traceback" not in error
    wait_until(lambda: not group_exists(process.pid))  # no worker is left
    # resumes, on a cluster of this machine
    assert reproduce_table1(results, "executor=dask", "executor.n_jobs=1") == 0
    assert outcome(results)[0] == serial_table1[0]


def test_an_abandoned_run_leaves_an_existing_cluster_clean():
    with threads_here() as cluster:
        results = execute(
            make_tasks([small_cell(UNIFORM, n_splits=10)]),
            {"name": "dask", "address": address(cluster)},
        )
        assert next(results).records
        results.close()  # as after Ctrl-C
        assert_clean(cluster)


def test_a_worker_of_four_threads_gives_what_one_process_gives():
    """LIBLINEAR draws from C's rand(), which is one for all threads of the process."""
    rfe = {
        "_target_": "provsel.selectors.SVMRFESelector",
        "n_features_to_select": 9,
        "solver": "liblinear",
        "step": 5,
    }
    tasks = make_tasks(
        [small_cell(rfe, n_splits=10, repeats=2, setting="unsupervised", certify=False)]
    )
    expected = selected(map(run_task, tasks))
    with threads_here(1, threads_per_worker=4) as cluster:
        results = list(execute(tasks, {"name": "dask", "address": address(cluster)}))
    assert selected(results) == expected


def selected(results):
    records = [record for result in results for record in result.records]
    return {
        record["key"]: (record["features"].tolist(), record["error"])
        for record in records
    }


def test_a_worker_with_other_code_refuses():
    [task, *_] = make_tasks([small_cell(UNIFORM)])
    assert len(run_on_worker(task, __version__).records) == 2
    with pytest.raises(
        ClusterError,
        match=r"on host \S+ cannot do the work: it has provsel .*, the client has 0\.0\.9",
    ):
        run_on_worker(task, "0.0.9")
    # as another version of the class would have
    trials = tuple(trial._replace(key="0" * 64) for trial in task.trials)
    with pytest.raises(
        ClusterError,
        match=r"on host \S+ .* or its keys of trials differ; give it the version",
    ):
        run_on_worker(replace(task, trials=trials), __version__)
    cell = copy.copy(task.cells[0])
    cell.__dict__["selector"] = {**UNIFORM, "renamed": 3}
    with pytest.raises(
        ClusterError,
        match=r"on host \S+ cannot do the work: .*renamed.*; give it the version",
    ):
        run_on_worker(replace(task, cells=(cell,)), __version__)


def test_failures_and_errors_are_those_of_other_executors():
    broken = small_cell(
        {"_target_": "provsel.selectors.BSSSelector", "n_features_to_select": 2}
    )
    few = small_cell(dataset={"n_samples": 12}, n_splits=10)
    both = [*make_tasks([broken]), *make_tasks([few])]
    with threads_here(1) as cluster:
        config = {"name": "dask", "address": address(cluster)}
        failures = [
            failure for result in execute(both, config) for failure in result.failures
        ]
        assert sorted(failures) == sorted(
            failure for task in both for failure in run_task(task).failures
        )
        assert_clean(cluster)


@pytest.mark.parametrize("name", ["serial", "loky"])
def test_other_data_than_that_of_the_keys(name):
    [task, *_] = make_tasks([small_cell(UNIFORM, identity="0123456789abcdef" * 4)])
    with pytest.raises(
        DataIntegrityError,
        match=r"expected the identity 0123456789ab, got .*run provsel fetch",
    ):
        list(execute([task], {"name": name, "n_jobs": 1}))


def test_other_data_on_a_worker_names_the_worker():
    tasks = make_tasks([small_cell(UNIFORM, identity="0123456789abcdef" * 4)])
    with (
        threads_here(1) as cluster,
        pytest.raises(
            ClusterError, match=r"on host .* identity 0123456789ab, got .*; give it"
        ),
    ):
        list(execute(tasks, {"name": "dask", "address": address(cluster)}))


def test_a_cluster_that_cannot_work():
    def run(tasks, **config):
        return list(execute(tasks, {"name": "dask", **config}))

    tasks = make_tasks([small_cell()])
    with pytest.raises(
        ClusterError,
        match=r"expected a scheduler at tcp://.*got no answer in 0.3 s.*dask scheduler",
    ):
        run(tasks, address=f"tcp://127.0.0.1:{free_port()}", patience=0.3)
    message = r"got none for 0.3 s .*start some: dask worker tcp://.* --nthreads 1"
    with threads_here(0) as cluster, pytest.raises(ClusterError, match=message):
        run(tasks, address=address(cluster), patience=0.3)
    message = "executor.patience: expected a number of seconds above 0, got"
    for patience in (0, "soon", None):
        with pytest.raises(ValueError, match=f"{message} {patience}"):
            run(tasks, patience=patience)
    assert run([]) == []


def test_dask_is_optional(monkeypatch):
    monkeypatch.delitem(sys.modules, "provlab.run.dask", raising=False)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(
        ValueError,
        match=r"needs the packages dask and distributed, .*pip install -e '.*\[dask\]'",
    ):
        execute(make_tasks([small_cell()]), {"name": "dask"})
