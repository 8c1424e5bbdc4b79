"""Selectors of the benchmark outside provsel: bagged and tuned ones, and those of scikit-learn and other packages.

The packages of the extra "benchmark" are imported when a selector is fitted.
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
