"""Loaders of files on made files: the formats of MNIST, CIFAR-10, TechTC, DEXTER and RCV1."""

import gzip
import io
import lzma
import struct
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from provlab.data import DataIntegrityError, MissingDataError, load_dataset
from provlab.data.loaders import techtc
from provlab.data.loaders.cifar10 import read_binary, read_jpeg
from provlab.data.loaders.dexter import read_data
from provlab.data.loaders.mnist import read_idx
from provlab.data.loaders.rcv1_ccat import read_official, read_stems


def entries(X):
    return {(i, j): v for i, j, v in zip(*X.nonzero(), X.data, strict=True)}


@pytest.mark.parametrize("shape", [(7,), (3, 4, 5)])
def test_idx_arrays(shape, tmp_path):
    array = np.random.default_rng(0).integers(0, 256, shape)
    head = struct.pack(f">I{len(shape)}I", 0x800 + len(shape), *shape)
    (tmp_path / "a.gz").write_bytes(
        gzip.compress(head + array.astype(np.uint8).tobytes())
    )
    assert_array_equal(read_idx(tmp_path / "a.gz"), array)


# ---- CIFAR-10


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
    members = {
        f"cifar-10-batches-bin/{name}": batch.tobytes()
        for name, batch in zip(names, raw, strict=True)
    }
    tar(
        tmp_path / "c.tar.gz",
        {**dict([*members.items()][::-1]), "cifar-10-batches-bin/readme.html": b"x"},
        "w:gz",
    )
    images, y, n_train = read_binary(tmp_path / "c.tar.gz")
    raw = raw.reshape(60, 3073)
    assert (images.shape, images.dtype, n_train) == ((60, 32, 32, 3), np.uint8, 50)
    assert_array_equal(y, raw[:, 0])
    for n, row, column, colour in ((0, 0, 0, 0), (13, 5, 31, 1), (59, 31, 7, 2)):
        assert (
            images[n, row, column, colour]
            == raw[n, 1 + 1024 * colour + 32 * row + column]
        )


def jpeg(colour):
    file = io.BytesIO()
    Image.new("RGB", (32, 32), colour).save(file, format="JPEG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("mode", "top"), [("w:xz", ""), ("w:gz", "CIFAR-10-images-d7d05618/")]
)
def test_jpeg_images_in_the_order_of_the_labels(mode, top, tmp_path):
    """Within a class the order is that of the numbers; test images stand by class."""
    members = {f"{top}README.md": b"x"}
    for red, name in enumerate(["train/cat/0001", "train/airplane/0000", "test/dog/0000", "train/cat/0000",
                                "test/airplane/0000"]):  # fmt: skip
        members[f"{top}{name}.jpg"] = jpeg((50 * red, 0, 0))
    tar(tmp_path / "j.tar.xz", members, mode)
    (tmp_path / "l.js.xz").write_bytes(lzma.compress(b"var labels=[3, 0, 3, 9, 9];\n"))
    images, y, n_train = read_jpeg(tmp_path / "j.tar.xz", tmp_path / "l.js.xz")
    assert y.tolist() == [3, 0, 3, 0, 5]
    assert np.round(images[:, 9, 9, 0] / 50).tolist() == [3, 1, 0, 4, 2]
    assert (images.shape, images.dtype, n_train) == ((5, 32, 32, 3), np.uint8, 3)
    test, labels, n_train = read_jpeg(
        tmp_path / "j.tar.xz", tmp_path / "l.js.xz", "test"
    )
    assert_array_equal(test, images[3:])
    assert (labels.tolist(), n_train) == ([0, 5], 0)


# ---- TechTC

TOKENS = b"+1 a paintball gear paintball s\xa0pace\n-1 b river gear  fishing \n-1 a\n1 b the paintball\n"


def write_tokens(root, content=TOKENS):
    path = root / "techtc100" / "tokens" / "Exp_1_2.txt.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(content))


def load(**params):
    return load_dataset("techtc", set="Exp_1_2", **params)


