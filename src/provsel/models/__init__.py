"""Linear models, and k-means, with the scikit-learn API."""

from provsel.models._base import BaseLinearSVM
from provsel.models.compressed_svm import CompressedLinearSVM
from provsel.models.cross_validated_svm import CrossValidatedSVM
from provsel.models.feature_selective_svm import FeatureSelectiveSVM
from provsel.models.hinge_svm import HingeSVM
from provsel.models.kmeans import KMeansClustering
from provsel.models.liblinear import LiblinearSVM
from provsel.models.libsvm import LibsvmSVM

__all__ = [
    "BaseLinearSVM",
    "CompressedLinearSVM",
    "CrossValidatedSVM",
    "FeatureSelectiveSVM",
    "HingeSVM",
    "KMeansClustering",
    "LiblinearSVM",
    "LibsvmSVM",
]
