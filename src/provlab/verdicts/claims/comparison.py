"""Rules about the difference in error of two methods."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from provlab.verdicts.claims.evidence import POINTS, AbstractEvidence, Place
from provlab.verdicts.claims.location import AbstractLocation, near
from provlab.verdicts.claims.rules import (
    ALPHA,
    CONTRADICTED,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_RUN,
    REPLICATED,
    AbstractRule,
    Bound,
    Criteria,
    Criterion,
    Finding,
    check_one_of,
    inside,
    nothing_stored,
)

LESS_IS_BETTER = ("error", "rmse", "mae")
"""Of all others that claims compare by, which are R^2 and scikit-learn's scorers, more is better."""

LESS = {"better": "lower", "worse": "higher", "good": "below", "bad": "above", "minus": ""}
MORE = {"better": "higher", "worse": "lower", "good": "above", "bad": "below", "minus": "-"}
"""The better and the worse of two values, and on which side of another one they are, as `words` say it."""

AT = {
    "kept": "Both have as many features as {row} keeps: {than} is interpolated between the columns.",
    "exact": "Only where {row} keeps as many features as asked, to 2 %.",
}
"""The numbers of features at which two methods are compared, where these are not those asked for."""


@dataclass(frozen=True, kw_only=True)
class AbstractComparison(AbstractLocation):
    """Error of a row against the error of another, in each column on its own; over data sets by the signed rank.

    Parameters
    ----------
    row, than : str
    than_artefact : str
        Where `than` stands, when not in the same artefact; its columns have the same names.
    quantity : str
        Another measure: r2, rmse or mae of a regression, or a name of `protocol.scoring`. Margins are in its unit, and
        where more is better all signs are the other way round.
    at : {"", "kept", "exact"}
        Where `row` may keep another number of features than its column asks for. "kept" compares it, fold by fold, with
        `than` at as many features, interpolated between the columns of the claim, whose names are numbers. "exact"
        takes the folds on which `row` keeps as many as asked, to 2 %; "" compares by what was asked. What `than` keeps
        does not count: as many as asked, or all that it can, as alpha-investing at its end and full data do.
    """

    row: str
    than: str
    over: Literal["datasets", "folds", "draws"]
    than_artefact: str = ""
    quantity: str = ""
    at: Literal["", "kept", "exact"] = ""

    untested = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quantity not in ("", *LESS_IS_BETTER):
            from sklearn.metrics import get_scorer_names

            check_one_of("quantity", self.quantity, [*LESS_IS_BETTER, *get_scorer_names()])
        if self.over == "draws" and self.measured != "error":
            raise ValueError(f"over: expected datasets or folds with quantity {self.quantity}, got draws.")
        if self.at:
            self._check_sizes()

    def _check_sizes(self) -> None:
        """Refuse to compare at a number of features where columns are no such numbers."""
        wrong = [repr(name) for name in (*self.columns, *self.also) if not name.isdecimal() or int(name) == 0]
        if self.over == "draws":
            wrong.append(repr(self.over))
        if wrong:
            raise ValueError(
                f"at: expected columns that are numbers of features, over datasets or folds, with {self.at!r}, got "
                f"{wrong[0]}; leave out at."
            )

    @property
    def measured(self) -> str:
        """Column of the records."""
        return self.quantity or "error"

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads, beside those of all evidence."""
        columns = [self.quantity] if self.quantity else []
        if self.at:
            columns.append("n_selected")
        return tuple(columns)

    @property
    def meaning(self) -> str:
        """How it decides, in words, with its parameters."""
        sizes = AT.get(self.at, "").format(row=self.row, than=self.than)
        return f"{super().meaning} {sizes}".strip()

    @property
    def sign(self) -> Literal[1, -1]:
        """1 where the better of two methods has the lower value, -1 where it has the higher one."""
        return 1 if self.measured in LESS_IS_BETTER else -1

    @property
    def measure_words(self) -> dict[str, str]:
        """The measure, and which side of another value is its better and its worse one."""
        unit = f"in {self.quantity}" if self.quantity else POINTS
        return {"measure": self.measured, "unit": unit, **(LESS if self.sign == 1 else MORE)}

    @property
    @abstractmethod
    def of_error(self) -> Criteria:
        """The criteria of a measure of which less is better."""

    @property
    def criteria(self) -> Criteria:
        """How a column is decided."""
        if self.sign == 1:
            return self.of_error
        mirrored = []
        for criterion in self.of_error:
            bounds = tuple(bound.mirrored() for bound in criterion.bounds)
            mirrored.append(replace(criterion, bounds=bounds))
        return tuple(mirrored)

    def places(self, columns: Sequence[str] | None = None) -> list[Place]:
        """Return the numbers of both rows in some columns."""
        places = []
        for column in (*self.columns, *self.also) if columns is None else columns:
            places.append((self.artefact, self.row, column))
            places.append((self.than_artefact or self.artefact, self.than, column))
        return places

    def compared(self, column: str) -> list[Place]:
        """Return both numbers of a column, and the knots of the second."""
        row, than = self.places([column])
        knots = {"": (), "kept": (*self.columns, *self.also), "exact": (column,)}[self.at]
        return [row, than, *((than[0], than[1], knot) for knot in knots)]

    def family(self, peers: Sequence[Any]) -> Sequence[AbstractLocation]:
        """Return a rule for each pair of methods of claims of one kind on the same artefacts, data set and sample."""
        members = {(self.row, self.than): self}
        for peer in peers:
            if peer.sample_name == self.sample_name:
                members.setdefault((peer.row, peer.than), peer)
        return [*members.values()]

    @property
    def sample_name(self) -> tuple[str, ...]:
        """What is the same for all comparisons that are corrected together."""
        return self.artefact, self.than_artefact, self.sampling, self.dataset, self.measured


@dataclass(frozen=True, kw_only=True)
class AbstractWithMargin(AbstractComparison):
    """A comparison with a margin.

    Parameters
    ----------
    margin : float
        Percentage points within which both count as the same.
    """

    margin: float


class Better(AbstractWithMargin):
    """`row` has a lower error than `than`."""

    words = """{row} has a {better} {measure} than {than}. Replicated: significantly {better}, two-sided, in every
        column. Contradicted: significantly {worse} in one. No difference: in one shown to be the same within the margin
        of {margin} {unit} (TOST), where it is neither."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria of a measure of which less is better."""
        return (
            Criterion(REPLICATED, (Bound("below", 0.0, 2),), all_columns=True),
            Criterion(CONTRADICTED, (Bound("above", 0.0, 2),)),
            Criterion(NO_DIFFERENCE, inside(-self.margin, self.margin)),
        )


