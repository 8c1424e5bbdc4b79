"""The central promise: neither the executor, nor the number of workers, nor an interrupt shows in the results."""

import os
import signal
import threading
import time
import warnings
from pathlib import Path

import psutil
import pytest
from joblib.externals.loky import process_executor

from provlab.cli import INTERRUPTED
from provlab.core.artefact import compose_artefact
from provlab.core.plan import make_tasks
from provlab.core.store import TrialStore
from provlab.run import executors
from provlab.run.executors import execute
from small_runs import (
    SMALL,
    TABLE1,
    UNIFORM,
    outcome,
    reproduce_table1,
    run_quietly,
    small_cell,
    start_script,
)

NAME = "paul2016/table1"
LOKY = ["executor=loky", "executor.n_jobs=2"]


def test_results_do_not_depend_on_the_executor(tmp_path, serial_table1):
    assert reproduce_table1(tmp_path, *LOKY) == 0
    assert outcome(tmp_path) == serial_table1


def test_second_run_computes_nothing(tmp_path, serial_table1, capsys):
    assert reproduce_table1(tmp_path, "executor=serial") == 0
    before = {
        path.name: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()
    }
    capsys.readouterr()
    assert reproduce_table1(tmp_path, "executor=serial") == 0
    n = len(TrialStore(tmp_path / "store").keys())
    assert f"{n} trials: {n} were stored, 0 computed" in capsys.readouterr().err
    assert {
        path.name: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()
    } == before
    assert outcome(tmp_path) == serial_table1


def test_script_killed_by_ctrl_c_and_resumed(tmp_path, capsys):
    # slow enough for the signal to come in the middle: 12 tasks
    size = [*SMALL, "protocol.repeats=2"]
    overrides = [*size, *LOKY]
    results = tmp_path / "results"
    process = start_script(TABLE1, overrides, tmp_path)
    limit = time.monotonic() + 60
    while (
        not list(results.glob("store/*.parquet"))
        and process.poll() is None
        and time.monotonic() < limit
    ):
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, error = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, error
    assert "interrupted:" in error
    planned = {
        t.key
        for task in make_tasks(compose_artefact(NAME, overrides).cells)
        for t in task.trials
    }
    stored = TrialStore(results / "store").keys()
    assert 0 < len(stored) < len(planned)
    assert not list(results.glob("store/.*.part"))
    assert not (results / "tables").exists()
    assert "Traceback" not in error
    # by another executor
    assert reproduce_table1(results, *size, "executor=serial") == 0
    assert (
        f"{len(stored)} were stored, {len(planned) - len(stored)} computed"
        in capsys.readouterr().err
    )
    assert TrialStore(results / "store").keys() == planned
    fresh = tmp_path / "fresh"
    assert reproduce_table1(fresh, *size, "executor=serial") == 0
    assert outcome(results) == outcome(fresh)


@pytest.mark.parametrize("delay", [0.0, 0.4])
def test_ctrl_c_while_workers_start(delay, tmp_path):
    """They would show where in their imports they were."""
    process = start_script(TABLE1, [*SMALL, *LOKY], tmp_path)
    limit = time.monotonic() + 60
    workers = []
    while len(workers) < 2 and process.poll() is None and time.monotonic() < limit:
        children = psutil.Process(process.pid).children(recursive=True)
        workers = [
            child
            for child in children
            if "popen_loky_posix" in " ".join(child.cmdline())
        ]
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, error
    assert error.rstrip().endswith("run the same command again to resume.")
    assert "Traceback" not in error
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert alive == []


@pytest.mark.parametrize(
    ("start", "n_here"), [(1e9, 3), (-1e9, 2)], ids=["work of seconds", "long work"]
)
def test_workers_start_where_they_end_sooner(start, n_here, monkeypatch):
    """The first task imports and loads, and the second one says how long the others take."""
    monkeypatch.setattr(executors, "WORKERS_START", start)
    run_in_this_process = []
    run = executors.run_and_record
    monkeypatch.setattr(
        executors,
        "run_and_record",
        lambda task: run_in_this_process.append(task) or run(task),
    )
    tasks = (
        make_tasks([small_cell(UNIFORM, repeats=2)])[:4]
        if start < 0
        else make_tasks([small_cell(UNIFORM)])
    )
    results = list(execute(tasks, {"name": "auto", "n_jobs": 2}))
    assert len(run_in_this_process) == n_here
    assert len(results) == len(tasks)
    keys = {record["key"] for result in results for record in result.records}
    assert keys == {trial.key for task in tasks for trial in task.trials}


