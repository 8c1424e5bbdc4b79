"""Readings as data: `experiments/<paper>/readings.yaml`, checked before anything is composed.

```yaml
paper: smith2020
places:
  - id: weights                                   # an open place of the paper
    asks: How are terms weighted?
    where: Section 6.4 states no weighting.
    touches: {smith2020/figure1: all, smith2020/table1: [BSS, Lvg]}    # artefacts, and all or some of their rows
    options:                                      # the default first
      counts: []                                  # overrides; none: what the artefact says
      binary: [dataset.weighting=binary]
  - id: always
    asks: Does "in all runs" mean in each draw, or in the union of a fold's draws?
    where: Table 3
    touches: {smith2020/table3: [Lvg]}
    options:
      each draw: []
      union of draws: {parameters: {draws: union}}   # of the claims' tests that have such a parameter
    # alone: true                                 # asked with the defaults of what touches the same rows, not crossed
    # in_letter: never                            # the authors are not asked, as the paper says it; or always
part:                                             # of the data, stated beforehand, where the whole is too dear
  smith2020/figure1:
    why: Every tenth set in the order of their names.
    overrides: ["dataset.set=[Exp_1_2,Exp_3_4]", protocol.repeats=1]
one_reading:                                      # claims, or patterns of ids, of which no reading was asked
  smith2020.lemma1: Nothing is open there.
```
As in an artefact's columns, a setting of the selector or the model is left out for rows that do not have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated, Any, Literal

from provlab.core.overrides import setting
from provlab.project.documents import Line, read_as, read_record
from provlab.project.messages import did_you_mean
from provlab.project.papers import papers
from provlab.verdicts.claims.stored import artefact_layout

MEASURED = ["verdict", "effect", "low", "high", "part", "p_value", "n", "unit", "mean_effect", "state"]
"""What is said of a claim in a universe: of the part that decided, and the mean effect over all parts."""

DISTANCE = ["rank", "by_default", "exact", "printed", "shared", "difference", "tau"]
"""Of a universe: its place, equal ones alike; whether it is that of the defaults; cells as printed, of how many; mean
share of the listed things that are there; mean |ours - printed| in standard deviations (the printed one, else ours);
Kendall's tau over all numbers."""

RESERVED = ("claim", *MEASURED, *DISTANCE)
"""Columns that stand beside those of the places."""

LONG = 100
"""Characters of an override that is shown whole."""


def _overrides(found: tuple[str, ...]) -> tuple[str, ...]:
    if not all("=" in text for text in found):
        raise ValueError(f"expected overrides such as selector.step=0.5, got {found!r:.80}.")
    return found


Overrides = Annotated[tuple[str, ...], _overrides]


@dataclass(frozen=True)
class Option:
    """One defensible reading of a place.

    Attributes
    ----------
    name : str
    overrides : tuple of str
    parameters : mapping
        Of the tests of claims that have a parameter of that name.
    words : str
        The option for people who do not know its name; "" where the name says it.
    """

    name: str
    overrides: Overrides = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""

    @cached_property
    def of_summary(self) -> tuple[str, ...]:
        """Overrides of `artefact.summary`: they change how trials become numbers."""
        return tuple(text for text in self.overrides if setting(text).startswith("artefact.summary."))

    @cached_property
    def of_cells(self) -> tuple[str, ...]:
        """Overrides of the rows that the place touches: they change what is computed."""
        return tuple(text for text in self.overrides if text not in self.of_summary)


def _options(stated: Mapping[str, Any]) -> tuple[Option, ...]:
    options = []
    for name, content in stated.items():
        named = {"overrides": content} if isinstance(content, list) else content
        options.append(read_as(Option, {**named, "name": name} if isinstance(named, Mapping) else named, name))
    if len(options) < 2:
        raise ValueError(f"expected two or more, the default first, got {', '.join(stated) or 'none'}.")
    if options[0].overrides or options[0].parameters:
        raise ValueError(
            f"{options[0].name}: expected a default that changes nothing, [], as the artefact says it, got "
            f"{stated[options[0].name]!r:.80}; put it after the default, or change the artefact."
        )
    return tuple(options)


