"""Statistics of the verdicts: SciPy where it has a test, our own where it has none."""

from provsel.claims.statistics._base import AbstractPairedTest, equivalence_p_value
from provsel.claims.statistics.corrected_t import CorrectedT
from provsel.claims.statistics.multiplicity import holm
from provsel.claims.statistics.ranking import Ranking, rank_methods
from provsel.claims.statistics.signed_rank import SignedRank

__all__ = ["AbstractPairedTest", "CorrectedT", "Ranking", "SignedRank", "equivalence_p_value", "holm", "rank_methods"]
