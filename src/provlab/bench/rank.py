"""Rank a selector among the methods of the panel, or the panel on other data; only missing trials are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.base import BaseEstimator

from provlab.bench.answer import Words, of_methods, of_standing, wrapped
from provlab.bench.methods import TASKS, PanelMethod, Task, panel_methods, panel_names
from provlab.bench.panel import (
    PanelCell,
    PanelDataset,
    judging,
    panel_cells,
    panel_data,
    panel_datasets,
    some,
)
from provlab.bench.run_names import SIZES
from provlab.bench.stored_panel import panel_from, read_panel
from provlab.core.cell import Cell
from provlab.core.composition import compose_config, part_config
from provlab.core.frames import planned_trials
from provlab.core.plan import load_from
from provlab.core.protocols import AbstractFolds
from provlab.core.store import TrialStore
from provlab.core.tables import aligned_text, write_frame
from provlab.project.components import component_class
from provlab.project.documents import canonical_json
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.project.messages import in_file_name, optional_figures, to_install, visible_line
from provlab.project.terminal import PlainConsole
from provlab.run.runner import run_cells
from provlab.verdicts.claims.paired_tests import size_words
from provlab.verdicts.fold_differences import FoldDifferences
from provlab.verdicts.panel_frame import ALL_FEATURES, OWN_SIZE
from provlab.verdicts.panel_pairs import pairs_of
from provlab.verdicts.panel_ranking import leaderboard, sets_of, standings
from provlab.verdicts.panel_scores import ALL, ERROR_OF, Scores
from provsel.files import replacing_folder

if TYPE_CHECKING:  # it needs the extra "report"
    from provlab.report.templating import Site

PANELS = ("quick", "full")

FAST = 1.0
"""CPU seconds of a selection, median over the data sets of the panel, up to which a method is tried on other data."""

COMPILED = ("MCP",)
"""Methods that compile themselves in each process for ten seconds, which the panel's medians do not show: as slow."""

ALIKE = 3.0
"""Data sets of the panel are like another one whose number of columns differs by at most this factor."""

WORDS = {task: Words(measure, is_percent=True, decimals=1) for task, measure in ERROR_OF.items()}

YOURS = "yours"
"""Domain of a data set that is not of the panel."""

FOLDER = "rank"
"""Below the results folder."""

VARIANTS = "variants.csv"
"""What was ranked, in the same folder: a line for each selector with its settings."""


class Standing(NamedTuple):
    """How a selector compares with the others.

    Attributes
    ----------
    name : str
    leaderboard, pairs, sets : DataFrame
        See `provlab.verdicts.panel_ranking`: all methods on the data sets of the panel; the selector against each other
        one; and its data sets, the strongest first.
    scores : Scores
        Of all, of which these are made.
    n_variants : int
        Selectors and settings that were ranked from this results folder so far.
    """

    name: str
    leaderboard: pd.DataFrame
    pairs: pd.DataFrame
    sets: pd.DataFrame
    scores: Scores
    n_variants: int

    @property
    def failed(self) -> bool:
        """Whether the selector failed on every data set and has no results."""
        return bool(self.leaderboard.loc[self.name, "sets"] == 0)

    @property
    def answer(self) -> list[str]:
        """How it compares with all features and with the other methods, in sentences."""
        if self.failed:
            return []
        n_domains = self.sets["domain"].nunique()
        return of_standing(visible_line(self.name), self.pairs, WORDS[self.scores.task], ALL, n_domains)

    @property
    def problems(self) -> list[str]:
        """Remarks if it failed, selected fewer features than requested, or is one of several variants."""
        problems = problems_of(self.scores, [self.name])
        if self.n_variants > 1:
            problems.append(
                f"{self.n_variants} variants were ranked from this results folder, see {FOLDER}/{VARIANTS}: the best "
                f"of several looks better than it is, so report how many you tried."
            )
        return problems

    def __str__(self) -> str:
        """Return the comparison in sentences, followed by the table of methods."""
        if self.failed:
            return "\n".join(self.problems)
        line = self.leaderboard.loc[self.name]
        lines = [
            wrapped(self.answer),
            f"{visible_line(self.name)}: mean rank {line['rank']:.1f} of {len(self.leaderboard)}, 95 % interval "
            f"{line['low']:.1f} to {line['high']:.1f}, on {len(self.sets)} data sets.",
            aligned_text(self._texts()).rstrip("\n"),
            f"loss: to all features, and difference: of the selector to each method; points of "
            f"{ERROR_OF[self.scores.task]}, negative is better.",
        ]
        return "\n".join([*lines, *self.problems])

    def __repr__(self) -> str:
        return str(self)

    def _texts(self) -> pd.DataFrame:
        """Return the printed columns of each method."""
        board = self.leaderboard.join(self.pairs[["difference", "verdict"]])
        texts = pd.DataFrame({
            "rank": board["rank"].map("{:.1f}".format),
            "loss": board["loss"].map("{:+.1f}".format, na_action="ignore"),
            "difference": board["difference"].map("{:+.1f}".format, na_action="ignore"),
            "verdict": board["verdict"],
        }, dtype=object)  # fmt: skip
        return texts.fillna("").rename(index=visible_line)

    def write(self, results: Path) -> Path:
        """Write the pages below a results folder, with the selector's row marked, and return the first."""
        from provlab.bench.panel_pages import write_panel

        def write(site: Site) -> None:
            _draw_differences(self.pairs, site.folder, WORDS[self.scores.task])
            write_panel(
                site, self.scores, [self.name], title=f"{self.name} among the selectors of the benchmark",
                pairs=self.pairs, sets=self.sets, index="index.html", problems=self.problems,
                answer=self.answer,
            )  # fmt: skip

        return _pages(results, self.name, self.scores.lines, write)


