"""Certificates: measured properties of a selection or a compression, with the guarantees of its theorems.

A theorem is declared by naming its columns. Kernels, models and scikit-learn are
imported only when a theorem is measured, because the laboratory reads the declarations
for every command.
"""

from provsel.certificates.certificate import Certificate
from provsel.certificates.certifying import certify, certify_compression
from provsel.certificates.clustering import (
    ClusteringCost,
    ClusteringRatio,
    PartitionCost,
)
from provsel.certificates.compression import (
    CompressedRecovery,
    FeatureSelectiveRecovery,
)
from provsel.certificates.margin import MarginPreservation, SoftMarginBound
from provsel.certificates.online_scores import (
    OnlineFeatureCount,
    OnlineScoreSum,
    StreamMemory,
)
from provsel.certificates.radius import RadiusPreservation, radius_margin_bound
from provsel.certificates.ridge import RidgeSparsification
from provsel.certificates.ridge_regression import (
    RidgeRegressionCost,
    RidgeRegressionRisk,
)
from provsel.certificates.spectral import SpectralSparsification
from provsel.certificates.stability import FalseSelections
from provsel.certificates.subset import (
    IN_EXPECTATION,
    SubsetApproximation,
    certify_subset,
)
from provsel.certificates.theorem import (
    HELD,
    NO_BOUND,
    NOT_MEASURED,
    NOT_SEPARABLE,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    Measure,
    Theorem,
)
from provsel.certificates.trial import MeasuredTrial
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise

THEOREMS: tuple[type[Theorem], ...] = (
    SpectralSparsification,
    MarginPreservation,
    SoftMarginBound,
    RadiusPreservation,
    OnlineScoreSum,
    ClusteringCost,
    PartitionCost,
    CompressedRecovery,
    FeatureSelectiveRecovery,
)
"""All certificates that protocols measure by default; the columns of a store are their union."""

__all__ = [
    "HELD",
    "IN_EXPECTATION",
    "NOT_MEASURED",
    "NOT_SEPARABLE",
    "NO_BOUND",
    "THEOREMS",
    "UNDECIDED",
    "VACUOUS",
    "VIOLATED",
    "Certificate",
    "ClusteringCost",
    "ClusteringRatio",
    "CompressedRecovery",
    "FalseSelections",
    "FeatureSelectiveRecovery",
    "MarginPreservation",
    "Measure",
    "MeasuredTrial",
    "OnlineFeatureCount",
    "OnlineScoreSum",
    "PartitionCost",
    "RadiusPreservation",
    "RidgeRegressionCost",
    "RidgeRegressionRisk",
    "RidgeSparsification",
    "SoftMarginBound",
    "SpectralSparsification",
    "Spectrum",
    "StreamMemory",
    "SubsetApproximation",
    "SubsetPromise",
    "Theorem",
    "certify",
    "certify_compression",
    "certify_subset",
    "radius_margin_bound",
]
