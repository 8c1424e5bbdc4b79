"""MATLAB files: numeric content only, and the data sets that are one file."""

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from provlab.datasets import DataIntegrityError, MissingDataError, _identity, _mat, load_dataset
from provlab.datasets._mat import read_mat

X = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint16)
Y = np.array([[2], [1]])


@pytest.fixture
def save(tmp_path):
    def write(**variables):
        path = tmp_path / "made.mat"
        scipy.io.savemat(path, variables, do_compression=True)
        return path

    return write


def test_numeric_variables_in_the_order_asked(save):
    y, x = read_mat(save(X=X, Y=Y, other=1.5), ("Y", "X"))
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"junk": np.array([1, "a"], dtype=object)}, "numeric variables only, got 'junk' of class cell"),
        ({"junk": {"a": 1}}, "numeric variables only, got 'junk' of class struct"),
        ({"junk": "text"}, "numeric variables only, got 'junk' of class char"),
        ({"junk": sparse.csc_matrix(np.eye(2))}, "numeric variables only, got 'junk' of class sparse"),
        ({"X": np.array([[X]], dtype=object)}, "numeric variables only, got 'X' of class cell"),
        ({"X": X + 1j}, "real numbers in 'X', got dtype complex128"),
        ({"X": np.zeros((2, 2, 2))}, r"matrices of at most .*, got 'X' of shape \(2, 2, 2\)"),
    ],
)
def test_other_content_is_refused(save, extra, message):
    with pytest.raises(ValueError, match=message):
        read_mat(save(**{"X": X, "Y": Y, **extra}), ("X", "Y"))


def test_non_numeric_content_is_refused_before_it_is_read(save, monkeypatch):
    monkeypatch.setattr(_mat, "loadmat", lambda *_, **__: pytest.fail("content was read"))
    with pytest.raises(ValueError, match="got 'junk' of class struct"):
        read_mat(save(X=X, Y=Y, junk={"a": 1}), ("X", "Y"))


def test_sizes_are_bounded(save, monkeypatch):
    path = save(X=X, Y=Y)
    monkeypatch.setattr(_mat, "_MAX_ENTRIES", 5)
    with pytest.raises(ValueError, match=r"matrices of at most 5 entries, got 'X' of shape \(2, 3\)"):
        read_mat(path, ("X", "Y"))
    monkeypatch.setattr(_mat, "_MAX_BYTES", 20)
    with pytest.raises(ValueError, match="at most 20 bytes, got more"):
        read_mat(path, ("X", "Y"))


def test_missing_variables_and_damaged_files(save):
    path = save(X=X, Z=Y)
    with pytest.raises(ValueError, match=r"expected one variable 'Y', the file has \['X', 'Z'\]"):
        read_mat(path, ("X", "Y"))
    whole = save(X=np.random.default_rng(0).random((50, 40)), Y=Y).read_bytes()
    for damaged in (b"", b"\x00" * 40, b"<html>" * 40, whole[:100], whole[:140], whole[:-200]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
            read_mat(path, ("X",))


def test_hdf5_files_are_refused_in_words(tmp_path):
    path = tmp_path / "new.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(ValueError, match=r"expected MATLAB format 4 to 7, got .*Save it with -v7"):
        read_mat(path, ("X",))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([[2], [1]], [1, -1]), ([[2, 1]], [1, -1]), ([[-1], [1]], [-1, 1]), ([[0], [7]], [-1, 1])],
)
def test_two_labels_become_minus_and_plus_one(save, monkeypatch, labels, expected):
    path = save(X=X, Y=np.array(labels))
    monkeypatch.setattr(_identity, "locate", lambda file: path)
    data = load_dataset("colon")
    assert data.y.tolist() == expected
    assert data.X.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1], [1]], r"at least two classes in 'Y', got \[1\]"),
        ([[1, 2], [1, 2]], "one label a row in 'Y', got shape"),
        ([[1], [2], [1]], "expected 2 labels for 2 samples"),
    ],
)
def test_bad_labels(save, monkeypatch, labels, message):
    path = save(X=X, Y=np.array(labels))
    monkeypatch.setattr(_identity, "locate", lambda file: path)
    with pytest.raises(ValueError, match=message):
        load_dataset("colon")


def test_missing_and_tampered(mirror):
    with pytest.raises(MissingDataError, match=r"colon: the file extra/colon\.mat is missing.*provsel fetch colon"):
        load_dataset("colon")
    (mirror / "extra").mkdir()
    (mirror / "extra" / "colon.mat").write_bytes(b"x")
    with pytest.raises(DataIntegrityError, match="expected 36319 bytes"):
        load_dataset("colon")


SETS = {
    "allaml": ("ALLAML", {-1: 47, 1: 25}),
    "arcene": ("arcene", {-1: 112, 1: 88}),
    "colon": ("colon", {-1: 40, 1: 22}),
    "isolet": ("Isolet", dict.fromkeys(range(1, 27), 60)),
    "leukemia": ("leukemia", {-1: 47, 1: 25}),
    "madelon": ("madelon", {-1: 1300, 1: 1300}),
    "warpar10p": ("warpAR10P", dict.fromkeys(range(1, 11), 13)),
}


@pytest.mark.parametrize("name", SETS)
def test_real_sets(real_mirror, monkeypatch, name):
    stem, counts = SETS[name]
    path = real_mirror / "extra" / f"{stem}.mat"
    if not path.is_file():
        pytest.skip(f"needs real data: the mirror has no {path.name}")
    data = load_dataset(name)
    raw = scipy.io.loadmat(path)
    np.testing.assert_array_equal(data.X, raw["X"])
    assert dict(zip(*(a.tolist() for a in np.unique(data.y, return_counts=True)), strict=True)) == counts
    order = np.argsort(raw["Y"].ravel(), kind="stable")
    assert (np.diff(data.y[order]) >= 0).all()
    monkeypatch.setattr(_mat, "read_mat", lambda *_: pytest.fail("a cached set was read again"))
    assert load_dataset(name).content == data.content