def problems_of(scores: Scores, methods: Iterable[str]) -> list[str]:
    """Return a line for each method that failed or selected fewer features than requested."""
    problems = []
    for name in methods:
        if name in scores.reasons:
            problems.append(f"{name} failed, and has no number there: {visible_line(scores.reasons[name])}")
        fewer = scores.fewer(name)
        if fewer:
            problems.append(f"{name} selected fewer features than asked: {fewer}")
    return problems


def rank(
    selector: BaseEstimator,
    *,
    panel: str = "quick",
    task: Task = "classification",
    against: Iterable[str] = (),
    name: str = "",
    results: Path | str = "results",
    n_jobs: int = 1,
    console: Console | None = None,
) -> Standing:
    """Rank a selector among the methods of the benchmark; only its own trials are computed, the others are stored.

    They are stored trial by trial in `results`, so that a repeated call computes nothing and an interrupted one
    resumes. Every step is fitted on the training rows of each fold: columns are standardised, features are
    selected, and four models are trained on them. A selection that fails or takes more than 300 s is
    recorded as failed, and the selector is last on that data set.

    Parameters
    ----------
    selector : unfitted selector or transformer
        Each size of the panel is set by its `n_features_to_select`, `n_components`, `k` or `max_features`; a selector
        without these chooses its own number, and is compared with methods that do.
    panel : {"quick", "full"}, default="quick"
        A data set of each domain, or all.
    task : {"classification", "regression"}, default="classification"
        Whether the data sets have classes or numbers as their targets.
    against : iterable of str, optional
        Methods of the panel to compare with; by default all. All features are always among them.
    name : str, optional
        Name of the selector on pages, by default that of its class.
    results : path, default="results"
        Folder of the store; the page goes to rank/<name>/index.html in it.
    n_jobs : int, default=1
        Worker processes. More than one needs classes that they can import.
    console : rich.console.Console, optional
        For progress, by default standard error.

    Raises
    ------
    ValueError
        For an object that is not a selector, an unknown name, or trials that failed for reasons outside the selector.
    MissingDataError
        If a data set of the panel is missing; names the command that fetches it.

    Examples
    --------
    >>> from provlab import rank
    >>> from provsel.selectors import RRQRSelector
    >>> rank(RRQRSelector(10)).leaderboard  # doctest: +SKIP
    """
    if not isinstance(selector, BaseEstimator):
        raise ValueError(f"rank: expected an unfitted selector, got {selector!r:.80}; call the class.")
    executor = {"name": "serial"} if n_jobs == 1 else {"name": "loky", "n_jobs": n_jobs}
    store = TrialStore(Path(results) / "store")
    with estimators_in_hand():
        method = method_in_hand(selector)
        shown = name or type(selector).__name__
        result = standing(shown, method, panel, against, store, executor, console, task=task)
    with optional_figures():
        result.write(Path(results))
    return result


