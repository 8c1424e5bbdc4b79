"""Faces of forty people, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "ORL faces, Samaria and Harter (1994), Workshop on Applications of Computer Vision; "
    "file of the scikit-feature repository"
)


def load() -> Dataset:
    """Load 400 images of 32 by 32 grey levels from 0 to 255: 40 people, 10 images each.

    The ORL database has 400 images and no more. Wang et al. (2018), Table 2, print 96,436 samples with 1,770
    features for "ORL", which no form of these faces has: this is the set of the name, not of those numbers.

    The labels are 1 to 40 for the people.

    Dense X of shape (400, 1024); the features are named "1" to "1024". Errors: as of `load_mat_dataset`.
    """
    return load_mat_dataset("orl", "orl/ORL.mat", _CITATION)
