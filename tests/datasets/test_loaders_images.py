"""Loaders of images on made files: the formats of MNIST and CIFAR-10, and files that are missing or others."""

import gzip
import io
import lzma
import struct
import tarfile

import numpy as np
import pytest
from datasets_mirror import needs
from PIL import Image

from provlab.datasets import DataIntegrityError, MissingDataError, load_dataset, read_source
from provlab.datasets.loaders.cifar10 import read_binary, read_jpeg
from provlab.datasets.loaders.mnist import read_idx
from provsel.kernels.gist import gist


@pytest.mark.parametrize("shape", [(7,), (3, 4, 5)])
def test_idx_arrays(shape, tmp_path):
    array = np.random.default_rng(0).integers(0, 256, shape)
    head = struct.pack(f">I{len(shape)}I", 0x800 + len(shape), *shape)
    (tmp_path / "a.gz").write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes()))
    np.testing.assert_array_equal(read_idx(tmp_path / "a.gz"), array)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"part": "test"}, "mnist: part must be one of all, train, got 'test'"),
        ({"classes": [3, 3]}, r"distinct digits from 0 to 9, got \[3, 3\]"),
        ({"classes": "38"}, r"mnist: classes must be a list of digits such as \[3, 8\], or null, got '38'"),
        ({"classes": [3, True]}, "mnist: each of classes must be an integer of at least 0, got True"),
    ],
)
def test_bad_parameters_of_mnist(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("mnist", **params)


def tar(path, members, mode):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def test_binary_batches_in_their_order(tmp_path):
    rng = np.random.default_rng(0)
    names = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    raw = rng.integers(0, 256, (6, 10, 3073), dtype=np.uint8)
    members = {f"cifar-10-batches-bin/{name}": batch.tobytes() for name, batch in zip(names, raw, strict=True)}
    tar(tmp_path / "c.tar.gz", {**dict([*members.items()][::-1]), "cifar-10-batches-bin/readme.html": b"x"}, "w:gz")
    images, y, n_train = read_binary(tmp_path / "c.tar.gz")
    raw = raw.reshape(60, 3073)
    assert (images.shape, images.dtype, n_train) == ((60, 32, 32, 3), np.uint8, 50)
    np.testing.assert_array_equal(y, raw[:, 0])
    for n, row, column, colour in ((0, 0, 0, 0), (13, 5, 31, 1), (59, 31, 7, 2)):
        assert images[n, row, column, colour] == raw[n, 1 + 1024 * colour + 32 * row + column]


def jpeg(colour):
    file = io.BytesIO()
    Image.new("RGB", (32, 32), colour).save(file, format="JPEG")
    return file.getvalue()


def test_jpeg_images_in_the_order_of_the_labels(tmp_path):
    """Within a class the order is that of the numbers; test images stand by class."""
    members = {"README.md": b"x"}
    for red, name in enumerate(["train/cat/0001", "train/airplane/0000", "test/dog/0000", "train/cat/0000",
                                "test/airplane/0000"]):  # fmt: skip
        members[f"{name}.jpg"] = jpeg((50 * red, 0, 0))
    tar(tmp_path / "j.tar.xz", members, "w:xz")
    (tmp_path / "l.js.xz").write_bytes(lzma.compress(b"var labels=[3, 0, 3, 9, 9];\n"))
    images, y, n_train = read_jpeg(tmp_path / "j.tar.xz", tmp_path / "l.js.xz")
    assert y.tolist() == [3, 0, 3, 0, 5]
    assert np.round(images[:, 9, 9, 0] / 50).tolist() == [3, 1, 0, 4, 2]
    assert (images.shape, images.dtype, n_train) == ((5, 32, 32, 3), np.uint8, 3)


def test_gist_of_real_pictures_has_512_features(real_mirror):
    """A part only: decoding all 60,000 images takes seconds, and their features a minute."""
    needs(real_mirror, "cifar10/cifar10_jpeg.tar.xz")
    decoded = []
    with tarfile.open(real_mirror / "cifar10/cifar10_jpeg.tar.xz") as archive:
        for member in archive:
            if member.name.endswith(".jpg"):
                with Image.open(archive.extractfile(member)) as image:
                    decoded.append(np.asarray(image.convert("L"), dtype=float))
            if len(decoded) == 20:
                break
    features = gist(np.array(decoded))
    assert features.shape == (20, 512)
    assert features.min() > 0
    assert np.linalg.matrix_rank(features) == 20


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"features": "sift"}, "features must be one of gist, pixels, got 'sift'"),
        ({"part": "test"}, "part must be one of all, train, got 'test'"),
        ({"form": "png"}, "form must be one of auto, binary, jpeg, got 'png'"),
    ],
)
def test_bad_parameters_of_cifar10(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("cifar10", **params)


def test_cifar10_takes_the_official_archive_where_it_is_there(mirror):
    with pytest.raises(MissingDataError, match=r"the file cifar10/cifar10_jpeg\.tar\.xz is missing"):
        load_dataset("cifar10")
    (mirror / "cifar10").mkdir()
    (mirror / "cifar10" / "cifar-10-binary.tar.gz").touch()
    with pytest.raises(DataIntegrityError, match=r"cifar-10-binary\.tar\.gz: expected 170052171 bytes"):
        load_dataset("cifar10")


@pytest.mark.parametrize("name", ["ar", "cifar10", "coil20", "colon", "mnist", "orl", "usps"])
def test_sets_without_files_fail_in_words(name):
    with pytest.raises(MissingDataError, match=f"{name}: the file .* is missing.*provsel fetch {name}"):
        load_dataset(name)


@pytest.mark.parametrize("name", ["ar", "coil20", "colon", "usps"])
def test_files_that_are_not_the_registered_ones(mirror, name):
    (file,) = read_source(name).files
    (mirror / file.path).parent.mkdir()
    for content, message in ((bytes(file.size), "expected SHA-256"), (b"x", f"expected {file.size} bytes")):
        (mirror / file.path).write_bytes(content)
        with pytest.raises(DataIntegrityError, match=message):
            load_dataset(name)
