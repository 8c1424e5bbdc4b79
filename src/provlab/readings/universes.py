"""The universes of a paper: one choice for each open place, and the cells that each needs.

The numbers of a row depend on the places that touch it and on no others. So a row is composed once for each combination
of *their* options, and a universe puts the rows of an artefact together: the full factorial costs its rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from provlab.claims import Claim
from provlab.claims.evaluators import AbstractEvaluator
from provlab.claims.evidence import artefact_layout
from provlab.configs import Artefact, Composer, Entry, artefact_part, compose_artefact, compose_parts, fitting
from provlab.configs.unused import setting
from provlab.identity.cell import Cell
from provlab.plan import unique_cells
from provlab.readings.schema import Option, Part, Place, Readings
from provlab.store import StoreSnapshot

Universe = tuple[int, ...]
"""Which option of each place of the readings is chosen; 0 is the default."""

MOST = 20_000
"""Universes of one claim; more are not listed one by one."""


@dataclass(frozen=True)
class Multiverse:
    """All universes of some claims.

    Attributes
    ----------
    readings : Readings
    claims : tuple of Claim
        Those that are asked about.
    family : tuple of Claim
        All of the paper, which corrections for many comparisons refer to.
    overrides : tuple of str
        The user's settings, below those of each row.
    whole : bool
        All data, where the readings name a part of them.
    printed : mapping
        Artefacts, and the rows of each that are compared with what the paper prints.
    """

    readings: Readings
    claims: tuple[Claim, ...]
    family: tuple[Claim, ...]
    overrides: tuple[str, ...] = ()
    whole: bool = False
    printed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _touching: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False, compare=False)
    _restricted: dict[tuple[str, str, bool], list[list[int]]] = field(default_factory=dict, repr=False, compare=False)
    _rows: dict[tuple[str, tuple[int, ...]], frozenset[tuple[str, str]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def touching(self, claim: Claim) -> tuple[int, ...]:
        """Return which places the verdict on a claim can depend on."""
        if claim.id not in self._touching:
            self._touching[claim.id] = self._find_touching(claim)
        return self._touching[claim.id]

    def _find_touching(self, claim: Claim) -> tuple[int, ...]:
        test = claim.evaluator
        rows = {(artefact, row) for artefact, row, _ in test.places((*test.columns, *test.also))}
        return tuple(
            k
            for k, place in enumerate(self.readings.places)
            if any(place.touches_row(*row) for row in rows)
            and (place.of_cells or any(hasattr(test, name) for name in place.of_tests) or "features" in test.reads)
        )

    def universes(self, claim: Claim) -> Iterator[Universe]:
        """Yield the universes of a claim: the full factorial of what touches it, all else as by default."""
        return self._factorial(self.touching(claim), f"claim {claim.id}")

    def n_universes(self, claim: Claim) -> int:
        """Return their number."""
        return prod(len(self.readings.places[k].options) for k in self.touching(claim))

    def of_rows(self, artefact: str, rows: Iterable[str]) -> Iterator[Universe]:
        """Yield the universes in which what is compared of some rows with the print differs, as `universes` does."""
        touching = {k for row in rows for k in self._touching_row(artefact, row) if self.readings.places[k].of_print}
        return self._factorial(sorted(touching), artefact)

    def columns_aside(self, universe: Universe, artefact: str, row: str) -> frozenset[str]:
        """Return the columns of a row that are not what the print shows, by a universe."""
        places = self.readings.places
        return frozenset().union(*(places[k].columns_aside(universe[k]) for k in self._touching_row(artefact, row)))

    @cached_property
    def needed(self) -> dict[str, dict[str, set[Universe]]]:
        """Artefact, its rows, and the choices for which the numbers of each are needed."""
        found: dict[str, dict[str, set[Universe]]] = defaultdict(lambda: defaultdict(set))
        for artefact, printed in self.printed.items():
            for universe in self.of_rows(artefact, printed):
                for row in printed:
                    found[artefact][row].add(self.restricted(universe, artefact, row))
        for claim in self.claims:
            for universe in self.universes(claim):
                for artefact, row in self.rows(claim, universe):
                    found[artefact][row].add(self.restricted(universe, artefact, row))
        return {artefact: dict(of_rows) for artefact, of_rows in found.items()}

    def rows(self, claim: Claim, universe: Universe) -> frozenset[tuple[str, str]]:
        """Return the rows that a claim reads in a universe, and those of the family that a correction can be about."""
        of_tests = zip(self.readings.places, universe, strict=True)  # which rows follows from the parameters of tests
        read = claim.id, tuple(chosen for place, chosen in of_tests if place.of_tests)
        if read not in self._rows:
            self._rows[read] = self._find_rows(claim, universe)
        return self._rows[read]

    def _find_rows(self, claim: Claim, universe: Universe) -> frozenset[tuple[str, str]]:
        kind = type(claim.evaluator), claim.evaluator.artefact
        peers = [peer for peer in self.family if (type(peer.evaluator), peer.evaluator.artefact) == kind]
        tests = [self.read(peer, universe).evaluator for peer in (claim, *peers)]
        return frozenset(place[:2] for test in tests for place in test.places((*test.columns, *test.also)))

    def entries(self) -> RowEntries:
        """Compose what all universes need."""
        return RowEntries.of(self, self.needed)

    def read(self, claim: Claim, universe: Universe) -> Claim:
        """Return a claim with the parameters of its test that a universe changes."""
        test = _changed(claim.evaluator, (self.readings.places[k].options[universe[k]] for k in self.touching(claim)))
        return claim if test is claim.evaluator else replace(claim, evaluator=test)

    def tests(self, claim: Claim) -> Iterator[AbstractEvaluator]:
        """Yield the tests that a claim has in its universes."""
        places = [self.readings.places[k] for k in self.touching(claim)]
        for options in product(*(place.options for place in places if place.of_tests)):
            yield _changed(claim.evaluator, options)

    def part(self, artefact: str) -> Part | None:
        """Return the part of an artefact's data on which universes are computed, None for all of them."""
        return None if self.whole else self.readings.parts.get(artefact)

    def settings(self, artefact: str) -> tuple[str, ...]:
        """Return the settings of all rows of an artefact: the part of its data, and then the user's."""
        part = self.part(artefact)
        return (*(part.overrides if part else ()), *self.overrides)

    def _touching_row(self, artefact: str, row: str) -> tuple[int, ...]:
        return tuple(k for k, place in enumerate(self.readings.places) if place.touches_row(artefact, row))

    def restricted(self, universe: Universe, artefact: str, row: str, *, summary: bool = False) -> Universe:
        """Return a universe with the default where the trials of a row, or its summary, do not depend on the choice."""
        place = artefact, row, summary
        if place not in self._restricted:
            self._restricted[place] = self._find_restricted(*place)
        return tuple([stays[chosen] for stays, chosen in zip(self._restricted[place], universe, strict=True)])

    def _find_restricted(self, artefact: str, row: str, summary: bool) -> list[list[int]]:
        """Return for each place, and each of its options, which option stands there in the restricted universe."""
        touching, found = self._touching_row(artefact, row), []
        for k, place in enumerate(self.readings.places):
            changes = [option.overrides if summary else option.of_cells for option in place.options]
            found.append([chosen if k in touching and changed else 0 for chosen, changed in enumerate(changes)])
        return found

    def summary(self, universe: Universe, artefact: str) -> tuple[str, ...]:
        """Return the overrides of an artefact's summary."""
        chosen = zip(self.readings.places, universe, strict=True)
        return tuple(text for place, k in chosen if artefact in place.touches for text in place.options[k].of_summary)

    def _factorial(self, touching: Sequence[int], subject: str) -> Iterator[Universe]:
        places = self.readings.places
        n = prod(len(places[k].options) for k in touching)
        if n > MOST:
            raise ValueError(
                f"{subject}: expected at most {MOST} universes, got {n} from the places "
                f"{', '.join(places[k].id for k in touching)}; leave options out of readings.yaml."
            )
        options = [range(len(place.options)) if k in touching else (0,) for k, place in enumerate(places)]
        return product(*options)


