"""The image sets of Wang et al. (2018): MATLAB, idx, binary and JPEG files, made ones and real ones."""

import contextlib
import gzip
import hashlib
import io
import lzma
import struct
import tarfile
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io
from PIL import Image

from provlab.datasets import (
    DataIntegrityError,
    MissingDataError,
    _cifar,
    _identity,
    _mat,
    load_dataset,
    read_source,
)
from provlab.datasets._idx import read_idx
from provlab.datasets._locate import file_sha256
from provlab.datasets.loaders import cifar10, mnist, usps
from provsel.kernels.gist import gist

MD5 = {
    "train-images-idx3": "6bbc9ace898e44ae57da46a324031adb",
    "t10k-images-idx3": "2646ac647ad5339dbf082846283269ea",
    "train-labels-idx1": "a25bea736e30d166cdddb491f175f624",
    "t10k-labels-idx1": "27ae3e4e09519cfbb04c329615203637",
}


def counts(y):
    return dict(zip(*(a.tolist() for a in np.unique(y, return_counts=True)), strict=True))


def real(mirror, path):
    if not (mirror / path).is_file():
        pytest.skip(f"needs real data: the mirror has no {path}")
    return mirror / path


# MATLAB files


REAL_MAT = {
    "coil20": ("coil20/COIL20.mat", "X", "Y", (1440, 1024), dict.fromkeys(range(1, 21), 72)),
    "orl": ("orl/ORL.mat", "X", "Y", (400, 1024), dict.fromkeys(range(1, 41), 10)),
    "ar": ("ar/AR_55_40.mat", "DAT", "labels", (1400, 2200), dict.fromkeys(range(1, 101), 14)),
}


@pytest.mark.parametrize("name", REAL_MAT)
def test_real_mat_sets(real_mirror, monkeypatch, name):
    path, matrix, labels, shape, expected = REAL_MAT[name]
    raw = scipy.io.loadmat(real(real_mirror, path), variable_names=[matrix, labels])
    data = load_dataset(name)
    assert data.X.shape == shape
    np.testing.assert_array_equal(data.X, raw[matrix].T if name == "ar" else raw[matrix])
    np.testing.assert_array_equal(data.y, raw[labels].ravel())
    assert counts(data.y) == expected
    assert data.official_train is None
    monkeypatch.setattr(_mat, "read_mat", lambda *_, **__: pytest.fail("a cached set was read again"))
    assert load_dataset(name).content == data.content


def test_pixels_of_ar_go_down_the_columns_of_the_image(real_mirror):
    real(real_mirror, "ar/AR_55_40.mat")
    X = load_dataset("ar").X
    # Neighbouring pixels are alike in the right shape only.
    steps = [np.abs(np.diff(X.reshape(-1, *shape), axis=1)).mean() for shape in ((40, 55), (55, 40))]
    assert steps[0] < steps[1] / 3


def test_columns_as_samples_and_variables_that_are_not_read(tmp_path, monkeypatch):
    path = tmp_path / "made.mat"
    DAT = np.arange(6).reshape(3, 2)
    scipy.io.savemat(path, {"par": {"a": 1}, "labels": [[4, 9]], "DAT": DAT})
    monkeypatch.setattr(_identity, "locate", lambda file: path)
    monkeypatch.setattr(_identity, "digest_of", lambda file: file_sha256(path))
    data = load_dataset("ar")
    np.testing.assert_array_equal(data.X, DAT.T)
    assert data.y.tolist() == [-1, 1]
    # Only the variable that is named may be of another kind, and never one that is read.
    with pytest.raises(ValueError, match="numeric variables only, got 'par' of class struct"):
        _mat.read_mat(path, ("DAT", "labels"))
    with pytest.raises(ValueError, match="numeric variables only, got 'par' of class struct"):
        _mat.read_mat(path, ("par",), unread=("par",))
    scipy.io.savemat(path, {"par": {"a": 1}, "labels": "text", "DAT": DAT})
    with pytest.raises(ValueError, match="got 'labels' of class char"):
        load_dataset("ar")
    scipy.io.savemat(path, {"labels": [[4, 4]], "DAT": DAT})
    with pytest.raises(ValueError, match=r"at least two classes in 'labels', got \[4\]"):
        load_dataset("ar")


