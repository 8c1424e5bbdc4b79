"""The project's reference results as pages show them, marked as the reference's, beside what is stored here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from provlab.report.templating import render_notes

Counts = list[tuple[str, int]]
"""Verdicts, and how many claims have each."""


class ReferencePart(NamedTuple):
    """What the reference has of one artefact.

    Attributes
    ----------
    provenance : Provenance
        What it was computed with.
    counts : list of (verdict, number)
        Of the paper's own claims that are tested on it, firm or depending on the reading.
    tables : list of Markup
    figures : list of str
        Names of SVG files below `reference/ARTEFACT` of a report.
    numbers : DataFrame
        `row`, `column`, `dataset` and `reference`, the value as text.
    """

    provenance: Any
    counts: Counts
    tables: list[Markup]
    figures: list[str]
    numbers: pd.DataFrame


@dataclass(frozen=True)
class ProjectReference:
    """The reference results of a project; nothing if it has none.

    Attributes
    ----------
    parts : mapping
        By artefact.
    claims : mapping
        By claim, its line in the table of verdicts.
    counts : mapping
        By paper, the verdicts on its own claims.
    n_trials : int
    """

    parts: Mapping[str, ReferencePart]
    claims: Mapping[str, Mapping[str, Any]]
    counts: Mapping[str, Counts]
    n_trials: int


def formatted_table(path: Path) -> Markup:
    """Return a table in Markdown as HTML; its title, the bold line above it, becomes the caption."""
    text = path.read_text(encoding="utf-8")
    title, end, table = text.removeprefix("**").partition("**\n\n")
    if not end:
        title, table = "", text
    html = render_notes(table, title, source="reference")
    return Markup(html.replace("<table>", '<table class="formatted">'))
