"""Selectors of the benchmark outside provsel: those of scikit-learn and other packages, bagged ones, and tuned ones.

Packages of the extra "benchmark" are imported by fits.
"""

from provlab.bench.selectors.bagged import BaggedSelector
from provlab.bench.selectors.of_packages import (
    BoostingGainSelector,
    ExtraTreesSelector,
    FastCanSelector,
    L1PathSelector,
    LeastAnglesSelector,
    MCPPathSelector,
    SVMWeightsSelector,
)
from provlab.bench.selectors.tuned import TunedSelector

__all__ = [
    "BaggedSelector",
    "BoostingGainSelector",
    "ExtraTreesSelector",
    "FastCanSelector",
    "L1PathSelector",
    "LeastAnglesSelector",
    "MCPPathSelector",
    "SVMWeightsSelector",
    "TunedSelector",
]
