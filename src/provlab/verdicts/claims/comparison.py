"""Rules about the difference in error between two methods."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from provlab.verdicts.claims.evidence import POINTS, AbstractEvidence, Place
from provlab.verdicts.claims.location import AbstractLocation, at_most, near
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

LESS_IS_BETTER = ("error", "rmse", "mae", "false_discovery", "log10_seconds")
"""For all other measures (R^2, scikit-learn's scorers and `INDICES`), higher is better."""

INDICES = ("stability", "support_f1", "support_recall")
"""Measures of a selection: the index of Nogueira, Sechidis and Brown, and agreement with the features on which the
labels depend.
"""

LESS = {
    "better": "lower",
    "worse": "higher",
    "good": "below",
    "bad": "above",
    "minus": "",
}
MORE = {
    "better": "higher",
    "worse": "lower",
    "good": "above",
    "bad": "below",
    "minus": "-",
}
"""Values for the names in `words`: the better and the worse of two values, and the directions to them."""

SHOWN_PAIRS = 6
"""Unit of the sample in a statement about pairs."""

AT = {
    "kept": "Both are compared at the number of features that {row} keeps: {than} is interpolated between the columns.",
    "exact": "Only folds count on which {row} keeps the requested number of features, within 2 %.",
}
"""How methods are compared if they keep other numbers of features than requested."""


@dataclass(frozen=True, kw_only=True)
class AbstractComparison(AbstractLocation):
    """Compare the error of one row with that of another, in each column separately; over data sets by signed ranks.

    Parameters
    ----------
    row, than : str
    than_artefact : str
        Artefact of `than` if it is another one; its columns have the same names.
    than_column : str
        The column of `than` if it is not that of `row`: for example the row itself with
        more features, or all features.
    quantity : str
        A measure other than the error: r2, rmse or mae of a regression, or a name from
        `protocol.scoring`. Margins are in its unit, and all signs are reversed if
        higher is better.
    at : {"", "kept", "exact"}
        How to compare if `row` may keep another number of features than its column
        requests. "kept" compares it on each fold with `than` at the same number of
        features, interpolated between the columns of the claim, whose names are
        numbers. "exact" uses the folds on which `row` keeps the requested number within
        2 %. "" ignores the difference. The number that `than` keeps is not checked: it
        is the requested number, or the largest one that the method can keep.
    """

    row: str
    than: str
    over: Literal["datasets", "sources", "domains", "folds", "draws"]
    than_artefact: str = ""
    than_column: str = ""
    quantity: str = ""
    at: Literal["", "kept", "exact"] = ""

    untested = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_quantity(self.quantity)
        if self.over == "draws" and self.measured != "error":
            raise ValueError(
                f"over: expected datasets or folds with quantity {self.quantity}, got draws."
            )
        if self.at:
            self._check_sizes()

    def _check_sizes(self) -> None:
        """Raise if `at` needs numbers of features, but the names of the columns are not numbers."""
        wrong = [
            repr(name)
            for name in (*self.columns, *self.also)
            if not name.isdecimal() or int(name) == 0
        ]
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
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        columns = [self.quantity] if self.quantity else []
        if self.at:
            columns.append("n_selected")
        return tuple(columns)

    @property
    def meaning(self) -> str:
        """How the rule decides, in words, with its parameters."""
        sizes = AT.get(self.at, "").format(row=self.row, than=self.than)
        return f"{super().meaning} {sizes}".strip()

    @property
    def sign(self) -> Literal[1, -1]:
        """1 if the better of two methods has the lower value, -1 if it has the higher one."""
        return 1 if self.measured in LESS_IS_BETTER else -1

    @property
    def measure_words(self) -> dict[str, str]:
        """The measure, and the words for better and worse values."""
        unit = f"in {self.quantity}" if self.quantity else POINTS
        return {
            "measure": self.measured,
            "unit": unit,
            **(LESS if self.sign == 1 else MORE),
        }

    @property
    @abstractmethod
    def of_error(self) -> Criteria:
        """The criteria for a measure whose lower values are better."""

    @property
    def criteria(self) -> Criteria:
        """The criteria for a column."""
        if self.sign == 1:
            return self.of_error
        mirrored = []
        for criterion in self.of_error:
            bounds = tuple(bound.mirrored() for bound in criterion.bounds)
            mirrored.append(replace(criterion, bounds=bounds))
        return tuple(mirrored)

    def places(self, columns: Sequence[str] | None = None) -> list[Place]:
        """Return the numbers of both rows in the given columns."""
        places = []
        for column in (*self.columns, *self.also) if columns is None else columns:
            places.append((self.artefact, self.row, column))
            places.append(
                (
                    self.than_artefact or self.artefact,
                    self.than,
                    self.than_column or column,
                )
            )
        return places

    def compared(self, column: str) -> list[Place]:
        """Return both numbers of a column, and the knots for interpolating the second."""
        row, than = self.places([column])
        knots = {"": (), "kept": (*self.columns, *self.also), "exact": (column,)}[
            self.at
        ]
        return [row, than, *((than[0], than[1], knot) for knot in knots)]

    def family(self, peers: Sequence[Any]) -> Sequence[AbstractLocation]:
        """Return a rule for each pair of methods in claims of this kind on the same artefacts, data set and sample."""
        members = {(self.row, self.than): self}
        for peer in peers:
            if peer.sample_name == self.sample_name:
                members.setdefault((peer.row, peer.than), peer)
        return [*members.values()]

    @property
    def sample_name(self) -> tuple[str, ...]:
        """Properties common to all comparisons that are corrected together."""
        lines = self.dataset, *self.only, "", *self.without
        return self.artefact, self.than_artefact, self.sampling, *lines, self.measured


@dataclass(frozen=True, kw_only=True)
class AbstractWithMargin(AbstractComparison):
    """A comparison with a margin.

    Parameters
    ----------
    margin : float
        Difference in percentage points within which both count as equal.
    """

    margin: float


class Better(AbstractWithMargin):
    """`row` has a lower error than `than`."""

    words = """{row} has a {better} {measure} than {than}. Replicated: significantly {better}, two-sided, in every
        column. Contradicted: significantly {worse} in at least one. No difference: otherwise, if shown to be equal
        within the margin of {margin} {unit} (TOST) in at least one."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria for a measure whose lower values are better."""
        return (
            Criterion(REPLICATED, (Bound("below", 0.0, 2),), all_columns=True),
            Criterion(CONTRADICTED, (Bound("above", 0.0, 2),)),
            Criterion(NO_DIFFERENCE, inside(-self.margin, self.margin)),
        )


class BetterSomewhere(AbstractWithMargin):
    """`row` has a lower error than `than` in at least one column."""

    words = """{row} has a {better} {measure} than {than} in at least one column. Replicated: significantly {better} in
        at least one, one-sided. No difference: shown to be equal within the margin of {margin} {unit} in every column
        (TOST). Contradicted: shown in every column to be {better} by less than the margin, if at all."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria for a measure whose lower values are better."""
        return (
            Criterion(REPLICATED, (Bound("below", 0.0),)),
            Criterion(
                NO_DIFFERENCE, inside(-self.margin, self.margin), all_columns=True
            ),
            Criterion(CONTRADICTED, (Bound("above", -self.margin),), all_columns=True),
        )

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding, that of the most informative column."""
        parts = [
            part
            for part in super().findings(columns, evidence, peers)
            if part.verdict != NOT_RUN
        ]
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
        order = (
            max if verdict in refuting else min
        )  # if all columns must agree, the weakest counts, otherwise the clearest
        clearest = order(
            decisive, key=lambda part: (part.p_value, self.sign * part.effect)
        )
        note = f"better in {len(won)} of {len(parts)} columns"
        if won:
            note += f": {', '.join(won)}"
        return [replace(clearest, verdict=verdict, note=note)]


class Comparable(AbstractWithMargin):
    """`row` and `than` differ by less than a margin."""

    words = """{row} and {than} differ by less than {margin} {unit}. Replicated: shown to be equal within this margin in
        every column (TOST). Contradicted: shown to differ by more in at least one, where the interval lies entirely
        outside the margin."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria for a measure whose lower values are better."""
        return near(-self.margin, self.margin)


class BetterBy(AbstractWithMargin):
    """`row` has a lower error than `than`, by more than a margin."""

    words = """{row} has a {better} {measure} than {than} by more than {margin} {unit}. Replicated: shown in every
        column. Contradicted: shown in at least one to be {better} by less than that, if at all."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria for a measure whose lower values are better."""
        return at_most(-self.margin)


@dataclass(frozen=True, kw_only=True)
class AllComparable(AbstractRule):
    """Each of `rows` differs from `than` by less than a margin; for example, a setting has no effect.

    Parameters
    ----------
    rows : tuple of str
    than, over, margin, alpha, dependence
        As for `Comparable`.
    """

    rows: tuple[str, ...]
    than: str
    over: Literal["datasets", "folds", "draws"]
    margin: float
    alpha: float = ALPHA
    dependence: str = ""

    words = """Each of {rows} differs from {than} by less than {margin} percentage points. Replicated: each is shown to
        equal {than} within this margin in every column (TOST). Contradicted: at least one is shown to differ by more in
        at least one column. Both are corrected as if each row were a claim (Holm)."""

    def __post_init__(self) -> None:
        self.members()  # checks the parameters that they share

    def members(self) -> list[Comparable]:
        """Return the comparisons that make up the statement."""
        shared = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name != "rows"
        }
        return [Comparable(row=row, **shared) for row in self.rows]

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding for each row and column."""
        family = [member for peer in peers for member in peer.members()]
        findings = []
        for member in self.members():
            parts = member.findings(columns, evidence, family)
            findings += [
                replace(part, part=f"{member.row}, {part.part}") for part in parts
            ]
        return findings


class NotWorse(AbstractWithMargin):
    """The error of `row` is less than a margin above that of `than`."""

    words = """The {measure} of {row} is less than {margin} {unit} {bad} that of {than}. Replicated: shown in every
        column. Contradicted: shown in at least one to be more {bad}."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria for a measure whose lower values are better."""
        return at_most(self.margin)


