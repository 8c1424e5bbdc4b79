"""The universes of a paper: one choice for each open place, the cells that each needs, and each claim's verdict there.

The numbers of a row depend on the places that touch it and on no others. So a row is composed once for each combination
of *their* options, and a universe puts the rows of an artefact together: the full factorial costs its rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from provlab.claims import Claim, Evidence, Verdict, judge
from provlab.claims.rules import AbstractRule
from provlab.claims.stored import artefact_layout
from provlab.identity.cell import Cell
from provlab.plan import (
    Artefact,
    Composer,
    Entry,
    artefact_part,
    compose_artefact,
    compose_config,
    fitting,
    unique_cells,
)
from provlab.plan.overrides import setting
from provlab.readings.schema import MEASURED, Option, Part, Place, Readings
from provlab.snapshot import StoreSnapshot

Universe = tuple[int, ...]
"""Which option of each place of the readings is chosen; 0 is the default."""

Needed = dict[str, dict[str, set[Universe]]]
"""Artefact, its rows, and the choices for which the numbers of each are needed."""

MOST = 20_000
"""Universes of one claim; more are not listed one by one."""


class Multiverse:
    """All universes of some claims.

    Parameters
    ----------
    readings : Readings
    claims : sequence of Claim
        Those that are asked about.
    family : sequence of Claim
        All of the paper, which corrections for many comparisons refer to.
    overrides : sequence of str
        The user's settings, below those of each row.
    whole : bool, default=False
        All data, where the readings name a part of them.
    printed : mapping, optional
        Artefacts, and the rows of each that are compared with what the paper prints.
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
        self.readings, self.claims, self.family = readings, tuple(claims), tuple(family)
        self.overrides, self.whole, self.printed = tuple(overrides), whole, dict(printed or {})
        self._touching = {claim.id: self._find_touching(claim) for claim in self.family}
        self._rows = cache(self._find_rows)
        self._stays = cache(self._find_stays)
        self._summary_parts = cache(compose_config)

    def touching(self, claim: Claim) -> tuple[int, ...]:
        """Return which places the verdict on a claim can depend on."""
        return self._touching[claim.id]

    def universes(self, claim: Claim) -> Iterator[Universe]:
        """Yield the universes of a claim: the full factorial of what touches it, all else as by default."""
        return self._factorial(self.touching(claim), f"claim {claim.id}")

    def n_universes(self, claim: Claim) -> int:
        """Return their number."""
        return prod(len(self.readings.places[k].options) for k in self.touching(claim))

    def universes_of_rows(self, artefact: str, rows: Iterable[str]) -> Iterator[Universe]:
        """Yield the universes in which what is compared of some rows with the print differs, as `universes` does."""
        touching = {k for row in rows for k in self._touching_row(artefact, row) if self.readings.places[k].of_print}
        return self._factorial(sorted(touching), artefact)

    def columns_aside(self, universe: Universe, artefact: str, row: str) -> frozenset[str]:
        """Return the columns of a row that are not what the print shows, by a universe."""
        places = self.readings.places
        return frozenset().union(*(places[k].columns_aside(universe[k]) for k in self._touching_row(artefact, row)))

    def read(self, claim: Claim, universe: Universe) -> Claim:
        """Return a claim with the parameters of its test that a universe changes."""
        test = _changed(claim.rule, (self.readings.places[k].options[universe[k]] for k in self.touching(claim)))
        return claim if test is claim.rule else replace(claim, rule=test)

    def tests(self, claim: Claim) -> Iterator[AbstractRule]:
        """Yield the tests that a claim has in its universes."""
        places = [self.readings.places[k] for k in self.touching(claim)]
        for options in product(*(place.options for place in places if place.of_tests)):
            yield _changed(claim.rule, options)

    def rows(self, claim: Claim, universe: Universe) -> frozenset[tuple[str, str]]:
        """Return the rows that a claim reads in a universe, and those of the family that a correction can be about."""
        of_tests = [place.of_tests for place in self.readings.places]  # which rows follows from the tests' parameters
        return self._rows(claim.id, tuple(k if named else 0 for k, named in zip(universe, of_tests, strict=True)))

    def part(self, artefact: str) -> Part | None:
        """Return the part of an artefact's data on which universes are computed, None for all of them."""
        return None if self.whole else self.readings.parts.get(artefact)

    def settings(self, artefact: str) -> tuple[str, ...]:
        """Return the settings of all rows of an artefact: the part of its data, and then the user's."""
        part = self.part(artefact)
        return (*(part.overrides if part else ()), *self.overrides)

    def restricted(self, universe: Universe, artefact: str, row: str, *, summary: bool = False) -> Universe:
        """Return a universe with the default where the trials of a row, or its summary, do not depend on the choice."""
        stays = self._stays(artefact, row, summary)
        return tuple([k if chosen[k] else 0 for chosen, k in zip(stays, universe, strict=True)])

    def needed(self, claims: Iterable[Claim], printed: Mapping[str, Sequence[str]]) -> Needed:
        """Return what some claims, and comparing some rows with the print, need."""
        found: Needed = defaultdict(lambda: defaultdict(set))
        for artefact, rows in printed.items():
            for universe in self.universes_of_rows(artefact, rows):
                for row in rows:
                    found[artefact][row].add(self.restricted(universe, artefact, row))
        for claim in claims:
            for universe in self.universes(claim):
                for artefact, row in self.rows(claim, universe):
                    found[artefact][row].add(self.restricted(universe, artefact, row))
        return found

    @property
    def entries(self) -> dict[tuple[str, str, Universe], tuple[Entry, ...]]:
        """The entries of the rows of artefacts, each under the choices that it depends on.

        Raises
        ------
        ValueError
            Names an option whose settings no row takes.
        """
        return self._composed[0]

    @property
    def composed(self) -> dict[str, Artefact]:
        """The artefacts that `entries` are of, without these."""
        return self._composed[1]

    @cached_property
    def _composed(self) -> tuple[dict[tuple[str, str, Universe], tuple[Entry, ...]], dict[str, Artefact]]:
        entries, artefacts = {}, {}
        for artefact, of_rows in self.needed(self.claims, self.printed).items():
            names = {f"{row} {universe}": (row, universe) for row in of_rows for universe in sorted(of_rows[row])}
            made = compose_artefact(artefact, self.settings(artefact), self._overrides(artefact, names))
            grouped: dict[str, list[Entry]] = defaultdict(list)
            for entry in made.entries:
                grouped[entry.row].append(entry)
            for label, (row, universe) in names.items():
                entries[artefact, row, universe] = tuple(replace(entry, row=row) for entry in grouped[label])
            artefacts[artefact] = replace(made, entries=())
        return entries, artefacts

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells, each once."""
        return unique_cells(entry.cell for entries in self.entries.values() for entry in entries)

    def artefact(self, name: str, universe: Universe, rows: Iterable[str] | None = None) -> Artefact:
        """Return an artefact in a universe: those of its rows that were composed, or some of them."""
        found: list[Entry] = []
        for row in artefact_layout(name)[0] if rows is None else rows:
            found += self.entries.get((name, row, self.restricted(universe, name, row)), ())
        chosen = zip(self.readings.places, universe, strict=True)
        summary = [text for place, k in chosen if name in place.touches for text in place.options[k].of_summary]
        made = self.composed[name]
        if summary:
            parts = self._summary_parts((f"+experiment={name}", *self.settings(name), *summary))
            made = replace(made, parts=parts)
        return replace(made, entries=tuple(found))

    def _find_touching(self, claim: Claim) -> tuple[int, ...]:
        test = claim.rule
        rows = {(artefact, row) for artefact, row, _ in test.places()}
        return tuple(
            k
            for k, place in enumerate(self.readings.places)
            if any(place.touches_row(*row) for row in rows)
            and (place.of_cells or any(hasattr(test, name) for name in place.of_tests) or "features" in test.reads)
        )

    def _touching_row(self, artefact: str, row: str) -> tuple[int, ...]:
        return tuple(k for k, place in enumerate(self.readings.places) if place.touches_row(artefact, row))

    def _find_rows(self, name: str, universe: Universe) -> frozenset[tuple[str, str]]:
        [claim] = [claim for claim in self.family if claim.id == name]
        kind = type(claim.rule), claim.rule.artefact
        peers = [peer for peer in self.family if (type(peer.rule), peer.rule.artefact) == kind]
        tests = [self.read(peer, universe).rule for peer in (claim, *peers)]
        return frozenset(place[:2] for test in tests for place in test.places())

    def _find_stays(self, artefact: str, row: str, summary: bool) -> list[list[bool]]:
        """Return for each place, and each of its options, whether a row's trials, or its summary, depend on it."""
        return [
            [bool(option.overrides if summary else option.of_cells) for option in place.options]
            if place.touches_row(artefact, row)
            else [False] * len(place.options)
            for place in self.readings.places
        ]

    def _factorial(self, touching: Sequence[int], subject: str) -> Iterator[Universe]:
        places = self.readings.places
        n = prod(len(places[k].options) for k in touching)
        if n > MOST:
            raise ValueError(
                f"{subject}: expected at most {MOST} universes, got {n} from the places "
                f"{', '.join(places[k].id for k in touching)}; leave options out of readings.yaml."
            )
        return product(*(range(len(place.options)) if k in touching else (0,) for k, place in enumerate(places)))

    def _overrides(self, artefact: str, names: Mapping[str, tuple[str, Universe]]) -> dict[str, list[str]]:
        """Return the overrides of rows: their own, and then those of the options that fit what is chosen before."""
        stated, composer = artefact_part(artefact), Composer()
        base = [f"+experiment={artefact}", *self.settings(artefact)]
        composed = cache(lambda chosen: composer([*base, *chosen]))
        of_columns = {setting(text) for column in stated["columns"].values() for text in column}
        found = {}
        for label, (row, universe) in names.items():
            own = tuple(stated["rows"][row])
            chosen = list(own)
            for place, k in zip(self.readings.places, universe, strict=True):
                if k:
                    option = place.options[k]
                    _check_option(artefact, row, place, option, fitting(option.of_cells, composed(own)), of_columns)
                    chosen += fitting(option.of_cells, composed(tuple(chosen)))
            found[label] = chosen
        return found


