"""Ranking of the fast methods of the panel, and optionally of the user's selector, on other data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from provlab.bench.answer import Words, of_methods
from provlab.bench.methods import PanelMethod, Task, panel_methods, panel_names
from provlab.bench.panel import (
    PanelCell,
    PanelDataset,
    judging,
    panel_cells,
    sizes_of_judges,
    some,
)
from provlab.bench.rank import (
    WORDS,
    computed,
    draw_differences,
    problems_of,
    write_pages,
)
from provlab.bench.stored_panel import panel_of, read_panel
from provlab.core.cell import Cell
from provlab.core.frames import FOLD_SIZES, planned_trials
from provlab.core.store import TrialStore
from provlab.project.messages import to_install
from provlab.verdicts.claims.paired_tests import size_words
from provlab.verdicts.fold_differences import FoldDifferences
from provlab.verdicts.panel_frame import ALL_FEATURES
from provlab.verdicts.panel_ranking import leaderboard, standings
from provlab.verdicts.panel_scores import ALL, Scores

if TYPE_CHECKING:  # the module needs the extra "report"
    from provlab.report.templating import Site

FAST = 1.0
"""Methods are tried on other data if their median CPU seconds per selection in the panel are at most this."""

COMPILED = ("MCP",)
"""Methods treated as slow because each process compiles them for ten seconds, which the medians hide."""

ALIKE = 3.0
"""Data sets are similar if their numbers of columns differ by at most this factor."""

YOURS = "yours"
"""Domain of a data set outside the panel."""


class OnData(NamedTuple):
    """Comparison of methods of the panel on a data set.

    Attributes
    ----------
    board : DataFrame
        One row per method, the least error first. The columns are rank, the mean over
        sizes and judges; balanced_error in percent; difference from all features in
        points, with its 95 % interval over folds from low to high; stability; seconds;
        and panel, the mean rank on similar data sets of the panel.
    sizes : DataFrame
        Balanced error by method and size.
    n_alike, n_panel : int
        Number of data sets of the panel that are similar by `ALIKE`, or of all if fewer
        than three are similar, and number of all.
    cells : list of PanelCell
    scores : Scores
        Scores of all methods.
    folds : FoldDifferences
        Balanced errors of the methods that did not fail.
    words : Words
        Text form of the error.
    yours : str
        Name of the user's method; "" if there is none.
    """

    board: pd.DataFrame
    sizes: pd.DataFrame
    n_alike: int
    n_panel: int
    cells: list[PanelCell]
    scores: Scores
    folds: FoldDifferences
    words: Words
    yours: str

    @property
    def answer(self) -> list[str]:
        """Sentences on the best method, the error with all features, and the ties on these folds."""
        return of_methods(self.folds, self.folds.means().clip(0, 100), self.words, ALL)

    @property
    def problems(self) -> list[str]:
        """Warnings about methods that failed or selected fewer features than requested."""
        return problems_of(self.scores, self.board.index)

    def write(self, results: Path, name: str, command: str) -> Path:
        """Write the page of a data set into a results folder, and return its path."""

        def write(site: Site) -> None:
            draw_differences(self.board, site.folder, self.words)
            site.write(
                "index.html", "benchmark_data.html", f"Selectors on {name}", "index", ranking=self,
                command_line=command, name=name, all=ALL, hrefs={}, mine=(self.yours,),
                size=size_words(*self.cells[0].cell.counts[:2]),
            )  # fmt: skip

        return write_pages(results, name, self.scores.lines, write)


def chosen_methods(
    names: Iterable[str] = (), task: Task = "classification"
) -> tuple[dict[str, PanelMethod], list[str]]:
    """Return the methods with installed packages, including all features, and the names of the others.

    By default they are the methods for the task that were `FAST` in the panel and did
    not fail there.

    Raises
    ------
    ValueError
        If a named method is not in the panel, its package is not installed, or it needs
        classes in a regression.
    """
    methods = panel_methods()
    names = panel_names(names)
    chosen = some("method", [ALL, *(names or _fast_methods(task))], methods)
    installed: dict[str, PanelMethod] = {}
    missing = []
    for name, method in chosen.items():
        if task not in method.tasks:
            raise ValueError(
                f"rank: {name}: this method needs classes, but the target is numeric; leave the method out."
            )
        if method.is_installed:
            installed[name] = method.for_task(task)
        else:
            missing.append(name)
    if names and missing:
        raise ValueError(
            f"rank: {missing[0]}: expected the package {methods[missing[0]].source}, got none; "
            f"{to_install('benchmark')}, or leave the method out."
        )
    return installed, missing


def _fast_methods(task: Task) -> list[str]:
    """Return the methods that took less than `FAST` in the panel, did not fail there, and need no compilation."""
    trials = read_panel()
    trials = trials[trials["task"] == task]
    seconds = (
        trials.groupby(["method", "dataset"])["select_cpu"]
        .median()
        .groupby("method")
        .median()
    )
    failed = trials.loc[trials["failure"] != "", "method"].unique()
    names = []
    for name in panel_methods():
        if (
            seconds.get(name, np.inf) <= FAST
            and name not in failed
            and name not in COMPILED
        ):
            names.append(name)
    return names


def on_data(
    name: str, dataset: PanelDataset, methods: Mapping[str, PanelMethod], store: TrialStore,
    executor: Mapping[str, Any], yours: str = "",
) -> OnData:  # fmt: skip
    """Compute missing trials, and compare methods on a data set, including `yours` if given."""
    datasets = {name: dataset}
    cells = panel_cells(methods, datasets, sizes_of_judges(judging().own_data))
    trials = panel_of(computed(cells, store, executor), datasets)
    scores = Scores.of(trials, dataset.task)
    ranking = leaderboard(scores)
    folds = _fold_errors(
        trials, ranking.index[ranking["failed"] > 0], _ratio(cells[0].cell, store)
    )
    differences = pd.DataFrame(columns=["difference", "low", "high"], dtype=float)
    if ALL in folds.values:
        differences = folds.to(folds.values[ALL].to_numpy())[[*differences]]
        differences.loc[ALL, ["low", "high"]] = np.nan
    board = ranking[["rank", "balanced_error", "stability", "seconds"]].join(
        differences
    )
    stored = read_panel()
    n_features = (
        stored[stored["task"] == dataset.task].groupby("dataset")["n_features"].first()
    )
    d = int(scores.lines["n_features"].iloc[0])
    alike = n_features.index[n_features.between(d / ALIKE, ALIKE * d)]
    if len(alike) < 3:
        alike = n_features.index
    in_panel = standings(
        Scores.of(stored[stored["dataset"].isin(alike)], dataset.task), shown=()
    )["rank"]
    board["panel"] = in_panel.reindex(board.index)
    # as the sentences above it speak of errors
    board = board.sort_values("balanced_error", kind="stable")
    of_sizes = scores.lines[scores.lines["size"] > 0].pivot_table(
        "balanced_error", "method", "size"
    )
    return OnData(
        board, of_sizes.reindex(board.index), len(alike), len(n_features), cells, scores, folds, WORDS[dataset.task],
        yours,
    )  # fmt: skip


def _ratio(cell: Cell, store: TrialStore) -> float:
    """Return the mean ratio of test rows to training rows over folds."""
    if cell.protocol["split"] == "benchmark":
        return 1 / (cell.protocol["n_splits"] - 1)
    sizes = planned_trials(store, [cell], FOLD_SIZES)
    return float((sizes["n_test"] / sizes["n_train"]).mean())


def _fold_errors(
    trials: pd.DataFrame, failed: Iterable[str], ratio: float
) -> FoldDifferences:
    """Return the balanced error in percent per fold, averaged over sizes and judges, of methods without failures."""
    of_sizes = trials[trials["size"] > 0]
    of_all = trials[trials["size"] == ALL_FEATURES]
    # all features count once for each size of a judge, so that all means weight the judges alike
    n_sizes = of_all["model"].map(of_sizes.groupby("model")["size"].nunique())
    repeated = np.repeat(np.arange(len(of_all)), n_sizes.fillna(0).astype(int))
    trials = pd.concat([of_sizes, of_all.iloc[repeated]], ignore_index=True)
    errors = 100 * (1 - trials["balanced_accuracy"])
    means = errors.groupby([trials["repeat"], trials["fold"], trials["method"]]).mean()
    values = (
        means.unstack("method")
        .drop(columns=list(failed), errors="ignore")
        .dropna(axis="columns")
    )
    return FoldDifferences(values, ratio=ratio)
