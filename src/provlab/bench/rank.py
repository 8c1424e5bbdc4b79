"""Rank a selector among the methods of the panel; only missing trials are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from rich.console import Console
from sklearn.base import BaseEstimator

from provlab.bench.answer import Words, of_standing, wrapped
from provlab.bench.methods import TASKS, PanelMethod, Task, panel_methods, panel_names
from provlab.bench.panel import PanelCell, panel_cells, panel_data, panel_datasets, some
from provlab.bench.run_names import SIZES
from provlab.bench.stored_panel import panel_of, read_panel, trials_from
from provlab.bench.submission import Submission
from provlab.core.cell import Cell
from provlab.core.composition import compose_config, part_config
from provlab.core.frames import planned_trials
from provlab.core.store import TrialStore
from provlab.core.tables import aligned_text, write_frame
from provlab.project.components import component_class
from provlab.project.documents import canonical_json
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.project.messages import in_file_name, optional_figures, visible_line
from provlab.project.terminal import PlainConsole
from provlab.run.runner import run_cells
from provlab.verdicts.panel_frame import ALL_FEATURES, OWN_SIZE
from provlab.verdicts.panel_pairs import pairs_of
from provlab.verdicts.panel_ranking import leaderboard, sets_of
from provlab.verdicts.panel_scores import ALL, ERROR_OF, Scores
from provsel.files import replacing_folder

if TYPE_CHECKING:  # the module needs the extra "report"
    from provlab.report.templating import Site

PANELS = ("quick", "full")

WORDS = {
    task: Words(measure, is_percent=True, decimals=1)
    for task, measure in ERROR_OF.items()
}

FOLDER = "rank"
"""Subfolder of the results folder."""

VARIANTS = "variants.csv"
"""File in the same folder with a row for each ranked selector and its settings."""


class Standing(NamedTuple):
    """How a selector compares with the others.

    Attributes
    ----------
    name : str
    leaderboard, pairs, sets : DataFrame
        All methods on the data sets of the panel, the selector compared with each other
        method, and its results by data set, the strongest first; see
        `provlab.verdicts.panel_ranking`.
    scores : Scores
        Scores of all methods, from which the tables are computed.
    submission : Submission
        The selector with its trials, which can be added to the benchmark, and the
        number of variants ranked from this results folder so far.
    """

    name: str
    leaderboard: pd.DataFrame
    pairs: pd.DataFrame
    sets: pd.DataFrame
    scores: Scores
    submission: Submission

    @property
    def failed(self) -> bool:
        """Whether the selector failed on every data set and has no results."""
        return bool(self.leaderboard.loc[self.name, "sets"] == 0)

    @property
    def answer(self) -> list[str]:
        """Sentences that compare the selector with all features and with the other methods."""
        if self.failed:
            return []
        n_domains = self.sets["domain"].nunique()
        return of_standing(
            visible_line(self.name), self.pairs, WORDS[self.scores.task], ALL, n_domains
        )

    @property
    def problems(self) -> list[str]:
        """Warnings if the selector failed, selected too few features, or is one of several variants."""
        problems = problems_of(self.scores, [self.name])
        n_variants = self.submission.n_variants
        if n_variants > 1:
            problems.append(
                f"{n_variants} variants were ranked from this results folder, see {FOLDER}/{VARIANTS}. The best "
                f"of several variants looks better than it is, so report how many you tried."
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
            f"loss: difference from all features; difference: of the selector from each method. Both are in points of "
            f"{ERROR_OF[self.scores.task]}, and negative is better.",
        ]
        return "\n".join([*lines, *self.problems])

    def __repr__(self) -> str:
        return str(self)

    def _texts(self) -> pd.DataFrame:
        """Return the printed columns as strings, with one row per method."""
        board = self.leaderboard.join(self.pairs[["difference", "verdict"]])
        texts = pd.DataFrame({
            "rank": board["rank"].map("{:.1f}".format),
            "loss": board["loss"].map("{:+.1f}".format, na_action="ignore"),
            "difference": board["difference"].map("{:+.1f}".format, na_action="ignore"),
            "verdict": board["verdict"],
        }, dtype=object)  # fmt: skip
        return texts.fillna("").rename(index=visible_line)

    def write(self, results: Path) -> Path:
        """Write the pages into a results folder, with the selector highlighted, and return the first page."""
        from provlab.bench.panel_pages import write_panel

        def write(site: Site) -> None:
            draw_differences(self.pairs, site.folder, WORDS[self.scores.task])
            write_panel(
                site, self.scores, [self.name], title=f"{self.name} among the selectors of the benchmark",
                pairs=self.pairs, sets=self.sets, index="index.html", problems=self.problems,
                answer=self.answer,
            )  # fmt: skip

        return write_pages(results, self.name, self.scores.lines, write)

    def export(self, path: Path | str) -> Path:
        """Write the selector's trials to a Parquet file that others can audit and add to the benchmark.

        Raises
        ------
        ValueError
            If the file name does not end in .parquet, or others cannot import the
            class.
        """
        return self.submission.write(path)


def problems_of(scores: Scores, methods: Iterable[str]) -> list[str]:
    """Return a line for each method that failed or selected fewer features than requested."""
    problems = []
    for name in methods:
        if name in scores.reasons:
            problems.append(
                f"{name} failed and has no results there: {visible_line(scores.reasons[name])}"
            )
        fewer = scores.fewer(name)
        if fewer:
            problems.append(f"{name} selected fewer features than requested: {fewer}")
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
    """Rank a selector among the methods of the benchmark, whose trials are already stored.

    Only the trials of the selector are computed. They are stored one by one in
    `results`, so a repeated call computes nothing and an interrupted call resumes.
    Every step is fitted on the training rows of each fold: columns are standardised,
    features are selected, and four models are trained on them. A selection that fails
    or takes more than 300 s is recorded as failed, and the selector ranks last on that
    data set.

    Parameters
    ----------
    selector : unfitted selector or transformer
        Its `n_features_to_select`, `n_components`, `k` or `max_features` is set to each
        size of the panel. A selector without such a parameter chooses its own number,
        and is compared with methods that do the same.
    panel : {"quick", "full"}, default="quick"
        One data set per domain, or all data sets.
    task : {"classification", "regression"}, default="classification"
        Whether the targets of the data sets are classes or numbers.
    against : iterable of str, optional
        Methods of the panel to compare with; by default all. The baseline with all
        features is always included.
    name : str, optional
        Name of the selector on pages; by default the name of its class, followed by
        its package if a method of the panel has the same name.
    results : path, default="results"
        Folder of the store; the page is written to rank/<name>/index.html in it.
    n_jobs : int, default=1
        Number of worker processes. More than one requires classes that the workers can
        import.
    console : rich.console.Console, optional
        Console for progress; by default standard error.

    Raises
    ------
    ValueError
        If the object is not a selector, a name is unknown, or trials fail for reasons
        outside the selector.
    MissingDataError
        If a data set of the panel is missing. The message names the command that
        fetches it.

    Examples
    --------
    >>> from provlab import rank
    >>> from provsel.selectors import RRQRSelector
    >>> rank(RRQRSelector(10)).leaderboard  # doctest: +SKIP
    """
    if not isinstance(selector, BaseEstimator):
        raise ValueError(
            f"rank: expected an unfitted selector, got {selector!r:.80}; call the class."
        )
    executor = {"name": "serial"} if n_jobs == 1 else {"name": "loky", "n_jobs": n_jobs}
    store = TrialStore(Path(results) / "store")
    with estimators_in_hand():
        method = method_in_hand(selector)
        kind = type(selector)
        shown = name or name_of_class(f"{kind.__module__}.{kind.__qualname__}")
        result = standing(
            shown, method, panel, against, store, executor, console, task=task
        )
    with optional_figures():
        result.write(Path(results))
    return result


def method_in_hand(selector: BaseEstimator) -> PanelMethod:
    """Return a selector as a method of the panel; call it within `estimators_in_hand`."""
    config = as_config(selector)
    choose = ["selector=any", f"selector._target_={config.pop('_target_')}"]
    return method_of(
        [*choose, *(f"+selector.{key}={_text(value)}" for key, value in config.items())]
    )


def method_of(choose: Sequence[str]) -> PanelMethod:
    """Return the method that the overrides choose, with the size as an override if its class has such a parameter."""
    parameters = signature(
        component_class("selector", compose_config(choose)["selector"])
    ).parameters
    for size in SIZES:
        if size in parameters:
            return PanelMethod(
                (*choose, f"++selector.{size}=SIZE"), sizes="at most", chosen=False
            )
    return PanelMethod(tuple(choose), sizes="own")


def _text(value: Any) -> str:
    """Return a config value in Hydra's grammar."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ",".join(f"{name}:{_text(item)}" for name, item in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, str):
        return "'" + value.replace("'", r"\'") + "'"
    return {"None": "null", "True": "true", "False": "false"}.get(
        repr(value), repr(value)
    )


