"""The loader of RCV1 CCAT: synthetic files in the form of LYRL2004, scikit-learn's cache, and the real subsets."""

import gzip
from dataclasses import replace

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_files
from test_datasets_rcv1_parse import random_text

from provlab.datasets import (
    DataIntegrityError,
    MissingDataError,
    _identity,
    _rcv1_forms,
    load_dataset,
    locate,
    read_source,
)
from provlab.datasets.loaders import rcv1_ccat

N_TRAIN, N_ALL = 30, 90
VECTOR_FILES = ["train", *(f"test_pt{i}" for i in range(4))]


@pytest.fixture
def small(monkeypatch):
    """Let the official files have 30 + 60 documents and no known hashes."""
    source = read_source("rcv1_ccat")
    files = tuple(replace(file, sha256=None, content_sha256=None, size=None, max_size=1 << 20) for file in source.files)
    monkeypatch.setattr(_identity, "read_source", lambda name: replace(source, files=files))
    for module in (rcv1_ccat, _rcv1_forms):
        monkeypatch.setattr(module, "official_sizes", lambda: (N_TRAIN, N_ALL))


@pytest.fixture
def lyrl(small, mirror):
    """Write the files: 30 training documents, then 15 in each of four files."""
    folder = mirror / "rcv1"
    folder.mkdir()
    lines = random_text(3, N_ALL).splitlines(keepends=True)
    bounds = [0, 30, 45, 60, 75, 90]
    for name, start, stop in zip(VECTOR_FILES, bounds, bounds[1:], strict=False):
        write(folder / f"lyrl2004_vectors_{name}.dat.gz", b"".join(lines[start:stop]))
    write(folder / "rcv1-v2.topics.qrels.gz", "".join(f"{topic} {doc} 1\n" for doc, topic in assignments()).encode())
    return folder


def assignments():
    """Return pairs of document and topic: every third document has CCAT, every other one GCAT, each fifth both."""
    numbers = [2286 + 3 * i for i in range(N_ALL)]
    ccat = [(doc, "CCAT") for i, doc in enumerate(numbers) if i % 3 == 0 or i % 5 == 0]
    gcat = [(doc, "GCAT") for i, doc in enumerate(numbers) if i % 3 != 0]
    return sorted(ccat + gcat)


def write(path, content):
    path.write_bytes(gzip.compress(content))


def read(path):
    return gzip.decompress(path.read_bytes())


EXPECTED = np.array([1 if i % 3 == 0 or i % 5 == 0 else -1 for i in range(N_ALL)])


def test_official_files(lyrl):
    complete = load_dataset("rcv1_ccat", form="official", part="all")
    train = load_dataset("rcv1_ccat")  # "auto" prefers the official files
    texts = [str(lyrl / f"lyrl2004_vectors_{name}.dat.gz") for name in VECTOR_FILES]
    X = sparse.vstack(load_svmlight_files(texts, n_features=47236, zero_based=False)[::2], format="csr")
    assert (sparse.csr_array(X) != complete.X).nnz == 0
    assert complete.y.tolist() == EXPECTED.tolist()
    assert complete.official_train.tolist() == [i < N_TRAIN for i in range(N_ALL)]
    assert (complete.X[:N_TRAIN] != train.X).nnz == 0
    assert train.y.tolist() == EXPECTED[:N_TRAIN].tolist()
    assert train.official_train is None
    assert train.feature_names[[0, -1]].tolist() == ["1", "47236"]
    assert "files of LYRL2004; SHA-256" in train.source


def test_the_training_part_needs_no_test_files(lyrl):
    for name in VECTOR_FILES[1:]:
        (lyrl / f"lyrl2004_vectors_{name}.dat.gz").unlink()
    assert load_dataset("rcv1_ccat").X.shape == (N_TRAIN, 47236)
    with pytest.raises(MissingDataError, match=r"test_pt0\.dat\.gz is missing.*provsel fetch rcv1_ccat"):
        load_dataset("rcv1_ccat", form="official", part="all")
    with pytest.raises(MissingDataError, match=r"rcv1v2_subsets_fixed.npz is missing\. .* fetch rcv1_ccat`"):
        load_dataset("rcv1_ccat", part="all")


