"""Scores of the panel: means of each measure over the trials of a method on a data set, and over sources and domains.

Twenty pairs of categories of the same web directory are no twenty independent witnesses. Each domain counts the same,
within it each source, and within that each data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from provlab.verdicts.claims.rules import ALPHA
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE

ALL = "all features"
"""The method that the others are compared with first."""


class Measure(NamedTuple):
    """A measure of the panel as people read it: column of the trials or selections, factor, unit, and which way.

    `summary` is what a leaderboard shows: the mean over "domains", the median over "sets", or the "largest".
    """

    label: str
    column: str
    factor: float = 1.0
    unit: str = ""
    lower: bool = True
    summary: str = "domains"

    @property
    def worst(self) -> float:
        """What no value is worse than."""
        return np.inf if self.lower else -np.inf


MEASURES: Mapping[str, Measure] = {
    "balanced_error": Measure("Balanced error", "balanced_accuracy", -100.0, "%"),
    "log_loss": Measure("Log loss", "neg_log_loss", -1.0),
    "auc": Measure("Area under the curve", "roc_auc", lower=False),
    "error": Measure("Error", "error", 100.0, "%"),
    "stability": Measure("Stability", "stability", lower=False),
    "support_f1": Measure("F1 of the support", "support_f1", lower=False),
    "support_recall": Measure("Recall of the support", "support_recall", lower=False),
    "false_discovery": Measure("False discoveries", "false_discovery", 100.0, "%"),
    "subset_ratio": Measure("Column subset ratio", "subset_frobenius_ratio"),
    "seconds": Measure("CPU seconds", "select_cpu", unit="s", summary="sets"),
    "memory": Measure("Peak memory", "peak_bytes", 1e-6, "MB", summary="largest"),
}
"""By name; the first is the one that pairs are judged by."""

HEADLINE = next(iter(MEASURES))

ERROR_OF = {"classification": "balanced error", "regression": "unexplained variance"}
"""What the first measure is for each task: for a target of numbers 100 (1 - R^2), where more than 100 counts as 100."""

DECIMALS = {"%": 4, "": 6}
"""Of means, by unit, as far as the stored trials, of single precision, tell them."""

PLACE = ["domain", "source", "dataset", "size", "model"]

TEXTS = ["method", "dataset", "domain", "source", "model"]


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
        failed, and NaN if none was planned or the measure is not defined.
    """

    def __init__(self, lines: pd.DataFrame, tables: Mapping[str, pd.DataFrame], task: str) -> None:
        self.lines = lines
        self.tables = tables
        self.task = task

    @classmethod
    def of(cls, panel: pd.DataFrame, task: str = "classification") -> Scores:
        """Return the scores of the data sets of a task in the frame of a panel."""
        panel = panel[panel["task"] == task]
        is_failed = panel["failure"] != ""
        method = panel["method"].where(panel["size"] != ALL_FEATURES, ALL)
        trials = panel.assign(method=method, failed=is_failed, reason=panel["failure"].where(is_failed))
        trials = trials.astype(dict.fromkeys(TEXTS, "category"))  # a tenth of the time
        means = {}
        for name, measure in MEASURES.items():
            means[name] = (measure.column, "max" if measure.summary == "largest" else "mean")
        lines = trials.groupby(["method", *PLACE], sort=False, observed=True).agg(
            cell=("cell", "first"), trials=("failed", "size"), failed=("failed", "sum"),
            n_selected=("n_selected", "mean"), n_features=("n_features", "first"), r2=("r2", "mean"),
            mae=("mae", "mean"), **means,
            reason=("reason", "first"),
        )  # fmt: skip
        lines = lines.reset_index().astype(dict.fromkeys(TEXTS, object)).fillna({"reason": ""})
        for name, measure in MEASURES.items():
            lines[name] = (measure.factor * lines[name]).where(lines["failed"] == 0)
        lines["balanced_error"] += 100
        return cls(lines, {name: _table(lines, name) for name in MEASURES}, task)

    def on(self, domain: str) -> Scores:
        """Return the scores on the data sets of one domain."""
        tables = {}
        for name, table in self.tables.items():
            tables[name] = table[table.index.get_level_values("domain") == domain]
        return Scores(self.lines[self.lines["domain"] == domain], tables, self.task)

    def of_slice(self, measure: str = HEADLINE, *, size: int | None = None, model: str | None = None) -> pd.DataFrame:
        """Return a measure of all methods at some sizes and models.

        Parameters
        ----------
        measure : str
            Of `MEASURES`.
        size : int, optional
            Also `OWN_SIZE` or `CHOSEN_SIZE`; by default all fixed sizes.
        model : str, optional
            By default all.

        Returns
        -------
        DataFrame
            As in `tables`; places and methods without any value are left out.
        """
        values = self.tables[measure]
        sizes = values.index.get_level_values("size")
        is_chosen = sizes > 0 if size is None else sizes == size
        if model is not None:
            is_chosen &= values.index.get_level_values("model") == model
        values = values[is_chosen]
        values = values[np.isfinite(values).any(axis=1)]
        return values.loc[:, values.notna().any()]

    @cached_property
    def sizes(self) -> list[int]:
        """The fixed sizes, and then `CHOSEN_SIZE` and `OWN_SIZE` where there are such."""
        sizes = {*self.lines["size"]}
        return sorted(size for size in sizes if size > 0) + [size for size in (CHOSEN_SIZE, OWN_SIZE) if size in sizes]

    @cached_property
    def measures(self) -> list[str]:
        """Those of `MEASURES` that some data set of the task has."""
        return [name for name, table in self.tables.items() if np.isfinite(table.to_numpy(dtype=float)).any()]

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
        """Return in words at which sizes a method selects fewer features than requested; "" if at none."""
        lines = self.lines[(self.lines["method"] == method) & (self.lines["size"] > 0)]
        means = lines.groupby("size")["n_selected"].mean()
        below = means[means < means.index]
        return "; ".join(f"asked {size}, selected {mean:.4g} on average" for size, mean in below.items())

    @property
    def decidable(self) -> list[str]:
        """The domains with so many sources that their signs alone can reach the level `ALPHA`, most sets first."""
        n_sources = self.lines.groupby("domain")["source"].nunique()
        return [str(name) for name in self.domains.index if 2.0 ** -n_sources[name] < ALPHA]