# USPS


def made_usps(path, **changes):
    rng = np.random.default_rng(1)
    content = {"traindata": rng.random((256, 4)), "trainlabel": [[10, 1, 9, 1]]}
    content |= {"testdata": rng.random((256, 2)), "testlabel": [[2, 10]], "nclass": 10, **changes}
    scipy.io.savemat(path, content)
    return content


def test_usps_rows_labels_and_split(tmp_path, monkeypatch):
    path = tmp_path / "usps.mat"
    content = made_usps(path)
    monkeypatch.setattr(_identity, "locate", lambda file: path)
    data, train = load_dataset("usps"), load_dataset("usps", part="train")
    np.testing.assert_array_equal(data.X, np.hstack([content["traindata"], content["testdata"]]).T)
    assert data.y.tolist() == [0, 1, 9, 1, 2, 0]
    assert data.feature_names[[0, 1, 16]].tolist() == ["pixel_0_0", "pixel_1_0", "pixel_0_1"]
    assert data.official_train.tolist() == [True] * 4 + [False] * 2
    assert train.official_train is None
    np.testing.assert_array_equal(train.X, content["traindata"].T)
    assert train.y.tolist() == [0, 1, 9, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trainlabel": [[0, 1, 9, 1]]}, r"expected labels from 1 to 10, got \[0 1 9\]"),
        ({"testlabel": [[2, 10.5]]}, r"expected labels from 1 to 10, got"),
        ({"trainlabel": [[10, 1, 9]]}, r"one label a column, got shapes \(256, 4\) and \(1, 3\)"),
        ({"testdata": np.zeros((2, 256))}, r"256 pixels in the rows .* got shapes \(2, 256\)"),
        ({"trainlabel": "no"}, "got 'trainlabel' of class char"),
    ],
)
def test_bad_usps_files(tmp_path, monkeypatch, changes, message):
    path = tmp_path / "usps.mat"
    made_usps(path, **changes)
    monkeypatch.setattr(_identity, "locate", lambda file: path)
    with pytest.raises(ValueError, match=message):
        load_dataset("usps")


def test_real_usps(real_mirror, monkeypatch):
    real(real_mirror, "usps/usps.mat")
    data = load_dataset("usps")
    assert data.X.shape == (9298, 256)
    assert (data.X.min(), data.X.max()) == (0, 1)
    # The numbers of each digit that the literature prints, training and test.
    train = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    assert np.bincount(data.y[data.official_train]).tolist() == train
    assert np.bincount(data.y[~data.official_train]).tolist() == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    # A one is an upright stroke: its columns differ more than its rows do, in the order that the names say.
    names = np.array([name.split("_")[1:] for name in data.feature_names], dtype=int)
    mean = np.zeros((16, 16))
    mean[names[:, 0], names[:, 1]] = data.X[data.y == 1].mean(axis=0)
    assert mean.mean(axis=0).std() > 3 * mean.mean(axis=1).std()
    monkeypatch.setattr(usps, "read_mat", lambda *_: pytest.fail("a cached set was read again"))
    assert load_dataset("usps").content == data.content


# idx and MNIST


def idx(array, magic=None):
    head = struct.pack(">I", 0x800 + array.ndim if magic is None else magic)
    return head + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(np.uint8).tobytes()


def sha(content):
    return hashlib.sha256(content).hexdigest()


def test_idx_arrays(tmp_path):
    path = tmp_path / "a.gz"
    array = np.random.default_rng(0).integers(0, 256, (3, 4, 5))
    content = idx(array)
    for level in (1, 9):
        path.write_bytes(gzip.compress(content, level))
        np.testing.assert_array_equal(read_idx(path, (3, 4, 5), sha(content)), array)


