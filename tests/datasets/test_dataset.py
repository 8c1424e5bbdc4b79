"""The record: canonical form, validation, and a fingerprint that depends on content only."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from provlab.datasets import make_dataset

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -1.0]])
Y = [1, -1]
NAMES = ["a", "b", "c"]


def build(X=X, y=Y, names=NAMES, name="tiny", source="a test", official_train=None):
    return make_dataset(X, y, names, name=name, source=source, official_train=official_train)


def test_types_and_shapes():
    for given in (X, sparse.coo_array(X), sparse.csc_matrix(X), X.astype(np.float32), X.astype(int)):
        data = build(given)
        assert data.X.dtype == np.float64
        assert data.y.dtype == np.int64
        assert data.feature_names.tolist() == NAMES
        assert all(type(name) is str for name in data.feature_names)
        assert isinstance(data.X, sparse.csr_array) == sparse.issparse(given)


def test_record_is_frozen_and_prints_briefly():
    data = build()
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"
    assert repr(data) == f"Dataset('tiny', n=2, d=3, dense, content={data.content[:12]!r})"


def test_the_input_is_neither_changed_nor_shared():
    given = sparse.csr_array((np.array([1.0, 2.0, 0.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    data = build(given)
    assert given.nnz == 3
    assert given.indices.tolist() == [2, 0, 1]
    data.X.data[:] = 7
    assert given.data.tolist() == [1, 2, 0]


def test_fingerprint_is_pinned():
    # Trials are keyed by it: a change here throws all stored results away and must be deliberate.
    assert build().content == "47189bdf3789c677a41e568cbc284c0625eb1cf304fcdef6400e3c8128dc0d27"
    assert build(sparse.csr_array(X)).content == "6bd1c0afee9aa02fd203526fb4c832f5ed97de186e07fad6d6fdffae1d9b9bbc"


@pytest.mark.parametrize(
    "same",
    [
        sparse.csc_array(X),
        sparse.coo_array((np.array([1.0, 0.5, 2, -1, 0]), ([0, 0, 1, 1, 0], [1, 1, 0, 2, 0])), shape=(2, 3)),
        sparse.csr_array((np.array([1.5, -1, 2]), np.array([1, 2, 0], dtype=np.int64), np.array([0, 1, 3]))),
    ],
    ids=["csc", "duplicates and a stored zero", "unsorted, wide indices"],
)
def test_fingerprint_of_sparse_data_depends_on_content_only(same):
    assert build(same).content == build(sparse.csr_array(X)).content


@pytest.mark.parametrize(
    "same", [np.asfortranarray(X), X.astype(">f8"), X.astype(np.float32), np.where(X == 0, -0.0, X)]
)
def test_fingerprint_of_dense_data_depends_on_content_only(same):
    assert build(same).content == build().content


def test_fingerprint_leaves_out_name_and_source_and_sees_the_rest():
    reference = build().content
    assert build(name="other", source="other").content == reference
    changed = X.copy()
    changed[0, 0] = 1e-300
    others = [build(changed), build(sparse.csr_array(X)), build(y=[-1, 1]), build(names=["a", "bc", ""])]
    others += [build(X.reshape(3, 2), [1, -1, 1], ["a", "b"]), build(names=["ab", "c", ""])]
    assert len({reference, *(data.content for data in others)}) == 7


def test_the_official_split_is_kept_and_seen_by_the_fingerprint():
    given = np.array([True, False])
    data = build(official_train=given)
    given[:] = False
    assert data.official_train.dtype == np.bool_
    assert data.official_train.tolist() == [True, False]
    assert build().official_train is None
    assert len({build().content, data.content, build(official_train=[False, True]).content}) == 3
    assert build(official_train=[True, False]).content == data.content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.empty((0, 3)), "y": []}, "at least one sample and one feature"),
        ({"X": np.empty((2, 0)), "names": []}, r"at least one sample and one feature, got shape \(2, 0\)"),
        ({"X": X[0]}, "two dimensions"),
        ({"X": sparse.coo_array(X[0])}, "two dimensions"),
        ({"X": np.where(X == 0, np.nan, X)}, "NaN or infinite"),
        ({"X": sparse.csr_array([[np.inf, 0, 0], [0, 0, 1]])}, "NaN or infinite"),
        ({"y": [1]}, r"expected 2 labels for 2 samples, got shape \(1,\)"),
        ({"y": [1.5, 2]}, "labels must be whole numbers, got dtype float64"),
        ({"y": ["a", "b"]}, "labels must be whole numbers, got dtype <U1. Encode them"),
        ({"y": [np.nan, 1]}, "labels must be whole numbers"),
        ({"y": [np.inf, 1]}, "labels must be whole numbers"),
        ({"names": ["a", "b"]}, "expected 3 feature names"),
        ({"names": [1, 2, 3]}, "expected 3 feature names of type str"),
        ({"names": ["a", "b", "a"]}, "feature names must be distinct, 1 are repeated"),
        ({"official_train": [True]}, r"2 truth values, one for each sample, got shape \(1,\) of dtype bool"),
        ({"official_train": [1, 0]}, r"2 truth values, one for each sample, got shape \(2,\) of dtype int64"),
        ({"official_train": [[True], [False]]}, r"2 truth values, one for each sample, got shape \(2, 1\)"),
        ({"official_train": [True, True]}, "must name training and test rows, got 2 training rows of 2"),
        ({"official_train": [False, False]}, "must name training and test rows, got 0 training rows of 2"),
    ],
)
def test_bad_parts_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        build(**change)
