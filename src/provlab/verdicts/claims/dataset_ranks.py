"""Ranks of methods over data sets, Friedman's test that all are equal, and Nemenyi's test against the best."""

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
"""Columns of results/rankings.csv, one line per method and ranking."""


def rank_methods(errors: pd.DataFrame) -> pd.DataFrame:
    """Rank methods over data sets.

    Parameters
    ----------
    errors : DataFrame of shape (data sets, methods)
        Lower is better; rows with a NaN are left out.

    Returns
    -------
    DataFrame
        `TESTED`: average rank of each method, the best (lowest) first; n, the data sets that all methods have;
        Friedman's p-value that all are equal; the critical difference, at the level `ALPHA`: two methods whose ranks
        differ by less have no significant difference; Nemenyi's p-value against the first. Empty with fewer than three
        methods or two data sets, where there is no test.

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
    )  # standard error of a difference of two average ranks, divided by the square root of 2
    critical = float(studentized_range.ppf(1 - ALPHA, k, np.inf)) / math.sqrt(2) * sd
    from_best = (mean_ranks - mean_ranks.iloc[0]).to_numpy() / sd * math.sqrt(2)
    table = mean_ranks.rename_axis("method").reset_index(name="rank")
    return table.assign(
        n=n,
        friedman_p=1.0 if all_tie else float(friedmanchisquare(*complete.to_numpy().T).pvalue),
        critical_difference=critical,
        p_against_best=np.clip(studentized_range.sf(from_best, k, np.inf), 0, 1),
    )


def rank(requests: Iterable[RankingRequest], evidence: AbstractEvidence) -> pd.DataFrame:
    """Return `COLUMNS` of each column of each request; one line, with no method and the reason, if there is no test.

    `ranked` removes these lines.
    """
    lines = []
    for request in requests:
        for column in request.columns:
            note = ""
            errors = pd.DataFrame()
            try:
                errors = evidence.dataset_errors(request.artefact, request.rows, column)
                absent = [row for row in request.rows if row not in errors]
                if absent:
                    note = f"nothing stored for {', '.join(absent)}"
            except UnavailableError as reason:
                note = str(reason)
            methods = rank_methods(errors).to_dict("records")
            if not methods:
                methods = [{"method": "", "n": 0}]
                note = note or f"needs at least 2 data sets and 3 methods, found {len(errors)} and {errors.shape[1]}"
            place = {"artefact": request.artefact, "column": column, "note": note}
            lines += [place | method for method in methods]
    return pd.DataFrame(lines, columns=COLUMNS)


def ranked(rankings: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of methods that were ranked."""
    return rankings[rankings["method"] != ""]
