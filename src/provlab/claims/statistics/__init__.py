"""Statistics of the verdicts: SciPy where it has a test, our own where it has none."""

from provlab.claims.statistics._base import AbstractPairedTest, equivalence_p_value
from provlab.claims.statistics.corrected_t import CorrectedT
from provlab.claims.statistics.multiplicity import holm
from provlab.claims.statistics.ranking import Ranking, rank_methods
from provlab.claims.statistics.signed_rank import SignedRank

__all__ = ["AbstractPairedTest", "CorrectedT", "Ranking", "SignedRank", "equivalence_p_value", "holm", "rank_methods"]
