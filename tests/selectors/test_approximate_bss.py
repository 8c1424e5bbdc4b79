"""ApproximateBSSSelector: BSS's guarantee where the sketch keeps the row space, and its loss where not."""

import numpy as np
import pytest

from provsel.certificates import certify
from provsel.selectors import ApproximateBSSSelector, BSSSelector

P = 20
D = 300
R = 80


rng = np.random.default_rng(0)
X = (
    rng.standard_normal((P, D))
    * np.exp(0.5 * rng.standard_normal(D))
    * (rng.random((P, D)) < 0.5)
)


@pytest.mark.parametrize("t", [P, 2 * P, 10 * P])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", ["sqrt_t", "as_printed"])
def test_a_sketch_of_full_rank_has_the_selection_and_so_the_guarantee_of_bss(
    t, seed, weights
):
    selector = ApproximateBSSSelector(
        R, n_projections=t, weights=weights, random_state=seed
    ).fit(X)
    exact = BSSSelector(R, weights=weights).fit(X)
    np.testing.assert_array_equal(selector.indices_, exact.indices_)
    np.testing.assert_allclose(selector.weights_, exact.weights_, rtol=1e-8)
    assert selector.n_repeats_ == R - selector.indices_.size
    for name in ("rank_", "eigenvalue_range_", "spectral_bound_"):
        assert getattr(selector, name, None) == pytest.approx(
            getattr(exact, name, None)
        )


def test_too_few_projections_break_it():
    # one strong direction a row that its own columns carry: a sketch of rank 4 cannot
    # see all of them
    rng = np.random.default_rng(1)
    X = np.kron(np.eye(P), rng.standard_normal(15)) + 0.01 * rng.standard_normal((P, D))
    sketched = ApproximateBSSSelector(P + 1, n_projections=4, random_state=0).fit(X)
    low, _ = BSSSelector(P + 1).fit(X).eigenvalue_range_
    assert certify(sketched, X).spectral.eigenvalue_min < low


def test_the_certificate_speaks_of_full_sketches_only():
    full = ApproximateBSSSelector(R, n_projections=2 * P, random_state=0).fit(X)
    assert certify(full, X).spectral.state == "held"
    part = ApproximateBSSSelector(R, n_projections=5, random_state=0).fit(X)
    assert part.rank_ == 5
    assert certify(part, X).spectral.state != "held"
