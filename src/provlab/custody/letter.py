"""Readings for people: tables in a terminal, and one page to the authors of a paper.

A letter names its senders and their reason, asks about the open places, and reports the verdicts. Its counts are those
of the README. The folder of a paper can have a template with a further paragraph.
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
from provlab.verdicts.readings.robustness import Robustness, count_text, counted, robustness_frame, tallied
from provlab.verdicts.readings.schema import Part, Place
from provlab.verdicts.readings.study import Outcome
from provlab.verdicts.readings.universes import Multiverse

OWN = "letter.j2"
"""File of a paper's room with a paragraph of its own, a template as those of `provlab.custody.texts`."""

QUOTED = (REPLICATED, CONTRADICTED, DEPENDS_ON_READING)
"""Verdicts of which the letter quotes one claim: it has one page."""

N_QUESTIONS = 3


class Question(NamedTuple):
    """What the authors are asked: a place, and how many of their claims get another verdict by its options."""

    place: Place
    n_turned: int


def letter(
    outcome: Outcome, counts: Mapping[str, str] | None = None, *, outdated: Collection[str] = (), own: str = ""
) -> str:
    """Return a letter to the authors of a paper, as Markdown.

    Parameters
    ----------
    outcome : Outcome
    counts : mapping, optional
        What each of the paper's own claims counts as, by id; by default those that were asked under readings.
    outdated : collection of str
        Artefacts whose readings were computed with other code or data than now.
    own : str
        A paragraph about this paper.
    """
    multiverse = outcome.multiverse
    readings = multiverse.readings
    robustness = {of_claim.claim: of_claim for of_claim in outcome.robustness if of_claim.n_run}
    if counts is None:
        counts = {}
        for name, of_claim in robustness.items():
            counts[name] = counted(name, of_claim.default, robustness)
    claims = {claim.id: claim for claim in multiverse.family if claim.kind == "paper" and claim.id in counts}
    of_own_claims = [of_claim for name, of_claim in robustness.items() if name in claims]
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
        parts=dict.fromkeys(part.why for part in _parts(multiverse, claims.values()).values()),
        prints={_in_words(name): _near(frame) for name, frame in outcome.prints.items() if len(frame)},
        outdated=sorted({claim.where for claim in claims.values() if claim.rule.artefact in outdated}),
        own=own.strip(),
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _owner() -> dict[str, Any] | None:
    """Return the developers of provsel from owner.toml; None in another project."""
    path = current_project().root / "owner.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _questions(places: Iterable[Place], robustness: Iterable[Robustness]) -> list[Question]:
    """Return the questions to the authors, those that change most claims first."""
    turned_by_text = defaultdict[str, set[str]](set)
    by_text = dict[str, Place]()
    for place in places:
        by_text.setdefault(place.asks, place)  # two places can be one question
        for claim in robustness:
            if claim.turns.get(place.id, 0) > 0:
                turned_by_text[place.asks].add(claim.claim)
    questions = [Question(place, len(turned_by_text[text])) for text, place in by_text.items()]
    questions = [question for question in questions if question.n_turned and question.place.in_letter != "never"]
    questions.sort(key=lambda question: (question.place.in_letter != "always", -question.n_turned))
    return sorted(questions[:N_QUESTIONS], key=lambda question: -question.n_turned)


def _examples(
    claims: Iterable[Claim], counts: Mapping[str, str], robustness: Mapping[str, Robustness], outdated: Collection[str]
) -> dict[str, Claim]:
    """Return the claim with most readings for each verdict in `QUOTED`."""
    examples = dict[str, Claim]()
    for claim in claims:
        verdict = counts[claim.id]
        if verdict in QUOTED and claim.id in robustness and claim.rule.artefact not in outdated:
            best = examples.setdefault(verdict, claim)
            if robustness[claim.id].n_universes > robustness[best.id].n_universes:
                examples[verdict] = claim
    return examples


def _in_words(artefact: str) -> str:
    """Return the usual name of an artefact: "Table 1" for smith2020/table1."""
    return re.sub(r"([a-z])(\d)", r"\1 \2", artefact.partition("/")[2]).capitalize()


def plan_text(multiverse: Multiverse) -> str:
    """Return which places there are, how many universes, and on which part of the data."""
    numbers = [len([*multiverse.universes(claim)]) for claim in multiverse.claims]
    n_universes = " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))
    touching = {k for claim in multiverse.claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    options = ", ".join(f"{place.id} ({len(place.options)})" for place in places) or "none"
    parts = "".join(
        f"\n{name}: on a part of the data ({part.settings}): {part.why} All: --whole"
        for name, part in _parts(multiverse, multiverse.claims).items()
    )
    return (
        f"{len(multiverse.claims)} claims, {n_universes} universes each, {sum(numbers)} verdicts\n"
        f"open places and their options: {options}{parts}"
    )


def robustness_table(outcome: Outcome) -> Table:
    """Return one line for each claim: shares of verdicts, the decisive place, and the smallest change that flips it."""
    lines = []
    frame = robustness_frame(outcome.robustness)
    for line, robustness in zip(frame.to_dict("records"), outcome.robustness, strict=True):
        shares = ", ".join(f"{share:.0%} {verdict}" for verdict, share in robustness.shares.items())
        turned = f"{line['turned_by']} ({line['turns']:.0%} of pairs)" if line["turned_by"] else ""
        varied = f"{line['varied_by']} ({line['variance']:.0%} of variance)" if line["varied_by"] else ""
        flip = f"{line['flip']}: {line['flip_verdict']}" if line["flips"] else ""
        more = f" (and {line['flips'] - 1} more)" if line["flips"] > 1 else ""
        number = count_text(line["run"], line["universes"])
        first = {"claim": line["claim"], "universes": number, "by default": line["default"], "verdicts": shares}
        places = {"decisive place": turned, "largest share of variance": varied}
        lines.append({**first, **places, "smallest change for another verdict": flip + more})
    return table(lines)


def print_lines(outcome: Outcome) -> Iterator[str]:
    """Yield for each artefact what the print tells about its universes."""
    for name, near in ((name, _near(frame)) for name, frame in outcome.prints.items() if len(frame)):
        exact = f"{near['best']['exact']} of {near['best']['printed']} cells as printed"
        said = f"{name}: {near['n']} universes beside the print, {near['n_best']} equally near with {exact}; "
        yield said + f"the print tells {near['told'] or 'nothing'}"


def _parts(multiverse: Multiverse, claims: Iterable[Claim]) -> dict[str, Part]:
    """Return which part of the data is used by the artefacts behind the claims, if not all of it."""
    names = dict.fromkeys(name for claim in claims for name in sorted(claim.artefacts))
    return {name: part for name in names if (part := multiverse.part(name)) is not None}


def _near(frame: pd.DataFrame) -> dict[str, Any]:
    """Return how many universes come nearest to the printed numbers, one of them, and the default universe."""
    lines = frame.to_dict("records")
    decided = [f"{place}={options[0]}" for place, options in nearest(frame).items() if len(options) == 1]
    n_best = sum(line["rank"] == 1 for line in lines)
    ours = next((line for line in lines if line["by_default"]), None)
    return {"n": len(lines), "n_best": n_best, "best": lines[0], "ours": ours, "told": ", ".join(decided)}
