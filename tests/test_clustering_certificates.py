"""Theorem 1, Lemmas 2 and 3 and Theorem 2 of the streaming paper, measured, with negative controls."""

import itertools

import numpy as np
import pytest

from provlab.protocols.whole_rows import cluster_rows
from provsel.certificates import (
    HELD,
    NO_BOUND,
    VACUOUS,
    VIOLATED,
    ClusteringCost,
    MeasuredTrial,
    PartitionCost,
    certify,
)
from provsel.certificates.certifying import certify_trial
from provsel.models import KMeansClustering
from provsel.selectors import OnlineLeverageSelector
from provsel.training_view import TrainingView

N, D, EPS = 8, 6000, 0.5
MODEL = KMeansClustering(2, random_state=0)


@pytest.fixture(scope="module")
def view():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    return TrainingView(np.where(y, 1.0, -1.0)[:, None] * rng.normal(size=D) + rng.normal(size=(N, D)), y)


def fitted(view, **options):
    return OnlineLeverageSelector(random_state=0, epsilon=EPS, **options).fit(view.X)


def all_certificates(selector, view):
    trial = MeasuredTrial(selector, view, model=cluster_rows(selector, MODEL, view))
    return certify_trial(trial, margin=False, radius=False, also=(ClusteringCost, PartitionCost))


def test_theory_options_hold(view):
    selector = fitted(view)
    assert selector.indices_.size < 0.8 * D  # something was left out
    found = all_certificates(selector, view)
    assert (found.spectral.state, found.scores.state, found.cost.state, found.partition.state) == (HELD,) * 4
    assert found.held
    assert 0 < found.spectral.spectral_error <= found.spectral.spectral_bound == EPS
    assert found.scores.score_sum == pytest.approx(selector.scores_.sum())
    assert found.scores.score_sum < found.scores.score_sum_bound < D
    assert 1 - EPS < found.cost.cost_ratio_min <= found.cost.cost_ratio_max < 1 + EPS
    assert found.partition.partition_ratio <= found.partition.partition_bound == 3.0


def test_spectral_error_is_that_of_theorem_1(view):
    selector = fitted(view)
    kept = selector.transform(view.X)
    A, B = view.X @ view.X.T, kept @ kept.T
    L = np.linalg.inv(np.linalg.cholesky(A))
    eigenvalues = np.linalg.eigvalsh(L @ B @ L.T)
    assert certify(selector, view.X).spectral.spectral_error == pytest.approx(np.abs(eigenvalues - 1).max(), rel=1e-8)


def test_lemma_3_for_every_partition_of_few_rows(view):
    """What the certificate infers from three partitions, for all 127 of two clusters."""
    selector = fitted(view)
    kept, ratios = selector.transform(view.X), []
    for labels in itertools.product([0, 1], repeat=N - 1):
        P = np.zeros((N, 2))
        P[np.arange(N), [0, *labels]] = 1
        if P.any(axis=0).all():
            P /= np.sqrt(P.sum(axis=0))
            cost = [np.linalg.norm(X - P @ (P.T @ X)) ** 2 for X in (kept, view.X)]
            ratios.append(cost[0] / cost[1])
    error = certify(selector, view.X).spectral.spectral_error
    assert 1 - error <= min(ratios) <= max(ratios) <= 1 + error


def test_a_tampered_selection_is_caught(view):
    selector = fitted(view)
    selector.weights_ = 1.5 * selector.weights_
    found = all_certificates(selector, view)
    assert (found.spectral.state, found.cost.state) == (VIOLATED, VIOLATED)
    assert not found.held
    selector.scores_ = np.ones(D)
    assert all_certificates(selector, view).scores.state == VIOLATED


def test_a_partition_that_costs_too_much_is_caught(view):
    """Two columns that separate the rows differently from all the others."""
    selector = fitted(view)
    wrong = np.zeros((N, 2))
    wrong[: N // 2] = 1000.0
    X = np.hstack([wrong, 1000.0 * view.X[:, 2:]])
    strange = TrainingView(X, view.y)
    selector.indices_, selector.weights_ = np.array([0, 1]), np.ones(2)
    found = all_certificates(selector, strange)
    assert found.partition.partition_ratio > 1.0
    assert found.cost.state == VIOLATED


def test_keeping_everything_proves_nothing():
    X = np.random.default_rng(1).normal(size=(12, 30))
    selector = OnlineLeverageSelector(random_state=0).fit(X)
    assert selector.indices_.size == 30
    found = all_certificates(selector, TrainingView(X, np.arange(12) % 2))
    assert (found.spectral.state, found.scores.state, found.cost.state, found.partition.state) == (VACUOUS,) * 4
    assert found.held


@pytest.mark.parametrize(
    "options", [{"n_features_to_select": 200}, {"sampling_rate": 1.0}, {"outside_span": "ridge", "ridge": 1.0}]
)
def test_nothing_is_promised_at_another_rate_or_with_a_ridge(view, options):
    found = all_certificates(fitted(view, **options), view)
    assert (found.spectral.state, found.scores.state, found.cost.state, found.partition.state) == (NO_BOUND,) * 4
    assert found.spectral.spectral_error > 0
    assert np.isnan(found.partition.partition_bound)


def test_lemma_2_depends_on_the_units(view):
    """The printed bound is negative for a matrix of small norm, and the scores do not change with the units."""
    small = TrainingView(view.X * 1e-4, view.y)
    assert certify(fitted(view), view.X).scores.state == HELD
    assert certify(fitted(small), small.X).scores.state == VIOLATED
    assert OnlineLeverageSelector.score_sum_bound(10, np.exp(0.5)) == pytest.approx(160.0)


def test_as_printed_misses_columns_outside_the_span():
    """Columns on the other half of the rows are orthogonal to the first one, score 0, and are never kept."""
    rng = np.random.default_rng(0)
    X = np.zeros((N, 4000))
    half = np.concatenate([[0], rng.integers(0, 2, 3999)])
    for j, which in enumerate(half):
        X[which * N // 2 : (which + 1) * N // 2, j] = rng.normal(size=N // 2)
    printed, needed = fitted(TrainingView(X), outside_span="project"), fitted(TrainingView(X), outside_span="one")
    assert set(half[printed.indices_]) == {0}
    assert certify(printed, X).spectral.state == VIOLATED
    assert certify(printed, X).spectral.spectral_error == pytest.approx(1.0)
    assert certify(needed, X).spectral.state == HELD


def test_a_stream_forgets_a_promise_too(view):
    selector = fitted(view)
    selector.set_params(sampling_rate=1.0).partial_fit_columns(view.X)
    assert not hasattr(selector, "spectral_bound_")
    again = OnlineLeverageSelector(random_state=0, epsilon=EPS).partial_fit_columns(view.X)
    assert (again.spectral_bound_, again.eigenvalue_range_) == (EPS, (1 - EPS, 1 + EPS))
