"""Gene expression of two kinds of leukaemia, discretised, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "Golub et al. (1999), Molecular Classification of Cancer, Science 286; file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 72 samples with 7070 gene expressions, discretised to -2, 0 and 2.

    The labels -1 (47 samples) and +1 (25) are those of the file.

    Dense X of shape (72, 7070); the features are named "1" to "7070". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("leukemia", "extra/leukemia.mat", _CITATION)
