"""Executable claims: each claim of a paper is an entry with a rule, and `provsel verify` gives its verdict."""

from provlab.claims.ranking import RankingResult, rank
from provlab.claims.rules import (
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_RUN,
    REPLICATED,
    VACUOUS,
    VERDICTS,
    Finding,
)
from provlab.claims.schema import Claim, ClaimFile, RankingRequest, load_claims
from provlab.claims.stored import Evidence
from provlab.claims.verdicts import Verdict, judge, verdict_frame

__all__ = [
    "CONTRADICTED", "DEPENDS", "INCONCLUSIVE", "NOT_RUN", "NO_DIFFERENCE", "REPLICATED", "VACUOUS", "VERDICTS", "Claim",
    "ClaimFile", "Evidence", "Finding", "RankingRequest", "RankingResult", "Verdict", "judge", "load_claims", "rank",
    "verdict_frame",
]  # fmt: skip