def standing(
    name: str, method: PanelMethod, panel: str, against: Iterable[str], store: TrialStore,
    executor: Mapping[str, Any], console: Console | None = None, *, task: Task = "classification",
) -> Standing:  # fmt: skip
    """Compute the missing trials of a method, and return its standing; see `rank`."""
    if panel not in PANELS:
        raise ValueError(
            f"rank: panel: expected one of {', '.join(PANELS)}, got {panel!r:.80}."
        )
    if task not in TASKS:
        raise ValueError(
            f"rank: task: expected one of {', '.join(TASKS)}, got {task!r:.80}."
        )
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
    method = method.for_task(task)
    trials = computed(panel_cells({name: method}, datasets), store, executor, console)
    beside = stored["method"].isin([*peers]) | (stored["size"] == ALL_FEATURES)
    beside &= stored["dataset"].isin([*datasets])
    scores = Scores.of(
        pd.concat([stored[beside], panel_of(trials, datasets)], ignore_index=True), task
    )
    size = OWN_SIZE if method.sizes == "own" else None
    errors = scores.of_slice(size=size)
    n_variants = _noted_variants(store.folder.parent, name, method)
    submission = Submission(name, replace(method, tasks=(task,)), n_variants, trials)
    board = leaderboard(scores, size=size)
    return Standing(
        name, board, pairs_of(errors, name), sets_of(errors, name), scores, submission
    )


