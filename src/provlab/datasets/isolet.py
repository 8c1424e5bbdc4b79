"""Spoken names of letters, as acoustic features, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = "ISOLET, Fanty and Cole (1991), Spoken Letter Recognition, NIPS 3; file of the scikit-feature repository"


def load() -> Dataset:
    """Load 1560 spoken letters with 617 real features from -1 to 1.

    The labels are 1 to 26 for the letters A to Z, 60 samples each.

    Dense X of shape (1560, 617); the features are named "1" to "617". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("isolet", "extra/Isolet.mat", _CITATION)