def judge_universes(multiverse: Multiverse, store: StoreSnapshot) -> pd.DataFrame:
    """Judge each claim in each universe of which all trials are there, those that corrections are about among them.

    On some of its data sets or folds a universe would be another question, and shares of verdicts would mix both.

    Returns
    -------
    DataFrame
        One line a claim and universe: `claim`, the option of each place that touches the claim ("" for the others), and
        `MEASURED`, "not run" where a trial is missing. The first line of each claim is the universe of the defaults.
    """
    places, whole = multiverse.readings.places, whole_cells(multiverse, store)
    lacking = {row for row, found in multiverse.entries.items() if not {entry.cell.id for entry in found} <= whole}
    asked: dict[Universe, list[Claim]] = defaultdict(list)
    for claim in multiverse.claims:
        for universe in multiverse.universes(claim):
            asked[universe].append(claim)
    order = {claim.id: k for k, claim in enumerate(multiverse.claims)}
    stored, lines = Evidence(store, multiverse.overrides), []
    for universe, claims in asked.items():
        is_whole = {
            claim.id: not any((*row, multiverse.restricted(universe, *row)) in lacking for row in rows)
            for claim in claims
            for rows in [multiverse.rows(claim, universe)]
        }
        artefacts = {name: multiverse.artefact(name, universe) for name in multiverse.composed}
        evidence = stored.with_artefacts(artefacts)
        family = [multiverse.read(claim, universe) for claim in multiverse.family]
        here = judge([multiverse.read(claim, universe) for claim in claims if is_whole[claim.id]], evidence, family)
        verdicts = {verdict.claim.id: _measured(verdict) for verdict in here}
        not_run = Verdict(claims[0])
        for claim in claims:
            touching = multiverse.touching(claim)
            names = [place.options[universe[k]].name if k in touching else "" for k, place in enumerate(places)]
            measured = verdicts.get(claim.id) or _measured(not_run)
            lines.append(((order[claim.id], universe), (claim.id, *names, *measured)))
    lines.sort(key=lambda line: line[0])
    return pd.DataFrame([line for _, line in lines], columns=["claim", *(place.id for place in places), *MEASURED])


