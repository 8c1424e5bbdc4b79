"""Compare selectors on arrays in hand: the same trials and the same store as an experiment's, from Python."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from rich.console import Console
from scipy import sparse
from sklearn.base import BaseEstimator

from provlab.claims.paired_tests import CorrectedT
from provlab.datasets.own_columns import known_labels
from provlab.features import COLUMNS as FEATURE_COLUMNS
from provlab.features import SelectedFeatures, cells_features
from provlab.frames import ERROR, Headline, error_summary, headline_columns, headline_of, planned_trials
from provlab.identity.cell import Cell
from provlab.identity.keys import digest
from provlab.plan import Entry, cells_of, compose_config
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.runner import run_cells
from provlab.store import TrialStore
from provsel.files import replacing
from provsel.models import LibsvmSVM
from provsel.sparse_input import check_sparse

READ = ["n_selected", "n_train", "n_test", "select_cpu", "shared_cpu"]
STABILITY = ["stability", "stability_low", "stability_high"]


class Comparison(pd.DataFrame):
    """What `compare` returns: a frame with a figure of its errors, or of the measure that it compares by.

    Attributes
    ----------
    features : DataFrame
        One line for each method and feature that it selected: `method`, and the columns of
        `provlab.features.selected_features`.
    """

    _metadata: ClassVar = ["headline", "features"]
    headline: Headline = ERROR
    features: pd.DataFrame = pd.DataFrame()

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame  # a part of it is no comparison

    def draw(self) -> Any:
        """Return a Matplotlib figure of the errors, with their standard deviation over folds."""
        from matplotlib.figure import Figure

        from provlab.figures.looks import PALETTE
        from provlab.figures.style import TWO_COLUMNS, style

        with style():
            figure = Figure(figsize=(TWO_COLUMNS, 0.5 + 0.25 * len(self)), layout="constrained")
            axes = figure.subplots()
            places = np.arange(len(self))[::-1]
            axes.errorbar(
                self[self.headline.column],
                places,
                xerr=self["sd"].fillna(0),
                fmt="o",
                ms=4,
                color=PALETTE[0],
                capsize=2,
            )
            axes.set_yticks(places, [str(name) for name in self.index])
            axes.set_ylim(-0.6, len(self) - 0.4)  # no point on the frame
            axes.set_xlabel(self.headline.label)
        return figure

    def draw_features(self) -> Any:
        """Return a Matplotlib figure: how often each method selects its most frequent features."""
        from provlab.figures.frequencies import frequency_figure

        return frequency_figure(self.features)


def compare(
    X: Any,
    y: Any,
    methods: Mapping[str, Any],
    *,
    model: Any = None,
    setting: str = "unsupervised",
    n_splits: int = 10,
    repeats: int = 10,
    draws: int = 5,
    seed: int = 0,
    feature_names: Sequence[str] | None = None,
    task: str = "auto",
    results: Path | str = "results",
    n_jobs: int = 1,
    console: Console | None = None,
) -> Comparison:
    """Cross-validate a linear SVM on what each of some selectors chooses, or find that in the store.

    Folds are the same for all methods; each method that draws is repeated in each fold. What is computed is stored
    trial by trial: the same call computes nothing, an interrupted one resumes, and other calls share what they have in
    common.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes, numbers or texts.
    methods : mapping
        Name -> unfitted selector or transformer. The first is the one that the others are compared with.
    model : classifier, default=LibsvmSVM()
        Trained on what was selected.
    setting : {"unsupervised", "supervised", "unsupervised_with_center"}, default="unsupervised"
        Select on all training rows, or on the support vectors of the model on all features.
    n_splits, repeats, draws : int
        Of the cross-validation; draws in each fold of a method that draws.
    seed : int, default=0
    feature_names : sequence of str, optional
        By default the columns of a DataFrame, or numbers from 1.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is where its numbers may be either, see `provlab.datasets.loaders.file.load`.
    results : path, default="results"
        Folder of the store, and of the data.
    n_jobs : int, default=1
        Worker processes. More than one needs classes that they can import: of provsel, or of modules that the project
        trusts.
    console : rich.console.Console, optional
        For progress, by default standard error.

    Returns
    -------
    Comparison
        Index: the names. Columns: error, its mean over folds in percent; sd; n_selected; cpu, mean seconds of a
        selection with what it shares; difference to the first in points, with p, two-sided, by the corrected t-test;
        stability of the selected features, from stability_low to stability_high, as if folds were independent; trials.
        The attribute `features` names what each method selected, and `draw_features` shows how often.

    Raises
    ------
    ValueError
        Bad data, or a trial that failed: what worked is stored.

    References
    ----------
    Nadeau and Bengio (2003), for the test.

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
    if not isinstance(methods, Mapping) or not methods:
        raise ValueError(f"compare: expected a mapping of names to selectors, got {methods!r:.80}.")
    results = Path(results)
    path = _written(X, y, feature_names, results / "data")
    chosen = LibsvmSVM() if model is None else model
    for name, each in (*methods.items(), ("model", chosen)):
        if not isinstance(each, BaseEstimator):
            raise ValueError(f"compare: {name}: expected an unfitted estimator, got {each!r:.80}; call the class.")
    parts = compose_config(["dataset=file", "selector=any", "model=any", "protocol=tenfold"])
    own = {"setting": setting, "n_splits": n_splits, "repeats": repeats, "draws": draws, "seed": seed}
    parts |= {"dataset": {**parts["dataset"], "path": path, "task": task}, "protocol": {**parts["protocol"], **own}}
    with estimators_in_hand():
        configs = [{**parts, "selector": as_config(each), "model": as_config(chosen)} for each in methods.values()]
        cells = [cell for config in configs for cell in cells_of(config)]
        store = TrialStore(results / "store")
        executor = {"name": "serial"} if n_jobs == 1 else {"name": "loky", "n_jobs": n_jobs}
        report = run_cells(cells, store, executor, label="compare", console=console)
    if report.failures:
        raise ValueError(
            f"compare: {len(report.failures)} of {report.n_planned} trials failed, the others are stored: "
            f"{'; '.join(report.kinds())}"
        )
    known = feature_names if feature_names is not None else getattr(X, "columns", None)
    own_names = None if known is None else [str(name) for name in known]
    selected = {cell.id: each for cell, each in cells_features(store, cells, lambda _: (own_names, ""))}
    found = _frame([*methods], cells, planned_trials(store, cells, [*headline_columns(cells), *READ]), selected)
    lines = [selected[cell.id].frame.assign(method=name) for name, cell in zip(methods, cells, strict=True)]
    found.features = pd.concat(lines, ignore_index=True)[["method", *FEATURE_COLUMNS]]
    return found


