"""Executable claims: each claim of a paper is an entry with a rule, and `provsel verify` gives its verdict."""

from provlab.claims.ranking import rank
from provlab.claims.rules import (
    CONTRADICTED,
    DECIDED,
    DEPENDS,
    DEPENDS_ON_READING,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_CONTRADICTED,
    NOT_RUN,
    NOT_TESTABLE,
    REPLICATED,
    VACUOUS,
    VERDICTS,
    Finding,
)
from provlab.claims.schema import Claim, ClaimFile, RankingRequest, load_claims
from provlab.claims.stored import Evidence
from provlab.claims.verdicts import Verdict, judge, verdict_frame

__all__ = [
    "CONTRADICTED", "DECIDED", "DEPENDS", "DEPENDS_ON_READING", "INCONCLUSIVE", "NOT_CONTRADICTED", "NOT_RUN",
    "NOT_TESTABLE", "NO_DIFFERENCE", "REPLICATED", "VACUOUS", "VERDICTS", "Claim", "ClaimFile", "Evidence", "Finding",
    "RankingRequest", "Verdict", "judge", "load_claims", "rank", "verdict_frame",
]  # fmt: skip
