"""Selectors of the benchmark that are not provsel's: scikit-learn's, those of other packages, and short ones of ours.

Each is one way to order the features. The order is made once a fold, and all sizes and models share it. What chance
there is has a fixed seed, so that this is one selection a fold. Packages of the extra "benchmark" are imported by fits.
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
