"""Scores of the panel: means of each measure over trials, data sets, sources and domains.

Twenty pairs of categories from one web directory are not twenty independent
observations. Therefore all domains have the same weight, as have the sources within a
domain, and the data sets within a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from provlab.verdicts.claims.rules import ALPHA
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE

ALL = "all features"
"""The baseline: the model on all features."""


class Measure(NamedTuple):
    """How a measure of the panel is displayed: its label, column, factor and unit, and whether lower is better.

    `summary` says what a leaderboard shows: the mean over "domains", the median over
    "sets", or the "largest" value.
    """

    label: str
    column: str
    factor: float = 1.0
    unit: str = ""
    lower: bool = True
    summary: str = "domains"

    @property
    def worst(self) -> float:
        """The worst possible value."""
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
"""Measures by name; pairs of methods are compared by the first."""

HEADLINE = next(iter(MEASURES))

ERROR_OF = {"classification": "balanced error", "regression": "unexplained variance"}
"""Name of the first measure for each task; for a numeric target it is 100 (1 - R^2), at most 100."""

DECIMALS = {"%": 4, "": 6}
"""Decimals of means, by unit: the precision of the stored trials, which are in single precision."""

PLACE = ["domain", "source", "dataset", "size", "model"]

TEXTS = ["method", "dataset", "domain", "source", "model"]


@dataclass(eq=False)
class Scores:
    """Means over the trials of a panel. A place is a combination of data set, size and judge.

    Attributes
    ----------
    lines : DataFrame
        One row for each method and place: method and `PLACE`; cell; the numbers of
        trials and of failed ones; reason, the first failure; n_selected; and
        `MEASURES`. These are means over the trials, and the maximum for memory. They
        are NaN if a trial failed, because means over the other trials would favour
        easier folds.
    tables : mapping
        A table of places x methods for each measure, with `ALL` repeated at each size.
        The value is infinite, in the worse direction, if a trial failed. It is NaN if
        none was planned or the measure is undefined.
    """

    lines: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    task: str

    @classmethod
    def of(cls, panel: pd.DataFrame, task: str = "classification") -> Scores:
        """Return the scores on all data sets of a task, from the data frame of a panel."""
        panel = panel[panel["task"] == task]
        is_failed = panel["failure"] != ""
        method = panel["method"].where(panel["size"] != ALL_FEATURES, ALL)
        trials = panel.assign(
            method=method, failed=is_failed, reason=panel["failure"].where(is_failed)
        )
        trials = trials.astype(dict.fromkeys(TEXTS, "category"))  # a tenth of the time
        means = {}
        for name, measure in MEASURES.items():
            means[name] = (
                measure.column,
                "max" if measure.summary == "largest" else "mean",
            )
        lines = trials.groupby(["method", *PLACE], sort=False, observed=True).agg(
            cell=("cell", "first"), trials=("failed", "size"), failed=("failed", "sum"),
            n_selected=("n_selected", "mean"), n_features=("n_features", "first"), r2=("r2", "mean"),
            mae=("mae", "mean"), **means,
            reason=("reason", "first"),
        )  # fmt: skip
        lines = (
            lines.reset_index()
            .astype(dict.fromkeys(TEXTS, object))
            .fillna({"reason": ""})
        )
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

    def of_slice(
        self,
        measure: str = HEADLINE,
        *,
        size: int | None = None,
        model: str | None = None,
    ) -> pd.DataFrame:
        """Return a measure for all methods at the given sizes and models.

        Parameters
        ----------
        measure : str
            A key of `MEASURES`.
        size : int, optional
            A number of features, `OWN_SIZE` or `CHOSEN_SIZE`; by default all fixed
            sizes.
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
        """The fixed sizes, followed by `CHOSEN_SIZE` and `OWN_SIZE` if they occur."""
        sizes = {*self.lines["size"]}
        return sorted(size for size in sizes if size > 0) + [
            size for size in (CHOSEN_SIZE, OWN_SIZE) if size in sizes
        ]

    @cached_property
    def measures(self) -> list[str]:
        """The `MEASURES` that are defined on some data set of the task."""
        return [
            name
            for name, table in self.tables.items()
            if np.isfinite(table.to_numpy(dtype=float)).any()
        ]

    @cached_property
    def domains(self) -> pd.Series:
        """The number of data sets of each domain, the largest first."""
        numbers = self.lines.groupby("domain")["dataset"].nunique()
        return numbers.sort_values(ascending=False, kind="stable")

    @property
    def reasons(self) -> dict[str, str]:
        """The reason of the first failure of each method that failed."""
        failed = self.lines[self.lines["failed"] > 0]
        return failed.groupby("method", sort=False)["reason"].first().to_dict()

    def fewer(self, method: str) -> str:
        """Return the sizes at which a method selects fewer features than requested, in words; "" if there are none."""
        lines = self.lines[(self.lines["method"] == method) & (self.lines["size"] > 0)]
        means = lines.groupby("size")["n_selected"].mean()
        below = means[means < means.index]
        return "; ".join(
            f"requested {size}, selected {mean:.4g} on average"
            for size, mean in below.items()
        )

    @property
    def decidable(self) -> list[str]:
        """The domains with enough sources for a sign test to reach the level `ALPHA`, most data sets first."""
        n_sources = self.lines.groupby("domain")["source"].nunique()
        return [
            str(name) for name in self.domains.index if 2.0 ** -n_sources[name] < ALPHA
        ]


def _table(lines: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return a table of places x methods for a measure; see `Scores`."""
    methods = lines[lines["method"] != ALL]
    values = methods[measure].mask(methods["failed"] > 0, MEASURES[measure].worst)
    table = (
        methods.assign(value=values)
        .set_index([*PLACE, "method"])["value"]
        .unstack("method")
    )
    all_features = lines[lines["method"] == ALL].set_index(["dataset", "model"])[
        measure
    ]
    if all_features.notna().any():
        places = pd.MultiIndex.from_frame(table.index.to_frame()[["dataset", "model"]])
        table[ALL] = all_features.reindex(places).to_numpy()
    return table


def over_sets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means of each data set over sizes and models; index domain, source and dataset."""
    return frame.groupby(level=["domain", "source", "dataset"]).mean()


def over_sources(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means of each source over its data sets; index domain and source."""
    return over_sets(frame).groupby(level=["domain", "source"]).mean()


def over_domains(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means of each domain over its sources."""
    return over_sources(frame).groupby(level="domain").mean()


def rounded(values: pd.DataFrame, measure: str = HEADLINE) -> pd.DataFrame:
    """Round values, or differences between them, so that values that differ only by single precision become equal."""
    unit = MEASURES[measure].unit
    return values.round(DECIMALS[unit]) if unit in DECIMALS else values


def filled(errors: pd.DataFrame) -> pd.DataFrame:
    """Replace each failure in `Scores.of_slice` of an error by the largest error of any method."""
    return errors.mask(
        errors == np.inf, errors.where(errors < np.inf).max(axis=1), axis=0
    )
