"""Execution of the missing trials of cells, with progress, keeping every result."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from provlab.core.cell import Cell
from provlab.core.plan import (
    MANY_ROWS,
    Task,
    files_missing,
    load_from,
    make_tasks,
    trials_of,
    unique_cells,
)
from provlab.core.protocols import AbstractFolds
from provlab.core.store import TrialStore
from provlab.data import MissingDataError, describe_roots
from provlab.project.components import component_class, is_own
from provlab.project.documents import canonical_json
from provlab.project.terminal import PlainConsole
from provlab.run.executors import execute
from provlab.run.task import Results, data_of
from provsel.selectors import BaseSelector

PLAIN_EVERY = 15.0
"""Seconds between two progress lines without a terminal."""

HERE = ("auto", "serial", "loky")
"""Executors whose workers have access to the same files as this process."""

SHOWN = 5
"""Number of data sets named in a message."""

KINDS = 10
"""Number of kinds of failures or warnings that are printed."""

BY_LIBSVM = (".LibsvmSVM", ".CrossValidatedSVM")

NUMBER = re.compile(r"\d[\w.+-]*")
"""Parts that differ between warnings of the same kind."""

FIRST = (
    "first failed trial: {reason} ({where}). Continuing; failures are summarised at the end. Ctrl-C ends the run, "
    "and stored trials are kept."
)
"""Printed at once, because wrong settings make every trial fail."""


@dataclass
class RunReport:
    """The result of a run.

    Attributes
    ----------
    n_planned, n_found, n_run : int
        Numbers of planned trials, of trials stored before, and of trials computed now.
    failures : list of (key, where, reason)
    warnings : list of str
        Warnings issued by the tasks.
    seconds : float
    stopped : bool
        Whether the run ended before all trials were attempted.
    """

    n_planned: int = 0
    n_found: int = 0
    n_run: int = 0
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False

    @property
    def n_skipped(self) -> int:
        """Number of trials that were not attempted or whose results were not awaited."""
        return self.n_planned - self.n_found - self.n_run - len(self.failures)

    def counts(self) -> str:
        """Return a one-line summary."""
        text = (
            f"{self.n_planned} trials: {self.n_found} were stored, {self.n_run} computed "
            f"in {self.seconds:.1f} s, {len(self.failures)} failed"
        )
        return f"{text}, {self.n_skipped} skipped" if self.stopped else text

    def kinds(self) -> list[str]:
        """Return one line for each of the most frequent reasons for failures."""
        last = {reason: f" (last: {where})" for _, where, reason in self.failures}
        return _most_frequent((reason for *_, reason in self.failures), last)

    def check(self, command: str) -> None:
        """Raise ValueError if trials failed, with their reasons."""
        if self.failures:
            raise ValueError(
                f"{command}: {len(self.failures)} of {self.n_planned} trials failed, the others are stored: "
                f"{'; '.join(self.kinds())}"
            )

    def reasons(self, cells: Iterable[Cell]) -> dict[str, str]:
        """Return the reason of the first failed trial of each cell, by cell id."""
        by_key = {key: reason for key, _, reason in self.failures}
        reasons: dict[str, str] = {}
        for cell in unique_cells(cells) if by_key else ():
            for *_, key in trials_of(cell):
                if key in by_key:
                    reasons.setdefault(cell.id, by_key[key])
        return reasons

    def summary(self) -> str:
        """Return `counts` and `kinds` as lines."""
        return "\n".join([self.counts(), *(f"  {line}" for line in self.kinds())])


def _most_frequent(reasons: Iterable[str], ends: Mapping[str, str]) -> list[str]:
    """Return one line for each of the most frequent reasons, and one for all others."""
    counted = Counter(reasons).most_common()
    lines = [f"{n} x {reason}{ends.get(reason, '')}" for reason, n in counted[:KINDS]]
    rest = dict(counted[KINDS:])
    if rest:
        lines.append(f"{sum(rest.values())} x {len(rest)} other reasons")
    return lines


def run_cells(
    cells: Iterable[Cell],
    store: TrialStore,
    executor: Mapping[str, Any],
    *,
    label: str = "",
    console: Console | None = None,
    fail_fast: bool = False,
    complete: Collection[str] = (),
    only_first: bool = False,
) -> RunReport:
    """Compute the trials of `cells` that are not in the store, and store the results of each task as they arrive.

    An interrupt, or a failure with `fail_fast`, loses at most the running tasks, and
    the same call resumes. Nothing is computed for the cells with the ids `complete`,
    whose trials are not read from the store. With `only_first`, only the first missing
    trial of each cell is computed.
    """
    console = console or PlainConsole(stderr=True)
    say = partial(console.print, highlight=False, markup=False, soft_wrap=True)
    cells = list(cells)
    tasks = make_tasks(
        [cell for cell in cells if cell.id not in complete], done=store.keys()
    )
    report = RunReport(n_planned=sum(cell.n_trials for cell in unique_cells(cells)))
    report.n_found = report.n_planned - sum(len(task.trials) for task in tasks)
    if damaged := store.damaged_note():
        say(damaged)
    if not tasks:
        return report
    check_data(tasks, executor)
    refused = refused_cells(tasks, executor)
    report.failures = failures_of(tasks, refused)
    n_refused = len(report.failures)
    if refused:
        _check_refused(report, refused, fail_fast)
        say(f"{n_refused} trials were not run: {report.kinds()[0]}")
        tasks = _without(tasks, refused)
    label = label or "trials"
    if only_first:
        tasks = _first_trials(tasks)
        label = f"{label}, part 1 of 2 (one trial of each)"
    own_warnings = _warn_of_files(tasks)
    store.prepare()
    start = time.perf_counter()
    try:
        n_trials = sum(len(task.trials) for task in tasks)
        # closing the results stops running tasks
        with (
            closing(
                _store_results(tasks, executor, store, report, own_warnings)
            ) as results,
            ticker(console, label, n_trials) as advance,
        ):
            for result in results:
                if (
                    len(report.failures) == n_refused + len(result.failures) > n_refused
                    and report.n_skipped
                ):
                    _, where, reason = result.failures[0]
                    say(FIRST.format(reason=reason.rstrip("."), where=where))
                advance(len(result.records) + len(result.failures))
                if fail_fast and report.failures and report.n_skipped:
                    report.stopped = True
                    break
    except KeyboardInterrupt:
        say(
            f"interrupted: {report.n_found + report.n_run} of {report.n_planned} trials are stored; "
            f"run the same command again to resume."
        )
        raise
    finally:
        for line in _most_frequent(
            (NUMBER.sub("...", text) for text in report.warnings), {}
        ):
            say(f"warning: {' '.join(line.split())}")
        report.seconds = time.perf_counter() - start
    try:
        store.compact()
    except OSError as error:  # all results are stored, and the next run merges
        say(f"not merged: {error}")
    return report


def _store_results(
    tasks: Sequence[Task],
    executor: Mapping[str, Any],
    store: TrialStore,
    report: RunReport,
    own_warnings: tuple[str, ...],
) -> Results:
    """Yield the result of each task after storing its records and counting them in the report."""
    with closing(execute(tasks, executor)) as results:
        for result in results:
            store.append(result.records)
            report.n_run += len(result.records)
            report.failures += result.failures
            for text in result.warnings:
                if not text.partition(": ")[2].startswith(own_warnings):
                    report.warnings.append(text)
            yield result


def run_methods(
    cells: Sequence[Cell],
    store: TrialStore,
    executor: Mapping[str, Any],
    **options: Any,
) -> RunReport:
    """Run cells like `run_cells`, starting with one trial of each; a cell whose first trial fails is left out.

    This reveals a wrong setting before the other trials, which would be useless, are
    computed.
    """
    first = run_cells(cells, store, executor, only_first=True, **options)
    failed = first.reasons(cells)
    report = run_cells(
        [cell for cell in cells if cell.id not in failed], store, executor, **options
    )
    report.n_planned = first.n_planned
    report.n_found = first.n_found
    report.n_run += first.n_run
    report.failures = first.failures + report.failures
    report.warnings = first.warnings + report.warnings
    report.seconds += first.seconds
    return report


def _without(tasks: Iterable[Task], refused: Collection[str]) -> list[Task]:
    """Return tasks without the trials of the given cell ids."""
    left = []
    for task in tasks:
        trials = [
            trial for trial in task.trials if task.cells[trial.cell].id not in refused
        ]
        if trials:
            left.append(replace(task, trials=tuple(trials)))
    return left


def _first_trials(tasks: Iterable[Task]) -> list[Task]:
    """Return tasks with the first trial of each cell."""
    seen: set[str] = set()
    first = []
    for task in tasks:
        trials = []
        for trial in task.trials:
            cell = task.cells[trial.cell].id
            if cell not in seen:
                seen.add(cell)
                trials.append(trial)
        if trials:
            first.append(replace(task, trials=tuple(trials)))
    return first


def _warn_of_files(tasks: Iterable[Task]) -> tuple[str, ...]:
    """Warn about users' own files, and return the prefixes of these warnings, which each task would repeat."""
    beginnings: list[str] = []
    own = {
        (task.data, task.protocol.get("preparation") is None): task
        for task in tasks
        if task.dataset["name"] == "file"
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for task in own.values():
            dataset = data_of(task)
            beginnings += [f"data set {dataset.name}", f"data set {dataset.name!r}"]
            n = dataset.X.shape[0]
            if n > MANY_ROWS and any(
                str(cell.model.get("_target_")).endswith(BY_LIBSVM)
                for cell in task.cells
            ):
                warnings.warn(
                    f"data set {dataset.name}: {n:,} rows, and a model of LIBSVM, which takes minutes or hours per "
                    f"fit on so many rows; model=liblinear_primal takes seconds, or take a sample: "
                    f"+dataset.sample_rows=10000.",
                    stacklevel=1,
                )
    messages = {
        f"{warning.category.__name__}: {warning.message}": warning.message
        for warning in caught
    }
    for message in messages.values():
        warnings.warn(message, stacklevel=3)
    return tuple(beginnings)


def _check_refused(
    report: RunReport, refused: Mapping[str, str], fail_fast: bool
) -> None:
    """Raise if no trial remains and none is stored, or if the first failure must end the run."""
    if fail_fast or (not report.n_found and not report.n_skipped):
        reasons = dict.fromkeys(refused.values())
        raise ValueError(
            f"the run was refused, and nothing was computed: {' '.join([*reasons][:KINDS])}"
        )


def refused_cells(tasks: Iterable[Task], executor: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells that cannot be computed at all, as is clear from their data before the first trial.

    Users' own files, and registered data sets that are split into folds, are checked if
    the workers are local.

    Returns
    -------
    dict
        Reasons by cell id, such as fewer rows of a class than folds.
    """
    refused: dict[str, str] = {}
    reasons: dict[tuple[Any, ...], str] = {}
    is_here = executor.get("name") in HERE
    for task in tasks:
        for cell in task.cells:
            if task.dataset["name"] != "file" and not (
                is_here and isinstance(cell.measured, AbstractFolds)
            ):
                continue
            has_preparation = cell.protocol.get("preparation") is not None
            folds = (
                cell.protocol["split"],
                cell.protocol["n_splits"],
                canonical_json(cell.protocol.get("cv")),
            )
            about = (
                cell.data,
                *folds,
                has_preparation,
                canonical_json(dict(cell.model)),
            )
            if about not in reasons:
                reasons[about] = _reason_against(cell)
            reason = reasons[about]
            if task.dataset["name"] == "file":
                reason = reason or _reason_against_size(cell)
            if reason:
                refused[cell.id] = reason
    return refused


def _reason_against(cell: Cell) -> str:
    """Return why no trial of a cell can be computed on its data; "" if there is no obstacle."""
    dataset = load_from(cell.dataset)
    try:
        cell.measured.check_folds(dataset, cell.protocol["n_splits"])
        cell.measured.check_data(cell.method, dataset)
        if cell.protocol.get("preparation") is None:
            dataset.check_complete()
    except ValueError as error:
        return str(error)
    return ""


def _reason_against_size(cell: Cell) -> str:
    """Return why a selector cannot select the requested number of features of a user's table; "" if it can."""
    count = cell.selector.get("n_features_to_select")
    preparation = cell.protocol.get("preparation")
    if not isinstance(count, int) or not (preparation is None or is_own(preparation)):
        return ""
    dataset = load_from(cell.dataset)
    n_columns = dataset.X.shape[1]
    is_ours = issubclass(component_class("selector", cell.selector), BaseSelector)
    # a text column becomes a column per category
    if count <= n_columns or dataset.categories or not is_ours:
        return ""
    return (
        f"selector.n_features_to_select: expected at most {n_columns}, the columns of {dataset.name}, got {count}; "
        f"lower it, or use a share, such as 0.5."
    )


def failures_of(
    tasks: Iterable[Task], refused: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Return key, place and reason of each trial of refused cells, like the failed trials of a task."""
    failures = []
    for task in tasks:
        where = f"{task.dataset['name']}, repeat {task.repeat}, fold {task.fold}"
        for trial in task.trials:
            reason = refused.get(task.cells[trial.cell].id)
            if reason is not None:
                failures.append((trial.key, where, f"ValueError: {reason}"))
    return failures


def check_data(tasks: Iterable[Task], executor: Mapping[str, Any]) -> None:
    """Raise if data that tasks on this machine need are missing; remote workers have their own data.

    Raises
    ------
    MissingDataError
        If data sets are missing. The message names some, how to get them, and
        alternatives.
    """
    if executor.get("name") not in HERE:
        return
    datasets = list({task.data: task.dataset for task in tasks}.values())
    missing = [
        (dataset, files) for dataset in datasets if (files := files_missing(dataset))
    ]
    if not missing:
        return
    dataset, [file, *_] = missing[0]
    sources = " ".join(
        dict.fromkeys(missing_dataset["name"] for missing_dataset, _ in missing)
    )
    names = [
        str(missing_dataset["set"])
        for missing_dataset in datasets
        if "set" in missing_dataset and not files_missing(missing_dataset)
    ]
    is_one = len({missing_dataset["name"] for missing_dataset in datasets}) == 1
    choice = (
        f"; or choose available ones: dataset.set=[{','.join(names[:SHOWN])}]"
        if names and is_one
        else ""
    )
    first = " ".join(str(dataset[name]) for name in ("name", "set") if name in dataset)
    raise MissingDataError(
        f"{len(missing)} of {len(datasets)} data sets of this run are missing, such as {first}: expected {file} in "
        f"{describe_roots()}, found none; run provsel fetch {sources}{choice}.",
        sources,
    )


@contextmanager
def ticker(console: Console, label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that counts n more trials, shown as a bar with ETA or as a line every few seconds."""
    start = last = time.perf_counter()
    done = 0
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("ETA"), TimeRemainingColumn(), console=console, disable=not console.is_terminal,
    )  # fmt: skip
    task = bar.add_task(label, total=total)

    def advance(n: int) -> None:
        nonlocal done, last
        done += n
        bar.advance(task, n)
        now = time.perf_counter()
        if not console.is_terminal and now - last >= PLAIN_EVERY:
            last = now
            left = (now - start) / max(done, 1) * (total - done)
            console.print(
                f"{label}: {done}/{total} trials, ETA {left:.0f} s", highlight=False
            )

    with bar:
        yield advance