def whole_cells(multiverse: Multiverse, store: StoreSnapshot) -> set[str]:
    """Return the ids of the cells whose trials are all there."""
    return {cell.id for cell in multiverse.cells if store.rows(cell).size == cell.n_trials}


def cost_text(multiverse: Multiverse, store: StoreSnapshot) -> str:
    """Return how many trials there are, each once, and what the missing ones will cost by the most similar stored ones.

    Most similar is the same row, column and data set under any choice; then the same data set; then the artefact.
    """
    similar = ["artefact", "dataset", "row", "column"]
    lines: dict[str, tuple[Any, ...]] = {}
    for (artefact, row, _), entries in multiverse.entries.items():
        for entry in entries:
            if entry.cell.id not in lines:
                seconds = store.cpu(entry.cell)
                known = seconds[~np.isnan(seconds)]
                place = artefact, entry.dataset, row, entry.column
                lines[entry.cell.id] = (*place, entry.cell.n_trials, seconds.size, known.sum(), known.size)
    cells = pd.DataFrame(lines.values(), columns=[*similar, "planned", "stored", "seconds", "measured"])
    missing, mean = cells["planned"] - cells["stored"], pd.Series(np.nan, cells.index)
    for n in range(len(similar), 0, -1):
        sums = cells.groupby(similar[:n])[["seconds", "measured"]].transform("sum")
        mean = mean.fillna(sums["seconds"] / sums["measured"].where(sums["measured"] > 0))
    n_missing, n_unknown = int(missing.sum()), int(missing[mean.isna()].sum())
    text = f"{cells['planned'].sum()} trials, {cells['stored'].sum()} stored, {n_missing} to compute"
    if n_missing > n_unknown:
        text += f": about {(missing * mean).sum() / 3600:.2g} CPU hours by what others have cost"
    return text + (f"; nothing like {n_unknown} of them is stored, so their cost is not known" if n_unknown else "")


def _measured(made: Verdict) -> tuple[Any, ...]:
    """Return `MEASURED` of a verdict."""
    finding, effects = made.finding, [part.effect for part in made.parts]
    mean = float(np.mean(effects)) if effects else np.nan  # NaN where one is not known
    values = (made.verdict, finding.effect, finding.low, finding.high, finding.part, finding.p_value, finding.n)
    return (*values, finding.unit, mean, made.state)


def _changed(test: AbstractRule, options: Iterable[Option]) -> AbstractRule:
    """Return a test with the parameters that some options change."""
    parameters: dict[str, Any] = {}
    for option in options:
        parameters |= option.parameters
    return test.changed(parameters) if parameters else test


def _check_option(
    artefact: str, row: str, place: Place, option: Option, taken: Sequence[str], of_columns: set[str]
) -> None:
    lost = [text for text in taken if setting(text) in of_columns]
    if not taken or lost:
        reason = f"each column sets {setting(lost[0])} itself" if lost else "the row has none of these settings"
        raise ValueError(
            f"readings, place {place.id}, option {option.name}: expected settings that change {row} of {artefact}, got "
            f"{', '.join(option.overrides)}, but {reason}; mend touches or the option."
        )
