"""Rules turn tests into verdicts. The fields of a rule are its parameters; most rules decide by criteria.

A difference is error(row) - error(than): negative values favour the row. A criterion is
met if its p-value is below alpha after correction for the family of comparisons:

- The **family** consists of all comparisons in claims of one kind about the same
  artefacts, data set and sample: every pair of methods in every column (number of
  features). A planned comparison that could not be made counts with p = 1.
- If **one column suffices**, for example to contradict "in every column", p-values are
  corrected by Holm's method over the whole family, methods and columns.
- A criterion that **all columns** must meet needs no correction over columns: the
  largest of their p-values is that of the claim (intersection-union test, Berger 1982).
  Holm's method is then applied over the claims of the family.

Thus the probability that any claim of a family wrongly gets a given verdict is at most
alpha. Each interval refers to a single comparison. An equivalence test at level alpha
requires the 1 - 2 alpha interval to lie inside the margin, so this interval is
reported.

References
----------
Holm (1979), Scandinavian Journal of Statistics 6. Berger (1982), Technometrics 24.
Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, for the two
one-sided tests of equivalence (TOST).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import pandas as pd

from provlab.core.tables import limited
from provlab.project.documents import read_as, read_fields
from provlab.verdicts.claims.evidence import POINTS, AbstractEvidence, Place
from provlab.verdicts.claims.paired_tests import (
    AbstractPairedTest,
    Side,
    holm,
    observations_needed,
)
from provsel.values import ValuesWithNaN

RULES_VERSION = 4
"""Increased when the same evidence may lead to another verdict; `provsel reference` stores it with the verdicts."""

REPLICATED, NOT_CONTRADICTED, CONTRADICTED = (
    "replicated",
    "not contradicted",
    "contradicted",
)
NO_DIFFERENCE, DEPENDS, DEPENDS_ON_READING = (
    "no difference",
    "depends on r",
    "depends on the reading",
)
OPEN_UNDER_READINGS, ONE_READING = "inconclusive under most readings", "one reading"
INCONCLUSIVE, VACUOUS, NOT_TESTABLE, NOT_RUN = (
    "inconclusive",
    "vacuous",
    "not testable",
    "not run",
)

VERDICTS = (
    REPLICATED, NOT_CONTRADICTED, CONTRADICTED, NO_DIFFERENCE, DEPENDS, DEPENDS_ON_READING, OPEN_UNDER_READINGS,
    ONE_READING, INCONCLUSIVE, VACUOUS, NOT_TESTABLE, NOT_RUN,
)  # fmt: skip
"""Not contradicted: no evidence speaks against the claim, but the sample is too small to show that it holds. No
difference: the claim says that one method is better, and both are shown to be equal within its margin. Depends on r:
the claim names no number of features, and holds at some numbers but not at others. Inconclusive: the sample is too
small to decide. Vacuous: the claim holds whatever the results are, for example a bound above the maximum. Not testable:
these data cannot decide the claim, for example because they lack a feature that it names.
`provlab.verdicts.readings.robustness` says how a decisive verdict counts. It depends on the reading if other readings
of the paper give other verdicts. It is inconclusive under most readings if fewer than half of them are decisive. It has
one reading if no other was tested.
"""

DECIDED = (REPLICATED, NOT_CONTRADICTED, CONTRADICTED, NO_DIFFERENCE, DEPENDS)
"""The decisive verdicts. Not contradicted is one of them: it does not prove a claim, but no evidence speaks against it.
No other verdict supports a conclusion.
"""

ALPHA = 0.05
"""Level of every test, unless a claim states another."""


@dataclass(frozen=True, eq=False)
class Finding(ValuesWithNaN):
    """The evidence on one part of a claim, for example one number of features.

    Attributes
    ----------
    part : str
        Column of the artefact, or another subject.
    verdict : str
        One of `VERDICTS`.
    effect, low, high, p_value : float
        NaN if there is none.
    n : int
        Number of data sets, folds or trials, depending on `test`.
    test : str
        The test that decided.
    unit : str
        Unit of effect, low, high, margins and the values of the sample.
    note : str
    margins : tuple of float
        The thresholds that were applied, if they are in `unit`.
    sample : tuple of (name, value)
        The observations of the test, for example the difference on each data set.
    needed : float
        If inconclusive: the n at which the test would have a power of 0.9 with the
        observed location and spread; infinite if there is no such n.
    detectable : float
        If inconclusive: the distance from the threshold, in `unit`, that is detectable
        with n observations and a power of 0.9.
    smallest_margin : float
        The smallest margin, in `unit`, with which this part would be shown to be equal,
        or not worse.
    """

    part: str
    verdict: str
    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    n: int = 0
    test: str = ""
    unit: str = ""
    note: str = ""
    margins: tuple[float, ...] = ()
    sample: tuple[tuple[str, float], ...] = ()
    needed: float = math.nan
    detectable: float = math.nan
    smallest_margin: float = math.nan

    @property
    def interval(self) -> str:
        """Return " [low, high]", or nothing if there is no interval, or one that excludes nothing."""
        return (
            f" [{self.low:.4g}, {self.high:.4g}]"
            if limited(self.low, self.high)
            else ""
        )

    @property
    def size_text(self) -> str:
        """Return the n that would decide this part, and the difference detectable with the present n; "" if decided."""
        if math.isnan(self.needed):
            return ""
        n = "no n" if math.isinf(self.needed) else f"n={self.needed:.0f}"
        text = f"{n} would decide it with power 0.9"
        if math.isinf(self.detectable):
            text += f"; n={self.n} is too few to show any difference"
        elif not math.isnan(self.detectable):
            text += f"; n={self.n} can show {self.detectable:.3g} {self.unit}"
        return text

    def line(self) -> str:
        """Return the finding as a phrase."""
        text = f"{self.part}: {self.verdict}"
        if not math.isnan(self.effect):
            text += f", {self.effect:.4g}{self.interval}"
            if not math.isnan(self.p_value):
                text += f", p={self.p_value:.2g}"
            text += f", n={self.n}"
        remarks = "; ".join(filter(None, (self.note, self.size_text)))
        return f"{text} ({remarks})" if remarks else text


def nothing_stored(part: str, *names: str) -> Finding:
    """Return a finding for rows without evidence."""
    return Finding(part, NOT_RUN, note=f"nothing stored for {', '.join(names)}")


class Bound(NamedTuple):
    """A bound on a location, from above or below; `tails` is 2 if the other side is tested as well."""

    side: Literal["above", "below"]
    at: float
    tails: int = 1

    @property
    def alternative(self) -> Side:
        """Arguments of the one-sided test."""
        return "greater" if self.side == "above" else "less"

    def mirrored(self) -> Bound:
        """Return the bound on the negative of the location."""
        return Bound(
            "below" if self.side == "above" else "above", 0.0 - self.at, self.tails
        )

    def distance(self, location: float) -> float:
        """Return how far inside a location is."""
        return location - self.at if self.side == "above" else self.at - location


def inside(low: float, high: float) -> tuple[Bound, Bound]:
    """Return the bounds of two one-sided tests of equivalence."""
    return Bound("above", low), Bound("below", high)


@dataclass(frozen=True)
class Criterion:
    """A verdict, and the bounds that must all be shown to reach it.

    Attributes
    ----------
    verdict : str
    bounds : tuple of Bound
    all_columns : bool
        True if the claim gets the verdict only if all its columns meet the criterion.
    """

    verdict: str
    bounds: tuple[Bound, ...]
    all_columns: bool = False

    def p_value(self, test: AbstractPairedTest) -> float:
        """Return the uncorrected p-value: the largest one, because all bounds must be shown."""
        return max(
            min(1.0, bound.tails * test.p_value(bound.at, bound.alternative))
            for bound in self.bounds
        )

    @property
    def tails(self) -> int:
        """2 if any bound is tested on both sides, otherwise 1."""
        return max(bound.tails for bound in self.bounds)

    @property
    def has_margin(self) -> bool:
        """Whether it states that two values are equal, or that one is not worse."""
        return (
            self.verdict in (REPLICATED, NO_DIFFERENCE)
            and self.tails == 1
            and self.bounds[-1].at != 0
        )

    def smallest_margin(self, test: AbstractPairedTest, level: float) -> float:
        """Return the smallest margin, around the middle of the bounds or 0, at which this criterion would be met."""
        low, high = test.interval(1 - 2 * level)
        middle = 0.0
        if len(self.bounds) > 1:
            middle = (self.bounds[0].at + self.bounds[1].at) / 2
        margins = {"below": high - middle, "above": middle - low}
        return max(margins[bound.side] for bound in self.bounds)

    def __str__(self) -> str:
        return " and ".join(f"{bound.side} {bound.at:g}" for bound in self.bounds)


Criteria = tuple[Criterion, ...]
"""The first criterion that is met determines the verdict; if none is met, it is inconclusive."""


def decide(
    part: str,
    test: AbstractPairedTest,
    criteria: Criteria,
    others: Sequence[Sequence[float]] = (),
    *,
    alpha: float,
    unit: str = POINTS,
    plans: bool = True,
) -> Finding:
    """Return the verdict by a list of criteria, with an interval.

    An inconclusive finding states the number of observations at which the test would
    have a power of 0.9 with the observed location and spread. It also states the
    distance from the first bound that the present sample can detect with that power.
    The level is the one that Holm's method assigns to the comparison in its family.

    Parameters
    ----------
    part : str
    test : AbstractPairedTest
    criteria : sequence of Criterion
    others : sequence of sequence of float
        For each criterion the uncorrected p-values of the rest of the family; 1 for
        anything that could not be tested.
    alpha : float
    unit : str
        Unit of the test's location.
    plans : bool
        Whether to compute the number of observations that would decide; this is omitted
        for thousands of universes.
    """
    families = [*others] or [()] * len(criteria)
    adjusted = []
    levels = []
    for criterion, family in zip(criteria, families, strict=True):
        p_value = criterion.p_value(test)
        adjusted.append(holm([p_value, *family])[0])
        n_less_clear = sum(p_of_family >= p_value for p_of_family in family)
        levels.append(alpha / (1 + n_less_clear))  # Holm's factor
    met = [k for k, p_value in enumerate(adjusted) if p_value < alpha]
    decisive = met[0] if met else adjusted.index(min(adjusted))
    criterion = criteria[decisive]
    verdict = criterion.verdict if met else INCONCLUSIVE
    is_same = NO_DIFFERENCE in [criteria[k].verdict for k in met]
    level = 1 - 2 * alpha / criterion.tails
    low, high = test.interval(level)
    is_equivalence = len(criterion.bounds) > 1 and criterion.tails == 1
    name = f"TOST ({test.name})" if is_equivalence else test.name
    n_needed = math.nan
    detectable = math.nan
    if plans and not met:
        n_needed = needed(test, criteria, levels)
        detectable = test.detectable(
            levels[0] / criteria[0].tails, criteria[0].bounds[0].alternative
        )
    smallest_margin = math.nan
    with_margin = [k for k, criterion in enumerate(criteria) if criterion.has_margin]
    if with_margin:
        first = with_margin[0]
        smallest_margin = criteria[first].smallest_margin(test, levels[first])
    return Finding(
        part,
        verdict,
        test.estimate,
        low,
        high,
        adjusted[decisive],
        test.n,
        f"{name}, {criterion}, Holm over {1 + len(families[decisive])}, {100 * level:g} % interval",
        unit,
        "smaller than the margin of equivalence"
        if is_same and verdict != NO_DIFFERENCE
        else "",
        needed=n_needed,
        detectable=detectable,
        smallest_margin=smallest_margin,
    )


def needed(
    test: AbstractPairedTest, criteria: Criteria, levels: Sequence[float]
) -> float:
    """Return the smallest n at which a criterion would be met with a power of `POWER`; infinite if there is none."""

    def power(bound: Bound, level: float, n: int) -> float:
        return test.power(
            n, bound.distance(test.estimate), level / bound.tails, bound.alternative
        )

    smallest = math.inf
    for criterion, level in zip(criteria, levels, strict=True):
        if all(bound.distance(test.estimate) > 0 for bound in criterion.bounds):
            powers = [partial(power, bound, level) for bound in criterion.bounds]
            smallest = min(smallest, observations_needed(powers))
    return smallest


def _lines(stated: Mapping[str, Any]) -> tuple[str, ...]:
    """Return conditions on columns of a table as hashable strings; each name has a value or a list of values."""
    conditions = []
    for name, values in stated.items():
        if values == "all":
            continue
        texts = [values] if isinstance(values, str) else values
        if (
            not isinstance(texts, list)
            or not texts
            or not all(isinstance(text, str) for text in texts)
        ):
            raise ValueError(
                f"{name}: expected a string or a list of strings, got {values!r:.80}; put numbers in quotes."
            )
        conditions.append(f"{name}={'|'.join(texts)}")
    return tuple(sorted(conditions))


Lines = Annotated[tuple[str, ...], _lines]
"""Conditions such as "judge=forest" or "domain=genes|text"; in YAML, a mapping from columns to values or lists of
values. Values may be patterns of `fnmatch`; "all" means no condition."""


CONDITIONS = ("only", "without")
"""Parameters of rules with the type `Lines`."""


def conditions(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns and values of the given conditions."""
    values = {}
    for text in lines:
        name, _, allowed = text.partition("=")
        values[name] = allowed.split("|")
    return values