ARRAY = np.arange(24).reshape(2, 3, 4)
GOOD = idx(ARRAY)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (idx(ARRAY, magic=0x801), "expected the magic number 00000803 .* in 3 dimensions, got 00000801"),
        (idx(ARRAY, magic=0xD03), "expected the magic number 00000803 .*, got 00000d03"),
        (b"", "expected the magic number 00000803 .*, got nothing"),
        (idx(ARRAY.reshape(2, 4, 3)), r"expected the dimensions \(2, 3, 4\) as 0{7}20{7}30{7}4, got 0{7}20{7}40{7}3"),
        (GOOD[:9], r"expected the dimensions \(2, 3, 4\)"),
        (GOOD[:-1], "expected 40 bytes of content, got 39"),
        (GOOD + b"\0", "expected 40 bytes of content, got more"),
        (GOOD[:-1] + b"\0", "expected content with SHA-256 [0-9a-f]{64}, got [0-9a-f]{64}"),
    ],
)
def test_bad_idx_content(tmp_path, content, message):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=message):
        read_idx(path, (2, 3, 4), sha(GOOD))


def test_damaged_compression(tmp_path):
    path = tmp_path / "a.gz"
    whole = gzip.compress(GOOD)
    flipped = bytearray(whole)
    flipped[-6] ^= 1  # in the checksum
    for damaged in (whole[:-9], whole[:12], b"<html>", bytes(flipped), GOOD):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be decompressed"):
            read_idx(path, (2, 3, 4), sha(GOOD))


def test_expansion_is_bounded(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(GOOD + bytes(1 << 24)))
    asked = []

    class Spy(gzip.GzipFile):
        def read(self, size=-1):
            asked.append(size)
            return super().read(size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gzip, "open", lambda path: Spy(path))
        with pytest.raises(ValueError, match="expected 40 bytes of content, got more"):
            read_idx(path, (2, 3, 4), sha(GOOD))
    assert asked == [41]


@pytest.fixture
def made_mnist(mirror, monkeypatch, without_hashes):
    """Files of 40 and 20 images in the format of MNIST."""
    without_hashes("mnist")
    rng = np.random.default_rng(2)
    parts = {}
    (mirror / "mnist").mkdir()
    for kind, n in (("train", 40), ("t10k", 20)):
        parts[kind] = rng.integers(0, 256, (n, 28, 28)), np.arange(n) % 10
        monkeypatch.setitem(mnist._SAMPLES, kind, n)
        for what, array in zip(("images-idx3", "labels-idx1"), parts[kind], strict=True):
            content = idx(array)
            monkeypatch.setitem(mnist._SHA256, f"{kind}-{what}", sha(content))
            (mirror / "mnist" / f"{kind}-{what}-ubyte.gz").write_bytes(gzip.compress(content))
    return SimpleNamespace(folder=mirror / "mnist", **parts)


def test_mnist_rows_labels_and_split(made_mnist):
    data, train = load_dataset("mnist"), load_dataset("mnist", part="train")
    images = np.concatenate([made_mnist.train[0], made_mnist.t10k[0]])
    np.testing.assert_array_equal(data.X, images.reshape(60, 784))
    assert data.feature_names[29] == "pixel_1_1"
    assert data.y.tolist() == [*range(10)] * 6
    assert data.official_train.tolist() == [True] * 40 + [False] * 20
    np.testing.assert_array_equal(train.X, data.X[:40])
    assert train.official_train is None
    assert load_dataset("mnist").content == data.content


