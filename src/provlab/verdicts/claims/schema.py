"""Schema of `experiments/<paper>/claims.yaml`, which is checked before anything is tested.

```yaml
paper: smith2020
margins:                                          # differences in points that count as none, each declared once
  comparable: {points: 1.0, why: What the paper's own experiment could resolve.}
  same area: {units: 0.01, why: The same for another quantity.}   # for claims with the parameter quantity: roc_auc
claims:
  - id: smith2020.figure1.bss-better-than-rrqr     # starts with the paper's name
    where: Section 6.3.2, Figure 1
    claim: BSS has the lower error.               # our words
    artefact: smith2020/figure1
    test: better                                  # a rule: its class in a module of provlab.verdicts.claims
    origin: paper           # paper (default): the statement of the paper; alternative or control: one that we add
    certain: false          # true: a mathematical fact, which only a bug could contradict
    repeats: smith2020.x    # the same statement as that claim, tested elsewhere
    parameters: {row: BSS, than: RRQR, columns: [r=300], over: datasets, margin: comparable}
rankings:                                         # tests of Friedman and Nemenyi, which are not claims
  - artefact: smith2020/figure1
    rows: [BSS, Lvg, RRQR]
    columns: [r=300]
```
`origin`, `certain` and `repeats` are optional, and so are `rankings` and `margins`; in
a file without margins, a claim's margin is a number. Headline counts include the
paper's own claims that are neither certain nor repetitions. The key `results` describes
the columns of a table (`provlab.verdicts.claims.table`). Other top-level keys may hold
YAML anchors.

Statements from many papers can be judged on the results of the benchmark, or on a table
with several methods, data sets and conditions:

```yaml
paper: statements
evidence: panel             # instead of stored trials; each claim is then its own family of comparisons
results: {row: method, column: size, dataset: dataset, error: balanced_error, unit: percent}
lines: {judge: linear}      # the rows of the table that claims use, unless their parameter `only` says otherwise
groups: {trees: [extra trees, forest RFE]}     # a row that is the mean of others
planned: {rows: [CFS], columns: [chosen], quantities: [roc_auc]}    # not in the table yet: such claims are "not run"
works: {smith2020: {citation: "Smith (2020)", read: abstract}}      # keys: the second part of the ids
claims:
  - id: statements.smith2020.rfe
    where: abstract
    claim: RFE beats the F-test on genes.
    artefact: panel
    test: better
    parameters: {row: RFE, than: F-test, columns: ["10"], only: {domain: [genes]}, over: sources, margin: a point}
    beyond: {over: domains, only: {domain: all}, without: {domain: genes}}   # a separate claim that is not the paper's
    notes: {theme: accuracy, asked: With 10 features RFE has the lower error., left out: Their classifier.}
not_testable: [{statement: "Smith (2020): networks need no selection", missing: networks}]
```
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from provlab.project.documents import Line, about, file_state, read_record
from provlab.project.messages import did_you_mean
from provlab.project.papers import papers
from provlab.project.project import current_project
from provlab.verdicts.claims import (
    bounds,
    comparison,
    feature_rules,
    growth,
    location,
    set_rules,
)
from provlab.verdicts.claims.evidence import Layout
from provlab.verdicts.claims.rules import AbstractRule, check_one_of
from provlab.verdicts.claims.stored import FOLD_COLUMNS, artefact_layout

RULES: dict[str, type[AbstractRule]] = {
    "certificates": bounds.Certificates,
    "within": bounds.Within,
    "zero_error": bounds.ZeroError,
    "all_comparable": comparison.AllComparable,
    "better": comparison.Better,
    "better_by": comparison.BetterBy,
    "better_somewhere": comparison.BetterSomewhere,
    "comparable": comparison.Comparable,
    "each": comparison.Each,
    "not_worse": comparison.NotWorse,
    "slightly_worse": comparison.SlightlyWorse,
    "always_selected": feature_rules.AlwaysSelected,
    "most_frequent_relevant": feature_rules.MostFrequentRelevant,
    "falls": growth.Falls,
    "faster": growth.Faster,
    "grows_like": growth.GrowsLike,
    "count_above": location.CountAbove,
    "count_near": location.CountNear,
    "between": set_rules.Between,
    "correlated": set_rules.Correlated,
    "rank_within": set_rules.RankWithin,
    "share_of_sets": set_rules.ShareOfSets,
}
"""The rules by the names used in a claim's `test`."""

TRIALS, PANEL = "trials", "panel"
"""Kinds of evidence: stored trials of the project's artefacts, or the results of the benchmark."""

BEYOND = ".beyond"
"""Suffix of the id of a claim that extends a statement beyond the data of its paper."""


