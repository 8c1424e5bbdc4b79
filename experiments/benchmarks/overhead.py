"""What an executor costs beyond the work: start-up, seconds a task, and what is sent for a task.

python experiments/benchmarks/overhead.py [--tasks 300] [--workers 2]

Each task is one trial of the cheapest kind on 60 rows and 120 columns; "serial" is that work. Wall seconds, in three
parts of the run from the first result on. The client's and the scheduler's CPU seconds a task bound how many tasks a
second any number of workers can be given.
"""

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import psutil
from distributed.protocol.pickle import dumps
from timing import case, report

from provlab.core.artefact import compose_artefact
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, make_tasks
from provlab.run.executors import execute

BENCH = {
    "bench": [],
    "quick": ["--tasks", "60"],
    "full": ["--tasks", "2000"],
    "left_out": "300 tasks instead of 2000",
    "seconds": 300,
}
PARTS = 3


def small_tasks(number):
    """Return that many tasks of one trial each, all of one small data set."""
    size = ["dataset.n_samples=60", "dataset.n_features=120", f"protocol.repeats={-(-number // 10)}"]
    cheap = ["selector=uniform", "selector.n_features_to_select=5", "protocol.setting=unsupervised"]
    tasks = make_tasks(cells_of(compose_config([*size, *cheap, "protocol.certify=false"])))
    return [replace(task, trials=task.trials[:1]) for task in tasks[:number]]


def measure(tasks, config, scheduler=None):
    """Return wall seconds until the first result and, in parts, from one to the next; CPU seconds a task."""
    cpu, other = time.process_time(), sum(scheduler.cpu_times()[:2]) if scheduler else 0.0
    start, times = time.perf_counter(), []
    for _ in execute(tasks, config):
        times.append(time.perf_counter())
        if len(times) == 1:
            cpu = time.process_time()
    cpu = (time.process_time() - cpu) / len(tasks)
    marks = [times[k * (len(times) - 1) // PARTS] for k in range(PARTS + 1)]
    found = {"first": times[0] - start, "client_cpu": cpu}
    found["wall"] = [(b - a) * PARTS / (len(times) - 1) for a, b in pairwise(marks)]
    if scheduler:
        found["scheduler_cpu"] = (sum(scheduler.cpu_times()[:2]) - other) / len(tasks)
    return found


@contextmanager
def cluster(n_workers):
    """Yield (address, process of the scheduler) of a cluster of processes on loopback."""
    with socket.socket() as probe, tempfile.TemporaryDirectory() as folder:
        probe.bind(("127.0.0.1", 0))
        address, ready = f"tcp://127.0.0.1:{probe.getsockname()[1]}", Path(folder) / "scheduler.json"
        probe.close()
        started = [started_module("dask_scheduler", "--host", address, "--no-dashboard", "--scheduler-file", ready)]
        try:
            options = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", folder]
            while not ready.exists() and started[0].poll() is None:
                time.sleep(0.05)
            started += [started_module("dask_worker", *options) for _ in range(n_workers)]
            yield address, psutil.Process(started[0].pid)
        finally:
            for process in reversed(started):
                process.kill()
                process.wait()


def started_module(name, *options):
    command = [sys.executable, "-m", f"distributed.cli.{name}", *map(str, options)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def sent(artefact):
    """Return the number of tasks of an artefact, and the bytes that are sent for one."""
    tasks = make_tasks(compose_artefact(artefact).cells)
    return {"tasks": len(tasks), "task": len(dumps(tasks[-1]))}


def markdown(records, sizes, work):
    lines = [
        "| executor | first result (s) | a task (wall ms) | beyond the work (worker ms) "
        "| client (CPU ms) | scheduler (CPU ms) |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, (n_workers, found) in records.items():
        wall = statistics.median(found["wall"])
        beyond = 1000 * (wall * n_workers - work)
        of_scheduler = f"{1000 * found['scheduler_cpu']:.2f}" if "scheduler_cpu" in found else ""
        numbers = f"{1000 * wall:.2f} | {beyond:.2f} | {1000 * found['client_cpu']:.2f} | {of_scheduler}"
        lines.append(f"| {name} | {found['first']:.2f} | {numbers} |")
    lines += ["", f"paul2016/table1: {sizes['tasks']} tasks, {sizes['task']} bytes are sent for one"]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    tasks, n_workers = small_tasks(options.tasks), options.workers
    records = {"serial": (1, measure(tasks, {"name": "serial"}))}
    for name in ("loky", "dask"):
        records[f"{name} {n_workers}"] = n_workers, measure(tasks, {"name": name, "n_jobs": n_workers})
    with cluster(n_workers) as (address, scheduler):
        there = {"name": "dask", "address": address}
        list(execute(tasks[: 10 * n_workers], there))  # workers import and load
        records["dask address"] = n_workers, measure(tasks, there, scheduler)
    work, sizes = statistics.median(records["serial"][1]["wall"]), sent("paul2016/table1")
    own, loky = (records[name][1]["wall"] for name in ("serial", f"loky {n_workers}"))
    cases = [
        case(f"{name}, {len(tasks)} tasks, a task", found["wall"], unit="wall s", limit=("serial", own),
             peer=("loky", loky) if name.startswith("dask") else None)
        for name, (_, found) in records.items() if name != "serial"
    ]  # fmt: skip
    cases.append(case("bytes a task, table1", sizes["task"], unit="bytes"))
    report("overhead", markdown(records, sizes, work), cases, executors=records, sent=sizes)


if __name__ == "__main__":
    main()
