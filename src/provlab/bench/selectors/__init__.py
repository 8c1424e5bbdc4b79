"""Selectors of the benchmark outside provsel: those of scikit-learn and other packages, and short own ones.

Each orders the features in its own way. The order is computed once per fold, and all sizes and models share it. Random
methods have a fixed seed, so that there is one selection per fold. Packages of the extra "benchmark" are imported by
fits.
"""

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

__all__ = [
    "CUR", "HSIC", "JMI", "MCP", "MRMR", "Boruta", "ChiSquared", "ExtraTrees", "FTest", "FarthestPoints", "FastCan",
    "ForestRFE", "ForwardRidge", "L1LogisticPath", "LeastAngles", "MultiSURF", "MutualInformation",
    "PermutationImportance", "RankTest", "ReliefF", "SVMWeights", "ShrunkenCentroids", "StabilitySelection",
]  # fmt: skip
