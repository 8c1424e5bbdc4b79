"""The documentation lists every public name, and what its pages tell a reader to run, runs."""

import importlib
import importlib.util
import pkgutil
import re
import shlex

import pytest

import provsel
from provsel.certificates import THEOREMS
from small_runs import PROVSEL, REPO, run_python

DOCS = REPO / "docs"
PACKAGES = [
    "provlab",
    "provsel.training_view",
    *(
        found.name
        for found in pkgutil.walk_packages(provsel.__path__, "provsel.")
        if hasattr(importlib.import_module(found.name), "__all__")
    ),
]
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]
SNIPPETS = [
    pytest.param(code, id=f"{page.stem}{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S))
]
MEASURED = importlib.util.spec_from_file_location("measured", DOCS / "_ext" / "measured.py")


def listed(package):
    """Return the names on a package's page: with an entry of their own, or one elsewhere."""
    text = (DOCS / "reference" / f"{package}.md").read_text(encoding="utf-8")
    own = re.findall(r"^   (?=\w)(\w+)$|^\.\. autodata:: (\w+)$", text, re.M)
    elsewhere = re.findall(r"\{py:class\}`~[\w.]+\.(\w+)`", text)
    return sorted([*(name or value for name, value in own), *elsewhere])


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_lists_every_public_name_once(package):
    assert listed(package) == sorted(public_names(importlib.import_module(package)))


def public_names(module):
    """Return what a module says is public, or else what it defines without an underscore."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [name for name in own if not name.startswith("_")])


def test_the_reference_lists_what_the_script_of_a_new_project_imports():
    script = (REPO / "src/provlab/project/template/experiments/first/comparison.py").read_text(encoding="utf-8")
    imported = {
        f"{module}.{name}"
        for module, names in re.findall(r"^from (provlab\.\S+) import (.+)$", script, re.M)
        for name in names.split(", ")
    }
    text = (DOCS / "reference" / "provlab.reports.md").read_text(encoding="utf-8")
    assert imported <= set(re.findall(r"^   (provlab\S+)$", text, re.M))
    assert len(imported) >= 4


@pytest.mark.parametrize("code", SNIPPETS)
def test_python_of_a_page_runs_in_an_empty_folder(code, tmp_path):
    done = run_python(["-c", code], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["start", "replicate"])
def test_commands_of_a_page_run_in_an_empty_folder(page, tmp_path, monkeypatch):
    monkeypatch.delenv("PROVSEL_PROJECT", raising=False)
    [block] = re.findall(r"```console\n(.*?)```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.S)
    folder, ran = tmp_path, 0
    for line in block.splitlines():
        command, *arguments = shlex.split(line.removeprefix("$ "))
        if command == "cd":
            folder = folder / arguments[0]
            continue
        assert command == "provsel"
        done = run_python([*PROVSEL, *arguments], folder)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        ran += 1
    assert ran >= 3
    assert any((folder / "results" / "store").rglob("*.parquet"))


RECORDS = [
    record
    for page in sorted((DOCS / "decisions").glob("*.md"))
    for record in page.read_text(encoding="utf-8").split("\n## ")[1:]
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.partition("\n")[0])
def test_a_decision_says_context_choice_and_consequence(record):
    assert re.findall(r"^- (\w+): \S", record, re.M) == ["Context", "Choice", "Consequence"]


def test_numbers_and_theorems_are_read():
    measured = importlib.util.module_from_spec(MEASURED)
    MEASURED.loader.exec_module(measured)
    assert measured.theorems()[: len(THEOREMS)] == list(THEOREMS)
    for theorem in measured.theorems():
        text = "\n".join(measured.theorem_lines(theorem))
        assert all(f"`{column}`" in text for column in theorem.columns()), theorem
        assert theorem.source in text
    header, _, *rows, _ = measured.subset_lines()
    assert header.count("|") == rows[0].count("|") == 9
    assert min(float(cell) for row in rows for cell in row.strip("| ").split(" | ")[1:]) >= 1 - 1e-6
    lines, files = measured.result_lines("paul2016")
    assert all(path.is_file() for path in files)
    assert "### table1" in lines
