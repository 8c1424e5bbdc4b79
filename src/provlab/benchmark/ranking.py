"""Scores, ranks, pairs, win rates and fronts of the panel: what its trials carry, and nothing that they do not.

Sets of one domain, such as twenty pairs of categories of the same web directory, are no twenty independent witnesses.
Each domain counts the same here, and within it each set: the mean over domains of the means over their sets. A pair of
methods is judged by Student's t over the domains, and the interval of a rank resamples domains, then sets.

docs/measured/panel_rules.csv has how often this errs on simulated panels, beside tests that take sets as independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.benchmark.frame import ALL_FEATURES, OWN_SIZE
from provlab.claims.paired_tests import CorrectedT, holm

ALL = "all features"
"""The method that the others are compared with first."""

MARGIN = 1.0
"""Points of the balanced error within which two methods are the same in practice."""

ALPHA = 0.05

RESAMPLES = 2000


class Measure(NamedTuple):
    """A measure of the panel as people read it: column of the trials or selections, factor, unit, and which way."""

    label: str
    column: str
    factor: float = 1.0
    unit: str = ""
    lower: bool = True

    @property
    def worst(self) -> float:
        """What no value is worse than."""
        return np.inf if self.lower else -np.inf


MEASURES: Mapping[str, Measure] = {
    "balanced_error": Measure("Balanced error", "balanced_accuracy", -100.0, "%"),
    "log_loss": Measure("Log loss", "neg_log_loss", -1.0),
    "error": Measure("Error", "error", 100.0, "%"),
    "stability": Measure("Stability", "stability", lower=False),
    "support_f1": Measure("F1 of the support", "support_f1", lower=False),
    "false_discovery": Measure("False discoveries", "false_discovery", 100.0, "%"),
    "subset_ratio": Measure("Column subset ratio", "subset_frobenius_ratio"),
    "seconds": Measure("CPU seconds", "select_cpu", unit="s"),
    "memory": Measure("Peak memory", "peak_bytes", 1e-6, "MB"),
}
"""By name; the first is the one that pairs are judged by."""

HEADLINE = next(iter(MEASURES))

PLACE = ["domain", "dataset", "size", "model"]


def scores(panel: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each method, data set, size and model of the panel.

    Returns
    -------
    DataFrame
        method and `PLACE`; cell; trials and failed, their numbers; reason, the first failure; n_selected; and
        `MEASURES`, means over the trials, NaN where one trial failed: means over the others would be of easier folds.
    """
    failed, texts = panel["failure"] != "", ["method", "dataset", "domain", "model"]
    found = panel.assign(
        method=panel["method"].where(panel["size"] != ALL_FEATURES, ALL), failed=failed,
        reason=panel["failure"].where(failed),
    ).astype(dict.fromkeys(texts, "category"))  # a tenth of the time  # fmt: skip
    columns = {name: (each.column, "mean") for name, each in MEASURES.items()}
    by = found.groupby(["method", *PLACE], sort=False, observed=True)
    lines = by.agg(
        cell=("cell", "first"), trials=("failed", "size"), failed=("failed", "sum"),
        n_selected=("n_selected", "mean"), n_features=("n_features", "first"), **columns, reason=("reason", "first"),
    ).reset_index().astype(dict.fromkeys(texts, object)).fillna({"reason": ""})  # fmt: skip
    for name, each in MEASURES.items():
        lines[name] = (each.factor * lines[name]).where(lines["failed"] == 0)
    lines["balanced_error"] += 100
    return lines


def of_slice(
    lines: pd.DataFrame, measure: str = HEADLINE, *, size: int | None = None, model: str | None = None
) -> pd.DataFrame:
    """Return a measure of all methods at some sizes and models.

    Parameters
    ----------
    lines : DataFrame
        See `scores`.
    measure : str
        Of `MEASURES`.
    size : int, optional
        -1 for what methods choose themselves; by default all fixed sizes.
    model : str, optional
        By default all.

    Returns
    -------
    DataFrame
        Index `PLACE`; a column a method, `ALL` at each size among them. Infinite, the worst, where a trial failed, and
        NaN where none was planned or the measure is not defined. Data sets without any value are left out.
    """
    lines = lines if model is None else lines[lines["model"] == model]
    chosen = lines[(lines["size"] > 0 if size is None else lines["size"] == size) & (lines["method"] != ALL)]
    shown = chosen[measure].mask(chosen["failed"] > 0, MEASURES[measure].worst)
    values = chosen.assign(shown=shown).set_index([*PLACE, "method"])["shown"].unstack("method")
    whole = lines[lines["method"] == ALL].set_index(["dataset", "model"])[measure]
    if whole.notna().any():
        places = pd.MultiIndex.from_frame(values.index.to_frame()[["dataset", "model"]])
        values[ALL] = whole.reindex(places).to_numpy()
    return values.loc[np.isfinite(values).any(axis=1), values.notna().any() | (values.columns == ALL)]


