"""The contents of a paper: its algorithms, theorems, tables and statements, with their places in the project.

`docs/papers/PAPER_contents.yaml` names code, artefacts and claims. Verdicts come from
the reference run, so a page says "replicated" only if a verdict does.

```yaml
contents:
  - item: Theorem 1
    where: Section 3
    kind: theorem
    says: The margin shrinks by a factor of at most 1 - eps.
    code: provsel.certificates.MarginPreservation      # the name that users import
    artefact: [smith2020/certificates]
    claims: ["smith2020.theorem1.*"]                   # ids, or patterns of ids
  - item: Section 6.4
    where: page 9
    kind: statement
    says: The method needs an hour.
    why_not: The paper does not name its machine.      # required if neither code, artefact nor claim is named
```
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from provlab.project.documents import Line, read_record
from provlab.verdicts.claims.rules import NOT_RUN, ONE_READING
from provlab.verdicts.claims.schema import Claim
from provlab.verdicts.readings.robustness import Robustness, counted

PAGES = Path(__file__).resolve().parents[1] / "papers"


@dataclass(frozen=True)
class Item:
    """An algorithm, theorem, table, figure or statement of a paper."""

    item: str
    where: str
    kind: Literal[
        "algorithm",
        "lemma",
        "theorem",
        "corollary",
        "equation",
        "table",
        "figure",
        "statement",
    ]
    says: Line
    code: str = ""
    artefact: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    why_not: str = ""

    def __post_init__(self) -> None:
        if not (self.code or self.artefact or self.claims or self.why_not):
            raise ValueError(
                f"{self.item}: expected code, an artefact, a claim or why_not, got none of these."
            )


@dataclass(frozen=True)
class Contents:
    """The contents of a paper, as read from a file."""

    contents: tuple[Item, ...]


def contents_path(paper: str) -> Path:
    """Return the path of the contents of a paper."""
    return PAGES / f"{paper}_contents.yaml"


def read_contents(path: Path) -> tuple[Item, ...]:
    """Return the contents of a paper; a ValueError names the file and its fault."""
    return read_record(path, Contents).contents


def claims_of_item(item: Item, claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims that an item names, without duplicates.

    Raises
    ------
    ValueError
        When a pattern names no claim.
    """
    chosen: dict[str, Claim] = {}
    for pattern in item.claims:
        named = {claim.id: claim for claim in claims if fnmatchcase(claim.id, pattern)}
        if not named:
            raise ValueError(
                f"{item.item}: claims: expected the id of a claim, or a pattern of ids, got {pattern!r}."
            )
        chosen |= named
    return list(chosen.values())


def check_code(item: Item) -> None:
    """Raise a ValueError if an item names code that cannot be imported."""
    if not item.code:
        return
    module, _, name = item.code.rpartition(".")
    owner, _, attribute = module.rpartition(".")
    try:
        there = hasattr(importlib.import_module(module), name)
    except ModuleNotFoundError:  # a method of a class
        there = hasattr(getattr(importlib.import_module(owner), attribute, None), name)
    if not there:
        raise ValueError(
            f"{item.item}: code: expected a name that can be imported, got {item.code!r}."
        )


def place_of(item: Item) -> str:
    """Return the names of an item's artefacts, and its public name without the package."""
    places = [name.rpartition("/")[2] for name in item.artefact]
    if item.code:
        places.append(f"`{item.code.rpartition('.')[2]}`")
    return ", ".join(places)


def said_of(
    item: Item,
    claims: Iterable[Claim],
    verdicts: dict[str, dict[str, str]],
    asked: dict[str, Robustness],
) -> str:
    """Return the number of an item's claims with each verdict, by kind of claim, and why something is left out."""
    counts: dict[str, Counter[str]] = {}
    for claim in claims_of_item(item, claims):
        stated = verdicts[claim.id]["verdict"] if claim.id in verdicts else NOT_RUN
        verdict = counted(claim.id, stated, asked)
        if verdict == ONE_READING:
            verdict = f"{stated} ({ONE_READING})"
        counts.setdefault(claim.kind, Counter())[verdict] += 1
    parts = []
    for kind, of_kind in counts.items():
        listed = ", ".join(
            f"{count} {verdict}" for verdict, count in of_kind.most_common()
        )
        parts.append(listed if kind == "paper" else f"{kind}: {listed}")
    if item.why_not:
        parts.append(item.why_not)
    return "; ".join(parts) or "no claim"
