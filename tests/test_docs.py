"""The documentation lists every public name, and what its pages tell a reader to run, runs."""

import importlib
import inspect
import json
import os
import pkgutil
import re
import shlex
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sphinx_gallery import gen_gallery, notebook, py_source_parser

import provsel
from forking import run_forked, run_forked_text
from provlab.bench.methods import panel_methods
from provlab.core.composition import part_config
from provlab.core.vocabulary import SELECTORS
from provlab.project.components import build
from provlab.project.papers import artefact_names
from provlab.verdicts.claims.schema import TRIALS, claim_files, read_content
from provsel import models, selectors
from provsel.certificates import THEOREMS
from small_runs import PROVSEL, REPO, run_python

DOCS = REPO / "docs"
PACKAGES = [
    "provlab",
    "provsel.training_view",
    *(
        module.name
        for module in pkgutil.walk_packages(provsel.__path__, "provsel.")
        if hasattr(importlib.import_module(module.name), "__all__")
    ),
]
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]
SNIPPETS = [
    pytest.param(code, id=f"{page.stem}{number}")
    for page in PAGES
    for number, code in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    )
]
PAPERS = [
    path.parent.name
    for path in sorted((REPO / "experiments").glob("*/claims.yaml"))
    if read_content(path).evidence == TRIALS
]


def listed(package):
    """Return the names on a package's page: with an entry of their own, or one elsewhere."""
    text = (DOCS / "reference" / f"{package}.md").read_text(encoding="utf-8")
    own = re.findall(r"^   (?=\w)(\w+)$|^\.\. autodata:: (\w+)$", text, re.M)
    elsewhere = re.findall(r"\{py:class\}`~[\w.]+\.(\w+)`", text)
    return sorted([*(name or value for name, value in own), *elsewhere])


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_lists_every_public_name_once(package):
    assert listed(package) == sorted(public_names(importlib.import_module(package)))


def test_the_question_mark_of_a_notebook_leads_to_the_page_of_a_class(
    tmp_path, monkeypatch
):
    estimators = [
        value
        for package_module in (models, selectors)
        for value in vars(package_module).values()
        if is_ours(value)
    ]
    assert len(estimators) > 30
    (tmp_path / "provsel-9.dist-info").mkdir()
    described = tmp_path / "provsel-9.dist-info" / "METADATA"
    installed = "Name: provsel\nVersion: 9\n"
    described.write_text(installed)
    monkeypatch.syspath_prepend(tmp_path)
    assert {cls.__new__(cls)._get_doc_link() for cls in estimators} == {""}, (
        "nobody has said where the pages are"
    )
    described.write_text(
        f"{installed}Project-URL: Documentation, https://docs.example.org/stable/\n"
    )
    for cls in estimators:
        package = cls.__module__.rpartition(".")[0]
        name = cls.__name__
        assert name in listed(package)
        page = (
            f"https://docs.example.org/stable/reference/generated/{package}.{name}.html"
        )
        assert cls.__new__(cls)._get_doc_link() == page
    assert "generated/provsel.selectors.BSSSelector.html" in estimator_html_repr(
        selectors.BSSSelector(2)
    )


def is_ours(value):
    ours = (
        isinstance(value, type)
        and value.__module__.startswith("provsel.")
        and issubclass(value, BaseEstimator)
    )
    return ours and not inspect.isabstract(value)


def public_names(module):
    """Return what a module says is public, or else what it defines without an underscore."""
    own = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
    ]
    return getattr(
        module, "__all__", [name for name in own if not name.startswith("_")]
    )