def over_sets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over sizes and models of each data set; index domain and dataset."""
    return frame.groupby(level=["domain", "dataset"]).mean()


def over_domains(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the data sets of each domain."""
    return over_sets(frame).groupby(level="domain").mean()


def ranks(values: pd.DataFrame, measure: str = HEADLINE) -> pd.DataFrame:
    """Return the rank of each method at each place of `of_slice`; 1 is best, without a value is last."""
    return values.fillna(MEASURES[measure].worst).rank(axis=1, ascending=MEASURES[measure].lower)


def filled(errors: pd.DataFrame) -> pd.DataFrame:
    """Return `of_slice` of an error, with the largest of any method where one failed."""
    return errors.mask(errors == np.inf, errors.where(errors < np.inf).max(axis=1), axis=0)


def interval(frame: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Return the mean over domains of each column with both ends of its 95 % interval, by resampling.

    Domains are drawn with replacement, then sets of each drawn domain; of one domain, its sets only.

    Parameters
    ----------
    frame : DataFrame
        Without NaN, index as of `over_sets`.
    seed : int

    Returns
    -------
    DataFrame
        Index: the columns; mean, low and high.
    """
    sets = over_sets(frame)
    parts = [part.to_numpy() for _, part in sets.groupby(level="domain")]
    rng, drawn = np.random.default_rng(seed), np.zeros((RESAMPLES, sets.shape[1]))
    for _ in parts:
        chosen = rng.integers(len(parts), size=RESAMPLES)
        for place, part in enumerate(parts):
            rows, n = np.flatnonzero(chosen == place), len(part)
            drawn[rows] += rng.multinomial(n, np.full(n, 1 / n), size=len(rows)) @ part / n
    low, high = np.quantile(drawn / len(parts), [0.025, 0.975], axis=0)
    return pd.DataFrame({"mean": over_domains(frame).mean(), "low": low, "high": high}, index=sets.columns)


# ---- pairs


def pairs(errors: pd.DataFrame, reference: str = ALL, *, turned: bool = False, family: int = 0) -> pd.DataFrame:
    """Compare each method with a reference, by Student's t over the means of their difference in each domain.

    The t-test of the means of groups holds its level whatever the groups' variances are, for levels up to 8.3 %.

    Parameters
    ----------
    errors : DataFrame
        See `of_slice`; data sets on which a method was not planned are left out for it.
    reference : str
        A column of these.
    turned : bool
        Say in the line of each method what the reference is beside it.
    family : int, optional
        Comparisons that `detectable` is for; by default as many as there are methods.

    Returns
    -------
    DataFrame
        Index: the other methods. difference to the reference, negative is better, from low to high, its own 95 %
        interval; p_better, p_worse and p_same, which is within `MARGIN`, one-sided and unadjusted; verdict, by Holm's
        correction of each of these over all methods at the level `ALPHA`; wins, the share of places where the error is
        smaller, ties a half; detectable, the smallest difference that the first step of Holm shows with a power of 0.9;
        domains and sets.

    References
    ----------
    Ibragimov, Mueller (2010), Journal of Business and Economic Statistics 28. Holm (1979).
    """
    whole = filled(errors)
    difference = whole.drop(columns=reference).sub(whole[reference], axis=0) * (-1 if turned else 1)
    won = ((difference < 0) + 0.5 * (difference == 0)).where(difference.notna())
    found = pd.DataFrame(
        [_of_means(means.dropna().to_numpy(), ALPHA / (family or difference.shape[1]))
         for _, means in over_domains(difference).items()],
        index=difference.columns,
    )  # fmt: skip
    found["wins"], found["sets"] = over_domains(won).mean(), over_sets(difference).notna().sum()
    return judged(found)


def against_all(lines: pd.DataFrame) -> pd.DataFrame:
    """Return `pairs` with all features at each size, both models together, as one family; index size and method."""
    kept = {size: of_slice(lines, size=size) for size in sizes_of(lines)}
    family = sum(errors.shape[1] - 1 for errors in kept.values())
    found = {size: pairs(errors, family=family) for size, errors in kept.items()}
    return judged(pd.concat(found, names=["size", "method"]))


def sizes_of(lines: pd.DataFrame) -> list[int]:
    """Return the fixed sizes of a panel, and then `OWN_SIZE` where a method chooses its number."""
    found = sorted({*lines["size"]} - {ALL_FEATURES})
    return [size for size in found if size > 0] + [OWN_SIZE] * (OWN_SIZE in found)


def judged(found: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with the verdict over all of them as one family, such as those at several sizes."""
    better, worse, same = (np.array(holm(found[name].tolist())) < ALPHA for name in ("p_better", "p_worse", "p_same"))
    told = np.select([better, worse, same], ["better", "worse", "same"], "inconclusive")
    return found.assign(verdict=told)


def pairs_of(errors: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `pairs` the other way: what one method is beside each other one, the strongest comparison first."""
    return pairs(errors, name, turned=True).sort_values("difference", kind="stable")


def _of_means(means: NDArray[np.float64], level: float) -> dict[str, float]:
    """Return the tests of the mean differences of domains; NaN with fewer than two."""
    if len(means) < 2:
        names = ("low", "high", "p_better", "p_worse", "p_same", "detectable")
        return {"difference": float(np.mean(means)) if len(means) else np.nan} | dict.fromkeys(names, np.nan)
    test = CorrectedT(means, ratio=0.0)
    low, high = test.interval(0.95)
    return {
        "difference": test.estimate, "low": low, "high": high, "p_better": test.p_value(0.0, "less"),
        "p_worse": test.p_value(0.0, "greater"),
        "p_same": max(test.p_value(MARGIN, "less"), test.p_value(-MARGIN, "greater")),
        "detectable": test.detectable(level, "less"), "domains": len(means),
    }  # fmt: skip


def win_rates(errors: pd.DataFrame) -> pd.DataFrame:
    """Return how often the method of a row beats that of a column: mean over domains, ties a half, no value loses."""
    own = errors.fillna(np.inf)
    won = {name: own.lt(each, axis=0) + 0.5 * own.eq(each, axis=0) for name, each in own.items()}
    return pd.DataFrame({name: over_domains(each).mean() for name, each in won.items()})


def front(board: pd.DataFrame, measure: str) -> list[str]:
    """Return the methods of a leaderboard that no other one beats in a measure or the loss without losing the other."""
    known = board[[measure, "loss"]].dropna() * [1 if MEASURES[measure].lower else -1, 1]
    return [
        name for name, own in known.iterrows() if not ((known <= own).all(axis=1) & (known < own).any(axis=1)).any()
    ]


# ---- the leaderboard


def leaderboard(
    lines: pd.DataFrame, measure: str = HEADLINE, *, size: int | None = None, model: str | None = None,
    shown: Iterable[str] = MEASURES,
) -> pd.DataFrame:  # fmt: skip
    """Return a line a method, the best average rank first.

    Parameters
    ----------
    lines : DataFrame
        See `scores`.
    measure, size, model
        What is ranked, see `of_slice`.
    shown : iterable of str
        Measures that have a column.

    Returns
    -------
    DataFrame
        Index: the methods. rank, its mean, from low to high, its 95 % interval, see `interval`; win_rate, the mean over
        the other methods; sets, failed and missing, data sets with all values, with a failure and without a trial;
        loss, points of balanced error more than all features, with the largest error of any method where one failed;
        and the measures: medians of seconds and memory over sets, means over domains of the others.
    """
    slices = {name: of_slice(lines, name, size=size, model=model) for name in {HEADLINE, measure, *shown}}
    errors, values = slices[HEADLINE], slices[measure]
    found = interval(ranks(values, measure)).rename(columns={"mean": "rank"}).rename_axis(None)
    whole, n = filled(errors), len(found)
    found["win_rate"] = (n - found["rank"]) / (n - 1 or 1)
    found["failed"] = (errors == np.inf).groupby(level="dataset").any().sum()
    found["missing"] = errors.isna().groupby(level="dataset").all().sum()
    found["sets"] = errors.index.get_level_values("dataset").nunique() - found["failed"] - found["missing"]
    found["loss"] = over_domains(whole.sub(whole[ALL], axis=0)).mean() if ALL in whole else np.nan
    for name in shown:
        own = whole if name == HEADLINE else slices[name].where(np.isfinite(slices[name]))
        found[name] = over_sets(own).median() if name in ("seconds", "memory") else over_domains(own).mean()
    return found.sort_values("rank", kind="stable")


def sets_of(errors: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return a line a data set of a method in `of_slice`, the best first: its mean rank there, and its loss."""
    whole = filled(errors)
    found = over_sets(pd.DataFrame({"rank": ranks(errors)[method], "loss": whole[method] - whole[ALL]}))
    return found.sort_values(["rank", "loss"], kind="stable").reset_index()
