"""Your own runs: cells that `provsel run` or `compare` computed together, as listed in run.json.

A run is a folder in results/runs. All results are computed from the store. Only names
and counts are read from run.json, so the folder need not be trusted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provlab.core.frames import ERROR, R2, Headline
from provlab.core.plan import MAX_COUNT
from provlab.core.store import LARGE
from provlab.project.documents import digest, read_as, read_json
from provlab.project.messages import PAGE_NAME, in_file_name, listed

RUNS_FOLDER, RUN_FILE = "runs", "run.json"

MAX_CELLS, MAX_TEXT = 100_000, 500
"""Limits for a run.json: number of cells, and characters of a text."""

MAX_MEASURES = 100

MAX_RUNS = 200
"""Maximum number of runs in a report; each takes about a second."""

SECONDS = Headline("seconds", "seconds", "CPU seconds of a selection")
"""Headline of cells without a model. It is not a column of the records but computed from `TIMES`."""


def measure_headline(column: str) -> Headline:
    """Return how a measure is shown: the error in percent, and other measures as recorded."""
    known = {headline.column: headline for headline in (ERROR, R2, SECONDS)}
    return known.get(column, Headline(column, column, column))


@dataclass(frozen=True)
class RunCell:
    """A row of a run's table, with what identifies its trials in the store.

    Attributes
    ----------
    id : str
        SHA-256 of the cell's identity.
    method, size, label : str
        Displayed names of the method, of the requested number of features ("" if the
        method chooses it) and of the data set.
    data, dataset : str and mapping
        Identity and config of the data set, used to look up feature names if the data
        are present.
    measures : tuple of str
        Columns of the records; the first is the headline measure.
    repeats, n_splits, draws : int Planned numbers.
    reason : str
        Why a trial failed when the cell was run; "" if none did.
    """

    id: str
    method: str
    size: str
    label: str
    data: str
    dataset: Mapping[str, Any]
    measures: tuple[str, ...]
    repeats: int
    n_splits: int
    draws: int
    reason: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch("[0-9a-f]{64}", self.id):
            raise ValueError(
                f"id: expected 64 hexadecimal digits, got {self.id!r:.80}."
            )
        for name in ("method", "size", "label", "data", "reason"):
            if len(getattr(self, name)) > MAX_TEXT:
                raise ValueError(
                    f"{name}: expected at most {MAX_TEXT} characters, got {len(getattr(self, name))}."
                )
        if not isinstance(self.dataset.get("name"), str):
            raise ValueError(f"dataset: expected a name, got {self.dataset!r:.80}.")
        if not all(1 <= count <= MAX_COUNT for count in self.counts):
            raise ValueError(
                f"repeats, n_splits, draws: expected 1 to {MAX_COUNT} of each, got {self.counts}."
            )
        wrong = [
            name
            for name in self.measures
            if not re.fullmatch(r"[A-Za-z]\w{0,80}", name) or name in LARGE
        ]
        if wrong or not 1 <= len(self.measures) <= MAX_MEASURES:
            raise ValueError(
                f"measures: expected 1 to {MAX_MEASURES} column names, got {[*wrong, *self.measures]!r:.80}."
            )

    @property
    def counts(self) -> tuple[int, int, int]:
        """Planned repeats, folds and draws."""
        return self.repeats, self.n_splits, self.draws

    @property
    def headline(self) -> Headline:
        """Measure that is reported for the cell."""
        return measure_headline(self.measures[0])


@dataclass(frozen=True)
class OwnRun:
    """Cells that were run together, and the command that repeats the run ("" for a call from Python)."""

    command: str
    cells: tuple[RunCell, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.cells) <= MAX_CELLS:
            raise ValueError(
                f"cells: expected 1 to {MAX_CELLS}, got {len(self.cells)}."
            )

    @property
    def name(self) -> str:
        """Folder name, made of the data sets and a hash of cells and counts, so equal runs share a folder."""
        names = [in_file_name(label)[:40] for label in self.datasets]
        names = list(dict.fromkeys(name for name in names if name)) or ["run"]
        text = names[0] if len(names) == 1 else f"{names[0]}-and-{len(names) - 1}-more"
        return f"{text}-{digest([[cell.id, *cell.counts] for cell in self.cells])[:8]}"

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets."""
        return list(dict.fromkeys(cell.label for cell in self.cells))

    @property
    def title(self) -> str:
        """Heading with as many data sets and methods as fit."""
        methods = list(dict.fromkeys(cell.method for cell in self.cells))
        return f"{listed(self.datasets, 4)}: {listed(methods, 4)}"


def read_runs(results: Path) -> tuple[dict[str, OwnRun], list[str]]:
    """Return the runs in a results folder by name, newest first, and the errors of unreadable runs.

    The folder is not trusted: names and counts are checked, and no result is read from
    it.
    """
    runs: dict[str, OwnRun] = {}
    problems = []
    folder = results / RUNS_FOLDER
    files = sorted(
        folder.glob(f"*/{RUN_FILE}"),
        key=lambda path: path.lstat().st_mtime,
        reverse=True,
    )
    for path in files[:MAX_RUNS]:
        name = path.parent.name
        try:
            if not PAGE_NAME.fullmatch(name):
                raise ValueError(
                    f"{path}: expected a folder named by letters, digits, '.', '_' and '-'; rename it."
                )
            runs[name] = read_as(OwnRun, read_json(path), str(path))
        except (OSError, ValueError) as error:
            problems.append(f"{error} Run the same again, or remove the folder.")
    if len(files) > MAX_RUNS:
        problems.append(
            f"{folder}: only the newest {MAX_RUNS} of {len(files)} runs are shown."
        )
    return runs, problems