def method_in_hand(selector: BaseEstimator) -> PanelMethod:
    """Return a selector as a method of the panel; within `estimators_in_hand`."""
    config = as_config(selector)
    choose = ["selector=any", f"selector._target_={config.pop('_target_')}"]
    return method_of([*choose, *(f"+selector.{key}={_text(value)}" for key, value in config.items())])


def method_of(choose: Sequence[str]) -> PanelMethod:
    """Return the method that the overrides choose, at each size if its class has an argument for it."""
    parameters = signature(component_class("selector", compose_config(choose)["selector"])).parameters
    for size in SIZES:
        if size in parameters:
            return PanelMethod((*choose, f"++selector.{size}=SIZE"), sizes="at most", chosen=False)
    return PanelMethod(tuple(choose), sizes="own")


def _text(value: Any) -> str:
    """Return a value of a config in Hydra's grammar."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{name}:{_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, str):
        return "'" + value.replace("'", r"\'") + "'"
    return {"None": "null", "True": "true", "False": "false"}.get(repr(value), repr(value))


def standing(
    name: str, method: PanelMethod, panel: str, against: Iterable[str], store: TrialStore,
    executor: Mapping[str, Any], console: Console | None = None, *, task: Task = "classification",
) -> Standing:  # fmt: skip
    """Compute the missing trials of a method, and return how it compares; see `rank`."""
    if panel not in PANELS:
        raise ValueError(f"rank: panel: expected one of {', '.join(PANELS)}, got {panel!r:.80}.")
    if task not in TASKS:
        raise ValueError(f"rank: task: expected one of {', '.join(TASKS)}, got {task!r:.80}.")
    peers = some("method", panel_names(against), panel_methods())
    check_name(name)
    stored = read_panel()
    stored = stored[stored["task"] == task]
    wanted = panel_data().quick[task] if panel == "quick" else panel_datasets()
    names = {*stored["dataset"]} & {*wanted}
    if not names:
        raise ValueError(
            f"rank: expected stored results of the {panel} panel, got none; provsel panel computes and stores them."
        )
    datasets = some("data set", names, panel_datasets())
    trials = computed(panel_cells({name: method.for_task(task)}, datasets), datasets, store, executor, console)
    beside = stored["method"].isin([*peers]) | (stored["size"] == ALL_FEATURES)
    beside &= stored["dataset"].isin([*datasets])
    scores = Scores.of(pd.concat([stored[beside], trials], ignore_index=True), task)
    size = OWN_SIZE if method.sizes == "own" else None
    errors = scores.of_slice(size=size)
    n_variants = _noted_variants(store.folder.parent, name, method)
    board = leaderboard(scores, size=size)
    return Standing(name, board, pairs_of(errors, name), sets_of(errors, name), scores, n_variants)


def _noted_variants(results: Path, name: str, method: PanelMethod) -> int:
    """Add a selector and its settings to the list of those that were ranked, and return how many there are."""
    path = results / FOLDER / VARIANTS
    variants = pd.read_csv(path, dtype=str) if path.is_file() else pd.DataFrame(columns=["first", "name", "settings"])
    settings = canonical_json(part_config("selector", method.overrides(1)))
    if settings not in {*variants["settings"]}:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        variants.loc[len(variants)] = [now, name, settings]
        write_frame(variants, path)
    return len(variants)


def check_name(name: str) -> None:
    """Raise if another selector has the name of a method of the panel."""
    if name in panel_methods():
        raise ValueError(
            f"rank: expected a name that no method of the panel has, got {name!r:.80}; choose another "
            f"by --name, or name=."
        )


def computed(
    cells: Sequence[PanelCell], datasets: Mapping[str, PanelDataset], store: TrialStore, executor: Mapping[str, Any],
    console: Console | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Compute the missing trials of the given cells, and return them as a panel.

    One trial of each cell is computed before all others. A cell with a failure ranks last, so its other trials are left
    out, and the first failure is reported.
    """
    run = partial(run_cells, store=store, executor=executor, label="rank", console=console)
    working, _ = _without_failure(cells, store)
    run(working, only_first=True).check("rank")
    working, failures = _without_failure(cells, store)
    if failures:
        (console or PlainConsole(stderr=True)).print(
            f"rank: {failures[0]}. {len(failures)} of {len(cells)} cells failed, for this or another reason; their "
            f"other trials are left out.",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )
    run(working).check("rank")
    return panel_from(store, cells, datasets)


