"""The bounds of Giesen et al. against values by hand, exact distributions, and matrices without a promise."""

import numpy as np
import pytest
from scipy.stats import chi2

from provsel.kernels.compression_bounds import expansion_failure, loss_components, norm_components


def gaussian(ell, m, variance, seed=0):
    return np.random.default_rng(seed).normal(0, np.sqrt(variance), (ell, m))


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [
        (loss_components(99, 0.25), 1023),  # 8 log(400) / (3 / 64) = 1022.54
        (loss_components(1, 0.4), 174),  # 8 log(8) / 0.096 = 173.29
        (norm_components(1, 1, 0.44), 146),  # ((1 + sqrt(2)) / 0.2)^2 = 145.71
        (norm_components(2, 100, 0.21), 4606),  # ((1.414214 + sqrt(2 (2 (1 + log 50) + log 100))) / 0.1)^2 = 4605.28
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
        return (3 * n + 1) * (chi2.sf(ell * (1 + delta), ell) + chi2.cdf(ell * (1 - delta), ell))

    assert failure(loss_components(n, delta)) < 1 / n
    assert failure(loss_components(n, delta) // 5) > 1 / n


def test_lemma_2_on_all_supports():
    m, s, delta = 40, 2, 0.45
    ell = norm_components(s, m, delta)

    def largest(ell):
        """Squared norm of the worst pair of columns, from the 2 x 2 Gram matrices."""
        gram = (matrix := gaussian(ell, m, 1 / ell)).T @ matrix
        i, j = np.triu_indices(m, 1)
        a, b, c = gram[i, i], gram[j, j], gram[i, j]
        return ((a + b) / 2 + np.hypot((a - b) / 2, c)).max()

    assert largest(ell) <= 1 + delta
    assert largest(ell // 20) > 1 + delta
    assert ell / (s * np.log(m) / delta**2) < 30  # the constant of Theorem 5, in effect


def test_lemma_4_and_where_it_says_nothing():
    ell, m, delta = 3, 20_000, 0.45
    assert expansion_failure(ell, m, delta) < 2e-3
    norms = [np.linalg.norm(gaussian(ell, m, 1 / m, seed), 2) ** 2 for seed in range(20)]
    assert max(norms) <= 1 + delta
    assert expansion_failure(500, 2000, delta) == 1
    assert np.linalg.norm(gaussian(500, 2000, 1 / 2000), 2) ** 2 > 1 + delta
    assert np.linalg.norm(gaussian(ell, m, 1 / ell), 2) ** 2 > 100  # at variance 1/l it is false


@pytest.mark.parametrize("delta", [0, 0.5, -0.1, 1, np.nan])
@pytest.mark.parametrize("bound", [loss_components, norm_components, expansion_failure])
def test_delta_out_of_range(bound, delta):
    counts = (5,) if bound is loss_components else (5, 10)
    with pytest.raises(ValueError, match=rf"^{bound.__name__}: expected delta in \(0, 1/2\), got .*; Theorem 5"):
        bound(*counts, delta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: loss_components(0, 0.1), "loss_components: expected n_points of at least 1, got 0; pass a count"),
        (lambda: norm_components(0, 5, 0.1), "norm_components: expected sparsity of at least 1, got 0"),
        (lambda: norm_components(6, 5, 0.1), "expected sparsity up to n_features = 5, got 6; pass the number"),
        (lambda: expansion_failure(1, 0, 0.1), "expansion_failure: expected n_features of at least 1, got 0"),
    ],
)
def test_counts_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()
