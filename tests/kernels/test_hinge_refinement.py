"""Refinement in a growing subspace: the subspace itself, monotone bounds, and convergence to the SVM."""

from functools import partial

import numpy as np
import pytest

from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.kernels.growing_span import GrowingSpan
from provsel.kernels.hinge_dual import hinge_dual
from provsel.kernels.hinge_refinement import _better, refine
from textbook import libsvm_without_intercept


def rows(n=200, m=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, m)) * np.arange(1, m + 1) ** -0.5
    X[:, 5:15] += 0.3 * y[:, None]
    return X, y


def blocks_of(size, m, key=0):
    return GaussianBlocks(size, m, variance=1 / m, key=key)


def refined(X, y, c, size, steps, tol=1e-9, enough=None):
    blocks = blocks_of(size, X.shape[1])
    Z = blocks.project(X)
    alpha = hinge_dual(Z, y, c, tol=tol).alpha
    calls = {"image": 0, "product": 0}

    def counted(name, matrix, v):
        calls[name] += 1
        return matrix @ v

    result = refine(
        GrowingSpan(blocks, Z),
        y,
        c,
        alpha,
        steps=steps,
        tol=tol if enough is None else enough,
        solve=lambda part: hinge_dual(part, y, c, tol=tol),
        image=partial(counted, "image", X.T),
        product=partial(counted, "product", X),
    )
    return result, calls


@pytest.mark.parametrize("size", [300, 700])
def test_span_of_more_components_than_features_is_everything(size):
    """Then Lambda Lambda^T is singular, and 257 columns take two blocks of Lambda."""
    X, _ = rows(20, 257)
    blocks = blocks_of(size, 257)
    span = GrowingSpan(blocks, blocks.project(X))
    assert span.rows().shape == (20, 257)
    np.testing.assert_allclose(
        span.rows() @ span.rows().T, X @ X.T, atol=1e-7 * np.abs(X @ X.T).max()
    )
    assert np.linalg.norm(span.outside(np.ones(257))) < 1e-7


@pytest.mark.parametrize("c", [1e-1, 1e-2])
def test_a_step_is_the_svm_in_the_span(c):
    """LIBSVM in an explicit basis."""
    X, y = rows()
    result, _ = refined(X, y, c, size=10, steps=1)
    Lambda = blocks_of(10, X.shape[1]).dense()
    image = X.T @ (y * hinge_dual(X @ Lambda.T, y, c, tol=1e-9).alpha)
    basis = np.linalg.qr(np.column_stack([Lambda.T, image / np.linalg.norm(image)]))[0]
    theirs = basis @ libsvm_without_intercept(X @ basis, y, c)
    assert result.objectives[0] == pytest.approx(
        np.maximum(0, 1 - y * (X @ theirs)).mean() + c * theirs @ theirs, rel=1e-6
    )
    np.testing.assert_allclose(result.coef, theirs, atol=1e-3 * np.abs(theirs).max())


@pytest.mark.parametrize("seed", range(8))
def test_the_better_dual_variables_are_the_best_of_their_line_and_length(seed):
    """Against a grid over the plane that the two span, of which the line and the ray are parts."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 5)) + rng.random()
    y = rng.choice([-1.0, 1.0], 12)
    c = 10.0 ** rng.uniform(-3, 0)
    most = 1 / (2 * c * 12)

    def dual(alpha):
        image = X.T @ (y * alpha)
        return 2 * c * (alpha.sum() - image @ image / 2)

    pairs = [
        (alpha, X.T @ (y * alpha))
        for alpha in most * np.clip(rng.uniform(-0.5, 1.5, (2, 12)), 0, 1)
    ]
    first, first_bound = _better(None, pairs[0], c)
    (alpha, image), bound = _better(first, pairs[1], c)
    assert 0 <= alpha.min() <= alpha.max() <= most
    np.testing.assert_allclose(
        image, X.T @ (y * alpha), atol=1e-12 * (1 + np.abs(image).max())
    )
    assert bound == pytest.approx(dual(alpha), rel=1e-9)
    assert bound >= first_bound >= dual(pairs[0][0]) - 1e-12
    line = [first[0] + t * (pairs[1][0] - first[0]) for t in np.linspace(0, 3, 1000)]
    inside = [dual(point) for point in line if 0 <= point.min() <= point.max() <= most]
    assert bound >= max(inside) - 1e-12


@pytest.mark.parametrize("enough", [1e-6, 0.0], ids=["by the gap", "by the subspace"])
def test_a_subspace_that_has_the_image_is_solved_once(enough):
    """Components for every feature: the first restricted problem is the original one."""
    X, y = rows(n=60, m=20)
    optimum = hinge_dual(X, y, 0.01, tol=1e-10).primal
    result, calls = refined(X, y, 0.01, size=40, steps=5, tol=1e-6, enough=enough)
    assert result.objectives == pytest.approx([optimum], rel=1e-6)
    assert calls == {"image": 2, "product": 0}
