"""All claims of the project, judged, as files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from provlab.claims.display import draw_rankings, ranking_frame
from provlab.claims.evidence import FOLD_COLUMNS, Evidence
from provlab.claims.schema import Claim, ClaimFile, load_claims
from provlab.claims.verdicts import RankingResult, Verdict, judge, rank, verdict_frame
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
            f"verify: expected claims of {paper or 'any paper'} in the project {current_project().root}, "
            f"got those of {', '.join(found) or 'none'}; run it in a project, and name one of its papers."
        )
    return [load_claims(found[paper])] if paper else all_claim_files()


def _paths() -> dict[str, Path]:
    files = {paper.name: paper.folder / "claims.yaml" for paper in papers().values()}
    return {name: path for name, path in sorted(files.items()) if path.is_file()}


def columns_read(claims: Iterable[Claim]) -> set[str]:
    """Return the columns of the records that some claims are about."""
    return {*FOLD_COLUMNS, *(name for claim in claims for name in claim.evaluator.reads)}


def judge_files(files: list[ClaimFile], evidence: Evidence) -> Judged:
    """Judge the claims of some papers on what is stored.

    Raises
    ------
    ValueError
        When the settings fit none of the artefacts.
    """
    verdicts = [verdict for file in files for verdict in judge(file.claims, evidence)]
    rankings = [ranking for file in files for ranking in rank(file.rankings, evidence)]
    evidence.raise_if_nothing_fits()
    return Judged(verdicts, rankings)
