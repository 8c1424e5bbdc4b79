"""Artificial points at the corners of a hypercube, with probe features, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "MADELON, Guyon, Gunn, Ben-Hur and Dror (2004), Result Analysis of the NIPS 2003 Feature Selection Challenge; "
    "file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 2600 artificial samples with 500 integer features, of which 20 carry the label.

    The labels -1 and +1 are those of the file, 1300 samples each. Nearly an XOR problem: linear models do little.

    Dense X of shape (2600, 500); the features are named "1" to "500". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("madelon", "extra/madelon.mat", _CITATION)
