"""Ranks, Pareto fronts and leaderboards of the panel.

All domains have the same weight. Intervals of ranks resample domains, then sources
within each domain. If there is a single domain, they resample its sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.verdicts.panel_scores import (
    ALL,
    HEADLINE,
    MEASURES,
    Scores,
    filled,
    over_domains,
    over_sets,
    over_sources,
    rounded,
)

RESAMPLES = 2000

SUMMARIES: Mapping[str, Callable[[pd.DataFrame], pd.Series]] = {
    "domains": lambda values: over_domains(values).mean(),
    "sets": lambda values: over_sets(values).median(),
    "largest": lambda values: values.max(),
}
"""How a leaderboard summarises a measure, by `Measure.summary`."""


def ranks(values: pd.DataFrame, measure: str = HEADLINE) -> pd.DataFrame:
    """Return the rank of each method at each place of `Scores.of_slice`; 1 is best, and failures are last.

    A method without a value at a place has no rank there. The ranks of the others are
    rescaled to the number of all methods.
    """
    comparable = rounded(values, measure)
    of_place = comparable.rank(axis=1, ascending=MEASURES[measure].lower)
    n_methods = comparable.shape[1]
    n_defined = comparable.notna().sum(axis=1)
    return (of_place - 0.5).mul(n_methods / n_defined, axis=0) + 0.5


def _complete(of_places: pd.DataFrame) -> pd.DataFrame:
    """Fill missing ranks with the method's mean rank in the domain, or otherwise over all domains."""
    is_known = of_places.notna()
    if is_known.all(axis=None):
        return of_places
    of_domain = of_places.groupby(level="domain").mean()
    of_domain = of_domain.where(
        of_domain.notna(), over_domains(of_places).mean(), axis=1
    )
    domains = of_places.index.get_level_values("domain")
    return of_places.where(is_known, of_domain.loc[domains].to_numpy())


