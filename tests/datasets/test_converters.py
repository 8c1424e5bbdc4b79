"""Converters on made sources; test_fetch_everything runs them on the published ones."""

import gzip
import lzma
import os
import pickle
import tarfile

import made_sources as made
import numpy as np
import pytest
from scipy import sparse

from provlab.datasets import read_source, source_names
from provlab.datasets.converters import converter_names, run_converter
from provlab.datasets.converters.rcv1 import CODES, Shift, repaired


def written(folder, **contents):
    paths = []
    for name, content in contents.items():
        paths.append(folder / name)
        paths[-1].write_bytes(content)
    return paths


def test_all_converters_of_the_registry_are_known_and_no_others(tmp_path):
    used = {file.converter for name in source_names() for file in read_source(name).files if file.converter}
    assert used == {*converter_names()}
    for name in ("os", "packing", "../techtc", "__init__", "", "pack_xz.lzma"):
        with pytest.raises(ValueError, match=r"unknown converter .*; known converters are cifar10_jpeg, pack_gz"):
            run_converter(name, [], tmp_path / "x")


@pytest.mark.parametrize(("name", "unpack"), [("pack_xz", lzma.decompress), ("pack_gz", gzip.decompress)])
def test_plain_files_are_packed_the_same_every_time(name, unpack, tmp_path):
    sources = written(tmp_path, plain=b"some text" * 99)
    packed = []
    for date in (1, 2_000_000_000):
        os.utime(sources[0], (date, date))
        run_converter(name, sources, tmp_path / "packed")
        packed.append((tmp_path / "packed").read_bytes())
    assert packed[0] == packed[1]
    assert unpack(packed[0]) == b"some text" * 99


def test_the_archive_of_a_repository_is_the_same_however_it_was_packed(tmp_path):
    images = [f"{part}/{kind}/{i:04}.jpg" for part in ("test", "train") for kind in ("cat", "dog") for i in range(2)]
    folders = ["train/", "train/cat/", "train/dog/", "test/", "test/cat/", "test/dog/"]
    archives = set()
    for packing in ("w:gz", "w:xz", "w"):
        names = [*images, "README.md", *folders]
        sources = written(tmp_path, repository=made.repository(names, f"top-{packing[-2:]}/", mode=packing))
        run_converter("cifar10_jpeg", sources, tmp_path / "out.tar.xz")
        archives.add(lzma.decompress((tmp_path / "out.tar.xz").read_bytes()))
    assert len(archives) == 1
    with tarfile.open(tmp_path / "out.tar.xz") as archive:
        assert [info.name for info in archive][:4] == ["train", "train/cat", "train/cat/0000.jpg", "train/cat/0001.jpg"]
        assert [info.name for info in archive][-2:] == ["test/dog/0001.jpg", "README.md"]
        assert {(info.mtime, info.uid, info.uname) for info in archive} == {(1577836800, 0, "")}
        assert archive.extractfile("test/cat/0000.jpg").read() == b"test/cat/0000.jpg"


# ---- TechTC


def test_token_lists(tmp_path):
    sources = written(tmp_path, pkl=made.token_pickle(*made.HALVES))
    run_converter("techtc_tokens", sources, tmp_path / "new" / "Exp_1_2.txt.xz")
    assert lzma.decompress((tmp_path / "new" / "Exp_1_2.txt.xz").read_bytes()) == made.TOKEN_TEXT


class Canary:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (os.mkdir, (self.path,))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_names_in_pickles_are_not_looked_up(protocol, tmp_path):
    sources = written(tmp_path, pkl=pickle.dumps([Canary(tmp_path / "canary")], protocol))
    with pytest.raises(ValueError, match=r"pkl: expected a pickle of two halves .*, got the name (posix|nt).mkdir"):
        run_converter("techtc_tokens", sources, tmp_path / "out")
    assert not (tmp_path / "canary").exists()
    assert not (tmp_path / "out").exists()
    pickle.loads(sources[0].read_bytes())  # noqa: S301 - the control: the canary sings where names are looked up
    assert (tmp_path / "canary").is_dir()


