"""Execution of tasks on a Dask cluster: a running cluster, local processes, or SLURM jobs.

Only the client plans and writes the store, and workers load the data themselves. Tasks
are sent unchanged, a few at a time.
"""

from __future__ import annotations

import logging
import math
import os
import re
import shlex
import shutil
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import dask
from dask.utils import parse_bytes
from distributed import CancelledError, Client, Future, KilledWorker, LocalCluster, wait
from distributed.utils import silence_logging_cmgr

from provlab.core.keys import trial_key
from provlab.core.plan import Task
from provlab.project.messages import to_install
from provlab.project.terminal import visible_output
from provlab.run.isolation import SAFE_PATH
from provlab.run.streamed import ONE_THREAD
from provlab.run.task import ClusterError, Results, TaskResult, run_task
from provsel import __version__

DATA = ("PROVSEL_DATA", "PROVSEL_DATA_MIRROR")
TASKS_A_THREAD = 2
"""Tasks submitted at a time per worker: the running task and the next one. More would only fill the memory of the
scheduler and the client.
"""

LOOK_EVERY = 1.0
"""Seconds between two checks of the cluster's workers."""

AGAIN = "finished trials are stored; run the same command again to resume"

_ONE_TASK = threading.Lock()
"""Lock for workers with several threads, because BLAS threads, CPU times and warnings belong to the process."""


def run_on_cluster(
    tasks: Sequence[Task], config: Mapping[str, Any], n_jobs: int
) -> Results:
    """Yield the results of tasks from the cluster of a config, which is closed at the end if started here."""
    stated = config.get("patience", 60)
    try:
        patience = float(stated)
    except (TypeError, ValueError):
        patience = math.nan
    if not patience > 0:
        raise ValueError(
            f"executor.patience: expected a number of seconds above 0, got {stated!s:.80}."
        )
    if not tasks:
        return
    # with one task per worker, only the running task can be the cause when a worker
    # dies
    saturation = dask.config.set({"distributed.scheduler.worker-saturation": 1.0})
    with silence_logging_cmgr(logging.CRITICAL + 1), saturation, ExitStack() as stack:
        cluster: Any = config.get("address")
        where = str(cluster)
        if config["name"] == "slurm":
            if shutil.which("sbatch") is None:
                raise ClusterError(
                    "executor: executor=slurm needs the command sbatch, which this machine lacks; run the command on "
                    "a node that submits jobs, or use executor=dask executor.address=... with workers that you start."
                )
            where, cluster = (
                "SLURM's jobs (squeue --me)",
                stack.enter_context(slurm_cluster(config)),
            )
            cluster.scale(jobs=n_jobs)
        elif not cluster:
            where, cluster = (
                "the cluster on this machine",
                stack.enter_context(_local_cluster(n_jobs)),
            )
        try:
            client = stack.enter_context(
                Client(cluster, timeout=patience, set_as_default=False)
            )
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"executor: expected a scheduler at {where}, got no answer in {patience:g} s (executor.patience): "
                f"{error}; start it with dask scheduler, or correct executor.address=tcp://host:port."
            ) from None
        yield from run_on(client, where, tasks, patience)


def slurm_cluster(config: Mapping[str, Any]) -> Any:
    """Return dask-jobqueue's SLURMCluster for a config, with its scheduler in this process and no jobs yet.

    Parameters
    ----------
    config : mapping
        queue, account, walltime, memory (per worker), interface, local_directory and
        log_directory are as in SLURMCluster, but quoted. `job_extra_directives` holds
        further #SBATCH lines. `job_script_prologue` holds shell lines that run before
        the worker starts, after our lines that limit BLAS to one thread and set the
        data folders.

    Raises
    ------
    ValueError
        If a setting has several lines or control characters.
    """
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise ClusterError(
            f"executor: executor=slurm needs the package dask-jobqueue, which is not installed; {to_install('slurm')}."
        ) from None
    data = [
        f"export {name}={shlex.quote(os.environ[name])}"
        for name in DATA
        if os.environ.get(name)
    ]
    own = _texts_of(config, "job_script_prologue")
    return SLURMCluster(
        cores=1,
        processes=1,
        memory=_memory(config),
        job_name="provsel",
        python=shlex.quote(sys.executable),
        job_extra_directives=_job_directives(config),
        job_script_prologue=[
            *(f"export {name}=1" for name in ONE_THREAD),
            *data,
            *own,
            f"export {SAFE_PATH}=1",
        ],
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        silence_logs=logging.CRITICAL,
        **_job_settings(config),
    )


def _job_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of SLURMCluster, quoted because it copies them into job scripts."""
    settings = {}
    for name in ("queue", "account", "walltime", "interface"):
        if config.get(name):
            settings[name] = shlex.quote(_line(name, config[name]))
    if config.get("local_directory"):
        settings["local_directory"] = _quoted_but_variables(
            _line("local_directory", config["local_directory"])
        )
    return settings


def _job_directives(config: Mapping[str, Any]) -> list[str]:
    """Return the #SBATCH lines: the output paths, which SLURMCluster does not quote, and the user's lines."""
    directives = []
    if config.get("log_directory"):
        folder = _line("log_directory", config["log_directory"])
        os.makedirs(folder, exist_ok=True)
        for option, suffix in (("-e", "err"), ("-o", "out")):
            directives.append(
                f"{option} {shlex.quote(f'{folder}/provsel-%J.{suffix}')}"
            )
    # options may contain quotes
    further = [
        _line("job_extra_directives", text)
        for text in _texts_of(config, "job_extra_directives")
    ]
    return directives + further


