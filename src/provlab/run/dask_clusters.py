"""Where the Dask cluster comes from: processes of this machine, a running scheduler, or jobs of SLURM."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster
from distributed.utils import silence_logging_cmgr

from provlab.plan import Task
from provlab.run import dask_worker
from provlab.run.dask_client import run_on
from provlab.run.errors import ClusterError
from provlab.run.task import TaskResult

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
DATA = ("PROVSEL_DATA", "PROVSEL_DATA_MIRROR")
NO_SBATCH = (
    "executor: expected the command sbatch for executor=slurm, got none on this machine; start this on a node that "
    "submits jobs, or use executor=dask executor.address=... with workers that you start."
)


def run_on_dask(tasks: Sequence[Task], config: Mapping[str, Any], n_jobs: int) -> Iterator[TaskResult]:
    """Yield the results of tasks from the cluster at `address`, or from `n_jobs` processes of this machine."""
    address, patience = config.get("address"), _patience(config)
    with _quiet(), ExitStack() as stack:
        cluster = None if address else stack.enter_context(_local(n_jobs))
        where = str(address or "the cluster on this machine")
        client = stack.enter_context(_connected(cluster or str(address), where, patience))
        yield from run_on(client, where, tasks, patience)


def run_on_slurm(tasks: Sequence[Task], config: Mapping[str, Any], n_jobs: int) -> Iterator[TaskResult]:
    """Yield the results of tasks from workers that run as `n_jobs` jobs of SLURM, one core each."""
    if shutil.which("sbatch") is None:
        raise ClusterError(NO_SBATCH)
    patience, where = _patience(config), "SLURM's jobs (squeue --me)"
    with _quiet(), slurm_cluster(config) as cluster:
        cluster.scale(jobs=n_jobs)
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
    return SLURMCluster(
        cores=1,
        processes=1,
        memory=str(config.get("memory", "4GB")),
        job_name="provsel",
        job_extra_directives=list(config.get("job_extra_directives") or []),
        job_script_prologue=prologue(config.get("job_script_prologue") or []),
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        silence_logs=logging.CRITICAL,
        **{name: config[name] for name in names if config.get(name) is not None},
    )


def prologue(lines: Sequence[str]) -> list[str]:
    """Return the shell lines of a job before its worker starts: one BLAS thread, the client's data, then `lines`."""
    data = [f"export {name}={shlex.quote(os.environ[name])}" for name in DATA if os.environ.get(name)]
    return [*(f"export {name}=1" for name in ONE_THREAD), *data, *map(str, lines)]


def _local(n_jobs: int) -> LocalCluster:
    return LocalCluster(
        n_workers=n_jobs,
        threads_per_worker=1,
        memory_limit=0,  # no limit of their own, near which workers would be killed: as with the other executors
        dashboard_address="127.0.0.1:0",  # any port: two runs at a time would warn about the same one
        preload=[dask_worker.__name__],
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


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the logs of Dask away from the terminal: what matters there is raised as an error."""
    # one task a worker: the one that runs when a worker dies is the only one to be suspected of it
    with silence_logging_cmgr(logging.CRITICAL + 1), dask.config.set({"distributed.scheduler.worker-saturation": 1.0}):
        yield


def _patience(config: Mapping[str, Any]) -> float:
    seconds = float(config.get("patience", 60))
    if not seconds > 0:
        raise ValueError(f"executor.patience: expected a number of seconds above 0, got {seconds:g}.")
    return seconds