def test_mnist_classes(made_mnist):
    whole, two, three = (load_dataset("mnist", classes=c) for c in (None, [8, 3], [1, 2, 7]))
    rows = np.isin(whole.y, [3, 8])
    np.testing.assert_array_equal(two.X, whole.X[rows])
    np.testing.assert_array_equal(two.y, np.where(whole.y[rows] == 3, 1, -1))
    np.testing.assert_array_equal(two.official_train, whole.official_train[rows])
    assert two.name == "mnist_8_3"
    assert counts(three.y) == {1: 6, 2: 6, 7: 6}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"part": "test"}, "mnist: part must be one of all, train, got 'test'"),
        ({"classes": [3]}, r"mnist: classes must hold at least two distinct digits from 0 to 9, got \[3\]"),
        ({"classes": [3, 3]}, r"distinct digits from 0 to 9, got \[3, 3\]"),
        ({"classes": [3, 10]}, r"digits from 0 to 9, got \[3, 10\]"),
        ({"classes": "38"}, r"mnist: classes must be a list of digits such as \[3, 8\], or null, got '38'"),
        ({"classes": [3, True]}, "mnist: each of classes must be an integer of at least 0, got True"),
    ],
)
def test_bad_mnist_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("mnist", **params)


def test_mnist_files_of_other_content_are_refused(made_mnist):
    path = made_mnist.folder / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(idx(np.zeros(20))))
    assert load_dataset("mnist", part="train").X.shape == (40, 784)
    with pytest.raises(ValueError, match=r"t10k-labels-idx1-ubyte\.gz: expected content with SHA-256"):
        load_dataset("mnist")
    path.unlink()
    with pytest.raises(MissingDataError, match=r"mnist: the file mnist/t10k-labels-idx1-ubyte\.gz is missing"):
        load_dataset("mnist")


def test_real_mnist_has_the_content_that_is_known_by_its_md5(real_mirror):
    for stem, md5 in MD5.items():
        content = gzip.decompress(real(real_mirror, f"mnist/{stem}-ubyte.gz").read_bytes())
        assert hashlib.md5(content, usedforsecurity=False).hexdigest() == md5
        assert sha(content) == mnist._SHA256[stem]


def test_real_mnist(real_mirror, data_folder):
    """Two digits of the training part: the full set takes 439 MB."""
    real(real_mirror, "mnist/train-images-idx3-ubyte.gz")
    data = load_dataset("mnist", part="train", classes=[3, 8])
    assert counts(data.y) == {-1: 6131, 1: 5851}
    assert data.X.shape == (11982, 784)
    assert (data.X.min(), data.X.max()) == (0, 255)
    (entry,) = (data_folder / "cache").glob("mnist-*")
    assert entry.stat().st_size >= data.X.nbytes
    assert load_dataset("mnist", part="train", classes=[3, 8]).content == data.content


# CIFAR-10: binary


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(info)


@pytest.fixture
def small(monkeypatch):
    """50 training images and 10 test images, in batches of 10."""
    for module, name, value in (
        (_cifar, "N_TRAIN", 50),
        (_cifar, "N_TEST", 10),
        (_cifar, "_BATCH", 10),
        (cifar10, "N_TRAIN", 50),
        (cifar10, "_BLOCK", 7),
    ):
        monkeypatch.setattr(module, name, value)


def batches(seed=0):
    rng = np.random.default_rng(seed)
    names = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    made = {}
    for name in names:
        records = rng.integers(0, 256, (10, 3073), dtype=np.uint8)
        records[:, 0] = rng.permutation(10)
        made[f"cifar-10-batches-bin/{name}"] = records.tobytes()
    return made


def test_binary_batches_in_their_order(small, tmp_path):
    path = tmp_path / "c.tar.gz"
    made = batches()
    members = [*made.items()][::-1]
    tar(path, [("cifar-10-batches-bin/readme.html", b"x"), *members])
    images, y = _cifar.read_binary(path)
    raw = np.frombuffer(b"".join(made.values()), dtype=np.uint8).reshape(60, 3073)
    assert images.shape == (60, 32, 32, 3)
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(y, raw[:, 0])
    for n, row, column, colour in ((0, 0, 0, 0), (13, 5, 31, 1), (59, 31, 7, 2)):
        assert images[n, row, column, colour] == raw[n, 1 + 1024 * colour + 32 * row + column]


