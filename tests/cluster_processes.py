"""Schedulers and workers of Dask as processes of their own, on loopback; they end with the test."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

LIMIT = 120.0
"""Seconds after which a test stops to wait."""

LOGGING_WORKER = """
import os, time
from provlab.run import dask as dask_worker

if not hasattr(dask_worker, "original"):  # Dask runs this twice
    dask_worker.original = dask_worker.run_task

def tell(event, task):
    with open({log!r}, "a") as file:  # one short line: written at once
        file.write(f"{{event}} {{os.getpid()}} {{task.data[:8]}}/{{task.repeat}}/{{task.fold}}\\n")

def begun(pid):
    with open({log!r}) as file:
        return sum(line.startswith(f"start {{pid}} ") for line in file)

def slow(task):
    tell("start", task)
    {pause}
    result = dask_worker.original(task)
    tell("end", task)
    return result

dask_worker.run_task = slow
"""
"""A preload that tells when tasks start and end, and makes each pause once it has begun."""


def wait_until(condition, *processes):
    """Wait until the condition holds; not longer than the limit, nor after one of the processes ended."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "waited too long"
        for process in processes:
            assert process.poll() is None, "a process ended early"
        time.sleep(0.02)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _die_with_parent():
    """Ask Linux to kill this process when the test's ends, however it does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@contextmanager
def processes():
    """Yield a function that starts `python -m ...` with variables, None for none; what it started ends with this."""
    started = []

    def start(*arguments, **environment):
        variables = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
        process = subprocess.Popen(
            [sys.executable, "-m", *map(str, arguments)],
            env={name: value for name, value in variables.items() if value is not None},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in started:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            process.wait()


def start_scheduler(start, folder):
    """Return (process, address) of a scheduler that listens."""
    address = f"tcp://127.0.0.1:{free_port()}"
    ready = folder / "scheduler.json"
    options = ["--host", address, "--no-dashboard", "--scheduler-file", ready]
    process = start("distributed.cli.dask_scheduler", *options)
    wait_until(ready.exists, process)
    return process, address


def start_worker(start, address, folder, preload="", **environment):
    """Return the process of a worker with one thread, that runs `preload` before it begins."""
    file = folder / f"preload_{len(list(folder.glob('preload_*')))}.py"
    file.write_text(preload)
    options = [
        "--nthreads",
        1,
        "--no-nanny",
        "--no-dashboard",
        "--local-directory",
        folder,
        "--preload",
        file,
    ]
    return start("distributed.cli.dask_worker", address, *options, **environment)
