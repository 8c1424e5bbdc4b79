"""Average ranks of methods over data sets: Friedman's test, and Nemenyi's for all pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from provlab.claims.statistics.rank_tests import friedman_p_value


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
    each = whole.rank(axis=1)
    ranks = each.mean()
    # Nemenyi: a difference of two average ranks has this standard deviation, times the root of 2
    sd = float(np.sqrt(k * (k + 1) / (6 * n)))
    between = np.abs(np.subtract.outer(ranks.to_numpy(), ranks.to_numpy())) / sd * np.sqrt(2)
    pairs = pd.DataFrame(studentized_range_p_value(between, k), whole.columns, whole.columns)
    difference = studentized_range_quantile(1 - alpha, k) / math.sqrt(2) * sd
    return Ranking(ranks.sort_values(kind="stable"), n, friedman_p_value(each.to_numpy()), pairs, difference)


def studentized_range_p_value(q: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return P(range of k standard normal variables >= q), of the shape of q: the limit of many degrees of freedom.

    The lowest is z, and not all others are between z and z + q: summed over z by the trapezoid rule, which on the whole
    line is as exact as the numbers for a smooth integrand. All terms are positive: small p-values are exact too.
    """
    z = np.linspace(-30.0, 9.0, 1301)
    density, above = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi), ndtr(-z)
    beyond = np.minimum(ndtr(-z - np.asarray(q)[..., None]) / above, 1.0)
    with np.errstate(divide="ignore"):
        not_all = -np.expm1((k - 1) * np.log1p(-beyond))
    found: NDArray[np.float64] = k * (density * above ** (k - 1) * not_all).sum(axis=-1) * (z[1] - z[0])
    return np.minimum(found, 1.0)


def studentized_range_quantile(share: float, k: int) -> float:
    """Return the q below which the range of k standard normal variables is with that probability, by bisection."""
    low, high = 0.0, 100.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        enough = 1.0 - float(studentized_range_p_value(np.array(middle), k)) >= share
        low, high = (low, middle) if enough else (middle, high)
    return high
