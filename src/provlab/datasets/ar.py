"""Faces of a hundred people without sunglasses and scarves, from one MATLAB file."""

from ._mat import load_mat_dataset
from ._record import Dataset

VERSION = 1

_CITATION = (
    "AR face database, Martinez and Benavente (1998), CVC Technical Report 24; cropped to 55 x 40 pixels, file of "
    "the repository 2017-TCYB-PCE"
)


def load() -> Dataset:
    """Load 1400 images of 55 by 40 grey levels from 0 to 255: 100 people, 14 images each.

    Wang et al. (2018) use 3,168 pixels of the same 1400 images: their crop is not public, this one has 2,200.

    The labels are 1 to 100 for the people.

    Dense X of shape (1400, 2200); the features are named "1" to "2200", down the columns of an image. Errors: as of
    `load_mat_dataset`.
    """
    # The file also has a struct `par` (sizes before and after the crop), which is skipped.
    return load_mat_dataset(
        "ar",
        "ar/AR_55_40.mat",
        _CITATION,
        variables=("DAT", "labels"),
        columns_are_samples=True,
        unread=("par",),
    )
