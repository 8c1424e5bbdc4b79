"""USPS: scanned digits of postal codes, from one MATLAB file."""

from pathlib import Path

import numpy as np

from provlab.datasets._cache import parsed
from provlab.datasets._identity import registered
from provlab.datasets._mat import read_mat
from provlab.datasets._record import Dataset, make_dataset
from provlab.datasets._sources import SourceFile
from provsel.checks import check_choice

VERSION = 1

_PARTS = ("all", "train")
_SIDE = 16
_CITATION = "USPS, Hull (1994), IEEE TPAMI 16(5); file of the repository cselm/ELM"


def load(*, part: str = "all") -> Dataset:
    """Load 9298 images of 16 by 16 grey levels from 0 to 1.

    Parameters
    ----------
    part : {"all", "train"}, default="all"
        "all": 7291 training and then 2007 test images; `official_train` marks the training ones. "train":
        the former alone, without a split.

    Returns
    -------
    Dataset
        Dense X of shape (9298, 256) or (7291, 256); y is the digit from 0 to 9. The features are named
        "pixel_<row>_<column>", column after column.

    Raises
    ------
    ValueError
        For a bad parameter or a damaged file.
    MissingDataError
        When the file is in none of the searched folders.
    """

    def build(paths: list[Path], digest: str) -> Dataset:
        [path] = paths
        variables = [f"{kind}{what}" for kind in ("train", "test") for what in ("data", "label")]
        arrays = read_mat(path, variables)
        pairs = [_samples(path, *arrays[i : i + 2]) for i in (0, 2)]
        X, y = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        split = np.arange(len(y)) < len(pairs[0][1])
        if part == "train":
            X, y = X[split], y[split]
        # The file has the pixels of an image column after column.
        names = [f"pixel_{i}_{j}" for j in range(_SIDE) for i in range(_SIDE)]
        source = f"{_CITATION}; part {part}, SHA-256 {digest}"
        return make_dataset(X, y, names, name="usps", source=source, official_train=split if part == "all" else None)

    return parsed("usps", {"part": part}, build)


def files(*, part: str) -> list[SourceFile]:
    """Check the parameter of `load` and return the files that it reads."""
    check_choice("usps", "part", part, _PARTS)
    return registered("usps", ["usps/usps.mat"])


def _samples(path: Path, data: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the images as rows, and the digits: the file has images as columns, and 10 for the digit 0."""
    if data.shape != (_SIDE**2, labels.size) or labels.shape[0] != 1:
        raise ValueError(
            f"{path}: expected {_SIDE**2} pixels in the rows of the data and one label a column, got shapes "
            f"{data.shape} and {labels.shape}. It is another file"
        )
    digits = labels.ravel()
    if not np.isin(digits, range(1, 11)).all():
        raise ValueError(f"{path}: expected labels from 1 to 10, got {np.unique(digits)[:20]}. It is another file")
    return data.T, digits.astype(np.int64) % 10
