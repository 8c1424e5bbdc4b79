"""HSIC lasso against kernels written out, the conditions of its optimum, and pyHSICLasso's stored paths."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from provsel.kernels import hsic_lasso as kernels_of
from provsel.selectors import HSICLassoSelector

STORED = json.loads(
    (Path(__file__).parents[1] / "data" / "packages" / "hsic_lasso.json").read_text()
)


def kernel(values, is_codes):
    """Return the centred kernel of norm 1, shape (n, n), of the rows of one block."""
    if is_codes:
        counts = np.array([np.sum(values == value) for value in values])
        K = (values[:, None] == values) / counts
    else:
        K = np.exp(-((values[:, None] - values) ** 2) / 2)
    H = np.eye(len(values)) - 1 / len(values)
    K = H @ K @ H
    norm = np.linalg.norm(K)
    return K / norm if norm > 1e-9 else 0 * K


def columns_of(X, codes, blocks):
    """Return the kernels of all columns in all blocks, shape (n_values, d)."""
    scaled = X / np.where(codes | (X.std(axis=0) == 0), 1, X.std(axis=0))
    columns = []
    for j in range(X.shape[1]):
        kernels = [kernel(scaled[block, j], codes[j]).ravel() for block in blocks]
        columns.append(np.concatenate(kernels) / np.sqrt(len(blocks)))
    return np.stack(columns, axis=1)


def case(kind, n=42, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(1e-3, 1e3, d) + 5
    codes = np.zeros(d, dtype=bool)
    if kind == "codes":
        codes[::2] = True
        X[:, codes] = rng.integers(0, 3, (n, codes.sum()))
    if kind == "a constant and copies":
        X[:, 3], X[:, 8] = 5, X[:, 1]
    return X, codes


KINDS = {name: case(name) for name in ("numbers", "codes", "a constant and copies")}
KINDS |= {"few rows": case("numbers", n=6), "one column": case("numbers", d=1)}
TARGETS = {
    "classes": lambda X: np.digitize(X[:, -1], np.quantile(X[:, -1], [0.3, 0.7])),
    "numbers": lambda X: (
        ((X[:, 0] - X[:, 0].mean()) / X[:, 0].std()) ** 2 + np.linspace(0, 1, len(X))
    ),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_optimal_for_kernels_written_out(kind, target):
    """w >= 0 is optimal where no gradient is above alpha, and those with weight are at alpha."""
    X, codes = KINDS[kind]
    y = TARGETS[target](X)
    for block_size in (None, 7):
        rng = np.random.default_rng(1)
        blocks = kernels_of.row_blocks(len(X), block_size or len(X), 3, rng)
        K = columns_of(X, codes, blocks)
        L = columns_of(
            y[:, None].astype(float), np.array([target == "classes"]), blocks
        )[:, 0]
        for count in (1, 3, None):
            if count is not None and count > X.shape[1]:
                continue
            options = {
                "block_size": block_size,
                "discrete_features": codes,
                "random_state": np.random.default_rng(1),
            }
            fitted = HSICLassoSelector(count, penalty=0.2, **options).fit(X, y)
            assert_allclose(fitted.hsic_, K.T @ L, atol=1e-10)
            assert fitted.alpha_max_ == pytest.approx(
                max(0, (K.T @ L).max()), abs=1e-10
            )
            gradient = K.T @ (L - K @ fitted.scores_)
            kept = np.flatnonzero(fitted.scores_)
            assert (fitted.scores_ >= 0).all()
            assert (gradient <= fitted.alpha_ + 1e-8).all()
            assert_allclose(gradient[kept], fitted.alpha_, atol=1e-8)
            if count is None:
                assert fitted.alpha_ == pytest.approx(0.2 * fitted.alpha_max_)
            assert set(kept) <= set(fitted.indices_)
            assert fitted.indices_.size == (
                max(1, kept.size) if count is None else count
            )


@pytest.mark.parametrize("n_features", ["1", "3", "6"])
@pytest.mark.parametrize("name", STORED["cases"])
def test_the_path_is_that_of_pyhsiclasso(name, n_features):
    stored = STORED["cases"][name]
    X = np.array(STORED["codes" if stored["codes"] else "X"])
    y = np.array(STORED["y"][stored["kind"]], dtype=float)
    blocks = np.array(stored["blocks"])
    path = stored["paths"][n_features]
    columns = kernels_of.KernelColumns.of(
        X, np.full(X.shape[1], stored["codes"]), blocks
    )
    target = kernels_of.KernelColumns.of(
        y[:, None], np.array([stored["kind"] == "classes"]), blocks
    )
    result = kernels_of.hsic_lasso(columns, target, int(n_features), 0.1)
    # theirs is of single precision
    assert_allclose(result.relevance, path["hsic"], atol=2e-6)
    assert_allclose(result.weights[path["features"]], path["weights"], atol=2e-5)
    assert set(np.flatnonzero(result.weights)) == set(path["features"])
    if len(blocks) == 1:
        options = {"discrete_features": stored["codes"], "block_size": None}
        selector = HSICLassoSelector(int(n_features), task="auto", **options)
        assert selector.fit(X, y).indices_.tolist() == path["features"]


@pytest.mark.parametrize("target", TARGETS)
def test_constants_come_last_and_copies_get_no_weight(target):
    X, _ = KINDS["a constant and copies"]
    y = TARGETS[target](X) if target == "classes" else X[:, 1] ** 2
    fitted = HSICLassoSelector(12, random_state=0).fit(X, y)
    assert fitted.indices_[-1] == 3
    assert not fitted.scores_[[3, 8]].any()
    assert not np.isnan(fitted.scores_).any()
    again = HSICLassoSelector(12, random_state=0).fit(sparse.csr_array(X), y)
    assert_array_equal(again.scores_, fitted.scores_)


def test_dependence_that_no_line_shows_and_no_weight_at_all():
    X = np.random.default_rng(0).standard_normal((200, 40))
    y = X[:, 11] ** 2 + np.abs(X[:, 29])
    assert sorted(HSICLassoSelector(2, random_state=0).fit(X, y).indices_.tolist()) == [
        11,
        29,
    ]
    assert HSICLassoSelector(penalty=0.3, random_state=0).fit(
        X, y
    ).indices_.tolist() == [11, 29]
    with pytest.warns(
        UserWarning, match="HSICLassoSelector: the method keeps none of 40 features"
    ):
        assert HSICLassoSelector(penalty=1.5, random_state=0).fit(
            X, y
        ).indices_.tolist() == [11]


def test_a_block_of_one_row_is_refused():
    X, _ = KINDS["numbers"]
    with pytest.raises(
        ValueError,
        match=r"^HSICLassoSelector: block_size must be an integer of at least 2, got 1",
    ):
        HSICLassoSelector(2, block_size=1).fit(X, TARGETS["classes"](X))


@pytest.mark.parametrize(("n_samples", "n_features"), [(20, 60), (40, 200)])
def test_the_path_ends_where_kernels_depend_on_each_other(n_samples, n_features):
    """Columns of 0 and 1 with few ones, as of texts: more features are asked for than there are distinct kernels."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = (rng.random((n_samples, n_features)) < 0.1).astype(float)
        y = rng.integers(0, 2, n_samples)
        selector = HSICLassoSelector(2 * n_features // 3, random_state=0).fit(X, y)
        assert np.unique(selector.indices_).size == 2 * n_features // 3
        n_weighted = np.count_nonzero(selector.scores_)
        assert 0 < n_weighted < 2 * n_features // 3
        assert selector.scores_.min() >= 0
