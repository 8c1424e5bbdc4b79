"""Gene expression of two kinds of leukaemia, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "Golub et al. (1999), Molecular Classification of Cancer, Science 286; file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 72 samples with 7129 real gene expressions.

    Label -1 is 1 in the file (47 samples, lymphoblastic), +1 is 2 (25 samples, myeloid).

    Dense X of shape (72, 7129); the features are named "1" to "7129". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("allaml", "extra/ALLAML.mat", _CITATION)
