"""SLURM: job scripts without a cluster, and the executor against an sbatch that runs jobs at once on this machine."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from provlab.core.composition import compose_config, executor_settings
from provlab.core.plan import make_tasks
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
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # logs go below results/
    return tmp_path


def test_job_script(folder, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA", "/shared/my data")
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    settings = [
        "executor.queue=long", "executor.account=stats", "executor.walltime=12:00:00", "executor.memory=6GB",
        'executor.job_extra_directives=["--qos=night"]', "executor.job_script_prologue=[module load python]",
    ]  # fmt: skip
    with slurm_cluster(executor(*settings)) as cluster:
        lines = cluster.job_script().splitlines()
    assert lines[0].startswith("#!")
    directives = {
        line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")
    }
    logs = f"{Path('results') / 'slurm'}/provsel-%J"
    assert directives == {
        "-J provsel", "-p long", "-A stats", "-n 1", "--cpus-per-task=1", "--mem=6G", "-t 12:00:00", "--qos=night",
        f"-e {logs}.err", f"-o {logs}.out",
    }  # fmt: skip
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands[:6] == [
        "export OMP_NUM_THREADS=1",
        "export OPENBLAS_NUM_THREADS=1",
        "export MKL_NUM_THREADS=1",
        "export PROVSEL_DATA='/shared/my data'",
        "module load python",
        "export PYTHONSAFEPATH=1",
    ]
    worker = commands[6].split()
    assert worker[:3] == [sys.executable, "-m", "distributed.cli.dask_worker"]
    assert worker[worker.index("--nthreads") + 1] == "1"
    assert len(commands) == 7


SHELL = "a b'; touch owned; $(touch owned) `touch owned` #"
"""A text that a shell must take as it is."""


def test_texts_of_a_job_script_are_no_shell(folder, monkeypatch):
    monkeypatch.setenv("TMPDIR", f"/local/{SHELL}")
    worker = folder / f"worker {SHELL}"
    python = sys.executable
    worker.write_text(
        f"#!{python}\nimport sys\nopen('arguments', 'w').write(chr(10).join(sys.argv))\n"
    )
    worker.chmod(0o755)
    # which is in a folder of any name
    monkeypatch.setattr(sys, "executable", str(worker))
    texts = {
        "queue": SHELL,
        "account": SHELL,
        "walltime": SHELL,
        "log_directory": f"logs {SHELL}",
    }
    with slurm_cluster(
        {**executor(), **texts, "local_directory": f"$TMPDIR/{SHELL}"}
    ) as cluster:
        script = cluster.job_script()
    (folder / "script.sh").write_text(script)
    subprocess.run(["bash", "script.sh"], check=True)
    arguments = (folder / "arguments").read_text().splitlines()
    assert (
        arguments[arguments.index("--local-directory") + 1] == f"/local/{SHELL}/{SHELL}"
    )
    directives = [
        shlex.split(line.removeprefix("#SBATCH "))
        for line in script.splitlines()
        if "#SBATCH" in line
    ]
    logs = [
        [option, f"logs {SHELL}/provsel-%J.{suffix}"]
        for option, suffix in (("-e", "err"), ("-o", "out"))
    ]
    for directive in (["-p", SHELL], ["-A", SHELL], ["-t", SHELL], *logs):
        assert directive in directives
    assert sorted(path.name for path in folder.iterdir()) == [
        "arguments",
        f"logs {SHELL}",
        "script.sh",
        worker.name,
    ]


@pytest.mark.parametrize("ending", ["\n", "\r", "\x1b[2J", "\u2028"])
@pytest.mark.parametrize(
    "name",
    [
        "queue",
        "account",
        "walltime",
        "interface",
        "local_directory",
        "log_directory",
        "job_extra_directives",
    ],
)
def test_texts_that_end_a_line_of_a_job_script_are_refused(name, ending, folder):
    text = f"long{ending}touch owned"
    value = [text] if name == "job_extra_directives" else text
    with pytest.raises(
        ValueError,
        match=rf"executor\.{name}: expected text without line breaks.*got 'long.*; remove",
    ):
        slurm_cluster({**executor(), name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "job_extra_directives",
            "--qos=long",
            r"expected a list of lines, got '--qos=long'; put brackets",
        ),
        (
            "job_script_prologue",
            "module load x",
            r"expected a list of lines, got 'module load x'; put brackets",
        ),
        (
            "memory",
            "4GB\ntouch owned",
            r"expected a size such as 4GB, got '4GB\\ntouch owned'; correct it",
        ),
    ],
)
def test_settings_of_another_kind_are_refused(name, value, message, folder):
    with pytest.raises(ValueError, match=rf"executor\.{name}: {message}"):
        slurm_cluster({**executor(), name: value})


def test_without_slurm(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        ClusterError,
        match=r"executor=slurm needs the command sbatch, .*executor.address=",
    ):
        list(execute(make_tasks([small_cell(UNIFORM)]), executor()))


def test_without_dask_jobqueue(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(
        ClusterError,
        match=r"needs the package dask-jobqueue, .*pip install -e '.*\[slurm\]'",
    ):
        slurm_cluster(executor())


def test_run_with_an_sbatch_that_starts_jobs_at_once(folder, monkeypatch):
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (folder / name).write_text(
            text.format(python=sys.executable, log=str(folder / f"{name}.log"))
        )
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    tasks = make_tasks([small_cell(UNIFORM)])
    keys = [
        record["key"]
        for result in execute(tasks, executor("executor.n_jobs=1"))
        for record in result.records
    ]
    assert sorted(keys) == sorted(
        record["key"] for task in tasks for record in run_task(task).records
    )
    assert (folder / "scancel.log").read_text() == "cancelled\n"
