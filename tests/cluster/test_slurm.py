"""SLURM: job scripts without a cluster, and the executor against an sbatch that runs jobs at once on this machine."""

import os
import sys
from pathlib import Path

import pytest

from provlab.plan import compose_config, executor_settings, make_tasks
from provlab.run.dask import slurm_cluster
from provlab.run.executors import execute
from provlab.run.task import ClusterError, run_task
from small_runs import UNIFORM, small_cell

SBATCH = """#!{python}
import subprocess, sys
script = open(sys.argv[-1]).read()
job = subprocess.Popen(["bash", "-c", "trap 'kill 0' TERM; " + script], stdout=open({log!r}, "a"),
                       stderr=subprocess.STDOUT, start_new_session=True)
print("Submitted batch job", job.pid)
"""
SCANCEL = """#!{python}
import os, signal, sys
os.killpg(int(sys.argv[1]), signal.SIGKILL)
open({log!r}, "a").write("cancelled\\n")
"""


def executor(*overrides):
    return executor_settings(compose_config(["executor=slurm", *overrides]))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # logs go below results/
    return tmp_path


def test_job_script(here, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA", "/shared/my data")
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    settings = [
        "executor.queue=long", "executor.account=stats", "executor.walltime=12:00:00", "executor.memory=6GB",
        'executor.job_extra_directives=["--qos=night"]', "executor.job_script_prologue=[module load python]",
    ]  # fmt: skip
    with slurm_cluster(executor(*settings)) as cluster:
        lines = cluster.job_script().splitlines()
    assert lines[0].startswith("#!")
    directives = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")}
    logs = f"{Path('results') / 'slurm'}/provsel-%J"
    assert directives == {
        "-J provsel", "-p long", "-A stats", "-n 1", "--cpus-per-task=1", "--mem=6G", "-t 12:00:00", "--qos=night",
        f"-e {logs}.err", f"-o {logs}.out",
    }  # fmt: skip
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands[:5] == [
        "export OMP_NUM_THREADS=1",
        "export OPENBLAS_NUM_THREADS=1",
        "export MKL_NUM_THREADS=1",
        "export PROVSEL_DATA='/shared/my data'",
        "module load python",
    ]
    worker = commands[5].split()
    assert worker[:3] == [sys.executable, "-m", "distributed.cli.dask_worker"]
    assert worker[worker.index("--nthreads") + 1] == "1"
    assert len(commands) == 6


def test_without_slurm(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ClusterError, match=r"expected the command sbatch for executor=slurm, .*executor.address="):
        list(execute(make_tasks([small_cell(UNIFORM)]), executor()))


def test_without_dask_jobqueue(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(ClusterError, match=r"expected the package dask-jobqueue .*pip install -e '.*\[slurm\]'"):
        slurm_cluster(executor())


def test_run_with_an_sbatch_that_starts_jobs_at_once(here, monkeypatch):
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (here / name).write_text(text.format(python=sys.executable, log=str(here / f"{name}.log")))
        (here / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{here}:{os.environ['PATH']}")
    tasks = make_tasks([small_cell(UNIFORM)])
    found = [record["key"] for result in execute(tasks, executor("executor.n_jobs=1")) for record in result.records]
    assert sorted(found) == sorted(record["key"] for task in tasks for record in run_task(task).records)
    assert (here / "scancel.log").read_text() == "cancelled\n"
