"""What is imported, and what is installed: no more than what is asked for needs."""

import importlib
import json
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sklearn.datasets import load_wine

import provlab
import provsel.certificates
import provsel.models
import provsel.selectors
import provsel.streams
from provlab.project.messages import to_install
from small_runs import REPO, SMALL, run_python

HEAVY = (
    "pandas", "pyarrow", "yaml", "hydra", "omegaconf", "liblinear", "matplotlib", "pooch", "rich", "PIL", "plotly",
    "jinja2", "statsmodels", "scikit_posthocs", "dask", "distributed",
)  # fmt: skip
REPORT = ("matplotlib", "PIL", "plotly", "jinja2", "statsmodels", "scikit_posthocs")
"""Of the extras "report" and "dev": not there after `make reproduce-table1`."""


ABSENT = """
import sys
import tomllib
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.split(".")[0] in MODULES else find(name, *rest)
"""


def without(modules, script, folder):
    """Run a script in a process where none of the modules can be imported, as if they were not installed."""
    return run_python(
        ["-c", f"MODULES = {modules!r}\n{ABSENT}\n{script}"], folder, timeout=300
    )


def imported_by(script, folder):
    """Return the names at the top of what a script has imported in the end."""
    done = run_python(
        [
            "-c",
            f"{script}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})",
        ],
        folder,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


# Libraries


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """Names that come with scikit-learn, which imports pandas itself where it is installed, and pandas pyarrow."""
    return imported_by(
        "import sklearn.svm, sklearn.feature_selection",
        tmp_path_factory.mktemp("beside"),
    )


@pytest.mark.parametrize(
    "module",
    [
        "provsel.selectors",
        "provsel.models",
        "provsel.certificates",
        "provsel.streams",
        "provlab.data",
    ],
)
def test_scikit_learn_is_all_that_is_imported(module, beside, tmp_path):
    imported = imported_by(f"import {module}", tmp_path)
    more = {
        name
        for name in imported - beside - set(sys.stdlib_module_names)
        if not name.startswith("_")
    }
    assert more == (
        {"provsel", "provlab", "yaml"} if module == "provlab.data" else {"provsel"}
    )


@pytest.mark.parametrize(
    ("declared", "not_needed"),
    [
        (
            "from provsel.certificates import THEOREMS; assert all(each.columns() for each in THEOREMS)",
            ("scipy",),
        ),
        (
            "import provlab.core.composition; from provlab.core.protocols import COLUMNS; assert COLUMNS",
            (),
        ),
    ],
    ids=["theorems", "protocols"],
)
def test_theorems_and_protocols_are_declared_without_what_measures_them(
    declared, not_needed, tmp_path
):
    script = f"import sys\nimport tomllib\n{declared}\nprint(*sys.modules)"
    done = run_python(["-c", script], tmp_path)
    assert done.returncode == 0, done.stderr
    library = ("models", "reducers", "selectors", "streams", "training_view")
    measures = (*not_needed, "sklearn", *(f"provsel.{name}" for name in library))
    assert [name for name in done.stdout.split() if name.startswith(measures)] == []


def test_every_room_has_its_layer():
    """Imports run downward only: `make check` compares them with these layers."""
    contract, *_ = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"][
        "importlinter"
    ]["contracts"]
    layered = {
        name.strip()
        for layer in contract["layers"]
        for name in re.split(" [:|] ", layer)
    }
    rooms = {
        f"provlab.{module.name}" for module in pkgutil.iter_modules(provlab.__path__)
    }
    assert {
        ".".join(name.split(".")[:2]) for name in layered if name.startswith("provlab.")
    } == rooms


@pytest.mark.parametrize(
    "package", [provsel.selectors, provsel.models], ids=lambda package: package.__name__
)
def test_every_class_of_the_folder_is_imported_by_name(package):
    modules = [
        f"{package.__name__}.{value.name}"
        for value in pkgutil.iter_modules(package.__path__)
    ]
    n_classes = 0
    for module in (name for name in modules if "._" not in name):
        for name, value in vars(importlib.import_module(module)).items():
            if (
                isinstance(value, type)
                and value.__module__ == module
                and not name.startswith("_")
            ):
                to_add = f"{package.__file__}: add the line 'from {module} import {name}', and {name!r} to __all__"
                assert getattr(package, name, None) is value, to_add
                assert name in package.__all__, to_add
                n_classes += 1
    # all but what a class of one's own is made of
    assert n_classes >= len(package.__all__) - 3