@dataclass(frozen=True)
class Claim:
    """A single statement of a paper, and the rule that judges it; origin, certain and repeats are as in the YAML file.

    `margin` is the reason for the rule's margin; "" if it has none. `notes` are texts
    by subject.
    """

    id: str
    paper: str
    where: str
    text: str
    rule: AbstractRule
    origin: str = "paper"
    certain: bool = False
    repeats: str = ""
    margin: str = ""
    notes: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def kind(self) -> str:
        """How it is counted: "paper" for the headline, otherwise the reason why it is listed separately."""
        if self.origin != "paper":
            return self.origin
        if self.certain:
            return "certain"
        return "repeated" if self.repeats else "paper"

    @property
    def artefacts(self) -> frozenset[str]:
        """The artefacts that it needs."""
        return frozenset(place[0] for place in self.rule.places())


@dataclass(frozen=True)
class RankingRequest:
    """Methods of an artefact that are ranked over its data sets, in each of several columns."""

    artefact: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ClaimEntry:
    """A claim as in the file."""

    id: str
    where: str
    claim: Line
    artefact: str
    test: str
    parameters: Mapping[str, Any]
    origin: Literal["paper", "alternative", "control"] = "paper"
    certain: bool = False
    repeats: str = ""
    beyond: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Line] = field(default_factory=dict)


@dataclass(frozen=True)
class Planned:
    """Names that a table will have."""

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """A publication, and the parts of it that were read."""

    citation: str
    read: str


@dataclass(frozen=True)
class Untested:
    """A statement that cannot be judged, and the reason."""

    statement: Line
    missing: Line


@dataclass(frozen=True)
class Margin:
    """Points of error that count as equal, or units of another measure, and the reason."""

    why: Line
    points: float = 0.0
    units: float = 0.0

    def __post_init__(self) -> None:
        is_one_of_both = (self.points > 0) != (self.units > 0)
        if not is_one_of_both or not self.why:
            raise ValueError(
                f"expected a reason, and points of error or units of another quantity above 0, got points "
                f"{self.points!r}, units {self.units!r}, {self.why!r}."
            )


@dataclass(frozen=True)
class Content:
    """The keys of a claims.yaml."""

    paper: str
    claims: tuple[ClaimEntry, ...]
    margins: Mapping[str, Margin] = field(default_factory=dict)
    rankings: tuple[RankingRequest, ...] = ()
    results: Mapping[str, Any] = field(default_factory=dict)
    evidence: Literal["trials", "panel"] = "trials"
    lines: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    planned: Planned = Planned()
    works: Mapping[str, Work] = field(default_factory=dict)
    not_testable: tuple[Untested, ...] = ()


@dataclass(frozen=True)
class ClaimFile:
    """The claims of a claims.yaml."""

    paper: str
    claims: tuple[Claim, ...]
    rankings: tuple[RankingRequest, ...] = ()
    evidence: str = TRIALS


def all_claim_files() -> list[ClaimFile]:
    """Return all papers' claims about stored trials; none outside a project."""
    return [load_claims(path) for path in claim_paths().values()]


def claim_files(paper: str | None = None) -> list[ClaimFile]:
    """Return the claims of one paper, or of all papers, about stored trials.

    Raises
    ------
    ValueError
        If there are none, for example outside a project or for an unknown paper.
    """
    paths = claim_paths()
    if not paths or paper not in (None, *paths):
        hint = did_you_mean(paper or "", paths) or "."
        raise ValueError(
            f"claims: expected claims of {paper or 'any paper'} in the project {current_project().root}, "
            f"got {', '.join(paths) or 'none'}; run it in a project, and name one of its papers{hint}"
        )
    return [load_claims(paths[paper])] if paper else all_claim_files()


def claims_about(names: Collection[str], files: Iterable[ClaimFile]) -> list[Claim]:
    """Return the claims of the given files that need any of the given artefacts."""
    claims = [claim for file in files for claim in file.claims]
    return [claim for claim in claims if not claim.artefacts.isdisjoint(names)]


def columns_read(claims: Iterable[Claim]) -> set[str]:
    """Return the columns of the records that the given claims need."""
    columns = {*FOLD_COLUMNS}
    for claim in claims:
        columns.update(claim.rule.reads)
    return columns


def claim_paths(evidence: str = TRIALS) -> dict[str, Path]:
    """Return the file of claims of each paper that has one, for claims judged on the given evidence."""
    paths = {}
    for paper in papers().values():
        path = paper.folder / "claims.yaml"
        if path.is_file() and read_content(path).evidence == evidence:
            paths[paper.name] = path
    return dict(sorted(paths.items()))


def read_content(path: Path) -> Content:
    """Return the content of a file of claims, cached until the file changes; errors as in `load_claims`."""
    return _content(path, file_state(path))