@dataclass(frozen=True, kw_only=True)
class SlightlyWorse(AbstractComparison):
    """`row` has a higher error than `than`, by less than `most`.

    Parameters
    ----------
    most : float
        Percentage points up to which a difference counts as slight.
    """

    most: float

    words = """{row} has a {worse} {measure} than {than}, by less than {most} {unit}. Replicated: significantly {bad} 0,
        two-sided, and significantly {good} {minus}{most} in every column. Contradicted: significantly {good} 0, or
        significantly {bad} {minus}{most}, two-sided, in at least one."""

    @property
    def of_error(self) -> Criteria:
        """Return the criteria for a measure whose lower values are better."""
        return (
            Criterion(
                REPLICATED,
                (Bound("above", 0.0, 2), Bound("below", self.most)),
                all_columns=True,
            ),
            Criterion(CONTRADICTED, (Bound("below", 0.0, 2),)),
            Criterion(CONTRADICTED, (Bound("above", self.most, 2),)),
        )


KINDS: dict[str, type[AbstractWithMargin]] = {
    "better": Better, "better_by": BetterBy, "comparable": Comparable, "not_worse": NotWorse,
}  # fmt: skip
"""Kinds of statement that `Each` can make about a pair."""

ITSELF = "itself"
"""Value of `Each.than` for the row itself in another column."""


