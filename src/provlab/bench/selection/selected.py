"""Result of `select`: features, error and tables, with tests of the differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.pipeline import Pipeline

from provlab.bench.answer import Estimate, Words, limits
from provlab.bench.selection.folds import Choice, Outcome, Problem
from provlab.bench.selection.plain_code import code_of
from provlab.verdicts.claims.paired_tests import CorrectedT
from provlab.verdicts.fold_differences import FoldDifferences
from provsel.stability import stability

Floats = NDArray[np.float64]

ALL, GUESS = "all columns", "guessing"
"""Last rows of the table of methods."""


class Selected:
    """Result of `select`. It prints the answer first; a notebook also shows the figure.

    Attributes
    ----------
    features : list of str
        Features selected on all rows, best first.
    method : str
        Method that selected them.
    error : Estimate
        Error of the whole procedure on unseen rows: in percent, as RMSE for numbers, or
        by the given scorer.
    pipeline : Pipeline
        Selection, preparation and model, fitted on all rows. To predict, a table needs
        only the selected columns.
    table : DataFrame
        One row per method, with the number of features chosen inside each fold,
        followed by all columns and guessing. Differences are from the best row and from
        all columns; p-values are adjusted over the methods by Holm.
    curve : DataFrame
        One row per number of features of `method` on the outer folds; the last row is
        for all columns.
    frequency : DataFrame
        One row per feature: the number of outer folds that selected it, and whether it
        is in the final set.
    folds : DataFrame
        One row per outer fold: the chosen method and features, and the measures of the
        procedure, of all columns and of guessing.
    notes : list of str
        Notes on what was left out or merged, and why.
    code : str
        Script that repeats the selection with scikit-learn and provsel.
    procedure, of_all, guess : ndarray of shape (n_folds,)
        Measures of the whole procedure, of all columns, and of guessing on the outer
        folds.
    """

    def __init__(
        self,
        problem: Problem,
        outcomes: Sequence[Outcome],
        pipeline: Pipeline,
        copies: Mapping[str, list[str]],
        notes: Sequence[str],
    ) -> None:
        *self.outer, self.final = outcomes
        self.problem = problem
        self.measure = problem.measure
        self.pipeline = pipeline
        self.copies = dict(copies)
        self.method = problem.methods[self.final.choice.method].name
        self.features: list[str] = list(pipeline["columns"].features_)
        # as all outer folds are
        self.tested = [fold.tested for fold in self.outer if fold.tested is not None]
        folds = zip(self.tested, self.outer, strict=True)
        self.procedure = np.array(
            [tested.values[fold.choice] for tested, fold in folds]
        )
        self.of_all = np.array([tested.of_all for tested in self.tested])
        self.guess = np.array([tested.guess for tested in self.tested])
        self.ratio = float(np.mean([fold.n_test / fold.n_train for fold in self.outer]))
        self.error = self.estimate(self.procedure)
        failures: dict[str, str] = {}
        for fold in outcomes:
            failures |= fold.reasons
        self.notes = [
            *notes,
            *(f"{name} failed: {reason}" for name, reason in failures.items()),
        ]
        self.source: list[str] = []

    def estimate(self, values: Floats) -> Estimate:
        """Return a mean over the outer folds with its interval.

        The interval of a classification error is at least as wide as that of
        independent rows, because ten folds without errors do not prove an error of
        zero.
        """
        mean = float(values.mean())
        low, high = CorrectedT(values, ratio=self.ratio).interval(0.95)
        if self.measure.is_percent:
            if np.ptp(values) == 0:  # the t interval is meaningless for equal values
                low, high = mean, mean
            n_tested = sum(fold.n_test for fold in self.outer)
            # of one repeat
            n_rows = n_tested // max(1, round(n_tested / self.problem.dataset.n_rows))
            n_wrong = mean / 100 * n_rows
            n_right = n_rows - n_wrong
            if n_wrong > 0:
                low = min(low, 100 * float(beta.ppf(0.025, n_wrong, n_right + 1)))
            if n_right > 0:
                high = max(high, 100 * float(beta.ppf(0.975, n_wrong + 1, n_right)))
        least, largest = limits(self.measure.name)
        return Estimate(mean, max(low, least), min(high, largest))

    # ---- tables

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per method, followed by all columns and guessing."""
        measured = [self.measure.name, "low", "high"]
        lines: dict[str, dict[str, Any]] = {}
        for place, method in enumerate(self.problem.methods):
            selections = self._selections(
                [fold.of_methods[place] for fold in self.outer]
            )
            line: dict[str, Any] = {"family": method.family}
            line["features"] = float(
                np.median([selection.size for selection in selections])
            )
            if method.name in self.methods.values:
                estimate = self.estimate(self.methods.values[method.name].to_numpy())
                line |= dict(zip(measured, estimate, strict=True))
            line["stability"] = self._stability(selections)
            line["seconds"] = float(
                np.mean([tested.seconds[place] for tested in self.tested])
            )
            lines[method.name] = line
        for label, of_folds, n_columns in (
            (ALL, self.of_all, self.problem.n_columns),
            (GUESS, self.guess, 0),
        ):
            lines[label] = {"family": "", "features": float(n_columns)}
            lines[label] |= dict(zip(measured, self.estimate(of_folds), strict=True))
        table = pd.DataFrame.from_dict(lines, orient="index")
        for name, differences in (
            ("difference", self.methods.to_best()),
            ("to_all", self.methods.to(self.of_all)),
        ):
            columns = {
                "difference": name,
                "low": f"{name}_low",
                "high": f"{name}_high",
                "p": f"{name}_p",
            }
            table = table.join(differences.rename(columns=columns))
        return table

    @cached_property
    def methods(self) -> FoldDifferences:
        """Values of the methods that worked on all outer folds, each with its own number of columns."""
        columns = {}
        for place, method in enumerate(self.problem.methods):
            choices = [fold.of_methods[place] for fold in self.outer]
            values = zip(self.tested, choices, strict=True)
            columns[method.name] = [
                np.nan if choice is None else tested.values[choice]
                for tested, choice in values
            ]
        return FoldDifferences(
            pd.DataFrame(columns).dropna(axis="columns"), self.ratio, self.measure.sign
        )

    @property
    def best(self) -> str:
        """Method with the best mean over the outer folds."""
        return self.methods.best

    def _selections(self, choices: Sequence[Choice | None]) -> list[NDArray[np.int64]]:
        """Return the columns that a choice for each outer fold selects there; none if the method failed."""
        selections = []
        for tested, choice in zip(self.tested, choices, strict=True):
            if choice is not None and choice.size == len(self.problem.sizes):
                selections.append(np.arange(self.problem.n_columns))
            elif choice is None or not tested.columns[choice.method]:
                selections.append(np.empty(0, dtype=np.int64))
            else:
                selections.append(tested.columns[choice.method][choice.size])
        return selections

    def _stability(self, selections: Sequence[NDArray[np.int64]]) -> float:
        try:
            return stability(
                selections, self.problem.n_columns, overlap=min(self.ratio, 0.99)
            ).index
        except ValueError:  # all or no features are selected in each fold
            return math.nan

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Measure of `method` at each size; the last size is all columns."""
        n_columns = self.problem.n_columns
        lines = []
        for place, size in enumerate(self.problem.sizes):
            of_size = np.array(
                [
                    tested.values[self.final.choice.method, place]
                    for tested in self.tested
                ]
            )
            if not np.isnan(of_size).any():
                lines.append((size, *self.estimate(of_size)))
        if n_columns not in self.problem.sizes:
            lines.append((n_columns, *self.estimate(self.of_all)))
        return pd.DataFrame(
            lines, columns=["features", self.measure.name, "low", "high"]
        ).set_index("features")

    @cached_property
    def frequency(self) -> pd.DataFrame:
        """Number of outer folds in which the procedure selected each feature, most frequent first."""
        counts = np.zeros(self.problem.n_columns, dtype=np.int64)
        for selection in self._selections([fold.choice for fold in self.outer]):
            counts[selection] += 1
        names = self.problem.dataset.feature_names
        frame = pd.DataFrame(
            {"folds": counts, "selected": np.isin(names, self.features)}, index=names
        )
        frame = frame[(frame["folds"] > 0) | frame["selected"]]
        return frame.sort_values(["selected", "folds"], ascending=False, kind="stable")

    @cached_property
    def folds(self) -> pd.DataFrame:
        """Choices of the procedure in each outer fold, and the measure on its test rows."""
        names = self.problem.dataset.feature_names
        selections = self._selections([fold.choice for fold in self.outer])
        return pd.DataFrame({
            "method": [self.problem.methods[fold.choice.method].name for fold in self.outer],
            "features": [selection.size for selection in selections],
            "names": [names[selection].tolist() for selection in selections],
            self.measure.name: self.procedure,
            ALL: self.of_all,
            GUESS: self.guess,
        })  # fmt: skip

    # ---- text, figure and code

    @cached_property
    def words(self) -> Words:
        """Format of numbers in sentences and tables."""
        decimals = 3
        if self.measure.is_percent:
            decimals = 1
        elif not self.measure.scoring:
            # RMSE is in units of the target: three digits of the error of guessing
            guess = float(self.guess.mean())
            decimals = max(0, 2 - math.floor(math.log10(guess))) if guess > 0 else 3
        return Words(
            self.measure.name, self.measure.is_percent, decimals, self.measure.sign
        )

    @property
    def answer(self) -> list[str]:
        """Sentences on the features to keep, their error, and what these data cannot decide."""
        from provlab.bench.selection.answer import answer

        return answer(self)

    @property
    def code(self) -> str:
        """Script that repeats the selection with scikit-learn and provsel, for a table X and its target y."""
        return code_of(self)

    def __str__(self) -> str:
        """Return the answer, the tables and the notes as text."""
        from provlab.bench.selection.answer import printed

        return printed(self)

    __repr__ = __str__

    def draw(self) -> Any:
        """Return a Matplotlib figure of the measure against the number of features, with all columns and guessing."""
        from provlab.report.figures.sizes import size_figure

        estimates = {ALL: self.table.loc[ALL], GUESS: self.table.loc[GUESS]}
        return size_figure(self.curve, self.measure.label, self.method, estimates)

    def _repr_html_(self) -> str:
        """Return the answer, the figure and the table as HTML for a notebook."""
        from provlab.bench.selection.answer import method_texts
        from provlab.report.notebook import notebook_html

        return notebook_html(self.answer, self.draw, method_texts(self), self.notes)
