"""Run what is missing of some cells, with progress, and keep every result."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from provlab.datasets import MissingDataError, describe_roots
from provlab.identity.cell import Cell
from provlab.plan import Task, files_missing, make_tasks, unique_cells
from provlab.run.executors import execute
from provlab.store import TrialStore
from provlab.terminal import PlainConsole

PLAIN_EVERY = 15.0
"""Seconds between two lines of progress where there is no terminal."""

HERE = ("serial", "loky")
"""Executors whose workers see the files that this process sees."""

SHOWN = 5
"""Data sets that a message names."""

KINDS = 10
"""Kinds of failures that a summary prints; a number in a message can make each trial's its own."""

NUMBER = re.compile(r"\d[\w.+-]*")
"""What differs between two warnings of one kind."""

FIRST = (
    "the first trial that failed: {reason} ({where}). The others go on, and reasons are counted at the end; Ctrl-C "
    "ends the run now, and what is stored stays."
)
"""Said at once, as what is wrong with the settings fails in each of many trials."""


@dataclass
class RunReport:
    """What a run did.

    Attributes
    ----------
    n_planned, n_found, n_run : int
        Trials of the cells; those that were stored before; those that were computed now.
    failures : list of (key, where, reason)
    warnings : dict
        How many tasks warned of something, and the last text, by the text without its numbers.
    seconds : float
    stopped : bool
        Whether the run was ended before all was tried.
    """

    n_planned: int = 0
    n_found: int = 0
    n_run: int = 0
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: dict[str, tuple[int, str]] = field(default_factory=dict)
    seconds: float = 0.0
    stopped: bool = False

    @property
    def n_skipped(self) -> int:
        """Trials that were not tried, or whose results were not waited for."""
        return self.n_planned - self.n_found - self.n_run - len(self.failures)

    def counts(self) -> str:
        """Return one line for people."""
        text = (
            f"{self.n_planned} trials: {self.n_found} were stored, {self.n_run} computed "
            f"in {self.seconds:.1f} s, {len(self.failures)} failed"
        )
        return f"{text}, {self.n_skipped} skipped" if self.stopped else text

    def kinds(self) -> list[str]:
        """Return one line for each of the most frequent kinds of failures."""
        last = {reason: where for _, where, reason in self.failures}
        found = Counter(reason for *_, reason in self.failures).most_common()
        lines = [f"{n} x {reason} (last: {last[reason]})" for reason, n in found[:KINDS]]
        rest = found[KINDS:]
        return lines + ([f"{sum(n for _, n in rest)} x {len(rest)} other reasons"] if rest else [])

    def hear(self, texts: Iterable[str]) -> list[str]:
        """Count what a task warned of, each kind once; return a line for each kind that was not heard before."""
        new = []
        for kind, text in {NUMBER.sub("#", text): text for text in texts}.items():
            n, _ = self.warnings.get(kind, (0, ""))
            self.warnings[kind] = n + 1, text
            if n == 0 and len(self.warnings) <= KINDS:
                new.append(_warned(1, text))
        return new

    def heard(self) -> list[str]:
        """Return one line for each of the most frequent kinds of warnings that several tasks gave."""
        found = sorted(self.warnings.values(), key=lambda kind: -kind[0])
        lines = [_warned(n, text) for n, text in found[:KINDS] if n > 1]
        return lines + ([f"and of {len(found) - KINDS} other kinds"] if found[KINDS:] else [])

    def reason(self) -> str:
        """Return in one line why trials failed, empty when none did."""
        if not self.failures:
            return ""
        [(text, _), *others] = Counter(reason for *_, reason in self.failures).most_common()
        more = f" (and {len(others)} other reason{'s' * (len(others) > 1)})" if others else ""
        return f"{len(self.failures)} of {self.n_planned} trials failed: {text}{more}"

    def summary(self) -> str:
        """Return `counts` and `kinds` as lines."""
        return "\n".join([self.counts(), *(f"  {line}" for line in self.kinds())])


def has_failed(report: RunReport) -> bool:
    """Tell whether a run has seen a failure: with --fail-fast, when it ends."""
    return bool(report.failures)


def _warned(n: int, text: str) -> str:
    return f"{n} task{'s' * (n > 1)} warned: {' '.join(text.split())}"


