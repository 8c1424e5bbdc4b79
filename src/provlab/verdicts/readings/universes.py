"""Universes of a paper, with one choice for each open place, their cells, and their verdicts.

The numbers of a row depend only on the places that affect it. A row is therefore
composed once for each combination of *their* options, and a universe combines the rows
of an artefact. The full factorial costs no more than these rows. A place that is tested
*alone* is not crossed with other places of the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from provlab.core.artefact import (
    Artefact,
    Entry,
    artefact_part,
    column_settings,
    compose_artefact,
)
from provlab.core.cell import Cell
from provlab.core.composition import Composer, compose_config
from provlab.core.overrides import setting
from provlab.core.plan import unique_cells
from provlab.core.snapshot import StoreSnapshot
from provlab.verdicts.claims.evidence import AbstractEvidence
from provlab.verdicts.claims.rules import CONDITIONS
from provlab.verdicts.claims.schema import Claim
from provlab.verdicts.claims.stored import Evidence, artefact_layout
from provlab.verdicts.claims.verdicts import Verdict, judge
from provlab.verdicts.readings.schema import MEASURED, Option, Part, Place, Readings

Universe = tuple[int, ...]
"""Index of the chosen option of each place of the readings; 0 is the default."""

RowChoice = tuple[str, str, Universe]
"""Artefact, row, and the choices on which the row's trials depend; all other choices are defaults."""

MAX_UNIVERSES = 20_000
"""Largest number of universes of one claim, because all of them are listed."""