@pytest.mark.parametrize("n_results", [1, None], ids=["closed early", "to the end"])
def test_no_thread_of_a_pool_outlives_it(n_results):
    """One that Python's end stops while it removes a semaphore leaves a warning after the last line."""
    tasks = make_tasks([small_cell(UNIFORM)])
    before = set(threading.enumerate())
    for _ in range(2):
        results = execute(tasks, {"name": "loky", "n_jobs": 2})
        for _ in range(len(tasks) if n_results is None else n_results):
            next(results)
        results.close()
        assert set(threading.enumerate()) <= before


def test_failures_are_said_at_the_first_counted_at_the_end_and_tried_again(tmp_path):
    broken = small_cell({**UNIFORM, "n_features_to_select": 10**6})
    store = TrialStore(tmp_path)
    report, said = run_quietly([broken, small_cell()], store)
    assert (
        said.count("expected n_features_to_select to be between 1 and")
        == said.count("first failed trial")
        == 1
    )
    assert report.n_planned == 9
    assert report.n_found == 0
    assert report.n_run == 3
    assert len(report.failures) == 6
    [kind] = report.kinds()
    assert kind.startswith(
        "6 x ValueError: UniformSelector: expected n_features_to_select"
    )
    assert (
        "last: synthetic, provsel.selectors.UniformSelector, repeat 0, fold 2" in kind
    )
    assert report.summary().startswith("9 trials: 0 were stored, 3 computed in ")
    assert len(store.keys()) == 3
    again, _ = run_quietly([broken, small_cell()], store)
    assert again.n_found == 3
    assert again.n_run == 0
    assert len(again.failures) == 6
    _, said = run_quietly([small_cell(UNIFORM)], store)
    assert said == ""


@pytest.mark.parametrize(
    "executor",
    [{"name": "serial"}, {"name": "loky", "n_jobs": 2}],
    ids=lambda settings: settings["name"],
)
def test_warnings_are_said_at_the_first_and_counted_by_kind_at_the_end(
    executor, tmp_path, capfd
):
    warning = small_cell(
        {"_target_": "provsel.selectors.AlphaInvestingSelector", "wealth": 1e-9}
    )
    report, said = run_quietly(
        [warning, small_cell(UNIFORM)], TrialStore(tmp_path), executor
    )
    assert report.n_run == 9
    assert report.failures == []
    assert (
        "warning: 3 x UserWarning: AlphaInvestingSelector: none of ... features was accepted"
        in said
    )
    assert said.count("warning: ") == 1
    assert "Warning" not in capfd.readouterr().err


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", None])
def test_a_number_of_workers_that_cannot_be_is_named_with_its_setting(n_jobs):
    expected = rf"executor\.n_jobs: expected a number of worker processes above 0, or -1 .*, got {n_jobs}; correct it"
    with pytest.raises(ValueError, match=expected):
        execute([], {"name": "loky", "n_jobs": n_jobs})


def test_a_worker_that_has_grown_is_replaced_without_a_word():
    """Loky ends one that has 300 MB more than at first, after its task; the jobs that wait run in another."""
    source = "".join(
        Path(process_executor.__file__)
        .read_text()
        .split('"\n                        "')
    )
    assert executors.REPLACED in source
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert (
            sum(
                len(result.records)
                for result in execute(
                    make_tasks([small_cell(UNIFORM)]), {"name": "loky"}
                )
            )
            == 6
        )
        warnings.warn(
            f"{executors.REPLACED}. This can be caused by a memory leak.",
            UserWarning,
            stacklevel=1,
        )
    assert not heard
