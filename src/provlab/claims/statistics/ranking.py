"""Average ranks of methods over data sets: Friedman's test, and Nemenyi's for all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


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
        Two methods whose ranks differ by less are not told apart.
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
    whole = errors.dropna()
    n, k = whole.shape
    if n < 2 or k < 3:
        return None
    from scipy.stats import friedmanchisquare, studentized_range

    # Friedman's statistic is 0 / 0 where all methods tie on all data sets
    p_value = 1.0 if (whole.nunique(axis=1) == 1).all() else float(friedmanchisquare(*whole.to_numpy().T).pvalue)
    ranks = whole.rank(axis=1).mean()
    # Nemenyi: a difference of two average ranks has this standard deviation, times the root of 2
    sd = float(np.sqrt(k * (k + 1) / (6 * n)))
    between = np.abs(np.subtract.outer(ranks.to_numpy(), ranks.to_numpy())) / sd * np.sqrt(2)
    pairs = pd.DataFrame(studentized_range.sf(between, k, np.inf), whole.columns, whole.columns)
    difference = float(studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2) * sd
    return Ranking(ranks.sort_values(kind="stable"), n, p_value, pairs, difference)
