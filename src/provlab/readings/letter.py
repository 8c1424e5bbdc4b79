"""One page to the authors of a paper: which reading gives what they print, what none gives, and what is left to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from provlab.claims import CONTRADICTED, NOT_RUN, REPLICATED
from provlab.project import papers
from provlab.readings.prints import nearest
from provlab.readings.robustness import Robustness
from provlab.tables import escape_markdown, write_text

if TYPE_CHECKING:
    from provlab.readings.outcome import Outcome

MOST = 6
"""Claims, or questions, that a paragraph lists."""


def write_letter(outcome: Outcome, path: Path, left_out: Sequence[str] = ()) -> str:
    """Write the letter as Markdown, and return it; all numbers are those of the outcome.

    Parameters
    ----------
    outcome : Outcome
    path : Path
    left_out : sequence of str
        Artefacts of whose claims the letter says that they are not in it.
    """
    text = "\n\n".join(_paragraphs(outcome, left_out)) + "\n"
    write_text(path, text)
    return text


def _paragraphs(outcome: Outcome, left_out: Sequence[str]) -> Iterator[str]:
    readings, asked = outcome.multiverse.readings, [made for made in outcome.robustness if made.n_run]
    found = [made for made in asked if made.n_universes > 1]
    yield f"# To the authors of {escape_markdown(papers()[readings.paper].title)}"
    n_run, n_all = (sum(getattr(made, name) for made in found) for name in ("n_run", "n_universes"))
    verdicts = f"{n_run} verdicts in all" if n_run == n_all else f"{n_run} of {n_all} verdicts so far"
    yield (
        f"We replicate your experiments from the paper's text. Where it can be read in more than one way we ran each "
        f"defensible reading: {len(readings.places)} open places, {len(found)} of your claims, {verdicts}."
        f"{_parts(outcome)}"
    )
    if one := [made.default for made in asked if made.n_universes == 1]:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(one).most_common())
        yield f"Of what has one reading only, as it names one or is open in no place: {counts}."
    if left_out:
        names = escape_markdown(", ".join(left_out))
        yield f"Not in this letter: {names}, whose readings, data or methods have changed since they were computed."
    always = [made for made in found if made.shares.get(REPLICATED, 0) == 1]
    never = [made for made in found if made.shares.get(CONTRADICTED, 0) == 1]
    turned = [made for made in found if len(made.shares) > 1]
    yield f"**Holds however we read you** ({len(always)} of {len(found)} claims).{_listed(outcome, always)}"
    yield f"**Contradicted however we read you** ({len(never)}).{_listed(outcome, never)}"
    yield f"**Depends on the reading** ({len(turned)})."
    if turned:
        yield "\n".join(_turned(outcome, made) for made in sorted(turned, key=_sameness)[:MOST])
    if tables := [line for name in outcome.prints for line in _print(outcome, name)]:
        yield "**Your printed numbers.**"
        yield "\n".join(tables)
    yield "**What we would ask you.** Of the open places, those that turn most verdicts:"
    yield "\n".join(_questions(outcome, found)) or "- none"


def _parts(outcome: Outcome) -> str:
    parts = {name: outcome.multiverse.part(name) for name in outcome.multiverse.needed}
    named = [f"{name}: {part.why}" for name, part in parts.items() if part is not None]
    return f" On a part of the data, chosen beforehand: {escape_markdown(' '.join(named))}" if named else ""


def _listed(outcome: Outcome, found: list[Robustness]) -> str:
    texts = [outcome.claims[made.claim].text for made in found[:MOST]]
    more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
    return "".join(f"\n- {escape_markdown(text)}" for text in [*texts, *more])


def _turned(outcome: Outcome, made: Robustness) -> str:
    shares = ", ".join(f"{share:.0%} {verdict}" for verdict, share in made.shares.items())
    flip = f"; with {made.flips[0].text()} it is {made.flips[0].verdict}" if made.flips else ""
    default = made.default.capitalize() if made.default != NOT_RUN else "Not run by default"
    text = f"{outcome.claims[made.claim].text} {default} as we read it by default{flip}. Over {made.n_run} readings: "
    return f"- {escape_markdown(text + shares)}."


def _print(outcome: Outcome, name: str) -> Iterator[str]:
    frame = outcome.prints[name]
    if frame.empty:
        return
    best = frame[frame["rank"] == 1]
    told = {place: options for place, options in nearest(frame).items() if frame[place].nunique() > 1}
    decided = ", ".join(f"{place}={options[0]}" for place, options in told.items() if len(options) == 1)
    first, ours = best.iloc[0], frame[frame["by_default"]]
    near = "one is nearest to the print" if len(best) == 1 else f"{len(best)} are equally near to the print"
    likeness = f"{first['exact']} of {first['printed']} cells exactly as printed{_by_default(ours, 'exact', 'd')}"
    if first["shared"] == first["shared"]:
        likeness += f" and {first['shared']:.0%} of the listed items{_by_default(ours, 'shared', '.0%')}"
    if first["difference"] == first["difference"]:
        likeness += f", on average {first['difference']:.2f} standard deviations from the printed number"
        likeness += _by_default(ours, "difference", ".2f")
    text = f"{name}: of {len(frame)} universes, {near}, with {likeness}. "
    text += f"The print tells {decided}." if len(best) == 1 else f"They agree on {decided or 'no place'}."
    yield f"- {escape_markdown(text)}"


def _by_default(ours: pd.DataFrame, column: str, form: str) -> str:
    return f" (our defaults: {ours[column].iloc[0]:{form}})" if len(ours) else ""


def _questions(outcome: Outcome, found: list[Robustness]) -> Iterator[str]:
    turned = [
        (place, sum(made.turns.get(place.id, 0) > 0 for made in found)) for place in outcome.multiverse.readings.places
    ]
    asked = sorted(((place, n) for place, n in turned if n), key=lambda item: -item[1])
    for place, n in asked[:MOST]:
        tried = f"{place.where}; we tried {'; '.join(option.name for option in place.options)}"
        yield f"- {escape_markdown(f'{place.asks} ({tried}). It turns {n} of the claims.')}"
    if left := [f"{place.id} ({n})" for place, n in asked[MOST:]]:
        yield f"- Less depends on {escape_markdown(', '.join(left))}."


def _sameness(made: Robustness) -> float:
    return made.same if made.same == made.same else 0.0  # not run by default: NaN
