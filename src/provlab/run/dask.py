"""Run tasks on a Dask cluster: a running one, processes of this machine, or jobs of SLURM.

The client alone plans and writes the store; workers load the data themselves. A task is sent as it is, a few at a time.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from queue import Empty, Queue
from typing import Any

import dask
from distributed import CancelledError, Client, Future, KilledWorker, LocalCluster
from distributed.comm import CommClosedError
from distributed.utils import silence_logging_cmgr

from provlab.datasets import DataIntegrityError, MissingDataError
from provlab.identity.keys import trial_key
from provlab.plan.plan import Task
from provlab.run.task import ONE_THREAD, ClusterError, TaskResult, run_task
from provsel import __version__

DATA = ("PROVSEL_DATA", "PROVSEL_DATA_MIRROR")
TASKS_A_THREAD = 2
"""Submitted at a time: one that runs and the next one. More would only fill the memory of scheduler and client."""

LOOK_EVERY = 1.0
"""Seconds between two looks at the cluster: who has come, who has gone."""

AGAIN = "what was finished is stored; run the same command again to resume"
SAME_CODE = "install the version of the client in the environment of the workers, and start them again"
SAME_DATA = (
    "the client sees the data: give the worker the same files through PROVSEL_DATA or PROVSEL_DATA_MIRROR, "
    "or run provsel fetch there, and start it again"
)

_ONE_TASK = threading.Lock()
"""A worker of several threads runs one task at a time: BLAS's threads, CPU times and warnings are the process's."""


def run_on_cluster(tasks: Sequence[Task], config: Mapping[str, Any], n_jobs: int) -> Iterator[TaskResult]:
    """Yield the results of tasks from the cluster of a config, which is closed at the end if it was started here."""
    patience = float(config.get("patience", 60))
    if not patience > 0:
        raise ValueError(f"executor.patience: expected a number of seconds above 0, got {patience:g}.")
    address = config.get("address") if config["name"] == "dask" else None
    # one task a worker: the one that runs when a worker dies is the only one to be suspected of it
    saturation = dask.config.set({"distributed.scheduler.worker-saturation": 1.0})
    with silence_logging_cmgr(logging.CRITICAL + 1), saturation, ExitStack() as stack:
        if config["name"] == "slurm":
            if shutil.which("sbatch") is None:
                raise ClusterError(
                    "executor: expected the command sbatch for executor=slurm, got none on this machine; start this on "
                    "a node that submits jobs, or use executor=dask executor.address=... with workers that you start."
                )
            where, cluster = "SLURM's jobs (squeue --me)", stack.enter_context(slurm_cluster(config))
            cluster.scale(jobs=n_jobs)
        elif address:
            where, cluster = str(address), str(address)
        else:
            where, cluster = "the cluster on this machine", stack.enter_context(_local_cluster(n_jobs))
        with _connected(cluster, where, patience) as client:
            yield from run_on(client, where, tasks, patience)


def slurm_cluster(config: Mapping[str, Any]) -> Any:
    """Return dask-jobqueue's SLURMCluster of a config, with a scheduler in this process and no jobs yet.

    Parameters
    ----------
    config : mapping
        queue, account, walltime, memory (a worker), interface, local_directory, log_directory: as SLURMCluster has
        them. `job_extra_directives`: further lines #SBATCH. `job_script_prologue`: lines before the worker starts,
        after ours, which cap BLAS at one thread and say where the data is.
    """
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise ClusterError(
            "executor: expected the package dask-jobqueue for executor=slurm, got none; pip install 'provsel[slurm]'."
        ) from None
    names = ("queue", "account", "walltime", "interface", "local_directory", "log_directory")
    data = [f"export {name}={shlex.quote(os.environ[name])}" for name in DATA if os.environ.get(name)]
    own = map(str, config.get("job_script_prologue") or [])
    return SLURMCluster(
        cores=1,
        processes=1,
        memory=str(config.get("memory", "4GB")),
        job_name="provsel",
        job_extra_directives=list(config.get("job_extra_directives") or []),
        job_script_prologue=[*(f"export {name}=1" for name in ONE_THREAD), *data, *own],
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        silence_logs=logging.CRITICAL,
        **{name: config[name] for name in names if config.get(name) is not None},
    )


def _local_cluster(n_jobs: int) -> LocalCluster:
    return LocalCluster(
        n_workers=n_jobs,
        threads_per_worker=1,
        memory_limit=0,  # no limit of their own, near which workers would be killed: as with the other executors
        dashboard_address="127.0.0.1:0",  # any port: two runs at a time would warn about the same one
        preload=["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],  # the client ends its workers
        silence_logs=logging.CRITICAL,
    )


@contextmanager
def _connected(cluster: Any, where: str, patience: float) -> Iterator[Client]:
    try:
        client = Client(cluster, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"executor: expected a scheduler at {where}, got no answer in {patience:g} s (executor.patience): {error}; "
            f"start it with dask scheduler, or correct executor.address=tcp://host:port."
        ) from None
    with client:
        yield client


def run_on(client: Client, where: str, tasks: Sequence[Task], patience: float) -> Iterator[TaskResult]:
    """Yield the result of each task, in any order; whatever happens, nothing of them stays on the cluster.

    Tasks of a lost worker run again elsewhere. Those of one data set run one after the other, so that a worker, which
    keeps the last data sets that it loaded, loads each once.

    Parameters
    ----------
    client : Client
    where : str
        The cluster, for messages.
    tasks : sequence of Task
    patience : float
        Seconds to wait for a first worker, and for another one when all are gone.

    Raises
    ------
    ClusterError
        No workers, or a worker without provsel, of another version, or without the data; a task that takes its workers
        down with it.
    """
    watch = Watch(client, where, patience)
    while not watch.n_threads:
        time.sleep(min(0.1, patience))
        watch.look()
    order = {data: place for place, data in enumerate(dict.fromkeys(task.data for task in tasks))}
    waiting = deque(enumerate(sorted(tasks, key=lambda task: order[task.data])))
    running: dict[str, tuple[Future, Task]] = {}
    finished: Queue[Future] = Queue()
    try:
        while waiting or running:
            while waiting and len(running) < TASKS_A_THREAD * watch.n_threads:
                number, task = waiting.popleft()
                # the order of submission as priorities: those of one moment would run in any order
                future = client.submit(run_on_worker, task, priority=-number, pure=False)
                running[str(future.key)] = future, task
                future.add_done_callback(finished.put)
            try:
                future = finished.get(timeout=LOOK_EVERY)
            except Empty:
                watch.look()
                continue
            if time.monotonic() - watch.looked > LOOK_EVERY:
                watch.look()
            yield _result(future, running[str(future.key)][1], watch)
            del running[str(future.key)]
    finally:
        if not watch.is_lost:  # it would take half a minute to find that out again
            with suppress(Exception):
                client.cancel([future for future, _ in running.values()])


def run_on_worker(task: Task) -> TaskResult:
    """Run a task on a worker, which loads the data itself; what it lacks for any task is a ClusterError."""
    here = f"executor: the worker on host {socket.gethostname()}"
    try:
        fresh = [replace(cell) for cell in task.cells]  # which ask the classes that are here, not the client's
        keys = [trial_key(fresh[trial.cell].json, task.repeat, task.fold, trial.draw) for trial in task.trials]
    except (ValueError, TypeError) as error:
        raise ClusterError(f"{here} does not know a config of the client: {error}; {SAME_CODE}; {AGAIN}.") from None
    if keys != [trial.key for trial in task.trials]:
        raise ClusterError(
            f"{here} has other code than the client, and would give trials other keys; {SAME_CODE}; {AGAIN}."
        )
    try:
        with _ONE_TASK:
            return run_task(task)
    except (MissingDataError, DataIntegrityError) as error:
        raise ClusterError(f"{here} cannot load the data: {error}; {SAME_DATA}; {AGAIN}.") from None
    except OSError as error:  # such as a full disk
        raise ClusterError(f"{here} failed: {error}; mend that machine, or leave it out; {AGAIN}.") from None


def _result(future: Future, task: Task, watch: Watch) -> TaskResult:
    while future.status not in ("cancelled", "lost"):
        try:
            result: TaskResult = future.result(timeout=LOOK_EVERY)
            return result
        except TimeoutError:  # its worker died before it handed the result over: the task runs again
            watch.look()
        except (CommClosedError, CancelledError):  # results come by way of the scheduler, and it went with this one
            break
        except KilledWorker as error:
            name = f"{task.dataset.get('name')} {task.dataset.get('set', '')}".strip()
            raise ClusterError(
                f"executor: the task {name}, split {task.split}, repeat {task.repeat}, fold {task.fold} "
                f"({len(task.trials)} trials) was on {error.allowed_failures + 1} workers when they died, the last at "
                f"{error.last_worker.address}; look for lack of memory there, give each worker more; {AGAIN}."
            ) from None
    raise watch.lost()


class Watch:
    """Knows how many threads the cluster has, for how long it has had none, and that its workers have our code."""

    def __init__(self, client: Client, where: str, patience: float) -> None:
        self._client, self._where, self._patience = client, where, patience
        self.looked = self._seen = time.monotonic()
        self.n_threads, self.is_lost = 0, False
        self._checked: set[str] = set()
        self.look()

    def look(self) -> None:
        """Count threads; raise when there has been none for longer than the patience, or no scheduler."""
        try:
            threads: dict[str, int] = self._client.nthreads()
            if new := threads.keys() - self._checked:
                _check_code(self._client.run(_told_version(), workers=[*new], on_error="return"))
                self._checked |= new
        except ClusterError:
            raise
        except (OSError, RuntimeError, TimeoutError):
            raise self.lost() from None
        self.n_threads, self.looked = sum(threads.values()), time.monotonic()
        if self.n_threads:
            self._seen = self.looked
        elif self.looked - self._seen > self._patience:
            address = self._client.scheduler_info()["address"]
            raise ClusterError(
                f"executor: expected workers at {self._where}, got none for {self._patience:g} s "
                f"(executor.patience); start some: dask worker {address} --nthreads 1; {AGAIN}."
            )

    def lost(self) -> ClusterError:
        """Note that the scheduler does not answer, and return the error that says so."""
        self.is_lost = True
        return ClusterError(f"executor: lost the scheduler at {self._where}; start it and its workers again; {AGAIN}.")


def _told_version() -> Callable[[], tuple[str, str]]:
    """Return a function that is sent as code: a worker without provsel could not even read its name."""

    def version():  # type: ignore[no-untyped-def]
        import socket

        try:
            from provlab.run.dask import __version__ as found
        except Exception as error:
            found = f"none ({type(error).__name__}: {error})"
        return socket.gethostname(), found

    return version


def _check_code(told: Mapping[str, Any]) -> None:
    """Refuse workers whose Python cannot read our code, and those with another provsel than the client, or none."""
    for address, answer in sorted(told.items()):
        if isinstance(answer, OSError):  # it has gone meanwhile
            continue
        host, found = answer if isinstance(answer, tuple) else (address, f"an answer that is none: {answer}")
        if found != __version__:
            python = ".".join(map(str, sys.version_info[:2]))
            raise ClusterError(
                f"executor: expected provsel {__version__} and Python {python} on every worker, got {found} on host "
                f"{host}; {SAME_CODE}; {AGAIN}."
            )
