"""What became of each trial of an audit, and of the audit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from provlab.audit.agreement import Agreement
from provlab.audit.compare import CLOSE, DIFFERENT, IDENTICAL, OUTCOMES, Difference
from provlab.fields import Fits

KNOWN = Fits(f"one of {', '.join(OUTCOMES)}", OUTCOMES.__contains__)
ZONED = Fits("a time with a time zone", lambda when: datetime.fromisoformat(when).utcoffset() is not None)
SHARE = Fits("above 0 and up to 1", lambda fraction: 0 < fraction <= 1)


@dataclass(frozen=True)
class TrialOutcome:
    """One trial that was computed again.

    Attributes
    ----------
    key, cell, dataset, selector : str
    repeat, fold, draw : int
        -1 where the record does not say.
    outcome : str
        "identical", "close" or "different".
    same_environment : bool
        The same versions on the same kind of machine: the same bits are promised.
    git_revision : str
        Of the stored record.
    differences : tuple of Difference
        Columns with other bits.
    not_compared : tuple of str
        Columns that have a value now, and that the record's writer did not know.
    """

    key: str
    cell: str
    dataset: str
    selector: str
    repeat: int
    fold: int
    draw: int
    outcome: Annotated[str, KNOWN]
    same_environment: bool
    git_revision: str = ""
    differences: tuple[Difference, ...] = ()
    not_compared: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The trial in a few words."""
        return (
            f"{self.dataset} {self.selector}, repeat {self.repeat}, fold {self.fold}, draw {self.draw} "
            f"[{self.key[:12]}]"
        )


@dataclass(frozen=True)
class AuditRun:
    """One run of `provsel audit`.

    Attributes
    ----------
    when : str
        Its start, UTC, ISO 8601.
    version, git_revision, environment : str
        Of the code that computed again.
    seed : int
    fraction : float
    limit : int or None
    cell : str
        These four repeat the draw on the same store; "" is all cells.
    n_stored, n_drawn : int
        Trials in the store then, and in the sample.
    interrupted : bool
        Then `trials` are those that were compared before.
    skipped : tuple of (reason, number)
    trials : tuple of TrialOutcome
    agreements : tuple of Agreement
        One for each other environment that stored trials come from.
    """

    when: Annotated[str, ZONED]
    version: str
    git_revision: str
    environment: str
    seed: int
    fraction: Annotated[float, SHARE]
    limit: int | None
    cell: str
    n_stored: int
    n_drawn: int
    interrupted: bool = False
    skipped: tuple[tuple[str, int], ...] = ()
    trials: tuple[TrialOutcome, ...] = ()
    agreements: tuple[Agreement, ...] = ()

    def count(self, outcome: str) -> int:
        """Return the number of trials with an outcome."""
        return sum(trial.outcome == outcome for trial in self.trials)

    @property
    def n_skipped(self) -> int:
        """Drawn trials that could not be computed again."""
        return sum(number for _, number in self.skipped)

    @property
    def different(self) -> tuple[TrialOutcome, ...]:
        """Trials that differ."""
        return tuple(trial for trial in self.trials if trial.outcome == DIFFERENT)

    def by_cell(self) -> dict[str, tuple[int, int, int]]:
        """Return (identical, close, different) of each cell."""
        counts = Counter((trial.cell, trial.outcome) for trial in self.trials)
        cells = dict.fromkeys(trial.cell for trial in self.trials)
        return {cell: (counts[cell, IDENTICAL], counts[cell, CLOSE], counts[cell, DIFFERENT]) for cell in cells}
