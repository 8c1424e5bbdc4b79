"""Papers of a project, each in a folder with its artefacts, claims, published numbers, notes and code."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from provlab.project.messages import did_you_mean
from provlab.project.project import current_project

ENTRY_POINTS = "provsel.papers"
"""Group of entry points through which an installed package provides papers, by name and package of the folder.
"""


OTHERS = ("claims.yaml", "readings.yaml")
"""YAML files of a folder that are not artefacts."""


@dataclass(frozen=True)
class Paper:
    """A paper of a project or an installed package.

    Attributes
    ----------
    name : str
    folder : Path
    package : str
        Name of the package of its scripts, which import each other relatively.
    """

    name: str
    folder: Path
    package: str

    def read_notes(self) -> tuple[str, str]:
        """Return the title, from a heading such as "# Notes on Smith (2020)" in the notes, and the notes."""
        path = self.folder / "NOTES.md"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        heading = re.match(r"#\s+(?:Notes on )?(.+)(?:\n|$)", text)
        return (
            (heading[1].strip(), text[heading.end() :])
            if heading
            else (self.name, text)
        )

    def artefacts(self) -> list[str]:
        """Return the names of its artefacts, each a YAML file that may have a script of the same name."""
        return sorted(
            path.stem for path in self.folder.glob("*.yaml") if path.name not in OTHERS
        )

    def module(self, artefact: str) -> ModuleType:
        """Import a script or another module of the folder, each time anew so that edits take effect."""
        name = f"{self.package}.{artefact}"
        sys.modules.pop(name, None)
        return importlib.import_module(name)


def papers() -> dict[str, Paper]:
    """Return the papers of the current project and of installed packages, by name.

    Raises
    ------
    ValueError
        If two papers have the same name.
    """
    by_name: dict[str, Paper] = {}
    folder = current_project().papers
    rooms = sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []
    for room in rooms:
        if room.is_dir() and room.name[0] not in "._":
            paper = Paper(room.name, room, f"{_package_of(room.parent)}.{room.name}")
            if paper.artefacts() or (room / "claims.yaml").is_file():
                by_name[paper.name] = paper
    for paper in installed_papers():
        if paper.name in by_name:
            raise ValueError(
                f"paper {paper.name}: expected a single paper of that name, got {by_name[paper.name].folder} and "
                f"{paper.folder}; "
                f"rename one."
            )
        by_name[paper.name] = paper
    return by_name


@cache
def installed_papers() -> tuple[Paper, ...]:
    """Return the papers of installed packages; cached, because the metadata of all packages are read."""
    installed = []
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        spec = importlib.util.find_spec(point.value)
        places = list(spec.submodule_search_locations or ()) if spec is not None else []
        if not places:
            raise ValueError(
                f"paper {point.name}: expected the package {point.value}, got none; reinstall it."
            )
        installed.append(Paper(point.name, Path(places[0]), point.value))
    return tuple(installed)


def artefact_names() -> list[str]:
    """Return the names paper/artefact of all papers."""
    return sorted(
        f"{paper.name}/{artefact}"
        for paper in papers().values()
        for artefact in paper.artefacts()
    )


def some_artefacts() -> list[str]:
    """Return the names paper/artefact of all papers.

    Raises
    ------
    ValueError
        If there are none, outside a project or in a project without papers.
    """
    names = artefact_names()
    if not names:
        raise ValueError(f"artefact: there are no artefacts here; {_where()}.")
    return names


def _where() -> str:
    """Return advice for the case that there are no artefacts."""
    project = current_project()
    if project.papers is None:
        return "run it in a project, a folder with provsel.toml, or make one: provsel new my-study"
    return f"write one, a YAML file and a script in a folder within {project.papers}"


def _unknown(name: str, shown: Sequence[str], also: Sequence[str] = ()) -> ValueError:
    """Return the error for an unknown artefact name."""
    names = artefact_names()
    advice = (
        did_you_mean(name, [*(full.split("/")[1] for full in names), *names, *also])
        or "."
    )
    end = advice if names else f"; {_where()}."
    return ValueError(
        f"artefact: expected one of {', '.join(shown) or 'none here'}, got {name!r:.80}{end}"
    )


def paper_of(name: str) -> Paper:
    """Return the paper of an artefact by its full name.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    room, _, artefact = name.partition("/")
    paper = papers().get(room)
    if paper is None or artefact not in paper.artefacts():
        raise _unknown(name, artefact_names())
    return paper


def artefact_file(name: str) -> Path:
    """Return the YAML file of an artefact by its full name; raises as `paper_of` does."""
    return paper_of(name).folder / f"{name.partition('/')[2]}.yaml"


def full_name(name: str, also: Sequence[str] = ()) -> str:
    """Return paper/artefact for an artefact's name with or without its paper.

    Parameters
    ----------
    name : str
    also : sequence of str
        Other names that a wrong name might stand for.

    Raises
    ------
    ValueError
        If no artefact has the name, or it occurs in two papers.
    """
    all_names = artefact_names()
    matching = [full for full in all_names if name in (full, full.split("/")[1])]
    if not matching:
        raise _unknown(name, [short_name(full) for full in all_names], also)
    if len(matching) > 1:
        raise ValueError(
            f"artefact: expected one of {', '.join(matching)}, got {name!r:.80}; write the full name."
        )
    return matching[0]


def short_name(name: str) -> str:
    """Return an artefact's name without its paper if it is unique among the papers."""
    short = name.split("/")[1]
    same_name = [full for full in artefact_names() if full.split("/")[1] == short]
    return short if len(same_name) == 1 else name


def reproduce_command(
    name: str, overrides: Sequence[str] = (), program: str = "provsel"
) -> str:
    """Return the command that computes the missing part of an artefact and shows the artefact."""
    return shlex.join([program, "reproduce", short_name(name), *overrides])


def _package_of(folder: Path) -> str:
    """Return the name of the package for a folder of papers, which is created on first use.

    Folders of papers on the path could hide other modules, so each gets its own
    package.
    """
    name = f"provsel_papers_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name