def changed(name, content):
    return {**batches(), f"cifar-10-batches-bin/{name}": content}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (changed("test_batch.bin", b"\0" * 30729).items(), "expected 30730 bytes in .*test_batch.bin', got 30729"),
        (changed("test_batch.bin", b"\0" * 99999).items(), "expected 30730 bytes in .*test_batch.bin', got more"),
        (changed("data_batch_2.bin", b"\n" * 30730).items(), "labels from 0 to 9 in .*data_batch_2.bin', got 10"),
        (changed("data_batch_6.bin", b"").items(), "unexpected or repeated member .*data_batch_6.bin"),
        ([*batches().items(), *batches().items()], "unexpected or repeated member .*data_batch_1.bin"),
        ([*batches().items()][1:-1], "lacks data_batch_1.bin, test_batch.bin; expected six batches"),
        ([("../data_batch_1.bin", b"\0" * 30730)], "unexpected or repeated member '../data_batch_1.bin'"),
        ([("cifar-10-batches-bin/data_batch_1.bin", None)], "is a link or special file"),
    ],
)
def test_bad_binary_archives(small, tmp_path, members, message):
    path = tmp_path / "c.tar.gz"
    tar(path, members)
    with pytest.raises(ValueError, match=message):
        _cifar.read_binary(path)
    assert [item.name for item in tmp_path.iterdir()] == ["c.tar.gz"]


def test_cut_archives(small, tmp_path):
    path = tmp_path / "c.tar.gz"
    tar(path, batches().items())
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:20], b"", b"<html>" * 99):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"c\.tar\.gz: (damaged archive|lacks)"):
            _cifar.read_binary(path)


def test_the_features_of_the_official_form(small, tmp_path, monkeypatch):
    path = tmp_path / "c.tar.gz"
    made = batches()
    tar(path, made.items())
    monkeypatch.setattr(_identity, "locate", lambda file: path)
    pixels, features = (load_dataset("cifar10", form="binary", features=kind) for kind in ("pixels", "gist"))
    raw = np.frombuffer(b"".join(made.values()), dtype=np.uint8).reshape(60, 3073)
    np.testing.assert_array_equal(pixels.X, raw[:, 1:])
    assert pixels.feature_names[1024 + 33] == "green_1_1"
    red, green, blue = raw[:, 1:].reshape(60, 3, 32, 32).transpose(1, 0, 2, 3).astype(float)
    np.testing.assert_allclose(features.X, gist(0.299 * red + 0.587 * green + 0.114 * blue), atol=0.6e-6)
    np.testing.assert_array_equal(features.X, features.X.round(6))
    assert features.feature_names[[0, 1, 4, 16, 128, 511]].tolist() == [
        "gist_0_0_0_0",
        "gist_0_0_0_1",
        "gist_0_0_1_0",
        "gist_0_1_0_0",
        "gist_1_0_0_0",
        "gist_3_7_3_3",
    ]
    assert features.official_train.tolist() == [True] * 50 + [False] * 10
    assert "binary archive" in features.source
    train = load_dataset("cifar10", form="binary", part="train")
    np.testing.assert_array_equal(train.X, features.X[:50])
    assert train.official_train is None
    # Minutes of work on the real images: never done twice.
    monkeypatch.setattr(cifar10, "gist", lambda *_, **__: pytest.fail("cached features were computed again"))
    assert load_dataset("cifar10", form="binary").content == features.content


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"features": "hog"}, "cifar10: features must be one of gist, pixels, got 'hog'"),
        ({"part": "test"}, "cifar10: part must be one of all, train, got 'test'"),
        ({"form": "png"}, "cifar10: form must be one of auto, binary, jpeg, got 'png'"),
    ],
)
def test_bad_cifar_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("cifar10", **params)