def test_the_reference_lists_what_the_script_of_a_new_project_imports():
    script = (
        REPO / "src/provlab/project/template/experiments/first/comparison.py"
    ).read_text(encoding="utf-8")
    imported = {
        f"{module}.{name}"
        for module, names in re.findall(
            r"^from (provlab\.\S+) import (.+)$", script, re.M
        )
        for name in names.split(", ")
    }
    text = (DOCS / "reference" / "provlab.scripts.md").read_text(encoding="utf-8")
    assert imported <= set(re.findall(r"^   (provlab\S+)$", text, re.M))
    assert len(imported) >= 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_fences_of_a_page_begin_their_lines(page):
    # elsewhere in a line they are text, and the block around it does not end
    assert (
        re.findall(
            r"^.*[^:\s] *:{3,}.*$|^.*[^`\s] *`{3}.*$",
            page.read_text(encoding="utf-8"),
            re.M,
        )
        == []
    )


@pytest.mark.parametrize("code", SNIPPETS)
def test_python_of_a_page_runs_in_an_empty_folder(code, tmp_path):
    done = run_forked_text(code, tmp_path)
    assert done.returncode == 0, done.stderr


STEP = re.compile(
    r"^```(?:console|(?P<printed>text)|\{code-block\} \w+\n:caption: (?P<file>\S+)\n)\n(?P<text>.*?)^```",
    re.M | re.S,
)
INSTALLED = os.environ.get("PROVSEL_INSTALLED_PYTHON")
"""Python of an environment with an installed wheel, in which the pages are followed; else they are in this checkout."""


FILE_COMMANDS = ("mkdir", "rm")