def test_selectors_and_models_work_where_nothing_else_is_installed_and_what_needs_more_says_so(
    tmp_path,
):
    script = """
import numpy as np
import pathlib
from provsel.models import CompressedLinearSVM, LiblinearSVM, LibsvmSVM
from provsel.selectors import BSSSelector, GaussianCompression, LPSVMSelector, OnlineLeverageSelector, SVMRFESelector
from provsel.streams import column_blocks, row_chunks
from provlab.cli import main
X = np.random.default_rng(0).normal(size=(20, 30))
y = np.where(X[:, 0] > 0, 1, -1)
for selector in (BSSSelector(25), LPSVMSelector(), OnlineLeverageSelector(), SVMRFESelector(5)):
    assert selector.fit(X, y).indices_.size > 0
for model in (CompressedLinearSVM(10), LibsvmSVM(), LiblinearSVM()):
    assert model.fit(X, y).coef_.shape == (1, 30)
pathlib.Path("x.parquet").write_bytes(b"")
X, y = np.eye(6), np.arange(6) % 2
for call in (lambda: column_blocks("x.parquet"), lambda: row_chunks("x.parquet"),
             lambda: GaussianCompression(2, random_state=0).fit(X).compress_to("z.parquet", [(X, None)])):
    try: call()
    except ImportError as error: print(error)
print(main(["status"]))
try: from provlab import compare
except ImportError as error: print(error)
"""
    done = without((*HEAVY, "threadpoolctl_", "requests"), script, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for line, subject in zip(
        lines[:3], ("column_blocks", "row_chunks", "GaussianCompression"), strict=True
    ):
        expected = "a Parquet file needs the package pyarrow, which is not installed; pip install pyarrow."
        assert line == f"{subject}: {expected}"
    assert lines[3] == "2"
    assert lines[4].startswith("expected the packages of the laboratory, got no ")
    assert (
        f"provsel: expected the packages of the laboratory, got no rich; {to_install('lab')}."
        in done.stderr
    )


# Commands


@pytest.mark.parametrize(
    "argv", [["--help"], ["--version"], ["verify", "--help"], ["run", "--help"]]
)
def test_help_waits_for_nothing(argv, tmp_path):
    script = f"from provlab.cli import main\ntry: main({argv!r})\nexcept SystemExit as stop: assert stop.code == 0"
    assert (
        imported_by(script, tmp_path)
        & ({"numpy", "scipy", "sklearn", *HEAVY} - {"rich"})
        == set()
    )


def test_tables_and_verdicts_need_no_package_for_figures(tmp_path):
    script = f"""
from provlab.cli import main
from provlab.core.recipe import load_recipe
from provlab.project.papers import artefact_names
for name in artefact_names():
    if name.split("/")[1].startswith("table"):
        load_recipe(name)
assert main(["list"]) == 0
assert main(["reproduce", "table1", *{SMALL!r}, "executor=serial"]) == 0
assert main(["status", "--artefact", "table1", *{SMALL!r}]) == 0
assert main(["verify", "--paper", "paul2016"]) == 0
assert main(["explain", "table1", "--row", "BSS", "--column", "r=30, k=40", *{SMALL!r}]) == 0
"""
    done = without(REPORT, script, tmp_path)
    assert done.returncode == 0, done.stderr
    for part in ("Table 1.", "complete", " not run"):
        assert part in done.stdout


# Installations with an extra

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]

PAGES = [
    (REPO / name).read_text(encoding="utf-8") for name in ("docs/start.md", "README.md")
]

OTHERWISE = {
    "fetch": "needs a network; tests/datasets has its own server",
    "explain": "is about a paper's table; the test of tables and verdicts calls it",
    "rank selector=any": "computes a class of the reader's on ten data sets; tests/benchmark ranks",
}
"""Commands of these pages that are not run here."""


def commands_of(pages):
    """Return the commands of some pages that start with `provsel`, as lists of arguments, each once."""
    texts = [
        text
        for page in pages
        for text in re.findall(
            r"(?:^(?:\$ )?|`)provsel ([a-z][^`\n#]*)", page, re.MULTILINE
        )
    ]
    kept = [text.strip() for text in texts if not text.startswith(tuple(OTHERWISE))]
    return [shlex.split(text) for text in dict.fromkeys(kept)]