@dataclass(frozen=True, kw_only=True)
class AbstractRule:
    """A test of a claim; its fields are the parameters of the test.

    Parameters
    ----------
    artefact : str
    columns : tuple of str
        Columns that the verdict covers.
    also : tuple of str
        Columns that are tested and reported, but do not affect the verdict.
    dataset : str
        The only data set that the claim is about; "" for all of the artefact.
    only, without : tuple of str
        Rows of a table to which the claim applies, see `Lines`, and rows to which it
        does not apply.
    """

    artefact: str
    columns: tuple[str, ...]
    also: tuple[str, ...] = ()
    dataset: str = ""
    only: Lines = ()
    without: Lines = ()

    words: ClassVar[str]
    """How the rule decides; names of fields in braces are replaced by their values."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Create the rule from parameters as read from YAML.

        Raises
        ------
        ValueError
            For a missing, unknown or wrong parameter.
        """
        _check_filled(config)
        rule: Self = read_as(cls, config, "parameters")
        return rule

    def changed(self, parameters: Mapping[str, Any]) -> Self:
        """Return the rule with new values for the parameters that it has; errors as in `from_config`."""
        _check_filled(parameters)
        values = read_fields(type(self), parameters, "parameters")
        for name in CONDITIONS:
            # conditions on other columns stay, and "all" removes one
            if name in values:
                stated = [
                    text
                    for text in getattr(self, name)
                    if text.partition("=")[0] not in parameters[name]
                ]
                values[name] = tuple(sorted([*stated, *values[name]]))
        return dataclasses.replace(self, **values)

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters in readable form, without the artefact and empty ones."""
        texts = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "artefact" and value not in ("", ()):
                texts[field.name] = _text(value)
        return texts

    @property
    def meaning(self) -> str:
        """How it decides, in words, with its parameters."""
        names = {
            field.name: _text(getattr(self, field.name))
            for field in dataclasses.fields(self)
        }
        return " ".join(self.words.format(**names, **self.measure_words).split())

    @property
    def measure_words(self) -> dict[str, str]:
        """Values of additional names in `words`, for rules that apply to several measures."""
        return {}

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return ()

    @property
    def row_names(self) -> tuple[str, ...]:
        """Rows of the artefact that the rule reads, from its parameters row, rows and than."""
        rows: list[str] = []
        for name in ("row", "rows", "than"):
            named = getattr(self, name, ())
            rows += [named] if isinstance(named, str) else named
        return tuple(rows)

    def places(self, columns: Sequence[str] | None = None) -> list[Place]:
        """Return the numbers that the rule reads in the given columns, by default in all columns that it tests."""
        chosen = (*self.columns, *self.also) if columns is None else columns
        return [
            (self.artefact, row, column) for row in self.row_names for column in chosen
        ]

    def trials(
        self, columns: Sequence[str], evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Return what the rule reads from the trials behind its numbers in some columns, with their row and column."""
        parts = []
        for place in self.places(columns):
            parts.append(
                evidence.trials(place, self.reads).assign(row=place[1], column=place[2])
            )
        return pd.concat(parts, ignore_index=True)

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return the evidence for each part of the claim; by default, each number is a part.

        Parameters
        ----------
        columns : sequence of str
        evidence : AbstractEvidence
        peers : sequence of rules
            All rules of the same class in the paper, for corrections over a family.
        """
        return [self.finding(place, evidence) for place in self.places(columns)]

    def finding(self, place: Place, evidence: AbstractEvidence) -> Finding:
        """Return the evidence on one number, for rules that consider each number separately."""
        raise NotImplementedError


def check_one_of(name: str, value: str, choices: Sequence[str]) -> None:
    """Check a parameter that names one of several choices."""
    if value not in choices:
        raise ValueError(
            f"{name}: expected one of {', '.join(choices)}, got {value!r}."
        )


def _check_filled(parameters: Mapping[str, Any]) -> None:
    """Raise for an empty list: a claim without columns states nothing."""
    for name, value in parameters.items():
        if value == []:
            raise ValueError(
                f"parameters: {name}: the list is empty; name one or more, or leave the parameter out."
            )


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