def dictionary(mirror, change=lambda text: text):
    """Write a dictionary of stems s1 to s47236, in another order than that of their numbers."""
    lines = [f"s{i} {i} {i % 9}.5\n" for i in range(47236, 0, -1)]
    (mirror / "rcv1" / "stem.termid.idf.map.txt").write_bytes(change("".join(lines).encode()))


def test_features_are_called_by_their_stems_on_demand_only(lyrl, mirror):
    terms = load_dataset("rcv1_ccat")
    with pytest.raises(MissingDataError, match=r"the file rcv1/stem\.termid\.idf\.map\.txt is missing"):
        load_dataset("rcv1_ccat", names="stems")
    dictionary(mirror)
    stems = load_dataset("rcv1_ccat", names="stems")
    assert stems.feature_names[[0, 1, 47235]].tolist() == ["s1", "s2", "s47236"]
    assert (stems.X != terms.X).nnz == 0
    # The file being there changes nothing without the wish.
    assert load_dataset("rcv1_ccat").content == load_dataset("rcv1_ccat", names="terms").content
    assert load_dataset("rcv1_ccat").source == terms.source


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.replace(b"s9 9 ", b"s9 10 "), "line 47228: expected each number once, got 10 again"),
        (lambda c: c.replace(b"s9 9 ", b"s8 9 "), "expected 47236 distinct stems numbered from 1, got 47235 with numb"),
        (lambda c: c.replace(b"s9 9 ", b"s9 47237 "), "expected 47236 distinct stems .* numbers up to 47237"),
        (lambda c: c.partition(b"\n")[2], "expected 47236 distinct stems numbered from 1, got 47235 .* up to 47235"),
        (lambda c: c + c[:20], "line 47237: expected a stem, its number|line 47237: expected each number once"),
        (lambda c: c.replace(b"s9 9 ", b"s\xe99 9 "), "line 47228: expected a stem, its number and its weight"),
        (lambda c: c.replace(b"s9 9 ", b"s9 09 "), "line 47228: expected a stem, its number and its weight"),
        (lambda c: c.replace(b"s9 9 ", b"s9 9 9 "), "line 47228: expected a stem, its number and its weight"),
        (lambda c: b"", "line 1: expected a stem, its number and its weight, got ''"),
        (lambda c: c * 9, "expected a dictionary of at most 4194304 bytes, got more"),
    ],
)
def test_damaged_dictionaries(lyrl, mirror, change, message):
    dictionary(mirror, change)
    with pytest.raises(ValueError, match=rf"stem\.termid\.idf\.map\.txt(,|:) {message}"):
        load_dataset("rcv1_ccat", names="stems")


def test_a_dictionary_that_is_not_the_registered_one(mirror):
    (mirror / "rcv1").mkdir()
    dictionary(mirror)
    source = read_source("rcv1_ccat")
    with pytest.raises(DataIntegrityError, match=r"stem\.termid\.idf\.map\.txt: expected 1411031 bytes"):
        locate(source.find("rcv1/stem.termid.idf.map.txt"))


