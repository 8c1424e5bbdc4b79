"""Figures of verdicts: a critical-difference diagram of each ranking, and a specification curve of each claim."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from provlab.core.tables import write_text
from provlab.verdicts.claims.dataset_ranks import ranked
from provlab.verdicts.readings.prints import printed_effect
from provlab.verdicts.readings.study import Outcome


def draw_rankings(rankings: pd.DataFrame, figures: Path) -> list[Path]:
    """Draw a critical-difference diagram of each ranking below `figures`/<paper>/."""
    from provlab.report.figures.ranks import draw_critical_difference  # Matplotlib is needed only here

    paths = []
    for (name, column), found in ranked(rankings).groupby(["artefact", "column"], sort=False):
        paper, artefact = name.split("/")
        stem = figures / paper / f"critical_difference_{artefact}_{re.sub(r'[^A-Za-z0-9]+', '', column)}"
        ranks, first = found.set_index("method")["rank"], found.iloc[0]
        title = f"{name}, {column}: average rank over {first['n']} data sets, Friedman p = {first['friedman_p']:.2g}"
        title += f"; {first['note']}" if first["note"] else ""
        paths += draw_critical_difference(ranks, stem, title, difference=first["critical_difference"])
    return paths


def draw_specifications(outcome: Outcome, folder: Path) -> None:
    """Draw the specification curve of each claim that has effects, as curves/CLAIM.svg."""
    from provlab.report.figures.specification import by_effect, specification_curve  # Matplotlib is needed only here

    for name, found in outcome.universes.groupby("claim", sort=False):
        claim, places = outcome.claims[str(name)], outcome.places_of(str(name))
        curve = specification_curve(
            by_effect(found), places, unit=str(found["unit"].iloc[0]), alone=True,
            margins=getattr(claim.rule, "margins", ()), printed=printed_effect(claim),
        )  # fmt: skip
        if places and curve:
            write_text(folder / "curves" / f"{claim.id}.svg", curve)
