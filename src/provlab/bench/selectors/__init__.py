"""Selectors of the benchmark outside provsel: those of scikit-learn and other packages, and short own ones.

Each orders the features in its own way. The order is computed once per fold, and all sizes and models share it. Random
methods have a fixed seed, so that there is one selection per fold. Packages of the extra "benchmark" are imported by
fits.
"""

from provlab.bench.selectors.bagged import BaggedSelector
from provlab.bench.selectors.filters import (
    CUR,
    HSIC,
    JMI,
    MRMR,
    ChiSquared,
    FarthestPoints,
    FTest,
    MultiSURF,
    MutualInformation,
    RankTest,
    ReliefF,
    ShrunkenCentroids,
)
from provlab.bench.selectors.models import (
    MCP,
    Boruta,
    ExtraTrees,
    FastCan,
    ForestRFE,
    ForwardRidge,
    L1LogisticPath,
    LeastAngles,
    PermutationImportance,
    StabilitySelection,
    SVMWeights,
)
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
    "CUR",
    "HSIC",
    "JMI",
    "MCP",
    "MRMR",
    "BaggedSelector",
    "BoostingGainSelector",
    "Boruta",
    "ChiSquared",
    "ExtraTrees",
    "ExtraTreesSelector",
    "FTest",
    "FarthestPoints",
    "FastCan",
    "FastCanSelector",
    "ForestRFE",
    "ForwardRidge",
    "L1LogisticPath",
    "L1PathSelector",
    "LeastAngles",
    "LeastAnglesSelector",
    "MCPPathSelector",
    "MultiSURF",
    "MutualInformation",
    "PermutationImportance",
    "RankTest",
    "ReliefF",
    "SVMWeights",
    "SVMWeightsSelector",
    "ShrunkenCentroids",
    "StabilitySelection",
]  # fmt: skip
