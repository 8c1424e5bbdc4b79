"""The lab finds papers by their folders, and knows none by name."""

import re
from pathlib import Path

import pytest

from made_paper import ARTEFACT, SCRIPT, made_paper
from provlab.cli import main
from provlab.core.recipe import load_recipe, render_table
from provlab.project.papers import (
    artefact_names,
    full_name,
    installed_papers,
    papers,
    reproduce_command,
    short_name,
)
from small_runs import REPO, SMALL

PRINTED = re.compile(r"\b(paul|wang|giesen)\d{4}\b")


def test_the_code_of_the_laboratory_names_no_paper():
    lines = {}
    for path in sorted((REPO / "src").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if PRINTED.search(line.lower()):
                lines[f"{path.relative_to(REPO)}:{number}"] = line.strip()
    assert lines == {}


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Make a project of two papers that have an artefact of the same name."""
    room = made_paper(tmp_path, monkeypatch)
    (room / "text.yaml").unlink()
    (room / "claims.yaml").unlink()
    second_paper = room.parent / "made2001"
    second_paper.mkdir()
    (second_paper / "table.yaml").write_text(ARTEFACT.format(dataset="synthetic"))
    (second_paper / "helper.py").write_text("TITLE = 'from the other room'\n")
    script = (
        SCRIPT.format(name="table")
        .replace("made2000", "made2001")
        .replace("made.artefact.title", "TITLE")
    )
    (second_paper / "table.py").write_text(f"from .helper import TITLE\n{script}")
    (second_paper / "alone.yaml").write_text(ARTEFACT.format(dataset="synthetic"))
    (second_paper / "alone.py").write_text(
        SCRIPT.format(name="alone").replace("made2000", "made2001")
    )
    return second_paper


def test_artefacts_of_the_same_name_in_two_papers(two, capsys, tmp_path):
    assert artefact_names() == ["made2000/table", "made2001/alone", "made2001/table"]
    assert full_name("alone") == "made2001/alone"
    assert short_name("made2001/alone") == "alone"
    assert (
        reproduce_command("made2001/table", ["a=b c"])
        == "provsel reproduce made2001/table 'a=b c'"
    )
    small = [*SMALL, "executor=serial"]
    assert main(["reproduce", "table", *small]) == 2
    assert (
        "expected one of made2000/table, made2001/table, got 'table'; write the full name"
        in capsys.readouterr().err
    )
    for paper, title in (("made2000", "Made"), ("made2001", "from the other room")):
        assert main(["reproduce", f"{paper}/table", *small]) == 0
        assert title in capsys.readouterr().out
        assert (tmp_path / "results" / "tables" / paper / "table.csv").is_file()
    assert main(["status", "--artefact", "made2001/table", *SMALL]) == 0
    assert "complete" in capsys.readouterr().out
    assert main(["reproduce", "made2001", *small]) == 0  # all of a paper
    assert (tmp_path / "results" / "tables" / "made2001" / "alone.csv").is_file()


def test_scripts_of_rooms_do_not_see_each_other(two):
    (two.parent / "made2000" / "helper.py").write_text("TITLE = 'of the first room'\n")
    assert papers()["made2001"].module("helper").TITLE == "from the other room"
    assert papers()["made2000"].module("helper").TITLE == "of the first room"


def test_a_script_without_a_recipe(two):
    (two / "alone.py").write_text("RECIPE = None\n")
    with pytest.raises(
        ValueError,
        match=r"alone\.py: expected RECIPE = Recipe\('made2001/alone', render, \.\.\.\)",
    ):
        load_recipe("made2001/alone")


def test_an_artefact_without_a_script_is_a_table_or_as_another_one(two):
    (two / "alone.py").unlink()
    assert load_recipe("made2001/alone").render is render_table
    file = two / "alone.yaml"
    text = (two / "alone.yaml").read_text()
    file.write_text(
        text.replace("artefact:\n", "artefact:\n  recipe: table\n  prints: table\n")
    )
    recipe = load_recipe("made2001/alone")
    assert recipe.name == "made2001/alone"
    assert recipe.prints == "table"
    assert recipe.render.__module__.endswith("made2001.table")
    for wrong in ("alone", "nope", "../made2000/table"):
        file.write_text(text.replace("artefact:\n", f"artefact:\n  recipe: {wrong}\n"))
        with pytest.raises(
            ValueError,
            match=rf"made2001/alone: expected artefact\.recipe to name .*, got '{wrong}'",
        ):
            load_recipe("made2001/alone")


def test_an_installed_package_brings_papers(two, tmp_path, monkeypatch):
    package = tmp_path / "site" / "their_papers" / "theirs2002"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("")
    (package / "table9.yaml").write_text(ARTEFACT.format(dataset="synthetic"))
    (package / "table9.py").write_text(
        SCRIPT.format(name="table9").replace("made2000", "theirs2002")
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    said_at_installation = (
        tmp_path / "site" / "their_papers-1.dist-info" / "entry_points.txt"
    )
    said_at_installation.parent.mkdir()
    (said_at_installation.parent / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: their-papers\nVersion: 1\n"
    )

    def point(name, value):
        said_at_installation.write_text(f"[provsel.papers]\n{name} = {value}\n")
        installed_papers.cache_clear()

    point("theirs2002", "their_papers.theirs2002")
    assert "theirs2002/table9" in artefact_names()
    assert load_recipe("theirs2002/table9").name == "theirs2002/table9"
    point("made2001", "their_papers.theirs2002")
    with pytest.raises(
        ValueError,
        match=r"paper made2001: expected a single paper of that name, got .*; rename one",
    ):
        artefact_names()
    point("theirs2002", "their_papers.nope")
    with pytest.raises(
        ValueError,
        match=r"paper theirs2002: expected the package their_papers\.nope, got none",
    ):
        papers()
    monkeypatch.undo()
    installed_papers.cache_clear()


def test_outside_of_a_project_there_are_no_artefacts(outside, capsys):
    assert artefact_names() == []
    assert main(["reproduce", "table1"]) == 2
    assert (
        "artefact: expected one of none here, got 'table1'; run it in a project"
        in capsys.readouterr().err
    )
    for command in (["status"], ["reproduce", "all"], ["report"]):
        assert main(command) == 2
        assert (
            "artefact: there are no artefacts here; run it in a project, a folder with provsel.toml"
            in (capsys.readouterr().err)
        )
    assert main(["list", "selectors"]) == 0
    assert Path("results").exists() is False
