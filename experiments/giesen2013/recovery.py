"""How often the inequality of Theorem 5 or 7 of Giesen et al. (2013) holds, for a grid of delta."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from provlab.core.artefact import Entry
from provlab.core.tables import Traced, write_tables
from provsel.certificates import VIOLATED

from .components import Panel, draw_against_components

DELTAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.499)
"""Of the theorems' (0, 1/2)."""

LEMMAS = {"loss_change": "Lemma 1", "norm_ratio": "Lemma 2", "expansion_ratio": "Lemma 4"}
MEASURES = ("optimum", "objective", "delta", "zero_delta", *LEMMAS)
COLUMNS = ["error", "scaled_objective", "certificate_recovery", *(f"certificate_{name}" for name in MEASURES)]
"""Columns of the records that are read here."""


def summarise(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Percentage of the draws for which the left inequality holds at each delta, and medians of what was measured."""
    delta, zero = trials["certificate_delta"], trials["certificate_zero_delta"]
    lines = [{"column": f"{entry.column}, delta={d:g}", "value": 100 * (delta <= d).mean()} for d in DELTAS]
    lines += [
        {"column": f"{entry.column}, delta={d:g}, w=0", "value": 100 * (zero <= d).mean()} for d in DELTAS
    ]  # fmt: skip
    measured = {"error": 100 * trials["error"], "scaled objective": trials["scaled_objective"]}
    measured |= {name: trials[f"certificate_{name}"] for name in MEASURES}
    lines += [
        {"column": f"{entry.column}, {name}", "value": values.median(), "sd": values.std(ddof=1)}
        for name, values in measured.items()
    ]
    return lines


def write_recovery(trials: pd.DataFrame, tables: Path, figures: Path, *, title: str, note: str, draws: int) -> str:
    """Write the table, a line a method and l, and the figure of the smallest delta; return what is printed.

    Parameters
    ----------
    trials : DataFrame
        `row`, `column` (l), `dataset` and `COLUMNS`.
    tables, figures : path
        Where the files go, without suffix.
    title, note : str
    draws : int
        Matrices Lambda.
    """
    trials = trials.assign(l=trials["column"].astype(float))
    lemmas = [name for name in LEMMAS if trials[f"certificate_{name}"].notna().any()]
    rows = []
    for (dataset, row, column), found in trials.groupby(["dataset", "row", "column"], sort=False):
        delta, zero = found["certificate_delta"], found["certificate_zero_delta"]
        shares = [_share(delta, zero, d) for d in DELTAS]
        ratios = [_number(found[f"certificate_{name}"].median()) for name in lemmas]
        objective = f"{found['certificate_objective'].median():.3g} / {found['certificate_optimum'].median():.3g}"
        numbers = [*shares, f"{delta.median():.3f}", objective, *ratios]
        rows.append([dataset, row, column, *(Traced(text, row, column, dataset) for text in numbers)])
    below = int((trials["certificate_objective"] < trials["certificate_optimum"] * (1 - 1e-5)).sum())
    text = write_tables(
        tables,
        [
            "data",
            "recovery",
            "l",
            *(f"delta={d:g}" for d in DELTAS),
            "delta",
            "objective / optimum",
            *(LEMMAS[name] for name in lemmas),
        ],
        rows,
        caption=f"{title}: % of {draws} draws of Lambda for which the left inequality holds.",
        note=f"{note} In parentheses: w = 0 meets it as well, so that it says nothing. delta: the smallest one "
        f"for which it holds, median; {int((trials['certificate_recovery'] == VIOLATED).sum())} of {len(trials)} runs "
        f"need one of 1/2 or more. The right inequality fails in {below} runs. Lemmas 2 and 4: ratio of squared "
        "lengths, up to 1 + delta; Lemma 1: change of the mean loss, up to delta; medians.".strip(),
    )
    panels = [Panel("certificate_delta", "smallest delta", log=True, limit=0.5, beside="certificate_zero_delta")]
    panels += [Panel("certificate_expansion_ratio", "Lemma 4: ratio", log=True, limit=1.5)]
    if "loss_change" in lemmas:
        panels.insert(1, Panel("certificate_loss_change", "Lemma 1: change of loss", limit=0.5))
    heading = f"{title} ({draws} draws of Lambda: median, range). Black: what delta < 1/2 allows. {note}"
    paths = draw_against_components(trials, panels, figures, heading.strip())
    return text + "\n" + "\n".join(str(path) for path in paths)


def _share(delta: pd.Series, zero: pd.Series, limit: float) -> str:
    share = f"{100 * (delta <= limit).mean():.0f}"
    return f"({share})" if (zero <= limit).all() else share


def _number(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.3g}"