def not_installed_with(extra):
    """Return the modules of this environment that an installation of provsel with an extra lacks."""
    waiting = [*map(Requirement, PROJECT["dependencies"])]
    if extra:
        waiting.append(Requirement(f"provsel[{extra}]"))
    installed = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name == "provsel":
            waiting += [
                Requirement(text)
                for needed_one in requirement.extras
                for text in PROJECT["optional-dependencies"][needed_one]
            ]
        elif name not in installed:
            installed.add(name)
            needed = [
                Requirement(text) for text in metadata.distribution(name).requires or []
            ]
            waiting += [
                needed_one
                for needed_one in needed
                if needed_one.marker is None
                or needed_one.marker.evaluate({"extra": ""})
            ]
    homes = metadata.packages_distributions().items()
    lacking = {
        module
        for module, names in homes
        if installed.isdisjoint(map(canonicalize_name, names))
    }
    return lacking - {"provsel", "provlab"}


IN_EACH = """
import contextlib, io, json, os, sys, traceback
from provlab.cli import main
def call(entry):
    if isinstance(entry, list):
        return main(entry)
    try: exec(entry, {})
    except ModuleNotFoundError as error:
        print(f"provsel: {error}", file=sys.stderr)
        return 2
    return 0
for entry in json.loads(ENTRIES):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try: status = call(entry)
        except BaseException: status = traceback.format_exc()
    print(json.dumps([status, said.getvalue()]))
    if entry[0] == "new" and status == 0:
        os.chdir(entry[1])
"""