def drop_topic(content):
    return content.replace(b"CCAT 2286 1\n", b"")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("lyrl2004_vectors_train.dat", lambda c: c.replace(b":", b";", 1), r"train\.dat\.gz, line \d+: expected a doc"),
        ("lyrl2004_vectors_test_pt2.dat", lambda c: c + b"9  0:1\n", r"pt2\.dat\.gz, line 16: expected terms from 1"),
        ("lyrl2004_vectors_train.dat", lambda c: c.partition(b"\n")[2], "expected 30 documents, got 29"),
        ("lyrl2004_vectors_train.dat", lambda c: c + b"9  1:1\n", "expected at most 30 documents, got more"),
        ("lyrl2004_vectors_test_pt0.dat", lambda c: c.partition(b"\n")[2], "expected 90 documents, got 89"),
        ("lyrl2004_vectors_test_pt0.dat", lambda c: b"2286" + c[4:], "each document once, got number 2286 again"),
        ("rcv1-v2.topics.qrels", drop_topic, "expected a topic for every document, got none for 1, among them 2286"),
        (
            "rcv1-v2.topics.qrels",
            lambda c: c + b"CCAT 5 1\n",
            "expected documents of the vector files, got 1 others.* 5",
        ),
    ],
)
def test_damaged_official_files(lyrl, data_folder, name, change, message):
    path = lyrl / f"{name}.gz"
    content = change(read(path))
    assert content != read(path)
    write(path, content)
    with pytest.raises(ValueError, match=message):
        load_dataset("rcv1_ccat", form="official", part="all")
    assert not list(data_folder.glob("cache/*"))


def test_a_cut_official_file(lyrl):
    path = lyrl / "rcv1-v2.topics.qrels.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"qrels\.gz: cannot be decompressed"):
        load_dataset("rcv1_ccat")


def test_a_file_that_is_not_the_registered_one(mirror):
    for name in ("lyrl2004_vectors_train.dat", "rcv1-v2.topics.qrels"):
        (mirror / "rcv1").mkdir(exist_ok=True)
        write(mirror / "rcv1" / f"{name}.gz", b"")
    with pytest.raises(DataIntegrityError, match=r"expected SHA-256 5468f656.* found SHA-256"):
        load_dataset("rcv1_ccat")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"form": "pickle"}, "form must be one of auto, subsets, official, sklearn, got 'pickle'"),
        ({"part": "test"}, "part must be one of train, all, got 'test'"),
        ({"n_train": 0}, "n_train must be an integer of at least 1, got 0"),
        ({"n_train": True}, "n_train must be an integer"),
        ({"names": "words"}, "names must be one of terms, stems, got 'words'"),
        ({"n_train": 5, "form": "official"}, "form='official' has 23149 training documents, got n_train=5"),
        ({"n_train": 5, "form": "sklearn"}, "form='sklearn' has 23149 training documents, got n_train=5"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("rcv1_ccat", **params)


@pytest.fixture
def sklearn_home(tmp_path, monkeypatch):
    home = tmp_path / "scikit_learn_data"
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(home))
    return home


def fill_cache(home, lyrl):
    """Write what fetch_rcv1 writes, by the functions that it uses."""
    texts = [str(lyrl / f"lyrl2004_vectors_{name}.dat.gz") for name in VECTOR_FILES]
    parsed = load_svmlight_files(texts, n_features=47236)
    targets = np.array([[(doc, topic) in set(assignments()) for topic in ("CCAT", "GCAT")] for doc in documents()])
    (home / "RCV1").mkdir(parents=True)
    content = {
        "samples": sparse.csr_matrix(sparse.vstack(parsed[::2])),
        "sample_id": np.hstack(parsed[1::2]).astype(np.uint32),
        "sample_topics": sparse.csr_matrix(targets.astype(np.uint8)),
        "topics_names": np.array(["CCAT", "GCAT"], dtype=object),
    }
    for name, value in content.items():
        joblib.dump(value, home / "RCV1" / f"{name}_py3.pkl", compress=9)


def documents():
    return [2286 + 3 * i for i in range(N_ALL)]


@pytest.mark.parametrize("part", ["train", "all"])
def test_the_cache_of_scikit_learn_gives_the_official_record(lyrl, sklearn_home, part):
    official = load_dataset("rcv1_ccat", form="official", part=part)
    fill_cache(sklearn_home, lyrl)
    data = load_dataset("rcv1_ccat", form="sklearn", part=part)
    assert data.content == official.content
    assert "fetch_rcv1" in data.source


