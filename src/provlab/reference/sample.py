"""The trials of the reference that need no download: a later version computes some of them again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from provlab.configs import Artefact
from provlab.datasets import source_names
from provlab.frames import planned_trials
from provlab.plan import unique_cells
from provlab.store import SCHEMA, TrialReader

MAX_TRIALS = 12
MAX_SECONDS = 3.0
"""Of one artefact: CPU time, as recorded. A check of every change has to be quick, so the cheapest cells are taken."""


def sample_records(artefact: Artefact, store: TrialReader) -> list[dict[str, Any]]:
    """Return the record with the lowest key of some of an artefact's cells: on synthetic data, the cheapest first.

    What was measured in a process of its own is left out, as its memory is no result that could be compared.
    """
    made = [cell for cell in unique_cells(artefact.cells) if cell.dataset["name"] not in source_names()]
    cells = [cell for cell in made if cell.protocol["split"] != "streamed"]
    costs = planned_trials(store, cells, ["key", "task_cpu"]).dropna(subset=["task_cpu"])
    lowest = costs.sort_values("key").groupby("cell", sort=False).head(1).sort_values(["task_cpu", "key"])
    chosen = lowest[lowest["task_cpu"].cumsum() <= MAX_SECONDS].head(MAX_TRIALS)
    keys = set(chosen["key"])
    return [record for record in whole_records(store, chosen["cell"]) if record["key"] in keys]


def whole_records(store: TrialReader, cells: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return records with what own measures gave; one whose cell does not have a measure does not have its columns."""
    return [
        {name: value for name, value in record.items() if value is not None or name in SCHEMA.names}
        for record in store.query(cells).to_pylist()
    ]
