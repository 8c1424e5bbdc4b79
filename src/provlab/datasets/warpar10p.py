"""Faces of ten people, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "AR face database, Martinez and Benavente (1998), CVC Technical Report 24; file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 130 images of faces with 2400 grey levels.

    The labels are 1 to 10 for the people, 13 images each.

    Dense X of shape (130, 2400); the features are named "1" to "2400". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("warpar10p", "extra/warpAR10P.mat", _CITATION)
