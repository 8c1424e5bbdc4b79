"""What is imported, and what is installed: no more than what is asked for needs."""

import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest

import provlab
import provsel.certificates
import provsel.models
import provsel.selectors
import provsel.streams
from small_runs import REPO, SMALL, run_python

HEAVY = (
    "pandas", "pyarrow", "yaml", "hydra", "omegaconf", "liblinear", "matplotlib", "pooch", "rich", "PIL", "plotly",
    "jinja2", "statsmodels", "scikit_posthocs", "dask", "distributed",
)  # fmt: skip
HERE = f"pip install -e '{REPO}"
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
    return run_python(["-c", f"MODULES = {modules!r}\n{ABSENT}\n{script}"], folder)


def imported_by(script, folder):
    """Return the names at the top of what a script has imported in the end."""
    done = run_python(["-c", f"{script}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"], folder)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


# Libraries


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """Names that come with scikit-learn, which imports pandas itself where it is installed, and pandas pyarrow."""
    return imported_by("import sklearn.svm, sklearn.feature_selection", tmp_path_factory.mktemp("beside"))


@pytest.mark.parametrize(
    "module", ["provsel.selectors", "provsel.models", "provsel.certificates", "provsel.streams", "provlab.datasets"]
)
def test_scikit_learn_is_all_that_is_imported(module, beside, tmp_path):
    found = imported_by(f"import {module}", tmp_path)
    more = {name for name in found - beside - set(sys.stdlib_module_names) if not name.startswith("_")}
    assert more == ({"provsel", "provlab", "yaml"} if module == "provlab.datasets" else {"provsel"})


@pytest.mark.parametrize(
    ("declared", "not_needed"),
    [
        ("from provsel.certificates import THEOREMS; assert all(each.columns() for each in THEOREMS)", ("scipy",)),
        ("from provlab.plan import compose_config; from provlab.protocols import COLUMNS; assert COLUMNS", ()),
    ],
    ids=["theorems", "protocols"],
)
def test_theorems_and_protocols_are_declared_without_what_measures_them(declared, not_needed, tmp_path):
    script = f"import sys\nimport tomllib\n{declared}\nprint(*sys.modules)"
    done = run_python(["-c", script], tmp_path)
    assert done.returncode == 0, done.stderr
    library = ("models", "reducers", "selectors", "streams", "training_view")
    measures = (*not_needed, "sklearn", *(f"provsel.{name}" for name in library))
    assert [name for name in done.stdout.split() if name.startswith(measures)] == []


def test_every_room_has_its_layer():
    """Imports run downward only: `make check` compares them with these layers."""
    contract, *_ = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = {name.strip() for layer in contract["layers"] for name in layer.split(" : ")}
    rooms = {f"provlab.{module.name}" for module in pkgutil.iter_modules(provlab.__path__)}
    assert {".".join(name.split(".")[:2]) for name in layered if name.startswith("provlab.")} == rooms


@pytest.mark.parametrize("package", [provsel.selectors, provsel.models], ids=lambda package: package.__name__)
def test_every_class_of_the_folder_is_imported_by_name(package):
    modules = [f"{package.__name__}.{each.name}" for each in pkgutil.iter_modules(package.__path__)]
    found = 0
    for module in (name for name in modules if "._" not in name):
        for name, each in vars(importlib.import_module(module)).items():
            if isinstance(each, type) and each.__module__ == module and not name.startswith("_"):
                to_add = f"{package.__file__}: add the line 'from {module} import {name}', and {name!r} to __all__"
                assert getattr(package, name, None) is each, to_add
                assert name in package.__all__, to_add
                found += 1
    assert found >= len(package.__all__) - 3  # all but what a class of one's own is made of


def test_selectors_and_models_work_where_nothing_else_is_installed_and_what_needs_more_says_so(tmp_path):
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
    for line, subject in zip(lines[:3], ("column_blocks", "row_chunks", "GaussianCompression"), strict=True):
        assert line == f"{subject}: expected the package pyarrow for a Parquet file, got none; pip install pyarrow."
    assert lines[3] == "2"
    assert lines[4].startswith("expected the packages of the laboratory, got no ")
    assert f"provsel: expected the packages of the laboratory, got no rich; {HERE}[lab]'." in done.stderr


# Commands


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["verify", "--help"], ["run", "--help"]])
def test_help_waits_for_nothing(argv, tmp_path):
    script = f"from provlab.cli import main\ntry: main({argv!r})\nexcept SystemExit as stop: assert stop.code == 0"
    assert imported_by(script, tmp_path) & ({"numpy", "scipy", "sklearn", *HEAVY} - {"rich"}) == set()


