"""Scores, ranks, pairs, win rates and fronts of the panel: what its trials carry, and nothing that they do not.

Sets of one domain, such as twenty pairs of categories of the same web directory, are no twenty independent witnesses.
Each domain counts the same here, and within it each set: the mean over domains of the means over their sets. Pairs of
methods are judged together, by the signs of the domains' mean differences, and the interval of a rank resamples
domains, then sets. Of one domain, its sets take the place of domains.

docs/measured/panel_rules.csv has how often this errs on simulated panels, beside tests that take sets as independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from provlab.verdicts.claims.paired_tests import CorrectedT
from provlab.verdicts.panel_frame import ALL_FEATURES, OWN_SIZE

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
    summary: str = "domains"  # of `SUMMARIES`

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
    "seconds": Measure("CPU seconds", "select_cpu", unit="s", summary="sets"),
    "memory": Measure("Peak memory", "peak_bytes", 1e-6, "MB", summary="largest"),
}
"""By name; the first is the one that pairs are judged by."""

HEADLINE = next(iter(MEASURES))

DECIMALS = {"%": 4, "": 6}
"""Of means, by unit, as far as the stored trials, of single precision, tell them."""

PLACE = ["domain", "dataset", "size", "model"]


class Scores:
    """What the trials of a panel come to.

    Attributes
    ----------
    lines : DataFrame
        A line for each method and place: method and `PLACE`; cell; trials and failed, their numbers; reason, the first
        failure; n_selected; and `MEASURES`, means over the trials, of memory the largest, NaN where one trial failed:
        means over the others would be of easier folds.
    tables : mapping
        Of each measure a table of places x methods, `ALL` at each size among them. Infinite, the worst, where a trial
        failed, and NaN where none was planned or the measure is not defined.
    """

    def __init__(self, lines: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> None:
        self.lines, self.tables = lines, tables

    @classmethod
    def of(cls, panel: pd.DataFrame) -> Scores:
        """Return the scores of the frame of a panel."""
        failed, texts = panel["failure"] != "", ["method", "dataset", "domain", "model"]
        found = panel.assign(
            method=panel["method"].where(panel["size"] != ALL_FEATURES, ALL), failed=failed,
            reason=panel["failure"].where(failed),
        ).astype(dict.fromkeys(texts, "category"))  # a tenth of the time  # fmt: skip
        columns = {
            name: (each.column, "max" if each.summary == "largest" else "mean") for name, each in MEASURES.items()
        }
        by = found.groupby(["method", *PLACE], sort=False, observed=True)
        lines = by.agg(
            cell=("cell", "first"), trials=("failed", "size"), failed=("failed", "sum"),
            n_selected=("n_selected", "mean"), n_features=("n_features", "first"), **columns,
            reason=("reason", "first"),
        ).reset_index().astype(dict.fromkeys(texts, object)).fillna({"reason": ""})  # fmt: skip
        for name, each in MEASURES.items():
            lines[name] = (each.factor * lines[name]).where(lines["failed"] == 0)
        lines["balanced_error"] += 100
        return cls(lines, {name: _table(lines, name) for name in MEASURES})

    def on(self, domain: str) -> Scores:
        """Return the scores on the data sets of one domain."""
        tables = {name: table[table.index.get_level_values("domain") == domain] for name, table in self.tables.items()}
        return Scores(self.lines[self.lines["domain"] == domain], tables)

    def of_slice(self, measure: str = HEADLINE, *, size: int | None = None, model: str | None = None) -> pd.DataFrame:
        """Return a measure of all methods at some sizes and models.

        Parameters
        ----------
        measure : str
            Of `MEASURES`.
        size : int, optional
            -1 for what methods choose themselves; by default all fixed sizes.
        model : str, optional
            By default all.

        Returns
        -------
        DataFrame
            As in `tables`; places and methods without any value are left out.
        """
        table = self.tables[measure]
        sizes, models = (table.index.get_level_values(name) for name in ("size", "model"))
        chosen = (sizes > 0 if size is None else sizes == size) & (model is None or models == model)
        values = table[chosen]
        values = values[np.isfinite(values).any(axis=1)]
        return values.loc[:, values.notna().any()]

    @cached_property
    def sizes(self) -> list[int]:
        """The fixed sizes, and then `OWN_SIZE` where a method chooses its number."""
        found = sorted({*self.lines["size"]} - {ALL_FEATURES})
        return [size for size in found if size > 0] + [OWN_SIZE] * (OWN_SIZE in found)

    @cached_property
    def domains(self) -> pd.Series:
        """The number of data sets of each domain, the largest first."""
        numbers = self.lines.groupby("domain")["dataset"].nunique()
        return numbers.sort_values(ascending=False, kind="stable")

    @property
    def reasons(self) -> dict[str, str]:
        """Why the first failed trial of each method failed, of those that have one."""
        failed = self.lines[self.lines["failed"] > 0]
        return failed.groupby("method", sort=False)["reason"].first().to_dict()

    def fewer(self, method: str) -> str:
        """Return in words at which sizes a method selects fewer features than it is asked for; "" at none."""
        own = self.lines[(self.lines["method"] == method) & (self.lines["size"] > 0)]
        means = own.groupby("size")["n_selected"].mean()
        below = means[means < means.index]
        return "; ".join(f"asked {size}, selected {mean:.4g} on average" for size, mean in below.items())

    @property
    def decidable(self) -> list[str]:
        """The domains with so many data sets that their signs alone can reach the level `ALPHA`, most sets first."""
        return [str(name) for name, n in self.domains.items() if 2.0**-n < ALPHA]


def _table(lines: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return a measure as a table of places x methods; see `Scores`."""
    methods = lines[lines["method"] != ALL]
    shown = methods[measure].mask(methods["failed"] > 0, MEASURES[measure].worst)
    values = methods.assign(shown=shown).set_index([*PLACE, "method"])["shown"].unstack("method")
    whole = lines[lines["method"] == ALL].set_index(["dataset", "model"])[measure]
    if whole.notna().any():
        places = pd.MultiIndex.from_frame(values.index.to_frame()[["dataset", "model"]])
        values[ALL] = whole.reindex(places).to_numpy()
    return values