def _changed(test: AbstractEvaluator, options: Iterable[Option]) -> AbstractEvaluator:
    """Return a test with the parameters that some options change."""
    parameters: dict[str, Any] = {}
    for option in options:
        parameters |= option.parameters
    return test.changed(parameters) if parameters else test


@dataclass(frozen=True)
class RowEntries:
    """The entries of rows of artefacts, each under the choices that it depends on."""

    multiverse: Multiverse
    composed: Mapping[str, Artefact]
    entries: Mapping[tuple[str, str, Universe], tuple[Entry, ...]]
    _summaries: dict[tuple[str, tuple[str, ...]], Mapping[str, Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, multiverse: Multiverse, needed: Mapping[str, Mapping[str, Iterable[Universe]]]) -> RowEntries:
        """Compose some rows of artefacts under some choices.

        Raises
        ------
        ValueError
            Names an option whose settings no row takes.
        """
        composed: dict[str, Artefact] = {}
        found: dict[tuple[str, str, Universe], tuple[Entry, ...]] = {}
        for artefact, of_rows in needed.items():
            rows = _Rows(multiverse, artefact)
            names = {f"{row} {universe}": (row, universe) for row in of_rows for universe in sorted(of_rows[row])}
            overrides = {label: rows.overrides(*place) for label, place in names.items()}
            composed[artefact] = compose_artefact(artefact, rows.settings, overrides)
            grouped: dict[str, list[Entry]] = defaultdict(list)
            for entry in composed[artefact].entries:
                grouped[entry.row].append(entry)
            for label, (row, universe) in names.items():
                found[artefact, row, universe] = tuple(replace(entry, row=row) for entry in grouped[label])
        return cls(multiverse, composed, found)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells, each once."""
        return unique_cells(entry.cell for entries in self.entries.values() for entry in entries)

    def whole(self, store: StoreSnapshot) -> set[str]:
        """Return the ids of the cells whose trials are all there."""
        return {cell.id for cell in self.cells if store.rows(cell).size == cell.n_trials}

    def artefact(self, name: str, universe: Universe, rows: Iterable[str] | None = None) -> Artefact:
        """Return an artefact in a universe: those of its rows that were composed, or some of them."""
        wanted = list(artefact_layout(name)[0] if rows is None else rows)
        found: list[Entry] = []
        for row in wanted:
            found += self.entries.get((name, row, self.multiverse.restricted(universe, name, row)), ())
        return replace(self.composed[name], entries=tuple(found), parts=self._parts(name, universe))

    def _parts(self, name: str, universe: Universe) -> Mapping[str, Any]:
        summary = self.multiverse.summary(universe, name)
        if not summary:
            return self.composed[name].parts
        if (name, summary) not in self._summaries:
            settings = [f"+experiment={name}", *self.multiverse.settings(name), *summary]
            self._summaries[name, summary] = compose_parts(settings)
        return self._summaries[name, summary]


class _Rows:
    """Overrides of the rows of an artefact under choices."""

    def __init__(self, multiverse: Multiverse, artefact: str) -> None:
        self.settings = multiverse.settings(artefact)
        self._places, self._artefact = multiverse.readings.places, artefact
        stated = artefact_part(artefact)
        self._rows, self._compose = stated["rows"], Composer()
        self._of_columns = {setting(text) for column in stated["columns"].values() for text in column}
        self._parts: dict[tuple[str, ...], dict[str, Any]] = {}

    def overrides(self, row: str, universe: Universe) -> list[str]:
        """Return the row's own, and after them those of the options that fit what is chosen before."""
        found = list(self._rows[row])
        for place, chosen in zip(self._places, universe, strict=True):
            if chosen and place.options[chosen].of_cells:
                self._check(row, place, place.options[chosen])
                found += fitting(place.options[chosen].of_cells, self._composed(found))
        return found

    def _composed(self, overrides: Sequence[str]) -> dict[str, Any]:
        key = tuple(overrides)
        if key not in self._parts:
            self._parts[key] = self._compose([f"+experiment={self._artefact}", *self.settings, *key])
        return self._parts[key]

    def _check(self, row: str, place: Place, option: Option) -> None:
        taken = fitting(option.of_cells, self._composed(self._rows[row]))
        lost = [text for text in taken if setting(text) in self._of_columns]
        if not taken or lost:
            reason = f"each column sets {setting(lost[0])} itself" if lost else "the row has none of these settings"
            raise ValueError(
                f"readings, place {place.id}, option {option.name}: expected settings that change {row} of "
                f"{self._artefact}, got {', '.join(option.overrides)}, but {reason}; mend touches or the option."
            )