def test_missing_cifar_files(mirror):
    with pytest.raises(MissingDataError, match=r"cifar-10-binary\.tar\.gz is missing.*provsel fetch cifar10"):
        load_dataset("cifar10", form="binary")
    with pytest.raises(MissingDataError, match=r"cifar10_jpeg\.tar\.xz is missing.*made from the published"):
        load_dataset("cifar10", form="jpeg")
    (mirror / "cifar10").mkdir()
    (mirror / "cifar10" / "cifar-10-binary.tar.gz").write_bytes(b"x")
    with pytest.raises(DataIntegrityError, match="expected 170052171 bytes"):
        load_dataset("cifar10")


# CIFAR-10: JPEG


def jpeg(seed, size=(32, 32), mode="RGB"):
    """A smooth image, which survives the compression well."""
    rng = np.random.default_rng(seed)
    image = Image.fromarray(rng.integers(0, 256, (2, 2, 3), dtype=np.uint8)).resize(size, Image.Resampling.BILINEAR)
    stream = io.BytesIO()
    image.convert(mode).save(stream, "JPEG", quality=95)
    return np.asarray(image), stream.getvalue()


def huge():
    """A JPEG file whose header announces 65,535 by 65,535 pixels."""
    content = jpeg(1)[1]
    place = content.index(b"\xff\xc0") + 5
    return content[:place] + b"\xff" * 4 + content[place + 4 :]


LABELS = np.random.default_rng(9).permutation(np.repeat(np.arange(10), 5))


def label_text(labels=LABELS):
    return f"var labels=[{', '.join(map(str, labels))}];".encode()


@pytest.fixture
def jpegs(small, tmp_path):
    """The members of an archive, the originals by member, and the file of labels."""
    originals, members = {}, {}
    for part, each in (("train", 5), ("test", 1)):
        for c, kind in enumerate(_cifar.CLASSES):
            for number in range(each):
                name = f"{part}/{kind}/{number:04d}.jpg"
                originals[name], members[name] = jpeg([part == "test", c, number])
    labels = tmp_path / "labels.js.xz"
    labels.write_bytes(lzma.compress(label_text([*LABELS, 3, 8])))
    return SimpleNamespace(originals=originals, members=members, labels=labels, path=tmp_path / "j.tar.xz")


def test_jpeg_images_in_the_original_order(jpegs):
    tar(jpegs.path, [("README.md", b"x"), *jpegs.members.items()], "w:xz")
    images, y = _cifar.read_jpeg(jpegs.path, jpegs.labels)
    assert y[:50].tolist() == LABELS.tolist()
    assert y[50:].tolist() == [*range(10)]
    seen = dict.fromkeys(range(10), 0)
    for row, label in enumerate(LABELS.tolist()):
        original = jpegs.originals[f"train/{_cifar.CLASSES[label]}/{seen[label]:04d}.jpg"]
        seen[label] += 1
        assert np.abs(images[row].astype(int) - original).mean() < 6
    for label in range(10):
        original = jpegs.originals[f"test/{_cifar.CLASSES[label]}/0000.jpg"]
        assert np.abs(images[50 + label].astype(int) - original).mean() < 6
    # The control of these distances: another image is further away.
    assert np.abs(images[50].astype(int) - original).mean() > 20


NAME = "test/cat/0000.jpg"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({NAME: b"<html>"}, "'test/cat/0000.jpg' is no intact JPEG image"),
        ({NAME: jpeg(1)[1][:400]}, "'test/cat/0000.jpg' is no intact JPEG image"),
        ({NAME: huge()}, "'test/cat/0000.jpg' is no intact JPEG image .*exceeds limit"),
        ({NAME: bytes(40000)}, "'test/cat/0000.jpg' has more than 32768 bytes"),
        ({NAME: jpeg(1, size=(33, 32))[1]}, r"expected 32 x 32 RGB in 'test/cat/0000.jpg', got \(33, 32\) RGB"),
        ({NAME: jpeg(1, mode="L")[1]}, r"expected 32 x 32 RGB in .* got \(32, 32\) L"),
        ({"train/cat/0005.jpg": jpeg(1)[1]}, "unexpected or repeated member 'train/cat/0005.jpg'"),
        ({"train/cow/0000.jpg": jpeg(1)[1]}, "unexpected or repeated member 'train/cow/0000.jpg'"),
        ({"../train/cat/0000.jpg": b""}, "unexpected or repeated member '../train/cat/0000.jpg'"),
        ({"train/cat/link": None}, "'train/cat/link' is a link or special file"),
    ],
)
def test_bad_jpeg_archives(jpegs, change, message):
    tar(jpegs.path, {**jpegs.members, **change}.items(), "w:xz")
    with pytest.raises(ValueError, match=message):
        _cifar.read_jpeg(jpegs.path, jpegs.labels)