def _noted_variants(results: Path, name: str, method: PanelMethod) -> int:
    """Add a selector and its settings to the list of ranked variants, and return their number."""
    path = results / FOLDER / VARIANTS
    variants = (
        pd.read_csv(path, dtype=str)
        if path.is_file()
        else pd.DataFrame(columns=["first", "name", "settings"])
    )
    settings = canonical_json(part_config("selector", method.overrides(1)))
    if settings not in {*variants["settings"]}:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        variants.loc[len(variants)] = [now, name, settings]
        write_frame(variants, path)
    return len(variants)


def name_of_class(path: str) -> str:
    """Return the name of a class, with its package if a method of the panel has the same name."""
    package, _, _ = path.partition(".")
    _, _, name = path.rpartition(".")
    return f"{name} of {package}" if name in panel_methods() else name


def check_name(name: str) -> None:
    """Raise if a selector that is not in the panel has the name of a panel method."""
    if name in panel_methods():
        raise ValueError(
            f"rank: expected a name that no method of the panel has, got {name!r:.80}; choose another "
            f"with --name or name=."
        )


def computed(
    cells: Sequence[PanelCell],
    store: TrialStore,
    executor: Mapping[str, Any],
    console: Console | None = None,
) -> pd.DataFrame:
    """Compute the missing trials of the given cells, and return all of them as `read_trials` does.

    One trial of each cell is computed first. A cell with a failure ranks last anyway,
    so its other trials are skipped, and the first failure is reported.
    """
    run = partial(
        run_cells, store=store, executor=executor, label="rank", console=console
    )
    working, _ = _without_failure(cells, store)
    run(working, only_first=True).check("rank")
    working, failures = _without_failure(cells, store)
    if failures:
        (console or PlainConsole(stderr=True)).print(
            f"rank: {failures[0]}. {len(failures)} of {len(cells)} cells failed, for this or another reason; their "
            f"remaining trials are skipped.",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )
    run(working).check("rank")
    return trials_from(store, cells)


def _without_failure(
    cells: Sequence[PanelCell], store: TrialStore
) -> tuple[list[Cell], list[str]]:
    """Return the cells without a stored failure, and a message with the first failure of each other cell."""
    trials = planned_trials(store, [entry.cell for entry in cells], ["failure"])
    failures = (
        trials[trials["failure"].fillna("") != ""].groupby("place")["failure"].first()
    )
    working = []
    texts = []
    for place, entry in enumerate(cells):
        if place in failures.index:
            reason = visible_line(failures[place]).rstrip(".")
            texts.append(f"{entry.method} failed on {entry.dataset}: {reason}")
        else:
            working.append(entry.cell)
    return working, texts


def draw_differences(frame: pd.DataFrame, folder: Path, words: Words) -> None:
    """Draw the difference in each row of a frame as a dot, with a bar from low to high."""
    from provlab.report.figures.curves import dots
    from provlab.report.figures.style import ON_A_PAGE

    lines = (
        frame[["difference", "low", "high"]]
        .dropna()
        .rename(columns={"difference": "value"})
    )
    if lines.empty:
        return
    lines = lines.assign(row=lines.index, dataset="")
    figure = dots(
        lines, xlabel=f"difference in {words.measure} (points)", width=ON_A_PAGE
    )
    figure.savefig(folder / "differences.svg")


def write_pages(
    results: Path, name: str, lines: pd.DataFrame, write: Callable[[Site], None]
) -> Path:
    """Replace the pages and their scores, and return the first page."""
    from provlab.report.templating import Site, write_assets

    target = results / FOLDER / (in_file_name(name) or "selector")
    with replacing_folder(target, keep=True) as folder:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        write(
            Site(results, folder, (), now, int(lines["trials"].sum()), (), alone=True)
        )
        write_assets(folder / "assets", plots=False)
        write_frame(lines, folder / "scores.csv")
    return target / "index.html"
