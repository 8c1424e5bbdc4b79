"""Readings for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Column, Table
from rich.text import Text

from provlab.readings.prints import nearest
from provlab.readings.robustness import count_text
from provlab.readings.universes import Multiverse

if TYPE_CHECKING:
    from provlab.readings.outcome import Outcome

SHOWN = 5
"""Universes of a table of prints."""


def plan_text(multiverse: Multiverse) -> str:
    """Return which places there are, and how many universes."""
    numbers = [multiverse.n_universes(claim) for claim in multiverse.claims]
    each = " to ".join(str(n) for n in sorted({min(numbers), max(numbers)}))
    touching = {k for claim in multiverse.claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    options = ", ".join(f"{place.id} ({len(place.options)})" for place in places) or "none"
    return (
        f"{len(multiverse.claims)} claims, {each} universes each, {sum(numbers)} verdicts\n"
        f"open places and their options: {options}"
    )


def parts_text(multiverse: Multiverse) -> str:
    """Return what part of the data is used, a line an artefact."""
    parts = {name: multiverse.part(name) for name in multiverse.needed}
    return "".join(
        f"{name}: on a part of the data ({part.settings}): {part.why} All: --whole\n"
        for name, part in parts.items()
        if part is not None
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
        told = {place: options for place, options in nearest(frame).items() if frame[place].nunique() > 1}
        decided = [f"{place}={options[0]}" for place, options in told.items() if len(options) == 1]
        n_best = int((frame["rank"] == 1).sum())
        table = Table(
            "rank", *told, "as printed", "shared", "difference (sd)", "tau",
            title=f"{name}: {len(frame)} universes beside the print, {n_best} equally near; "
            f"the print tells {', '.join(decided) or 'nothing'}",
            title_justify="left",
        )  # fmt: skip
        for line in frame.head(SHOWN).to_dict("records"):
            numbers = [_number(line[column]) for column in ("shared", "difference", "tau")]
            places = [Text(str(line[place])) for place in told]
            table.add_row(str(line["rank"]), *places, f"{line['exact']} of {line['printed']}", *numbers)
        yield table


def _first(found: dict[str, float], what: str) -> str:
    name, share = next(iter(found.items()), ("", 0.0))
    return f"{name} ({share:.0%} {what})" if share > 0 else ""


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"