def test_auto_never_touches_the_cache_of_scikit_learn(lyrl, sklearn_home, monkeypatch, mirror):
    fill_cache(sklearn_home, lyrl)
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(mirror / "elsewhere"))

    def forbidden(*_, **__):
        raise AssertionError("a pickle was loaded")

    monkeypatch.setattr(joblib, "load", forbidden)
    with pytest.raises(MissingDataError, match="or give form='sklearn' for the cache"):
        load_dataset("rcv1_ccat")


def test_an_incomplete_or_foreign_cache_of_scikit_learn(lyrl, sklearn_home, monkeypatch):
    with pytest.raises(MissingDataError, match=r"samples_py3\.pkl of scikit-learn's RCV1 cache is missing"):
        load_dataset("rcv1_ccat", form="sklearn")
    assert not sklearn_home.exists()
    fill_cache(sklearn_home, lyrl)
    names = sklearn_home / "RCV1" / "topics_names_py3.pkl"
    joblib.dump(np.array(["ECAT", "GCAT"], dtype=object), names)
    with pytest.raises(ValueError, match=r"one topic CCAT and 90 rows of topics.* got 0 and shape \(90, 2\)"):
        load_dataset("rcv1_ccat", form="sklearn")
    monkeypatch.setattr(_rcv1_forms, "official_sizes", lambda: (23149, 804414))
    with pytest.raises(ValueError, match=r"expected \(804414, 47236\) documents and terms.* got \(90, 47236\)"):
        load_dataset("rcv1_ccat", form="sklearn")


@pytest.fixture
def subsets(real_mirror):
    if not (real_mirror / "rcv1_subsets").is_dir():
        pytest.skip("needs real data: the mirror has no folder rcv1_subsets")
    return real_mirror / "rcv1_subsets" / "rcv1v2_subsets_fixed.npz"


def test_subsets(subsets, monkeypatch):
    with np.load(subsets, allow_pickle=False) as arrays:
        (ccat,) = np.flatnonzero(arrays["topic_codes"] == "CCAT")
        has = np.unpackbits(arrays["topics"], axis=1)[:, ccat].astype(bool)
        kept, lengths = arrays["first_occurrence"], np.diff(arrays["indptr"])
    assert abs(has.mean() - 0.447) < 0.0005
    data = load_dataset("rcv1_ccat", part="all")
    assert data.X.shape == (27613, 47236)
    assert (data.y == np.where(has[kept], 1, -1)).all()
    assert (np.diff(data.X.indptr) == lengths[kept]).all()
    np.testing.assert_allclose(np.sqrt(data.X.multiply(data.X).sum(axis=1)), 1, atol=1e-5)
    assert data.official_train.sum() == 23149
    assert not (np.diff(data.official_train.astype(int)) > 0).any()
    assert "five public subsets of 6,000, not the official split" in data.source
    # Pinned: stored trials are keyed by it.
    assert data.content == "a3b6177d283885fe6d52de8a2026d433914296e0c06df42d7aa6c794539612f7"

    train = load_dataset("rcv1_ccat")
    assert (data.X[:23149] != train.X).nnz == 0
    assert train.official_train is None
    assert train.content == "bccf929e1f1ac5880f5a230966af32f38bf325e88a7528973fde7c56bb714951"
    monkeypatch.setattr(rcv1_ccat, "_build", lambda *_: pytest.fail("a cached set was read again"))
    again = load_dataset("rcv1_ccat", form="subsets", n_train=23149)
    assert again.content == train.content
    np.testing.assert_array_equal(load_dataset("rcv1_ccat", part="all").official_train, data.official_train)


def test_more_training_documents_than_there_are(subsets):
    assert load_dataset("rcv1_ccat", n_train=27613).X.shape[0] == 27613
    with pytest.raises(ValueError, match=r"n_train must be at most 27613 for part='train', got 27614\. Lower it"):
        load_dataset("rcv1_ccat", n_train=27614)
    with pytest.raises(ValueError, match="n_train must be at most 27612 for part='all', got 27613"):
        load_dataset("rcv1_ccat", n_train=27613, part="all")
