"""Verdicts on published statements, judged on the stored panel under all readings.

The input is a paper of the project whose claims.yaml says `evidence: panel`, and the
stored panel. The output is results/PAPER, with one row per claim in verdicts.csv and
robustness.csv, and one row per claim and universe in universes.csv.gz.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from provlab.bench.panel import CARDS, stored_folder
from provlab.bench.stored_panel import read_panel, rounded
from provlab.bench.studies import tagged_trials
from provlab.core.tables import limited, write_frame
from provlab.project.messages import did_you_mean
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    DEPENDS_ON_READING,
    NO_DIFFERENCE,
    NOT_CONTRADICTED,
    NOT_RUN,
    REPLICATED,
)
from provlab.verdicts.claims.rules import DEPENDS as DEPENDS_ON_R
from provlab.verdicts.claims.schema import (
    BEYOND,
    PANEL,
    ClaimFile,
    claim_paths,
    read_content,
)
from provlab.verdicts.claims.table import TableEvidence
from provlab.verdicts.claims.verdicts import Verdict, judge_files, verdict_frame
from provlab.verdicts.panel_table import claims_on_panel, panel_table
from provlab.verdicts.readings.robustness import (
    Robustness,
    counted,
    read_robustness,
    robustness_frame,
    under_readings,
)
from provlab.verdicts.readings.schema import paper_readings
from provlab.verdicts.readings.study import (
    DIGITS,
    EFFECTS,
    ROBUSTNESS,
    UNIVERSES,
    Outcome,
    joined,
    read_outcome,
    texts,
)
from provlab.verdicts.readings.universes import Multiverse, judge_on_table

VERDICTS = "verdicts.csv"

HOLDS, FAILS, DEPENDS, OPEN, MISSING = (
    "holds",
    "does not hold",
    "depends on the reading",
    "undecided",
    "not run yet",
)

SAID = {
    REPLICATED: HOLDS, NOT_CONTRADICTED: HOLDS, CONTRADICTED: FAILS, NO_DIFFERENCE: FAILS,
    DEPENDS_ON_R: DEPENDS, DEPENDS_ON_READING: DEPENDS, NOT_RUN: MISSING,
}  # fmt: skip
"""Outcome shown to readers for a verdict under all readings; other verdicts are shown as `OPEN`."""


def stored_table() -> pd.DataFrame:
    """Return the stored panel and its studies as the table on which statements are judged."""
    return panel_table(
        read_panel(), pd.read_csv(stored_folder() / CARDS), tagged_trials()
    )


def write_panel_table(path: Path) -> None:
    """Write `stored_table` as Parquet or CSV, depending on the file suffix."""
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(
            f"--panel: expected a file ending in .csv or .parquet, got {path}."
        )
    table = stored_table()
    if path.suffix == ".csv":
        write_frame(table, path)
    else:
        table.to_parquet(path, index=False)


def is_about_panel(paper: str | None) -> bool:
    """Return whether the claims of a paper of the project are judged on the panel."""
    return paper in claim_paths(PANEL)


def judge_statements(paper: str, folder: Path) -> list[Verdict]:
    """Judge each statement of a paper on the stored panel, write verdicts.csv, and return the verdicts."""
    file, evidence = _read(paper)
    verdicts, _ = judge_files([file], evidence)
    write_frame(verdict_frame(verdicts), folder / VERDICTS)
    return verdicts


def readings_of_statements(
    paper: str, claims: Sequence[str] = ()
) -> tuple[Multiverse, TableEvidence]:
    """Return the universes of the statements, and their table.

    If strings are given, only statements whose id contains one of them are included.

    Raises
    ------
    ValueError
        If no statement has such an id.
    """
    file, evidence = _read(paper)
    chosen = [
        claim
        for claim in file.claims
        if not claims or any(text in claim.id for text in claims)
    ]
    if not chosen:
        hint = did_you_mean(claims[0], [claim.id for claim in file.claims]) or "."
        raise ValueError(
            f"readings of {paper}: expected claims with {' or '.join(claims)} in the id, got none{hint}"
        )
    return Multiverse(paper_readings(paper), chosen, file.claims), evidence


def traced(paper: str, folder: Path) -> tuple[list[Verdict], Outcome | None]:
    """Return the verdicts on the statements of a paper with their evidence, and their readings stored in a folder."""
    file, evidence = _read(paper)
    verdicts, _ = judge_files([file], evidence)
    path = folder / f"{UNIVERSES}.gz"
    if not path.is_file():
        return verdicts, None
    return verdicts, read_outcome(path, file)


def judge_readings(
    multiverse: Multiverse, evidence: TableEvidence, folder: Path
) -> Outcome:
    """Judge all universes, write robustness.csv and universes.csv.gz, keeping rows of other claims, and return them."""
    outcome = Outcome(multiverse, judge_on_table(multiverse, evidence), {}, {})
    universes = outcome.universes.copy()
    for name in EFFECTS:
        universes[name] = rounded(universes[name], DIGITS)
    order = [claim.id for claim in multiverse.family]
    frames = {
        f"{UNIVERSES}.gz": universes,
        ROBUSTNESS: robustness_frame(outcome.robustness),
    }
    for name, frame in frames.items():
        path = folder / name
        old = texts(path) if path.is_file() else frame.head(0)
        write_frame(joined(old, frame, "claim", order), path)
    return outcome


def statement_frame(paper: str, folder: Path) -> pd.DataFrame:
    """Return one row per statement, in the order of the file, from the results in a folder.

    Returns
    -------
    DataFrame
        id; theme; the texts claim, asked, left_out and seen; citation and read of the
        publication; own and beyond, the outcomes of `SAID` on the kind of data of the
        paper and elsewhere, "" if not tested; effect, that of the deciding part with
        its interval and n, and detectable, see `Finding`, both in words; and readings,
        the shares of verdicts in words.
    """
    content = read_content(claim_paths(PANEL)[paper])
    verdicts = pd.read_csv(folder / VERDICTS, keep_default_na=False).set_index("id")
    robustness = read_robustness(folder)
    lines = []
    for entry in content.claims:
        work = content.works[entry.id.split(".")[1]]
        line = verdicts.loc[entry.id]
        elsewhere = entry.id + BEYOND
        lines.append({
            "id": entry.id,
            "theme": entry.notes["theme"],
            "claim": entry.claim,
            "asked": entry.notes["asked"],
            "left_out": entry.notes["left out"],
            "seen": entry.notes.get("seen", ""),
            "citation": work.citation,
            "read": entry.notes.get("mark", work.read),
            "own": _said(entry.id, verdicts, robustness),
            "beyond": _said(elsewhere, verdicts, robustness) if entry.beyond else "",
            "effect": _effect(line),
            "detectable": _detectable(line["detectable"]),
            "readings": under_readings(entry.id, robustness),
        })  # fmt: skip
    return pd.DataFrame(lines)


def _effect(line: pd.Series) -> str:
    """Return the effect of the deciding part with its interval, unit and n; "" if nothing was measured."""
    if line["effect"] == "":
        return ""
    effect, low, high = (float(line[name]) for name in ("effect", "low", "high"))
    interval = f" [{low:.3g}, {high:.3g}]" if limited(low, high) else ""
    return f"{effect:.3g}{interval} {line['unit']}, n = {line['n']}"


def _detectable(difference: str) -> str:
    """Return the detectable difference, or "nothing" if the data are too few for the test; "" if it was decided."""
    if difference == "":
        return ""
    return f"{float(difference):.3g}" if limited(float(difference)) else "nothing"


def _said(
    claim: str, verdicts: pd.DataFrame, robustness: Mapping[str, Robustness]
) -> str:
    verdict = counted(claim, verdicts.at[claim, "verdict"], robustness)
    return SAID.get(verdict, OPEN)


def _read(paper: str) -> tuple[ClaimFile, TableEvidence]:
    return claims_on_panel(claim_paths(PANEL)[paper], stored_table())
