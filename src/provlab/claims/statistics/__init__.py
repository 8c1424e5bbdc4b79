"""Statistics of the verdicts, each compared with SciPy's where SciPy has it."""

from provlab.claims.statistics._base import (
    POWER,
    AbstractPairedTest,
    Alternative,
    Side,
    observations_for_p,
    observations_needed,
)
from provlab.claims.statistics.dyadic_t import DyadicT
from provlab.claims.statistics.multiplicity import holm
from provlab.claims.statistics.rank_tests import falling_trend, more_than_p_value, rank_sum_p_value
from provlab.claims.statistics.ranking import Ranking, rank_methods
from provlab.claims.statistics.signed_rank import SignedRank
from provlab.claims.statistics.student import CorrectedT, DisjointT

__all__ = [
    "POWER", "AbstractPairedTest", "Alternative", "CorrectedT", "DisjointT", "DyadicT", "Ranking", "Side", "SignedRank",
    "falling_trend", "holm", "more_than_p_value", "observations_for_p", "observations_needed", "rank_methods",
    "rank_sum_p_value",
]  # fmt: skip