class BetterSomewhere(AbstractWithMargin):
    """`row` has a lower error than `than` in at least one column."""

    words = """{row} has a {better} {measure} than {than} in at least one column. Replicated: significantly {better} in
        one, one-sided. No difference: shown to be the same within the margin of {margin} {unit} in every column
        (TOST). Contradicted: in every column shown to be {better} by less than the margin, if at all."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria of a measure of which less is better."""
        return (
            Criterion(REPLICATED, (Bound("below", 0.0),)),
            Criterion(NO_DIFFERENCE, inside(-self.margin, self.margin), all_columns=True),
            Criterion(CONTRADICTED, (Bound("above", -self.margin),), all_columns=True),
        )

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """Return one finding, that of the column that says most."""
        parts = [part for part in super().findings(columns, evidence, peers) if part.verdict != NOT_RUN]
        if not parts:
            return [nothing_stored("any column", f"{self.row} and {self.than}")]
        verdicts = {part.verdict for part in parts}
        refuting = {NO_DIFFERENCE, CONTRADICTED}
        won = [part.part for part in parts if part.verdict == REPLICATED]
        if won:
            verdict = REPLICATED
        elif len(verdicts) == 1:
            [verdict] = verdicts
        else:
            verdict = CONTRADICTED if verdicts <= refuting else INCONCLUSIVE
        decisive = [part for part in parts if part.verdict == verdict]
        order = max if verdict in refuting else min  # of all columns the weakest counts, else the clearest
        clearest = order(decisive, key=lambda part: (part.p_value, self.sign * part.effect))
        note = f"better in {len(won)} of {len(parts)} columns"
        if won:
            note += f": {', '.join(won)}"
        return [replace(clearest, verdict=verdict, note=note)]


class Comparable(AbstractWithMargin):
    """`row` and `than` differ by less than a margin."""

    words = """{row} and {than} differ by less than {margin} {unit}. Replicated: shown to be the same within this
        margin in every column (TOST). Contradicted: shown to differ by more in one, which is where the interval lies
        wholly outside."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria of a measure of which less is better."""
        return near(-self.margin, self.margin)


@dataclass(frozen=True, kw_only=True)
class AllComparable(AbstractRule):
    """Each of `rows` differs from `than` by less than a margin: one statement, such as that a setting does not matter.

    Parameters
    ----------
    rows : tuple of str
    than, over, margin, alpha, dependence
        As of `Comparable`.
    """

    rows: tuple[str, ...]
    than: str
    over: Literal["datasets", "folds", "draws"]
    margin: float
    alpha: float = ALPHA
    dependence: str = ""

    words = """Each of {rows} and {than} differ by less than {margin} percentage points. Replicated: each is shown to be
        the same as {than} within this margin in every column (TOST). Contradicted: one is shown to differ by more in
        one. Both are corrected as if each of the rows were a claim (Holm)."""

    def __post_init__(self) -> None:
        self.members()  # which check what they share

    def members(self) -> list[Comparable]:
        """Return the comparisons that the statement consists of."""
        shared = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "rows"}
        return [Comparable(row=row, **shared) for row in self.rows]

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """Return one finding for each row and column."""
        family = [member for peer in peers for member in peer.members()]
        findings = []
        for member in self.members():
            parts = member.findings(columns, evidence, family)
            findings += [replace(part, part=f"{member.row}, {part.part}") for part in parts]
        return findings


class NotWorse(AbstractWithMargin):
    """The error of `row` is less than a margin above that of `than`."""

    words = """The {measure} of {row} is less than {margin} {unit} {bad} that of {than}. Replicated: shown to be so in
        every column. Contradicted: shown to be more {bad} in one."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria of a measure of which less is better."""
        return (
            Criterion(REPLICATED, (Bound("below", self.margin),), all_columns=True),
            Criterion(CONTRADICTED, (Bound("above", self.margin),)),
        )


@dataclass(frozen=True, kw_only=True)
class SlightlyWorse(AbstractComparison):
    """`row` has a higher error than `than`, by less than `most`.

    Parameters
    ----------
    most : float
        Percentage points up to which a difference is called slight.
    """

    most: float

    words = """{row} has a {worse} {measure} than {than}, by less than {most} {unit}. Replicated: significantly {bad} 0,
        two-sided, and significantly {good} {minus}{most} in every column. Contradicted: significantly {good} 0, or
        significantly {bad} {minus}{most}, two-sided, in one."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria of a measure of which less is better."""
        return (
            Criterion(REPLICATED, (Bound("above", 0.0, 2), Bound("below", self.most)), all_columns=True),
            Criterion(CONTRADICTED, (Bound("below", 0.0, 2),)),
            Criterion(CONTRADICTED, (Bound("above", self.most, 2),)),
        )
