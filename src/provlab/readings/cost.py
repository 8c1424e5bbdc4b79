"""What computing the universes will cost, from what similar trials have cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from provlab.readings.universes import RowEntries
from provlab.store import StoreSnapshot

HOUR = 3600.0

Likeness = tuple[str, ...]


@dataclass(frozen=True)
class Cost:
    """Trials of all universes, each once, and an estimate of the CPU time of those that are missing.

    Attributes
    ----------
    n_planned, n_stored : int
    cpu_hours : float
        Of the missing trials that have something similar in the store.
    n_unknown : int
        Missing trials without anything similar.
    """

    n_planned: int
    n_stored: int
    cpu_hours: float
    n_unknown: int

    def text(self) -> str:
        """Return one line for people."""
        missing = self.n_planned - self.n_stored
        line = f"{self.n_planned} trials, {self.n_stored} stored, {missing} to compute"
        if not missing:
            return line
        known = "" if missing == self.n_unknown else f": about {self.cpu_hours:.2g} CPU hours by what others have cost"
        unknown = f"; nothing like {self.n_unknown} of them is stored, so their cost is not known"
        return line + known + (unknown if self.n_unknown else "")


def estimate(entries: RowEntries, store: StoreSnapshot) -> Cost:
    """Count trials, and estimate the missing ones by the mean `task_cpu` of the most similar stored ones.

    Most similar is the same row, column and data set under any choice; then the same data set; then the artefact.
    """
    known: dict[Likeness, list[float]] = defaultdict(lambda: [0.0, 0.0])
    missing: list[tuple[tuple[Likeness, ...], int]] = []
    n_planned = n_stored = 0
    seen: set[str] = set()
    for (artefact, row, _), found in entries.entries.items():
        for entry in found:
            if entry.cell.id in seen:
                continue
            seen.add(entry.cell.id)
            seconds = store.cpu(entry.cell)
            n_planned, n_stored = n_planned + entry.cell.n_trials, n_stored + seconds.size
            likes = tuple(_likenesses(artefact, row, entry.column, entry.dataset))
            measured = seconds[~np.isnan(seconds)]
            for like in likes:
                known[like][0] += float(measured.sum())
                known[like][1] += measured.size
            if seconds.size < entry.cell.n_trials:
                missing.append((likes, entry.cell.n_trials - seconds.size))
    total, n_unknown = 0.0, 0
    for likes, n in missing:
        similar = next((known[like] for like in likes if known[like][1]), None)
        total += n * similar[0] / similar[1] if similar else 0.0
        n_unknown += 0 if similar else n
    return Cost(n_planned, n_stored, total / HOUR, n_unknown)


def _likenesses(artefact: str, row: str, column: str, dataset: str) -> Iterator[Likeness]:
    yield artefact, row, column, dataset
    yield artefact, row, dataset
    yield artefact, dataset
    yield (artefact,)
