"""Files beside the data, with the names of modules that are imported: none runs, in no process, and nothing differs."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions

import pytest

from provlab.cli.commands import COMMANDS
from provlab.project.project import new_project
from provlab.run.isolation import SAFE_PATH
from small_runs import outcome, run_python

SHADOW = """
with open({marker!r}, "a") as file:
    file.write({name!r} + " in " + open("/proc/self/cmdline").read().replace(chr(0), " ") + chr(10))
raise RuntimeError("a file beside the data runs")
"""
NOT_INSTALLED = (
    "bottleneck",
    "hydra_plugins",
    "numexpr",
    "sitecustomize",
    "tqdm",
    "usercustomize",
)
"""Modules that packages or Python import where they are there."""

DRIVER = """
import json, os, sys
from provlab.cli import main
from provlab.run import isolation

if __name__ == "__main__":  # workers import it
    commands, marker = json.loads(sys.argv[1]), sys.argv[2]
    isolation.SAFE_PATH = sys.argv[3]
    ended = []
    for command in commands:
        try:
            status = main(command)
        except SystemExit as stop:
            status = stop.code
        ran = ""
        if os.path.exists(marker):
            ran = open(marker).read()
            os.remove(marker)
        ended.append([command[0], status, ran])
    imported = []
    for name, module in sys.modules.items():
        spec = getattr(module, "__spec__", None)
        if spec is None or spec.name != name or "." in name or spec.origin in (None, "built-in", "frozen"):
            continue  # no file at the top of a folder
        if name.isidentifier() and not spec.origin.startswith(os.getcwd()):
            imported.append(name)
    print(json.dumps([ended, imported]))
"""
"""Runs commands in a process that is started as `provsel` is: by a script in another folder."""

SMALL = ["protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=1"]
FILE = [
    "dataset=file",
    "dataset.path=data/example.csv",
    "dataset.target=species",
    "dataset.index_col=sample",
]
UNIFORM = [*FILE, *SMALL[:2], "selector=uniform", "selector.n_features_to_select=4"]
EXECUTORS = {
    "serial": ["executor=serial"],
    "loky": ["executor=loky", "executor.n_jobs=2"],
    "dask": ["executor=dask", "executor.n_jobs=1"],
}

COMMANDS_RUN = {
    "new": ["another-study"],
    "reproduce": ["comparison", *SMALL],
    "select": [
        "data/example.csv",
        "species",
        "dataset.index_col=sample",
        "--methods",
        "f_test,mrmr",
        "--jobs",
        "2",
    ],
    "run": UNIFORM,
    "audit": ["--fraction", "1", "--strict"],
    "status": SMALL,
    "verify": ["--detail", *SMALL],
    "explain": ["comparison", *SMALL, "--row", "BSS", "--column", "8 features"],
    "export": ["--output", "exported"],
    "merge": ["exported", "--results", "merged"],
    "reference": ["--artefact", "comparison", *SMALL],
    "report": SMALL,
    "readings": ["first", "--plan"],  # the project has none
    "rank": [*FILE, "--against", "nothing"],
    "panel": ["--dataset", "breast_cancer", "--plan"],
    "list": ["selectors"],
    "doctor": ["--json"],
    "fetch": ["nothing"],
}
"""Arguments of each command, in the order in which they are run."""

REFUSED = ("readings", "rank", "fetch")

SAMPLE = {
    "run": "loky",
    "audit": "dask",
    "reproduce": "serial",
    "rank": "serial",
    "panel": "serial",
}
"""Commands that compute trials, and where they do so in the tests that always run."""


def in_order(executors):
    """Return all commands, those that compute trials with their executors."""
    commands = []
    for name, arguments in COMMANDS_RUN.items():
        executor = EXECUTORS[executors[name]] if name in executors else []
        commands.append([name, *arguments, *executor])
    return commands


@cache
def importable():
    """Return the names at the top of all modules of Python and of the packages that are installed."""
    names = {
        *sys.stdlib_module_names,
        *packages_distributions(),
        "provlab",
        "provsel",
    } - {"__main__"}
    return sorted(
        name
        for name in names
        if name.isidentifier() and PathFinder.find_spec(name) is not None
    )


def write_shadows(folder, names):
    for name in names:
        (folder / f"{name}.py").write_text(
            SHADOW.format(marker=str(folder.parent / "ran"), name=name)
        )


def run_commands(folder, commands, variable=SAFE_PATH):
    """Run commands in a folder; return the name, status and marks of each, and the modules that were imported."""
    (folder.parent / "driver.py").write_text(DRIVER)
    arguments = [
        folder.parent / "driver.py",
        json.dumps(commands),
        folder.parent / "ran",
        variable,
    ]
    environment = {
        name: text
        for name, text in os.environ.items()
        if name not in ("PROVSEL_PROJECT", SAFE_PATH)
    }
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def without_files(tmp_path_factory):
    """Return what the commands give in a project."""
    folder = tmp_path_factory.mktemp("without")
    new_project(folder / "my-study")
    ended, _ = run_commands(
        folder / "my-study", in_order(dict.fromkeys(SAMPLE, "serial"))
    )
    return [(name, status) for name, status, _ in ended], outcome(
        folder / "my-study" / "results"
    )


@pytest.fixture(scope="module")
def among_files(tmp_path_factory):
    """Return what the commands give in a project with files that have the names of all modules, and its folder."""
    folder = tmp_path_factory.mktemp("among")
    new_project(folder / "my-study")
    write_shadows(folder / "my-study", importable())
    (folder / "my-study" / "matplotlibrc").write_text(
        "backend: module://json\nsavefig.dpi: 7\nfont.size: 30\n"
    )
    return run_commands(
        folder / "my-study", in_order(SAMPLE)
    ), folder / "my-study" / "results"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_beside_the_data_runs(command, among_files):
    (ended, _), _ = among_files
    [[status, ran]] = [[status, ran] for name, status, ran in ended if name == command]
    assert ran == ""
    assert status == (2 if command in REFUSED else 0)


def test_the_files_have_the_names_of_what_is_imported_and_change_nothing(
    among_files, without_files
):
    (ended, modules), results = among_files
    assert {*modules} - {*importable()} == set()
    assert (
        [(name, status) for name, status, _ in ended],
        outcome(results),
    ) == without_files


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return a folder of data, which is no project, with files of all names, those that are not installed as well."""
    monkeypatch.delenv("PROVSEL_PROJECT")
    new_project(tmp_path / "made")
    shutil.copytree(tmp_path / "made" / "data", tmp_path / "data" / "data")
    write_shadows(
        tmp_path / "data", [*sys.stdlib_module_names, *importable(), *NOT_INSTALLED]
    )
    return tmp_path / "data"