def over_sets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over sizes and models of each data set; index domain and dataset."""
    return frame.groupby(level=["domain", "dataset"]).mean()


def over_domains(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the data sets of each domain."""
    return over_sets(frame).groupby(level="domain").mean()


SUMMARIES: Mapping[str, Callable[[pd.DataFrame], pd.Series]] = {
    "domains": lambda values: over_domains(values).mean(),
    "sets": lambda values: over_sets(values).median(),
    "largest": lambda values: values.max(),
}
"""What a leaderboard shows of a measure: the mean over domains, the median over sets, or the largest of all trials."""


def ranks(values: pd.DataFrame, measure: str = HEADLINE) -> pd.DataFrame:
    """Return the rank of each method at each place of `Scores.of_slice`; 1 is best, without a value is last."""
    return tying(values, measure).fillna(MEASURES[measure].worst).rank(axis=1, ascending=MEASURES[measure].lower)


def tying(values: pd.DataFrame, measure: str = HEADLINE) -> pd.DataFrame:
    """Return values, or differences of them, in which those are equal that single precision cannot tell apart."""
    unit = MEASURES[measure].unit
    return values.round(DECIMALS[unit]) if unit in DECIMALS else values


def filled(errors: pd.DataFrame) -> pd.DataFrame:
    """Return `Scores.of_slice` of an error, with the largest of any method where one failed."""
    return errors.mask(errors == np.inf, errors.where(errors < np.inf).max(axis=1), axis=0)


def without_failed(errors: pd.DataFrame) -> pd.DataFrame:
    """Return `filled`, and NaN of methods that failed at every place: these have no number."""
    whole = filled(errors)
    failed = errors.isin([np.inf]).any() & ~np.isfinite(errors).any()
    whole.loc[:, failed] = np.nan
    return whole


