"""The best length of a vector: against a search over all lengths, closed forms, and the dual's box."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from provsel.kernels.hinge_dual import hinge_dual
from provsel.kernels.hinge_scale import best_dual_scale, best_scale


def objective(t, scores, square, c):
    return np.maximum(0.0, 1.0 - t * scores).mean() + c * t * t * square


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(-3, 3), st.floats(-6, 3), st.floats(-1, 2))
@settings(deadline=None, max_examples=150)
def test_agrees_with_a_search(n, seed, length, exponent, shift):
    scores = 10.0**length * (np.random.default_rng(seed).standard_normal(n) + shift)
    square, c = 10.0 ** (2 * length), 10.0**exponent
    t, value = best_scale(scores, square, c)
    assert t >= 0
    assert value == pytest.approx(objective(t, scores, square, c), rel=1e-12)
    top = 2 * (1 / np.sqrt(c * square))  # beyond it the square alone exceeds f(0) = 1
    found = minimize_scalar(objective, args=(scores, square, c), bounds=(0, top), options={"xatol": 1e-12 * top})
    kinks = 1 / scores[scores > 0]
    others = [0.0, *np.linspace(0, top, 200), *kinks, *(kinks * (1 + 1e-6)), t * 0.999, t * 1.001]
    assert value <= min(found.fun, *(objective(s, scores, square, c) for s in others)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("scores", "square", "c", "t"),
    [
        ([2.0], 1.0, 0.5, 0.5),  # at the kink: the slope is 1/2 - 2 before it and 1/2 behind
        ([2.0], 1.0, 4.0, 0.25),  # before the kink: 8 t = 2
        ([-1.0, 0.5], 1.0, 1.0, 0.0),  # more is lost than won
        ([1.0, -1.0], 1.0, 1.0, 0.0),
        ([4.0, 1.0], 1.0, 0.5, 0.5),  # between: t = 1/2 from the second row alone
        ([0.0, 0.0], 1.0, 0.5, 0.0),
        ([0.0, 0.0], 0.0, 0.5, 0.0),  # the zero vector has no length to choose
    ],
)
def test_closed_forms(scores, square, c, t):
    assert best_scale(np.array(scores), square, c) == pytest.approx((t, objective(t, np.array(scores), square, c)))


@given(st.integers(1, 20), st.integers(0, 2**32 - 1), st.floats(-5, 2), st.floats(0, 1))
@settings(deadline=None, max_examples=100)
def test_dual_scale_stays_in_the_box_and_bounds_the_optimum(n, seed, exponent, fill):
    rng = np.random.default_rng(seed)
    X, y, c = rng.standard_normal((n, 4)), rng.choice([-1.0, 1.0], n), 10.0**exponent
    most = 1 / (2 * c * n)
    alpha = most * np.minimum(rng.random(n) + fill, 1.0)
    w = X.T @ (y * alpha)
    t, bound = best_dual_scale(alpha, float(w @ w), c)
    assert t * alpha.max() <= most * (1 + 1e-12)
    assert bound <= hinge_dual(X, y, c, tol=1e-9).primal * (1 + 1e-9)
    scaled = np.linspace(0, most / alpha.max(), 300)
    values = 2 * c * (scaled * alpha.sum() - scaled**2 * (w @ w) / 2)
    assert bound >= values.max() * (1 - 1e-12)


def test_dual_scale_without_an_image():
    assert best_dual_scale(np.zeros(3), 0.0, 0.1) == (0.0, 0.0)
    t, bound = best_dual_scale(np.array([0.5, 0.5]), 0.0, 0.1)  # C = 2.5: alpha may grow five times
    assert (t, bound) == pytest.approx((5.0, 1.0))
