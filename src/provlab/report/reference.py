"""The project's reference results, shown beside what is stored here and marked as the reference's."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from provlab.project.project import current_project
from provlab.report.templating import render_notes
from provlab.report.trace import reference_numbers
from provlab.verdicts.claims.provenance import Provenance
from provlab.verdicts.claims.schema import ClaimFile
from provlab.verdicts.readings.robustness import tallied
from provlab.verdicts.reference import FOLDER, Reference


@dataclass(frozen=True)
class ReferencePart:
    """What the reference has of one artefact.

    Attributes
    ----------
    made : Provenance
    counts : list of (verdict, number)
        Of the paper's own claims that are tested on it, firm or depending on the reading.
    tables : list of Markup
    figures : list of str
        Names of SVG files below `reference/ARTEFACT` of a report.
    numbers : DataFrame
        `row`, `column`, `dataset` and `reference`, the value as text.
    """

    made: Provenance
    counts: list[tuple[str, int]]
    tables: list[Markup]
    figures: list[str]
    numbers: pd.DataFrame


@dataclass(frozen=True)
class ProjectReference:
    """The reference results of the current project; nothing where it has none."""

    parts: Mapping[str, ReferencePart]
    claims: Mapping[str, Mapping[str, Any]]
    n_trials: int

    def counts(self, paper: str) -> list[tuple[str, int]]:
        """Return how many of a paper's own claims have each verdict."""
        return _own(line for line in self.claims.values() if line["paper"] == paper)


def _own(lines: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Return how many of the own claims among some lines of the reference count as each verdict."""
    return tallied(line["counted"] for line in lines if line["kind"] == "paper")


def project_reference(report: Path, files: Iterable[ClaimFile]) -> ProjectReference:
    """Read the reference of the current project, and copy its figures into a report.

    Parameters
    ----------
    report : Path
        The folder that the report is written to.
    files : iterable of ClaimFile
        Claims that the reference no longer has a say on are left out.
    """
    folder = current_project().root / "results" / FOLDER
    found = Reference.read(folder)
    about = {claim.id: claim.rule.artefact for file in files for claim in file.claims}
    claims = {line["id"]: line for line in found.claims().to_dict("records") if line["id"] in about}
    parts = {}
    for name, part in found.artefacts.items():
        paths, short = [folder / file for file in part["files"]], name.rpartition("/")[2]
        paths.sort(key=lambda path: path.stem != short)  # the table or figure itself, then its parts
        figures = report / FOLDER / short
        for path in paths:
            if path.suffix == ".svg":
                figures.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, figures / path.name)
        parts[name] = ReferencePart(
            Provenance.from_json(part, name),
            _own(line for line in claims.values() if about[line["id"]] == name),
            [_formatted(path) for path in paths if path.suffix == ".md"],
            [path.name for path in paths if path.suffix == ".svg"],
            reference_numbers(folder / "tables" / f"{name}.csv"),
        )
    return ProjectReference(parts, claims, int(found.cost()["trials"]))


def _formatted(path: Path) -> Markup:
    """Return a table in Markdown as HTML; its title, the bold line above it, becomes the caption."""
    text = path.read_text(encoding="utf-8")
    title, end, table = text.removeprefix("**").partition("**\n\n")
    html = render_notes(table, title, of="reference") if end else render_notes(text, of="reference")
    return Markup(html.replace('"scroll"', '"scroll tall"').replace("<table>", '<table class="formatted">'))
