"""Verdicts and rankings as tables for a terminal, and rankings as files."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.table import Column, Table
from rich.text import Text

from provlab.claims.outcome import NOT_RUN, VERDICTS, interval_text
from provlab.claims.verdicts import RankingResult, Verdict

COLOURS = {
    "replicated": "green", "contradicted": "red", "no difference": "blue", "depends on r": "blue",
    "inconclusive": "yellow",
    "vacuous": "yellow", "not run": "dim",
}  # fmt: skip


def verdict_table(verdicts: Iterable[Verdict], beside: Mapping[str, Mapping[str, str]] | None = None) -> Table:
    """Return one line a claim: verdict, id, effect with its interval, p-value, n, the n that would decide it, state.

    Parameters
    ----------
    verdicts : iterable of Verdict
    beside : mapping, optional
        Further columns by header: texts by the claims' ids. One without any text is left out.
    """
    more = {header: texts for header, texts in (beside or {}).items() if texts}
    table = Table(
        Column("verdict", min_width=12), Column("claim", overflow="fold"), Column("effect [interval]", min_width=12),
        "unit", Column("p", no_wrap=True), Column("n", no_wrap=True), "n needed", "trials",
        *more,
    )  # fmt: skip
    for made in verdicts:
        finding = made.finding
        shown = not math.isnan(finding.effect)
        table.add_row(
            Text(made.verdict, style=COLOURS[made.verdict]),
            Text(made.claim.id),
            Text(f"{finding.effect:.4g}{interval_text(finding.low, finding.high)}" if shown else ""),
            finding.unit,
            "" if math.isnan(finding.p_value) else f"{finding.p_value:.2g}",
            str(finding.n) if shown else "",
            "" if math.isnan(made.needed) else "no n" if math.isinf(made.needed) else f"{made.needed:.0f}",
            Text(made.detail.split("; ")[0] if made.verdict == NOT_RUN and made.state == NOT_RUN else made.state),
            *(texts.get(made.claim.id, "") for texts in more.values()),
        )
    return table


def totals(verdicts: Sequence[Verdict]) -> str:
    """Return how many of the papers' own claims have each verdict, and how many other ones stand beside."""
    own = [made for made in verdicts if made.claim.kind == "paper"]
    counts = Counter(made.verdict for made in own)
    text = f"{len(own)} claim{'' if len(own) == 1 else 's'}: " + ", ".join(
        f"{counts[verdict]} {verdict}" for verdict in VERDICTS
    )
    beside = Counter(made.claim.kind for made in verdicts if made.claim.kind != "paper")
    return text + ("; beside: " if beside else "") + ", ".join(f"{n} {kind}" for kind, n in sorted(beside.items()))


def ranking_table(results: Iterable[RankingResult]) -> Table:
    """Return one line a ranking: Friedman's p-value, critical difference, and the methods by average rank."""
    table = Table("ranking", "Friedman p", "critical difference", "n", "methods by average rank")
    for made in results:
        name = Text(f"{made.artefact}, {made.column}")
        if made.ranking is None:
            table.add_row(name, "", "", "", Text(made.note))
            continue
        ranks = ", ".join(f"{method} {rank:.2f}" for method, rank in made.ranking.ranks.items())
        text = Text(f"{ranks} ({made.note})" if made.note else ranks)
        difference = f"{made.ranking.critical_difference:.2f}"
        table.add_row(name, f"{made.ranking.p_value:.2g}", difference, str(made.ranking.n), text)
    return table


def ranking_frame(results: Iterable[RankingResult]) -> pd.DataFrame:
    """Return one line a method and ranking, with Nemenyi's p-value against the best-ranked method."""
    columns = [
        "artefact",
        "column",
        "method",
        "rank",
        "n",
        "friedman_p",
        "critical_difference",
        "p_against_best",
        "note",
    ]
    lines = []
    for made in results:
        if made.ranking is not None:
            best = made.ranking.ranks.index[0]
            shared = (made.ranking.n, made.ranking.p_value, made.ranking.critical_difference)
            lines += [
                (made.artefact, made.column, method, rank, *shared, made.ranking.pairs.loc[method, best], made.note)
                for method, rank in made.ranking.ranks.items()
            ]
    return pd.DataFrame(lines, columns=columns)


def draw_rankings(results: Iterable[RankingResult], figures: Path) -> list[Path]:
    """Draw a critical-difference diagram of each ranking below `figures`/<paper>/."""
    from provlab.figures.ranks import draw_critical_difference  # Matplotlib: nobody else here draws

    paths = []
    for made in results:
        if made.ranking is not None:
            paper, artefact = made.artefact.split("/")
            stem = figures / paper / f"critical_difference_{artefact}_{re.sub(r'[^A-Za-z0-9]+', '', made.column)}"
            ranking = made.ranking
            title = f"{made.artefact}, {made.column}: average rank over {ranking.n} data sets"
            title += f", Friedman p = {ranking.p_value:.2g}"
            if made.note:
                title += f"; {made.note}"
            paths += draw_critical_difference(
                ranking.ranks, ranking.pairs, stem, title, difference=ranking.critical_difference
            )
    return paths
