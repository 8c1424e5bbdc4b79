"""The universes of a paper: one choice for each open place, the cells that each needs, and each claim's verdict there.

The numbers of a row depend on the places that touch it and on no others. So a row is composed once for each combination
of *their* options, and a universe puts the rows of an artefact together: the full factorial costs its rows.
A place that is asked *alone* is not crossed with others of the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import combinations, product
from math import prod

import numpy as np
import pandas as pd

from provlab.core.artefact import Artefact, Entry, artefact_part, column_settings, compose_artefact
from provlab.core.cell import Cell
from provlab.core.composition import Composer, compose_config
from provlab.core.overrides import setting
from provlab.core.plan import unique_cells
from provlab.core.snapshot import StoreSnapshot
from provlab.verdicts.claims.schema import Claim
from provlab.verdicts.claims.stored import Evidence, artefact_layout
from provlab.verdicts.claims.verdicts import Verdict, judge
from provlab.verdicts.readings.schema import MEASURED, Option, Part, Readings

Universe = tuple[int, ...]
"""Which option of each place of the readings is chosen; 0 is the default."""

RowChoice = tuple[str, str, Universe]
"""Artefact, row, and the choices that the row's trials depend on, all else as by default."""

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
        self._touching = {claim.id: self._places_of(claim) for claim in self.family}
        self._rows = cache(self._rows_of_family)
        self._depends = cache(self._depending)
        self._config = cache(compose_config)

    def touching(self, claim: Claim) -> list[int]:
        """Return which places the verdict on a claim can depend on."""
        return self._touching[claim.id]

    def universes(self, claim: Claim) -> Iterator[Universe]:
        """Yield the universes of a claim: the factorial of what touches it, all else as by default."""
        return self._factorial(self.touching(claim), f"claim {claim.id}")

    def universes_of_print(self, artefact: str) -> Iterator[Universe]:
        """Yield the universes that differ in what is compared with the print: in our numbers, or our columns."""
        touching = [
            k
            for k, place in enumerate(self.readings.places)
            if any(place.touches_row(artefact, row) for row in self.printed[artefact])
            and ("columns" in place.of_tests or any(option.overrides for option in place.options))
        ]
        return self._factorial(touching, artefact)

    def chosen(self, universe: Universe, places: Iterable[int]) -> list[Option]:
        """Return the options of some places."""
        return [self.readings.places[k].options[universe[k]] for k in places]

    def read(self, claim: Claim, universe: Universe) -> Claim:
        """Return a claim with the parameters of its test that a universe changes."""
        parameters: dict[str, object] = {}
        for option in self.chosen(universe, self.touching(claim)):
            parameters |= option.parameters
        return replace(claim, rule=claim.rule.changed(parameters)) if parameters else claim

    def rows(self, claim: Claim, universe: Universe) -> frozenset[tuple[str, str]]:
        """Return the rows that a claim reads in a universe, and those of the family that a correction can be about."""
        # which rows follows from the tests' parameters alone
        changing = (bool(place.of_tests) for place in self.readings.places)
        return self._rows(claim.id, tuple(k if named else 0 for k, named in zip(universe, changing, strict=True)))

    def part(self, artefact: str) -> Part | None:
        """Return the part of an artefact's data on which universes are computed, None for all of them."""
        return None if self.whole else self.readings.part.get(artefact)

    def settings(self, artefact: str) -> tuple[str, ...]:
        """Return the settings of all rows of an artefact: the part of its data, and then the user's."""
        part = self.part(artefact)
        return (*(part.overrides if part else ()), *self.overrides)

    def restricted(self, universe: Universe, artefact: str, row: str, *, summary: bool = False) -> Universe:
        """Return a universe with the default where the trials of a row, or its summary, do not depend on the choice."""
        depends = self._depends(artefact, row, summary)
        return tuple([k if of_option[k] else 0 for of_option, k in zip(depends, universe, strict=True)])

    def needed(self, claims: Iterable[Claim], printed: Iterable[str]) -> set[RowChoice]:
        """Return what some claims, and comparing some artefacts with the print, need."""
        found: set[RowChoice] = set()
        for artefact in printed:
            for universe in self.universes_of_print(artefact):
                found |= {(artefact, row, self.restricted(universe, artefact, row)) for row in self.printed[artefact]}
        for claim in claims:
            for universe in self.universes(claim):
                found |= {(*row, self.restricted(universe, *row)) for row in self.rows(claim, universe)}
        return found

    def needed_about(self, artefact: str) -> list[Entry]:
        """Return the entries that the claims about an artefact, and comparing it with the print, need."""
        claims = [claim for claim in self.claims if claim.rule.artefact == artefact]
        needed = self.needed(claims, {artefact} & {*self.printed})
        return [entry for choice in sorted(needed) for entry in self.entries[choice]]

    @cached_property
    def _choices(self) -> dict[str, dict[str, RowChoice]]:
        """What is needed of each artefact, by a name for a row under a choice."""
        found: dict[str, dict[str, RowChoice]] = defaultdict(dict)
        for choice in sorted(self.needed(self.claims, self.printed)):
            artefact, row, universe = choice
            found[artefact][f"{row} {universe}"] = choice
        return found

    @cached_property
    def composed(self) -> dict[str, Artefact]:
        """The artefacts with each row under each choice that it needs, by the names of `_choices`.

        Raises
        ------
        ValueError
            Names an option whose settings no row takes.
        """
        return {
            name: compose_artefact(name, self.settings(name), self._overrides(name, choices))
            for name, choices in self._choices.items()
        }

    @cached_property
    def entries(self) -> dict[RowChoice, list[Entry]]:
        """The entries of the rows of artefacts, each under the choices that it depends on."""
        found: dict[RowChoice, list[Entry]] = defaultdict(list)
        for name, artefact in self.composed.items():
            for entry in artefact.entries:
                choice = self._choices[name][entry.row]
                found[choice].append(replace(entry, row=choice[1]))
        return dict(found)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells, each once."""
        return unique_cells(entry.cell for entries in self.entries.values() for entry in entries)

    def artefact(self, name: str, universe: Universe, rows: Iterable[str] | None = None) -> Artefact:
        """Return an artefact in a universe: those of its rows that were composed, or some of them."""
        found: list[Entry] = []
        for row in artefact_layout(name).rows if rows is None else rows:
            found += self.entries.get((name, row, self.restricted(universe, name, row)), ())
        touching = [k for k, place in enumerate(self.readings.places) if name in place.touches]
        summary = [text for option in self.chosen(universe, touching) for text in option.of_summary]
        made = replace(self.composed[name], entries=tuple(found))
        if summary:
            config = self._config((f"+experiment={name}", *self.settings(name), *summary))
            return replace(made, parts=config)
        return made

    def _places_of(self, claim: Claim) -> list[int]:
        rows = {place[:2] for place in claim.rule.places()}
        return [
            k
            for k, place in enumerate(self.readings.places)
            if any(place.touches_row(*row) for row in rows)
            and (
                any(option.of_cells for option in place.options)
                or any(hasattr(claim.rule, name) for name in place.of_tests)
                or "features" in claim.rule.reads  # which a summary may count in another way
            )
        ]

    def _rows_of_family(self, name: str, universe: Universe) -> frozenset[tuple[str, str]]:
        [claim] = [claim for claim in self.family if claim.id == name]
        kind = type(claim.rule), claim.rule.artefact
        peers = [peer for peer in self.family if (type(peer.rule), peer.rule.artefact) == kind]
        return frozenset(place[:2] for peer in peers for place in self.read(peer, universe).rule.places())

    def _depending(self, artefact: str, row: str, summary: bool) -> list[list[bool]]:
        """Return for each place, and each of its options, whether a row's trials, or its summary, depend on it."""
        return [
            [
                place.touches_row(artefact, row) and bool(option.overrides if summary else option.of_cells)
                for option in place.options
            ]
            for place in self.readings.places
        ]

    def _factorial(self, touching: Sequence[int], subject: str) -> Iterator[Universe]:
        places = self.readings.places
        n = prod(len(places[k].options) for k in touching if not places[k].alone)
        if n > MOST:
            raise ValueError(
                f"{subject}: expected at most {MOST} universes, got {n} from the places "
                f"{', '.join(places[k].id for k in touching)}; leave options out of readings.yaml."
            )
        every = product(*(range(len(place.options)) if k in touching else (0,) for k, place in enumerate(places)))
        return (universe for universe in every if not any(universe[k] and universe[other] for k, other in self._apart))

    @cached_property
    def _apart(self) -> list[tuple[int, int]]:
        """Pairs of places of which one at most has another option than its default."""
        pairs = combinations(enumerate(self.readings.places), 2)
        return [(k, other) for (k, one), (other, two) in pairs if (one.alone or two.alone) and one.meets(two)]

    def _overrides(self, artefact: str, choices: Mapping[str, RowChoice]) -> dict[str, tuple[str, ...]]:
        """Return the overrides of rows: their own, and then those of the options that fit what is chosen before."""
        stated, composer = artefact_part(artefact), Composer()
        base = [f"+experiment={artefact}", *self.settings(artefact)]
        composed = cache(lambda overrides: composer([*base, *overrides]))
        of_columns = {setting(text) for column in stated["columns"].values() for text in column}
        found = {}
        for label, (_, row, universe) in choices.items():
            own = overrides = tuple(stated["rows"][row])
            changed = [(place, place.options[k]) for place, k in zip(self.readings.places, universe, strict=True) if k]
            for place, option in changed:
                taken = column_settings(option.of_cells, composed(own))
                lost = [text for text in taken if setting(text) in of_columns]
                if lost or not taken:
                    reason = f"each column sets {setting(lost[0])} itself" if lost else "the row has none of these"
                    raise ValueError(
                        f"readings, place {place.id}, option {option.name}: expected settings that change {row} of "
                        f"{artefact}, got {', '.join(option.overrides)}, but {reason}; fix touches or the option."
                    )
                overrides += tuple(column_settings(option.of_cells, composed(overrides)))
            found[label] = overrides
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
    whole = whole_cells(multiverse, store)
    lacking = {row for row, found in multiverse.entries.items() if not {entry.cell.id for entry in found} <= whole}
    asked: dict[Universe, list[Claim]] = defaultdict(list)
    for claim in multiverse.claims:
        for universe in multiverse.universes(claim):
            asked[universe].append(claim)
    stored, places, lines = Evidence(store, multiverse.overrides), multiverse.readings.places, {}
    for universe, claims in asked.items():
        there = [
            multiverse.read(claim, universe)
            for claim in claims
            if not any(
                (*row, multiverse.restricted(universe, *row)) in lacking for row in multiverse.rows(claim, universe)
            )
        ]
        evidence = stored.with_artefacts({name: multiverse.artefact(name, universe) for name in multiverse.composed})
        family = [multiverse.read(claim, universe) for claim in multiverse.family]
        verdicts = {verdict.claim.id: verdict for verdict in judge(there, evidence, family)}
        for claim in claims:
            touching = multiverse.touching(claim)
            names = ["" if k not in touching else place.options[universe[k]].name for k, place in enumerate(places)]
            verdict = verdicts.get(claim.id, Verdict(claim))
            finding, effects = verdict.finding, [part.effect for part in verdict.parts]
            mean = float(np.mean(effects)) if effects else np.nan  # NaN where one is not known
            lines[claim.id, universe] = (
                claim.id, *names, verdict.verdict, finding.effect, finding.low, finding.high, finding.part,
                finding.p_value, finding.n, finding.unit, mean, verdict.state,
            )  # fmt: skip
    order = [(claim.id, universe) for claim in multiverse.claims for universe in multiverse.universes(claim)]
    return pd.DataFrame([lines[k] for k in order], columns=["claim", *(place.id for place in places), *MEASURED])


