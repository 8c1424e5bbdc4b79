"""make reproduce-theorem5 | provsel reproduce giesen2013/theorem5 [protocol.draws=3] [executor=serial].

How often the inequality of Theorem 5 or 7 of Giesen et al. (2013) holds, for a grid of
delta.
"""

from __future__ import annotations

import pandas as pd

from provlab.core.artefact import Entry
from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import Traced, write_tables
from provsel.certificates import VIOLATED

from .components import Panel, draw_against_components

DELTAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.499)
"""Of the theorems' (0, 1/2)."""

LEMMAS = {
    "loss_change": "Lemma 1",
    "norm_ratio": "Lemma 2",
    "expansion_ratio": "Lemma 4",
}
MEASURES = ("optimum", "objective", "delta", "zero_delta", *LEMMAS)
COLUMNS = [
    "error",
    "scaled_objective",
    "certificate_recovery",
    *(f"certificate_{name}" for name in MEASURES),
]
"""Columns of the records that are read here."""


def summarise(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Percentage of the draws for which the left inequality holds at each delta, and medians of what was measured."""
    lines: list[dict[str, object]] = []
    for name, suffix in (
        ("certificate_delta", ""),
        ("certificate_zero_delta", ", w=0"),
    ):
        for delta in DELTAS:
            share = 100 * (trials[name] <= delta).mean()
            lines.append(
                {"column": f"{entry.column}, delta={delta:g}{suffix}", "value": share}
            )
    measured = {
        "error": 100 * trials["error"],
        "scaled objective": trials["scaled_objective"],
    }
    for name in MEASURES:
        measured[name] = trials[f"certificate_{name}"]
    for name, values in measured.items():
        lines.append(
            {
                "column": f"{entry.column}, {name}",
                "value": values.median(),
                "sd": values.std(ddof=1),
            }
        )
    return lines


def render(rendering: Rendering) -> str:
    """Write the table, a line a method and l, and the figure of the smallest delta."""
    trials = rendering.trials(COLUMNS)
    trials["l"] = trials["column"].astype(float)
    lemmas = [name for name in LEMMAS if trials[f"certificate_{name}"].notna().any()]
    is_below = trials["certificate_objective"] < trials["certificate_optimum"] * (
        1 - 1e-5
    )
    n_violated = int((trials["certificate_recovery"] == VIOLATED).sum())
    title, draws = rendering.artefact.title, rendering.artefact.config.protocol.draws
    deltas = [f"delta={delta:g}" for delta in DELTAS]
    text = write_tables(
        rendering.tables,
        [
            "data",
            "recovery",
            "l",
            *deltas,
            "delta",
            "objective / optimum",
            *(LEMMAS[name] for name in lemmas),
        ],
        rows_of(trials, lemmas),
        caption=f"{title}: % of {draws} draws of Lambda for which the left inequality holds.",
        note=f"{rendering.note} In parentheses: w = 0 meets it as well, so that it says nothing. delta: the smallest "
        f"one for which it holds, median; {n_violated} of {len(trials)} runs "
        f"need one of 1/2 or more. The right inequality fails in {int(is_below.sum())} runs. Lemmas 2 and 4: ratio of "
        "squared lengths, up to 1 + delta; Lemma 1: change of the mean loss, up to delta; medians.".strip(),
    )
    panels = [
        Panel(
            "certificate_delta",
            "smallest delta",
            log=True,
            limit=0.5,
            beside="certificate_zero_delta",
        )
    ]
    if "loss_change" in lemmas:
        panels.append(
            Panel("certificate_loss_change", "Lemma 1: change of loss", limit=0.5)
        )
    panels.append(
        Panel("certificate_expansion_ratio", "Lemma 4: ratio", log=True, limit=1.5)
    )
    heading = f"{title} ({draws} draws of Lambda: median, range). Black: what delta < 1/2 allows. {rendering.note}"
    return printed(
        text,
        draw_against_components(trials, panels, rendering.figures, heading.strip()),
    )


def rows_of(trials: pd.DataFrame, lemmas: list[str]) -> list[list[str]]:
    """Return the lines of the table."""
    rows = []
    for (dataset, row, column), part in trials.groupby(
        ["dataset", "row", "column"], sort=False
    ):
        texts = [_share(part, delta) for delta in DELTAS]
        texts.append(f"{part['certificate_delta'].median():.3f}")
        objective, optimum = (
            part["certificate_objective"].median(),
            part["certificate_optimum"].median(),
        )
        texts.append(f"{objective:.3g} / {optimum:.3g}")
        for name in lemmas:
            median = part[f"certificate_{name}"].median()
            texts.append("" if pd.isna(median) else f"{median:.3g}")
        rows.append(
            [
                dataset,
                row,
                column,
                *(Traced(text, row, column, dataset) for text in texts),
            ]
        )
    return rows


def _share(trials: pd.DataFrame, delta: float) -> str:
    share = f"{100 * (trials['certificate_delta'] <= delta).mean():.0f}"
    return f"({share})" if (trials["certificate_zero_delta"] <= delta).all() else share


RECIPE = Recipe("giesen2013/theorem5", render, summarise=summarise, columns=COLUMNS)