def interval(frame: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Return the mean of each column over domains, with its 95 % interval; see `resampled`.

    Returns
    -------
    DataFrame
        Index: the columns; mean, low and high.
    """
    low, high = np.quantile(resampled(frame, seed=seed), [0.025, 0.975], axis=0)
    return pd.DataFrame(
        {"mean": over_domains(frame).mean(), "low": low, "high": high},
        index=frame.columns,
    )


def share_first(ranks_of_places: pd.DataFrame) -> pd.Series:
    """Return the share of resamples in which each method has the smallest mean rank, `ALL` excluded."""
    selectors = ranks_of_places.drop(columns=ALL, errors="ignore")
    if selectors.empty:
        return pd.Series(dtype=float)
    first = np.argmin(resampled(selectors), axis=1)
    counts = np.bincount(first, minlength=selectors.shape[1])
    return pd.Series(counts / RESAMPLES, index=selectors.columns)


def resampled(frame: pd.DataFrame, *, seed: int = 0) -> NDArray[np.float64]:
    """Return the mean of each column over domains in each of `RESAMPLES` resamples.

    Domains are drawn with replacement, then sources within each drawn domain. If there
    is a single domain, only its sources are drawn.

    Parameters
    ----------
    frame : DataFrame
        Without NaN, with the index of `over_sets`.
    seed : int

    Returns
    -------
    ndarray of shape (RESAMPLES, n_columns)
    """
    sources = over_sources(frame)
    domains = [part.to_numpy() for _, part in sources.groupby(level="domain")]
    rng = np.random.default_rng(seed)
    sums = np.zeros((RESAMPLES, sources.shape[1]))
    for _ in domains:
        chosen = rng.integers(len(domains), size=RESAMPLES)
        for place, domain in enumerate(domains):
            rows = np.flatnonzero(chosen == place)
            n = len(domain)
            sums[rows] += (
                rng.multinomial(n, np.full(n, 1 / n), size=len(rows)) @ domain / n
            )
    return sums / len(domains)


def everywhere(board: pd.DataFrame) -> pd.DataFrame:
    """Return the selectors of a leaderboard that were run on all data sets, so that their means are comparable."""
    return board[(board["missing"] == 0) & (board.index != ALL)]


def front(board: pd.DataFrame, measure: str) -> list[str]:
    """Return the Pareto front of a leaderboard by a measure and the loss: the methods that no other one dominates."""
    sign = 1 if MEASURES[measure].lower else -1
    costs = board[[measure, "loss"]].dropna() * [sign, 1]
    names = []
    for name, own in costs.iterrows():
        is_beaten = (costs <= own).all(axis=1) & (costs < own).any(axis=1)
        if not is_beaten.any():
            names.append(name)
    return names


def leaderboard(
    scores: Scores, measure: str = HEADLINE, *, size: int | None = None, model: str | None = None,
    shown: Iterable[str] = MEASURES,
) -> pd.DataFrame:  # fmt: skip
    """Return `standings` with three more columns.

    low and high are the limits of the 95 % interval of the rank, see `interval`. For
    first, see `share_first`.
    """
    of_places = _complete(
        ranks(scores.of_slice(measure, size=size, model=model), measure)
    )
    board = standings(scores, measure, size=size, model=model, shown=shown)
    limits = interval(of_places)
    board.insert(1, "low", limits["low"])
    board.insert(2, "high", limits["high"])
    board.insert(3, "first", share_first(of_places))
    board.loc[board["rank"].isna(), ["low", "high", "first"]] = np.nan
    return board


def standings(
    scores: Scores, measure: str = HEADLINE, *, size: int | None = None, model: str | None = None,
    shown: Iterable[str] = MEASURES,
) -> pd.DataFrame:  # fmt: skip
    """Return one row per method, the best mean rank first.

    Parameters
    ----------
    scores : Scores
    measure, size, model
        The scores that are ranked, see `Scores.of_slice`.
    shown : iterable of str
        Measures that get a column.

    Returns
    -------
    DataFrame
        Index: the methods. rank: the mean over domains. win_rate: the mean over the
        other methods. sets, failed and missing: the numbers of data sets with all
        values, with a failure and without a trial. loss: the balanced error minus that
        of all features, in points; a failure counts as the largest error of any method.
        worst and worst_domain: the largest loss in a domain, and the name of that
        domain. The measures: seconds as the median over data sets, memory as the
        maximum, all others as means over domains. Most selections fit into memory that
        the process already has, so the mean of their memory says little. A method that
        failed on every data set is last and has no other numbers than those of data
        sets. reason, if any method failed: the reason of its first failure.
    """
    shown = [name for name in shown if name in scores.measures]
    slices = {
        name: scores.of_slice(name, size=size, model=model)
        for name in {HEADLINE, measure, *shown}
    }
    errors = slices[HEADLINE]
    mean_ranks = over_domains(_complete(ranks(slices[measure], measure))).mean()
    board = pd.DataFrame({"rank": mean_ranks}, index=slices[measure].columns)
    n = len(board)
    board["win_rate"] = (n - board["rank"]) / (n - 1 or 1)
    board["failed"] = (errors == np.inf).groupby(level="dataset").any().sum()
    board["missing"] = errors.isna().groupby(level="dataset").all().sum()
    board["sets"] = (
        errors.index.get_level_values("dataset").nunique()
        - board["failed"]
        - board["missing"]
    )
    without_failures = filled(errors)
    loss = over_domains(without_failures.sub(without_failures.get(ALL, np.nan), axis=0))
    board["loss"] = loss.mean()
    board["worst"] = loss.max()
    board["worst_domain"] = loss.fillna(-np.inf).idxmax()
    for name in shown:
        values = slices[name].where(np.isfinite(slices[name]))
        if name == HEADLINE:
            values = without_failures
        board[name] = SUMMARIES[MEASURES[name].summary](values)
    if board["failed"].any():
        has_no_value = (board["sets"] == 0) & (board["failed"] > 0)
        numbers = board.columns.difference(["sets", "failed", "missing"])
        board.loc[has_no_value, numbers] = np.nan
        board["reason"] = (
            pd.Series(scores.reasons, dtype=object).reindex(board.index).fillna("")
        )
    return board.sort_values("rank", kind="stable")


def sets_of(errors: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return the mean rank and the loss of a method on each data set of `Scores.of_slice`, the best first.

    Data sets on which it failed at every place are left out.
    """
    values = filled(errors)
    means = over_sets(
        pd.DataFrame(
            {"rank": ranks(errors)[method], "loss": values[method] - values[ALL]}
        )
    )
    has_value = (
        np.isfinite(errors[method]).groupby(level=["domain", "source", "dataset"]).any()
    )
    means = means[has_value.reindex(means.index)]
    return means.sort_values(["rank", "loss"], kind="stable").reset_index()
