"""From a test to a verdict: a rule has its parameters as fields, and most decide by a list of criteria.

A difference is error(row) - error(than): negative values favour the row. A criterion is met if its p-value is below
alpha after the correction for the family to which the comparison belongs:

- The **family** is all comparisons of the claims of one kind about the same artefacts, data set and sample: every pair
  of methods in every column (number of features) of theirs. One that is planned and could not be made counts with p =
  1.
- Where **one column suffices**, as to contradict "in every column", p-values are corrected by Holm's method over that
  whole family, methods and columns.
- A criterion that **all columns** must meet needs no correction over them: the largest of their p-values is that of the
  claim (intersection-union test, Berger 1982); Holm's method then goes over the claims of the family.

So for each verdict the probability of giving it wrongly to any claim of a family is at most alpha. Intervals are of one
comparison: an equivalence test at level alpha requires the 1 - 2 alpha interval to lie inside the margin, so this
interval is reported with it.

References
----------
Holm (1979), Scandinavian Journal of Statistics 6. Berger (1982), Technometrics 24. Schuirmann (1987), Journal of
Pharmacokinetics and Biopharmaceutics 15, for the two one-sided tests of equivalence (TOST).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from provlab.project.documents import read_as, read_fields
from provlab.verdicts.claims.evidence import POINTS, AbstractEvidence, Place
from provlab.verdicts.claims.paired_tests import AbstractPairedTest, Side, holm, observations_needed
from provsel.values import ValuesWithNaN

RULES_VERSION = 4
"""Raised when the same evidence can get another verdict; `provsel reference` writes it beside the verdicts."""

REPLICATED, NOT_CONTRADICTED, CONTRADICTED = "replicated", "not contradicted", "contradicted"
NO_DIFFERENCE, DEPENDS, DEPENDS_ON_READING = "no difference", "depends on r", "depends on the reading"
OPEN_UNDER_READINGS, ONE_READING = "inconclusive under most readings", "one reading"
INCONCLUSIVE, VACUOUS, NOT_TESTABLE, NOT_RUN = "inconclusive", "vacuous", "not testable", "not run"

VERDICTS = (
    REPLICATED, NOT_CONTRADICTED, CONTRADICTED, NO_DIFFERENCE, DEPENDS, DEPENDS_ON_READING, OPEN_UNDER_READINGS,
    ONE_READING, INCONCLUSIVE, VACUOUS, NOT_TESTABLE, NOT_RUN,
)  # fmt: skip
"""Not contradicted: nothing speaks against it, and the sample is too small to show that it holds. No difference: shown
to be the same within the claim's margin, if it says that one is better. Depends on r: it holds at some numbers of
features and not at others, and names none. Inconclusive: the sample is too small for either. For how a verdict that
takes a side counts, see `provlab.verdicts.readings.robustness`: it depends on the reading if other readings of the
paper give other verdicts; it is inconclusive under most readings if fewer than half of them take a side; it has one
reading if no other was tested. Vacuous: what the claim says holds whatever happens, such as a bound above the maximum.
Not testable: these data cannot decide it, for instance for a word that they do not have.
"""

DECIDED = (REPLICATED, NOT_CONTRADICTED, CONTRADICTED, NO_DIFFERENCE, DEPENDS)
"""The verdicts that take a side: not contradicted does not prove a claim, but nothing shows that it fails. Nothing
follows from all others.
"""

ALPHA = 0.05
"""Level of every test, unless a claim names another."""


@dataclass(frozen=True, eq=False)
class Finding(ValuesWithNaN):
    """The evidence on a part of a claim, such as one number of features.

    Attributes
    ----------
    part : str
        Column of the artefact, or another subject.
    verdict : str
        One of `VERDICTS`.
    effect, low, high, p_value : float
        NaN if there is none.
    n : int
        Data sets, folds or trials, whichever `test` is over.
    test : str
        The test that decided.
    unit : str
        Unit of effect, low, high, margins and the values of the sample.
    note : str
    margins : tuple of float
        Thresholds that decided, if they are in `unit`.
    sample : tuple of (name, value)
        The values of the test, such as the difference on each data set.
    needed : float
        Inconclusive: the n at which the test would have a power of 0.9 if location and spread were those observed;
        infinite if no n gives it.
    detectable : float
        Inconclusive: the distance from the threshold, in `unit`, that n can detect with a power of 0.9.
    smallest_margin : float
        The smallest margin, in `unit`, with which this part would be shown to be equal, or not worse.
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
        """Return " [low, high]", or nothing if there is no interval."""
        return "" if math.isnan(self.low) and math.isnan(self.high) else f" [{self.low:.4g}, {self.high:.4g}]"

    @property
    def size_text(self) -> str:
        """Return how many observations would decide it, and what these can detect; "" if it is decided."""
        if math.isnan(self.needed):
            return ""
        n = "no n" if math.isinf(self.needed) else f"n={self.needed:.0f}"
        text = f"{n} would decide it with power 0.9"
        if not math.isnan(self.detectable):
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
    """Return the finding that there is no evidence for the given rows."""
    return Finding(part, NOT_RUN, note=f"nothing stored for {', '.join(names)}")