SERIAL = ["executor=serial"]
SMALLER = [*SERIAL, "protocol.n_splits=3", "protocol.repeats=1"]
LIGHTER = {
    "run": SMALLER,
    "rank": ["--against=RRQR", *SERIAL],
    "reproduce": SMALLER,
    "audit": SERIAL,
}
"""Settings with which a command of a page takes seconds; workers of their own would have all packages."""


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """A folder outside of any project, with the file that docs/start.md names, of 60 rows."""
    monkeypatch.delenv("PROVSEL_PROJECT")
    wines = load_wine(as_frame=True).frame[::3]
    wines.rename(columns={"target": "class"}).to_csv(tmp_path / "my.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("extra", ["", "lab", "report"])
def test_what_the_first_pages_say_works_with_an_extra_or_says_in_a_sentence_what_to_install(
    extra, tables
):
    commands = commands_of(PAGES)
    assert {"run", "report", "rank", "new", "verify", "list"} <= {
        argv[0] for argv in commands
    }
    code = [
        *re.findall(r"```python\n(.*?)```", PAGES[1], re.DOTALL),
        "from provlab import rank",
    ]
    entries = [*code, *(argv + LIGHTER.get(argv[0], []) for argv in commands)]
    done = without(
        tuple(not_installed_with(extra)),
        f"ENTRIES = {json.dumps(entries)!r}\n{IN_EACH}",
        tables,
    )
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    advice = re.escape(to_install("report" if extra else "lab"))
    for entry, (status, said) in zip(entries, outcomes, strict=True):
        needs_lab = isinstance(entry, list) or "provlab" in entry
        is_drawn = entry[0] in ("run", "rank")
        if (needs_lab and not extra) or (entry == ["report"] and extra == "lab"):
            assert re.fullmatch(
                rf"provsel: expected the packages? .*; {advice}\.[^\n]*\n", said
            ), (entry, said)
            assert status == 2
        else:
            assert status == 0, (entry, status, said)
            assert len(re.findall(f"^note: figures.*; {advice}\\.$", said, re.M)) == (
                is_drawn and extra == "lab"
            )


@pytest.mark.parametrize("prefix", ["/elsewhere", str(REPO / ".venv")])
@pytest.mark.parametrize(
    ("extra", "target"), [("lab", "setup"), ("report", "setup-report"), ("excel", None)]
)
def test_what_to_install_is_a_command_for_this_environment(
    extra, target, prefix, monkeypatch
):
    """Make's where make set it up; else pip of this Python, as a shell's pip may be another one's."""
    monkeypatch.setattr(sys, "prefix", prefix)
    command = shlex.split(to_install(extra))
    if target is None or prefix == "/elsewhere":
        assert command == [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-e",
            f"{REPO}[{extra}]",
        ]
    else:
        assert command == ["make", "-C", str(REPO), target]
        assert (
            subprocess.run(
                [*command, "--dry-run"], capture_output=True, check=False
            ).returncode
            == 0
        )


# What make installs


def installed_for(target):
    """Return the locks that a target installs where there is no environment."""
    dry_run = subprocess.run(
        ["make", "--dry-run", "VENV=none", target],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=True,
    )
    return re.findall(r"d' (\S+) .*--require-hashes", dry_run.stdout)


@pytest.mark.parametrize(
    ("targets", "more"),
    [
        (["reproduce-table1", "reproduce-table4", "status", "verify", "doctor"], []),
        (
            ["reproduce-figure1", "reproduce-ofs-table3", "report", "reference"],
            ["requirements-report.lock"],
        ),
        (
            ["test", "check", "format", "lock", "bench", "audit-lock"],
            ["requirements-dev.lock"],
        ),
    ],
)
def test_tables_need_the_smallest_environment_figures_what_draws_and_developing_everything(
    targets, more
):
    for target in targets:
        assert installed_for(target) == ["requirements.lock", *more]


def test_locks_agree_and_have_hashes():
    pins = {}
    for name in (
        "requirements.lock",
        "requirements-report.lock",
        "requirements-dev.lock",
    ):
        text = (REPO / name).read_text(encoding="utf-8")
        assert "://" not in text
        entries = re.split(r"\n(?=[a-z])", text)[1:]
        assert all("--hash=sha256:" in entry for entry in entries)
        pins[name] = dict(entry.split(" ", 1)[0].split("==") for entry in entries)
    run, report, dev = (set(lock.items()) for lock in pins.values())
    assert run < report < dev
    assert {"numpy", "pyarrow", "hydra-core"} <= set(pins["requirements.lock"])
    assert not {"matplotlib", "pillow", "pytest", "dask"} & set(
        pins["requirements.lock"]
    )


def test_pins_are_versions_that_the_project_allows():
    lock = (REPO / "requirements-dev.lock").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([a-z0-9.-]+)(?:\[.*\])?==(\S+)", lock, re.MULTILINE))
    requirements = [
        *map(
            Requirement,
            sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"]),
        )
    ]
    allowed_of = {
        canonicalize_name(requirement.name): requirement.specifier
        for requirement in requirements
    }
    allowed_of.pop("provsel")
    assert len(allowed_of) > 30
    assert {
        name: pins[name]
        for name, allowed in allowed_of.items()
        if not allowed.contains(pins[name])
    } == {}


def test_extras_that_a_package_asks_of_another_are_in_the_lock():
    """Else pip looks for them in the newest release, and refuses it: an installation ends on the day of a release."""
    lock = (REPO / "requirements-dev.lock").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9.-]+\[[a-z0-9,]+\])==", lock, re.MULTILINE))
    texts = [
        text
        for package in metadata.distributions()
        for text in package.requires or []
        if "extra ==" not in text
    ]
    needed = {
        extra[0].lower()
        for text in texts
        if (extra := re.match(r"[\w.-]+\[[\w,]+\]", text))
    }
    assert needed <= pinned
    assert "coverage[toml]" in pinned


# Types


def test_a_strict_type_checker_accepts_a_file_that_uses_every_public_name(tmp_path):
    used = REPO / "tests" / "every_public_name.py"
    text = used.read_text(encoding="utf-8")
    for package in (
        provlab,
        provsel.selectors,
        provsel.models,
        provsel.certificates,
        provsel.streams,
    ):
        assert [name for name in package.__all__ if name not in text] == [], (
            f"use each in {used}"
        )
    (tmp_path / used.name).write_text(text, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(
        f"{text}selectors.Selection.unweightd(indices)\ncompare(X, y, 3)\n",
        encoding="utf-8",
    )
    options = ["--strict", "--cache-dir=cache"]
    environment = {"MYPYPATH": str(REPO / "src")}
    done = run_python(
        ["-m", "mypy", *options, used.name, "wrong.py"],
        tmp_path,
        env=environment,
        timeout=300,
    )
    assert (
        re.findall(r"^(.*?):.* error:", done.stdout, re.MULTILINE) == ["wrong.py"] * 2
    ), done.stdout