def _rows(touched: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    rows = {}
    for artefact, chosen in touched.items():
        known = artefact_layout(artefact).rows
        if chosen != "all" and (not isinstance(chosen, list) or not chosen or any(row not in known for row in chosen)):
            raise ValueError(f"expected all or a list of rows of {artefact} ({'; '.join(known)}), got {chosen}.")
        rows[artefact] = known if chosen == "all" else tuple(chosen)
    return rows


@dataclass(frozen=True)
class Place:
    """An open place of a paper.

    Attributes
    ----------
    id, asks, where : str
    touches : mapping
        Artefact and those of its rows whose numbers depend on the choice.
    options : tuple of Option
        The default first.
    alone : bool, default=False
        Ask the others only with the defaults of all places that touch the same rows. Use it where a full crossing is
        too dear, or would count one reading many times.
    in_letter : {"", "always", "never"}
        Whether the letter to the authors asks it; "" where that depends on how many verdicts it turns.
    """

    id: str
    asks: Line
    where: Line
    touches: Annotated[Mapping[str, tuple[str, ...]], _rows]
    options: Annotated[tuple[Option, ...], _options]
    alone: bool = False
    in_letter: Literal["", "always", "never"] = ""

    def touches_row(self, artefact: str, row: str) -> bool:
        """Return whether the numbers of a row depend on the choice."""
        return row in self.touches.get(artefact, ())

    def meets(self, other: Place) -> bool:
        """Return whether some row's numbers depend on both choices."""
        return any(self.touches_row(artefact, row) for artefact, rows in other.touches.items() for row in rows)

    @property
    def of_tests(self) -> frozenset[str]:
        """Parameters of tests that some option changes."""
        return frozenset(name for option in self.options for name in option.parameters)

    def columns_aside(self, chosen: int) -> frozenset[str]:
        """Return the columns that claims read by other options and not by the one chosen.

        An option without columns of its own, such as the default, stands for those that the others read beside theirs.
        """
        beside = {column for option in self.options for column in option.parameters.get("also", ())}
        named = {column for option in self.options for column in option.parameters.get("columns", ())} | beside
        return frozenset(named - {*self.options[chosen].parameters.get("columns", beside)})


@dataclass(frozen=True)
class Part:
    """The part of an artefact's data on which universes are computed."""

    why: Line
    overrides: Overrides

    @property
    def settings(self) -> str:
        """The overrides for people: of one that lists many values the first, and their number."""
        return " ".join(
            text if len(text) <= LONG else f"{text.partition(',')[0]}, ... {text.count(',') + 1} in all]"
            for text in self.overrides
        )


def _places(found: tuple[Place, ...]) -> tuple[Place, ...]:
    taken = [*RESERVED]
    for place in found:
        if place.id in taken:
            raise ValueError(f"{place.id}: id: expected another name than {', '.join(taken)}, got {place.id!r}.")
        taken.append(place.id)
    return found


def _parts(found: Mapping[str, Part]) -> Mapping[str, Part]:
    for artefact in found:
        artefact_layout(artefact)
    return found


@dataclass(frozen=True)
class Readings:
    """What a readings.yaml holds."""

    paper: str
    places: Annotated[tuple[Place, ...], _places]
    part: Annotated[Mapping[str, Part], _parts] = field(default_factory=dict)
    one_reading: Mapping[str, Line] = field(default_factory=dict)

    def why_one_reading(self, claim: str) -> str:
        """Return why no reading of a claim was asked; "" where the file does not say it."""
        return next((why for pattern, why in self.one_reading.items() if fnmatchcase(claim, pattern)), "")


def paper_readings(paper: str) -> Readings:
    """Return the readings of a paper.

    Raises
    ------
    ValueError
        When there is no such paper, or it has none; or names the file and what is wrong there: broken YAML, a missing
        or unknown key, a repeated id, an unknown artefact or row, fewer than two options, or a default that changes
        something.
    """
    paths = {name: path for name, found in papers().items() if (path := found.folder / "readings.yaml").is_file()}
    if paper not in paths:
        raise ValueError(
            f"readings: expected a paper with a readings.yaml, of {', '.join(paths) or 'none'}, got {paper!r:.80}; "
            f"write one beside its claims.yaml, see {__name__}" + (did_you_mean(paper, paths) or ".")
        )
    return read_record(paths[paper], Readings)
