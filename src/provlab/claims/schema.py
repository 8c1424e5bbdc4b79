"""Claims as data: `experiments/<paper>/claims.yaml`, checked before anything is tested.

```yaml
paper: smith2020
margins:                                          # points of error that count as the same, each declared once
  comparable: {points: 1.0, why: What the paper's own experiment could resolve.}
claims:
  - id: smith2020.figure1.bss-better-than-rrqr     # starts with the paper's name
    where: Section 6.3.2, Figure 1
    claim: BSS has the lower error.               # our words
    artefact: smith2020/figure1
    test: better                                  # a module of provlab.claims.evaluators
    origin: paper           # whose statement: the paper's (default), an alternative of ours, or a control that it lacks
    certain: false          # true: mathematics forces it, so that only a bug could contradict it
    repeats: smith2020.x    # it is the same statement as that claim, asked at another place
    parameters: {row: BSS, than: RRQR, columns: [r=300], over: datasets, margin: comparable}
rankings:                                         # Friedman and Nemenyi, no claims of their own
  - artefact: smith2020/figure1
    rows: [BSS, Lvg, RRQR]
    columns: [r=300]
```
The last three keys of a claim may be left out, and so may rankings and margins; where a file declares none, a claim's
margin is a number. Headline counts are of the paper's own claims that are neither certain nor repeat another. The key
`results` says what the columns of a table are (`provlab.claims.table`). Other top-level keys may hold YAML anchors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from provlab.claims.evaluators import AbstractEvaluator, evaluator_class
from provlab.claims.evidence import artefact_datasets, artefact_layout
from provlab.documents import check_keys, one_line, read_listing
from provlab.messages import did_you_mean

KEYS = ("id", "where", "claim", "artefact", "test", "parameters")

OPTIONAL = ("origin", "certain", "repeats")

ORIGINS = ("paper", "alternative", "control")


@dataclass(frozen=True)
class Claim:
    """One atomic statement of a paper, and the test of it; origin, certain and repeats as in the YAML.

    `margin` is why the test has the margin that it has; "" where it has none.
    """

    id: str
    paper: str
    where: str
    text: str
    evaluator: AbstractEvaluator
    origin: str = "paper"
    certain: bool = False
    repeats: str = ""
    margin: str = ""

    @property
    def kind(self) -> str:
        """What it counts as: "paper" in the headline, else why it stands beside."""
        if self.origin != "paper":
            return self.origin
        return "certain" if self.certain else "repeated" if self.repeats else "paper"


@dataclass(frozen=True)
class Margin:
    """Errors that differ by no more count as the same.

    Attributes
    ----------
    points : float
        Percentage points.
    why : str
        What it follows from.
    """

    points: float
    why: str


@dataclass(frozen=True)
class RankingRequest:
    """Methods of an artefact to be ranked over its data sets, in each of some columns."""

    artefact: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ClaimFile:
    """What a claims.yaml holds."""

    paper: str
    claims: tuple[Claim, ...]
    rankings: tuple[RankingRequest, ...] = ()

    def named(self, texts: Sequence[str]) -> list[Claim]:
        """Return the claims with one of some texts in their id; all where there are no texts."""
        return [claim for claim in self.claims if not texts or any(text in claim.id for text in texts)]


class Layout(Protocol):
    """What claims can be about: the artefacts of the project, or a table of results."""

    def names(self, artefact: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return rows and columns of an artefact, or raise ValueError where there is none of that name."""

    def datasets(self, artefact: str) -> Mapping[str, Sequence[str]]:
        """Return the data sets that an artefact lists, and the columns of each; none where it lists none."""


class ProjectLayout:
    """The artefacts of the project at hand; needs no data."""

    def names(self, artefact: str) -> tuple[Sequence[str], Sequence[str]]:
        """See `Layout`."""
        return artefact_layout(artefact)

    def datasets(self, artefact: str) -> Mapping[str, Sequence[str]]:
        """See `Layout`."""
        return artefact_datasets(artefact)


PROJECT = ProjectLayout()


def stated_results(path: Path) -> dict[str, Any]:
    """Return the section `results` of a file of claims, which says what the columns of a table are; {} without one.

    Raises
    ------
    ValueError
        For a file that holds no claims, or another kind of section.
    """
    stated = read_listing(path, "claims", __name__).get("results") or {}
    if not isinstance(stated, dict):
        raise ValueError(
            f"{path}: results: expected a mapping such as {{row: method, score: accuracy}}, got {stated!r}."
        )
    return stated