@cache
def _content(path: Path, state: tuple[int, ...]) -> Content:
    return read_record(path, Content)


def load_claims(
    path: Path, layout: Callable[[str], Layout] = artefact_layout
) -> ClaimFile:
    """Read and check a file of claims.

    Parameters
    ----------
    path : Path
    layout : callable
        Returns the possible subjects of claims about an artefact, and raises ValueError
        for an unknown name; by default for the artefacts of the project.

    Raises
    ------
    ValueError
        For invalid YAML, a missing or unknown key, a repeated id, an unknown rule,
        artefact, row or column, or a parameter of the wrong type. The message names the
        file and the claim.
    """
    content = read_content(path)
    claims: dict[str, Claim] = {}
    for entry in content.claims:
        with about(f"{path}: claims: {entry.id}"):
            if entry.id in claims:
                raise ValueError("the id occurs twice; give each claim its own.")
            claim = _claim(content, entry)
            _check_places(claim.rule, layout)
            claims[claim.id] = claim
            if entry.beyond:
                elsewhere = replace(
                    claim, id=claim.id + BEYOND, rule=claim.rule.changed(entry.beyond)
                )
                claims[elsewhere.id] = replace(elsewhere, origin="alternative")
    for claim in claims.values():
        if claim.repeats and (
            claim.repeats not in claims or claims[claim.repeats].repeats
        ):
            raise ValueError(
                f"{path}: claims: {claim.id}: expected repeats to name a claim of this file without repeats, got "
                f"{claim.repeats!r}."
            )
    for number, ranking in enumerate(content.rankings, 1):
        with about(f"{path}: rankings: {number}"):
            _check_names(
                ranking.artefact,
                ranking.rows,
                ranking.columns,
                layout(ranking.artefact),
            )
    return ClaimFile(
        content.paper, tuple(claims.values()), content.rankings, content.evidence
    )


def _claim(content: Content, entry: ClaimEntry) -> Claim:
    paper, margins = content.paper, content.margins
    if not entry.id.startswith(f"{paper}."):
        raise ValueError(
            f"expected an id that starts with {paper + '.'!r}, got {entry.id!r}."
        )
    parameters = {**entry.parameters, "artefact": entry.artefact}
    if content.lines:
        parameters["only"] = {**content.lines, **parameters.get("only", {})}
    why = ""
    named = parameters.get("margin")
    if named is not None and (margins or isinstance(named, str)):
        parameters["margin"], why = _margin(
            named, parameters.get("quantity", "error"), margins
        )
    check_one_of("test", entry.test, [*RULES])
    rule = RULES[entry.test].from_config(parameters)
    return Claim(
        entry.id,
        paper,
        entry.where,
        entry.claim,
        rule,
        entry.origin,
        entry.certain,
        entry.repeats,
        why,
        entry.notes,
    )


def _margin(
    name: Any, quantity: str, margins: Mapping[str, Margin]
) -> tuple[float, str]:
    """Return the size of a declared margin, in points of error or units of a quantity, and its reason."""
    if name not in margins:
        raise ValueError(
            f"margin: expected a margin that the file declares under margins, with its reason "
            f"({', '.join(margins) or 'none yet'}), got {name!r}."
        )
    margin = margins[name]
    is_error = quantity == "error"
    size = margin.points if is_error else margin.units
    if not size:
        kind, subject, got = (
            ("points", "the error", "units")
            if is_error
            else ("units", quantity, "points of error")
        )
        raise ValueError(
            f"margin: expected a margin in {kind} for {subject}, got {name!r} in {got}; declare another under margins."
        )
    return size, margin.why


def _check_places(rule: AbstractRule, layout: Callable[[str], Layout]) -> None:
    for artefact, row, column in rule.places():
        _check_names(artefact, (row,), (column,), layout(artefact))
    columns_of = layout(rule.artefact).datasets if rule.dataset else {}
    if columns_of and not set(rule.columns) <= set(columns_of.get(rule.dataset, ())):
        raise ValueError(
            f"expected a data set of {rule.artefact} and columns of that data set, out of {columns_of}, "
            f"got {rule.dataset!r} with {', '.join(rule.columns)}."
        )


def _check_names(
    artefact: str, rows: Sequence[str], columns: Sequence[str], layout: Layout
) -> None:
    for kind, names, choices in (
        ("row", rows, layout.rows),
        ("column", columns, layout.columns),
    ):
        for name in names:
            if name not in choices:
                hint = did_you_mean(name, choices) or "."
                raise ValueError(
                    f"expected a {kind} of {artefact} ({'; '.join(choices)}), got {name!r}{hint}"
                )
