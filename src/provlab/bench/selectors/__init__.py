"""Selectors of the benchmark outside provsel: those of scikit-learn and other packages, and bagged ones.

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

__all__ = [
    "BaggedSelector",
    "BoostingGainSelector",
    "ExtraTreesSelector",
    "FastCanSelector",
    "L1PathSelector",
    "LeastAnglesSelector",
    "MCPPathSelector",
    "SVMWeightsSelector",
]
