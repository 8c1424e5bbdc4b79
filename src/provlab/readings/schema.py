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
part:                                             # of the data, stated beforehand, where the whole is too dear
  smith2020/figure1:
    why: Every tenth set in the order of their names.
    overrides: ["dataset.set=[Exp_1_2,Exp_3_4]", protocol.repeats=1]
```
As in an artefact's columns, a setting of the selector or the model is left out for rows that do not have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from provlab.claims.stored import artefact_layout
from provlab.documents import check_keys, one_line, read_listing
from provlab.messages import did_you_mean
from provlab.plan.overrides import setting
from provlab.project import papers

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


@dataclass(frozen=True)
class Option:
    """One defensible reading of a place.

    Attributes
    ----------
    name : str
    of_cells : tuple of str
        Overrides of the rows that the place touches: they change what is computed.
    of_summary : tuple of str
        Overrides of `artefact.summary`: they change how trials become numbers.
    parameters : mapping
        Of the tests of claims that have a parameter of that name.
    """

    name: str
    of_cells: tuple[str, ...] = ()
    of_summary: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def overrides(self) -> tuple[str, ...]:
        """All overrides."""
        return self.of_cells + self.of_summary


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
    """

    id: str
    asks: str
    where: str
    touches: Mapping[str, tuple[str, ...]]
    options: tuple[Option, ...]

    def touches_row(self, artefact: str, row: str) -> bool:
        """Return whether the numbers of a row depend on the choice."""
        return row in self.touches.get(artefact, ())

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

    why: str
    overrides: tuple[str, ...]

    @property
    def settings(self) -> str:
        """The overrides for people: of one that lists many values the first, and their number."""
        return " ".join(
            text if len(text) <= LONG else f"{text.partition(',')[0]}, ... {text.count(',') + 1} in all]"
            for text in self.overrides
        )


@dataclass(frozen=True)
class Readings:
    """What a readings.yaml holds."""

    paper: str
    places: tuple[Place, ...]
    parts: Mapping[str, Part]


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
    path = paths[paper]
    content = read_listing(path, "places", __name__)
    places: dict[str, Place] = {}
    for number, entry in enumerate(content["places"], 1):
        subject = f"{path}: place {entry.get('id', number) if isinstance(entry, dict) else number}"
        place = _place(subject, entry)
        if place.id in RESERVED or place.id in places:
            taken = ", ".join([*RESERVED, *places])
            raise ValueError(f"{subject}: id: expected another name than {taken}, got {place.id!r}.")
        places[place.id] = place
    parts = {}
    for name, entry in (content.get("part") or {}).items():
        subject = f"{path}: part {name}"
        check_keys(subject, entry, ("why", "overrides"))
        _rows(subject, str(name), "all")
        parts[str(name)] = Part(one_line(entry["why"]), _overrides(subject, entry["overrides"]))
    return Readings(str(content["paper"]), tuple(places.values()), parts)


def _place(subject: str, entry: Any) -> Place:
    check_keys(subject, entry, ("id", "asks", "where", "touches", "options"))
    touches, options = entry["touches"], entry["options"]
    if not isinstance(touches, dict) or not touches:
        raise ValueError(f"{subject}: touches: expected artefacts with all or a list of rows, got {touches!r:.80}.")
    if not isinstance(options, dict) or len(options) < 2:
        raise ValueError(f"{subject}: options: expected two or more, the default first, got {options!r:.80}.")
    made = tuple(_option(f"{subject}: option {name}", str(name), content) for name, content in options.items())
    if made[0].overrides or made[0].parameters:
        raise ValueError(
            f"{subject}: option {made[0].name}: expected a default that changes nothing, [], as the artefact says it, "
            f"got {options[made[0].name]!r:.80}; put it after the default, or change the artefact."
        )
    rows = {str(name): _rows(subject, str(name), chosen) for name, chosen in touches.items()}
    return Place(str(entry["id"]), one_line(entry["asks"]), one_line(entry["where"]), rows, made)


def _rows(subject: str, artefact: str, chosen: Any) -> tuple[str, ...]:
    try:
        known, _ = artefact_layout(artefact)
    except ValueError as error:
        raise ValueError(f"{subject}: {error}") from error
    if chosen == "all":
        return known
    if not isinstance(chosen, list) or not chosen or any(row not in known for row in chosen):
        raise ValueError(f"{subject}: expected all or a list of rows of {artefact} ({'; '.join(known)}), got {chosen}.")
    return tuple(map(str, chosen))


def _option(subject: str, name: str, content: Any) -> Option:
    content = {"overrides": content} if isinstance(content, list) else content
    if (
        not isinstance(content, dict)
        or content.keys() - {"overrides", "parameters"}
        or not isinstance(parameters := content.get("parameters", {}), dict)
    ):
        raise ValueError(f"{subject}: expected a list of overrides, or parameters of tests, got {content!r:.80}.")
    overrides = _overrides(subject, content.get("overrides", []))
    of_summary = tuple(text for text in overrides if setting(text).startswith("artefact.summary."))
    return Option(name, tuple(text for text in overrides if text not in of_summary), of_summary, parameters)


def _overrides(subject: str, found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(text, str) and "=" in text for text in found):
        raise ValueError(f"{subject}: expected overrides such as selector.step=0.5, got {found!r:.80}.")
    return tuple(found)
