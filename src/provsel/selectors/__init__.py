"""Feature selectors with the scikit-learn API: the classes of the modules in this folder, one per module.

Your own selector inherits from `BaseSelector` and returns a `Selection`. It reads its
rows from a `provsel.training_view.TrainingView`, and checks a number of features by
`checked_count`.

A test compares the folder with this list, and states what a new module needs here.
Plain transformers in this folder, such as `SparseEmbedding`, do not inherit from
`BaseSelector`. Configs can name them instead of a selector, because they reduce rows,
although they select no features.
"""

from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.selectors.adaptive_randomized_pivoting import (
    AdaptiveRandomizedPivotingSelector,
)
from provsel.selectors.alpha_investing import AlphaInvestingSelector
from provsel.selectors.always_kept import AlwaysKept
from provsel.selectors.approximate_bss import ApproximateBSSSelector
from provsel.selectors.at_size import AtSize
from provsel.selectors.boruta import BorutaSelector
from provsel.selectors.bss import BSSSelector
from provsel.selectors.chi_squared import ChiSquaredSelector
from provsel.selectors.cross_validated_size import CrossValidatedSize
from provsel.selectors.cur import CURSelector
from provsel.selectors.dual_set import DualSetSelector
from provsel.selectors.f_test import FTestSelector
from provsel.selectors.farthest_point import FarthestPointSelector
from provsel.selectors.feature_selective import FeatureSelectiveSelector
from provsel.selectors.forest_rfe import ForestRFESelector
from provsel.selectors.forward import ForwardSelector
from provsel.selectors.full import FullDataSelector
from provsel.selectors.gaussian_compression import GaussianCompression
from provsel.selectors.hsic_lasso import HSICLassoSelector
from provsel.selectors.jmi import JMISelector
from provsel.selectors.knockoff import KnockoffSelector
from provsel.selectors.l1_svm import L1SVMSelector
from provsel.selectors.laplacian_score import LaplacianScoreSelector
from provsel.selectors.lasso import LassoSelector
from provsel.selectors.leverage import LeverageScoreSelector
from provsel.selectors.lpsvm import LPSVMSelector
from provsel.selectors.mrmr import MRMRSelector
from provsel.selectors.multisurf import MultiSURFSelector
from provsel.selectors.mutual_information import MutualInformationSelector
from provsel.selectors.on_support_vectors import OnSupportVectors
from provsel.selectors.online_leverage import OnlineLeverageSelector
from provsel.selectors.permutation_importance import PermutationImportanceSelector
from provsel.selectors.randomly_pivoted_qr import RandomlyPivotedQRSelector
from provsel.selectors.rank_test import RankTestSelector
from provsel.selectors.relieff import ReliefFSelector
from provsel.selectors.ridge_leverage import RidgeLeverageSelector
from provsel.selectors.rrqr import RRQRSelector
from provsel.selectors.shrunken_centroids import ShrunkenCentroidsSelector
from provsel.selectors.single_svd import SingleSVDSelector
from provsel.selectors.sparse_embedding import SparseEmbedding
from provsel.selectors.spectral_selection import SpectralSelectionSelector
from provsel.selectors.stability import StabilitySelector
from provsel.selectors.strong_rrqr import StrongRRQRSelector
from provsel.selectors.svm_rfe import SVMRFESelector
from provsel.selectors.uniform import UniformSelector
from provsel.selectors.with_enclosing_ball_center import WithEnclosingBallCenter

__all__ = [
    "AdaptiveRandomizedPivotingSelector",
    "AlphaInvestingSelector",
    "AlwaysKept",
    "ApproximateBSSSelector",
    "AtSize",
    "BSSSelector",
    "BaseSelector",
    "BorutaSelector",
    "CURSelector",
    "ChiSquaredSelector",
    "CrossValidatedSize",
    "DualSetSelector",
    "FTestSelector",
    "FarthestPointSelector",
    "FeatureSelectiveSelector",
    "ForestRFESelector",
    "ForwardSelector",
    "FullDataSelector",
    "GaussianCompression",
    "HSICLassoSelector",
    "JMISelector",
    "KnockoffSelector",
    "L1SVMSelector",
    "LPSVMSelector",
    "LaplacianScoreSelector",
    "LassoSelector",
    "LeverageScoreSelector",
    "MRMRSelector",
    "MultiSURFSelector",
    "MutualInformationSelector",
    "OnSupportVectors",
    "OnlineLeverageSelector",
    "PermutationImportanceSelector",
    "RRQRSelector",
    "RandomlyPivotedQRSelector",
    "RankTestSelector",
    "ReliefFSelector",
    "RidgeLeverageSelector",
    "SVMRFESelector",
    "Selection",
    "ShrunkenCentroidsSelector",
    "SingleSVDSelector",
    "SparseEmbedding",
    "SpectralSelectionSelector",
    "StabilitySelector",
    "StrongRRQRSelector",
    "UniformSelector",
    "WithEnclosingBallCenter",
    "checked_count",
]
