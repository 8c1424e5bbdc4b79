"""Options that stand for readings of a paper: each against a plain definition, and refused where it is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from provsel import selectors
from provsel.kernels.lpsvm_published import lpsvm_published
from provsel.kernels.spectral import spectral_basis

R = 40


rng = np.random.default_rng(0)
X = rng.standard_normal((15, 200)) * np.exp(
    rng.standard_normal(200)
) + rng.standard_normal(200)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "selector",
    [selectors.BSSSelector(R), selectors.LeverageScoreSelector(R, strategy="top")],
)
def test_centred_columns_are_those_of_the_centred_rows(selector, form):
    plain = selector.fit(form(X)).indices_
    before = selector.fit(X - X.mean(axis=0))
    weights = before.weights_
    centred = selector.set_params(center=True).fit(form(X))
    selector.set_params(center=False)
    assert_array_equal(centred.indices_, before.indices_)
    assert_allclose(centred.weights_, weights)
    assert centred.rank_ == 14  # the mean takes one
    assert set(plain) != set(centred.indices_)


def test_columns_of_sigma_v_are_as_long_as_those_of_x():
    squares = (X**2).sum(axis=0)
    top = selectors.LeverageScoreSelector(R, strategy="top", columns="sigma_V").fit(X)
    assert_allclose(top.scores_, squares)
    assert_array_equal(top.indices_, np.argsort(-squares, kind="stable")[:R])
    drawn = selectors.LeverageScoreSelector(R, columns="sigma_V", random_state=5).fit(X)
    draws = np.random.default_rng(5).choice(200, size=R, p=squares / squares.sum())
    assert set(drawn.indices_) == set(draws)
    bss = selectors.BSSSelector(R, columns="sigma_V").fit(X)
    assert bss.indices_[0] == np.argmax(squares)  # in the first step all are feasible
    assert bss.indices_[0] != selectors.BSSSelector(R).fit(X).indices_[0]
    V = spectral_basis(X).V[bss.indices_] * bss.weights_[:, None]
    low, high = bss.eigenvalue_range_
    eigenvalues = np.linalg.eigvalsh(V.T @ V)
    # the lemma asks for feasibility only
    assert low <= eigenvalues[0] <= eigenvalues[-1] <= high


BSS = selectors.BSSSelector(R)
APPROXIMATE = selectors.ApproximateBSSSelector(R, n_projections=10, random_state=0)
OTHERS = [
    (BSS, {"shifts": "section_4_1"}, True),
    # Algorithm 1 finds a column in each step here
    (BSS, {"no_candidate": "longest"}, False),
    (BSS, {"no_candidate": "skip"}, False),
    (BSS, {"gain": "mean"}, True),
    (APPROXIMATE, {"gain": "mean"}, True),
]


@pytest.mark.parametrize(("selector", "reading", "differs"), OTHERS)
def test_the_other_readings_of_bss_promise_nothing(selector, reading, differs):
    plain = clone(selector).fit(X)
    changed = clone(selector).set_params(**reading).fit(X)
    assert plain.n_infeasible_ == 0
    assert plain.spectral_bound_ > 0
    assert not hasattr(changed, "spectral_bound_")
    assert not hasattr(changed, "eigenvalue_range_")
    assert (changed.n_infeasible_ > 0) == differs
    if differs:
        assert set(changed.indices_) != set(plain.indices_)
    else:
        assert_array_equal(changed.indices_, plain.indices_)


def test_sums_without_signs_are_sums():
    signed, plain = (
        selectors.SparseEmbedding(9, signed=is_signed, random_state=0).fit(X)
        for is_signed in (True, False)
    )
    assert_array_equal(plain.buckets_, signed.buckets_)
    expected = np.column_stack(
        [X[:, plain.buckets_ == k].sum(axis=1) for k in range(9)]
    )
    assert_allclose(plain.transform(X), expected, atol=1e-12)
    assert np.abs(signed.transform(X) - expected).max() > 0.1


def published_by_the_book(
    A, y, nu, epsilon=0.1, alpha=1e3, delta=1e-3, tol=1e-3, steps=50
):
    """Fung and Mangasarian's iteration in dense algebra, as their paper prints it."""
    n = len(y)
    u = np.zeros(n)
    done = 0
    while True:
        v = A.T @ u
        over = np.maximum(v - 1, 0) - np.maximum(-v - 1, 0)
        g = (
            -epsilon
            + A @ over
            + y * (y @ u)
            + np.maximum(u - nu, 0)
            - alpha * np.maximum(-u, 0)
        )
        if np.linalg.norm(g) <= tol or done == steps:
            return over / epsilon, done, np.linalg.norm(g) <= tol
        active = A[:, np.abs(v) > 1]
        H = (
            active @ active.T
            + np.outer(y, y)
            + np.diag(delta + (u > nu) + alpha * (u < 0))
        )
        u, done = u - np.linalg.solve(H, g), done + 1


def text(seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    X = rng.poisson(0.3, (40, 150)).astype(float)
    X[:, :5] += rng.poisson(0.8, (40, 5)) * (y > 0)[:, None]
    X[:, 100:] = X[:, :50]  # parallel columns are kept, with one weight
    return X, y


@pytest.mark.parametrize("steps", [1, 4, 8])
def test_the_published_iteration_is_that_of_the_paper(steps):
    for seed in range(4):
        X, y = text(seed)
        w, done, converged = published_by_the_book(X * y[:, None], y, 1.0, steps=steps)
        result = lpsvm_published(
            sparse.csc_array(X * y[:, None]), y, 1.0, max_iter=steps
        )
        assert (result.n_iter, result.converged) == (done, converged)
        assert_allclose(result.w, w, atol=1e-8 * max(1, np.abs(w).max()))
        assert np.count_nonzero(result.w) == np.count_nonzero(w)


def test_the_published_iteration_says_whether_it_converged_and_keeps_more():
    X, y = text(1)
    optimal = selectors.LPSVMSelector().fit(X, y)
    with pytest.warns(
        ConvergenceWarning,
        match="expected the published iteration to converge, got none after 3 steps",
    ):
        short = selectors.LPSVMSelector(solver="as_published", max_iter=3).fit(X, y)
    assert (short.converged_, short.n_iter_, short.solver_) == (
        False,
        3,
        "as_published",
    )
    assert short.gap_ > optimal.gap_
    assert short.indices_.size > optimal.indices_.size
    w = short.coef_[0]
    assert_allclose(w[100:], w[:50])
    assert optimal.converged_
    rng = np.random.default_rng(0)
    tall = rng.standard_normal((60, 3))
    easy = selectors.LPSVMSelector(solver="as_published").fit(
        tall, np.where(tall[:, 0] > 0, 1, -1)
    )
    assert easy.indices_[0] == 0