def test_incomplete_and_repeated_jpeg_images(jpegs):
    members = [*jpegs.members.items()]
    tar(jpegs.path, members[1:], "w:xz")
    with pytest.raises(ValueError, match="expected 60 images, got 59"):
        _cifar.read_jpeg(jpegs.path, jpegs.labels)
    tar(jpegs.path, [members[0], *members], "w:xz")
    with pytest.raises(ValueError, match=r"unexpected or repeated member 'train/airplane/0000\.jpg'"):
        _cifar.read_jpeg(jpegs.path, jpegs.labels)
    tar(jpegs.path, members, "w:xz")
    whole = jpegs.path.read_bytes()
    jpegs.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"j\.tar\.xz: damaged archive"):
        _cifar.read_jpeg(jpegs.path, jpegs.labels)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lzma.compress(label_text(LABELS[:-1])), r"expected 5 training labels of each class, got \["),
        (lzma.compress(label_text(np.zeros(50, dtype=int))), r"labels of each class, got \[50, 0,"),
        (lzma.compress(label_text([10, *LABELS])), "with labels from 0 to 9. It is another file"),
        (lzma.compress(b"alert(1)"), "expected 'var labels="),
        (lzma.compress(label_text())[:-8], "cannot be decompressed"),
        (label_text(), "cannot be decompressed"),
    ],
)
def test_bad_label_files(small, tmp_path, content, message):
    path = tmp_path / "labels.js.xz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        _cifar.read_labels(path)


def test_real_cifar_labels_and_first_images(real_mirror):
    """A part only: decoding all 60,000 images takes seconds, and their features a minute."""
    labels = _cifar.read_labels(real(real_mirror, "cifar10/cifar10_labels.js.xz"))
    # The first labels of the official data_batch_1.
    assert labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    decoded = []
    with contextlib.closing(_cifar.tar_members(real(real_mirror, "cifar10/cifar10_jpeg.tar.xz"))) as members:
        for name, content in members:
            if name != "README.md":
                decoded.append(_cifar._decode(real_mirror, name, content))
            if len(decoded) == 20:
                break
    features = gist(np.array(decoded) @ cifar10._LUMA)
    assert features.shape == (20, 512)
    assert np.isfinite(features).all()
    assert features.min() > 0
    assert np.linalg.matrix_rank(features) == 20


# All


@pytest.mark.parametrize("name", ["ar", "cifar10", "coil20", "mnist", "orl", "usps"])
def test_every_set_can_be_fetched_and_fails_in_words_without_files(name):
    source = read_source(name)
    assert any(file.urls for file in source.files)
    with pytest.raises(MissingDataError, match=f"{name}: the file .* is missing.*provsel fetch {name}"):
        load_dataset(name)


@pytest.mark.parametrize("name", ["ar", "coil20", "orl", "usps"])
def test_tampered_files(mirror, name):
    (file,) = read_source(name).files
    (mirror / file.path).parent.mkdir()
    (mirror / file.path).write_bytes(bytes(file.size))
    with pytest.raises(DataIntegrityError, match="expected SHA-256"):
        load_dataset(name)
    (mirror / file.path).write_bytes(b"x")
    with pytest.raises(DataIntegrityError, match=f"expected {file.size} bytes"):
        load_dataset(name)
