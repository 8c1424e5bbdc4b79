"""More repeats where a claim is open: a group-sequential rule, fixed before the first of them.

Of an inconclusive claim the sample says how many observations would decide it (`Finding.needed`). Its looks are planned
up to there, and as far beyond as the smaller level of the last one takes; the level of each is by alpha spending. Both
are written down before anything is computed, and a later call continues with the same plan. The chance that a claim
gets a wrong verdict at any of its looks is at most alpha: the levels add up to it, which holds for every test and is
conservative, since it does not count that looks share data.

References
----------
Lan and DeMets (1983), Biometrika 70, for spending functions; O'Brien and Fleming (1979), Biometrics 35, for this one.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

from provlab.claims import INCONCLUSIVE, Claim, Evidence, Verdict, judge
from provlab.claims.decided import (
    Decision,
    Look,
    TakenLook,
    entries_behind,
    read_decisions,
    versions_behind,
    write_decisions,
)
from provlab.claims.judged import columns_read
from provlab.claims.statistics import POWER
from provlab.configs import Artefact, compose_artefact, executor_settings
from provlab.identity.cell import Cell
from provlab.plan import unique_cells
from provlab.readings.cost import HOUR
from provlab.runner import run_cells
from provlab.store import StoreSnapshot, TrialStore

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """The looks of a claim, and what they cost together.

    Attributes
    ----------
    claim : Claim
    family : tuple of Claim
        All of its paper.
    looks : tuple of Look
    cpu_hours : float
        Of what is missing, by what similar trials have cost; NaN where nothing similar is stored.
    """

    claim: Claim
    family: tuple[Claim, ...]
    looks: tuple[Look, ...]
    cpu_hours: float


def spending_levels(fractions: Sequence[float], alpha: float) -> list[float]:
    """Return the level of each look, which together spend alpha.

    Parameters
    ----------
    fractions : sequence of float
        Of the observations that are planned in all, increasing; the last is 1.
    alpha : float
    """
    spent = [2 * float(ndtr(ndtri(alpha / 2) / math.sqrt(fraction))) for fraction in fractions]
    return np.diff([0.0, *spent]).tolist()


def looks_of(repeats: int, needed: float, alpha: float, n_looks: int) -> tuple[Look, ...]:
    """Return evenly spaced looks after `repeats`, up to the one that decides with the promised power at its own level.

    Parameters
    ----------
    repeats : int
    needed : float
        Repeats that would decide with that power in one test at the level `alpha`.
    alpha : float
    n_looks : int
    """
    inflation = 1.0
    for _ in range(8):  # the level of the last look depends on where it is, and settles at once
        last = max(math.ceil(needed * inflation), repeats + 1)
        places = sorted({math.ceil(repeats + (last - repeats) * k / n_looks) for k in range(1, n_looks + 1)})
        levels = spending_levels([place / last for place in places], alpha)
        inflation = ((ndtri(1 - levels[-1] / 2) + ndtri(POWER)) / (ndtri(1 - alpha / 2) + ndtri(POWER))) ** 2
    return tuple(map(Look, places, levels))


@dataclass
class Decider:
    """Decides open claims, the cheapest first, within a budget.

    Parameters
    ----------
    results : path
        With the store; plans and looks are kept in its decisions.json.
    overrides : sequence of str
        The user's settings.
    most : int
        Repeats of the last look at most; a claim that needs more is left open.
    n_looks : int
    """

    results: Path
    overrides: Sequence[str]
    most: int
    n_looks: int

    def __post_init__(self) -> None:
        for name, least in (("most", 2), ("n_looks", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"decide: expected {name} of at least {least}, got {getattr(self, name)}; raise it.")
        self.store = TrialStore(self.results / "store")
        self.kept = read_decisions(self.results)

    def plans(self, claims: Sequence[Claim], family: Sequence[Claim]) -> Iterator[Plan | str]:
        """Yield a plan for each claim that more repeats can decide, and why there is none for each other open one."""
        store = self._snapshot(claims)
        for made in judge(claims, Evidence(store, self.overrides), family):
            if made.verdict == INCONCLUSIVE:
                yield self._plan(made, tuple(family), store)

    def run(self, plan: Plan, cpu_hours: float) -> Iterator[tuple[Look, Verdict, float]]:
        """Take the looks of a claim until one decides or the budget is spent: look, verdict and CPU hours so far."""
        name, spent = plan.claim.id, 0.0
        for look in plan.looks[len(self.kept[name].taken) :]:
            artefact = self._artefact(plan.claim, look.repeats)
            cells = _cells(plan.claim, artefact)
            before = self._snapshot([plan.claim])
            if spent + _cost(cells, before) > cpu_hours:
                return
            settings = executor_settings(artefact.config)
            report = run_cells(cells, self.store, settings, label=f"{name}, {look.repeats} repeats")
            if report.failures:
                raise ValueError(f"decide {name}: {report.reason()}; see provsel reproduce {artefact.name}.")
            after = self._snapshot([plan.claim])
            hours = _spent(cells, after) - _spent(cells, before)
            made, spent = self._look(plan, look, after), spent + hours
            taken = TakenLook(look.repeats, look.level, made.verdict, made.detail, round(hours, 4))
            self.kept[name] = replace(self.kept[name], taken=(*self.kept[name].taken, taken))
            write_decisions(self.results, self.kept)
            yield look, made, spent
            if made.verdict != INCONCLUSIVE:
                return

    def _look(self, plan: Plan, look: Look, store: StoreSnapshot) -> Verdict:
        level = {"alpha": look.level}
        claim, *family = (replace(each, evaluator=each.evaluator.changed(level)) for each in (plan.claim, *plan.family))
        evidence = Evidence(store, [*self.overrides, f"protocol.repeats={look.repeats}"])
        [made] = judge([claim], evidence, family)
        return made

    def _plan(self, made: Verdict, family: tuple[Claim, ...], store: StoreSnapshot) -> Plan | str:
        claim, name = made.claim, made.claim.id
        if not _over_repeats(claim):
            return f"{name}: its sample is not of repeats, more of them decide nothing"
        open_parts = [part for part, decides in made.parts if decides and part.verdict == INCONCLUSIVE]
        needed = max((part.needed / part.n for part in open_parts if part.n), default=math.nan)
        now = self._artefact(claim, None)
        if changes := self.kept[name].changes(claim, now) if name in self.kept else []:
            log.warning("%s: looks were fixed with %s; they are planned anew", name, "; ".join(changes))
            del self.kept[name]
        if name not in self.kept:
            repeats = max(int(cell.protocol["repeats"]) for cell in _cells(claim, now))
            if not math.isfinite(needed):
                return f"{name}: no number of repeats would decide it"
            looks = looks_of(repeats, repeats * needed, claim.evaluator.alpha, self.n_looks)  # type: ignore[attr-defined]
            if looks[-1].repeats > self.most:
                return f"{name}: {looks[-1].repeats} repeats would decide it, more than {self.most}; raise --most"
            self.kept[name] = Decision(repeats, looks, (), versions_behind(claim, now))
        kept = self.kept[name]
        if kept.is_over:
            return f"{name}: {kept.text}, " + (
                "decided before" if kept.taken[-1].verdict != INCONCLUSIVE else "the last"
            )
        cells = _cells(claim, self._artefact(claim, kept.looks[-1].repeats))
        return Plan(claim, family, kept.looks, _cost(cells, store))

    def _artefact(self, claim: Claim, repeats: int | None) -> Artefact:
        more = [] if repeats is None else [f"protocol.repeats={repeats}"]
        return compose_artefact(claim.evaluator.artefact, [*self.overrides, *more])

    def _snapshot(self, claims: Sequence[Claim]) -> StoreSnapshot:
        return StoreSnapshot.take(self.store, {"task_cpu", *columns_read(claims)})

    def fix(self, plans: Sequence[Plan]) -> None:
        """Write down the looks and levels of some claims, before anything is computed."""
        fixed = {plan.claim.id for plan in plans}
        self.kept = {name: kept for name, kept in self.kept.items() if name in fixed or kept.taken}
        write_decisions(self.results, self.kept)


def _over_repeats(claim: Claim) -> bool:
    test = claim.evaluator
    return getattr(test, "over", "") == "folds" and hasattr(test, "alpha")


def _cells(claim: Claim, artefact: Artefact) -> list[Cell]:
    return unique_cells(entry.cell for entry in entries_behind(claim, artefact))


def _spent(cells: Sequence[Cell], store: StoreSnapshot) -> float:
    return sum(float(np.nansum(store.cpu(cell))) for cell in cells) / HOUR


def _cost(cells: Sequence[Cell], store: StoreSnapshot) -> float:
    """Return the CPU hours of the missing trials, each like the stored ones of its cell."""
    hours = 0.0
    for cell in cells:
        seconds = store.cpu(cell)
        missing = cell.n_trials - seconds.size
        if missing:
            hours += missing * float(np.nanmean(seconds)) / HOUR if seconds.size else math.nan
    return hours


def by_worth(plans: Sequence[Plan]) -> list[Plan]:
    """Return plans, the decision that costs least first; those of unknown cost last."""
    return sorted(plans, key=lambda plan: (math.isnan(plan.cpu_hours), plan.cpu_hours, plan.claim.id))
