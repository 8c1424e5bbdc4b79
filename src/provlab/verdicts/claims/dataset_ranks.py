"""Ranks of methods over data sets, Friedman's test that all are the same, and Nemenyi's against the best."""

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
"""Columns of results/rankings.csv, one line a method and ranking."""


def rank_methods(errors: pd.DataFrame) -> pd.DataFrame:
    """Rank methods over data sets.

    Parameters
    ----------
    errors : DataFrame of shape (data sets, methods)
        Lower is better; rows with a NaN are left out.

    Returns
    -------
    DataFrame
        `TESTED`: average rank of each method, the best (lowest) first; n data sets that all methods have; Friedman's
        p-value that all are the same; the critical difference, at the level `ALPHA`: two methods whose ranks differ by
        less have no significant difference; Nemenyi's p-value against the first. Empty with fewer than three methods or
        two data sets, where there is no test.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.2.
    """
    from scipy.stats import friedmanchisquare, studentized_range  # half a second

    whole = errors.dropna()
    n, k = whole.shape
    if n < 2 or k < 3:
        return pd.DataFrame(columns=TESTED)
    each = whole.rank(axis=1)
    ranks, differ = each.mean().sort_values(kind="stable"), bool((each != (k + 1) / 2).any(axis=None))
    p_value = float(friedmanchisquare(*whole.to_numpy().T).pvalue) if differ else 1.0
    sd = math.sqrt(k * (k + 1) / (6 * n))  # of a difference of two average ranks, over the root of 2
    difference = float(studentized_range.ppf(1 - ALPHA, k, np.inf)) / math.sqrt(2) * sd
    from_best = (ranks - ranks.iloc[0]).to_numpy() / sd * math.sqrt(2)
    against_best = np.clip(studentized_range.sf(from_best, k, np.inf), 0, 1)
    lines = {"method": ranks.index, "rank": ranks.to_numpy(), "n": n, "friedman_p": p_value}
    return pd.DataFrame({**lines, "critical_difference": difference, "p_against_best": against_best})


def rank(requests: Iterable[RankingRequest], evidence: AbstractEvidence) -> pd.DataFrame:
    """Return `COLUMNS` of each column of each request; one line, with no method and the reason, where there is no test.

    `ranked` takes these lines away.
    """
    lines = []
    for request in requests:
        for column in request.columns:
            try:
                errors = evidence.dataset_errors(request.artefact, request.rows, column)
                absent = [row for row in request.rows if row not in errors]
                note = f"nothing stored for {', '.join(absent)}" if absent else ""
            except UnavailableError as reason:
                errors, note = pd.DataFrame(), str(reason)
            found = rank_methods(errors).to_dict("records")
            note = note or (
                "" if found else f"needs at least 2 data sets and 3 methods, found {len(errors)} and {errors.shape[1]}"
            )
            lines += [
                {"artefact": request.artefact, "column": column, **line, "note": note}
                for line in found or [{"method": "", "n": 0}]
            ]
    return pd.DataFrame(lines, columns=COLUMNS)


def ranked(rankings: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of methods that were ranked."""
    return rankings[rankings["method"] != ""]
