"""The readings in the reference: what `provsel readings` wrote, one artefact at a time."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from provlab.claims.judged import all_claim_files
from provlab.claims.made_with import MadeWith
from provlab.readings import print_file, readings_changes, stored_made, stored_outcome, trials_file, universes_file
from provlab.readings.letter import write_letter
from provlab.reference.contents import joined
from provlab.tables import write_frame

log = logging.getLogger(__name__)

READINGS, LETTER = "readings", "letter.md"

DIGITS = 6
"""Significant digits of the effects, intervals and p-values of universes."""


def join_readings(
    folder: Path, target: Path, old: Mapping[str, MadeWith], results: Path, names: Sequence[str]
) -> dict[str, MadeWith]:
    """Write the readings of `results` into a folder, beside those of `target` about other artefacts.

    Parameters
    ----------
    folder, target : path
        The new and the old reference.
    old : mapping
        What the readings of `target` were made with, by artefact.
    results : path
    names : sequence of str
        Artefacts whose readings are written; all, where there are none.

    Returns
    -------
    dict
        As `old`, of what is there then.
    """
    new: dict[str, MadeWith] = {}
    for path in sorted((results / READINGS).glob("*/made.json")):
        new |= {name: each for name, each in stored_made(path.parent).items() if not names or name in names}
    files = {file.paper: file for file in all_claim_files()}
    kept = {name: each for name, each in old.items() if name not in new and name.partition("/")[0] in files}
    made = {**kept, **new}
    for paper in dict.fromkeys(name.partition("/")[0] for name in sorted(made)):
        about = {claim.id: claim.evaluator.artefact for claim in files[paper].claims}
        here = folder / READINGS / paper
        here.mkdir(parents=True)
        sources = [(target / READINGS / paper, kept), (results / READINGS / paper, new)]
        universes = [_lines(universes_file(source), about, chosen) for source, chosen in sources]
        write_frame(_rounded(_joined(universes, about)), here / "universes.csv.gz")
        robust = [_lines(source / "robustness.csv", about, chosen) for source, chosen in sources]
        write_frame(_joined(robust, about), here / "robustness.csv")
        for source, chosen in sources:
            for name in chosen:
                for place in (print_file, trials_file):
                    if name.startswith(f"{paper}/") and (path := place(source, name)).is_file():
                        place(here, name).write_bytes(path.read_bytes())
        letter = target / READINGS / paper / LETTER
        if letter.is_file() and not any(name.startswith(f"{paper}/") for name in new):
            (here / LETTER).write_bytes(letter.read_bytes())  # a new one would state the data that are read now
        else:
            _letter(paper, folder, kept)
    return dict(sorted(made.items()))


def _lines(path: Path, about: Mapping[str, str], chosen: Mapping[str, MadeWith]) -> pd.DataFrame:
    """Return the lines of a table that are about some artefacts, as text."""
    if not path.is_file():
        return pd.DataFrame(columns=["claim"])
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame[[about.get(claim) in chosen for claim in frame["claim"]]]


def _joined(tables: Sequence[pd.DataFrame], about: Mapping[str, str]) -> pd.DataFrame:
    old, new = tables
    return joined(old, new, "claim", about) if len(new) else old


def _rounded(universes: pd.DataFrame) -> pd.DataFrame:
    """Return verdicts with numbers of `DIGITS` digits, which take half of the space."""
    numbers = universes.columns.intersection(["effect", "low", "high", "p_value", "mean_effect"])
    return universes.assign(**{name: universes[name].map(_shortened) for name in numbers})


def _shortened(number: str) -> str:
    return f"{float(number):.{DIGITS}g}" if number else number


def _letter(paper: str, folder: Path, kept: Mapping[str, MadeWith]) -> None:
    """Write the letter to the authors on what is there, but for what was kept and is not as the code is."""
    try:
        outcome = stored_outcome(paper, folder)
    except ValueError as error:  # lines of other readings than now, which the README says as well
        log.warning("reference: no letter on %s: %s", paper, error)
        return
    if outcome is None:
        return
    of_before = [
        name for name, made in sorted(kept.items()) if name.startswith(f"{paper}/") and readings_changes(name, made)
    ]
    write_letter(outcome.without(of_before), folder / READINGS / paper / LETTER, of_before)
