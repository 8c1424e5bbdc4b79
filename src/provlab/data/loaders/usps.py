"""USPS: scanned digits of postal codes, from one MATLAB file."""

from pathlib import Path

import numpy as np

from provlab.data.dataset import Dataset, make_dataset

VERSION = 1

CHOICES = {"part": ("all", "train")}

_SIDE = 16
_CITATION = "USPS, Hull (1994), IEEE TPAMI 16(5); file of the repository cselm/ELM"


def load(paths: list[Path], digest: str, *, part: str = "all") -> Dataset:
    """Load 9298 images of 16 by 16 grey levels from 0 to 1.

    Parameters
    ----------
    part : {"all", "train"}, default="all"
        "all" means 7291 training images followed by 2007 test images; `official_train`
        marks the training images. "train" means only these, without a split.

    Returns
    -------
    Dataset
        Dense X of shape (9298, 256) or (7291, 256); y is the digit from 0 to 9. The
        features are named "pixel_<row>_<column>", column by column.
    """
    from scipy.io import loadmat

    content = loadmat(paths[0])  # images are columns, and label 10 means the digit 0
    X = np.hstack([content["traindata"], content["testdata"]]).T
    y = (
        np.hstack([content["trainlabel"], content["testlabel"]])
        .ravel()
        .astype(np.int64)
        % 10
    )
    n_train = content["trainlabel"].size
    split = None
    if part == "train":
        X = X[:n_train]
        y = y[:n_train]
    else:
        split = np.arange(len(y)) < n_train
    # The file has the pixels of an image column by column.
    names = [f"pixel_{i}_{j}" for j in range(_SIDE) for i in range(_SIDE)]
    source = f"{_CITATION}; part {part}, SHA-256 {digest}"
    return make_dataset(X, y, names, name="usps", source=source, official_train=split)
