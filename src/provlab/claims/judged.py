"""All claims of the project, judged, as files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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
from provlab.messages import did_you_mean
from provlab.project import current_project, papers
from provlab.tables import write_frame


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


def artefacts_of(claim: Claim) -> frozenset[str]:
    """Return the artefacts that a claim rests on."""
    test = claim.evaluator
    return frozenset(place[0] for place in test.places((*test.columns, *test.also)))


def claims_about(names: Collection[str], files: Iterable[ClaimFile]) -> list[Claim]:
    """Return the claims that rest on some artefacts, alone or with others."""
    return [claim for file in files for claim in file.claims if artefacts_of(claim) & set(names)]


def judge_files(files: Iterable[ClaimFile], evidence: AbstractEvidence, about: Collection[str] | None = None) -> Judged:
    """Judge the claims of some papers on what is stored, or on a table of results.

    Parameters
    ----------
    files : iterable of ClaimFile
    evidence : AbstractEvidence
    about : collection of str, optional
        Artefacts: only claims that rest on one of these, and only rankings of these. Corrections for many comparisons
        refer to all claims even so.
    """
    chosen = [(file, file.claims if about is None else claims_about(about, [file])) for file in files]
    read_selections([claim for _, claims in chosen for claim in claims], evidence)
    verdicts: list[Verdict] = []
    rankings: list[RankingResult] = []
    for file, claims in chosen:
        verdicts += judge(claims, evidence, file.claims)
        rankings += rank([each for each in file.rankings if about is None or each.artefact in about], evidence)
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