def _memory(config: Mapping[str, Any]) -> str:
    text = str(config.get("memory", "4GB"))
    try:
        parse_bytes(text)
    except (ValueError, OverflowError):
        raise ValueError(
            f"executor.memory: expected a size such as 4GB, got {text!r:.80}; correct it."
        ) from None
    return text


def _texts_of(config: Mapping[str, Any], name: str) -> list[str]:
    texts = config.get(name) or []
    if not isinstance(texts, list):
        raise ValueError(
            f"executor.{name}: expected a list of lines, got {texts!r:.80}; put brackets around the list."
        )
    return list(map(str, texts))


def _line(name: str, value: Any) -> str:
    """Return a setting as a string; refuse line breaks, which could inject shell commands into a job script."""
    text = str(value)
    if not text.isprintable():
        raise ValueError(
            f"executor.{name}: expected text without line breaks and control characters, because it is written into "
            f"job scripts, got {text!r:.80}; remove them."
        )
    return text


def _quoted_but_variables(text: str) -> str:
    """Return a path quoted for a shell that expands only variables, such as $TMPDIR of a job."""
    quoted = []
    parts = re.split(r"(\$[A-Za-z_]\w*)", os.path.expanduser(text), flags=re.ASCII)
    for part in filter(None, parts):
        is_variable = part.startswith("$") and part[1:].isidentifier()
        quoted.append(f'"{part}"' if is_variable else shlex.quote(part))
    return "".join(quoted)


def _local_cluster(n_jobs: int) -> LocalCluster:
    return LocalCluster(
        n_workers=n_jobs,
        threads_per_worker=1,
        # no limit, near which workers would be killed, as with the other executors
        memory_limit=0,
        # any free port, because concurrent runs would warn about a fixed one
        dashboard_address="127.0.0.1:0",
        # the client stops its workers
        preload=["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
        silence_logs=logging.CRITICAL,
    )


def run_on(
    client: Client, where: str, tasks: Sequence[Task], patience: float
) -> Results:
    """Yield the result of each task, in any order, and remove all tasks from the cluster in any case.

    Tasks of a lost worker are rerun elsewhere. The tasks of a data set are submitted
    together, because a worker keeps the last data sets that it loaded and then loads
    each only once.

    Parameters
    ----------
    client : Client
    where : str
        Name of the cluster for messages.
    tasks : sequence of Task
    patience : float
        Seconds to wait for the first worker, and for a new worker when all are gone.

    Raises
    ------
    ClusterError
        If there are no workers, if a worker has another version or lacks the data, or
        if a task crashes its workers, as every task does on a worker without provsel.
    """
    waiting, running, seen = deque(enumerate(tasks)), set[Future](), time.monotonic()
    address = client.scheduler_info()["address"]
    try:
        while waiting or running:
            n_threads = sum(client.nthreads().values())
            if n_threads:
                seen = time.monotonic()
            elif time.monotonic() - seen > patience:
                raise TimeoutError
            while waiting and len(running) < TASKS_A_THREAD * n_threads:
                number, task = waiting.popleft()
                # tasks are submitted one by one, because the order of submission sets
                # their priorities
                running.add(
                    client.submit(
                        run_on_worker, task, __version__, priority=-number, pure=False
                    )
                )
            if not running:
                time.sleep(min(0.1, patience))
                continue
            done = set[Future]()
            with suppress(TimeoutError), client.as_current():
                done, running = wait(
                    running, timeout=LOOK_EVERY, return_when="FIRST_COMPLETED"
                )
            for future in done:
                result: TaskResult = future.result(timeout=patience)
                future.release()  # otherwise it would be rerun when its worker dies
                yield result
    except TimeoutError:
        raise ClusterError(
            f"executor: expected workers at {where}, got none for {patience:g} s (executor.patience); start "
            f"some: dask worker {address} --nthreads 1; {AGAIN}."
        ) from None
    except KilledWorker as error:
        raise ClusterError(
            f"executor: {error} The worker may lack memory, or an environment with provsel {__version__}; {AGAIN}."
        ) from None
    except ClusterError:
        raise
    except (OSError, CancelledError):  # connection errors, which cancel the futures
        running.clear()  # cancelling them would take half a minute
        raise ClusterError(
            f"executor: lost the scheduler at {where}; start it and its workers again; {AGAIN}."
        ) from None
    finally:
        with suppress(Exception):
            client.cancel([*running])


def run_on_worker(task: Task, version: str) -> TaskResult:
    """Run a task on a worker, which loads the data itself; raise ClusterError if it cannot run any task."""
    try:
        # copies use the classes of this machine, not the client's
        fresh = [replace(cell) for cell in task.cells]
        keys = [
            trial_key(fresh[trial.cell].json, task.repeat, task.fold, trial.draw)
            for trial in task.trials
        ]
        if version != __version__ or keys != [trial.key for trial in task.trials]:
            raise ValueError(
                f"it has provsel {__version__}, the client has {version}, or its keys of trials differ"
            )
        with _ONE_TASK, visible_output():
            return run_task(task)
    except (ValueError, OSError) as error:
        raise ClusterError(
            f"executor: the worker on host {socket.gethostname()} cannot do the work: {error}; give it the version and "
            f"the data of the client (PROVSEL_DATA, PROVSEL_DATA_MIRROR, provsel fetch), and start it again; {AGAIN}."
        ) from None
