"""Schema of `experiments/<paper>/readings.yaml`, which is checked before anything is composed.

```yaml
paper: smith2020
places:
  - id: weights                                   # an open place of the paper
    asks: How are terms weighted?
    where: Section 6.4 states no weighting.
    touches: {smith2020/figure1: all, smith2020/table1: [BSS, Lvg]}    # artefacts, and all or some of their rows
    options:                                      # the default first
      counts: []                                  # no overrides: as in the artefact
      binary: [dataset.weighting=binary]
  - id: always
    asks: Does "in all runs" mean in each draw, or in the union of a fold's draws?
    where: Table 3
    touches: {smith2020/table3: [Lvg]}
    options:
      each draw: []
      union of draws: {parameters: {draws: union}}   # for tests with this parameter
    # about: {over: [domains]}                    # instead of touches: claims whose tests have one of these parameters
    # alone: true                                 # not crossed with other places that touch the same rows
    # in_letter: never                            # do not ask the authors, as the paper states it; or always
part:                                             # of the data, stated beforehand, if all data are too expensive
  smith2020/figure1:
    why: Every tenth set in the order of their names.
    overrides: ["dataset.set=[Exp_1_2,Exp_3_4]", protocol.repeats=1]
one_reading:                                      # claims, or patterns of ids, without other readings
  smith2020.lemma1: Nothing is open there.
likelihood: [smith2020/table2]                    # artefacts whose printed values likelihood.csv compares with readings
```
As in an artefact's columns, settings of the selector or the model are ignored for rows
that do not have them.
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
from provlab.verdicts.claims.rules import AbstractRule
from provlab.verdicts.claims.stored import artefact_layout

MEASURED = [
    "verdict",
    "effect",
    "low",
    "high",
    "part",
    "p_value",
    "n",
    "unit",
    "mean_effect",
    "state",
]
"""Columns for a claim in a universe: the decisive part, and the mean effect over all parts."""

DISTANCE = ["rank", "by_default", "exact", "printed", "shared", "difference", "tau"]
"""Columns for the comparison of a universe with the printed values: its rank, shared by ties; whether it is the
default; the number of cells as printed, and of printed cells; the mean share of printed list items that we have; the
mean |ours - printed| in standard deviations (printed, otherwise ours); and Kendall's tau over all numbers."""

RESERVED = ("claim", *MEASURED, *DISTANCE)
"""Names of further columns, which ids of places cannot have."""

SHOWN_CHARACTERS = 100
"""Longer overrides are abbreviated."""


def _overrides(texts: tuple[str, ...]) -> tuple[str, ...]:
    if not all("=" in text for text in texts):
        raise ValueError(
            f"expected overrides such as selector.step=0.5, got {texts!r:.80}."
        )
    return texts


Overrides = Annotated[tuple[str, ...], _overrides]


@dataclass(frozen=True)
class Option:
    """One defensible reading of a place.

    Attributes
    ----------
    name : str
    overrides : tuple of str
    parameters : mapping
        New values for parameters of claims' tests, by name.
    """

    name: str
    overrides: Overrides = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""

    @cached_property
    def of_summary(self) -> tuple[str, ...]:
        """Overrides of `artefact.summary`, which change how trials are summarised."""
        return tuple(
            text
            for text in self.overrides
            if setting(text).startswith("artefact.summary.")
        )

    @cached_property
    def of_cells(self) -> tuple[str, ...]:
        """Overrides of the rows that the place touches, which change what is computed."""
        return tuple(text for text in self.overrides if text not in self.of_summary)


def _options(stated: Mapping[str, Any]) -> tuple[Option, ...]:
    options = []
    for name, content in stated.items():
        if isinstance(content, list):
            content = {"overrides": content}
        if isinstance(content, Mapping):
            content = {**content, "name": name}
        options.append(read_as(Option, content, name))
    if len(options) < 2:
        raise ValueError(
            f"expected two or more options, the default first, got {', '.join(stated) or 'none'}."
        )
    default = options[0]
    if default.overrides or default.parameters:
        raise ValueError(
            f"{default.name}: the default must change nothing and be [], because the artefact states it, got "
            f"{stated[default.name]!r:.80}; make this another option, or change the artefact."
        )
    return tuple(options)


