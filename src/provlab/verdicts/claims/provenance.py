"""Provenance: the code and data behind results, which show whether the code has changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.core.artefact import Artefact, Entry
from provlab.core.cell import Cell
from provlab.core.overrides import ELSEWHERE, setting
from provlab.core.plan import unique_cells
from provlab.core.snapshot import StoreSnapshot
from provlab.core.summaries import value_counts
from provlab.core.summaries import versions as text_versions
from provlab.project.components import component_class
from provlab.project.documents import read_as, with_known_keys
from provlab.verdicts.claims.rules import RULES_VERSION, AbstractRule
from provlab.verdicts.claims.schema import Claim
from provsel import __version__

LATER = ("quantity", "at", "only", "without", "than_column")
"""Parameters that were added to rules after claims had been judged; claims that leave them empty are unchanged."""

COLUMNS = ("task_cpu", "environment", "git_revision")
"""Columns of the records that `Provenance.of` expects."""


@dataclass(frozen=True)
class Versions:
    """The versions that determine results: results with the same versions are equal, except for the processor.

    Attributes
    ----------
    rules : int
        `RULES_VERSION` of the verdicts.
    algorithm_versions : mapping
        Version of each selector and model, by class name.
    plan : str
        SHA-256 of all numbers and their cells, which covers all settings and data.
    claims : str
        SHA-256 of the claims' tests; "" if there are none.
    """

    rules: int
    algorithm_versions: Mapping[str, int | str]
    plan: str
    claims: str

    @classmethod
    def of(cls, entries: Sequence[Entry], how: Any, claims: Collection[Claim]) -> Self:
        """Return the current versions of the code.

        Parameters
        ----------
        entries : sequence of Entry
        how : JSON object
            How trials are summarised, if the cells do not state it.
        claims : collection of Claim
            Claims judged on the entries.
        """
        versions: dict[str, int | str] = {}
        plan = []
        for entry in entries:
            cell = entry.cell
            for component in (
                component_class("selector", cell.selector),
                component_class("model", cell.model),
            ):
                versions[component.__name__] = getattr(
                    component, "algorithm_version", 0
                )
            plan.append(
                [entry.row, entry.column, entry.dataset, cell.id, cell.n_trials]
            )
        tests = [
            [claim.id, type(claim.rule).__name__, _stated(claim.rule)]
            for claim in claims
        ]
        claims_digest = _digest(sorted(tests)) if tests else ""
        return cls(
            RULES_VERSION,
            dict(sorted(versions.items())),
            _digest([sorted(plan), how]),
            claims_digest,
        )

    @classmethod
    def of_artefact(cls, artefact: Artefact, claims: Collection[Claim]) -> Self:
        """Return the versions of an artefact and of the claims about it."""
        return cls.of(artefact.entries, artefact.summary, claims)

    def until(self, now: Versions) -> list[str]:
        """Describe the changes from these versions to others; the list is empty if they are equal."""
        changes = []
        for name, version in self.algorithm_versions.items():
            version_now = now.algorithm_versions.get(name, version)
            if version_now != version:
                changes.append(f"{name} of version {version}, now {version_now}")
        if not changes and self.plan != now.plan:
            changes = ["rows, columns, data or settings have changed"]
        if now.claims and self.rules != now.rules:  # new rules rejudge all claims
            changes.append(
                f"verdicts by version {self.rules} of the rules, now {now.rules}"
            )
        elif self.claims != now.claims:
            changes.append("claims or their tests have changed")
        return changes


@dataclass(frozen=True)
class Provenance:
    """The code and data behind a table, a figure or verdicts, with their cost.

    Attributes
    ----------
    written : str
        Date.
    provsel : str
        The version of provsel.
    settings : tuple of str
        The user's settings.
    versions : Versions
    trials : int
    cpu_hours : float
        CPU hours of the trials, as far as their records state them.
    environments, revisions : tuple of mapping
        Environments and git revisions of the trials, the most frequent first, each with
        the number of trials if known.
    """

    written: str
    provsel: str
    settings: tuple[str, ...]
    versions: Versions
    trials: int
    cpu_hours: float
    environments: tuple[Mapping[str, Any], ...]
    revisions: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(
        cls, versions: Versions, trials: pd.DataFrame, settings: Sequence[str] = ()
    ) -> Self:
        """Return today's provenance of trials with `COLUMNS`, computed with settings that affect results."""
        settings = [
            text
            for text in settings
            if setting(text).partition(".")[0] not in ELSEWHERE
        ]
        environments = [
            {**text_versions(text), "trials": n}
            for text, n in value_counts(trials["environment"])
        ]
        revisions = [
            {"revision": text, "trials": n}
            for text, n in value_counts(trials["git_revision"])
        ]
        return cls(
            written=datetime.now(UTC).date().isoformat(),
            provsel=__version__,
            settings=tuple(settings),
            versions=versions,
            trials=len(trials),
            cpu_hours=round(float(trials["task_cpu"].sum()) / 3600, 4),
            environments=tuple(environments),
            revisions=tuple(revisions),
        )

    @classmethod
    def from_json(cls, stated: Mapping[str, Any], subject: str) -> Self:
        """Create a provenance from a mapping, ignoring additional keys; ValueError if a key is missing."""
        provenance: Self = read_as(cls, with_known_keys(cls, stated), subject)
        return provenance

    def changes(self, now: Versions) -> list[str]:
        """Describe all differences from the defaults and from the present versions."""
        changes = self.versions.until(now)
        if self.settings:
            changes.insert(0, f"made with {' '.join(self.settings)}")
        return changes


def stored_trials(
    cells: Iterable[Cell], store: StoreSnapshot, columns: Sequence[str] = COLUMNS
) -> tuple[pd.DataFrame, int]:
    """Return columns of the stored trials of the given cells, without repetitions, and the number of planned trials."""
    chosen = unique_cells(cells)
    rows = pa.array(
        np.concatenate([np.empty(0, np.int64), *(store.rows(cell) for cell in chosen)])
    )
    frame = pa.table(
        {name: store.column(name).take(rows) for name in columns}
    ).to_pandas()
    # An environment has a thousand characters, so millions of trials share one object;
    # Arrow's strings would not.
    frame = frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))
    return frame, sum(cell.n_trials for cell in chosen)


def _stated(rule: AbstractRule) -> dict[str, Any]:
    """Return the parameters of a rule, without later additions that have their default value."""
    return {
        name: value
        for name, value in asdict(rule).items()
        if value or name not in LATER
    }


def _digest(content: Any) -> str:
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, default=str).encode()
    ).hexdigest()
