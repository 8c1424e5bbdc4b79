"""Result of `select`: features, error and tables, with tests of the differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.pipeline import Pipeline

from provlab.bench.answer import Estimate, limits
from provlab.bench.selection.folds import Measure, Measured, Outcome, Problem
from provlab.bench.selection.plain_code import code_of
from provlab.verdicts.claims.paired_tests import CorrectedT
from provlab.verdicts.fold_differences import FoldDifferences
from provsel.stability import stability

Floats = NDArray[np.float64]

ALL, GUESS = "all columns", "guessing"
"""Last rows of the table of methods."""


class FoldValues(NamedTuple):
    """Measure on each outer fold, and the parameters for intervals of its means.

    Attributes
    ----------
    procedure, of_all, guess : ndarray of shape (n_folds,)
        Measures of the whole procedure, of all columns, and of guessing.
    methods : ndarray of shape (n_folds, n_methods)
        Measures of each method at the size chosen on inner folds; NaN for a method that failed in a fold.
    sizes : ndarray of shape (n_folds, n_sizes)
        Measures of the method chosen on all rows.
    ratio : float
        Number of test rows per training row.
    n_rows : int
        Number of rows that are tested in a repeat.
    """

    procedure: Floats
    of_all: Floats
    guess: Floats
    methods: Floats
    sizes: Floats
    ratio: float
    n_rows: int

    def estimate(self, values: Floats, measure: Measure) -> Estimate:
        """Return a mean over folds with its interval.

        The interval of a classification error is at least as wide as that of independent rows,
        because ten folds without errors do not prove an error of zero.
        """
        mean = float(values.mean())
        low, high = CorrectedT(values, ratio=self.ratio).interval(0.95)
        if measure.is_percent:
            if np.ptp(values) == 0:  # the t interval is meaningless for equal values
                low, high = mean, mean
            n_wrong = mean / 100 * self.n_rows
            n_right = self.n_rows - n_wrong
            if n_wrong > 0:
                low = min(low, 100 * float(beta.ppf(0.025, n_wrong, n_right + 1)))
            if n_right > 0:
                high = max(high, 100 * float(beta.ppf(0.975, n_wrong + 1, n_right)))
        least, largest = limits(measure.name)
        return Estimate(mean, max(low, least), min(high, largest))

    def difference(self, values: Floats, others: Floats) -> CorrectedT:
        """Return the test of the mean fold-by-fold difference between two sets of values."""
        return CorrectedT(values - others, ratio=self.ratio)


def fold_values(problem: Problem, outcomes: Sequence[Outcome], method: int) -> FoldValues:
    """Return the measure on the outer folds; `method` is the method chosen on all rows."""
    tested = [_tested(fold) for fold in outcomes]
    methods = np.full((len(outcomes), len(problem.methods)), np.nan)
    for row, (fold, values) in enumerate(zip(outcomes, tested, strict=True)):
        for place, choice in enumerate(fold.of_methods):
            if choice is not None:
                methods[row, place] = values.values[choice]
    methods[:, np.isnan(methods).any(axis=0)] = np.nan
    n_repeats = max(1, round(sum(fold.n_test for fold in outcomes) / problem.dataset.n_rows))
    return FoldValues(
        procedure=np.array([values.values[fold.choice] for fold, values in zip(outcomes, tested, strict=True)]),
        of_all=np.array([values.of_all for values in tested]),
        guess=np.array([values.guess for values in tested]),
        methods=methods,
        sizes=np.array([values.values[method, :-1] for values in tested]),
        ratio=float(np.mean([fold.n_test / fold.n_train for fold in outcomes])),
        n_rows=sum(fold.n_test for fold in outcomes) // n_repeats,
    )


def _tested(fold: Outcome) -> Measured:
    assert fold.tested is not None  # holds for outer folds
    return fold.tested


class Selected:
    """Result of `select`. It prints the answer first; a notebook also shows the figure.

    Attributes
    ----------
    features : list of str
        Features selected on all rows, best first.
    method : str
        Method that selected them.
    error : Estimate
        Error of the whole procedure on unseen rows: in percent, as RMSE for numbers, or by the given scorer.
    pipeline : Pipeline
        Selection, preparation and model, fitted on all rows. To predict, a table needs only the selected columns.
    table : DataFrame
        One row per method, with the number of features chosen inside each fold, followed by all
        columns and guessing. Differences are from the best row and from all columns; p-values are
        adjusted over the methods by Holm.
    curve : DataFrame
        One row per number of features of `method` on the outer folds; the last row is for all columns.
    frequency : DataFrame
        One row per feature: the number of outer folds that selected it, and whether it is in the final set.
    folds : DataFrame
        One row per outer fold: the chosen method and features, and the measures of the procedure,
        of all columns and of guessing.
    notes : list of str
        Notes on what was left out or merged, and why.
    code : str
        Script that repeats the selection with scikit-learn and provsel.
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
        self.chosen = problem.methods[self.final.choice.method]
        self.method = self.chosen.name
        self.features: list[str] = list(pipeline["columns"].features_)
        self.values = fold_values(problem, self.outer, self.final.choice.method)
        self.error = self.values.estimate(self.values.procedure, self.measure)
        failures: dict[str, str] = {}
        for fold in outcomes:
            failures |= fold.reasons
        self.notes = [*notes, *(f"{name} failed: {reason}" for name, reason in failures.items())]
        self.source: list[str] = []

    # ---- tables

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per method, followed by all columns and guessing."""
        values, name = self.values, self.measure.name
        lines = {}
        for place, method in enumerate(self.problem.methods):
            of_method = values.methods[:, place]
            sizes = [len(self._columns(fold, place)) for fold in self.outer]
            line: dict[str, Any] = {"family": method.family, "features": float(np.median(sizes))}
            if not np.isnan(of_method).any():
                line |= dict(zip((name, "low", "high"), values.estimate(of_method, self.measure), strict=True))
            line["stability"] = self._stability(place)
            line["seconds"] = float(np.mean([_tested(fold).seconds[place] for fold in self.outer]))
            lines[method.name] = line
        for label, of_folds in ((ALL, values.of_all), (GUESS, values.guess)):
            estimate = values.estimate(of_folds, self.measure)
            n_columns = float(self.problem.n_columns if label == ALL else 0)
            lines[label] = {"family": "", "features": n_columns}
            lines[label] |= dict(zip((name, "low", "high"), estimate, strict=True))
        table = pd.DataFrame.from_dict(lines, orient="index")
        for name, differences in (("difference", self.methods.to_best()), ("to_all", self.methods.to(values.of_all))):
            columns = {"difference": name, "low": f"{name}_low", "high": f"{name}_high", "p": f"{name}_p"}
            table = table.join(differences.rename(columns=columns))
        return table

    @cached_property
    def methods(self) -> FoldDifferences:
        """Values of the methods that worked on all outer folds, each with its own number of columns."""
        names = [method.name for method in self.problem.methods]
        values = pd.DataFrame(self.values.methods, columns=names).dropna(axis="columns")
        return FoldDifferences(values, self.values.ratio, self.measure.sign)

    @property
    def best(self) -> str:
        """Method with the best mean over the outer folds."""
        return self.methods.best

    def _columns(self, fold: Outcome, method: int) -> NDArray[np.int64]:
        """Return the features that a method selects in a fold at the size chosen on the inner folds."""
        choice = fold.of_methods[method]
        if choice is None or not _tested(fold).columns[method]:
            return np.empty(0, dtype=np.int64)
        if choice.size == len(self.problem.sizes):
            return np.arange(self.problem.n_columns)
        return _tested(fold).columns[method][choice.size]

    def _stability(self, method: int) -> float:
        try:
            selections = [self._columns(fold, method) for fold in self.outer]
            return stability(selections, self.problem.n_columns, overlap=min(self.values.ratio, 0.99)).index
        except ValueError:  # all or no features are selected in each fold
            return math.nan

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Measure of `method` at each size; the last size is all columns."""
        lines = []
        for place, size in enumerate(self.problem.sizes):
            of_size = self.values.sizes[:, place]
            if not np.isnan(of_size).any():
                lines.append((size, *self.values.estimate(of_size, self.measure)))
        if not self.problem.is_fixed or self.problem.sizes[0] < self.problem.n_columns:
            lines.append((self.problem.n_columns, *self.values.estimate(self.values.of_all, self.measure)))
        return pd.DataFrame(lines, columns=["features", self.measure.name, "low", "high"]).set_index("features")

    @cached_property
    def frequency(self) -> pd.DataFrame:
        """Number of outer folds in which the procedure selected each feature, most frequent first."""
        counts = np.zeros(self.problem.n_columns, dtype=np.int64)
        for selected in self._selected_in_folds():
            counts[selected] += 1
        names = self.problem.dataset.feature_names
        frame = pd.DataFrame({"folds": counts, "selected": np.isin(names, self.features)}, index=names)
        frame = frame[(frame["folds"] > 0) | frame["selected"]]
        return frame.sort_values(["selected", "folds"], ascending=False, kind="stable")

    def _selected_in_folds(self) -> list[NDArray[np.int64]]:
        every_column = np.arange(self.problem.n_columns)
        selections = []
        for fold in self.outer:
            method, size = fold.choice
            is_all = size == len(self.problem.sizes)
            selections.append(every_column if is_all else _tested(fold).columns[method][size])
        return selections

    @cached_property
    def folds(self) -> pd.DataFrame:
        """Choices of the procedure in each outer fold, and the measure on its test rows."""
        names = self.problem.dataset.feature_names
        values = self.values
        lines = []
        for place, selected in enumerate(self._selected_in_folds()):
            line = {"method": self.problem.methods[self.outer[place].choice.method].name, "features": len(selected)}
            line["names"] = names[selected].tolist()
            line |= {self.measure.name: values.procedure[place], ALL: values.of_all[place], GUESS: values.guess[place]}
            lines.append(line)
        return pd.DataFrame(lines)

    # ---- text, figure and code

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
