"""Summaries of readings: tables for the terminal, and a letter of one page to the authors of a paper.

A letter introduces its senders, asks about the open places, and reports the verdicts.
Its counts are those of the README. The folder of a paper can contain a template with a
further paragraph.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from rich.table import Table

from provlab.custody.texts import render
from provlab.project.papers import papers
from provlab.project.project import current_project
from provlab.project.terminal import table
from provlab.verdicts.claims.rules import CONTRADICTED, DEPENDS_ON_READING, REPLICATED
from provlab.verdicts.claims.schema import Claim
from provlab.verdicts.readings.prints import nearest
from provlab.verdicts.readings.robustness import (
    Robustness,
    count_text,
    percentages,
    robustness_frame,
    tallied,
)
from provlab.verdicts.readings.schema import Part, Place
from provlab.verdicts.readings.study import Outcome
from provlab.verdicts.readings.universes import Multiverse

OWN = "letter.j2"
"""File in a paper's folder with an additional paragraph, a template like those of `provlab.custody.texts`."""

QUOTED = (REPLICATED, CONTRADICTED, DEPENDS_ON_READING)
"""Verdicts for which the letter quotes a claim, only one each because it has a single page."""

N_QUESTIONS = 3


class Question(NamedTuple):
    """A question to the authors: a place, and how many of their claims change their verdict with its options."""

    place: Place
    n_turned: int


def letter(
    outcome: Outcome,
    counts: Mapping[str, str] | None = None,
    *,
    outdated: Collection[str] = (),
    own: str = "",
) -> str:
    """Return a letter to the authors of a paper, as Markdown.

    Parameters
    ----------
    outcome : Outcome
    counts : mapping, optional
        Counted verdict of each of the paper's own claims, by id; by default of those
        tested under readings.
    outdated : collection of str
        Artefacts whose readings were computed with code or data that have changed
        since.
    own : str
        A paragraph about this paper.
    """
    multiverse = outcome.multiverse
    readings = multiverse.readings
    robustness = {
        of_claim.claim: of_claim for of_claim in outcome.robustness if of_claim.n_run
    }
    if counts is None:
        counts = {
            name: of_claim.counts_as(of_claim.default)
            for name, of_claim in robustness.items()
        }
    claims = {
        claim.id: claim
        for claim in multiverse.family
        if claim.kind == "paper" and claim.id in counts
    }
    of_own_claims = [
        of_claim for name, of_claim in robustness.items() if name in claims
    ]
    tally = tallied(counts[name] for name in claims)
    citation, notes = papers()[readings.paper].read_notes()
    title = re.match(r"\s*\*([^*]+)\*", notes)
    text = render(
        Path(__file__).with_suffix(".md.j2"),
        paper=f"*{title[1]}*" if title else citation,
        owner=_owner(),
        n_places=len(readings.places),
        n_most=max((of_claim.n_universes for of_claim in of_own_claims), default=0),
        n_run=sum(of_claim.n_run for of_claim in of_own_claims),
        n_all=sum(of_claim.n_universes for of_claim in of_own_claims),
        questions=_questions(readings.places, of_own_claims),
        counts=[(verdict, n) for verdict, n in tally if n],
        examples=_examples(claims.values(), counts, robustness, outdated),
        robustness=robustness,
        places={place.id: place for place in readings.places},
        parts=dict.fromkeys(
            part.why for part in _parts(multiverse, claims.values()).values()
        ),
        prints={
            _in_words(name): _near(frame)
            for name, frame in outcome.prints.items()
            if len(frame)
        },
        outdated=sorted(
            {
                claim.where
                for claim in claims.values()
                if claim.rule.artefact in outdated
            }
        ),
        own=own.strip(),
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _owner() -> dict[str, Any] | None:
    """Return the developers of provsel from owner.toml; None in another project."""
    path = current_project().root / "owner.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _questions(
    places: Iterable[Place], robustness: Iterable[Robustness]
) -> list[Question]:
    """Return the questions to the authors, sorted by the number of claims that they change."""
    turned_by_text = defaultdict[str, set[str]](set)
    by_text = dict[str, Place]()
    for place in places:
        by_text.setdefault(place.asks, place)  # two places can have the same question
        for claim in robustness:
            if claim.turns.get(place.id, 0) > 0:
                turned_by_text[place.asks].add(claim.claim)
    questions = []
    for text, place in by_text.items():
        n_turned = len(turned_by_text[text])
        if n_turned and place.in_letter != "never":
            questions.append(Question(place, n_turned))
    questions.sort(
        key=lambda question: (question.place.in_letter != "always", -question.n_turned)
    )
    return sorted(questions[:N_QUESTIONS], key=lambda question: -question.n_turned)


