"""The record: canonical form, validation, and a digest of its content alone; and how any data set is scaled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from provlab.data import dataset_identity, keyed_parameters, load_dataset, make_dataset
from provlab.data.dataset import SAMPLE, sampled

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -1.0]])
Y = [1, -1]
NAMES = ["a", "b", "c"]


def build(X=X, y=Y, names=NAMES, name="tiny", source="a test", official_train=None):
    return make_dataset(
        X, y, names, name=name, source=source, official_train=official_train
    )


def dense(dataset):
    return dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X


def test_types_and_shapes():
    for rows in (
        X,
        sparse.coo_array(X),
        sparse.csc_matrix(X),
        X.astype(np.float32),
        X.astype(int),
    ):
        data = build(rows)
        assert (data.X.dtype, data.y.dtype, data.n_classes) == (np.float64, np.int64, 2)
        assert data.feature_names.tolist() == NAMES
        assert isinstance(data.X, sparse.csr_array) == sparse.issparse(rows)
    assert (
        repr(build())
        == f"Dataset('tiny', n=2, d=3, dense, content={build().content[:12]!r})"
    )


def test_the_input_is_neither_changed_nor_shared():
    original = sparse.csr_array(
        (np.array([1.0, 2.0, 0.0]), np.array([2, 0, 1]), np.array([0, 2, 3])),
        shape=(2, 3),
    )
    data = build(original)
    assert original.nnz == 3
    assert original.indices.tolist() == [2, 0, 1]
    data.X.data[:] = 7
    assert original.data.tolist() == [1, 2, 0]


# Folds of the first release are drawn from it, and stored trials have it as a column.
DENSE = "47189bdf3789c677a41e568cbc284c0625eb1cf304fcdef6400e3c8128dc0d27"
SPARSE = "6bd1c0afee9aa02fd203526fb4c832f5ed97de186e07fad6d6fdffae1d9b9bbc"


@pytest.mark.parametrize(
    ("same", "content"),
    [
        *(
            (rows, DENSE)
            for rows in (X, np.asfortranarray(X), X.astype(">f8"), X.astype(np.float32))
        ),
        (np.where(X == 0, -0.0, X), DENSE),
        (sparse.csr_array(X), SPARSE),
        (sparse.csc_array(X), SPARSE),
        (
            sparse.coo_array(
                (np.array([1.0, 0.5, 2, -1, 0]), ([0, 0, 1, 1, 0], [1, 1, 0, 2, 0])),
                shape=(2, 3),
            ),
            SPARSE,
        ),
        (
            sparse.csr_array(
                (
                    np.array([1.5, -1, 2]),
                    np.array([1, 2, 0], dtype=np.int64),
                    np.array([0, 1, 3]),
                )
            ),
            SPARSE,
        ),
    ],
)
def test_the_digest_is_pinned_and_depends_on_content_only(same, content):
    assert (
        build(same).content
        == build(same, name="other", source="other").content
        == content
    )


def test_the_digest_sees_the_rest():
    changed = X.copy()
    changed[0, 0] = 1e-300
    others = [
        build(changed),
        build(y=[-1, 1]),
        build(names=["a", "bc", ""]),
        build(names=["ab", "c", ""]),
    ]
    others += [build(X.reshape(3, 2), [1, -1, 1], ["a", "b"])]
    others += [build(official_train=[True, False]), build(official_train=[False, True])]
    assert len({DENSE, *(data.content for data in others)}) == 8
    assert others[-1].official_train.tolist() == [False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.empty((0, 3)), "y": []}, "at least one sample and one feature"),
        (
            {"X": np.empty((2, 0)), "names": []},
            r"at least one sample and one feature, got shape \(2, 0\)",
        ),
        ({"X": X[0]}, "two dimensions"),
        ({"X": sparse.coo_array(X[0])}, "two dimensions"),
        ({"X": np.where(X == 0, np.nan, X)}, "NaN or infinite"),
        ({"X": sparse.csr_array([[np.inf, 0, 0], [0, 0, 1]])}, "NaN or infinite"),
        ({"y": [1]}, r"expected 2 labels for 2 samples, got shape \(1,\)"),
        (
            {"y": [1.5, 2]},
            r"expected 2 labels that are whole numbers, got array\(\[1.5",
        ),
        ({"y": [np.nan, 1]}, "labels that are whole numbers"),
        ({"names": ["a", "b"]}, "expected 3 distinct feature names, got 2"),
        ({"names": ["a", "b", "a"]}, "expected 3 distinct feature names, got 2"),
    ],
)
def test_bad_parts_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        build(**change)


# ---- scaled and shuffled


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("digits", {}),
        ("sparse_rows", {"n_samples": 30, "n_test": 10, "n_features": 500}),
    ],
)
def test_rows_of_length_1_and_shuffled_columns(name, size):
    plain, scaled, shuffled = (
        load_dataset(name, **size, **options)
        for options in ({}, {"unit_rows": True}, {"shuffle_columns": 3})
    )
    assert_allclose(np.linalg.norm(dense(scaled), axis=1), 1.0)
    assert_allclose(
        dense(scaled) * np.linalg.norm(dense(plain), axis=1)[:, None], dense(plain)
    )
    place = {feature: column for column, feature in enumerate(plain.feature_names)}
    order = [place[feature] for feature in shuffled.feature_names]
    assert sorted(order) == [*range(len(place))]
    assert (np.array(order) != np.arange(len(place))).mean() > 0.9
    assert_array_equal(dense(shuffled), dense(plain)[:, order])
    assert name == "digits" or shuffled.X.has_sorted_indices
    assert load_dataset(name, **size, shuffle_columns=3).content == shuffled.content
    contents = {
        dataset.content
        for dataset in (
            plain,
            scaled,
            shuffled,
            load_dataset(name, **size, shuffle_columns=4),
        )
    }
    assert len(contents) == 4
    for changed in (scaled, shuffled):
        assert_array_equal(changed.y, plain.y)


# ---- samples of rows


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("name", "size"),
    [("digits", {}), ("sparse_rows", {"n_samples": 900, "n_features": 5000})],
)
def test_a_sample_has_the_share_of_each_class_and_whole_rows_in_their_order(
    name, size, seed
):
    whole = load_dataset(name, **size)
    part = load_dataset(name, **size, sample_rows=100, sample_seed=seed)
    X = dense(part)
    rows = dense(whole)
    columns = np.isin(whole.feature_names, part.feature_names)
    place = {
        row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(rows[:, columns]))
    }
    drawn = np.array([place[row.tobytes()] for row in np.ascontiguousarray(X)])
    assert (np.diff(drawn) > 0).all()
    assert_array_equal(part.y, whole.y[drawn])
    assert_array_equal(columns, name == "digits" or rows[drawn].any(axis=0))
    for label in np.unique(whole.y):
        assert abs((part.y == label).sum() - 100 * (whole.y == label).mean()) < 1
    if whole.official_train is not None:
        assert_array_equal(part.official_train, whole.official_train[drawn])
    assert (load_dataset(name, **size, sample_rows=100).content == part.content) == (
        seed == 0
    )


def test_the_largest_classes_are_kept_and_two_are_signs():
    counts = np.bincount(load_dataset("digits").y)  # 3: 183, 1: 182, 5: 182
    three = load_dataset("digits", sample_classes=3)
    assert dict(zip(*np.unique(three.y, return_counts=True), strict=True)) == {
        k: counts[k] for k in (1, 3, 5)
    }
    two = load_dataset("digits", sample_classes=2, sample_rows=50)
    assert np.unique(two.y, return_counts=True)[1].tolist() == [25, 25]
    assert set(two.y.tolist()) == {-1, 1}
    ones = load_dataset("digits", classes=[1, 3])
    assert {row.tobytes() for row in two.X[two.y == -1]} <= {
        row.tobytes() for row in ones.X[ones.y == -1]
    }
    assert (
        load_dataset("digits", sample_classes=10).content
        == load_dataset("digits").content
    )


def test_classes_with_few_rows_are_left_out_with_a_warning():
    counts = np.bincount(load_dataset("digits").y)  # 3: 183, 1: 182, 5: 182
    with pytest.warns(
        UserWarning,
        match=rf"fewer than min_class_size=182 rows are left out: 0 \({counts[0]} rows\), 2",
    ):
        three = load_dataset("digits", min_class_size=182)
    assert three.content == load_dataset("digits", sample_classes=3).content
    with pytest.warns(UserWarning, match="left out: 4"):
        two = load_dataset("digits", classes=[3, 4, 5], min_class_size=182)
    assert two.content == load_dataset("digits", classes=[3, 5]).content
    assert (
        load_dataset("digits", min_class_size=174).content
        == load_dataset("digits").content
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"min_class_size": 183},
            "expected at least two classes of min_class_size=183 rows, got 1. Lower it",
        ),
        (
            {"min_class_size": 1},
            "min_class_size must be an integer of at least 2, got 1",
        ),
        (
            {"sample_rows": 1798},
            "digits: sample_rows must be at most 1797, got 1798. Lower it",
        ),
        (
            {"sample_rows": 400, "sample_classes": 2},
            "sample_rows must be at most 365, got 400",
        ),
        ({"sample_classes": 11}, "sample_classes must be at most 10, got 11"),
        ({"sample_rows": 1}, "sample_rows must be an integer of at least 2, got 1"),
        (
            {"sample_classes": True},
            "sample_classes must be an integer of at least 2, got True",
        ),
        (
            {"sample_rows": 9, "sample_seed": None},
            "sample_seed must be an integer of at least 0, got None",
        ),
        ({"sample_seed": 3}, "expected sample_rows with sample_seed=3, got none"),
    ],
)
def test_samples_that_cannot_be_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("digits", **params)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_of_equal_rows_with_the_same_target_the_first_is_left(form):
    X = form(np.array([[0, 1.0], [2, 0], [0, 1], [0, 1], [2, 0]]))
    data = make_dataset(
        X, [1, -1, 1, -1, -1], name="made", source="", groups=np.arange(5)
    )
    whole = dict(SAMPLE, distinct_rows=True)
    part = sampled(data, **whole)
    assert part.groups.tolist() == [0, 1, 3]
    assert part.y.tolist() == [1, -1, -1]
    assert sampled(part, **whole) is part
    numbers = make_dataset(
        X, [0.5, 1, 0.5, 0.25, 2], name="made", source="", regression=True
    )
    assert sampled(numbers, **whole).y.tolist() == [0.5, 1, 0.25, 2]


def test_whether_rows_are_distinct_shows_in_identities_and_keys_only_where_it_is_asked_for():
    assert keyed_parameters("digits") == keyed_parameters("digits", distinct_rows=False)
    assert keyed_parameters("digits", distinct_rows=True)["distinct_rows"] is True
    assert dataset_identity("digits", distinct_rows=True) != dataset_identity("digits")
    with pytest.raises(
        ValueError, match="'digits': distinct_rows must be true or false, got 'yes'"
    ):
        load_dataset("digits", distinct_rows="yes")
