"""Ranks of methods over data sets, Friedman's test of equality, and Nemenyi's test against the best method."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from provlab.verdicts.claims.evidence import AbstractEvidence, UnavailableError
from provlab.verdicts.claims.rules import ALPHA
from provlab.verdicts.claims.schema import RankingRequest

TESTED = ["method", "rank", "n", "friedman_p", "critical_difference", "p_against_best"]
"""Columns of `rank_methods`."""

COLUMNS = ["artefact", "column", *TESTED, "note"]
"""Columns of results/rankings.csv, which has one row per method and ranking."""


def rank_methods(errors: pd.DataFrame) -> pd.DataFrame:
    """Rank methods over data sets.

    Parameters
    ----------
    errors : DataFrame of shape (data sets, methods)
        Lower is better. Rows with a NaN are left out.

    Returns
    -------
    DataFrame
        The columns `TESTED`: the average rank of each method, the best (lowest) first;
        n, the number of data sets that all methods share; the p-value of Friedman's
        test that all methods are equal; the critical difference at the level `ALPHA`,
        below which a difference in ranks is not significant; and Nemenyi's p-value
        against the first method. Empty for fewer than three methods or two data sets,
        which cannot be tested.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.2.
    """
    from scipy.stats import friedmanchisquare, studentized_range  # half a second

    complete = errors.dropna()
    n, k = complete.shape
    if n < 2 or k < 3:
        return pd.DataFrame(columns=TESTED)
    ranks = complete.rank(axis=1)
    mean_ranks = ranks.mean().sort_values(kind="stable")
    all_tie = bool((ranks == (k + 1) / 2).all(axis=None))
    sd = math.sqrt(
        k * (k + 1) / (6 * n)
    )  # standard error of the difference between two average ranks, divided by the square root of 2
    critical = float(studentized_range.ppf(1 - ALPHA, k, np.inf)) / math.sqrt(2) * sd
    from_best = (mean_ranks - mean_ranks.iloc[0]).to_numpy() / sd * math.sqrt(2)
    table = mean_ranks.rename_axis("method").reset_index(name="rank")
    return table.assign(
        n=n,
        friedman_p=1.0
        if all_tie
        else float(friedmanchisquare(*complete.to_numpy().T).pvalue),
        critical_difference=critical,
        p_against_best=np.clip(studentized_range.sf(from_best, k, np.inf), 0, 1),
    )


def rank(
    requests: Iterable[RankingRequest], evidence: AbstractEvidence
) -> pd.DataFrame:
    """Return the ranking in each column of each request, as a frame with `COLUMNS`.

    A column that cannot be tested has a single row, with the reason and without a
    method; `ranked` removes these rows.
    """
    lines = []
    for request in requests:
        for column in request.columns:
            note = ""
            errors = pd.DataFrame()
            try:
                places = [(request.artefact, row, column) for row in request.rows]
                errors = evidence.dataset_means(
                    [place for place in places if evidence.has(place)]
                )
                absent = [row for row in request.rows if row not in errors]
                if absent:
                    note = f"nothing stored for {', '.join(absent)}"
            except UnavailableError as reason:
                note = str(reason)
            methods = rank_methods(errors).to_dict("records")
            if not methods:
                methods = [{"method": "", "n": 0}]
                note = (
                    note
                    or f"needs at least 2 data sets and 3 methods, found {len(errors)} and {errors.shape[1]}"
                )
            place = {"artefact": request.artefact, "column": column, "note": note}
            lines += [place | method for method in methods]
    return pd.DataFrame(lines, columns=COLUMNS)


def ranked(rankings: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of methods that were ranked."""
    return rankings[rankings["method"] != ""]
