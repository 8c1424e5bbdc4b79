"""Pairs of methods in the panel: which one has the lower error, and how certain this is.

All pairs are tested together, by sign changes of the mean differences of the domains.
Within a single domain, its sources replace the domains. docs/measured/panel_rules.csv
shows how often this test errs on simulated panels, beside tests that treat data sets as
independent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from provlab.verdicts.claims.paired_tests import mean_difference
from provlab.verdicts.claims.rules import ALPHA
from provlab.verdicts.panel_scores import (
    ALL,
    Scores,
    filled,
    over_domains,
    over_sets,
    over_sources,
    rounded,
)

MARGIN = 1.0
"""Two methods whose balanced errors differ by fewer points than this are equal in practice."""

MAX_SIGNS = 2000
"""Upper limit of the sign patterns: all of them are used, or a random sample of this size."""

EVERYWHERE, EVERY_SOURCE = "all domains", "all sources"


def pairs(errors: pd.DataFrame, reference: str = ALL) -> pd.DataFrame:
    """Compare all methods with a reference in one joint test of the mean differences in each domain.

    Parameters
    ----------
    errors : DataFrame
        See `Scores.of_slice`. Each method is compared on the data sets on which it was
        planned. If there is a single domain, its sources replace the domains.
    reference : str
        A column of `errors`.

    Returns
    -------
    DataFrame
        Index: the other methods. difference: error minus that of the reference, so
        negative values are better. low and high: the 95 % interval of this difference
        alone, by Student's t. p_better, p_worse and p_same (within `MARGIN`): see
        `adjusted`. verdict: whichever of the three is below `ALPHA`, or "failed" if one
        of the two methods failed at every place. wins: the share of places at which the
        error is smaller; ties count half. detectable: the smallest difference that the
        first step of `adjusted` detects with a power of 0.9. domains and sets: their
        numbers.
    """
    return _judged(*_differences(errors, reference))


def pairs_of(errors: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `pairs` with the signs reversed: one method against every other one, with the best competitor first."""
    return _judged(*_differences(errors, name, sign=-1)).sort_values(
        "difference", kind="stable"
    )


def against_all(scores: Scores, *, by_source: bool = False) -> pd.DataFrame:
    """Compare each method with all features at each size as one family, over all judges; index size and method.

    With `by_source` each source has the same weight, as if the sources of a domain were
    independent.
    """
    means = {}
    numbers = {}
    for size in scores.sizes:
        means[size], numbers[size] = _differences(
            scores.of_slice(size=size), ALL, by_source=by_source
        )
    names = ["size", "method"]
    return _judged(
        pd.concat(means, axis=1, names=names), pd.concat(numbers, names=names)
    )


def compared_with_all(scores: Scores) -> dict[str, pd.DataFrame]:
    """Return `against_all` for all domains, for all sources, and for each domain that can be tested on its own."""
    tables = {EVERYWHERE: against_all(scores)}
    if len(scores.domains) > 1:
        tables[EVERY_SOURCE] = against_all(scores, by_source=True)
    for name in scores.decidable:
        tables[name] = against_all(scores.on(name))
    return tables


def win_rates(errors: pd.DataFrame) -> pd.DataFrame:
    """Return how often the method of a row beats that of a column, as a mean over domains.

    Only places at which both are defined count. Ties count half, and a failure counts
    as a loss.
    """
    values = rounded(errors)
    rates = {}
    for name, column in values.items():
        won = values.lt(column, axis=0) + 0.5 * values.eq(column, axis=0)
        is_defined = values.notna().mul(column.notna(), axis=0)
        rates[name] = over_domains(won.where(is_defined)).mean()
    return pd.DataFrame(rates)


def adjusted(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return one-sided p-values of "the mean of a column is not negative", adjusted for all columns.

    Rows are assumed to be independent, and jointly symmetric around their means. If the
    means are 0, changing the signs of rows does not change the distribution. The sign
    changes therefore give the null distribution of the smallest p-value of Student's t.
    Methods with similar errors, and sizes of one method, count as little more than one
    comparison. The procedure steps down: each column is compared only with columns that
    are not more significant.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        NaN where a column has no value. A column with fewer than two values is never
        significant.

    Returns
    -------
    p_values : ndarray of shape (n_columns,)
        The probability that any column with a non-negative mean has a p-value below a
        level is at most that level.
    level : float
        The p-value of Student's t that a single column must reach among all others at
        the level `ALPHA`; 0 if there are too few rows.

    References
    ----------
    Westfall, Young (1993), Resampling-Based Multiple Testing, algorithm 2.8. Romano,
    Wolf (2005), JASA 100.
    """
    signs = _signs(len(values))
    n = np.isfinite(values).sum(axis=0)
    df = np.maximum(n - 1, 1)
    without_nan = np.nan_to_num(values)
    means = signs @ without_nan / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(
            np.maximum((without_nan**2).sum(axis=0) - n * means**2, 0) / df / n
        )
        p_of_signs = np.where(
            n > 1, np.nan_to_num(stdtr(df, means / error), nan=1.0), 1.0
        )
    order = np.argsort(p_of_signs[0], kind="stable")
    smallest = np.minimum.accumulate(p_of_signs[:, order[::-1]], axis=1)[:, ::-1]
    # rounding must not separate equal values
    shares = (smallest <= p_of_signs[0, order] * (1 + 1e-9)).mean(axis=0)
    p_values = np.empty(len(order))
    p_values[order] = np.maximum.accumulate(shares)
    levels = np.append(0.0, np.sort(smallest[:, 0]))
    return p_values, float(levels[int(ALPHA * len(signs))])


def _signs(n: int) -> NDArray[np.float64]:
    """Return all sign patterns of n rows, or `MAX_SIGNS` random ones; the first is that of the data."""
    if 2**n <= MAX_SIGNS:
        return np.where((np.arange(2**n)[:, None] >> np.arange(n)) & 1, -1.0, 1.0)
    signs = np.where(
        np.random.default_rng(0).integers(2, size=(MAX_SIGNS, n)), -1.0, 1.0
    )
    signs[0] = 1
    return signs


def _differences(
    errors: pd.DataFrame, reference: str, *, sign: int = 1, by_source: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return each method's mean differences by domain or source, and its wins and number of data sets."""
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
    """Return the rows of `pairs`, with all columns corrected as one family."""
    values = means.to_numpy()
    p_better, level = adjusted(values)
    p_worse, _ = adjusted(-values)
    p_within, _ = adjusted(np.hstack([values - MARGIN, -values - MARGIN]))
    lines = []
    for column in values.T:
        of_domains = column[np.isfinite(column)]
        lines.append(
            {**mean_difference(of_domains, level=level), "domains": len(of_domains)}
        )
    table = pd.DataFrame(lines, index=means.columns)
    table = table.assign(
        p_better=p_better, p_worse=p_worse, p_same=np.max(np.split(p_within, 2), axis=0)
    )
    is_below = [table[name] < ALPHA for name in ("p_better", "p_worse", "p_same")]
    table["verdict"] = np.select(is_below, ["better", "worse", "same"], "inconclusive")
    table.loc[table["difference"].isna(), "verdict"] = "failed"
    return table.join(numbers)