def _without_failure(cells: Sequence[PanelCell], store: TrialStore) -> tuple[list[Cell], list[str]]:
    """Return the cells without a stored failure, and the first failure of each other cell in words."""
    trials = planned_trials(store, [entry.cell for entry in cells], ["failure"])
    failures = trials[trials["failure"].fillna("") != ""].groupby("place")["failure"].first()
    working = []
    texts = []
    for place, entry in enumerate(cells):
        if place in failures.index:
            reason = visible_line(failures[place]).rstrip(".")
            texts.append(f"{entry.method} failed on {entry.dataset}: {reason}")
        else:
            working.append(entry.cell)
    return working, texts


# ---- other data


class OnData(NamedTuple):
    """How methods of the panel compare on a data set.

    Attributes
    ----------
    board : DataFrame
        Index: the methods, the best mean rank over sizes and judges first. rank; balanced_error, in percent, and
        difference to all features in points, from low to high, its 95 % interval over folds; stability; seconds;
        panel, the mean rank on similar data sets of the panel.
    sizes : DataFrame
        Balanced error by method and size.
    n_alike, n_panel : int
        Number of similar data sets of the panel, whose numbers of columns differ by at most a factor `ALIKE`; all if
        fewer than three are similar.
    cells : list of PanelCell
    scores : Scores
        Of all.
    folds : FoldDifferences
        Balanced errors of the methods that did not fail.
    words : Words
        Of the error.
    yours : str
        A method outside the panel; "" if there is none.
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
        """The best method, the error with all features, and ties on these folds."""
        return of_methods(self.folds, self.folds.means().clip(0, 100), self.words, ALL)

    @property
    def problems(self) -> list[str]:
        """Remarks about methods that failed or selected fewer features than requested."""
        return problems_of(self.scores, self.board.index)

    def write(self, results: Path, name: str, command: str) -> Path:
        """Write the page of a data set below a results folder, and return it."""

        def write(site: Site) -> None:
            _draw_differences(self.board, site.folder, self.words)
            site.write(
                "index.html", "benchmark_data.html", f"Selectors on {name}", "index", ranking=self,
                command_line=command, name=name, all=ALL, hrefs={}, mine=(self.yours,),
                size=size_words(*self.cells[0].cell.counts[:2]),
            )  # fmt: skip

        return _pages(results, name, self.scores.lines, write)


def chosen_methods(
    names: Iterable[str] = (), task: Task = "classification"
) -> tuple[dict[str, PanelMethod], list[str]]:
    """Return all features and the methods with installed packages, and the names of the other methods.

    By default they are the methods of the task that were `FAST` in the panel and did not fail there.

    Raises
    ------
    ValueError
        For a name that the panel lacks, whose package is not installed, or that needs classes in a regression.
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
            f"{to_install('benchmark')}, or leave this method out."
        )
    return installed, missing


def _fast_methods(task: Task) -> list[str]:
    """Return the methods that took less than `FAST` in the panel, did not fail there, and need no compilation."""
    trials = read_panel()
    trials = trials[trials["task"] == task]
    seconds = trials.groupby(["method", "dataset"])["select_cpu"].median().groupby("method").median()
    failed = trials.loc[trials["failure"] != "", "method"].unique()
    names = []
    for name in panel_methods():
        if seconds.get(name, np.inf) <= FAST and name not in failed and name not in COMPILED:
            names.append(name)
    return names


