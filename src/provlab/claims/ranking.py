"""Ranks of methods over data sets, Friedman's test that all are the same, and Nemenyi's of each pair."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from provlab.claims.evidence import AbstractEvidence, UnavailableError
from provlab.claims.schema import RankingRequest

RANKING_COLUMNS = [
    "artefact", "column", "method", "rank", "n", "friedman_p", "critical_difference", "p_against_best", "note",
]  # fmt: skip
"""Columns of results/rankings.csv."""


@dataclass(frozen=True)
class Ranking:
    """Average ranks and their tests.

    Attributes
    ----------
    ranks : Series
        Average rank of each method, 1 is the lowest error; sorted.
    n : int
        Data sets that all methods have.
    p_value : float
        Friedman's test that all methods are the same.
    pairs : DataFrame
        Nemenyi's p-value of each pair.
    critical_difference : float
        Two methods whose ranks differ by less have no significant difference.
    """

    ranks: pd.Series
    n: int
    p_value: float
    pairs: pd.DataFrame
    critical_difference: float


def rank_methods(errors: pd.DataFrame, *, alpha: float = 0.05) -> Ranking | None:
    """Rank methods over data sets; None with fewer than three methods or two data sets, where there is no test.

    Parameters
    ----------
    errors : DataFrame of shape (data sets, methods)
        Lower is better; rows with a NaN are left out.
    alpha : float
        Level of the critical difference.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.2.
    """
    from scipy.stats import friedmanchisquare, studentized_range  # half a second

    whole = errors.dropna()
    n, k = whole.shape
    if n < 2 or k < 3:
        return None
    each = whole.rank(axis=1)
    ranks, differ = each.mean(), bool((each != (k + 1) / 2).any(axis=None))
    p_value = float(friedmanchisquare(*whole.to_numpy().T).pvalue) if differ else 1.0
    # Nemenyi: a difference of two average ranks has this standard deviation, times the root of 2
    sd = math.sqrt(k * (k + 1) / (6 * n))
    apart = np.abs(np.subtract.outer(ranks.to_numpy(), ranks.to_numpy())) / sd * math.sqrt(2)
    pairs = pd.DataFrame(np.clip(studentized_range.sf(apart, k, np.inf), 0, 1), whole.columns, whole.columns)
    difference = float(studentized_range.ppf(1 - alpha, k, np.inf)) / math.sqrt(2) * sd
    return Ranking(ranks.sort_values(kind="stable"), n, p_value, pairs, difference)


class RankingResult(NamedTuple):
    """The ranking of methods in a column of an artefact; None with the reason where there is none."""

    artefact: str
    column: str
    ranking: Ranking | None
    note: str


def rank(requests: Iterable[RankingRequest], evidence: AbstractEvidence) -> list[RankingResult]:
    """Return Friedman's and Nemenyi's tests for each column of each request."""
    results = []
    for request in requests:
        for column in request.columns:
            try:
                errors = evidence.dataset_errors(request.artefact, request.rows, column)
            except UnavailableError as reason:
                results.append(RankingResult(request.artefact, column, None, str(reason)))
                continue
            ranking = rank_methods(errors)
            absent = [row for row in request.rows if row not in errors]
            note = f"nothing stored for {', '.join(absent)}" if absent else ""
            if ranking is None:
                note = note or f"needs at least 2 data sets and 3 methods, found {len(errors)} and {errors.shape[1]}"
            results.append(RankingResult(request.artefact, column, ranking, note))
    return results


def ranking_frame(results: Iterable[RankingResult]) -> pd.DataFrame:
    """Return one line a method and ranking, with Nemenyi's p-value against the best-ranked method."""
    lines = []
    for made in results:
        if made.ranking is not None:
            best = made.ranking.ranks.index[0]
            shared = (made.ranking.n, made.ranking.p_value, made.ranking.critical_difference)
            lines += [
                (made.artefact, made.column, method, rank, *shared, made.ranking.pairs.loc[method, best], made.note)
                for method, rank in made.ranking.ranks.items()
            ]
    return pd.DataFrame(lines, columns=RANKING_COLUMNS)


def draw_rankings(results: Iterable[RankingResult], figures: Path) -> list[Path]:
    """Draw a critical-difference diagram of each ranking below `figures`/<paper>/."""
    from provlab.figures.ranks import draw_critical_difference  # Matplotlib is needed only here

    paths = []
    for made in results:
        if made.ranking is not None:
            paper, artefact = made.artefact.split("/")
            stem = figures / paper / f"critical_difference_{artefact}_{re.sub(r'[^A-Za-z0-9]+', '', made.column)}"
            ranking = made.ranking
            title = f"{made.artefact}, {made.column}: average rank over {ranking.n} data sets"
            title += f", Friedman p = {ranking.p_value:.2g}" + (f"; {made.note}" if made.note else "")
            paths += draw_critical_difference(
                ranking.ranks, ranking.pairs, stem, title, difference=ranking.critical_difference
            )
    return paths