def _table(lines: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return a measure as a table of places x methods; see `Scores`."""
    methods = lines[lines["method"] != ALL]
    values = methods[measure].mask(methods["failed"] > 0, MEASURES[measure].worst)
    table = methods.assign(value=values).set_index([*PLACE, "method"])["value"].unstack("method")
    all_features = lines[lines["method"] == ALL].set_index(["dataset", "model"])[measure]
    if all_features.notna().any():
        places = pd.MultiIndex.from_frame(table.index.to_frame()[["dataset", "model"]])
        table[ALL] = all_features.reindex(places).to_numpy()
    return table


def over_sets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over sizes and models of each data set; index domain, source and dataset."""
    return frame.groupby(level=["domain", "source", "dataset"]).mean()


def over_sources(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the data sets of each source; index domain and source."""
    return over_sets(frame).groupby(level=["domain", "source"]).mean()


def over_domains(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the sources of each domain."""
    return over_sources(frame).groupby(level="domain").mean()


def rounded(values: pd.DataFrame, measure: str = HEADLINE) -> pd.DataFrame:
    """Return values, or differences of them, in which those are equal that single precision cannot tell apart."""
    unit = MEASURES[measure].unit
    return values.round(DECIMALS[unit]) if unit in DECIMALS else values


def filled(errors: pd.DataFrame) -> pd.DataFrame:
    """Return `Scores.of_slice` of an error, with the largest of any method where one failed."""
    return errors.mask(errors == np.inf, errors.where(errors < np.inf).max(axis=1), axis=0)
