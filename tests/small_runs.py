"""Small cells, runs and scripts that the tests of plan, trials, store, executors and command line share."""

import importlib.util
import io
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
from rich.console import Console

from provlab.cli import main
from provlab.core.cell import Cell
from provlab.core.plan import identity_of, make_tasks
from provlab.core.store import SCHEMA, VOLATILE, TrialStore
from provlab.report.figures.style import only_formats
from provlab.run.runner import run_cells
from provlab.run.task import run_task

REPO = Path(__file__).resolve().parents[1]
PROVSEL = ("-m", "provlab.cli")
TABLE1 = (*PROVSEL, "reproduce", "paul2016/table1")

DATASET = {
    "name": "synthetic",
    "n_samples": 60,
    "n_features": 120,
    "n_relevant": 5,
    "seed": 0,
}
MODEL = {"_target_": "provsel.models.LibsvmSVM", "C": 1.0}
PROTOCOL = {
    "split": "kfold",
    "n_splits": 3,
    "repeats": 1,
    "draws": 2,
    "setting": "supervised",
    "seed": 0,
    "certify": True,
}
BSS = {"_target_": "provsel.selectors.BSSSelector", "n_features_to_select": 60}
UNIFORM = {"_target_": "provsel.selectors.UniformSelector", "n_features_to_select": 20}
LEVERAGE = {
    "_target_": "provsel.selectors.LeverageScoreSelector",
    "n_features_to_select": 40,
}
FULL = {"_target_": "provsel.selectors.FullDataSelector"}

SMALL = [
    "protocol.repeats=1",
    "protocol.n_splits=3",
    "protocol.draws=2",
    "dataset.n_samples=60",
    "dataset.n_features=120",
]
"""Settings that make a table of synthetic data take well under a second."""


def small_cell(selector=BSS, *, dataset=None, model=None, identity=None, **protocol):
    data = {**DATASET, **(dataset or {})}
    return Cell(
        dataset=data,
        selector=dict(selector),
        model=dict(MODEL if model is None else model),
        protocol={**PROTOCOL, **protocol},
        data=identity_of(data) if identity is None else identity,
    )


def run_quietly(cells, store, executor=None):
    console = Console(file=io.StringIO())
    report = run_cells(cells, store, executor or {"name": "serial"}, console=console)
    return report, console.file.getvalue()


def records_of(*cells):
    """Return the records of all trials of some cells, none of which fails, in this process and without a store."""
    results = [run_task(task) for task in make_tasks(cells)]
    assert [failure for result in results for failure in result.failures] == []
    return [record for result in results for record in result.records]


def reproduce_table1(results, *overrides):
    """Run a small Table 1, and return the exit status."""
    return main(
        ["reproduce", "paul2016/table1", *SMALL, f"results={results}", *overrides]
    )


def load_script(path):
    """Import an experiment's script, which is no module of a package."""
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def section(title):
    """Return a section of CONTRIBUTING.md."""
    text = (REPO / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def script_environment(**changes):
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", **changes}


@contextmanager
def interrupts_arrive():
    """Let Ctrl-C interrupt this process, and those that it starts meanwhile: a shell's background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start_script(script, overrides, cwd):
    """Start a script that a Ctrl-C of `os.killpg` reaches, with its workers, as from a terminal."""
    with interrupts_arrive():
        return subprocess.Popen(
            [sys.executable, *script, *overrides],
            cwd=cwd,
            env=script_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def run_python(arguments, cwd, **options):
    """Run this Python in a new process, and return it completed, with its output as text."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=script_environment(**options.pop("env", {})),
        capture_output=True,
        text=True,
        timeout=options.pop("timeout", 120),
        check=False,
        **options,
    )


def table_files(results, name="paul2016/table1"):
    """Return the bytes of an artefact's tables by suffix."""
    stem = Path(results) / "tables" / name
    return {
        suffix: stem.with_suffix(suffix).read_bytes()
        for suffix in (".csv", ".md", ".tex")
    }


def fake_records(first, n, cell="c"):
    """Return n records with keys from `first` on: valid, not computed."""
    empty = {
        pa.string(): "",
        pa.float64(): 0.5,
        pa.int32(): 1,
        pa.int64(): 2**40,
        pa.list_(pa.int32()): [3, 1, 2],
    }
    empty |= {
        pa.list_(pa.string()): ["c", "a", "b"],
        pa.list_(pa.float64()): [0.5, -1.0, 2.0],
    }
    blank = {field.name: empty[field.type] for field in SCHEMA} | {
        "config": None,
        "n_features": 4,
    }
    return [
        {**blank, "key": f"{k:064x}", "cell": cell, "fold": k % 1000}
        for k in range(first, first + n)
    ]


def rows(store, **options):
    return repr(store.query(**options).to_pylist())  # repr: nan is not equal to itself


def stable_records(results):
    """Return all records of a store as text, without what differs between two runs."""
    stable = [name for name in SCHEMA.names if name not in VOLATILE]
    return repr(TrialStore(Path(results) / "store").query(columns=stable).to_pylist())


def files_of(folder, pattern="*"):
    """Return the bytes of all files below a folder, by their paths from there."""
    paths = [path for path in folder.rglob(pattern) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def outcome(results):
    """Return the bytes of all tables by name, and the records without what two runs may differ in."""
    tables = {
        p.name: p.read_bytes()
        for p in (results / "tables").rglob("*")
        if p.is_file() and p.suffix != ".part"
    }
    return tables, stable_records(results)


def reproduced(name, *overrides, at):
    """Reproduce an artefact, with figures in one format as a PDF takes longer, and return its numbers."""
    with only_formats("svg"):
        assert (
            main(["reproduce", name, "executor=serial", f"results={at}", *overrides])
            == 0
        )
    return pd.read_csv(at / "tables" / f"{name}.csv", dtype={"column": str})