def run_step(command, arguments, folder, serial):
    """Run a command of a page, and return it completed; in this checkout some without worker processes."""
    if INSTALLED is not None:
        theirs = ("PYTHON", "PROVSEL", "OMP_", "OPENBLAS_")
        variables = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(theirs)
        }
        programs = {
            "python": INSTALLED,
            "provsel": str(Path(INSTALLED).with_name("provsel")),
        }
        command = [programs.get(command, command), *arguments]
    elif command in FILE_COMMANDS:
        command, variables = [command, *arguments], None
    else:
        quicker = ["executor=serial"] if arguments[0] in serial else []
        return run_forked(
            [*{"python": (), "provsel": PROVSEL}[command], *arguments, *quicker], folder
        )
    return subprocess.run(
        command,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def follow(page, folder, serial=()):
    """Write the files and run the commands of a page, in its order: how many, what the last one printed, and where.

    What the page shows as printed has to be what the last command printed.
    """
    ran = 0
    done = None
    for step in STEP.finditer((DOCS / page).read_text(encoding="utf-8")):
        if step["file"]:
            # in a folder that an earlier command made, as a reader saves it
            path = folder / step["file"]
            path.write_text(step["text"], encoding="utf-8")
            continue
        if step["printed"]:
            assert step["text"].strip() in done.stdout, (
                f"not printed by the command above:\n{step['text']}"
            )
            continue
        for line in re.sub(r"\\\n\s*", "", step["text"]).splitlines():
            command, *arguments = shlex.split(line.removeprefix("$ "))
            if command == "cd":
                folder = folder / arguments[0]
                continue
            done = run_step(command, arguments, folder, serial)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            ran += 1
    return ran, done.stdout, folder


def test_your_data_in_five_minutes_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("PROVSEL_PROJECT", raising=False)
    ran, printed, folder = follow("your_data.md", tmp_path, serial=("reproduce", "run"))
    assert ran >= 6
    assert "complete" in printed
    assert any((folder / "results" / "store").glob("*.parquet"))
    [shown] = re.findall(
        r"```markdown\n(.*?)```",
        (DOCS / "your_data.md").read_text(encoding="utf-8"),
        re.S,
    )
    [table] = (tmp_path / "results" / "runs").glob("*/table.md")
    lines, table = (
        shown.splitlines(),
        table.read_text(encoding="utf-8").replace("\\", "").splitlines(),
    )
    assert table[1] == ""
    for line, written in zip(lines, table[2:], strict=False):
        ours = [cell.strip() for cell in line.split("|")]
        theirs = [cell.strip() for cell in written.split("|")]
        # a time is another one each time
        assert ours[:8] == theirs[:8] or set(line) <= {*"|-"}, line
        assert ours[9:] == theirs[9:] or set(line) <= {*"|-"}
    assert (tmp_path / "results" / "report" / "index.html").is_file()


def test_replicate_a_paper_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("PROVSEL_PROJECT", raising=False)
    # Its table is computed by workers, which have to find the reader's class.
    ran, printed, folder = follow("replicate.md", tmp_path, serial=("readings",))
    assert ran >= 5
    claims = re.findall(
        r"^ +- id: (\S+)$", (DOCS / "replicate.md").read_text(encoding="utf-8"), re.M
    )[:3]
    verdicts = pd.read_csv(folder / "results" / "verdicts.csv").set_index("id")
    assert list(verdicts.index) == claims  # of the reader's own paper, and of no other
    assert set(verdicts["state"]) == {"complete"}
    assert "not run" not in set(verdicts["verdict"])
    assert all(claim in printed for claim in claims)
    table = (folder / "results" / "tables" / "smith2020" / "table1.md").read_text(
        encoding="utf-8"
    )
    assert re.search(
        r"\| Fisher score +\| [\d.]+ \([\d.]+\).*\n\| as printed +\| 7\.4 ", table
    )
    universes = pd.read_csv(
        folder / "results" / "readings" / "smith2020" / "universes.csv"
    )
    assert universes.groupby("claim")["C"].nunique().to_dict() == dict.fromkeys(
        sorted(claims), 2
    )


def test_the_table_of_a_page_gets_the_verdicts_it_promises(tmp_path, monkeypatch):
    monkeypatch.delenv("PROVSEL_PROJECT", raising=False)
    text = (DOCS / "verdicts.md").read_text(encoding="utf-8")
    for language, name in (("text", "rates.csv"), ("yaml", "claims.yaml")):
        block, *_ = re.findall(rf"```{language}\n(.*?)```", text, re.S)
        (tmp_path / name).write_text(block)
    [command] = re.findall(r"```console\n\$ provsel (.*?)\n```", text, re.S)
    done = run_python([*PROVSEL, *shlex.split(command)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 claims: 2 replicated" in done.stdout


@pytest.fixture(scope="module")
def extensions():
    """The modules that write pages, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "_ext")
        return {
            name: importlib.import_module(name)
            for name in ("measured", "contents", "method_pages", "api_index")
        }


@pytest.fixture(scope="module")
def measured(extensions):
    return extensions["measured"]


@pytest.fixture(scope="module")
def contents(extensions):
    return extensions["contents"]


@pytest.fixture(scope="module")
def method_pages(extensions):
    return extensions["method_pages"]


def test_the_page_on_statements_has_each_with_its_question(measured):
    lines, files = measured.statement_lines("literature")
    text = "\n".join(lines)
    for entry in read_content(REPO / "experiments/literature/claims.yaml").claims:
        assert entry.notes["asked"] in text
    paragraph = measured.statement_summary("literature")[0][0]
    assert re.match(
        r"\d+ statements of \d+ publications .* before they were tested\.", paragraph
    )
    rows = [line for line in lines if line.startswith("| ") and "Tested:" in line]
    assert all(len(re.split(r"(?<!\\)\|", row)) == 8 for row in rows)
    assert all(path.is_file() for path in files)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_contents_of_a_paper_name_each_claim_and_artefact_and_what_is_left_out(
    contents, measured, paper
):
    items = contents.read_contents(contents.contents_path(paper))
    [own] = [file.claims for file in claim_files(paper)]
    named = {claim.id for item in items for claim in contents.claims_of_item(item, own)}
    assert {claim.id for claim in own if claim.kind != "control"} <= named
    artefacts = {name for name in artefact_names() if name.startswith(f"{paper}/")}
    assert artefacts == {name for item in items for name in item.artefact}
    for item in items:
        contents.check_code(item)
    (header, _, *rows, _), _ = measured.contents_of_paper(paper)
    assert len(rows) == len(items)
    assert all(
        len(re.split(r"(?<!\\)\|", row)) == len(header.split("|")) for row in rows
    )


def test_the_table_of_methods_leads_to_the_page_of_each(method_pages):
    (header, _, *rows, _), _ = method_pages.methods_table()
    names = header.strip("| ").split(" | ")
    lines = [dict(zip(names, row[2:-2].split(" | "), strict=True)) for row in rows]
    pages = [
        re.fullmatch(r"\[(.*)\]\(methods/(.*)\.md\)", line.pop("method")).groups()
        for line in lines
    ]
    assert [name for name, _ in pages] == [*panel_methods()]
    assert len({page for _, page in pages}) == len(pages)
    by_method = dict(zip(panel_methods(), lines, strict=True))
    assert all(
        line[name] for line in lines for name in ("kind", "target", "what it does")
    )
    assert [*by_method["JMI"].values()][:3] == ["filter", "classes or numbers", ""]
    targets = {"RRQR": "none", "chi-squared": "classes", "LPSVM": "two classes"}
    assert {name: by_method[name]["target"] for name in targets} == targets
    guarantees = {
        "strong RRQR": "subset",
        "BSS": "budget",
        "leverage": "budget",
        "leverage, largest": "",
    }
    assert {name: by_method[name]["guarantee"] for name in guarantees} == guarantees
    assert by_method["LPSVM"]["what it does"].startswith(
        "Keep the features with non-zero weight in a"
    )


def test_the_page_of_a_method_has_its_numbers_of_the_stored_results(method_pages):
    folder = REPO / "results/reference/benchmark"
    board = pd.read_csv(folder / "_leaderboard.csv")
    compared = pd.read_csv(folder / "_against_all.csv")
    text = method_pages.method_page("mRMR", panel_methods()["mRMR"], board, compared)
    for _, of_task in board.groupby("task"):
        own = of_task.set_index("method").loc["mRMR"]
        side = "above" if own["loss"] > 0 else "below"
        assert f"**{own['rank']:.1f} of {len(of_task)}**" in text
        assert f"{abs(own['loss']):.1f} points {side} that of all features" in text
    assert f"| time grows with | {SELECTORS['mrmr'].cost} |" in text
    assert "{py:class}`~provsel.selectors.MRMRSelector`" in text
    assert "Ding, Peng (2005)" in text
    classes = compared.query(
        "method == 'mRMR' and task == 'classification' and size == 20"
    ).set_index("domain")
    [line, _] = [line for line in text.splitlines() if line.startswith("| 20 |")]
    for domain in classes.index:
        assert f"{classes.loc[domain, 'difference']:+.1f}" in line
    absent = method_pages.method_page(
        "mRMR", panel_methods()["mRMR"], board.iloc[:0], compared.iloc[:0]
    )
    assert "not measured yet" in absent


@pytest.mark.parametrize(
    "name", ["mRMR", "F-test", "leverage, largest", "Boruta, its number"]
)
def test_the_command_on_the_page_of_a_method_builds_the_method(method_pages, name):
    method = panel_methods()[name]
    text = method_pages.method_page(
        name,
        method,
        pd.DataFrame(columns=["task", "method"]),
        pd.DataFrame(columns=["task", "method"]),
    )
    [command] = re.findall(r"```console\n\$ (.*?)\n```", text, re.S)
    program, subcommand, dataset, *settings = shlex.split(command.replace("\\\n", ""))
    assert [program, subcommand, dataset] == ["provsel", "run", "dataset=digits"]
    assert settings == method.overrides(20)
    assert type(build("selector", part_config("selector", settings))) is type(
        method.selector()
    )


def test_the_index_of_the_reference_has_each_name_of_its_pages(extensions):
    lines, paths = extensions["api_index"].index_lines()
    assert {path.stem for path in paths} == {
        path.stem for path in (DOCS / "reference").glob("*.md")
    } - {"index"}
    indexed = re.findall(r"^   (\w[\w.]*)$", "\n".join(lines), re.M)
    on_pages = [
        name
        for path in paths
        for name in re.findall(
            r"^   (\w[\w.]*)$", path.read_text(encoding="utf-8"), re.M
        )
    ]
    assert sorted(indexed) == sorted(on_pages)
    assert len(indexed) > 100


@pytest.mark.parametrize("example", ["stability", "against_scikit_learn"])
def test_the_notebook_of_an_example_runs_cell_by_cell(example, tmp_path):
    """As its page gives it for download; the build itself runs each example as a script."""
    source = (DOCS / "examples" / f"{example}.py").read_text(encoding="utf-8")
    (tmp_path / f"{example}.py").write_text(source, encoding="utf-8")
    settings = {**gen_gallery.DEFAULT_GALLERY_CONF, "src_dir": str(tmp_path)}
    _, blocks = py_source_parser.split_code_and_text_blocks(tmp_path / f"{example}.py")
    cells = notebook.jupyter_notebook(blocks, settings, str(tmp_path))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sum(len(cell) for cell in code) > 500
    (tmp_path / "cells.json").write_text(json.dumps(code), encoding="utf-8")
    program = """
import json, matplotlib
matplotlib.use("agg")
shared = {}
for cell in json.load(open("cells.json", encoding="utf-8")):
    exec(cell, shared)
"""
    done = run_python(["-W", "ignore", "-c", program], tmp_path)
    assert done.returncode == 0, done.stderr


def cells_below(page, header):
    """Return the cells of each row of the first table of a page whose header begins so."""
    lines = (
        (REPO / "docs" / page).read_text().split(f"| {header} |", 1)[1].splitlines()[2:]
    )
    return [line[2:-2].split(" | ") for line in lines[: lines.index("")]]


def test_the_page_on_choice_has_each_method_of_the_benchmark_once_and_public_classes():
    rows = cells_below("which_selector.md", "method of the benchmark")
    cells = [
        name
        for names, _ in rows
        for name in re.split(r"; |, (?!its number|largest)", names)
    ]
    assert sorted(cells) == sorted(panel_methods())
    classes = re.findall(
        r"~provsel\.selectors\.(\w+)`", " ".join(text for _, text in rows)
    )
    assert set(classes) <= set(selectors.__all__)
    assert len(classes) == len(set(classes))


def test_seconds_of_the_page_on_packages_are_those_of_the_measured_table():
    measured = pd.read_csv(
        REPO / "docs/measured/field.csv", dtype=str, keep_default_na=False
    )
    measured = measured.set_index(["method", "target", "rows x columns"])
    rows = cells_below("coming_from.md", "method, target, size")
    compared = [row for row in rows if row[0]]
    assert len(compared) >= 15
    for case, _, after, theirs, ours, _ in compared:
        method, target, *size = case.split(", ")
        row = measured.loc[method, target, size[0] if size else "200x2000"]
        assert [theirs, ours] == row[["theirs s", "ours s"]].tolist(), case
        assert after.split()[-1].strip("`") in selectors.__all__


def test_numbers_and_theorems_are_read(measured):
    assert measured.theorems()[: len(THEOREMS)] == list(THEOREMS)
    for theorem in measured.theorems():
        text = "\n".join(measured.theorem_lines(theorem))
        assert all(f"`{column}`" in text for column in theorem.columns()), theorem
        assert theorem.source in text
    (header, _, *rows, _), _ = measured.subset_lines()
    assert header.count("|") == rows[0].count("|") == 9
    assert (
        min(float(cell) for row in rows for cell in row.strip("| ").split(" | ")[1:])
        >= 1 - 1e-6
    )
    spectral = "\n".join(measured.measured_lines(THEOREMS[0]))
    assert re.search(
        r"BSS keeps the eigenvalues.*`paul2016/figure1` \| 100 % of trials held \| 24000 \| replicated",
        spectral,
    )
    assert all(measured.claims_of(theorem) for theorem in THEOREMS)
    lines, files = measured.tables_of("paul2016")
    assert all(path.is_file() for path in files)
    assert "## table1" in lines