def test_where_the_folder_comes_first_they_run(data):
    """The control: with another variable in the place of Python's."""
    [[_, status, ran]], _ = run_commands(
        data, [["run", *UNIFORM, *EXECUTORS["loky"]]], "ANOTHER_VARIABLE"
    )
    assert status != 0
    # a worker or the resource tracker, whichever starts first
    assert "joblib.externals.loky.backend" in ran


NOTEBOOK = """
import sys
import numpy as np
from provlab import compare
from provsel.selectors import UniformSelector
from sklearn.datasets import load_wine

if __name__ == "__main__":
    X, y = load_wine(return_X_y=True)
    small = dict(repeats=1, n_splits=3)
    compare(X, y, {"a": UniformSelector(3)}, n_jobs=1, results="0", **small)  # has imported what it needs
    sys.path.insert(0, "")
    from beside import Mine

    before = sys.path.copy()
    methods = {"a": UniformSelector(3), "b": Mine(2)}
    frames = [compare(X, y, methods, n_jobs=n_jobs, results=str(n_jobs), **small) for n_jobs in (1, 2)]
    assert sys.path == before
    assert frames[0]["error"].tolist() == frames[1]["error"].tolist()
"""
BESIDE = """
from provsel.selectors import UniformSelector

class Mine(UniformSelector):
    algorithm_version = 1
"""


def test_a_program_finds_its_own_classes_in_workers_and_nothing_else(data):
    """As a notebook, which has the folder first on its path."""
    for path in data.glob("*.py"):
        # what nothing else has is found in the program's own folder
        if path.stem not in importable():
            path.unlink()
    (data / "beside.py").write_text(BESIDE)
    (data / "provsel.toml").write_text('trust = ["beside"]\n')
    (data.parent / "notebook.py").write_text(NOTEBOOK)
    done = run_python([data.parent / "notebook.py"], data)
    assert done.returncode == 0, done.stderr
    assert not (data.parent / "ran").exists()


def test_python_m_imports_no_file_beside_the_data(data):
    """But for names that Python needs before the first line of provlab: `python -m` puts the folder first."""
    for path in data.glob("*.py"):
        if path.stem not in (
            "json",
            "struct",
            "pickle",
            "random",
            "numpy",
            "subprocess",
        ):
            path.unlink()
    done = run_python(
        ["-m", "provlab.cli", "run", *UNIFORM, *EXECUTORS["serial"]], data
    )
    assert done.returncode == 0, done.stderr
    assert not (data.parent / "ran").exists()
