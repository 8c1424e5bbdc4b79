"""The page *What the field says*: published statements by theme, with the evidence of the benchmark."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from provlab.bench.statements import (
    DEPENDS,
    FAILS,
    HOLDS,
    MISSING,
    OPEN,
    statement_frame,
)
from provlab.report.figures.statements import draw_statements
from provlab.report.templating import Site
from provlab.verdicts.claims.schema import PANEL, Untested, claim_paths, read_content
from provlab.verdicts.readings.robustness import read_robustness

TITLE = "What the field says"

THEMES = (
    "accuracy",
    "stability",
    "relevant features",
    "cost",
    "selection helps",
    "evaluation",
)

OUTCOMES = (HOLDS, FAILS, DEPENDS, OPEN, MISSING)


def write_field(site: Site, folder: Path) -> list[str]:
    """Write a page for each paper of statements that has stored verdicts, and return the URLs."""
    pages = []
    for paper in claim_paths(PANEL):
        if not (folder / paper / "verdicts.csv").is_file():
            continue
        frame = statement_frame(paper, folder / paper)
        (site.folder / "benchmark").mkdir(exist_ok=True)
        figures = draw_statements(
            shares_of(frame, folder / paper), site.folder / "benchmark" / paper
        )
        pages.append(statements_page(paper))
        site.write(
            pages[-1], "statements.html", TITLE, "benchmark", TITLE,
            above=[("Benchmark", "benchmark/index.html")], summary=summary(frame), frame=frame, themes=by_theme(frame),
            not_testable=not_testable(paper), figures=[path.relative_to(site.folder).as_posix() for path in figures],
        )  # fmt: skip
    return pages


def statements_page(paper: str) -> str:
    """Return the address of the page of a paper's statements."""
    return f"benchmark/{paper}.html"


def draw_field(paper: str, folder: Path) -> None:
    """Draw the verdicts on a paper's statements under their readings as statements.svg, beside its results."""
    draw_statements(
        shares_of(statement_frame(paper, folder), folder), folder / "statements"
    )


def by_theme(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the statements of each theme, tested ones first."""
    ordered = frame.sort_values(
        "own", key=lambda said: said.map(OUTCOMES.index), kind="stable"
    )
    return {theme: ordered[ordered["theme"] == theme] for theme in THEMES}


def not_testable(paper: str) -> tuple[Untested, ...]:
    """Return the statements that cannot be tested, with the reason."""
    return read_content(claim_paths(PANEL)[paper]).not_testable


def shares_of(frame: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return the shares of verdicts of the tested statements, ordered by theme and indexed by the end of the id."""
    robustness = read_robustness(folder)
    shares = {}
    for of_theme in by_theme(frame).values():
        for name in of_theme["id"]:
            if name in robustness:
                shares[name.partition(".")[2]] = robustness[name].shares
    return pd.DataFrame.from_dict(shares, orient="index")


def summary(frame: pd.DataFrame) -> str:
    """Return a paragraph with the number of statements per outcome."""
    n_works = frame["citation"].nunique()
    n_run = int((frame["own"] != MISSING).sum())
    counts = frame["own"].value_counts()
    parts = [
        f"{counts.get(outcome, 0)} {_verb(outcome, counts.get(outcome, 0))}"
        for outcome in OUTCOMES[:-1]
    ]
    text = (
        f"{len(frame)} statements of {n_works} publications were recorded with their questions, margins and "
        f"readings before they were tested. The benchmark can test {n_run} of them as it is: "
        f"{', '.join(parts[:-1])}, and {parts[-1]}."
    )
    elsewhere = frame[(frame["beyond"] != "") & (frame["own"] == HOLDS)]
    if len(elsewhere):
        n_beyond = int((elsewhere["beyond"] == HOLDS).sum())
        text += f" Of {len(elsewhere)} that hold on the data that their paper is about and were tested elsewhere, "
        text += f"{n_beyond} hold{'s' * (n_beyond == 1)} there as well."
    return text


def _verb(outcome: str, n: int) -> str:
    """Return an outcome as a verb phrase about n statements."""
    if n == 1:
        return f"is {outcome}" if outcome == OPEN else outcome
    plurals = {
        HOLDS: "hold",
        FAILS: "do not hold",
        DEPENDS: "depend on the reading",
        OPEN: "are undecided",
    }
    return plurals.get(outcome, outcome)