def _examples(
    claims: Iterable[Claim],
    counts: Mapping[str, str],
    robustness: Mapping[str, Robustness],
    outdated: Collection[str],
) -> dict[str, Claim]:
    """Return the claim with the most readings for each verdict in `QUOTED`."""
    examples = dict[str, Claim]()
    for claim in claims:
        verdict = counts[claim.id]
        if (
            verdict in QUOTED
            and claim.id in robustness
            and claim.rule.artefact not in outdated
        ):
            best = examples.setdefault(verdict, claim)
            if robustness[claim.id].n_universes > robustness[best.id].n_universes:
                examples[verdict] = claim
    return examples


def _in_words(artefact: str) -> str:
    """Return the usual name of an artefact: "Table 1" for smith2020/table1."""
    return re.sub(r"([a-z])(\d)", r"\1 \2", artefact.partition("/")[2]).capitalize()


def plan_text(multiverse: Multiverse) -> str:
    """Return a text with the places, the number of universes, and the part of the data that they use."""
    numbers = [len([*multiverse.universes(claim)]) for claim in multiverse.claims]
    n_universes = " to ".join(map(str, sorted({min(numbers), max(numbers)})))
    touching: set[int] = set()
    for claim in multiverse.claims:
        touching.update(multiverse.touching(claim))
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    options = (
        ", ".join(f"{place.id} ({len(place.options)})" for place in places) or "none"
    )
    text = (
        f"{len(multiverse.claims)} claims, {n_universes} universes each, {sum(numbers)} verdicts\n"
        f"open places and their options: {options}"
    )
    for name, part in _parts(multiverse, multiverse.claims).items():
        text += (
            f"\n{name}: on part of the data ({part.settings}): {part.why} All: --whole"
        )
    return text


def robustness_table(outcome: Outcome) -> Table:
    """Return a table of claims with shares of verdicts, the decisive place, and the smallest decisive change."""
    lines = []
    frame = robustness_frame(outcome.robustness)
    for line, robustness in zip(
        frame.to_dict("records"), outcome.robustness, strict=True
    ):
        shown = {
            "claim": line["claim"],
            "universes": count_text(line["run"], line["universes"]),
            "by default": line["default"],
            "verdicts": percentages(robustness.shares),
            "decisive place": "", "largest share of variance": "", "smallest change for another verdict": "",
        }  # fmt: skip
        if line["turned_by"]:
            shown["decisive place"] = (
                f"{line['turned_by']} ({line['turns']:.0%} of pairs)"
            )
        if line["varied_by"]:
            shown["largest share of variance"] = (
                f"{line['varied_by']} ({line['variance']:.0%} of variance)"
            )
        if line["flips"]:
            more = f" (and {line['flips'] - 1} more)" if line["flips"] > 1 else ""
            shown["smallest change for another verdict"] = (
                f"{line['flip']}: {line['flip_verdict']}{more}"
            )
        lines.append(shown)
    return table(lines)


def print_lines(outcome: Outcome) -> Iterator[str]:
    """Yield a line per artefact on what the printed values show about its universes."""
    for name, frame in outcome.prints.items():
        if frame.empty:
            continue
        near = _near(frame)
        best = near["best"]
        is_single = near["n_best"] == 1
        nearest = (
            "the nearest has" if is_single else f"the nearest {near['n_best']} have"
        )
        common = ""
        if near["told"]:
            common = (
                f", with {near['told']}" if is_single else f", all with {near['told']}"
            )
        yield (
            f"{name}: {near['n']} universes compared with the printed values; {nearest} {best['exact']} of "
            f"{best['printed']} cells as printed{common}"
        )


def _parts(multiverse: Multiverse, claims: Iterable[Claim]) -> dict[str, Part]:
    """Return the part of the data that the claims' artefacts use, for those that do not use all data."""
    parts = {}
    for claim in claims:
        for name in sorted(claim.artefacts):
            part = multiverse.part(name)
            if part is not None:
                parts[name] = part
    return parts


def _near(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the number of universes nearest to the printed numbers, one of them, and the default universe."""
    lines = frame.to_dict("records")
    decided = [
        f"{place}={options[0]}"
        for place, options in nearest(frame).items()
        if len(options) == 1
    ]
    return {
        "n": len(lines),
        "n_best": int((frame["rank"] == 1).sum()),
        "best": lines[0],
        "ours": next((line for line in lines if line["by_default"]), None),
        "told": ", ".join(decided),
    }
