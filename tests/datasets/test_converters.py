"""Converters: whole results from made sources; from others one clear error, and nothing half-written."""

import gzip
import hashlib
import lzma
import tarfile
from dataclasses import replace

import numpy as np
import pytest

import made_sources as made
from provlab.datasets import read_source
from provlab.datasets.converters import _rcv1_repair, cifar10_jpeg, converter_names, rcv1_subsets, run_converter
from provlab.datasets.converters import techtc_table as table
from provsel.streams.npz import read_npz


def test_the_folder_is_the_registry(tmp_path):
    assert converter_names() == ["cifar10_jpeg", "pack_gz", "pack_xz", "rcv1_subsets", "techtc_table", "techtc_tokens"]
    for name in ("os", "_sources", "../techtc", "__init__", "", "pack_xz.lzma"):
        with pytest.raises(ValueError, match=r"unknown converter .*; known converters are cifar10_jpeg, pack_gz"):
            run_converter(name, [], tmp_path / "x")


@pytest.mark.parametrize("name", converter_names())
def test_another_number_of_sources(name, tmp_path):
    with pytest.raises(ValueError, match=rf"^{name}: expected .*, got 0.*\. Correct made_from"):
        run_converter(name, [], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def few(monkeypatch):
    """Let samples have four rows and topics, and the repository thirty images."""
    monkeypatch.setattr(_rcv1_repair, "ROWS", 4)
    monkeypatch.setattr(rcv1_subsets, "ROWS", 4)
    for module in (_rcv1_repair, rcv1_subsets):
        monkeypatch.setattr(module, "CODES", made.CODES)
    monkeypatch.setattr(rcv1_subsets, "_SHIFTS", (_rcv1_repair.Shift(**made.SHIFT),) * 2)
    monkeypatch.setattr(cifar10_jpeg, "N_TRAIN", 20)
    monkeypatch.setattr(cifar10_jpeg, "N_TEST", 10)


def written(folder, **contents):
    paths = []
    for name, content in contents.items():
        paths.append(folder / name)
        paths[-1].write_bytes(content)
    return paths


# ---- whole sources


def test_token_lists(tmp_path):
    sources = written(tmp_path, pkl=made.token_pickle(*made.HALVES))
    run_converter("techtc_tokens", sources, tmp_path / "new" / "Exp_1_2.txt.xz")
    assert lzma.decompress((tmp_path / "new" / "Exp_1_2.txt.xz").read_bytes()) == made.TOKEN_TEXT


@pytest.mark.parametrize(("name", "unpack"), [("pack_xz", lzma.decompress), ("pack_gz", gzip.decompress)])
def test_plain_files_are_packed_the_same_every_time(name, unpack, tmp_path, monkeypatch):
    sources = written(tmp_path, plain=b"some text" * 99)
    packed = []
    for stamp in (1, 2_000_000_000):
        monkeypatch.setattr("time.time", lambda stamp=stamp: stamp)
        run_converter(name, sources, tmp_path / "packed")
        packed.append((tmp_path / "packed").read_bytes())
    assert packed[0] == packed[1]
    assert unpack(packed[0]) == b"some text" * 99
    monkeypatch.setattr(f"provlab.datasets.converters.{name}._MAX_BYTES", 890)
    with pytest.raises(ValueError, match="plain: expected a file to pack of at most 890 bytes, got more"):
        run_converter(name, sources, tmp_path / "packed")
    assert (tmp_path / "packed").read_bytes() == packed[0]


def test_the_archive_of_a_repository(few, tmp_path):
    names = cifar10_jpeg._names()
    assert len(names) == 2 + 20 + 30 + 1
    archives = {}
    for packing in ("w:gz", "w:xz", "w"):
        sources = written(tmp_path, repository=made.repository(names, f"top-{packing[-2:]}/", mode=packing))
        run_converter("cifar10_jpeg", sources, tmp_path / "out.tar.xz")
        archives[packing] = lzma.decompress((tmp_path / "out.tar.xz").read_bytes())
    assert len({*archives.values()}) == 1
    with tarfile.open(tmp_path / "out.tar.xz") as archive:
        assert [info.name for info in archive] == [name.rstrip("/") for name in names]
        assert {(info.mtime, info.uid, info.uname) for info in archive} == {(1577836800, 0, "")}
        assert archive.extractfile("test/cat/0000.jpg").read() == b"test/cat/0000.jpg"


def test_samples(few, tmp_path, monkeypatch):
    first = made.packed(made.made_sample())
    second = made.packed(made.made_sample(np.hstack([made.FEATURES, made.TOPICS])[[3, 2, 1, 0]]))
    shifts = (_rcv1_repair.Shift(**made.SHIFT), _rcv1_repair.Shift(width=5, start=0, stop=0, columns=0))
    monkeypatch.setattr(rcv1_subsets, "_SHIFTS", shifts)
    run_converter("rcv1_subsets", written(tmp_path, one=first, two=second), tmp_path / "out.npz")
    arrays = read_npz(tmp_path / "out.npz")
    X = np.zeros((8, 5))
    indptr = arrays["indptr"].tolist()
    for i in range(8):
        X[i, arrays["indices"][indptr[i] : indptr[i + 1]]] = arrays["data"][indptr[i] : indptr[i + 1]]
    features = made.FEATURES.astype(np.float32)
    np.testing.assert_array_equal(X, np.vstack([features, features[[3, 2, 1, 0]]]))
    topics = np.unpackbits(arrays["topics"], axis=1)[:, : arrays["n_topics"]]
    np.testing.assert_array_equal(topics, np.vstack([made.TOPICS, made.TOPICS[[3, 2, 1, 0]]]))
    assert arrays["topic_codes"].tolist() == [*made.CODES]
    assert arrays["subset"].tolist() == [1] * 4 + [2] * 4
    assert arrays["half"].tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    assert arrays["first_occurrence"].tolist() == [True] * 4 + [False] * 4
    assert arrays["shape"].tolist() == [8, 47236]


def changed(place, value):
    frame = made.made_frame()
    frame[place] = value
    return frame


WRONG = {
    "a label that is 2": (changed((0, 5), 2), None, "labels of exactly 0 or 1"),
    "a moved label that is a half": (changed((2, 4), 0.5), None, "labels of exactly 0 or 1"),
    "a label in the column that was left": (
        changed((3, 8), 1),
        None,
        "no labels in the last 1 columns of the shifted half",
    ),
    "no topic above": (changed((0, 7), 0), None, "topic CCAT wherever C11 is"),
    "a longer row": (changed((1, 1), 0.99), None, "rows of length 1"),
    "an empty row": (changed((1, 1), 0), None, "rows of length 1"),
    "a negative weight": (changed((1, 1), -1), None, "weights from 0 to 1"),
    "a weight that is none": (changed((1, 1), np.nan), None, "weights from 0 to 1"),
    "a weight that is huge": (changed((1, 1), 1e300), None, "weights from 0 to 1"),
    "other counts": (made.made_frame(), [2, 1, 2, 4], r"as many labels in each row as its \.labelcount"),
    "counts that are none": (made.made_frame(), [np.nan, 1, 2, 3], r"as many labels in each row as its \.labelcount"),
    "fewer columns": (made.made_frame()[:, :8], None, "the columns Att1 to Att5, Class1 to Class4 and two more"),
    "fewer rows": (made.made_frame()[:3], None, "columns of 4 numbers"),
}


@pytest.mark.parametrize("case", WRONG)
def test_samples_that_the_repair_does_not_fit(case, few, tmp_path):
    frame, counts, message = WRONG[case]
    whole, other = (made.packed(made.made_sample(*given)) for given in ((), (frame, counts)))
    with pytest.raises(ValueError, match=rf"other: expected {message}, got something else\. It is another file or"):
        run_converter("rcv1_subsets", written(tmp_path, whole=whole, other=other), tmp_path / "out.npz")
    assert not (tmp_path / "out.npz").exists()


def test_other_r_data_files(few, tmp_path):
    names = made.Names()
    single = made.r_stream(names.pairs(a=names.integers([1])))
    inner = made.Names()
    renamed = made.r_stream(inner.pairs(a=lambda: inner.list([inner.integers([1])], [b"dataset"])))
    short = made.Names()
    unnamed = made.r_stream(short.pairs(a=lambda: short.list([], [b"dataset"])))
    for stream, message in (
        (single, "a list with dataset"),
        (made.r_stream(made.word(2 | 0x400) + made.Names().symbol(b"x") + made.word(254) + made.word(254)), "a list"),
        (renamed, "a list under dataset"),
        (unnamed, "a list with dataset"),
    ):
        sources = written(tmp_path, one=made.packed(stream), two=b"")
        with pytest.raises(ValueError, match=f"one: expected {message}"):
            run_converter("rcv1_subsets", sources, tmp_path / "out.npz")


# ---- the table


def lists(folder, content=made.TOKEN_TEXT):
    paths = []
    for name in ("Exp_30_4", "Exp_1_2"):
        paths.append(folder / f"{name}.txt.xz")
        paths[-1].write_bytes(lzma.compress(content))
    return paths


def page_in(folder, *rows):
    return written(folder, page=made.page(*rows))[0]


ROWS = (made.page_row(1, 1, 2, 5), made.page_row(2, 30, 4, 5, "1"), made.page_row(3, 7, 8, 99))


def test_the_table(tmp_path):
    paths = lists(tmp_path)
    run_converter("techtc_table", [page_in(tmp_path, *ROWS), *paths], tmp_path / "out.tsv")
    head, *rows = (line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines())
    assert head == [*table._COLUMNS]
    sha256 = hashlib.sha256(paths[0].read_bytes()).hexdigest()
    sizes = ["5", "3", "2", "6", "5", "1"]
    assert rows[0] == ["Exp_1_2", *sizes, sha256, "Arts/1", "Arts/2", "0.75"]
    assert rows[1] == ["Exp_30_4", *sizes, sha256, "Arts/30", "Arts/4", "1"]


def test_the_table_does_not_depend_on_the_version_of_liblzma(tmp_path, monkeypatch):
    source, name = read_source("techtc"), "Exp_10341_10755"
    registered = source.find(f"techtc100/tokens/{name}.txt.xz")
    content = hashlib.sha256(made.TOKEN_TEXT).hexdigest()
    file = replace(registered, content_sha256=content)
    monkeypatch.setattr(table, "read_source", lambda _: replace(source, files=(file,)))
    path, page = tmp_path / f"{name}.txt.xz", page_in(tmp_path, made.page_row(1, 10341, 10755, 5))
    for preset in (0, 9):
        path.write_bytes(lzma.compress(made.TOKEN_TEXT, preset=preset, check=lzma.CHECK_CRC32))
        run_converter("techtc_table", [page, path], tmp_path / "out.tsv")
        assert (tmp_path / "out.tsv").read_text().splitlines()[1].split("\t")[7] == registered.sha256
    path.write_bytes(lzma.compress(made.TOKEN_TEXT.replace(b"door", b"gate")))
    with pytest.raises(ValueError, match=rf"{name}\.txt\.xz: expected the registered text, SHA-256 {content}, got "):
        run_converter("techtc_table", [page, path], tmp_path / "out.tsv")


PAGES = {
    "a set that is not listed": (ROWS[:1], "page: expected a row of Exp_30_4, got 1 others"),
    "another number of documents": (
        (ROWS[1], made.page_row(1, 1, 2, 6)),
        r"Exp_1_2\.txt\.xz: expected 6 documents as in .*page, got 5",
    ),
    "a set twice": ((*ROWS, ROWS[0]), "page: expected each set once, got Exp_1_2"),
    "fewer cells": ((ROWS[0].replace("<td>0.75</td>", ""),), "page: expected ten cells in a row, got 9"),
    "no link": ((ROWS[0].replace("dmoz.org", "example.org"),), "page: expected two categories, a number of docum"),
    "a tab in a category": ((ROWS[0].replace("Arts/", "Ar\tts/"),), "page: expected two categories"),
    "no accuracy": ((ROWS[0].replace("0.75", "nan"),), "page: expected two categories.*'nan'"),
    "empty": ((), "page: expected a row of Exp_1_2, got 0 others"),
}


@pytest.mark.parametrize("case", PAGES)
def test_pages_that_do_not_fit(case, tmp_path):
    rows, message = PAGES[case]
    (tmp_path / "out.tsv").write_text("kept")
    with pytest.raises(ValueError, match=message):
        run_converter("techtc_table", [page_in(tmp_path, *rows), *lists(tmp_path)], tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == "kept"


# ---- the repository


REPOSITORIES = {
    "without a file": (lambda names: names[:-1], {}, "lacks 1 of 31 files, among them README.md"),
    "with another": (lambda names: [*names, "x.py"], {}, "unexpected or repeated member 'made-0123/x.py'"),
    "with one twice": (lambda names: [*names, "README.md"], {}, "unexpected or repeated member 'made-0123/README.md'"),
    "without a folder": (lambda names: names, {"top": ""}, "unexpected or repeated member 'README.md'"),
    "with a path out": (lambda names: names, {"top": "../"}, None),
    "with a large file": (lambda names: names, {"content": lambda _: bytes(1 << 16)}, "has more than 32768 bytes"),
}


@pytest.mark.parametrize("case", REPOSITORIES)
def test_repositories_that_do_not_fit(case, few, tmp_path):
    change, options, message = REPOSITORIES[case]
    (source,) = written(tmp_path, repository=made.repository(change(cifar10_jpeg._names()), **options))
    target = tmp_path / "out" / "x.tar.xz"
    if message is None:  # names of members are compared, and never become paths
        run_converter("cifar10_jpeg", [source], target)
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["out", "repository", "x.tar.xz"]
        return
    with pytest.raises(ValueError, match=f"repository: .*{message}"):
        run_converter("cifar10_jpeg", [source], target)
    assert not target.exists()
