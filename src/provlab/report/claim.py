"""Page of a claim: its verdict, the finding of each part, and the verdicts under other readings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from provlab.core.tables import write_text
from provlab.report.figures.specification import specification_curve
from provlab.report.plots import strip
from provlab.report.reference import ProjectReference
from provlab.report.templating import Site, number

MAX_SAMPLES = 3000
"""Largest number of sample values in the table of a claim."""


@dataclass(frozen=True, eq=False)
class ClaimReadings:
    """Results of a claim under other readings of its paper.

    Attributes
    ----------
    robustness : Robustness
    places : list of Place
        Open choices that affect the claim.
    options : dict
        Options by the id of the choice, the default first.
    universes : DataFrame
        See `by_effect`.
    margins : tuple of float
        Effects at which the verdict changes.
    printed : float, optional
        Effect computed from the printed numbers.
    part_of_data : PartOfData, optional
        The part of the data on which the readings were run, if not on all data.
    """

    robustness: Any
    places: list[Any]
    options: Mapping[str, Sequence[str]]
    universes: pd.DataFrame
    margins: Sequence[float]
    printed: float | None
    part_of_data: Any

    def curve(self, *, alone: bool = False) -> Markup:
        """Return the specification curve, see `specification_curve`."""
        unit = str(self.universes["unit"].iloc[0])
        return specification_curve(
            self.universes,
            self.options,
            unit=unit,
            margins=self.margins,
            printed=self.printed,
            alone=alone,
        )


def write_claim(
    site: Site,
    verdict: Any,
    artefact: tuple[str, str],
    readings: ClaimReadings | None,
    reference: ProjectReference,
) -> None:
    """Write the page of a claim.

    Parameters
    ----------
    site : Site
    verdict : Verdict
    artefact : (str, str)
        Title and page of the artefact on which the claim is tested.
    readings : ClaimReadings, optional
    reference : ProjectReference
    """
    claim = verdict.claim
    parts = [*verdict.parts, *verdict.beside]
    samples = [
        (part.part, name, value) for part in parts for name, value in part.sample
    ]
    site.write(
        f"claims/{claim.id}.html", "claim.html", claim.text, "claims", claim.id,
        above=[("Claims", "claims/index.html")], verdict=verdict, claim=claim, artefact=artefact,
        drawn=_strips(parts), readings=readings, reference=reference, samples=samples[:MAX_SAMPLES],
        n_samples=len(samples),
    )  # fmt: skip


def _strips(parts: Sequence[Any]) -> dict[str, Markup]:
    """Return a drawing of each finding; findings in the same unit share an axis that includes zero."""
    drawings = {}
    for unit in dict.fromkeys(part.unit for part in parts):
        of_unit = [part for part in parts if part.unit == unit]
        low, high = _axis(of_unit)
        for part in of_unit:
            words = f"{part.part}: {part.verdict}, effect {number(part.effect)}; axis {number(low)} to {number(high)}"
            drawings[part.part] = strip(
                [value for _, value in part.sample], (low, high), words, mean=part.effect,
                interval=(part.low, part.high), margins=part.margins, verdict=part.verdict,
            )  # fmt: skip
    return drawings


def _axis(parts: Sequence[Any]) -> tuple[float, float]:
    """Return the limits of an axis that contains all numbers of the findings and zero."""
    values = [0.0]
    for part in parts:
        values += [part.effect, part.low, part.high, *part.margins]
        values += [value for _, value in part.sample]
    finite = [value for value in values if math.isfinite(value)]
    return min(finite), max(finite)


def draw_specifications(readings: Mapping[str, ClaimReadings], folder: Path) -> None:
    """Draw the specification curve of each claim that has effects, as curves/CLAIM.svg."""
    for claim, of_claim in readings.items():
        curve = of_claim.curve(alone=True)
        if curve:
            write_text(folder / "curves" / f"{claim}.svg", curve)