def test_tables_and_verdicts_need_no_package_for_figures(tmp_path):
    script = f"""
from provlab.cli import main
from provlab.recipe import load_recipe
from provlab.project import artefact_names
for name in artefact_names():
    if name.split("/")[1].startswith("table"):
        load_recipe(name)
assert main(["list"]) == 0
assert main(["reproduce", "table1", *{SMALL!r}, "executor=serial"]) == 0
assert main(["status", "--artefact", "table1", *{SMALL!r}]) == 0
assert main(["verify", "--paper", "paul2016"]) == 0
"""
    done = without(REPORT, script, tmp_path)
    assert done.returncode == 0, done.stderr
    for part in ("Table 1.", "complete", " not run"):
        assert part in done.stdout


def test_a_command_that_draws_says_what_to_install(tmp_path):
    done = without(REPORT, "from provlab.cli import main\nsys.exit(main(['report']))", tmp_path)
    assert done.returncode == 2
    assert re.fullmatch(
        rf"provsel: figures, pages and images: expected the package \w+, got none; {HERE}\[report\]'\.\n",
        done.stderr,
    )
    assert list(tmp_path.iterdir()) == []


# What make installs


def installed_for(target):
    """Return the locks that a target installs where there is no environment."""
    made = subprocess.run(
        ["make", "--dry-run", "VENV=none", target], cwd=REPO, capture_output=True, text=True, check=True
    )
    return re.findall(r"d' (\S+) .*--require-hashes", made.stdout)


@pytest.mark.parametrize(
    ("targets", "more"),
    [
        (["reproduce-table1", "reproduce-table4", "status", "verify", "doctor"], []),
        (["reproduce-figure1", "reproduce-ofs-table3", "report", "reference"], ["requirements-report.lock"]),
        (["test", "check", "format", "lock", "bench", "audit-lock"], ["requirements-dev.lock"]),
    ],
)
def test_tables_need_the_smallest_environment_figures_what_draws_and_developing_everything(targets, more):
    for target in targets:
        assert installed_for(target) == ["requirements.lock", *more]


def test_locks_agree_and_have_hashes():
    pins = {}
    for name in ("requirements.lock", "requirements-report.lock", "requirements-dev.lock"):
        text = (REPO / name).read_text(encoding="utf-8")
        assert "://" not in text
        entries = re.split(r"\n(?=[a-z])", text)[1:]
        assert all("--hash=sha256:" in entry for entry in entries)
        pins[name] = dict(entry.split(" ", 1)[0].split("==") for entry in entries)
    run, report, dev = (set(each.items()) for each in pins.values())
    assert run < report < dev
    assert {"numpy", "pyarrow", "hydra-core"} <= set(pins["requirements.lock"])
    assert not {"matplotlib", "pillow", "pytest", "dask"} & set(pins["requirements.lock"])


def test_extras_that_a_package_asks_of_another_are_in_the_lock():
    """Else pip looks for them in the newest release, and refuses it: an installation ends on the day of a release."""
    lock = (REPO / "requirements-dev.lock").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9.-]+\[[a-z0-9,]+\])==", lock, re.MULTILINE))
    texts = [text for each in metadata.distributions() for text in each.requires or [] if "extra ==" not in text]
    asked = {found[0].lower() for text in texts if (found := re.match(r"[\w.-]+\[[\w,]+\]", text))}
    assert asked <= pinned
    assert "coverage[toml]" in pinned


# Types


def test_a_strict_type_checker_accepts_a_file_that_uses_every_public_name(tmp_path):
    used = REPO / "tests" / "every_public_name.py"
    text = used.read_text(encoding="utf-8")
    for package in (provlab, provsel.selectors, provsel.models, provsel.certificates, provsel.streams):
        assert [name for name in package.__all__ if name not in text] == []
    (tmp_path / used.name).write_text(text, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(
        f"{text}selectors.Selection.unweightd(indices)\ncompare(X, y, 3)\n", encoding="utf-8"
    )
    options = ["--strict", "--cache-dir=cache"]
    environment = {"MYPYPATH": str(REPO / "src")}
    done = run_python(["-m", "mypy", *options, used.name, "wrong.py"], tmp_path, env=environment, timeout=300)
    assert re.findall(r"^(.*?):.* error:", done.stdout, re.MULTILINE) == ["wrong.py"] * 2, done.stdout
