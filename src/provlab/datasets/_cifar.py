"""The two forms of CIFAR-10: the official binary archive, and an archive of JPEG files."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import IO

import numpy as np

from ._archives import readable, tar_members
from ._xz import read_xz

N_TRAIN, N_TEST, SIDE = 50000, 10000, 32
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_RECORD = 1 + 3 * SIDE**2
_BATCH = 10000
_FILES = ("data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin")
_OTHERS = frozenset({"batches.meta.txt", "readme.html"})
_JPEG = re.compile(rf"(train|test)/({'|'.join(CLASSES)})/([0-9]{{4}})\.jpg")
MAX_JPEG = 1 << 15  # the largest has 1124 bytes
_MAX_LABELS = 1 << 20

Images = tuple[np.ndarray, np.ndarray]  # (n, 32, 32, 3) uint8 and (n,) int64


def read_binary(path: Path) -> Images:
    """Return images and labels of cifar-10-binary.tar.gz: training images, then test images, in its own order.

    Parameters
    ----------
    path : Path
        Nothing is extracted: the members are read one after the other.

    Returns
    -------
    images : ndarray of shape (60000, 32, 32, 3), uint8
    labels : ndarray of shape (60000,), int64

    Raises
    ------
    ValueError
        For a damaged archive, unknown, missing or repeated members, members of another length or labels above 9.
    """
    wanted = [*_FILES, "test_batch.bin"]
    found: dict[str, np.ndarray] = {}
    with readable(path, "archive"), contextlib.closing(tar_members(path)) as members:
        for member, content in members:
            name = member.removeprefix("cifar-10-batches-bin/")
            if name in _OTHERS:
                continue
            if name not in wanted or name in found:
                raise unexpected(path, member)
            data = content.read(_BATCH * _RECORD + 1)
            if len(data) != _BATCH * _RECORD:
                size = "more" if len(data) > _BATCH * _RECORD else str(len(data))
                raise ValueError(
                    f"{path}: expected {_BATCH * _RECORD} bytes in {member!r}, got {size}. Replace it by an intact copy"
                )
            found[name] = np.frombuffer(data, dtype=np.uint8).reshape(_BATCH, _RECORD)
            if found[name][:, 0].max() >= len(CLASSES):
                raise ValueError(
                    f"{path}: expected labels from 0 to 9 in {member!r}, got {found[name][:, 0].max()}. "
                    "Replace it by an intact copy"
                )
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ValueError(f"{path}: lacks {', '.join(missing)}; expected six batches. Replace it by an intact copy")
    records = np.concatenate([found[name] for name in wanted])
    images = records[:, 1:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), records[:, 0].astype(np.int64)


def read_jpeg(path: Path, labels_path: Path) -> Images:
    """Return images and labels of an archive of files {train,test}/<class>/<number>.jpg.

    Parameters
    ----------
    path : Path
        Nothing is extracted: the members are read one after the other.
    labels_path : Path
        The labels of the training images in their original order, see `read_labels`.

    Returns
    -------
    images : ndarray of shape (60000, 32, 32, 3), uint8
        The training images in the original order: within a class it is that of the numbers. Then the test
        images, by class and number, because the original order of most of them is not known.
    labels : ndarray of shape (60000,), int64

    Raises
    ------
    ValueError
        For a damaged archive, unknown, missing or repeated members, or images of another size.
    """
    order = read_labels(labels_path)
    first = np.arange(len(CLASSES)) * (N_TEST // len(CLASSES))
    rows = {
        "train": [np.flatnonzero(order == c) for c in range(len(CLASSES))],
        "test": [N_TRAIN + f + np.arange(N_TEST // len(CLASSES)) for f in first],
    }
    images = np.zeros((N_TRAIN + N_TEST, SIDE, SIDE, 3), dtype=np.uint8)
    seen = np.zeros(len(images), dtype=bool)
    with readable(path, "archive"), contextlib.closing(tar_members(path)) as members:
        for member, content in members:
            if member == "README.md":
                continue
            match = _JPEG.fullmatch(member)
            if match is None:
                raise unexpected(path, member)
            places, number = rows[match[1]][CLASSES.index(match[2])], int(match[3])
            if number >= len(places) or seen[places[number]]:
                raise unexpected(path, member)
            row = int(places[number])
            images[row] = _decode(path, member, content)
            seen[row] = True
    if not seen.all():
        raise ValueError(f"{path}: expected {len(seen)} images, got {seen.sum()}. Replace it by an intact copy")
    test_labels = np.repeat(np.arange(len(CLASSES)), N_TEST // len(CLASSES))
    return images, np.concatenate([order[:N_TRAIN], test_labels])


def read_labels(path: Path) -> np.ndarray:
    """Return the 50,000 training labels of a file `var labels=[6, 9, ...];`; labels of test images follow in it.

    Parameters
    ----------
    path : Path
        Compressed with xz.

    Returns
    -------
    ndarray of shape (50000,), int64

    Raises
    ------
    ValueError
        For a damaged file, or unless each label from 0 to 9 occurs 5,000 times.
    """
    text = read_xz(path, _MAX_LABELS, "labels")
    match = re.fullmatch(rb"var labels=(\[[0-9](?:, [0-9])*\]);\s*", text)
    if match is None:
        raise ValueError(f"{path}: expected 'var labels=[...];' with labels from 0 to 9. It is another file")
    labels = np.array(json.loads(match[1])[:N_TRAIN], dtype=np.int64)
    counts, each = np.bincount(labels, minlength=len(CLASSES)), N_TRAIN // len(CLASSES)
    if (counts != each).any():
        raise ValueError(f"{path}: expected {each} training labels of each class, got {counts.tolist()}. Replace it")
    return labels


def _decode(path: Path, member: str, content: IO[bytes]) -> np.ndarray:
    """Return one JPEG image; the header is checked before any pixel is decoded."""
    from PIL import Image, UnidentifiedImageError  # comes with the extra "report", as this is all it is needed for here

    data = content.read(MAX_JPEG + 1)
    if len(data) > MAX_JPEG:
        raise ValueError(f"{path}: {member!r} has more than {MAX_JPEG} bytes; expected a small image. Do not trust it")
    try:
        with Image.open(io.BytesIO(data), formats=["JPEG"]) as image:
            if image.size != (SIDE, SIDE) or image.mode != "RGB":
                raise ValueError(
                    f"{path}: expected 32 x 32 RGB in {member!r}, got {image.size} {image.mode}. Replace it"
                )
            return np.asarray(image)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError) as error:
        raise ValueError(f"{path}: {member!r} is no intact JPEG image ({error}). Replace the archive") from error


def unexpected(path: Path, member: str) -> ValueError:
    """Return the error for a member that is unknown or repeated."""
    return ValueError(
        f"{path}: unexpected or repeated member {member!r:.80}. It is another archive, or do not trust it"
    )
