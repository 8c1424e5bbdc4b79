"""Comparison of selectors on arrays from Python, with the same trials and store as experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.base import BaseEstimator

from provlab.bench.answer import interval_text, number_text, wrapped
from provlab.bench.by_name import named, selectors_by_name
from provlab.bench.data_files import write_data
from provlab.bench.own_runs import RUNS_FOLDER, OwnRun
from provlab.bench.run_names import own_run
from provlab.bench.run_table import STABILITY, RunTable
from provlab.bench.splits import folds_of_rows, splits_of, splitter_config, write_splits
from provlab.core.composition import compose_config
from provlab.core.frames import ERROR, Headline, headline_of
from provlab.core.plan import cells_of
from provlab.core.store import TrialStore
from provlab.core.tables import aligned_text
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.project.messages import in_file_name, visible_line
from provlab.report.notebook import notebook_html
from provlab.run.runner import run_methods
from provlab.verdicts.claims.paired_tests import mean_difference, size_words

SPLITS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "kfold": ("tenfold", ("n_splits", "repeats")),
    "leave_one_group_out": ("leave_one_group_out", ()),
    "time_order": ("time_order", ("n_splits",)),
}
"""Protocol for each name of `cv`, and the arguments that it takes."""

DIFFERENCE = ["difference", "difference_low", "difference_high", "p"]
"""Columns of the difference from the first method."""


class Comparison(pd.DataFrame):
    """Result of `compare`: a DataFrame that can draw its errors or another measure.

    Attributes
    ----------
    features : DataFrame
        One row for each method and selected feature, with the column `method` and those
        of `provlab.core.selected.selected_features`.
    folds : tuple of int
        Number of repeats, and number of folds per repeat.
    answer : list of str
        The best method, the methods that tie with it, and the difference that these
        folds can detect.
    """

    _metadata: ClassVar = ["headline", "features", "folds", "answer"]
    headline: Headline = ERROR
    folds: tuple[int, int] = (1, 1)
    features: pd.DataFrame = pd.DataFrame()
    answer: Sequence[str] = ()

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame  # a slice is not a comparison

    def __str__(self) -> str:
        """Return the answer and the table as text."""
        table = f"{aligned_text(_shown(self))}{wrapped(_notes(self))}"
        return f"{wrapped(self.answer)}\n\n{table}" if self.answer else table

    __repr__ = __str__

    def draw(self) -> Any:
        """Return a Matplotlib figure of the compared measure with 95 % intervals of its means."""
        from provlab.report.figures.curves import dots
        from provlab.report.figures.style import ON_A_PAGE

        measured = pd.DataFrame(self).dropna(subset=self.headline.column)
        lines = measured[["low", "high"]].assign(
            row=measured.index.astype(str),
            dataset="",
            value=measured[self.headline.column],
        )
        return dots(lines, xlabel=self.headline.label, width=ON_A_PAGE)

    def _repr_html_(self) -> str:
        """Return the answer, the figure and the table as HTML for a notebook."""
        return notebook_html(self.answer, self.draw, _shown(self), _notes(self))

    def draw_features(self) -> Any:
        """Return a Matplotlib figure of how often each method selects its most frequent features."""
        from provlab.report.figures.curves import frequency_figure

        return frequency_figure(self.features)


def _shown(comparison: Comparison) -> pd.DataFrame:
    """Return the printed columns of a comparison as strings, with headings that fit into 80 characters."""
    headline = comparison.headline
    signed = "{:+.2f}" if headline.unit else "{:+.4f}"
    ends = zip(comparison["low"], comparison["high"], strict=True)
    columns = {
        headline.in_units(headline.name): _texts(
            comparison[headline.column], headline.text
        ),
        "95 % interval": [
            interval_text(low, high, headline.text) for low, high in ends
        ],
        "difference": _texts(comparison["difference"], signed.format),
        "p": _texts(comparison["p"], "{:.2g}".format),
        "selected": _texts(comparison["n_selected"], "{:.4g}".format),
        "stability": _texts(comparison["stability"], "{:.2f}".format),
    }
    return pd.DataFrame(
        columns, index=[visible_line(str(name)) for name in comparison.index]
    )


def _texts(values: pd.Series, text_of: Callable[[float], str]) -> list[str]:
    return [number_text(value, text_of) for value in values]


def _notes(comparison: Comparison) -> list[str]:
    """Return the notes below the table: the meaning of the difference, further columns, and why methods failed."""
    printed = (
        comparison.headline.column,
        "low",
        "high",
        "difference",
        "p",
        "n_selected",
        "stability",
    )
    further = [
        name for name in comparison.select_dtypes("number") if name not in printed
    ]
    first = visible_line(str(comparison.index[0]))
    lines = [
        f"difference: from {first}, fold by fold; p is not adjusted for several methods. "
        f"Further columns: {', '.join(further)}.",
        f"p: {size_words(*comparison.folds)}.",
    ]
    for name, reason in comparison.get("reason", pd.Series(dtype=object)).items():
        if reason:
            lines.append(visible_line(f"{name} failed: {reason}"))
    return lines


def compare(
    X: Any,
    y: Any,
    methods: Mapping[str, Any] | Sequence[str] | str,
    *,
    model: Any = None,
    task: str = "auto",
    preparation: Any = None,
    setting: str = "unsupervised",
    cv: Any = "kfold",
    groups: Any = None,
    sample_weight: Any = None,
    scoring: Any = (),
    n_splits: int = 10,
    repeats: int = 10,
    draws: int = 5,
    seed: int = 0,
    feature_names: Sequence[str] | None = None,
    name: str = "data",
    results: Path | str = "results",
    n_jobs: int = 1,
    console: Console | None = None,
) -> Comparison:
    """Cross-validate a model on the features of each selector, or read the results from the store.

    All methods use the same folds, and random methods are repeated in each fold.
    Results are stored trial by trial, so a repeated call computes nothing, an
    interrupted call resumes, and calls share their common trials. `provsel report`
    shows each comparison with figures and all features.

    Parameters
    ----------
    X : array-like, sparse or DataFrame of shape (n_samples, n_features)
        Text columns and missing values need a `preparation`.
    y : array-like of shape (n_samples,)
        Classes, as strings or numbers, or a numeric target.
    methods : mapping, sequence of str or str
        A mapping of names to unfitted selectors or transformers, or names from
        `provsel list selectors`, which keep half of the columns. The other methods are
        compared with the first. Your own classes and functions are identified by the
        code of their module or script. In a notebook they are identified by their own
        code only, so increase `algorithm_version` when a function that they call
        changes.
    model : classifier, regressor or str, optional
        Model trained on the selected features. The default is `LibsvmSVM()` for
        classes, scikit-learn's `LinearSVC(dual=False)` for classes with more than
        20,000 rows, and scikit-learn's `Ridge()` for numbers.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of target, if y has numbers that may be either; see
        `provlab.data.loaders.file.load`.
    preparation : str or transformer, optional
        Transformation of the columns before the selection, fitted on the training rows
        of each fold: "impute", "one_hot", "standardise", "range" or "robust", see
        `provlab.run.preparation.TablePreparation`, or a scikit-learn transformer.
    setting : {"unsupervised", "supervised", "unsupervised_with_center"}, default="unsupervised"
        Rows used for selection: all training rows, or the support vectors of the model
        on all features.
    cv : {"kfold", "leave_one_group_out", "time_order"}, int, splitter, iterable or array, default="kfold"
        How rows are split. "kfold" makes `n_splits` stratified folds that keep groups
        together, "leave_one_group_out" tests each group once, and "time_order" puts
        training rows before test rows. An integer is the number of folds. A splitter,
        or an iterable of (training rows, test rows), is used once, as in scikit-learn;
        a random splitter without `random_state` gets a seed. An array of shape
        (n_samples,) gives the test fold of each row, or -1 for rows that are never
        tested.
    groups : array-like of shape (n_samples,), optional
        Group of each row, such as a patient. Rows of a group are never split between
        training and test rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights for models and measures that accept them.
    scoring : str, callable, sequence of str or mapping, optional
        Names of scikit-learn scorers, the result of `make_scorer`, a function of
        (model, X, y), or a mapping of names to these. The first replaces the error, or
        R^2, in the comparison. X holds the test rows in the form that the model takes,
        and y their labels.
    n_splits, repeats, draws : int
        Number of folds, of repeats of "kfold" with new folds, and of draws of a random
        method per fold.
    seed : int, default=0
        Seed of the folds and of random methods.
    feature_names : sequence of str, optional
        Names of the features. The default is the columns of a DataFrame, or numbers
        from 1.
    name : str, default="data"
        Name of the data in messages and on pages.
    results : path, default="results"
        Folder for the store and the data.
    n_jobs : int, default=1
        Number of worker processes. More than one process requires classes of provsel,
        or of modules that the project trusts.
    console : rich.console.Console, optional
        Console for progress; by default standard error.

    Returns
    -------
    Comparison
        One row per method, indexed by name. The columns are the mean of the measure
        over folds (error in percent, r2 or a scorer); sd; low and high, the 95 %
        interval of the mean; n_selected; cpu, the mean CPU seconds of a selection
        including shared computations; difference from the first method, with its 95 %
        interval from difference_low to difference_high and its two-sided p; stability
        of the selected features, with its 95 % interval for new rows from stability_low
        to stability_high; trials; and further measures. The p-values come from the
        corrected t-test. They are not adjusted for the number of methods, as the output
        notes. The attribute `features` lists the selected features of each method, and
        `draw_features` shows their frequencies.

    Raises
    ------
    ValueError
        If the data are invalid or a trial fails; successful trials are stored.

    References
    ----------
    Nadeau and Bengio (2003) describe the test.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.feature_selection import SelectKBest, chi2
    >>> from provlab import compare
    >>> from provsel.selectors import LeverageScoreSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> methods = {"chi2": SelectKBest(chi2, k=20), "leverage": LeverageScoreSelector(20, rank=10)}
    >>> compare(X, y, methods, repeats=1, n_splits=3)  # doctest: +SKIP
    """
    selectors: Mapping[str, Any] = selectors_by_name(methods)
    model = named("model", model)
    _check_estimators(selectors, model, preparation)
    results = Path(results)
    split, folds = _folds(cv, n_splits, repeats)
    beside = {"groups": groups, "sample_weight": sample_weight}
    if split == "fixed_folds":
        beside["fold"] = folds_of_rows(cv)
    beside = {role: value for role, value in beside.items() if value is not None}
    splits = None
    if split == "given_splits":
        splits = splits_of("compare", cv, X, y, groups, [*SPLITS])
    data = write_data(
        X, y, feature_names, beside, results / "data", in_file_name(name)[:40] or "data"
    )
    if splits is not None:
        data["splits"] = write_splits(splits, Path(data["path"]).parent)
    protocol: dict[str, Any] = {
        "setting": setting,
        "draws": draws,
        "seed": seed,
        **folds,
    }
    choices = ["dataset=file", "selector=any", f"protocol={split}"]
    choices.append(
        f"preparation={preparation if isinstance(preparation, str) else 'none'}"
    )
    if model is not None:
        choices.append("model=any")
    parts = compose_config(choices)
    parts["dataset"] = {**parts["dataset"], **data, "task": task}
    parts["protocol"] = {**parts["protocol"], **protocol}
    with estimators_in_hand():
        if model is not None:
            parts["model"] = as_config(model)
        if isinstance(preparation, BaseEstimator):
            parts["preparation"] = as_config(preparation)
        if scoring:
            parts["protocol"] |= {"scoring": as_config(scoring)}
        cells = []
        for selector in selectors.values():
            cells += cells_of({**parts, "selector": as_config(selector)})
        store = TrialStore(results / "store")
        executor = (
            {"name": "serial"} if n_jobs == 1 else {"name": "loky", "n_jobs": n_jobs}
        )
        report = run_methods(cells, store, executor, label="compare", console=console)
        reasons = report.reasons(cells)
        if all(cell.id in reasons for cell in cells):
            report.check("compare")
        run = own_run("", cells, [*selectors], [name] * len(cells), reasons)
    return _comparison(run, headline_of(cells[0]), store, results)


def _check_estimators(methods: Any, model: Any, preparation: Any) -> None:
    """Raise unless `methods` is a mapping of names to unfitted estimators."""
    if not isinstance(methods, Mapping) or not methods:
        raise ValueError(
            f"compare: expected a mapping of names to selectors, got {methods!r:.80}; pass for "
            f'example {{"RFE": RFE(...)}}.'
        )
    estimators = list(methods.items())
    if model is not None:
        estimators.append(("model", model))
    for name, estimator in estimators:
        if not isinstance(estimator, BaseEstimator):
            raise ValueError(
                f"compare: {name}: expected an instance of an estimator, got {estimator!r:.80}; write "
                f"it with its arguments, for example RFE(...)."
            )
    if not isinstance(preparation, BaseEstimator | str | None):
        raise ValueError(
            f"compare: preparation: expected a name or a transformer, got {preparation!r:.80}."
        )


def _folds(cv: Any, n_splits: int, repeats: int) -> tuple[str, dict[str, Any]]:
    """Return the protocol that the argument `cv` means, and its settings."""
    if isinstance(cv, int) and not isinstance(cv, bool):
        cv, n_splits = "kfold", cv
    if isinstance(cv, str) and cv in SPLITS:
        protocol, names = SPLITS[cv]
        numbers = {"n_splits": n_splits, "repeats": repeats}
        return protocol, {name: numbers[name] for name in names}
    config = splitter_config(cv)
    if config is not None:
        return "splitter", {"cv": config}
    if folds_of_rows(cv) is not None:
        return "fixed_folds", {}
    return "given_splits", {}


def _comparison(
    run: OwnRun, headline: Headline, store: TrialStore, results: Path
) -> Comparison:
    """Write a run, and return one row per method with its fold-by-fold difference from the first."""
    table = RunTable(run, store)
    table.write(results / RUNS_FOLDER / run.name, formats=())
    lines = table.frame.set_index("method").rename_axis(None)
    lines = lines.rename(
        columns={"value": headline.column, "selected": "n_selected", "seconds": "cpu"}
    )
    lines[DIFFERENCE] = np.nan
    folds = table.differences(range(len(run.cells)))
    first = lines.index[0]
    if first in folds.values:
        for name, of_method in folds.values.items():
            difference = mean_difference(
                (of_method - folds.values[first]).to_numpy(), ratio=folds.ratio
            )
            lines.loc[name, DIFFERENCE] = [*difference.values()]
        # the first method is not tested against itself
        lines.loc[first, DIFFERENCE[1:]] = np.nan
    n_asked = pd.to_numeric(lines["features"], errors="coerce")
    if (lines["n_selected"] < n_asked).any():
        lines["asked"] = n_asked
    columns = [
        headline.column,
        "sd",
        "low",
        "high",
        "n_selected",
        "asked",
        "cpu",
        *DIFFERENCE,
        *STABILITY,
        "trials",
    ]
    columns = [name for name in columns if name in lines]
    columns += lines.columns.difference(
        [*columns, "features", "dataset", "measure", "state"], sort=False
    ).tolist()
    comparison = Comparison(lines[columns])
    comparison.headline = headline
    comparison.features = table.features.drop(columns=["features", "dataset"])
    comparison.folds = run.cells[0].repeats, run.cells[0].n_splits
    comparison.answer = table.answer
    return comparison
