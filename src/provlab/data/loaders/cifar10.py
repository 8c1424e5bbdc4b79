"""CIFAR-10: small colour images of ten classes, as GIST features or pixels."""

import io
import json
import lzma
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from provlab.data.dataset import Dataset, make_dataset
from provlab.data.files import find_file
from provsel.kernels.gist import gist

VERSION = 1

CHOICES = {
    "features": ("gist", "pixels"),
    "part": ("all", "train", "test"),
    "form": ("auto", "binary", "jpeg"),
}

_FILES = {
    "binary": ("cifar10/cifar-10-binary.tar.gz",),
    "jpeg": ("cifar10/cifar10_jpeg.tar.xz", "cifar10/cifar10_labels.js.xz"),
}
_SIDE = 32
_CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
_BATCHES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
_SCALES, _ORIENTATIONS, _CELLS = 4, 8, 4
# Libraries for Fourier transforms differ in the last bits, so features are rounded to
# be equal on every machine.
_DECIMALS = 6
_BLOCK = 2000  # images
_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601
_CITATION = (
    "CIFAR-10, Krizhevsky (2009), Learning Multiple Layers of Features from Tiny Images"
)


def load(
    paths: list[Path],
    digest: str,
    *,
    features: str = "gist",
    part: str = "all",
    form: str = "auto",
) -> Dataset:
    """Load 60,000 images of 32 by 32 pixels; the labels 0 to 9 are the classes in alphabetical order.

    Wang et al. (2018), Table 2, have 512 features and do not name them. GIST with 4
    scales, 8 orientations and 4 by 4 cells has 512 features, so we assume GIST.

    Parameters
    ----------
    features : {"gist", "pixels"}, default="gist"
        "gist": 512 GIST features of the grey levels (ITU-R BT.601), rounded to six
        decimals, named "gist_<scale>_<orientation>_<row>_<column>"; they are computed
        once, in minutes, and cached (246 MB). "pixels": 3072 values from 0 to 255,
        named "<colour>_<row>_<column>", 1.5 GB in memory and in the cache.
    part : {"all", "train", "test"}, default="all"
        "all" means 50,000 training images followed by 10,000 test images;
        `official_train` marks the training images. "train" and "test" mean one of these
        parts, without a split.
    form : {"auto", "binary", "jpeg"}, default="auto"
        Form to read: the official archive, or an archive of JPEG files, which are
        lossy. "auto" takes the official archive if it is available. `source` states
        which one was read.

    Returns
    -------
    Dataset
        Dense X of shape (n, 512) or (n, 3072).
    """
    if form == "binary":
        images, y, n_train = read_binary(paths[0])
    else:
        images, y, n_train = read_jpeg(paths[0], paths[1], part)
    official_train = None
    if part == "all":
        official_train = np.arange(len(y)) < n_train
    else:
        rows = slice(n_train) if part == "train" else slice(n_train, None)
        images = images[rows]
        y = y[rows]
    X, names = _gist(images) if features == "gist" else _pixels(images)
    source = f"{_CITATION}; {form} archive, {features}, part {part}, SHA-256 {digest}"
    return make_dataset(
        X,
        y,
        names,
        name=f"cifar10_{features}",
        source=source,
        official_train=official_train,
    )


def settled(*, form: str, **others: str) -> dict[str, str]:
    """Return the parameters with "auto" replaced by the official form if it is available, otherwise JPEG."""
    if form == "auto":
        form = "binary" if all(map(find_file, _FILES["binary"])) else "jpeg"
    return {**others, "form": form}


def files(*, form: str, **_: str) -> Sequence[str]:
    """Return the files that `load` reads."""
    return _FILES[form]


# The readers return images of shape (n, 32, 32, 3), uint8, labels, and the number of
# training images, which come first.

_Images = tuple[np.ndarray, np.ndarray, int]


def read_binary(path: Path) -> _Images:
    """Read cifar-10-binary.tar.gz: six batches of records, each a label and the three colour planes."""
    with tarfile.open(path) as archive:
        contents = [
            archive.extractfile(f"cifar-10-batches-bin/{name}").read()  # type: ignore[union-attr]
            for name in _BATCHES
        ]
    batches = [
        np.frombuffer(content, np.uint8).reshape(-1, 1 + 3 * _SIDE**2)
        for content in contents
    ]
    records = np.concatenate(batches)
    images = records[:, 1:].reshape(-1, 3, _SIDE, _SIDE).transpose(0, 2, 3, 1)
    return (
        np.ascontiguousarray(images),
        records[:, 0].astype(np.int64),
        len(records) - len(batches[-1]),
    )


def read_jpeg(path: Path, labels_path: Path, part: str = "all") -> _Images:
    """Read an archive of files {train,test}/<class>/<number>.jpg, and a file of the ordered training labels.

    The training images are returned in the original order, which within a class is that
    of the numbers. The test images are sorted by class and number, because the original
    order of most is unknown. For the part "test", only the test images are read,
    because decoding takes nearly all of the time.
    """
    from PIL import Image  # it is in the extra "report" and needed only here

    images = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith(".jpg") and (
                part != "test" or "test" in member.name.split("/")
            ):
                content = archive.extractfile(member).read()  # type: ignore[union-attr]
                with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
                    # GitHub adds a top folder
                    images["/".join(member.name.split("/")[-3:])] = np.asarray(image)
    names = sorted(images)
    test = [name for name in names if name.startswith("test/")]
    n_train = len(names) - len(test)
    train = {}
    for kind in _CLASSES:
        train[kind] = iter(
            [name for name in names if name.startswith(f"train/{kind}/")]
        )
    # var labels=[6, 9, ...]; training labels come first
    with lzma.open(labels_path, "rt", encoding="ascii") as file:
        order = json.loads(
            file.read().removeprefix("var labels=").rstrip().removesuffix(";")
        )[:n_train]
    names = [*(next(train[_CLASSES[label]]) for label in order), *test]
    y = np.array([_CLASSES.index(name.split("/")[1]) for name in names])
    return np.stack([images[name] for name in names]), y, n_train


def _gist(images: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return GIST features of colour images, and their names."""
    blocks = []
    # all grey levels at once would take more memory than the features
    for start in range(0, len(images), _BLOCK):
        grey = images[start : start + _BLOCK] @ _LUMA
        blocks.append(
            gist(grey, n_scales=_SCALES, n_orientations=_ORIENTATIONS, n_cells=_CELLS)
        )
    X = np.concatenate(blocks)
    shape = (_SCALES, _ORIENTATIONS, _CELLS, _CELLS)
    names = ["gist_" + "_".join(map(str, index)) for index in np.ndindex(shape)]
    return X.round(_DECIMALS, out=X), names


def _pixels(images: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the pixels of colour images as rows, colour by colour, and their names."""
    names = [
        f"{c}_{i}_{j}"
        for c in ("red", "green", "blue")
        for i in range(_SIDE)
        for j in range(_SIDE)
    ]
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1), names
