"""Controls of any data set: permuted labels, noise columns, simulated targets."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats
from stream_files import dense

from provlab import load_dataset
from provlab.core.composition import compose_config
from provlab.core.plan import places_of_first
from provlab.data import dataset_identity, make_dataset
from provlab.data.controls import controlled

DENSE = ("synthetic", {"n_samples": 60, "n_features": 12, "n_relevant": 4})
SPARSE = ("sparse_rows", {"n_samples": 60, "n_features": 80, "nonzeros": 30})
DATA = {"dense": DENSE, "sparse": SPARSE}


def loaded(form, **controls):
    name, size = DATA[form]
    return load_dataset(name, **size, **controls)


@pytest.mark.parametrize("form", DATA)
def test_permuted_labels_keep_their_counts_and_all_else(form):
    plain = loaded(form)
    permuted = loaded(form, permute_labels=3)
    assert_array_equal(dense(permuted.X), dense(plain.X))
    assert_array_equal(np.sort(permuted.y), np.sort(plain.y))
    assert 0.2 < np.mean(permuted.y != plain.y) < 0.8
    assert (
        permuted.content
        == loaded(form, permute_labels=3).content
        != loaded(form, permute_labels=4).content
    )


def test_labels_are_permuted_among_the_rows_that_were_drawn():
    part = load_dataset("digits", sample_rows=200, sample_classes=4)
    permuted = load_dataset(
        "digits", sample_rows=200, sample_classes=4, permute_labels=0
    )
    assert_array_equal(np.bincount(permuted.y), np.bincount(part.y))
    assert_array_equal(permuted.X, part.X)


# ---- noise columns

KINDS = ("permuted", "corrupted", "products")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", DATA)
def test_noise_columns_stand_behind_the_real_ones_which_stay(form, kind):
    plain = loaded(form)
    noisy = loaded(form, noise_columns=kind)
    d = plain.X.shape[1]
    assert noisy.X.shape == (plain.n_rows, 2 * d)
    assert_array_equal(dense(noisy.X)[:, :d], dense(plain.X))
    assert_array_equal(noisy.y, plain.y)
    assert noisy.feature_names[:d].tolist() == plain.feature_names.tolist()
    assert len({*noisy.feature_names}) == 2 * d
    if form == "sparse":
        assert noisy.X.format == "csr"
        assert noisy.X.has_canonical_format
        assert (noisy.X.data != 0).all()
    of_other_seed = loaded(form, noise_columns=kind, control_seed=1)
    assert (
        noisy.content
        == loaded(form, noise_columns=kind).content
        != of_other_seed.content
    )


@pytest.mark.parametrize("form", DATA)
@pytest.mark.parametrize(
    ("kind", "moved"), [("permuted", (0.8, 1.0)), ("corrupted", (0.3, 0.5))]
)
def test_copies_have_the_values_of_their_columns_in_rows_of_their_own(
    form, kind, moved
):
    X = dense(loaded(form).X)
    copies = dense(loaded(form, noise_columns=kind).X)[:, X.shape[1] :]
    assert_array_equal(np.sort(copies, axis=0), np.sort(X, axis=0))
    if form == "dense":
        low, high = moved
        assert low <= np.mean(copies != X) <= high
        correlations = [
            np.corrcoef(X[:, j], copies[:, j])[0, 1] for j in range(X.shape[1])
        ]
        assert np.mean(correlations) == pytest.approx(
            0.5 if kind == "corrupted" else 0.0, abs=0.15
        )


def test_each_permuted_copy_has_an_order_of_its_own():
    X, copies = np.split(loaded("dense", noise_columns="permuted").X, 2, axis=1)
    rows = {
        tuple(stats.rankdata(copies[:, j])[np.argsort(X[:, j])])
        for j in range(X.shape[1])
    }
    assert len(rows) == X.shape[1]


@pytest.mark.parametrize("form", DATA)
def test_products_are_those_of_two_columns_that_their_names_tell(form):
    noisy = loaded(form, noise_columns="products")
    X, products = np.split(dense(noisy.X), 2, axis=1)
    names = noisy.feature_names[: X.shape[1]].tolist()
    for product, name in zip(
        products.T, noisy.feature_names[X.shape[1] :], strict=True
    ):
        first, second = name.split(" * ")
        assert first != second
        assert_array_equal(
            product, X[:, names.index(first)] * X[:, names.index(second)]
        )


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_texts_keep_their_texts(kind):
    X = np.array([[0.0, 1.5, 2.0], [1.0, 2.5, 3.0], [0.0, 0.5, 5.0], [1.0, 4.5, 7.0]])
    towns = np.array(["Oslo", "Rome"], dtype=object)
    data = make_dataset(
        X,
        [1, -1, 1, -1],
        ["town", "age", "size"],
        name="small",
        source="here",
        categories={"town": towns},
    )
    noisy = controlled(
        data,
        permute_labels=None,
        noise_columns=kind,
        simulated_relevant=None,
        control_seed=0,
    )
    if kind == "products":
        assert noisy.feature_names.tolist() == ["town", "age", "size", "age * size"]
        assert noisy.categories.keys() == {"town"}
    else:
        assert noisy.categories.keys() == {"town", f"town ({kind})"}
        assert {*noisy.X[:, 3]} <= {0.0, 1.0}


# ---- simulated targets


@pytest.mark.parametrize("form", DATA)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_simulated_target_depends_on_the_first_columns(form, seed):
    plain = loaded(form)
    data = loaded(form, simulated_relevant=3, control_seed=seed)
    places = [plain.feature_names.tolist().index(name) for name in data.feature_names]
    assert_array_equal(dense(data.X), dense(plain.X)[:, places])
    assert sorted(places) == [*range(plain.X.shape[1])]
    assert places[3:] == sorted(places[3:])
    assert {*data.y} == {-1, 1}
    assert abs(data.y.sum()) <= 1
    assert (
        data.content
        != loaded(form, simulated_relevant=3, control_seed=seed + 2).content
    )


def test_half_of_the_variance_of_simulated_numbers_is_that_of_the_relevant_columns():
    """With 4,000 rows the standard error of R^2 is a hundredth; other columns add nothing."""
    rng = np.random.default_rng(0)
    data = make_dataset(
        rng.standard_normal((4000, 20)) * 7 + 3,
        rng.random(4000),
        name="numbers",
        source="here",
        regression=True,
    )
    numbers = controlled(
        data,
        permute_labels=None,
        noise_columns=None,
        simulated_relevant=4,
        control_seed=5,
    )

    def explained(columns):
        A = np.column_stack([np.ones(4000), numbers.X[:, columns]])
        residual = numbers.y - A @ np.linalg.lstsq(A, numbers.y, rcond=None)[0]
        return 1 - residual.var() / numbers.y.var()

    assert explained([0, 1, 2, 3]) == pytest.approx(0.5, abs=0.04)
    for others in combinations(range(4), 3):
        assert explained([0, 1, 2, 3]) - explained([*others]) > 0.02
    assert explained([*range(4, 20)]) < 0.02


def test_columns_that_cannot_be_relevant_are_none():
    X = np.random.default_rng(0).standard_normal((30, 5))
    X[:, 1] = 2.0
    X[4, 2] = np.nan
    X[:, 3] = np.arange(30) % 2
    names = ["a", "constant", "missing", "text", "e"]
    texts = {"text": np.array(["no", "yes"], dtype=object)}
    data = make_dataset(
        X,
        np.arange(30) % 2,
        names,
        name="small",
        source="here",
        missing=True,
        categories=texts,
    )
    none = {"permute_labels": None, "noise_columns": None, "control_seed": 0}
    assert {*controlled(data, simulated_relevant=2, **none).feature_names[:2]} == {
        "a",
        "e",
    }
    with pytest.raises(
        ValueError,
        match=r"small: expected simulated_relevant of at most 2, the .*, got 3. Lower it",
    ):
        controlled(data, simulated_relevant=3, **none)


@pytest.mark.parametrize(
    "controls", [{"simulated_relevant": 3}, {"noise_columns": "permuted"}]
)
def test_support_is_known_where_columns_are_shuffled(controls):
    name, size = DENSE
    n_relevant = controls.get("simulated_relevant", size["n_features"])
    config = {"name": name, **size, **controls, "shuffle_columns": 1}
    places = places_of_first(config, n_relevant)
    shuffled = load_dataset(name, **size, **controls, shuffle_columns=1)
    plain = load_dataset(name, **size, **controls)
    assert {*shuffled.feature_names[[*places]]} == {*plain.feature_names[:n_relevant]}


# ---- identities and refusals


def test_each_control_has_an_identity_and_none_keeps_that_of_the_data():
    name, size = DENSE
    defaults = {
        "permute_labels": None,
        "noise_columns": None,
        "simulated_relevant": None,
        "control_seed": 0,
    }
    assert dataset_identity(name, **size, **defaults) == dataset_identity(name, **size)
    controls = [
        {},
        {"permute_labels": 0},
        {"permute_labels": 1},
        {"simulated_relevant": 2},
        {"simulated_relevant": 3},
    ]
    controls += [{"noise_columns": kind} for kind in KINDS]
    controls += [
        {"noise_columns": "permuted", "control_seed": 1},
        {"simulated_relevant": 2, "control_seed": 1},
    ]
    assert len(
        {dataset_identity(name, **size, **control) for control in controls}
    ) == len(controls)


REFUSED = {
    "negative seed": (
        {"permute_labels": -1},
        "permute_labels must be an integer of at least 0, got -1",
    ),
    "truth as seed": (
        {"permute_labels": True},
        "permute_labels must be an integer of at least 0, got True",
    ),
    "another kind": (
        {"noise_columns": "gaussian"},
        "noise_columns.*permuted, corrupted, products.*got 'gaussian'",
    ),
    "no column": (
        {"simulated_relevant": 0},
        "simulated_relevant must be an integer of at least 1, got 0",
    ),
    "too many": (
        {"simulated_relevant": 13},
        "expected simulated_relevant of at most 12, .*, got 13. Lower it",
    ),
    "seed of nothing": (
        {"control_seed": 2},
        "expected noise_columns or simulated_relevant with control_seed=2, got n",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_controls_are_refused(case):
    controls, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        loaded("dense", **controls)


def test_products_of_one_column_are_refused():
    data = make_dataset(
        np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1], ["x"], name="one", source="here"
    )
    with pytest.raises(
        ValueError,
        match="one: expected two numeric columns for noise_columns='products', got 1",
    ):
        controlled(
            data,
            permute_labels=None,
            noise_columns="products",
            simulated_relevant=None,
            control_seed=0,
        )


def test_a_config_takes_controls():
    config = compose_config(
        [
            "dataset=digits",
            "+dataset.permute_labels=1",
            "+dataset.noise_columns=products",
        ]
    )
    assert config["dataset"]["permute_labels"] == 1
    assert config["dataset"]["noise_columns"] == "products"
