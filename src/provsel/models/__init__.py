"""Linear models with the scikit-learn API."""

from provsel.models.liblinear import LiblinearSVM
from provsel.models.libsvm import LibsvmSVM

__all__ = ["LiblinearSVM", "LibsvmSVM"]
