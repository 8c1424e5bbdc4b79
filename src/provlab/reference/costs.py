"""What the artefacts have cost, and what they were computed with, by what the records say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from provlab.configs import Artefact, state_of
from provlab.project.components import component_class
from provlab.reports.certificates import ALL_CERTIFICATES
from provlab.reports.tracing import value_counts, versions
from provlab.store import TrialReader
from provlab.trials.plan import unique_cells

COLUMNS = [
    "key",
    "task_cpu",
    "environment",
    "git_revision",
    *(f"certificate_{name}" for name in ALL_CERTIFICATES),
]
"""Of the records, which all functions below expect."""

COMPONENTS = ("selector", "model")


@dataclass(frozen=True)
class Cost:
    """One artefact.

    Attributes
    ----------
    n_stored, n_planned : int
        Trials.
    cpu_hours : float
        Of the stored trials, as far as their records say; trials that several artefacts share count in each.
    """

    n_stored: int
    n_planned: int
    cpu_hours: float

    @property
    def state(self) -> str:
        """`complete`, `partial` or `not run`."""
        return state_of(self.n_stored, self.n_planned)

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {**asdict(self), "cpu_hours": round(self.cpu_hours, 4), "state": self.state}


def planned_trials(artefact: Artefact, store: TrialReader) -> tuple[pd.DataFrame, int]:
    """Return `COLUMNS` of the stored ones of an artefact's trials, each once, and how many are planned."""
    planned = artefact.planned_keys()
    found = store.query([cell.id for cell in unique_cells(artefact.cells)], COLUMNS).to_pandas()
    return found[found["key"].isin(planned)], len(planned)


def cost_of(trials: pd.DataFrame, n_planned: int) -> Cost:
    """Return what some trials have cost."""
    return Cost(len(trials), n_planned, float(trials["task_cpu"].sum()) / 3600)


def computed_with(trials: pd.DataFrame) -> dict[str, Any]:
    """Return environments and git revisions, the most frequent first, each with its number of trials."""
    environments, revisions = value_counts(trials["environment"]), value_counts(trials["git_revision"])
    return {
        "environments": [{**versions(text), "trials": n} for text, n in environments],
        "revisions": [{"revision": text, "trials": n} for text, n in revisions],
    }


def algorithm_versions(artefacts: list[Artefact]) -> dict[str, int]:
    """Return the `algorithm_version` of each selector and model that some artefacts use, by class name."""
    parts = [(kind, getattr(cell, kind)) for artefact in artefacts for cell in artefact.cells for kind in COMPONENTS]
    classes = {component_class(kind, config) for kind, config in parts}
    return {
        cls.__name__: int(getattr(cls, "algorithm_version", 0)) for cls in sorted(classes, key=lambda c: c.__name__)
    }


def certificate_counts(trials: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many trials are in each state, by certificate; what was not measured is left out."""
    counts = {}
    for name in ALL_CERTIFICATES:
        states = trials[f"certificate_{name}"].value_counts()
        found = {str(state): int(n) for state, n in states.items() if state not in ("not measured", "no bound")}
        if found:
            counts[name] = dict(sorted(found.items()))
    return counts