def run_cells(
    cells: Iterable[Cell],
    store: TrialStore,
    executor: Mapping[str, Any],
    *,
    label: str = "",
    console: Console | None = None,
    stop: Callable[[RunReport], bool] | None = None,
    known: Collection[str] = (),
) -> RunReport:
    """Compute the trials of `cells` that the store does not have, and store each task's as it comes.

    An interrupt loses at most the running tasks; the same call resumes. So does `stop`, which is
    asked after each task whether to end the run. The cells with the ids `known` are had from elsewhere than the store.
    """
    console = console or PlainConsole(stderr=True)
    say = partial(console.print, highlight=False, markup=False, soft_wrap=True)
    cells = list(cells)
    tasks = make_tasks([cell for cell in cells if cell.id not in known], done=store.keys())
    missing = sum(len(task.trials) for task in tasks)
    report = RunReport(n_planned=sum(cell.n_trials for cell in unique_cells(cells)))
    report.n_found = report.n_planned - missing
    if damaged := store.damaged_note():
        say(damaged)
    if not tasks:
        return report
    check_data(tasks, executor)
    store.prepare()
    start = time.perf_counter()
    results = execute(tasks, executor)
    try:
        with Ticker(console, label, missing) as ticker:
            for result in results:
                store.append(result.records)
                report.n_run += len(result.records)
                is_first = not report.failures
                report.failures += result.failures
                for line in report.hear(result.warnings):
                    say(line)
                if is_first and result.failures and report.n_skipped:
                    _, where, reason = result.failures[0]
                    say(FIRST.format(reason=reason.rstrip("."), where=where))
                ticker.advance(len(result.records) + len(result.failures))
                if stop is not None and report.n_skipped and stop(report):
                    report.stopped = True
                    break
    except KeyboardInterrupt:
        say(
            f"interrupted: {report.n_found + report.n_run} of {report.n_planned} trials are stored; "
            f"run the same command again to resume."
        )
        raise
    finally:
        if isinstance(results, Generator):  # which ends the tasks that still run
            results.close()
        for line in report.heard():
            say(line)
        report.seconds = time.perf_counter() - start
    try:
        store.compact()
    except OSError as error:  # all is stored, and the next run merges
        say(f"not merged: {error}")
    return report


def check_data(tasks: Iterable[Task], executor: Mapping[str, Any]) -> None:
    """Refuse to begin without the data that tasks on this machine would miss later; workers elsewhere have their own.

    Raises
    ------
    MissingDataError
        Says which are missing, how to get them, and which are there.
    """
    if executor.get("name") not in HERE:
        return
    datasets = list({task.data: task.dataset for task in tasks}.values())
    missing = [(dataset, files) for dataset in datasets if (files := files_missing(dataset))]
    if not missing:
        return
    dataset, [file, *_] = missing[0]
    names = [str(each["set"]) for each in datasets if "set" in each and not files_missing(each)]
    choice = f", or choose those that are there: dataset.set=[{','.join(names[:SHOWN])}]" if names else ""
    raise MissingDataError(
        f"{len(missing)} of {len(datasets)} data sets of this run are missing, such as {dataset['name']} "
        f"{dataset.get('set', '')}: expected {file} in {describe_roots()}, found none; run provsel fetch "
        f"{dataset['name']}{choice}."
    )


class Ticker:
    """A progress bar with ETA on a terminal, a line every few seconds elsewhere."""

    def __init__(self, console: Console, label: str, total: int) -> None:
        self._console, self._label, self._total, self._done = console, label or "trials", total, 0
        self._start = self._last = time.perf_counter()
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("ETA"), TimeRemainingColumn(), console=console, disable=not console.is_terminal,
        )  # fmt: skip

    def __enter__(self) -> Ticker:
        self._progress.start()
        self._task = self._progress.add_task(self._label, total=self._total)
        return self

    def advance(self, n: int) -> None:
        """Count n more trials."""
        self._done += n
        self._progress.advance(self._task, n)
        now = time.perf_counter()
        if not self._console.is_terminal and now - self._last >= PLAIN_EVERY:
            self._last = now
            left = (now - self._start) / max(self._done, 1) * (self._total - self._done)
            self._console.print(f"{self._label}: {self._done}/{self._total} trials, ETA {left:.0f} s", highlight=False)

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
