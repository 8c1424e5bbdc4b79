"""Readings for people: tables in a terminal, and one page to the authors of a paper.

The page says what becomes of the claims, what was probably run, in a paragraph of the paper's room, and what is left to
ask. Its numbers are those of the outcome and of the paper's likelihood.csv.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table

from provlab.core.tables import write_text
from provlab.custody.texts import likelihoods, render
from provlab.project.papers import papers
from provlab.project.terminal import table
from provlab.verdicts.claims.rules import CONTRADICTED, DEPENDS_ON_READING, NO_DIFFERENCE, NOT_CONTRADICTED, REPLICATED
from provlab.verdicts.claims.schema import Claim
from provlab.verdicts.readings.prints import nearest
from provlab.verdicts.readings.robustness import count_text, robustness_frame
from provlab.verdicts.readings.schema import Part
from provlab.verdicts.readings.study import Outcome
from provlab.verdicts.readings.universes import Multiverse

MOST = 2
"""Claims, or questions, that a paragraph lists: a letter has one page."""

OWN = "letter.j2"
"""File of a paper's room with a paragraph of its own: what was probably run, by `provlab.custody.texts.likelihoods`."""

FIRM_HEADINGS = {
    REPLICATED: "Holds", CONTRADICTED: "Contradicted", NOT_CONTRADICTED: "Not contradicted",
    NO_DIFFERENCE: "No difference",
}  # fmt: skip
"""Of the paragraphs of the letter on verdicts that are firm."""


def write_letter(outcome: Outcome, path: Path, left_out: Sequence[str] = ()) -> str:
    """Write the letter as Markdown, and return it.

    Parameters
    ----------
    outcome : Outcome
    path : Path
    left_out : sequence of str
        Artefacts of whose claims the letter says that they are not in it.
    """
    multiverse = outcome.multiverse
    claims = [claim for claim in multiverse.claims if claim.rule.artefact not in left_out]
    run = [each for each in outcome.robustness if each.n_run and outcome.claims[each.claim] in claims]
    found = [each for each in run if each.n_universes > 1]
    # where most readings decide against our defaults the claim counts as depending on the reading, not as firm
    not_firm = [each for each in found if not each.firm or each.counts_as(each.default) == DEPENDS_ON_READING]
    depends = [each for each in not_firm if each.decides]
    turning = Counter(place for each in found for place, share in each.turns.items() if share > 0)
    paper = papers()[multiverse.readings.paper]
    own = paper.folder / OWN
    text = render(
        Path(__file__).with_suffix(".md.j2"),
        title=paper.read_notes()[0], own=render(own, likelihood=likelihoods()) if own.is_file() else "",
        places=multiverse.readings.places, claims=outcome.claims, found=found, most=MOST, headings=FIRM_HEADINGS,
        left_out=left_out, parts=_said_once(_parts(multiverse, claims)),
        n_run=sum(each.n_run for each in found), n_all=sum(each.n_universes for each in found),
        one=Counter(each.default for each in run if each.n_universes == 1).most_common(),
        firm={
            verdict: [each for each in found if each.firm == verdict and each not in depends]
            for verdict in FIRM_HEADINGS
        },
        # not run by default: NaN
        turned=sorted(depends, key=lambda each: np.nan_to_num(each.same)),
        open=sum(not each.decides for each in found),
        prints={name: _near(each) for name, each in outcome.prints.items() if len(each) and name not in left_out},
        asked=sorted(
            ((place, n) for place in multiverse.readings.places if (n := turning[place.id])), key=lambda item: -item[1]
        ),
    )  # fmt: skip
    text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    write_text(path, text)
    return text


def plan_text(multiverse: Multiverse) -> str:
    """Return which places there are, how many universes, and on which part of the data."""
    numbers = [len([*multiverse.universes(claim)]) for claim in multiverse.claims]
    each = " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))
    touching = {k for claim in multiverse.claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    options = ", ".join(f"{place.id} ({len(place.options)})" for place in places) or "none"
    parts = "".join(
        f"\n{name}: on a part of the data ({part.settings}): {part.why} All: --whole"
        for name, part in _parts(multiverse, multiverse.claims).items()
    )
    return (
        f"{len(multiverse.claims)} claims, {each} universes each, {sum(numbers)} verdicts\n"
        f"open places and their options: {options}{parts}"
    )


def robustness_table(outcome: Outcome) -> Table:
    """Return one line for each claim: shares of verdicts, the decisive place, and the smallest change that flips it."""
    lines = []
    for line, found in zip(robustness_frame(outcome.robustness).to_dict("records"), outcome.robustness, strict=True):
        shares = ", ".join(f"{share:.0%} {verdict}" for verdict, share in found.shares.items())
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
    """Return of the artefacts that claims rest on the part of the data that is used, where it is not all."""
    names = dict.fromkeys(name for claim in claims for name in sorted(claim.artefacts))
    return {name: part for name in names if (part := multiverse.part(name)) is not None}


def _said_once(parts: dict[str, Part]) -> dict[str, list[str]]:
    """Return why only a part of the data is used, and of which artefacts, without their paper."""
    found: dict[str, list[str]] = {}
    for name, part in parts.items():
        found.setdefault(part.why, []).append(name.partition("/")[2])
    return found


def _near(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what the universes beside the print tell: how many are nearest, one of them, and that of the defaults."""
    lines = frame.to_dict("records")
    decided = [f"{place}={options[0]}" for place, options in nearest(frame).items() if len(options) == 1]
    n_best = sum(line["rank"] == 1 for line in lines)
    ours = next((line for line in lines if line["by_default"]), None)
    return {"n": len(lines), "n_best": n_best, "best": lines[0], "ours": ours, "told": ", ".join(decided)}
