"""All claims of the project, judged, as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provlab.claims.display import draw_rankings, ranking_frame
from provlab.claims.evidence import FOLD_COLUMNS
from provlab.claims.pairing import AbstractEvidence
from provlab.claims.schema import Claim, ClaimFile, load_claims, stated_results
from provlab.claims.table import ResultTable
from provlab.claims.table_evidence import TableEvidence
from provlab.claims.verdicts import RankingResult, Verdict, judge, rank, read_selections, verdict_frame
from provlab.nearest import did_you_mean
from provlab.project import current_project, papers
from provlab.reports.tables import write_frame


@dataclass(frozen=True)
class Judged:
    """Verdicts and rankings of some papers."""

    verdicts: list[Verdict]
    rankings: list[RankingResult]

    def write(self, folder: Path) -> None:
        """Write verdicts.csv and rankings.csv."""
        write_frame(verdict_frame(self.verdicts), folder / "verdicts.csv")
        write_frame(ranking_frame(self.rankings), folder / "rankings.csv")

    def draw(self, folder: Path) -> None:
        """Draw the rankings, as figures/<paper>/critical_difference_*."""
        draw_rankings(self.rankings, folder / "figures")


def all_claim_files() -> list[ClaimFile]:
    """Return the claims of all papers; none outside a project."""
    return [load_claims(path) for path in _paths().values()]


def claim_files(paper: str | None = None) -> list[ClaimFile]:
    """Return the claims of one paper, or of all.

    Raises
    ------
    ValueError
        When there are none: outside a project, or for an unknown paper.
    """
    found = _paths()
    if not found or paper not in (None, *found):
        raise ValueError(
            f"claims: expected those of {paper or 'any paper'} in the project {current_project().root}, "
            f"got {', '.join(found) or 'none'}; run it in a project, and name one of its papers"
            + (did_you_mean(paper or "", found) or ".")
        )
    return [load_claims(found[paper])] if paper else all_claim_files()


def _paths() -> dict[str, Path]:
    files = {paper.name: paper.folder / "claims.yaml" for paper in papers().values()}
    return {name: path for name, path in sorted(files.items()) if path.is_file()}


def columns_read(claims: Iterable[Claim]) -> set[str]:
    """Return the columns of the records that some claims are about."""
    return {*FOLD_COLUMNS, *(name for claim in claims for name in claim.evaluator.reads)}


def judge_files(files: list[ClaimFile], evidence: AbstractEvidence) -> Judged:
    """Judge the claims of some papers on what is stored, or on a table of results."""
    read_selections([claim for file in files for claim in file.claims], evidence)
    verdicts = [verdict for file in files for verdict in judge(file.claims, evidence)]
    rankings = [ranking for file in files for ranking in rank(file.rankings, evidence)]
    return Judged(verdicts, rankings)


def judge_table(results: Path, claims: Path, roles: Mapping[str, Any]) -> Judged:
    """Judge a file of claims on a table of results, of any origin.

    Parameters
    ----------
    results : Path
        CSV, TSV or Parquet.
    claims : Path
    roles : mapping
        What the columns are, beside and before what the file of claims says: see `provlab.claims.table`.

    Raises
    ------
    ValueError
        When either file is not as it should be, or they do not fit each other.
    """
    table = ResultTable.read(results, {**stated_results(claims), **roles})
    file = load_claims(claims, table)
    tests = [claim.evaluator for claim in file.claims]
    about = {place[0] for test in tests for place in test.places(test.columns)}
    if len(about) > 1 and "artefact" not in table.named:
        raise ValueError(
            f"{claims}: expected claims about one artefact, as {results} does not tell several apart, got "
            f"{', '.join(sorted(about))}; name the column that does: --column artefact=NAME."
        )
    return judge_files([file], TableEvidence(table))
