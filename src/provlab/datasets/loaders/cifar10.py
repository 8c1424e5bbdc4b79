"""CIFAR-10: small colour pictures of ten kinds of things, as GIST features or pixels."""

from pathlib import Path

import numpy as np

from provlab.datasets._cache import parsed
from provlab.datasets._cifar import N_TRAIN, SIDE, read_binary, read_jpeg
from provlab.datasets._identity import registered
from provlab.datasets._locate import is_present
from provlab.datasets._record import Dataset, make_dataset
from provlab.datasets._sources import SourceFile
from provsel.checks import check_choice
from provsel.kernels.gist import gist

VERSION = 1

_FEATURES = ("gist", "pixels")
_PARTS = ("all", "train")
_FORMS = ("auto", "binary", "jpeg")
_FILES = {
    "binary": ("cifar10/cifar-10-binary.tar.gz",),
    "jpeg": ("cifar10/cifar10_jpeg.tar.xz", "cifar10/cifar10_labels.js.xz"),
}
_SCALES, _ORIENTATIONS, _CELLS = 4, 8, 4
# Libraries for Fourier transforms differ in the last bits: rounded, the features are the same on every machine.
_DECIMALS = 6
_BLOCK = 2000  # images
_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601
_CITATION = "CIFAR-10, Krizhevsky (2009), Learning Multiple Layers of Features from Tiny Images"


def load(*, features: str = "gist", part: str = "all", form: str = "auto") -> Dataset:
    """Load 60,000 images of 32 by 32 pixels; the labels are 0 to 9, in the alphabetical order of the classes.

    Wang et al. (2018), Table 2, have 512 features and do not name them. GIST with 4 scales, 8 orientations and
    4 by 4 cells has 512: this is our reading of it.

    Parameters
    ----------
    features : {"gist", "pixels"}, default="gist"
        "gist": 512 GIST features of the grey levels (ITU-R BT.601), rounded to six decimals, named
        "gist_<scale>_<orientation>_<row>_<column>"; computed once, in minutes, then cached (246 MB). "pixels": 3072
        values from 0 to 255, named "<colour>_<row>_<column>", 1.5 GB in memory and in the cache.
    part : {"all", "train"}, default="all"
        "all": 50,000 training and then 10,000 test images; `official_train` marks the training ones. "train":
        the former alone, without a split.
    form : {"auto", "binary", "jpeg"}, default="auto"
        Form to read: the official archive, or an archive of JPEG files, which are lossy. "auto" takes the
        official one when it is there. `source` says which one was read.

    Returns
    -------
    Dataset
        Dense X of shape (n, 512) or (n, 3072).

    Raises
    ------
    ValueError
        For a bad parameter or a damaged file.
    MissingDataError
        When a file is in none of the searched folders.
    """
    parameters = settled(features=features, part=part, form=form)

    def build(paths: list[Path], digest: str) -> Dataset:
        images, y = (read_binary if parameters["form"] == "binary" else read_jpeg)(*paths)
        split = np.arange(len(y)) < N_TRAIN
        if part == "train":
            images, y = images[split], y[split]
        X, names = (_gist if features == "gist" else _pixels)(images)
        words = f"{_CITATION}; {parameters['form']} archive, {features}, part {part}, SHA-256 {digest}"
        name = f"cifar10_{features}"
        return make_dataset(X, y, names, name=name, source=words, official_train=split if part == "all" else None)

    return parsed("cifar10", parameters, build)


def files(*, features: str, part: str, form: str) -> list[SourceFile]:
    """Check the parameters of `load` and return the files that it reads."""
    check_choice("cifar10", "features", features, _FEATURES)
    check_choice("cifar10", "part", part, _PARTS)
    return registered("cifar10", _FILES[form])


def settled(*, form: str, **others: str) -> dict[str, str]:
    """Return the parameters with the form that is read: of "auto" the official one where it is there."""
    check_choice("cifar10", "form", form, _FORMS)
    if form == "auto":
        form = "binary" if all(is_present(path) for path in _FILES["binary"]) else "jpeg"
    return {**others, "form": form}


def _gist(images: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return GIST features of colour images, and their names."""
    # Grey levels of all images at once would take more memory than the features do.
    X = np.concatenate(
        [
            gist(images[i : i + _BLOCK] @ _LUMA, n_scales=_SCALES, n_orientations=_ORIENTATIONS, n_cells=_CELLS)
            for i in range(0, len(images), _BLOCK)
        ]
    )
    shape = (_SCALES, _ORIENTATIONS, _CELLS, _CELLS)
    return X.round(_DECIMALS, out=X), ["gist_" + "_".join(map(str, index)) for index in np.ndindex(shape)]


def _pixels(images: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the pixels of colour images as rows, one colour after the other, and their names."""
    names = [f"{c}_{i}_{j}" for c in ("red", "green", "blue") for i in range(SIDE) for j in range(SIDE)]
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1), names