class Multiverse:
    """All universes of the given claims.

    Parameters
    ----------
    readings : Readings
    claims : sequence of Claim
        Claims to test.
    family : sequence of Claim
        All claims of the paper, which corrections for multiple comparisons need.
    overrides : sequence of str
        The user's settings, which the settings of each row override.
    whole : bool, default=False
        Use all data even if the readings name a part of them.
    printed : mapping, optional
        Rows that are compared with the printed numbers, by artefact.
    """

    def __init__(
        self,
        readings: Readings,
        claims: Sequence[Claim],
        family: Sequence[Claim],
        overrides: Sequence[str] = (),
        *,
        whole: bool = False,
        printed: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.readings = readings
        self.claims = tuple(claims)
        self.family = tuple(family)
        self.overrides = tuple(overrides)
        self.whole = whole
        self.printed = dict(printed or {})
        self._touching = {claim.id: self._places_of(claim) for claim in self.family}
        self._rows = cache(self._rows_of_family)
        self._depends = cache(self._depending)
        self._config = cache(compose_config)

    def touching(self, claim: Claim) -> list[int]:
        """Return the places on which the verdict on a claim can depend."""
        return self._touching[claim.id]

    def universes(self, claim: Claim) -> Iterator[Universe]:
        """Yield the universes of a claim: all combinations of the places that affect it, with defaults for others."""
        return self._factorial(self.touching(claim), f"claim {claim.id}")

    def universes_of_print(self, artefact: str) -> Iterator[Universe]:
        """Yield the universes with different numbers or columns in the comparison with printed values."""
        touching = []
        for k, place in enumerate(self.readings.places):
            changes = "columns" in place.of_tests or any(
                option.overrides for option in place.options
            )
            if changes and any(
                place.touches_row(artefact, row) for row in self.printed[artefact]
            ):
                touching.append(k)
        return self._factorial(touching, artefact)

    def chosen(self, universe: Universe, places: Iterable[int]) -> list[Option]:
        """Return the options of the given places."""
        return [self.readings.places[k].options[universe[k]] for k in places]

    def read(self, claim: Claim, universe: Universe) -> Claim:
        """Return a claim with its test's parameters as changed by a universe."""
        parameters: dict[str, Any] = {}
        for option in self.chosen(universe, self.touching(claim)):
            for name, value in option.parameters.items():
                if name in CONDITIONS:  # for other columns these are kept
                    value = {**parameters.get(name, {}), **value}
                parameters[name] = value
        if not parameters:
            return claim
        return replace(claim, rule=claim.rule.changed(parameters))

    def row_choices(self, claim: Claim, universe: Universe) -> set[RowChoice]:
        """Return the rows that a claim reads in a universe, and the rows of the family that a correction may need.

        Each has the choices on which its trials depend.
        """
        choices = []  # the tests' parameters alone determine the rows
        for chosen, place in zip(universe, self.readings.places, strict=True):
            choices.append(chosen if place.of_tests else 0)
        rows = self._rows(claim.id, tuple(choices))
        return {(*row, self.restricted(universe, *row)) for row in rows}

    def part(self, artefact: str) -> Part | None:
        """Return the part of an artefact's data on which universes are computed, or None for all data."""
        if self.whole:
            return None
        return self.readings.part.get(artefact)

    def settings(self, artefact: str) -> tuple[str, ...]:
        """Return the settings of all rows of an artefact: those of the part of its data, then the user's."""
        part = self.part(artefact)
        if part is None:
            return self.overrides
        return (*part.overrides, *self.overrides)

    def restricted(
        self, universe: Universe, artefact: str, row: str, *, summary: bool = False
    ) -> Universe:
        """Return a universe with defaults for all choices that do not affect the trials of a row, or its summary."""
        depends = self._depends(artefact, row, summary)
        return tuple(
            [k * of_option[k] for of_option, k in zip(depends, universe, strict=True)]
        )

    def needed(self, claims: Iterable[Claim], printed: Iterable[str]) -> set[RowChoice]:
        """Return the rows that the claims need, and that the comparison of artefacts with printed values needs."""
        choices: set[RowChoice] = set()
        for artefact in printed:
            for universe in self.universes_of_print(artefact):
                for row in self.printed[artefact]:
                    choices.add(
                        (artefact, row, self.restricted(universe, artefact, row))
                    )
        for claim in claims:
            for universe in self.universes(claim):
                choices |= self.row_choices(claim, universe)
        return choices

    def needed_about(self, artefact: str) -> list[Entry]:
        """Return the entries for the claims about an artefact and for its comparison with printed values."""
        claims = [claim for claim in self.claims if claim.rule.artefact == artefact]
        entries: list[Entry] = []
        for choice in sorted(self.needed(claims, {artefact} & {*self.printed})):
            entries += self.entries[choice]
        return entries

    @cached_property
    def _choices(self) -> dict[str, dict[str, RowChoice]]:
        """The needed rows of each artefact, named by row and choice."""
        choices: dict[str, dict[str, RowChoice]] = defaultdict(dict)
        for artefact, row, universe in sorted(self.needed(self.claims, self.printed)):
            choices[artefact][f"{row} {universe}"] = artefact, row, universe
        return choices

    @cached_property
    def composed(self) -> dict[str, Artefact]:
        """The artefacts with each row under each needed choice, named as in `_choices`.

        Raises
        ------
        ValueError
            If the settings of an option apply to no row.
        """
        artefacts = {}
        for name, choices in self._choices.items():
            artefacts[name] = compose_artefact(
                name, self.settings(name), self._row_overrides(name, choices)
            )
        return artefacts

    @cached_property
    def entries(self) -> dict[RowChoice, list[Entry]]:
        """The entries of the rows of artefacts, each under the choices on which it depends."""
        entries: dict[RowChoice, list[Entry]] = defaultdict(list)
        for name, artefact in self.composed.items():
            for entry in artefact.entries:
                choice = self._choices[name][entry.row]
                entries[choice].append(replace(entry, row=choice[1]))
        return dict(entries)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells without duplicates."""
        return unique_cells(
            entry.cell for entries in self.entries.values() for entry in entries
        )

    def artefact(
        self, name: str, universe: Universe, rows: Iterable[str] | None = None
    ) -> Artefact:
        """Return an artefact in a universe, with all composed rows or with some of them."""
        if rows is None:
            rows = artefact_layout(name).rows
        entries: list[Entry] = []
        for row in rows:
            entries += self.entries.get(
                (name, row, self.restricted(universe, name, row)), ()
            )
        artefact = replace(self.composed[name], entries=tuple(entries))
        summary: list[str] = []
        for place, chosen in zip(self.readings.places, universe, strict=True):
            if name in place.touches:
                summary += place.options[chosen].of_summary
        if not summary:
            return artefact
        return replace(
            artefact,
            parts=self._config((f"+experiment={name}", *self.settings(name), *summary)),
        )

    def _places_of(self, claim: Claim) -> list[int]:
        rows = {place[:2] for place in claim.rule.places()}
        touching = []
        for k, place in enumerate(self.readings.places):
            changes = any(option.of_cells for option in place.options)
            changes |= any(hasattr(claim.rule, name) for name in place.of_tests)
            # which a summary may count differently
            changes |= "features" in claim.rule.reads
            if changes and (
                place.is_about(claim.rule)
                or any(place.touches_row(*row) for row in rows)
            ):
                touching.append(k)
        return touching

    def _rows_of_family(
        self, name: str, universe: Universe
    ) -> frozenset[tuple[str, str]]:
        rules = {claim.id: claim.rule for claim in self.family}
        rows: set[tuple[str, str]] = set()
        for peer in self.family:
            if (
                type(peer.rule) is type(rules[name])
                and peer.rule.artefact == rules[name].artefact
            ):
                rows.update(
                    place[:2] for place in self.read(peer, universe).rule.places()
                )
        return frozenset(rows)

    def _depending(self, artefact: str, row: str, summary: bool) -> list[list[bool]]:
        """Return whether a row's trials or its summary depend on each option of each place."""
        depends = []
        for place in self.readings.places:
            is_touched = place.touches_row(artefact, row)
            changes = []
            for option in place.options:
                overrides = option.overrides if summary else option.of_cells
                changes.append(is_touched and len(overrides) > 0)
            depends.append(changes)
        return depends

    def _factorial(self, touching: Sequence[int], subject: str) -> Iterator[Universe]:
        places = self.readings.places
        n = prod(len(places[k].options) for k in touching if not places[k].alone)
        if n > MAX_UNIVERSES:
            names = ", ".join(places[k].id for k in touching)
            raise ValueError(
                f"{subject}: expected at most {MAX_UNIVERSES} universes, got {n} from the places {names}; remove "
                f"options from readings.yaml."
            )
        ranges = [range(1)] * len(places)
        for k in touching:
            ranges[k] = range(len(places[k].options))
        for universe in product(*ranges):
            if not any(universe[k] and universe[m] for k, m in self._apart):
                yield universe

    @cached_property
    def _apart(self) -> list[tuple[int, int]]:
        """Pairs of places that never both differ from their defaults."""
        pairs = []
        for (k, first), (m, second) in combinations(enumerate(self.readings.places), 2):
            if (first.alone or second.alone) and first.meets(second):
                pairs.append((k, m))
        return pairs

    def _row_overrides(
        self, artefact: str, choices: Mapping[str, RowChoice]
    ) -> dict[str, tuple[str, ...]]:
        """Return the overrides of rows: those of the artefact, then those of the chosen options."""
        stated = artefact_part(artefact)
        composer = Composer()
        base = [f"+experiment={artefact}", *self.settings(artefact)]
        composed = cache(lambda overrides: composer([*base, *overrides]))
        column_names = {
            setting(text) for texts in stated["columns"].values() for text in texts
        }
        rows = {}
        for label, (_, row, universe) in choices.items():
            row_config = composed(tuple(stated["rows"][row]))
            overrides = tuple(stated["rows"][row])
            for place, chosen in zip(self.readings.places, universe, strict=True):
                option = place.options[chosen]
                if chosen:
                    _check_option(
                        place,
                        option,
                        column_settings(option.of_cells, row_config),
                        column_names,
                        row,
                        artefact,
                    )
                    overrides += tuple(
                        column_settings(option.of_cells, composed(overrides))
                    )
            rows[label] = overrides
        return rows


def _check_option(
    place: Place,
    option: Option,
    settings: Sequence[str],
    column_names: Container[str],
    row: str,
    artefact: str,
) -> None:
    """Raise if the settings of an option have no effect on a row, or the artefact's columns override them."""
    reason = "" if settings else "the row has no such setting"
    for text in settings:
        if setting(text) in column_names:
            reason = f"each column sets {setting(text)} itself"
    if reason:
        raise ValueError(
            f"readings, place {place.id}, option {option.name}: expected settings that change {row} of "
            f"{artefact}, got {', '.join(option.overrides)}, but {reason}; correct touches or the option."
        )


def judge_universes(multiverse: Multiverse, store: StoreSnapshot) -> pd.DataFrame:
    """Judge each claim in each universe with all trials, including those to which corrections refer.

    A universe with only some data sets or folds is not judged, because it would answer
    another question.

    Returns
    -------
    DataFrame
        One line per claim and universe: `claim`, the option of each place that affects
        the claim ("" for the others), and `MEASURED`, "not run" if a trial is missing.
        The first row of each claim is the default universe.
    """
    complete_ids = complete_cells(multiverse, store)
    incomplete = set[RowChoice]()
    for choice, entries in multiverse.entries.items():
        if any(entry.cell.id not in complete_ids for entry in entries):
            incomplete.add(choice)
    claims_in: dict[Universe, list[Claim]] = defaultdict(list)
    for claim in multiverse.claims:
        for universe in multiverse.universes(claim):
            claims_in[universe].append(claim)
    evidence = Evidence(store, multiverse.overrides)
    lines = {}
    for universe, claims in claims_in.items():
        complete = {
            claim.id
            for claim in claims
            if incomplete.isdisjoint(multiverse.row_choices(claim, universe))
        }
        artefacts = {
            name: multiverse.artefact(name, universe) for name in multiverse.composed
        }
        family = [multiverse.read(claim, universe) for claim in multiverse.family]
        read = [claim for claim in family if claim.id in complete]
        verdicts = {
            verdict.claim.id: verdict
            for verdict in judge(read, evidence.with_artefacts(artefacts), family)
        }
        for claim in claims:
            verdict = verdicts.get(claim.id, Verdict(claim))
            lines[claim.id, universe] = _line(multiverse, claim, universe, verdict)
    ordered = [
        lines[claim.id, universe]
        for claim in multiverse.claims
        for universe in multiverse.universes(claim)
    ]
    return _frame(multiverse, ordered)


def judge_on_table(multiverse: Multiverse, evidence: AbstractEvidence) -> pd.DataFrame:
    """Judge each claim in each universe on a table, as its own family of comparisons.

    Equivalent universes count once, as the first of them. Columns and order are those
    of `judge_universes`.
    """
    lines = []
    evidence = evidence.on("")
    evidence.plans = False
    for claim in multiverse.claims:
        questions = set()
        for universe in multiverse.universes(claim):
            question = multiverse.read(claim, universe)
            if question.rule not in questions:
                questions.add(question.rule)
                [verdict] = judge([question], evidence)
                lines.append(_line(multiverse, claim, universe, verdict))
    return _frame(multiverse, lines)


def _frame(multiverse: Multiverse, lines: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(
        lines,
        columns=[
            "claim",
            *(place.id for place in multiverse.readings.places),
            *MEASURED,
        ],
    )


def _line(
    multiverse: Multiverse, claim: Claim, universe: Universe, verdict: Verdict
) -> tuple[object, ...]:
    """Return a row of `judge_universes`."""
    touching = multiverse.touching(claim)
    names = [""] * len(universe)
    for k, option in zip(touching, multiverse.chosen(universe, touching), strict=True):
        names[k] = option.name
    finding = verdict.finding
    effects = [part.effect for part in verdict.parts]
    mean = float(np.mean(effects)) if effects else np.nan  # NaN if any is unknown
    return (
        claim.id, *names, verdict.verdict, finding.effect, finding.low, finding.high, finding.part,
        finding.p_value, finding.n, finding.unit, mean, verdict.state,
    )  # fmt: skip


def complete_cells(multiverse: Multiverse, store: StoreSnapshot) -> set[str]:
    """Return the ids of the cells whose trials are all stored."""
    return {
        cell.id for cell in multiverse.cells if store.rows(cell).size == cell.n_trials
    }


def cost_text(multiverse: Multiverse, store: StoreSnapshot) -> str:
    """Return the number of distinct trials, and the cost of the missing ones, estimated from similar trials.

    Most similar are trials of the same row, column and data set under any choice, then
    of the same data set, then of the same artefact.
    """
    similar = ["artefact", "dataset", "row", "column"]
    cpu = store.column("task_cpu").to_numpy().astype(float)
    lines = {}
    for (name, row, _), entries in multiverse.entries.items():
        for entry in entries:
            seconds = cpu[store.rows(entry.cell)]
            mean = seconds.mean() if seconds.size else np.nan
            numbers = entry.cell.n_trials, seconds.size, mean
            lines[entry.cell.id] = (name, entry.dataset, row, entry.column, *numbers)
    cells = pd.DataFrame(
        lines.values(), columns=[*similar, "planned", "stored", "mean"]
    )
    missing = cells["planned"] - cells["stored"]
    mean = pd.Series(np.nan, cells.index)
    for n in range(len(similar), 0, -1):
        mean = mean.fillna(cells.groupby(similar[:n])["mean"].transform("mean"))
    n_missing = int(missing.sum())
    n_unknown = int(missing[mean.isna()].sum())
    text = f"{cells['planned'].sum()} trials, {cells['stored'].sum()} stored, {n_missing} to compute"
    if n_missing > n_unknown:
        text += f": about {(missing * mean).sum() / 3600:.2g} CPU hours, estimated from similar trials"
    if n_unknown:
        text += f"; no trials similar to {n_unknown} of them are stored, so their cost is unknown"
    return text