def on_data(
    name: str, dataset: PanelDataset, methods: Mapping[str, PanelMethod], store: TrialStore,
    executor: Mapping[str, Any], yours: str = "",
) -> OnData:  # fmt: skip
    """Compute missing trials, and return how methods, including `yours` if given, compare on a data set."""
    datasets = {name: dataset}
    cells = panel_cells(methods, datasets, judging().own_data)
    trials = computed(cells, datasets, store, executor)
    scores = Scores.of(trials, dataset.task)
    ranking = leaderboard(scores)
    folds = _fold_errors(trials, ranking.index[ranking["failed"] > 0], _ratio(cells[0].cell))
    differences = pd.DataFrame(columns=["difference", "low", "high"], dtype=float)
    if ALL in folds.values:
        differences = folds.to(folds.values[ALL].to_numpy())[[*differences]]
        differences.loc[ALL, ["low", "high"]] = np.nan
    board = ranking[["rank", "balanced_error", "stability", "seconds"]].join(differences)
    stored = read_panel()
    n_features = stored[stored["task"] == dataset.task].groupby("dataset")["n_features"].first()
    d = int(scores.lines["n_features"].iloc[0])
    alike = n_features.index[n_features.between(d / ALIKE, ALIKE * d)]
    if len(alike) < 3:
        alike = n_features.index
    in_panel = standings(Scores.of(stored[stored["dataset"].isin(alike)], dataset.task), shown=())["rank"]
    board["panel"] = in_panel.reindex(board.index)
    of_sizes = scores.lines[scores.lines["size"] > 0].pivot_table("balanced_error", "method", "size")
    return OnData(
        board, of_sizes.reindex(board.index), len(alike), len(n_features), cells, scores, folds, WORDS[dataset.task],
        yours,
    )  # fmt: skip


def _ratio(cell: Cell) -> float:
    """Return the mean ratio of test rows to training rows over folds."""
    n_folds = cell.protocol["n_splits"]
    if cell.protocol["split"] == "benchmark":
        return 1 / (n_folds - 1)
    measured = cell.measured
    assert isinstance(measured, AbstractFolds)
    splits = measured.splits(load_from(cell.dataset), n_folds, split_seed=0)
    return float(np.mean([test.size / train.size for train, test in splits]))


def _fold_errors(trials: pd.DataFrame, failed: Iterable[str], ratio: float) -> FoldDifferences:
    """Return the balanced error in percent on each fold, mean over sizes and judges, of methods that did not fail."""
    trials = trials[(trials["size"] > 0) | (trials["size"] == ALL_FEATURES)]
    errors = 100 * (1 - trials["balanced_accuracy"])
    means = errors.groupby([trials["repeat"], trials["fold"], trials["method"]]).mean()
    values = means.unstack("method").drop(columns=list(failed), errors="ignore").dropna(axis="columns")
    return FoldDifferences(values, ratio=ratio)


def _draw_differences(frame: pd.DataFrame, folder: Path, words: Words) -> None:
    """Draw a dot for each line of a frame at its difference, with a bar from low to high."""
    from provlab.report.figures.curves import dots
    from provlab.report.figures.style import ON_A_PAGE

    lines = frame[["difference", "low", "high"]].dropna().rename(columns={"difference": "value"})
    if lines.empty:
        return
    lines = lines.assign(row=lines.index, dataset="")
    figure = dots(lines, xlabel=f"difference in {words.measure} (points)", width=ON_A_PAGE)
    figure.savefig(folder / "differences.svg")


def _pages(results: Path, name: str, lines: pd.DataFrame, write: Callable[[Site], None]) -> Path:
    """Replace the pages and the scores behind them, and return the first page."""
    from provlab.report.templating import Site, write_assets

    target = results / FOLDER / (in_file_name(name) or "selector")
    with replacing_folder(target, keep=True) as folder:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        write(Site(results, folder, (), now, int(lines["trials"].sum()), (), alone=True))
        write_assets(folder / "assets", plots=False)
        write_frame(lines, folder / "scores.csv")
    return target / "index.html"
