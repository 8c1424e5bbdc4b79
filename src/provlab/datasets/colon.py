"""Gene expression of tumour and normal colon tissue, discretised, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "Alon et al. (1999), Broad Patterns of Gene Expression Revealed by Clustering, PNAS 96; "
    "file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 62 samples with 2000 gene expressions, discretised to -2, 0 and 2.

    The labels -1 (40 samples) and +1 (22) are those of the file.

    Dense X of shape (62, 2000); the features are named "1" to "2000". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("colon", "extra/colon.mat", _CITATION)
