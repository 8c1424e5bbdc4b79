"""The README of the reference: what there is, what it cost, and what of it is older than the code."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from provlab.claims import INCONCLUSIVE, NOT_RUN, VERDICTS
from provlab.claims.judged import all_claim_files
from provlab.claims.made_with import MadeWith
from provlab.reference.contents import Contents
from provlab.reference.goals import goals_table
from provlab.tables import markdown_table, write_text

README = "README.md"
AS_NOW = "as the code is"


def write_readme(folder: Path) -> bool:
    """Write README.md of a folder of reference results, as the code is now, and return whether that changed it."""
    path, text = folder / README, readme(Contents.read(folder))
    changed = not path.is_file() or path.read_text(encoding="utf-8") != text
    if changed:
        write_text(path, text)
    return changed


def readme(contents: Contents) -> str:
    """Return the README of some contents, compared with the code as it is now."""
    made = {name: part.made for name, part in contents.parts.items()}
    summary = contents.as_json()
    note = (
        f"{summary['trials']} trials, {summary['cpu_hours']:.1f} CPU hours, counted for each artefact; those that "
        f"artefacts share are computed once."
    )
    absent, waiting = contents.absent(), contents.without_verdict()
    paragraphs = [
        "# Reference results",
        "What runs at full size gave, written by `provsel reference`, one artefact at a time: tables (CSV, Markdown), "
        "figures (SVG), `verdicts.csv`, `rankings.csv`, `readings/`, what `provsel readings` found, with the numbers "
        "of its trials where they are small (`provsel readings PAPER --packed results/reference` goes on from there), "
        "and `sample/`, some records of trials on synthetic data, which the tests compute again. `summary.json` has "
        "for each artefact what its part was made with: rules of verdicts, versions of algorithms, SHA-256 of all "
        "cells, environments, revisions, CPU hours, states of certificates.",
        "This page compares these statements with the code: `provsel reference --texts` writes it, and nothing here is "
        "edited by hand.",
        *([f"Not here yet: {', '.join(absent)}."] if absent else []),
        *([f"Claims without a verdict yet: {', '.join(waiting)}."] if waiting else []),
        _table("Artefacts", made, contents.changes(), note),
        *([_table("Readings", contents.readings, _of_readings(contents), "")] if contents.readings else []),
        _verdicts(contents),
        *_open_claims(contents),
        *goals_table(contents.benchmarks),
    ]
    return "\n\n".join(text.strip() for text in paragraphs) + "\n"


def _table(caption: str, made: Mapping[str, MadeWith], changes: Mapping[str, list[str]], note: str) -> str:
    rows = [
        [name, str(each.trials), f"{each.cpu_hours:.2f}", each.written, "; ".join(changes[name]) or AS_NOW]
        for name, each in made.items()
    ]
    return markdown_table(["artefact", "trials", "CPU hours", "written", "compared with the code"], rows, caption, note)


def _of_readings(contents: Contents) -> dict[str, list[str]]:
    """Return what has changed since the readings of each artefact were computed, and how many are not yet."""
    said = contents.changes_of_readings()
    for name, (run, planned) in contents.judged.items():
        if name in said and run < planned:
            said[name] = [*(said[name] or [AS_NOW]), f"so far {run:,} verdicts of {planned:,}"]
    return said


def _verdicts(contents: Contents) -> str:
    """Return the table of the papers' own claims; those without a line have not been run."""
    known, counts = {*contents.verdicts["id"]}, contents.totals()
    for file in all_claim_files():
        of_paper = counts.setdefault(file.paper, dict.fromkeys(VERDICTS, 0))
        of_paper[NOT_RUN] += sum(claim.kind == "paper" and claim.id not in known for claim in file.claims)
    rows = [[paper, *(of_paper[verdict] for verdict in VERDICTS)] for paper, of_paper in counts.items()]
    return markdown_table(["paper", *VERDICTS], rows, "Verdicts on the papers' own claims")


def _open_claims(contents: Contents) -> list[str]:
    """Return a table a paper of the claims that are inconclusive."""
    rows = defaultdict[str, list[list[str]]](list)
    for line in contents.verdicts.to_dict("records"):
        if line["verdict"] == INCONCLUSIVE:
            needed = float(line["needed"] or "nan")
            size = "" if math.isnan(needed) else "no n" if math.isinf(needed) else f"{needed:.0f}"
            rows[line["paper"]].append([line["id"], line["n"], size])
    note = "n needed: with it the test has a power of 0.9, were the effect the one observed."
    return [
        markdown_table(["claim", "n", "n needed"], found, f"Open claims of {paper}", note)
        for paper, found in rows.items()
    ]
