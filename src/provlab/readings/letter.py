"""Readings for people: tables in a terminal, and one page to the authors of a paper.

The page says which reading gives what they print, what none gives, and what is left to ask; all its numbers are those
of the outcome.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Column, Table
from rich.text import Text

from provlab.claims import CONTRADICTED, REPLICATED
from provlab.project import papers
from provlab.readings.prints import nearest
from provlab.readings.robustness import count_text
from provlab.readings.schema import Part
from provlab.readings.study import Outcome
from provlab.readings.universes import Multiverse
from provlab.tables import write_text
from provlab.texts import render

MOST = 6
"""Claims, or questions, that a paragraph lists."""

SHOWN = 5
"""Universes of a table of prints."""


def write_letter(outcome: Outcome, path: Path, left_out: Sequence[str] = ()) -> str:
    """Write the letter as Markdown, and return it.

    Parameters
    ----------
    outcome : Outcome
    path : Path
    left_out : sequence of str
        Artefacts of whose claims the letter says that they are not in it.
    """
    readings, asked = outcome.multiverse.readings, [made for made in outcome.robustness if made.n_run]
    found = [made for made in asked if made.n_universes > 1]
    turning = [(place, sum(made.turns.get(place.id, 0) > 0 for made in found)) for place in readings.places]
    turned = [made for made in found if len(made.shares) > 1]
    text = render(
        Path(__file__).with_suffix(".md.j2"),
        title=papers()[readings.paper].title, places=readings.places, claims=outcome.claims, found=found,
        n_run=sum(made.n_run for made in found), n_all=sum(made.n_universes for made in found), most=MOST,
        parts=_parts(outcome.multiverse), left_out=left_out,
        one=Counter(made.default for made in asked if made.n_universes == 1).most_common(),
        always=[made for made in found if made.shares.get(REPLICATED, 0) == 1],
        never=[made for made in found if made.shares.get(CONTRADICTED, 0) == 1],
        turned=sorted(turned, key=lambda made: np.nan_to_num(made.same)),  # not run by default: NaN
        prints={name: _near(frame) for name, frame in outcome.prints.items() if len(frame)},
        asked=sorted(((place, n) for place, n in turning if n), key=lambda item: -item[1]),
    )  # fmt: skip
    text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    write_text(path, text)
    return text


def plan_text(multiverse: Multiverse) -> str:
    """Return which places there are, how many universes, and on which part of the data."""
    numbers = [multiverse.n_universes(claim) for claim in multiverse.claims]
    each = " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))
    touching = {k for claim in multiverse.claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    options = ", ".join(f"{place.id} ({len(place.options)})" for place in places) or "none"
    parts = "".join(
        f"\n{name}: on a part of the data ({part.settings}): {part.why} All: --whole"
        for name, part in _parts(multiverse).items()
    )
    return (
        f"{len(multiverse.claims)} claims, {each} universes each, {sum(numbers)} verdicts\n"
        f"open places and their options: {options}{parts}"
    )


def robustness_table(outcome: Outcome) -> Table:
    """Return one line a claim: shares of the verdicts, which place turns it, and the smallest change that flips it."""
    table = Table(
        Column("claim", overflow="fold"), "universes", Column("by default", min_width=12), "verdicts",
        "turned most by", "effect varied most by", "smallest change for another verdict",
    )  # fmt: skip
    for made in outcome.robustness:
        flip = f"{made.flips[0].text()}: {made.flips[0].verdict}" if made.flips else ""
        more = f" (and {len(made.flips) - 1} more)" if len(made.flips) > 1 else ""
        table.add_row(
            Text(made.claim), count_text(made.n_run, made.n_universes), made.default,
            ", ".join(f"{share:.0%} {verdict}" for verdict, share in made.shares.items()),
            _first(made.turns, "of pairs"), _first(made.variance, "of variance"), Text(flip + more),
        )  # fmt: skip
    return table


def print_tables(outcome: Outcome) -> Iterator[Table]:
    """Yield for each artefact the universes that are nearest to the print."""
    for name, frame in outcome.prints.items():
        if frame.empty:
            continue
        near = _near(frame)
        table = Table(
            "rank", *nearest(frame), "as printed", "shared", "difference (sd)", "tau", title_justify="left",
            title=f"{name}: {near['n']} universes beside the print, {near['n_best']} equally near; the print tells "
            f"{near['told'] or 'nothing'}",
        )  # fmt: skip
        for line in frame.head(SHOWN).to_dict("records"):
            numbers = ["" if np.isnan(line[name]) else f"{line[name]:.2f}" for name in ("shared", "difference", "tau")]
            places = [Text(str(line[place])) for place in nearest(frame)]
            table.add_row(str(line["rank"]), *places, f"{line['exact']} of {line['printed']}", *numbers)
        yield table


def _parts(multiverse: Multiverse) -> dict[str, Part]:
    """Return of the artefacts that claims rest on the part of the data that is used, where it is not all."""
    names = dict.fromkeys(name for claim in multiverse.claims for name in sorted(claim.artefacts))
    return {name: part for name in names if (part := multiverse.part(name)) is not None}


def _near(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what the universes beside the print tell: how many are nearest, one of them, and that of the defaults."""
    lines = frame.to_dict("records")
    decided = [f"{place}={options[0]}" for place, options in nearest(frame).items() if len(options) == 1]
    n_best = sum(line["rank"] == 1 for line in lines)
    ours = next((line for line in lines if line["by_default"]), None)
    return {"n": len(lines), "n_best": n_best, "best": lines[0], "ours": ours, "told": ", ".join(decided)}


def _first(found: dict[str, float], what: str) -> str:
    name, share = next(iter(found.items()), ("", 0.0))
    return f"{name} ({share:.0%} {what})" if share > 0 else ""
