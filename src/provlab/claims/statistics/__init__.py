"""Statistics of the verdicts: SciPy where it has a test, our own where it has none."""

from provlab.claims.statistics._base import (
    AbstractPairedTest,
    Alternative,
    Side,
    observations_for_p,
    observations_needed,
)
from provlab.claims.statistics.dyadic_t import DyadicT
from provlab.claims.statistics.multiplicity import holm
from provlab.claims.statistics.ranking import Ranking, rank_methods
from provlab.claims.statistics.signed_rank import SignedRank
from provlab.claims.statistics.student import CorrectedT, DisjointT

__all__ = [
    "AbstractPairedTest", "Alternative", "CorrectedT", "DisjointT", "DyadicT", "Ranking", "Side", "SignedRank", "holm",
    "observations_for_p", "observations_needed", "rank_methods",
]  # fmt: skip