def whole_cells(multiverse: Multiverse, store: StoreSnapshot) -> set[str]:
    """Return the ids of the cells whose trials are all there."""
    return {cell.id for cell in multiverse.cells if store.rows(cell).size == cell.n_trials}


def cost_text(multiverse: Multiverse, store: StoreSnapshot) -> str:
    """Return how many trials there are, each once, and what the missing ones will cost by the most similar stored ones.

    Most similar is the same row, column and data set under any choice; then the same data set; then the artefact.
    """
    similar, cpu = ["artefact", "dataset", "row", "column"], store.column("task_cpu").to_numpy().astype(float)
    lines = {
        entry.cell.id: (name, entry.dataset, row, entry.column, entry.cell.n_trials, cpu[store.rows(entry.cell)])
        for (name, row, _), entries in multiverse.entries.items()
        for entry in entries
    }
    cells = pd.DataFrame(lines.values(), columns=[*similar, "planned", "cpu"])
    stored, cells["mean"] = cells["cpu"].map(len), cells["cpu"].map(lambda cpu: cpu.mean() if cpu.size else np.nan)
    missing, mean = cells["planned"] - stored, pd.Series(np.nan, cells.index)
    for n in range(len(similar), 0, -1):
        mean = mean.fillna(cells.groupby(similar[:n])["mean"].transform("mean"))
    n_missing, n_unknown = int(missing.sum()), int(missing[mean.isna()].sum())
    text = f"{cells['planned'].sum()} trials, {stored.sum()} stored, {n_missing} to compute"
    if n_missing > n_unknown:
        text += f": about {(missing * mean).sum() / 3600:.2g} CPU hours by the cost of similar trials"
    return text + (f"; nothing like {n_unknown} of them is stored, so their cost is not known" if n_unknown else "")
