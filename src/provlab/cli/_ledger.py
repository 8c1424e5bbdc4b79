"""The folder of a sweep: its jobs, wherever they run, leave their outcomes there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from provsel.files import replacing

Job = tuple[str, ...]
"""Overrides."""


@dataclass(frozen=True)
class Outcome:
    """What became of a job: why it failed in one line, empty when it did not, and the traceback of a surprise."""

    number: int
    overrides: Job
    reason: str = ""
    details: str = ""


class Ledger:
    """The folder of one sweep, which all its jobs see.

    Parameters
    ----------
    folder : Path
        Below results/sweeps.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._results_were_there = folder.parents[1].exists()

    def begin(self, jobs: Sequence[Job]) -> None:
        """Make the folder, and tell the jobs how many they are and in which settings they differ."""
        columns = zip(*jobs, strict=True)
        varying = sorted({key_of(column[0]) for column in columns if len(set(column)) > 1})
        self._write("plan.json", {"n_jobs": len(jobs), "varying": varying})

    def title(self, job: Job) -> str:
        """Return the settings that a job has to itself."""
        return " ".join(text for text in job if key_of(text) in self._plan()["varying"]) or " ".join(job)

    def place(self, number: int) -> str:
        """Return where a job stands among all, for people."""
        return f"[{number + 1}/{self._plan()['n_jobs']}]"

    def _plan(self) -> dict[str, Any]:
        try:
            return dict(json.loads((self.folder / "plan.json").read_text(encoding="utf-8")))
        except FileNotFoundError:  # the process that started the sweep was interrupted, but not its jobs on a cluster
            return {"n_jobs": "?", "varying": []}

    def record(self, outcome: Outcome) -> None:
        """Store the outcome of a job, unless nobody waits for it any more."""
        if self.folder.exists():
            state = "failed" if outcome.reason else "done"
            self._write(f"job-{outcome.number}.{state}.json", asdict(outcome))

    def has_failure(self) -> bool:
        """Tell whether a job has failed so far."""
        return any(self.folder.glob("job-*.failed.json"))

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes so far, in the order of the jobs."""
        found = [json.loads(path.read_text(encoding="utf-8")) for path in self.folder.glob("job-*.json")]
        made = [Outcome(**{**values, "overrides": tuple(values["overrides"])}) for values in found]
        return sorted(made, key=lambda outcome: outcome.number)

    def end(self, *, went_well: bool, kept: str) -> None:
        """Leave only the store and `kept`; a launcher's own files stay beside it, as they may tell more."""
        if kept:
            (self.folder / "failures.txt").write_text(kept, encoding="utf-8")
        for path in (*self.folder.glob("*.json"), self.folder / "multirun.yaml"):
            path.unlink(missing_ok=True)
        if went_well:
            shutil.rmtree(self.folder, ignore_errors=True)
        sweeps, results = self.folder.parents[:2]
        for folder in (self.folder, sweeps, *([] if self._results_were_there else [results])):
            try:
                folder.rmdir()
            except OSError:  # not empty, or gone
                continue

    def _write(self, name: str, value: dict[str, Any]) -> None:
        with replacing(self.folder / name) as path:
            path.write_text(json.dumps(value), encoding="utf-8")


def key_of(override: str) -> str:
    """Return the part of the config that an override changes."""
    return override.split("=", 1)[0].lstrip("+~")