class Bound(NamedTuple):
    """The location is above or below a number; `tails` is 2 if the other side is tested as well."""

    side: Literal["above", "below"]
    at: float
    tails: int = 1

    @property
    def alternative(self) -> Side:
        """Arguments of the one-sided test."""
        return "greater" if self.side == "above" else "less"

    def mirrored(self) -> Bound:
        """Return the bound of the negative location."""
        return Bound("below" if self.side == "above" else "above", 0.0 - self.at, self.tails)

    def distance(self, location: float) -> float:
        """Return how far inside a location is."""
        return location - self.at if self.side == "above" else self.at - location


def inside(low: float, high: float) -> tuple[Bound, Bound]:
    """Return the bounds of two one-sided tests of equivalence."""
    return Bound("above", low), Bound("below", high)


@dataclass(frozen=True)
class Criterion:
    """A verdict, and the bounds that must all be shown for it.

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
        """Return the p-value without correction: all bounds must be shown, so the largest counts."""
        return max(min(1.0, bound.tails * test.p_value(bound.at, bound.alternative)) for bound in self.bounds)

    @property
    def tails(self) -> int:
        """Two-sided if any bound is."""
        return max(bound.tails for bound in self.bounds)

    @property
    def has_margin(self) -> bool:
        """Whether it states that something is equal, or not worse."""
        return self.verdict in (REPLICATED, NO_DIFFERENCE) and self.tails == 1 and self.bounds[-1].at != 0

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
"""The first criterion that is met gives the verdict; none leaves it inconclusive."""


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
    """Return the verdict of a list of criteria, with its interval.

    An inconclusive finding states the number of observations at which the test would have a power of 0.9, if location
    and spread were those observed. It also states the distance from the first bound that the present number can detect
    with that power. The level is the one that Holm's method now gives the comparison in its family.

    Parameters
    ----------
    part : str
    test : AbstractPairedTest
    criteria : sequence of Criterion
    others : sequence of sequence of float
        For each criterion the uncorrected p-values of the rest of the family; 1 for anything that could not be tested.
    alpha : float
    unit : str
        Unit of the test's location.
    plans : bool
        Whether to state how many observations would decide; thousands of universes are judged without it.
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
        detectable = test.detectable(levels[0] / criteria[0].tails, criteria[0].bounds[0].alternative)
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
        "smaller than the margin of equivalence" if is_same and verdict != NO_DIFFERENCE else "",
        needed=n_needed,
        detectable=detectable,
        smallest_margin=smallest_margin,
    )


def needed(test: AbstractPairedTest, criteria: Criteria, levels: Sequence[float]) -> float:
    """Return the smallest n at which one criterion would be met with the power, infinite if none ever would."""

    def power(bound: Bound, level: float, n: int) -> float:
        return test.power(n, bound.distance(test.estimate), level / bound.tails, bound.alternative)

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
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise ValueError(
                f"{name}: expected a string or a list of strings, got {values!r:.80}; put numbers in quotes."
            )
        conditions.append(f"{name}={'|'.join(texts)}")
    return tuple(sorted(conditions))