def _written(X: Any, y: Any, feature_names: Sequence[str] | None, folder: Path) -> str:
    """Write arrays once, under a name that follows from them, and return the absolute path."""
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    labels = known_labels("compare", y)
    labels = labels.astype(str) if labels.dtype.kind == "O" else labels
    if sparse.issparse(X):
        check_sparse("compare", X)
        rows = sparse.csr_array(X, dtype=np.float64)
        arrays: dict[str, Any] = {name: getattr(rows, name) for name in ("data", "indices", "indptr", "shape")}
    else:
        arrays = {"X": np.ascontiguousarray(X, dtype=np.float64)}
    arrays["y"] = labels
    if feature_names is not None:
        arrays["feature_names"] = [str(name) for name in feature_names]
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    content = digest(
        {name: [str(a.dtype), list(a.shape), hashlib.sha256(a.tobytes()).hexdigest()] for name, a in arrays.items()}
    )
    target = (folder / f"{content[:32]}.npz").absolute()
    if not target.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(target) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
    return str(target)


def _frame(
    names: Sequence[str], cells: Sequence[Cell], trials: pd.DataFrame, selected: Mapping[str, SelectedFeatures]
) -> Comparison:
    """Return a line a method, with the difference to the first, fold by fold."""
    headline = headline_of(cells[0])
    folds = trials.groupby(["place", "repeat", "fold"])[[headline.column, "n_train", "n_test"]].mean()
    lines: dict[str, dict[str, Any]] = {}
    for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
        own = trials[trials["place"] == place]
        [found] = error_summary(Entry("", "", cell), own)
        differences = headline.factor * (folds.loc[place, headline.column] - folds.loc[0, headline.column])
        ratio = float((folds.loc[place, "n_test"] / folds.loc[place, "n_train"]).mean())
        lines[name] = {
            headline.column: found["value"],
            "sd": found["sd"],
            "n_selected": own["n_selected"].mean(),
            "cpu": (own["select_cpu"] + own["shared_cpu"]).mean(),
            "difference": float(differences.mean()),
            "p": np.nan if place == 0 else CorrectedT(differences.to_numpy(), ratio=ratio).p_value(),
            **dict(zip(STABILITY, (selected[cell.id].index, *selected[cell.id].interval), strict=True)),
            "trials": len(own),
        }
    comparison = Comparison(pd.DataFrame.from_dict(lines, orient="index"))
    comparison.headline = headline
    return comparison