WHOLE = made.token_pickle(*made.HALVES)
PICKLES = {
    "a system call": b"cos\nsystem\n(S'x'\ntR.",
    "getattr": b"c__builtin__\ngetattr\n(cnumpy\nndarray\nS'tofile'\ntR.",
    "a submodule": WHOLE.replace(b"cnumpy\ndtype", b"cnumpy.lib\ndtype"),
    "cut": WHOLE[:-40],
    "empty": b"",
    "no pickle": b"<html>",
    "one half": b"(lp0\n.",
    "numbers": b"I3\n.",
}


@pytest.mark.parametrize("case", PICKLES)
def test_other_pickles_are_one_clear_error_and_keep_what_was_there(case, tmp_path):
    (tmp_path / "out").write_bytes(b"kept")
    with pytest.raises(ValueError, match=r"pkl: expected a pickle of two halves of documents and labels, got .*fetch"):
        run_converter("techtc_tokens", written(tmp_path, pkl=PICKLES[case]), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"kept"


def lists(folder):
    names = ("Exp_10341_14271.txt.xz", "Exp_10341_10755.txt.xz")
    return written(folder, **dict.fromkeys(names, lzma.compress(made.TOKEN_TEXT)))


ROWS = (made.page_row(1, 10341, 10755, 5), made.page_row(2, 10341, 14271, 5, "1"), made.page_row(3, 7, 8, 99))


def test_the_table(tmp_path):
    [page] = written(tmp_path, page=made.page(*ROWS))
    run_converter("techtc_table", [page, *lists(tmp_path)], tmp_path / "out.tsv")
    head, *rows = (line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines())
    assert head[:2] == ["dataset", "documents"]
    sha256 = read_source("techtc").find("techtc100/tokens/Exp_10341_10755.txt.xz").sha256
    sizes = ["5", "3", "2", "6", "5", "1"]
    assert rows[0] == ["Exp_10341_10755", *sizes, sha256, "Arts/10341", "Arts/10755", "0.75"]
    assert [rows[1][0], *rows[1][-3:]] == ["Exp_10341_14271", "Arts/10341", "Arts/14271", "1"]
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:1], r"Exp_10341_14271\.txt\.xz: expected 0 documents as in .*page, got 5"),
        ((made.page_row(1, 10341, 10755, 6), ROWS[1]), "expected 6 documents as in .*page, got 5"),
        ((ROWS[0].replace("dmoz.org", "example.org"), ROWS[1]), "expected 0 documents as in .*page, got 5"),
    ],
)
def test_pages_that_do_not_fit(rows, message, tmp_path):
    (tmp_path / "out.tsv").write_text("kept")
    [page] = written(tmp_path, page=made.page(*rows))
    with pytest.raises(ValueError, match=message):
        run_converter("techtc_table", [page, *lists(tmp_path)], tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == "kept"


# ---- RCV1


@pytest.mark.parametrize("early", [0, 1, 3])
def test_labels_that_begin_early_are_moved_back(early):
    """Of six rows the last three have no last features, and their labels begin that many columns early."""
    rng = np.random.default_rng(early)
    features, topics = rng.random((6, 9)) * (rng.random((6, 9)) < 0.5), rng.random((6, len(CODES))) < 0.1
    features[3:, 9 - early :] = 0
    frame = np.hstack([features, topics])
    frame[3:] = np.hstack([features[3:, : 9 - early], topics[3:], np.zeros((3, early))])
    X, found = repaired(sparse.coo_array(frame), Shift(9, slice(3, 6), early))
    assert X.shape == (6, 47236)
    np.testing.assert_array_equal(X.toarray()[:, :9], features)
    assert X[:, 9:].nnz == 0
    np.testing.assert_array_equal(found, topics)