Lines = Annotated[tuple[str, ...], _lines]
"""Conditions such as "judge=forest" or "domain=genes|text"; in YAML a mapping of a column to a value or a list of them.
Values may be patterns, as of `fnmatch`; "all" is no condition."""


CONDITIONS = ("only", "without")
"""Parameters of rules that are `Lines`."""


def conditions(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns and values of the given conditions."""
    values = {}
    for text in lines:
        name, _, allowed = text.partition("=")
        values[name] = allowed.split("|")
    return values


@dataclass(frozen=True, kw_only=True)
class AbstractRule:
    """A test of a claim, with its parameters as fields.

    Parameters
    ----------
    artefact : str
    columns : tuple of str
        Columns of the verdict: all of them.
    also : tuple of str
        Columns that are tested and reported, but not decisive.
    dataset : str
        The only data set that the claim is about; "" for all of the artefact.
    only, without : tuple of str
        Lines of a table that the claim is about, see `Lines`, and lines that it is not about.
    """

    artefact: str
    columns: tuple[str, ...]
    also: tuple[str, ...] = ()
    dataset: str = ""
    only: Lines = ()
    without: Lines = ()

    words: ClassVar[str]
    """How the rule decides, with its fields in braces."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Return the rule from parameters in the form of YAML.

        Raises
        ------
        ValueError
            For a missing, unknown or wrong parameter.
        """
        _check_filled(config)
        rule: Self = read_as(cls, config, "parameters")
        return rule

    def changed(self, parameters: Mapping[str, Any]) -> Self:
        """Return the rule with other values of those parameters that it has; errors as in `from_config`."""
        _check_filled(parameters)
        values = read_fields(type(self), parameters, "parameters")
        for name in CONDITIONS:
            if name in values:  # conditions on other columns stay, and one that is "all" goes
                stated = [text for text in getattr(self, name) if text.partition("=")[0] not in parameters[name]]
                values[name] = tuple(sorted([*stated, *values[name]]))
        return dataclasses.replace(self, **values)

    @property
    def parameters(self) -> dict[str, str]:
        """Its parameters in readable form, without the artefact and empty ones."""
        texts = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "artefact" and value not in ("", ()):
                texts[field.name] = _text(value)
        return texts

    @property
    def meaning(self) -> str:
        """How it decides, in words, with its parameters."""
        names = {field.name: _text(getattr(self, field.name)) for field in dataclasses.fields(self)}
        return " ".join(self.words.format(**names, **self.measure_words).split())

    @property
    def measure_words(self) -> dict[str, str]:
        """Values of further names in `words`, for rules about more than one measure."""
        return {}

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that it reads, beside those of all evidence (`FOLD_COLUMNS`)."""
        return ()

    @property
    def row_names(self) -> tuple[str, ...]:
        """Rows of the artefact that it reads: those named by its parameters row, rows and than."""
        rows: list[str] = []
        for name in ("row", "rows", "than"):
            named = getattr(self, name, ())
            rows += [named] if isinstance(named, str) else named
        return tuple(rows)

    def places(self, columns: Sequence[str] | None = None) -> list[Place]:
        """Return the numbers that it reads in the given columns, by default in all that it tests."""
        chosen = (*self.columns, *self.also) if columns is None else columns
        return [(self.artefact, row, column) for row in self.row_names for column in chosen]

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """Return the evidence, part by part; by default for each number that it reads.

        Parameters
        ----------
        columns : sequence of str
        evidence : AbstractEvidence
        peers : sequence of rules
            All rules of the paper of the same class, for corrections over a family.
        """
        return [self.finding(place, evidence) for place in self.places(columns)]

    def finding(self, place: Place, evidence: AbstractEvidence) -> Finding:
        """Return the evidence on one number, for rules that consider each separately."""
        raise NotImplementedError


def check_one_of(name: str, value: str, choices: Sequence[str]) -> None:
    """Check a parameter that names one of several choices."""
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(choices)}, got {value!r}.")


def _check_filled(parameters: Mapping[str, Any]) -> None:
    """Raise for an empty list: a claim about no columns says nothing."""
    for name, value in parameters.items():
        if value == []:
            raise ValueError(f"parameters: {name}: the list is empty; name one or more, or leave the parameter out.")


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
