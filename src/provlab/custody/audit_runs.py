"""Files and tables of the findings of `provsel audit`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.core.tables import write_text
from provlab.custody import agreement
from provlab.custody.agreement import DIFFERENT, OUTCOMES
from provlab.project.documents import parse_json, read_as

log = logging.getLogger(__name__)

FORMAT = "provsel audit 3"

TRIALS = {
    **dict.fromkeys(("key", "cell", "dataset", "selector", "git_revision"), str),
    **dict.fromkeys(("repeat", "fold", "draw"), int),
    "same_environment": bool, "outcome": str, "differences": object, "not_compared": object,
}  # fmt: skip
"""Columns of `AuditRun.trials`. Numbers that the record lacks are -1. same_environment: whether the same bits are
promised. differences: (column, stored, now) as strings. not_compared: columns that the record's writer did not know."""

AGREEMENT = {
    "environment": str, "n_trials": int, "column": str,
    "n_compared": int, "n_same": int, "n_beyond": int, "worst": float,
}  # fmt: skip
"""Columns of `AuditRun.agreement`, by environment and column: the number of trials with a value on either side, how
many of these have the same bits, how many differ beyond `DIGITS`, and the largest relative difference of two finite
numbers."""


@dataclass(frozen=True, eq=False)
class AuditRun:
    """One run of `provsel audit`.

    Attributes
    ----------
    when : str
        Start of the run in UTC, ISO 8601.
    version, git_revision, environment : str
        Version of the recomputing code.
    seed : int
    fraction : float
    limit : int or None
    cell : str
        These four settings repeat the draw on the same store; "" means all cells.
    n_stored, n_drawn : int
        Trials in the store at the time, and in the sample.
    packed : str
        "benchmark", or the paper whose readings have these packed trials; "" for a
        store.
    interrupted : bool
        Whether the run was interrupted; `trials` then has those compared before.
    skipped : dict
        Drawn trials that could not be recomputed, by reason.
    trials : DataFrame
        One line per recomputed trial, see `TRIALS`.
    agreement : DataFrame
        Agreement with trials of other environments, see `AGREEMENT`.
    """

    when: str
    version: str
    git_revision: str
    environment: str
    seed: int
    fraction: float
    limit: int | None
    cell: str
    n_stored: int
    n_drawn: int
    packed: str = ""
    interrupted: bool = False
    skipped: Mapping[str, int] = field(default_factory=dict)
    trials: pd.DataFrame = field(default_factory=lambda: frame_of([], TRIALS))
    agreement: pd.DataFrame = field(default_factory=lambda: frame_of([], AGREEMENT))

    def count(self, outcome: str) -> int:
        """Return the number of trials with an outcome."""
        return int((self.trials["outcome"] == outcome).sum())

    @property
    def different(self) -> list[tuple[str, list[Sequence[str]]]]:
        """Names of the trials that differ, with (column, stored, now) of each difference."""
        trials = self.trials[self.trials["outcome"] == DIFFERENT]
        lines = []
        for trial in trials.itertuples():
            place = f"repeat {trial.repeat}, fold {trial.fold}, draw {trial.draw}"
            lines.append(
                (
                    f"{trial.dataset} {trial.selector}, {place} [{trial.key[:12]}]",
                    trial.differences,
                )
            )
        return lines

    @property
    def digits(self) -> int | None:
        """Fewest digits to which other environments agree; None if all bits agree, or if a trial is different."""
        worst = self.agreement["worst"].max()
        if self.count(DIFFERENT) or not worst > 0:
            return None
        return agreement.digits(worst)

    def write(self, results: Path) -> Path:
        """Write the run atomically to a file below `results`/audits, and return the file."""
        stamp = datetime.fromisoformat(self.when).strftime("%Y%m%dT%H%M%S.%fZ")
        path = results / "audits" / f"{stamp}-{self.seed}.json"
        frames = {
            name: getattr(self, name).to_dict("records")
            for name in ("trials", "agreement")
        }
        write_text(
            path,
            json.dumps(
                {"format": FORMAT, **vars(self), **frames}, indent=1, allow_nan=False
            )
            + "\n",
        )
        return path


def read_audits(results: Path) -> list[AuditRun]:
    """Return the runs whose files are below `results`/audits, newest first.

    Files that this version of `provsel audit` did not write are ignored with a warning.
    """
    runs = []
    for path in sorted((Path(results) / "audits").glob("*.json")):
        try:
            runs.append(_read_run(path))
        except (ValueError, TypeError, KeyError, OSError, OverflowError) as error:
            log.warning(
                "audit %s: expected a file written by this version of provsel audit, got %s; the file is ignored.",
                path,
                error,
            )
    return sorted(runs, key=lambda run: datetime.fromisoformat(run.when), reverse=True)


def _read_run(path: Path) -> AuditRun:
    """Return the run in a file; raise if `AuditRun.write` did not write it."""
    data = parse_json(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise ValueError(f"a file that does not state the format {FORMAT!r}")
    trials = frame_of(data["trials"], TRIALS)
    data["trials"] = trials.assign(differences=trials["differences"].map(_triples))
    data["agreement"] = frame_of(data["agreement"], AGREEMENT)
    run: AuditRun = read_as(AuditRun, data, FORMAT)
    if datetime.fromisoformat(run.when).utcoffset() is None or not {
        *run.trials["outcome"]
    } <= {*OUTCOMES}:
        raise ValueError("a time without a time zone, or an unknown outcome")
    return run


def _triples(differences: Sequence[Sequence[Any]]) -> list[tuple[str, str, str]]:
    return [(str(column), str(stored), str(now)) for column, stored, now in differences]


def audits_frame(runs: Sequence[AuditRun]) -> pd.DataFrame:
    """Return a row for each completed run with its sample, processor and findings."""
    lines = []
    for run in runs:
        if run.interrupted:
            continue
        machine = json.loads(run.environment)
        line = {
            "trials_of": run.packed or "store", "date": run.when[:10], "git_revision": run.git_revision,
            "blas": machine["blas"][0], "cpu": machine["cpu"][-1],
            "seed": run.seed, "stored": run.n_stored, "drawn": run.n_drawn,
            "same_environment": int(run.trials["same_environment"].sum()),
        }  # fmt: skip
        for outcome in OUTCOMES:
            line[outcome] = run.count(outcome)
        lines.append(
            {**line, "skipped": sum(run.skipped.values()), "digits": run.digits}
        )
    frame = pd.DataFrame(lines)
    return frame.astype({"digits": "Int64"}) if lines else frame


def frame_of(rows: Sequence[Any], types: Mapping[str, type]) -> pd.DataFrame:
    """Return rows as a frame with columns of the given types, even if there are no rows."""
    return pd.DataFrame(rows, columns=[*types]).astype(types)
