"""Results folders for the browser: one by commands of the checkout, others of a small paper of their own."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forking import run_forked
from small_runs import PROVSEL, REPO, TABLE1

PICTURE = bool(os.environ.get("PROVSEL_README_SCREENSHOT"))
"""The picture in the README shows the table by the paper's protocol, which takes minutes."""

SETTINGS = [] if PICTURE else ["protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=2"]
THEOREM7 = [
    "+experiment=giesen2013/theorem7", "dataset.n_features=500", "dataset.dense=true", "model.form=kernel_weights",
    "model.variance=1/l", "model.n_components=10",
]  # fmt: skip
"""A cell whose errors are not zero; its table stays partial, as table1_sets does, which shares cells with table1."""

LONGEST_WAIT = 900  # s
RUN = REPO / "experiments" / "run.py"


def clean_environment(folder):
    """Return an environment without data sets, and without the tracing of coverage, which would double the time."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE_"))}
    mine.pop("PROVSEL_DATA_MIRROR", None)
    mine["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{mine['PATH']}"  # provsel is installed beside Python
    return {**mine, "PROVSEL_DATA": str(folder / "no-data"), "COLUMNS": "200", "OPENBLAS_NUM_THREADS": "1"}


def run_command(command, folder):
    """Run a command from the checkout, in a shell where it is text, and return its output."""
    if isinstance(command, str):
        done = subprocess.run(
            ["sh", "-c", command], cwd=REPO, env=clean_environment(folder), text=True, timeout=LONGEST_WAIT,
            check=False, capture_output=True,
        )  # fmt: skip
    else:
        done = run_forked(command, REPO, clean_environment(folder))
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_results(folder):
    """Run what a user would: an artefact, a cell, an audit, the report."""
    into = [f"results={folder}", "executor=serial"]
    run_command([*TABLE1, *SETTINGS, *into], folder)
    run_command([RUN, *THEOREM7, *SETTINGS, *into], folder)
    audit = ["--results", folder, "executor=serial", "--fraction", "0.1", "--limit", "5", "--seed", "1"]
    run_command([*PROVSEL, "audit", *audit], folder)
    run_command([*PROVSEL, "report", "--results", folder, *SETTINGS], folder)


def write_seen(*, evil):
    """Return a function that makes the project of `seen_paper` with its report."""

    def write(folder):
        from seen_paper import seen_report

        with pytest.MonkeyPatch.context() as patch:
            seen_report(folder, patch, evil=evil)

    return write


def make_once(tmp_path_factory, name, write):
    """Return a folder that is written once, by whichever of several test processes comes first."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, done, failed = (shared / f"browser-{name}{suffix}" for suffix in ("", ".done", ".failed"))
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + LONGEST_WAIT
        while not done.exists():
            assert not failed.exists(), f"another test process could not write {folder}"
            assert time.monotonic() < deadline, f"{folder} was not finished"
            time.sleep(0.1)
        return folder
    try:
        write(folder)
    except BaseException:
        failed.touch()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    done.touch()
    return folder
