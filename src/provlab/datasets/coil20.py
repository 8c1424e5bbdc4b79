"""Pictures of twenty objects on a turntable, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "COIL-20, Nene, Nayar and Murase (1996), Columbia University CUCS-005-96; file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 1440 images of 32 by 32 grey levels from 0 to 1: 20 objects, turned by 5 degrees 72 times.

    The labels are 1 to 20 for the objects, 72 images each.

    Dense X of shape (1440, 1024); the features are named "1" to "1024". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("coil20", "coil20/COIL20.mat", _CITATION)