@dataclass(frozen=True, kw_only=True)
class Each(AbstractRule):
    """A statement holds for each pair of a row in `rows` and a row in `than`, or for a share of the pairs.

    Parameters
    ----------
    kind : {"better", "better_by", "comparable", "not_worse"}
        The statement about a pair, as the name of its rule.
    rows, than : tuple of str
        Pairs of a row with itself are left out, and for "comparable" also the second of
        (a, b) and (b, a). "itself" in `than` means the same row in `than_column`.
    share : float
        Share of the pairs for which the statement holds; 1 for all.
    paired : bool
        Whether to pair the first of `rows` with the first of `than`, and so on.
    over, margin, quantity, than_column
        As for a comparison.
    """

    kind: Literal["better", "better_by", "comparable", "not_worse"]
    rows: tuple[str, ...]
    than: tuple[str, ...]
    over: Literal["datasets", "sources", "domains", "folds"]
    margin: float
    share: float = 1.0
    paired: bool = False
    quantity: str = ""
    than_column: str = ""
    alpha: float = ALPHA

    words = """For at least a share of {share} of the pairs of {rows} and {than}: {pair} With a share of 1, the claim is
        replicated if every pair is; otherwise it gets the first other verdict that any pair has, corrected over all
        pairs (Holm). With a smaller share, it is replicated if enough pairs are; it is contradicted if so many pairs
        are contradicted that too few remain. It is not run if one of the methods was not run."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(
                f"share: expected a number above 0, at most 1, got {self.share}."
            )
        if self.paired and len(self.rows) != len(self.than):
            raise ValueError(
                f"paired: expected equally many entries in rows and than, got {len(self.rows)} and {len(self.than)}."
            )
        if not self.pairs():
            raise ValueError(
                f"than: expected a row that is not in rows, got {'; '.join(self.than)}; name one."
            )
        if len(self.columns) != 1:
            raise ValueError(
                f"columns: expected a single column, got {'; '.join(self.columns)}."
            )
        self.members()  # checks the parameters that they share

    @property
    def measure_words(self) -> dict[str, str]:
        """The statement about a pair."""
        member = replace(self.members()[0], row="the first", than="the second")
        return {"pair": member.meaning}

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return (self.quantity,) if self.quantity else ()

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of methods."""
        if self.paired:
            return list(zip(self.rows, self.than, strict=True))
        pairs = []
        for row in self.rows:
            for than in self.than:
                second = row if than == ITSELF else than
                is_same = second == row and not self.than_column
                is_repeated = self.kind == "comparable" and (second, row) in pairs
                if not is_same and not is_repeated:
                    pairs.append((row, second))
        return pairs

    def members(self) -> list[AbstractWithMargin]:
        """Return the comparisons that make up the statement."""
        own = ("kind", "rows", "than", "share", "paired")
        shared = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in own
        }
        return [
            KINDS[self.kind](row=row, than=than, **shared) for row, than in self.pairs()
        ]

    def places(self, columns: Sequence[str] | None = None) -> list[Place]:
        """Return the numbers of all pairs."""
        places: list[Place] = []
        for member in self.members():
            places += member.places(columns)
        return list(dict.fromkeys(places))

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding for each pair; or a single finding, if the statement is about a share of the pairs."""
        members = self.members()
        absent: list[str] = []
        for member in members:
            absent += member.absent_rows(columns[0], evidence)
        if absent:
            return [nothing_stored(columns[0], *dict.fromkeys(absent))]
        corrected = []
        alone = []
        for member in members:
            name = f"{member.row} and {member.than}"
            [part] = member.findings(columns, evidence, members)
            corrected.append(replace(part, part=name))
            if self.share == 1:
                [part] = member.findings(columns, evidence, [member])
                alone.append(replace(part, part=name))
        if self.share < 1:
            return [self._shared(corrected)]
        # the weakest pair decides, without a correction (intersection-union test,
        # Berger 1982)
        is_replicated = all(part.verdict == REPLICATED for part in alone)
        return alone if is_replicated else corrected

    def _shared(self, parts: Sequence[Finding]) -> Finding:
        """Return the finding about the share of pairs."""
        n = len(parts)
        needed = self.share * n
        won = [part for part in parts if part.verdict == REPLICATED]
        lost = [part for part in parts if part.verdict in (CONTRADICTED, NO_DIFFERENCE)]
        if len(won) >= needed:
            verdict = REPLICATED
        elif n - len(lost) < needed:
            verdict = CONTRADICTED
        else:
            verdict = INCONCLUSIVE
        counts = f"{len(won)} of {n} pairs so, {len(lost)} not so"
        names = ", ".join(part.part for part in won[:SHOWN_PAIRS])
        share = 100 * len(won) / n
        possible = 100 * (1 - len(lost) / n)
        test = (
            f"each pair {parts[0].test}; at least {100 * self.share:g} % of the pairs"
        )
        note = f"{counts}: {names}" if names else counts
        return Finding(
            "all pairs",
            verdict,
            share,
            share,
            possible,
            n=n,
            test=test,
            unit="% of pairs",
            note=note,
        )


def check_quantity(quantity: str) -> None:
    """Check the name of the measure by which methods are compared; "" stands for the error."""
    if quantity in ("", *LESS_IS_BETTER, *INDICES):
        return
    from sklearn.metrics import get_scorer_names

    check_one_of("quantity", quantity, [*LESS_IS_BETTER, *INDICES, *get_scorer_names()])
