"""What `provsel readings` wrote about a paper, read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from provlab.claims.judged import claim_files
from provlab.claims.made_with import MadeWith
from provlab.documents import read_json
from provlab.readings.outcome import Outcome, print_file, universes_file
from provlab.readings.robustness import robustness_of
from provlab.readings.schema import DISTANCE, paper_readings
from provlab.readings.universes import Multiverse

NUMBERS = ("effect", "low", "high", "p_value", "n", "mean_effect")

AGAIN = "run provsel readings again."


def stored_outcome(paper: str, results: Path) -> Outcome | None:
    """Return what `provsel readings` wrote about a paper, but for `made`; None where it wrote nothing.

    Raises
    ------
    ValueError
        When the file does not fit the readings and claims as they are now.
    """
    path = universes_file(results / "readings" / paper)
    if not path.is_file():
        return None
    readings = paper_readings(paper)
    [file] = claim_files(paper)
    text = {place.id: str for place in readings.places} | dict.fromkeys(
        ("claim", "verdict", "part", "unit", "state"), str
    )
    try:
        frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={name: [""] for name in NUMBERS})
        later = [place.id for place in readings.places if place.id not in frame]  # which nobody has asked yet
        frame = frame.assign(**dict.fromkeys(later, ""))[[*text, *NUMBERS]].astype(dict.fromkeys(NUMBERS, float))
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"{path}: expected the columns {', '.join([*text, *NUMBERS])}, got {error}; {AGAIN}"
        ) from error
    claims = {claim.id: claim for claim in file.claims}
    if unknown := [*{*frame["claim"]} - {*claims}]:
        raise ValueError(f"{path}: expected claims of {paper}, got {unknown[0]!r:.80}; {AGAIN}")
    for place in readings.places:
        known = [option.name for option in place.options]
        if unknown := [*{*frame[place.id]} - {"", *known}]:
            raise ValueError(
                f"{path}: expected options of {place.id} ({', '.join(known)}), got {unknown[0]!r:.80}; {AGAIN}"
            )
    chosen = tuple(claims[name] for name in dict.fromkeys(frame["claim"]))
    multiverse = Multiverse(readings, chosen, file.claims)
    files = {name: print_file(path.parent, name) for name in dict.fromkeys(c.evaluator.artefact for c in chosen)}
    prints = {name: _prints(file, [*text]) for name, file in files.items() if file.is_file()}
    return Outcome(multiverse, frame, robustness_of(readings, frame), prints)


def stored_made(folder: Path) -> dict[str, MadeWith]:
    """Return what the readings of a paper were made with, by artefact, as `Outcome.write` stated it; empty without."""
    path = folder / "made.json"
    if not path.is_file():
        return {}
    stated = read_json(path)
    return {name: MadeWith.from_json(each, f"{path}: {name}") for name, each in stated.items()}


def _prints(path: Path, places: Sequence[str]) -> pd.DataFrame:
    try:
        frame = pd.read_csv(
            path, dtype=dict.fromkeys(places, str), keep_default_na=False, na_values={name: [""] for name in DISTANCE}
        )
        return frame.astype({"rank": int, "by_default": bool, "exact": int, "printed": int})
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: expected the universes of an artefact by rank, got {error}; {AGAIN}") from error