def _rows(touched: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    rows = {}
    for artefact, chosen in touched.items():
        names = artefact_layout(artefact).rows
        if chosen == "all":
            chosen = names
        elif not isinstance(chosen, list) or not chosen or not {*chosen} <= {*names}:
            raise ValueError(
                f"expected all or a list of rows of {artefact} ({'; '.join(names)}), got {chosen}."
            )
        rows[artefact] = tuple(chosen)
    return rows


@dataclass(frozen=True)
class Place:
    """An open place of a paper, with its readings as options.

    Attributes
    ----------
    id, asks, where : str
    touches : mapping
        Rows whose numbers depend on the choice, by artefact.
    about : mapping
        If the place affects no artefact, it applies to claims whose tests have one of
        the given values of each parameter. If a parameter is a list, all its items must
        be among them. A missing parameter counts as "".
    options : tuple of Option
        Options, the default first.
    alone : bool, default=False
        Combine the other options only with the defaults of all places that affect the
        same rows, if a full crossing is too expensive or would count one reading many
        times.
    """

    id: str
    asks: Line
    where: Line
    options: Annotated[tuple[Option, ...], _options]
    touches: Annotated[Mapping[str, tuple[str, ...]], _rows] = field(
        default_factory=dict
    )
    about: Mapping[str, Any] = field(default_factory=dict)
    alone: bool = False
    in_letter: Literal["", "always", "never"] = ""

    def touches_row(self, artefact: str, row: str) -> bool:
        """Return whether the numbers of a row depend on the choice."""
        return row in self.touches.get(artefact, ())

    def is_about(self, rule: AbstractRule) -> bool:
        """Return whether a place that affects no artefact applies to a claim with this rule."""
        for name, allowed in self.about.items():
            value = getattr(rule, name, "")
            values = value if isinstance(value, tuple) else (value,)
            if not {*values} <= {*allowed}:
                return False
        return not self.touches

    def meets(self, place: Place) -> bool:
        """Return whether the numbers of some row depend on the choices at both places."""
        if not self.touches or not place.touches:
            return True
        return any(
            {*rows} & {*place.touches.get(artefact, ())}
            for artefact, rows in self.touches.items()
        )

    @cached_property
    def of_tests(self) -> frozenset[str]:
        """Parameters of tests that any option changes."""
        return frozenset(name for option in self.options for name in option.parameters)

    def columns_aside(self, chosen: int) -> frozenset[str]:
        """Return the columns that claims read with other options and not with the chosen one.

        An option without its own columns, such as the default, has those that the other
        options add.
        """
        columns: set[str] = set()
        beside: set[str] = set()
        for option in self.options:
            columns.update(option.parameters.get("columns", ()))
            beside.update(option.parameters.get("also", ()))
        return frozenset(
            (columns | beside).difference(
                self.options[chosen].parameters.get("columns", beside)
            )
        )


@dataclass(frozen=True)
class Part:
    """The part of an artefact's data on which universes are computed."""

    why: Line
    overrides: Overrides

    @property
    def settings(self) -> str:
        """The overrides in readable form; long lists are shown by their first value and length."""
        texts = []
        for text in self.overrides:
            if len(text) > SHOWN_CHARACTERS:
                text = f"{text.partition(',')[0]}, ... {text.count(',') + 1} in all]"
            texts.append(text)
        return " ".join(texts)


def _places(places: tuple[Place, ...]) -> tuple[Place, ...]:
    names = [*RESERVED]
    for place in places:
        if place.id in names:
            raise ValueError(
                f"{place.id}: id: expected a name other than {', '.join(names)}, got {place.id!r}."
            )
        names.append(place.id)
    return places


def _parts(parts: Mapping[str, Part]) -> Mapping[str, Part]:
    _artefacts(tuple(parts))
    return parts


def _artefacts(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        artefact_layout(name)
    return names


@dataclass(frozen=True)
class Readings:
    """The content of a readings.yaml."""

    paper: str
    places: Annotated[tuple[Place, ...], _places]
    part: Annotated[Mapping[str, Part], _parts] = field(default_factory=dict)
    one_reading: Mapping[str, Line] = field(default_factory=dict)
    likelihood: Annotated[tuple[str, ...], _artefacts] = ()

    def why_one_reading(self, claim: str) -> str:
        """Return why no reading of a claim was tested; "" if the file states no reason."""
        for pattern, why in self.one_reading.items():
            if fnmatchcase(claim, pattern):
                return why
        return ""


def paper_readings(paper: str) -> Readings:
    """Return the readings of a paper.

    Raises
    ------
    ValueError
        If there is no such paper, or it has no readings, or the file is invalid: broken
        YAML, a missing or unknown key, a repeated id, an unknown artefact or row, fewer
        than two options, or a default that changes something.
    """
    paths = {}
    for name, room in papers().items():
        path = room.folder / "readings.yaml"
        if path.is_file():
            paths[name] = path
    if paper not in paths:
        raise ValueError(
            f"readings: expected a paper with a readings.yaml, one of {', '.join(paths) or 'none'}, got {paper!r:.80}; "
            f"write one beside its claims.yaml, see {__name__}"
            + (did_you_mean(paper, paths) or ".")
        )
    return read_record(paths[paper], Readings)
