"""The project's reference results, which pages show beside the results of stored trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from provlab.report.templating import render_notes

Counts = list[tuple[str, int]]
"""Verdicts, each with its number of claims."""


class ReferencePart(NamedTuple):
    """Reference results of one artefact.

    Attributes
    ----------
    provenance : Provenance
        Versions, date and cost of the computation.
    counts : list of (verdict, number)
        Number of the paper's own claims with each verdict, firm or depending on the
        reading.
    tables : list of Markup
    figures : list of str
        Names of SVG files below `reference/ARTEFACT` of a report.
    numbers : DataFrame
        Columns `row`, `column`, `dataset` and `reference`, which is the value as text.
    """

    provenance: Any
    counts: Counts
    tables: list[Markup]
    figures: list[str]
    numbers: pd.DataFrame


@dataclass(frozen=True)
class ProjectReference:
    """The reference results of a project, empty if it has none.

    Attributes
    ----------
    parts : mapping
        Reference results by artefact.
    claims : mapping
        Row of the table of verdicts, by claim.
    counts : mapping
        Verdicts on the paper's own claims, by paper.
    n_trials : int
    """

    parts: Mapping[str, ReferencePart]
    claims: Mapping[str, Mapping[str, Any]]
    counts: Mapping[str, Counts]
    n_trials: int


def formatted_table(path: Path) -> Markup:
    """Convert a Markdown table to HTML, with the bold line above it as its caption."""
    text = path.read_text(encoding="utf-8")
    title, end, table = text.removeprefix("**").partition("**\n\n")
    if not end:
        title, table = "", text
    html = render_notes(table, title, source="reference")
    return Markup(html.replace("<table>", '<table class="formatted">'))