def test_words_are_split_at_blanks_only_counted_and_sorted(mirror, data_folder):
    write_tokens(data_folder)
    data = load()
    assert data.feature_names.tolist() == ["fishing", "paintball", "river", "s\xa0pace"]
    assert_array_equal(
        data.X.toarray(), [[0, 2, 0, 1], [1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    )
    assert data.y.tolist() == [1, -1, -1, 1]
    assert (data.name, data.official_train) == ("Exp_1_2", None)
    assert "token lists tokens/Exp_1_2.txt.xz, SHA-256" in data.source
    assert load(min_word_length=1).X.shape == (4, 6)
    assert load(form="tokens").content == data.content
    with pytest.raises(
        ValueError, match=r"Exp_1_2 has no word of 50 letters. Lower min_word_length"
    ):
        load(min_word_length=50)
    # is searched first, and read anew
    write_tokens(mirror, b"+1 a paintball\n-1 a fishing\n")
    assert load().X.shape == (2, 2)


@given(st.integers(0, 2**32 - 1))
def test_weightings_are_those_of_scikit_learn(seed):
    before = np.random.default_rng(seed).poisson(0.6, size=(7, 9)).astype(float)
    counts = sparse.csr_array(before)
    logs = np.where(before > 0, 1 + np.log(np.maximum(before, 1)), 0)
    expected = {
        "counts": before, "binary": before > 0, "log": logs, "l2": normalize(before), "log_l2": normalize(logs),
        "tfidf_l2": TfidfTransformer().fit_transform(before).toarray(),
    }  # fmt: skip
    for weighting, X in expected.items():
        assert_allclose(techtc.weigh(counts, weighting).toarray(), X, rtol=1e-13)
    assert_array_equal(counts.toarray(), before)


# ---- DEXTER and RCV1


def test_documents_of_dexter(tmp_path):
    (tmp_path / "a.data").write_bytes(b"1:5 20000:7 \n\n2:1\n")
    X = read_data(tmp_path / "a.data")
    assert X.shape == (3, 20000)
    assert entries(X) == {(0, 0): 5, (0, 19999): 7, (2, 1): 1}


def packed(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_official_files_of_rcv1(tmp_path):
    """Vectors begin with the number of the document; labels are those of the topics' file, in any order."""
    train = packed(
        tmp_path / "train.gz", "2286  1:0.5 3:.25 47236:1\n2287  9:1e-3\n26150 \n"
    )
    test = packed(tmp_path / "test.gz", "26151  2:0.125\n")
    topics = packed(
        tmp_path / "topics.gz",
        "CCAT 26151 1\nECAT 2287 1\nC15 2286 1\nCCAT 2286 1\nXCCAT 26150 1\n",
    )
    X, y, n_train, words = read_official([train, test, topics], "CCAT")
    assert (X.shape, n_train, words) == ((4, 47236), 3, "files of LYRL2004")
    assert entries(X) == {
        (0, 0): 0.5,
        (0, 2): 0.25,
        (0, 47235): 1,
        (1, 8): 0.001,
        (3, 1): 0.125,
    }
    assert y.tolist() == [1, -1, -1, 1]
    assert read_official([train, topics], "CCAT")[0].shape == (3, 47236)
    (tmp_path / "stems").write_text("ab-c 2 8.4\n_ 1 10.05\nzz 4 2.25\n0x 3 1\n")
    assert read_stems(tmp_path / "stems") == ["_", "ab-c", "0x", "zz"]


def test_official_files_are_taken_where_they_are_there(mirror):
    for name in (
        "rcv1/lyrl2004_vectors_train.dat.gz",
        "rcv1/rcv1-v2.topics.qrels.gz",
        "cifar10/cifar-10-binary.tar.gz",
    ):
        (mirror / name).parent.mkdir(exist_ok=True)
        packed(mirror / name, "")
    with pytest.raises(
        DataIntegrityError, match=r"expected SHA-256 5468f656.* found SHA-256"
    ):
        load_dataset("rcv1_ccat")
    # of which they have another number, or not all are there
    for params in ({"n_train": 100}, {"part": "all"}):
        with pytest.raises(
            MissingDataError, match=r"rcv1v2_subsets_fixed.npz is missing"
        ):
            load_dataset("rcv1_ccat", **params)
    with pytest.raises(
        DataIntegrityError, match=r"cifar-10-binary\.tar\.gz: expected 170052171 bytes"
    ):
        load_dataset("cifar10")
