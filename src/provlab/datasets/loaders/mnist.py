"""MNIST: handwritten digits, complete."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from provlab.datasets._cache import parsed
from provlab.datasets._classes import keep_classes, spelled_classes
from provlab.datasets._identity import registered
from provlab.datasets._idx import read_idx
from provlab.datasets._record import Dataset, make_dataset
from provlab.datasets._sources import SourceFile
from provsel.checks import check_choice

VERSION = 1

_PARTS = ("all", "train")
_SIDE = 28
_SAMPLES = {"train": 60000, "t10k": 10000}
# Of the uncompressed content. Their MD5, under which the files are known: 6bbc9ace898e44ae57da46a324031adb,
# a25bea736e30d166cdddb491f175f624, 2646ac647ad5339dbf082846283269ea, 27ae3e4e09519cfbb04c329615203637.
_SHA256 = {
    "train-images-idx3": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
_CITATION = "MNIST, LeCun, Bottou, Bengio and Haffner (1998), Proceedings of the IEEE 86(11)"


def load(*, part: str = "all", classes: Sequence[int] | None = None) -> Dataset:
    """Load 70,000 images of 28 by 28 grey levels from 0 to 255.

    All of them take 439 MB in memory, and as much in the cache; loading needs about 100 MB more.

    Parameters
    ----------
    part : {"all", "train"}, default="all"
        "all": 60,000 training and then 10,000 test images; `official_train` marks the training ones. "train":
        the former alone, without a split.
    classes : sequence of int or None, default=None
        Digits to keep, at least two; None keeps all ten. Exactly two digits give a two-class problem: the
        first gets the label -1, the second +1. Otherwise the label is the digit.

    Returns
    -------
    Dataset
        Dense X of shape (n, 784); the features are named "pixel_<row>_<column>".

    Raises
    ------
    ValueError
        For a bad parameter or a damaged file.
    MissingDataError
        When a file is in none of the searched folders.
    """

    def build(paths: list[Path], digest: str) -> Dataset:
        arrays = []
        for stem, path in zip(_stems(part), paths, strict=True):
            n = _SAMPLES[stem.partition("-")[0]]
            arrays.append(read_idx(path, (n, _SIDE, _SIDE) if "images" in stem else (n,), _SHA256[stem]))
        # Bytes until `make_dataset`: the eightfold array of float64 exists once only.
        X, y = np.concatenate(arrays[::2]), np.concatenate(arrays[1::2]).astype(np.int64)
        split = np.arange(len(y)) < _SAMPLES["train"]
        rows, y, name = keep_classes("mnist", y, classes)
        X, split = X.reshape(len(X), _SIDE**2)[rows], split[rows]
        names = [f"pixel_{i}_{j}" for i in range(_SIDE) for j in range(_SIDE)]
        words = f"{_CITATION}; part {part}, SHA-256 {digest}"
        return make_dataset(X, y, names, name=name, source=words, official_train=split if part == "all" else None)

    return parsed("mnist", {"part": part, "classes": classes}, build)


def spelled(*, part: str, classes: Sequence[int] | None) -> dict[str, Any]:
    """Check the parameters of `load`, and return them in one spelling."""
    check_choice("mnist", "part", part, _PARTS)
    return {"part": part, "classes": spelled_classes("mnist", classes)}


def files(*, part: str, classes: Sequence[int] | None) -> list[SourceFile]:
    """Return the files that `load` reads."""
    return registered("mnist", [f"mnist/{stem}-ubyte.gz" for stem in _stems(part)])


def _stems(part: str) -> list[str]:
    return [f"{kind}-{what}" for kind in _SAMPLES if part in ("all", kind) for what in ("images-idx3", "labels-idx1")]
