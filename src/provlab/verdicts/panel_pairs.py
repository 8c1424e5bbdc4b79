"""Pairs of methods of the panel: which one has the lower error, and how sure that is.

Pairs are judged together, by the signs of the domains' mean differences. Of one domain, its sources take the place of
domains. docs/measured/panel_rules.csv has how often this errs on simulated panels, beside tests that take sets as
independent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from provlab.verdicts.claims.paired_tests import mean_difference
from provlab.verdicts.claims.rules import ALPHA
from provlab.verdicts.panel_scores import ALL, Scores, filled, over_domains, over_sets, over_sources, rounded

MARGIN = 1.0
"""Points of the balanced error within which two methods are the same in practice."""

MAX_SIGNS = 2000
"""All signs of the rows are tried, or as many random ones."""

EVERYWHERE, EVERY_SOURCE = "all domains", "all sources"


def pairs(errors: pd.DataFrame, reference: str = ALL) -> pd.DataFrame:
    """Compare each method with a reference, all together, by their mean differences in each domain.

    Parameters
    ----------
    errors : DataFrame
        See `Scores.of_slice`; data sets on which a method was not planned are left out for it. Of a single domain, its
        sources are compared in place of domains.
    reference : str
        A column of these.

    Returns
    -------
    DataFrame
        Index: the other methods. difference to the reference, negative is better, from low to high, its own 95 %
        interval by Student's t; p_better, p_worse and p_same, which is within `MARGIN`, see `adjusted`; verdict, what
        is below `ALPHA` of these, or "failed" where one of the two failed at every place; wins, the share of places
        where the error is smaller, ties a half; detectable, the smallest difference that the first step of `adjusted`
        shows with a power of 0.9; domains and sets.
    """
    return _judged(*_differences(errors, reference))


def pairs_of(errors: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `pairs` the other way: what one method is beside each other one, the strongest comparison first."""
    return _judged(*_differences(errors, name, sign=-1)).sort_values("difference", kind="stable")


def against_all(scores: Scores, *, by_source: bool = False) -> pd.DataFrame:
    """Return `pairs` with all features at each size, all judges together, as one family; index size and method.

    With `by_source` each source counts the same, as if those of a domain were independent.
    """
    means = {}
    numbers = {}
    for size in scores.sizes:
        means[size], numbers[size] = _differences(scores.of_slice(size=size), ALL, by_source=by_source)
    names = ["size", "method"]
    return _judged(pd.concat(means, axis=1, names=names), pd.concat(numbers, names=names))


def compared_with_all(scores: Scores) -> dict[str, pd.DataFrame]:
    """Return `against_all` of all domains, then by sources, and of each domain that can be judged by itself."""
    tables = {EVERYWHERE: against_all(scores)}
    if len(scores.domains) > 1:
        tables[EVERY_SOURCE] = against_all(scores, by_source=True)
    for name in scores.decidable:
        tables[name] = against_all(scores.on(name))
    return tables


def win_rates(errors: pd.DataFrame) -> pd.DataFrame:
    """Return how often the method of a row beats that of a column, where both are defined: mean over domains.

    Ties count a half, and what failed loses.
    """
    values = rounded(errors)
    rates = {}
    for name, column in values.items():
        won = values.lt(column, axis=0) + 0.5 * values.eq(column, axis=0)
        is_defined = values.notna().mul(column.notna(), axis=0)
        rates[name] = over_domains(won.where(is_defined)).mean()
    return pd.DataFrame(rates)


def adjusted(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return for each column how likely the data are if its mean is not negative, adjusted for all columns.

    Rows are independent, and symmetric around their means together. Then changing the signs of rows changes nothing
    where means are 0. It shows how small the smallest of all p-values of Student's t is by chance: methods that err
    alike, and sizes of one method, count as nearly one comparison. Steps down: a column is judged beside those only
    that are not more significant.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        NaN where a column has no value; of fewer than two values it is never significant.

    Returns
    -------
    p_values : ndarray of shape (n_columns,)
        One is below a level although its mean is not negative with at most that probability, of all columns.
    level : float
        The p-value of Student's t that one column has to reach beside all others at the level `ALPHA`; 0 where so few
        rows cannot tell.

    References
    ----------
    Westfall, Young (1993), Resampling-Based Multiple Testing, algorithm 2.8. Romano, Wolf (2005), JASA 100.
    """
    signs = _signs(len(values))
    n = np.isfinite(values).sum(axis=0)
    df = np.maximum(n - 1, 1)
    without_nan = np.nan_to_num(values)
    means = signs @ without_nan / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.maximum((without_nan**2).sum(axis=0) - n * means**2, 0) / df / n)
        p_of_signs = np.where(n > 1, np.nan_to_num(stdtr(df, means / error), nan=1.0), 1.0)
    order = np.argsort(p_of_signs[0], kind="stable")
    smallest = np.minimum.accumulate(p_of_signs[:, order[::-1]], axis=1)[:, ::-1]
    shares = (smallest <= p_of_signs[0, order] * (1 + 1e-9)).mean(axis=0)  # rounding must not tell equals apart
    p_values = np.empty(len(order))
    p_values[order] = np.maximum.accumulate(shares)
    levels = np.append(0.0, np.sort(smallest[:, 0]))
    return p_values, float(levels[int(ALPHA * len(signs))])


def _signs(n: int) -> NDArray[np.float64]:
    """Return all sign patterns of n rows, at most `MAX_SIGNS`; the first is that of the data."""
    if 2**n <= MAX_SIGNS:
        return np.where((np.arange(2**n)[:, None] >> np.arange(n)) & 1, -1.0, 1.0)
    signs = np.where(np.random.default_rng(0).integers(2, size=(MAX_SIGNS, n)), -1.0, 1.0)
    signs[0] = 1
    return signs


def _differences(
    errors: pd.DataFrame, reference: str, *, sign: int = 1, by_source: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return each method's mean differences to a reference by domain or source, its wins, and its number of sets."""
    values = filled(errors)
    has_no_value = errors.isin([np.inf]).any() & ~np.isfinite(errors).any()
    values.loc[:, has_no_value] = np.nan  # failed at every place
    difference = sign * values.drop(columns=reference).sub(values[reference], axis=0)
    own = rounded(difference)
    won = ((own < 0) + 0.5 * (own == 0)).where(own.notna())
    is_one_domain = difference.index.get_level_values("domain").nunique() == 1
    average = over_sources if by_source or is_one_domain else over_domains
    numbers = {"wins": average(won).mean(), "sets": over_sets(difference).notna().sum()}
    return average(difference), pd.DataFrame(numbers)


def _judged(means: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of `pairs`, with all columns corrected as one family."""
    values = means.to_numpy()
    p_better, level = adjusted(values)
    p_worse, _ = adjusted(-values)
    p_within, _ = adjusted(np.hstack([values - MARGIN, -values - MARGIN]))
    lines = []
    for column in values.T:
        of_domains = column[np.isfinite(column)]
        lines.append({**mean_difference(of_domains, level=level), "domains": len(of_domains)})
    table = pd.DataFrame(lines, index=means.columns)
    table = table.assign(p_better=p_better, p_worse=p_worse, p_same=np.max(np.split(p_within, 2), axis=0))
    is_below = [table[name] < ALPHA for name in ("p_better", "p_worse", "p_same")]
    table["verdict"] = np.select(is_below, ["better", "worse", "same"], "inconclusive")
    table.loc[table["difference"].isna(), "verdict"] = "failed"
    return table.join(numbers)