def load_claims(path: Path, layout: Layout = PROJECT) -> ClaimFile:
    """Read and check a file of claims.

    Parameters
    ----------
    path : Path
    layout : Layout
        What the claims can be about.

    Raises
    ------
    ValueError
        Names the file and the claim: broken YAML, a missing or unknown key, a repeated id, an unknown test,
        artefact, row or column, or a parameter of the wrong kind.
    """
    content = read_listing(path, "claims", __name__)
    paper = str(content["paper"])
    margins = _margins(f"{path}: margins", content.get("margins") or {})
    claims: dict[str, Claim] = {}
    for number, entry in enumerate(content["claims"], 1):
        subject = f"{path}: claim {entry.get('id', number) if isinstance(entry, dict) else number}"
        claim = _claim(subject, paper, entry, layout, margins)
        if claim.id in claims:
            raise ValueError(f"{subject}: expected each id once, got it twice.")
        claims[claim.id] = claim
    for claim in claims.values():
        if claim.repeats and (claim.repeats not in claims or claims[claim.repeats].repeats):
            raise ValueError(
                f"{path}: claim {claim.id}: expected repeats to name a claim of this file that repeats none itself, "
                f"got {claim.repeats!r}."
            )
    rankings = content.get("rankings") or []
    checked = tuple(_ranking(f"{path}: ranking {number}", entry, layout) for number, entry in enumerate(rankings, 1))
    return ClaimFile(paper, tuple(claims.values()), checked)


def _check_names(subject: str, artefact: str, rows: Sequence[str], columns: Sequence[str], layout: Layout) -> None:
    try:
        known_rows, known_columns = layout.names(artefact)
    except ValueError as error:
        raise ValueError(f"{subject}: {error}") from error
    for kind, names, known in (("row", rows, known_rows), ("column", columns, known_columns)):
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{subject}: expected a {kind} of {artefact} ({'; '.join(known)}), got {name!r}"
                    + (did_you_mean(name, known) or ".")
                )


def _margins(subject: str, entries: Any) -> dict[str, Margin]:
    if not isinstance(entries, dict):
        raise ValueError(f"{subject}: expected names with points and why, got {entries!r}.")
    margins = {}
    for name, entry in entries.items():
        check_keys(f"{subject}: {name}", entry, ("points", "why"))
        points, why = entry["points"], one_line(entry["why"] or "")
        if not isinstance(points, int | float) or isinstance(points, bool) or not points > 0 or not why:
            raise ValueError(f"{subject}: {name}: expected points above 0 and a reason, got {points!r}, {why!r}.")
        margins[str(name)] = Margin(float(points), why)
    return margins


def _claim(subject: str, paper: str, entry: Any, layout: Layout, margins: Mapping[str, Margin]) -> Claim:
    check_keys(subject, entry, KEYS, OPTIONAL)
    origin, certain, repeats = entry.get("origin", "paper"), entry.get("certain", False), entry.get("repeats", "")
    if origin not in ORIGINS or not isinstance(certain, bool) or not isinstance(repeats, str):
        raise ValueError(
            f"{subject}: expected origin to be one of {', '.join(ORIGINS)}, certain true or false, and repeats an id, "
            f"got {origin!r}, {certain!r}, {repeats!r}."
        )
    if not str(entry["id"]).startswith(f"{paper}."):
        raise ValueError(f"{subject}: expected an id that starts with {paper + '.'!r}, got {entry['id']!r}.")
    parameters = entry["parameters"]
    if not isinstance(parameters, dict) or "artefact" in parameters:
        raise ValueError(f"{subject}: expected parameters as a mapping without artefact, got {parameters!r}.")
    margin = None
    if "margin" in parameters and (margins or isinstance(parameters["margin"], str)):
        margin = margins.get(str(parameters["margin"]))
        if margin is None:
            raise ValueError(
                f"{subject}: margin: expected one that the file declares under margins, with its reason "
                f"({', '.join(margins) or 'none yet'}), got {parameters['margin']!r}."
            )
        parameters = {**parameters, "margin": margin.points}
    try:
        evaluator = evaluator_class(entry["test"]).from_config({**parameters, "artefact": entry["artefact"]})
    except ValueError as error:
        raise ValueError(f"{subject}: {error}") from error
    for name, row, column in evaluator.places((*evaluator.columns, *evaluator.also)):
        _check_names(subject, name, (row,), (column,), layout)
    listed = layout.datasets(entry["artefact"]) if evaluator.dataset else {}
    if listed and not set(evaluator.columns) <= set(listed.get(evaluator.dataset, ())):
        raise ValueError(
            f"{subject}: expected a data set of {entry['artefact']} and columns that it has, of {listed}, "
            f"got {evaluator.dataset!r} with {', '.join(evaluator.columns)}."
        )
    text, where = one_line(entry["claim"]), str(entry["where"])
    why = margin.why if margin else ""
    return Claim(str(entry["id"]), paper, where, text, evaluator, origin, certain, repeats, why)


def _ranking(subject: str, entry: Any, layout: Layout) -> RankingRequest:
    check_keys(subject, entry, ("artefact", "rows", "columns"))
    rows, columns = tuple(map(str, entry["rows"])), tuple(map(str, entry["columns"]))
    _check_names(subject, entry["artefact"], rows, columns, layout)
    return RankingRequest(entry["artefact"], rows, columns)
