"""GaussianCompression and SparseEmbedding: definitions, moments, streams, memory, contract, and their bounds."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chi2

from provsel.kernels.compression_bounds import (
    expansion_failure,
    loss_components,
    norm_components,
)
from provsel.kernels.gaussian_blocks import KEPT_BYTES
from provsel.selectors import GaussianCompression, SparseEmbedding

FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array]
BOTH = [GaussianCompression, SparseEmbedding]


def matrix(n=20, d=300, seed=0):
    return np.random.default_rng(seed).poisson(0.4, (n, d)).astype(float)


def whole(fitted):
    """Return the matrix that rows are multiplied by, shape (d, n_components)."""
    if isinstance(fitted, GaussianCompression):
        return fitted.blocks_.dense().T
    S = np.zeros((fitted.n_features_in_, fitted.n_components))
    S[np.arange(len(S)), fitted.buckets_] = fitted.signs_
    return S


def as_dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_components", [1, 7, 60, 400])
@pytest.mark.parametrize(
    ("make", "options"),
    [(cls, {}) for cls in BOTH] + [(GaussianCompression, {"variance": "1/l"})],
)
def test_it_is_its_definition(make, options, n_components, form):
    X = matrix()
    fitted = make(n_components, random_state=3, **options).fit(form(X))
    reduced = fitted.transform(form(X))
    assert reduced.shape == (20, n_components)
    assert (
        fitted.get_feature_names_out()[-1]
        == f"{make.__name__.lower()}{n_components - 1}"
    )
    assert sparse.issparse(reduced) == (
        form is not np.asarray and make is SparseEmbedding
    )
    np.testing.assert_allclose(
        as_dense(reduced), X @ whole(fitted), rtol=1e-12, atol=1e-12
    )
    single = fitted.transform(form(X.astype(np.float32)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(
        as_dense(single), as_dense(reduced), rtol=1e-4, atol=1e-5
    )
    if make is GaussianCompression:
        assert fitted.compression_ratio_ == 300 / n_components
        # five standard deviations of the variance of Gaussians
        scaled = whole(fitted) * np.sqrt(n_components if options else 300)
        assert abs((scaled**2).mean() - 1) < 5 * np.sqrt(2 / scaled.size)


def test_squared_lengths_are_unbiased():
    """E ||x S||^2 = ||x||^2 with variance at most 2 ||x||^4 / m; without signs a positive x is far off."""
    x = np.random.default_rng(1).random((1, 50)) + 0.5
    m = 40
    trials = 600
    lengths = []
    unsigned = []
    for seed in range(trials):
        embedding = SparseEmbedding(m, random_state=seed).fit(x)
        lengths.append((embedding.transform(x) ** 2).sum() / (x**2).sum())
        unsigned.append(
            (np.bincount(embedding.buckets_, x[0], minlength=m) ** 2).sum()
            / (x**2).sum()
        )
    error = np.sqrt(2 / m / trials)
    assert abs(np.mean(lengths) - 1) < 5 * error
    assert np.var(lengths) < 2 / m * 1.3
    assert np.mean(unsigned) - 1 > 50 * error


@pytest.mark.parametrize("form", FORMS)
def test_other_columns_and_values_that_are_none_are_refused(form):
    compression = GaussianCompression(3, random_state=0)
    compression.partial_compress(form(matrix(d=60)))
    embedding = SparseEmbedding(3, random_state=0).fit(form(matrix(d=60)))
    for call in (
        compression.partial_compress,
        compression.transform,
        embedding.transform,
    ):
        with pytest.raises(
            ValueError, match=r"X has 61 features, but .* is expecting 60 features"
        ):
            call(form(matrix(d=61)))
        with pytest.raises(ValueError, match="NaN"):
            call(form(np.full((2, 60), np.nan)))


def test_blocks_are_kept_where_they_are_small_or_where_that_is_said():
    """Kept or not, they are the same: test_gaussian_blocks.py."""
    wide = np.ones((1, 1024))
    largest = KEPT_BYTES // (8 * 1024)
    for size, store, kept in (
        (largest, "auto", True),
        (largest + 1, "auto", False),
        (9, False, False),
        (9, True, True),
    ):
        assert (
            GaussianCompression(size, store=store, random_state=0)
            .fit(wide)
            .blocks_.store
            == kept
        )


def test_memory_is_far_below_that_of_the_matrix_and_of_dense_rows(peak_memory):
    """Lambda would take 80 MB; `store` shows that the measure sees it."""
    X = sparse.random_array(
        (200, 50_000), density=1e-3, random_state=np.random.default_rng(0), format="csr"
    )
    kept, again, embedding = (
        peak_memory(lambda transformer=transformer: transformer.fit_transform(X))
        for transformer in (
            GaussianCompression(200, store=True, random_state=0),
            GaussianCompression(200, store=False, random_state=0),
            SparseEmbedding(50_000, random_state=0),
        )
    )
    assert max(again, embedding) < 8 * 200 * 50_000 / 4
    assert kept >= 8 * 200 * 50_000


def gaussian(ell, m, variance, seed=0):
    return np.random.default_rng(seed).normal(0, np.sqrt(variance), (ell, m))


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [
        # 8 log(400) / (3 / 64) = 1022.54
        (GaussianCompression.n_components_for(99, 0.25), 1023),
        (loss_components(1, 0.4), 174),  # 8 log(8) / 0.096 = 173.29
        (norm_components(1, 1, 0.44), 146),  # ((1 + sqrt(2)) / 0.2)^2 = 145.71
        # ((1.414214 + sqrt(2 (2 (1 + log 50) + log 100))) / 0.1)^2 = 4605.28
        (GaussianCompression.n_components_for_theorem5(2, 100, 0.21), 4606),
        (expansion_failure(1, 4000, 0.1), np.exp(-1)),
        (expansion_failure(10, 10**6, 0.4), 100 * np.exp(-40)),
        (expansion_failure(100, 10**6, 0.4), 1.0),
    ],
)
def test_values_by_hand(value, by_hand):
    assert value == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("n", [10, 1000, 10**6])
@pytest.mark.parametrize("delta", [0.05, 0.25, 0.49])
def test_lemma_1_by_the_exact_distribution(n, delta):
    """l ||Lambda p||^2 is chi^2 with l degrees of freedom: 3 n + 1 vectors p fail together with less than 1 / n."""

    def failure(ell):
        return (3 * n + 1) * (
            chi2.sf(ell * (1 + delta), ell) + chi2.cdf(ell * (1 - delta), ell)
        )

    assert failure(loss_components(n, delta)) < 1 / n
    assert failure(loss_components(n, delta) // 5) > 1 / n


def test_lemma_2_on_all_supports():
    m = 40
    s = 2
    delta = 0.45
    ell = norm_components(s, m, delta)

    def largest(ell):
        """Squared norm of the worst pair of columns, from the 2 x 2 Gram matrices."""
        gram = (matrix := gaussian(ell, m, 1 / ell)).T @ matrix
        i, j = np.triu_indices(m, 1)
        a = gram[i, i]
        b = gram[j, j]
        c = gram[i, j]
        return ((a + b) / 2 + np.hypot((a - b) / 2, c)).max()

    assert largest(ell) <= 1 + delta
    assert largest(ell // 20) > 1 + delta
    assert ell / (s * np.log(m) / delta**2) < 30  # the constant of Theorem 5, in effect


def test_lemma_4_and_where_it_says_nothing():
    ell = 3
    m = 20_000
    delta = 0.45
    assert expansion_failure(ell, m, delta) < 2e-3
    norms = [
        np.linalg.norm(gaussian(ell, m, 1 / m, seed), 2) ** 2 for seed in range(20)
    ]
    assert max(norms) <= 1 + delta
    assert expansion_failure(500, 2000, delta) == 1
    assert np.linalg.norm(gaussian(500, 2000, 1 / 2000), 2) ** 2 > 1 + delta
    # at variance 1/l it is false
    assert np.linalg.norm(gaussian(ell, m, 1 / ell), 2) ** 2 > 100


@pytest.mark.parametrize("delta", [0, 0.5, -0.1, 1, np.nan])
@pytest.mark.parametrize("bound", [loss_components, norm_components, expansion_failure])
def test_delta_out_of_range(bound, delta):
    counts = (5,) if bound is loss_components else (5, 10)
    with pytest.raises(
        ValueError,
        match=rf"^{bound.__name__}: expected delta to be in \(0, 1/2\), got .*; Theorem 5",
    ):
        bound(*counts, delta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: loss_components(0, 0.1),
            "loss_components: expected n_points to be at least 1, got 0; pass a count",
        ),
        (
            lambda: norm_components(0, 5, 0.1),
            "norm_components: expected sparsity to be at least 1, got 0",
        ),
        (
            lambda: norm_components(6, 5, 0.1),
            "expected sparsity to be at most n_features = 5, got 6; pass the number",
        ),
        (
            lambda: expansion_failure(1, 0, 0.1),
            "expansion_failure: expected n_features to be at least 1, got 0",
        ),
    ],
)
def test_counts_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()
