"""Mass spectra of cancer patients and healthy people, with probe features, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "ARCENE, Guyon, Gunn, Ben-Hur and Dror (2004), Result Analysis of the NIPS 2003 Feature Selection Challenge; "
    "file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 200 mass spectra with 10,000 integer features from 0 to 999.

    The labels -1 (112 samples, healthy) and +1 (88, cancer) are those of the file.

    Dense X of shape (200, 10000); the features are named "1" to "10000". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("arcene", "extra/arcene.mat", _CITATION)
