"""MNIST: the complete set of handwritten digits."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from provlab.data.dataset import Dataset, make_dataset

from .digits import checked_classes, keep_classes

VERSION = 1

_PARTS = {"all": ("train", "t10k"), "train": ("train",)}
CHOICES = {"part": tuple(_PARTS)}
_SIDE = 28
_CITATION = (
    "MNIST, LeCun, Bottou, Bengio and Haffner (1998), Proceedings of the IEEE 86(11)"
)


def load(
    paths: list[Path],
    digest: str,
    *,
    part: str = "all",
    classes: Sequence[int] | None = None,
) -> Dataset:
    """Load 70,000 images of 28 by 28 grey levels from 0 to 255.

    All images take 439 MB in memory and in the cache; loading needs about 100 MB more.

    Parameters
    ----------
    part : {"all", "train"}, default="all"
        "all" means 60,000 training images followed by 10,000 test images;
        `official_train` marks the training images. "train" means only these, without a
        split.
    classes : sequence of int or None, default=None
        Digits to keep, at least two; None keeps all ten. Exactly two digits give a
        two-class problem: the first digit gets the label -1 and the second +1.
        Otherwise the label is the digit.

    Returns
    -------
    Dataset
        Dense X of shape (n, 784); the features are named "pixel_<row>_<column>".
    """
    arrays = [*map(read_idx, paths)]
    # X stays bytes until `make_dataset`, so that the float64 array, eight times as
    # large, exists only once.
    X = np.concatenate(arrays[::2])
    y = np.concatenate(arrays[1::2]).astype(np.int64)
    split = np.arange(len(y)) < len(arrays[1])
    rows, y, name = keep_classes("mnist", y, classes)
    X = X.reshape(len(X), _SIDE**2)[rows]
    official_train = split[rows] if part == "all" else None
    names = [f"pixel_{i}_{j}" for i in range(_SIDE) for j in range(_SIDE)]
    source = f"{_CITATION}; part {part}, SHA-256 {digest}"
    return make_dataset(
        X, y, names, name=name, source=source, official_train=official_train
    )


def checked(*, part: str, classes: Sequence[int] | None) -> dict[str, Any]:
    """Check the parameters of `load`, and return them in one spelling."""
    return {"part": part, "classes": checked_classes("mnist", classes)}


def files(*, part: str, **_: Any) -> list[str]:
    """Return the files that `load` reads, alternating images and labels."""
    paths = []
    for kind in _PARTS[part]:
        paths += [
            f"mnist/{kind}-images-idx3-ubyte.gz",
            f"mnist/{kind}-labels-idx1-ubyte.gz",
        ]
    return paths


def read_idx(path: Path) -> np.ndarray:
    """Return the array of an idx file of bytes; the number of dimensions ends the magic number."""
    with gzip.open(path) as file:
        content = file.read()
    shape = np.frombuffer(content, dtype=">u4", count=content[3], offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * shape.size).reshape(
        shape
    )