def interval(frame: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Return the mean over domains of each column with both ends of its 95 % interval, see `resampled`.

    Returns
    -------
    DataFrame
        Index: the columns; mean, low and high.
    """
    low, high = np.quantile(resampled(frame, seed=seed), [0.025, 0.975], axis=0)
    return pd.DataFrame({"mean": over_domains(frame).mean(), "low": low, "high": high}, index=frame.columns)


def share_first(ranks_of_places: pd.DataFrame) -> pd.Series:
    """Return the share of resamples in which the mean rank of each method is the smallest, `ALL` left out."""
    selectors = ranks_of_places.drop(columns=ALL, errors="ignore")
    if selectors.empty:
        return pd.Series(dtype=float)
    first = np.argmin(resampled(selectors), axis=1)
    counts = np.bincount(first, minlength=selectors.shape[1])
    return pd.Series(counts / RESAMPLES, index=selectors.columns)


def resampled(frame: pd.DataFrame, *, seed: int = 0) -> NDArray[np.float64]:
    """Return the mean over domains of each column in each of `RESAMPLES` resamples.

    Domains are drawn with replacement, then sets of each drawn domain; of one domain, its sets only.

    Parameters
    ----------
    frame : DataFrame
        Without NaN, index as of `over_sets`.
    seed : int

    Returns
    -------
    ndarray of shape (RESAMPLES, n_columns)
    """
    sets = over_sets(frame)
    parts = [part.to_numpy() for _, part in sets.groupby(level="domain")]
    rng, drawn = np.random.default_rng(seed), np.zeros((RESAMPLES, sets.shape[1]))
    for _ in parts:
        chosen = rng.integers(len(parts), size=RESAMPLES)
        for place, part in enumerate(parts):
            rows, n = np.flatnonzero(chosen == place), len(part)
            drawn[rows] += rng.multinomial(n, np.full(n, 1 / n), size=len(rows)) @ part / n
    return drawn / len(parts)


# ---- pairs


def pairs(errors: pd.DataFrame, reference: str = ALL) -> pd.DataFrame:
    """Compare each method with a reference, all together, by their mean differences in each domain.

    Parameters
    ----------
    errors : DataFrame
        See `Scores.of_slice`; data sets on which a method was not planned are left out for it. Of a single domain, its
        data sets are compared in the place of domains.
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


def against_all(scores: Scores, *, by_set: bool = False) -> pd.DataFrame:
    """Return `pairs` with all features at each size, both models together, as one family; index size and method.

    With `by_set` each data set counts the same, as if those of a domain were independent.
    """
    parts = {size: _differences(scores.of_slice(size=size), ALL, by_set=by_set) for size in scores.sizes}
    together = [pd.concat([part[k] for part in parts.values()], axis=axis, keys=parts, names=["size", "method"])
                for k, axis in enumerate((1, 0))]  # fmt: skip
    return _judged(*together)


EVERYWHERE, EVERY_SET = "all domains", "all data sets"


def compared_with_all(scores: Scores) -> dict[str, pd.DataFrame]:
    """Return `against_all` of all domains, then by data sets, and of each domain that can be judged by itself."""
    found = {EVERYWHERE: against_all(scores)}
    if len(scores.domains) > 1:
        found[EVERY_SET] = against_all(scores, by_set=True)
    for name in scores.decidable:
        found[name] = against_all(scores.on(name))
    return found


def pairs_of(errors: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return `pairs` the other way: what one method is beside each other one, the strongest comparison first."""
    return _judged(*_differences(errors, name, turned=True)).sort_values("difference", kind="stable")


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
    signs, n = _signs(len(values)), np.isfinite(values).sum(axis=0)
    known, df = np.nan_to_num(values), np.maximum(n - 1, 1)
    means = signs @ known / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.maximum((known**2).sum(axis=0) - n * means**2, 0) / df / n)
        p = np.where(n > 1, np.nan_to_num(stdtr(df, means / error), nan=1.0), 1.0)
    order = np.argsort(p[0], kind="stable")
    smallest = np.minimum.accumulate(p[:, order[::-1]], axis=1)[:, ::-1]
    shares = (smallest <= p[0, order] * (1 + 1e-9)).mean(axis=0)  # rounding must not tell equal statistics apart
    found = np.empty(len(order))
    found[order] = np.maximum.accumulate(shares)
    return found, float(np.append(0.0, np.sort(smallest[:, 0]))[int(ALPHA * len(signs))])


def _signs(n: int) -> NDArray[np.float64]:
    """Return all signs of n rows, or as many as `RESAMPLES`; the first are those of the data."""
    if 2**n <= RESAMPLES:
        return np.where((np.arange(2**n)[:, None] >> np.arange(n)) & 1, -1.0, 1.0)
    drawn = np.where(np.random.default_rng(0).integers(2, size=(RESAMPLES, n)), -1.0, 1.0)
    drawn[0] = 1
    return drawn


def _differences(
    errors: pd.DataFrame, reference: str, *, turned: bool = False, by_set: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the mean differences of domains, or of sets, to a reference, a column a method, and its wins and sets."""
    whole = without_failed(errors)
    difference = whole.drop(columns=reference).sub(whole[reference], axis=0) * (-1 if turned else 1)
    own = tying(difference)
    won = ((own < 0) + 0.5 * (own == 0)).where(own.notna())
    by_set = by_set or difference.index.get_level_values("domain").nunique() == 1
    average = over_sets if by_set else over_domains
    numbers = {"wins": average(won).mean(), "sets": over_sets(difference).notna().sum()}
    return average(difference), pd.DataFrame(numbers)


def _judged(means: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of `pairs`, of all columns as one family."""
    values = means.to_numpy()
    p_better, level = adjusted(values)
    within, _ = adjusted(np.hstack([values - MARGIN, -values - MARGIN]))
    found = pd.DataFrame([_by_t(column[np.isfinite(column)], level) for column in values.T], index=means.columns)
    found = found.assign(p_better=p_better, p_worse=adjusted(-values)[0], p_same=np.max(np.split(within, 2), axis=0))
    below = [found[name] < ALPHA for name in ("p_better", "p_worse", "p_same")]
    found["verdict"] = np.select(below, ["better", "worse", "same"], "inconclusive")
    found.loc[found["difference"].isna(), "verdict"] = "failed"
    return found.join(numbers)


def _by_t(means: NDArray[np.float64], level: float) -> dict[str, float]:
    """Return mean, interval and what a test at a level shows; NaN of fewer than two."""
    if len(means) < 2:
        unknown = dict.fromkeys(("low", "high", "detectable"), np.nan)
        return {"difference": float(np.mean(means)) if len(means) else np.nan, **unknown, "domains": len(means)}
    test = CorrectedT(means, ratio=0.0)
    low, high = test.interval(0.95)
    return {"difference": test.estimate, "low": low, "high": high, "detectable": test.detectable(level, "less"),
            "domains": len(means)}  # fmt: skip


def win_rates(errors: pd.DataFrame) -> pd.DataFrame:
    """Return how often the method of a row beats that of a column: mean over domains, ties a half, no value loses."""
    own = tying(errors).fillna(np.inf)
    won = {name: own.lt(each, axis=0) + 0.5 * own.eq(each, axis=0) for name, each in own.items()}
    return pd.DataFrame({name: over_domains(each).mean() for name, each in won.items()})


def everywhere(board: pd.DataFrame) -> pd.DataFrame:
    """Return the selectors of a leaderboard that were run on all data sets, whose means can be compared."""
    return board[(board["missing"] == 0) & (board.index != ALL)]


def front(board: pd.DataFrame, measure: str) -> list[str]:
    """Return the methods of a leaderboard that no other one beats in a measure or the loss without losing the other."""
    known = board[[measure, "loss"]].dropna() * [1 if MEASURES[measure].lower else -1, 1]
    return [
        name for name, own in known.iterrows() if not ((known <= own).all(axis=1) & (known < own).any(axis=1)).any()
    ]


# ---- the leaderboard


def leaderboard(
    scores: Scores, measure: str = HEADLINE, *, size: int | None = None, model: str | None = None,
    shown: Iterable[str] = MEASURES,
) -> pd.DataFrame:  # fmt: skip
    """Return a line a method, the best average rank first.

    Parameters
    ----------
    scores : Scores
    measure, size, model
        What is ranked, see `Scores.of_slice`.
    shown : iterable of str
        Measures that have a column.

    Returns
    -------
    DataFrame
        Index: the methods. rank, its mean, from low to high, its 95 % interval, see `interval`; first, see
        `share_first`; win_rate, the mean over the other methods; sets, failed and missing, data sets with all values,
        with a failure and without a trial;
        loss, points of balanced error more than all features, with the largest error of any method where one failed;
        worst, the loss in the domain where it is largest, and worst_domain, its name; and the measures: the median of
        seconds over sets, the largest memory, as most selections fit into what the process had and show none, and means
        over domains of the others. A method that failed on each data set has no numbers but those of data sets, and is
        last. reason, where any method failed: why its first failed trial did.
    """
    slices = {name: scores.of_slice(name, size=size, model=model) for name in {HEADLINE, measure, *shown}}
    errors, values = slices[HEADLINE], slices[measure]
    of_places = ranks(values, measure)
    found = interval(of_places).rename(columns={"mean": "rank"})
    found["first"] = share_first(of_places)
    whole, n = filled(errors), len(found)
    found["win_rate"] = (n - found["rank"]) / (n - 1 or 1)
    found["failed"] = (errors == np.inf).groupby(level="dataset").any().sum()
    found["missing"] = errors.isna().groupby(level="dataset").all().sum()
    found["sets"] = errors.index.get_level_values("dataset").nunique() - found["failed"] - found["missing"]
    loss = over_domains(whole.sub(whole.get(ALL, np.nan), axis=0))
    found["loss"], found["worst"], found["worst_domain"] = loss.mean(), loss.max(), loss.fillna(-np.inf).idxmax()
    for name in shown:
        own = whole if name == HEADLINE else slices[name].where(np.isfinite(slices[name]))
        found[name] = SUMMARIES[MEASURES[name].summary](own)
    if found["failed"].any():
        nowhere = (found["sets"] == 0) & (found["failed"] > 0)
        numbers = found.columns.difference(["sets", "failed", "missing"])
        found.loc[nowhere, numbers] = np.nan
        found["reason"] = pd.Series(scores.reasons, dtype=object).reindex(found.index).fillna("")
    return found.sort_values("rank", kind="stable")


def sets_of(errors: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return a line a data set of a method in `Scores.of_slice`, the best first: its mean rank there, and its loss.

    Those where it failed at every place are left out.
    """
    whole = filled(errors)
    found = over_sets(pd.DataFrame({"rank": ranks(errors)[method], "loss": whole[method] - whole[ALL]}))
    found = found[np.isfinite(errors[method]).groupby(level=["domain", "dataset"]).any().reindex(found.index)]
    return found.sort_values(["rank", "loss"], kind="stable").reset_index()
