"""Certificates: they hold where the theorems do, catch what breaks them, and measure what they say."""

import copy
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC

from provsel.certificates import (
    HELD,
    NOT_MEASURED,
    THEOREMS,
    VIOLATED,
    Theorem,
    certify,
)
from provsel.kernels.enclosing_ball import minimum_enclosing_ball
from provsel.models import LibsvmSVM
from provsel.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    OnSupportVectors,
    UniformSelector,
)

STATES = ("spectral", "margin", "soft", "radius")


def labelled(n, d, *, rank=None, seed=0):
    """Rows in general position: separable as soon as n <= d, or along the rows' own span for low rank."""
    rng = np.random.default_rng(seed)
    rank = min(n, d) if rank is None else rank
    points = rng.standard_normal((n, rank))
    y = np.where(np.arange(n) % 2, 1, -1)
    if rank < n:
        points[:, 0] = y * (1 + np.abs(points[:, 0]))
    return points @ rng.standard_normal((rank, d)), y


def states(certificate):
    return {name: getattr(certificate, name).state for name in STATES}


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 15),
    extra=st.integers(1, 60),
    spread=st.sampled_from([0.0, 1.0, 2.0]),
)
@settings(max_examples=40, deadline=None)
def test_held_for_bss_on_any_input(seed, n, extra, spread):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 120)) * np.exp(spread * rng.standard_normal(120))
    y = np.where(np.arange(n) % 2, 1, -1)
    certificate = certify(BSSSelector(n + extra).fit(X), X, y)
    assert certificate.spectral.state == "held"
    assert certificate.held, states(certificate)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_many_features_make_every_bound_say_something(C):
    X, y = labelled(40, 1000, rank=5)
    certificate = certify(BSSSelector(900).fit(X), X, y, C=C)
    assert states(certificate) == dict.fromkeys(STATES, "held")
    assert (
        certificate.spectral.spectral_error <= certificate.spectral.spectral_bound < 0.5
    )
    assert 0 < certificate.margin.margin_bound <= certificate.margin.margin_ratio
    assert certificate.soft.soft_bound <= certificate.soft.soft_value * (1 + 1e-6)
    assert certificate.radius.radius_ratio <= certificate.radius.radius_bound < 1.5


def test_few_features_leave_the_margin_bound_vacuous():
    X, y = labelled(20, 400)
    certificate = certify(BSSSelector(21).fit(X), X, y)
    assert certificate.spectral.state == "held"
    assert certificate.spectral.spectral_error >= 0.5
    assert certificate.margin.state == certificate.soft.state == "vacuous"
    assert np.isnan(certificate.margin.margin_bound)
    assert np.isfinite(certificate.margin.margin_ratio)
    assert certificate.held


@pytest.mark.parametrize("r", [25, 60, 300])
def test_the_printed_weights_are_caught(r):
    X, y = labelled(20, 400)
    certificate = certify(BSSSelector(r, weights="as_printed").fit(X), X, y)
    assert certificate.spectral.state == "violated"
    assert not certificate.held


@pytest.mark.parametrize(
    "keep", [slice(0, None, 2), slice(100), slice(200, None), slice(0)]
)
def test_dropped_features_are_caught(keep):
    X, y = labelled(40, 600, rank=4)
    selector = BSSSelector(400).fit(X)
    assert certify(selector, X, y).held
    # its promises stay
    selector.indices_, selector.weights_ = (
        selector.indices_[keep],
        selector.weights_[keep],
    )
    assert not certify(selector, X, y).held
    assert certify(selector, X, y, ridge=1.0).spectral.state == VIOLATED


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_eigenvalues_are_those_of_the_definition(form):
    X, y = labelled(12, 90)
    selector = BSSSelector(40).fit(X)
    V = np.linalg.svd(X, full_matrices=False)[2].T
    R = np.zeros((90, selector.indices_.size))
    R[selector.indices_, np.arange(selector.indices_.size)] = selector.weights_
    eigenvalues = np.linalg.eigvalsh(V.T @ R @ R.T @ V)
    certificate = certify(selector, form(X), y)
    assert certificate.spectral.eigenvalue_min == pytest.approx(
        eigenvalues[0], rel=1e-6
    )
    assert certificate.spectral.eigenvalue_max == pytest.approx(
        eigenvalues[-1], rel=1e-9
    )
    assert certificate.spectral.spectral_error == pytest.approx(
        np.linalg.norm(np.eye(12) - V.T @ R @ R.T @ V, 2), rel=1e-9
    )
    assert (
        certificate.spectral.eigenvalue_low,
        certificate.spectral.eigenvalue_high,
    ) == selector.eigenvalue_range_
    assert certificate.spectral.spectral_bound == selector.spectral_bound_


@pytest.mark.parametrize(
    ("n", "rank", "r"), [(30, 4, 300), (16, None, 60), (16, None, 20)]
)
def test_margin_is_that_of_scikit_learn(n, rank, r):
    X, y = labelled(n, 400, rank=rank)
    X /= np.linalg.norm(X, axis=1).mean()
    selector = BSSSelector(r).fit(X)

    def squared_norm(rows):
        return float(
            (SVC(kernel="linear", C=1e8, tol=1e-9).fit(rows, y).coef_ ** 2).sum()
        )

    expected = squared_norm(X) / squared_norm(selector.transform(X))
    assert certify(selector, X, y).margin.margin_ratio == pytest.approx(
        expected, rel=1e-4
    )


def test_soft_value_is_the_optimum():
    X, y = labelled(30, 100, seed=1)
    model = SVC(kernel="linear", C=0.05, tol=1e-9).fit(X, y)
    slack = np.maximum(0, 1 - y * model.decision_function(X)).sum()
    primal = 0.5 * (model.coef_**2).sum() + 0.05 * slack
    assert certify(
        BSSSelector(60).fit(X), X, y, C=0.05
    ).soft.soft_value == pytest.approx(primal, rel=1e-5)
    assert certify(BSSSelector(60).fit(X), X, y, C=None).soft.state == "not measured"


@pytest.mark.parametrize(("n", "rank"), [(30, 3), (8, None)])
def test_radius_is_that_of_the_enclosing_balls(n, rank):
    X, _ = labelled(n, 100, rank=rank)
    X /= np.linalg.norm(X, axis=1).mean()
    selector = BSSSelector(60).fit(X)
    kept, whole = (
        minimum_enclosing_ball(Z @ Z.T).squared_radius
        for Z in (selector.transform(X), X)
    )
    expected = kept / whole
    certificate = certify(selector, X)
    assert certificate.radius.radius_ratio == pytest.approx(expected, rel=1e-5)
    assert certificate.radius.radius_bound == pytest.approx(
        1 + certificate.spectral.spectral_error
    )


def test_not_separable_rows_have_no_margin():
    X, y = labelled(40, 300, rank=4)
    y = np.random.default_rng(1).permutation(y)
    certificate = certify(BSSSelector(250).fit(X), X, y)
    assert certificate.margin.state == "not separable"
    assert np.isnan(certificate.margin.margin_ratio)
    assert certificate.soft.state == "held"
    assert certificate.held


@pytest.mark.parametrize("labels", [None, "three classes", "one class"])
def test_without_two_classes_no_margin_is_measured(labels):
    X, y = labelled(20, 200)
    y = {"three classes": np.arange(20) % 3, "one class": np.ones(20)}.get(labels)
    certificate = certify(BSSSelector(60).fit(X), X, y)
    assert certificate.margin.state == certificate.soft.state == "not measured"
    assert certificate.radius.state == certificate.spectral.state == "held"


@pytest.mark.parametrize(
    "selector",
    [
        LeverageScoreSelector(100, random_state=0),
        UniformSelector(50, random_state=0),
        BSSSelector(100, rank=5),
    ],
)
def test_methods_without_a_promise_are_measured_only(selector):
    X, y = labelled(20, 200)
    certificate = certify(selector.fit(X), X, y)
    assert certificate.spectral.state == "no bound"
    assert np.isnan(certificate.spectral.spectral_bound)
    assert certificate.spectral.spectral_error > 0
    assert certificate.held


def test_on_support_vectors_is_about_those_rows():
    X, y = labelled(60, 400, rank=6, seed=2)
    both = OnSupportVectors(BSSSelector(300), svm=LibsvmSVM(C=0.001)).fit(X, y)
    rows = both.support_rows_
    assert rows.size < 60
    assert certify(both, X, y) == certify(both.selector_, X[rows], y[rows])
    assert certify(both, X, y) != certify(both.selector_, X, y)
    assert certify(both, X, y).held


def test_another_number_of_features_is_refused():
    X, y = labelled(10, 100)
    selector = BSSSelector(30).fit(X)
    with pytest.raises(
        ValueError,
        match=r"expected X with the 100 features .* got 99; pass the training rows",
    ):
        certify(selector, X[:, :-1], y)


def test_records_are_primitive():
    X, y = labelled(10, 100)
    record = certify(BSSSelector(30).fit(X), X, y).as_record()
    assert all(
        name.startswith("certificate_") and type(value) in (float, str)
        for name, value in record.items()
    )


def test_the_columns_of_all_theorems_are_those_of_every_store():
    columns = {
        name: kind for theorem in THEOREMS for name, kind in theorem.columns().items()
    }
    assert len(columns) == 33
    states = dict.fromkeys(f"certificate_{theorem.name}" for theorem in THEOREMS)
    assert [name for name, kind in columns.items() if kind is str] == [*states]
    for theorem in THEOREMS:
        assert theorem().as_record().keys() == theorem.columns().keys()
        assert re.search(r"\(\d{4}\), .*(Lemma|Theorem|equation)", theorem.source)


def test_a_certificate_says_what_it_has():
    X, y = labelled(10, 100)
    certificate = certify(BSSSelector(30).fit(X), X, y)
    lines = str(certificate).splitlines()
    assert [line.split()[0] for line in lines if line[0] != " "] == [
        record.name for record in certificate
    ]
    assert re.fullmatch(
        r"spectral +held +Paul, .* Lemmas 1 and 2; .* Theorem 1", lines[0]
    )
    assert re.fullmatch(r" +spectral_error +\d[.]\d+", lines[1])
    with pytest.raises(
        AttributeError,
        match=r"expected one of spectral, scores, margin, soft, radius, got 'width'",
    ):
        _ = certificate.width
    assert copy.deepcopy(certificate) == certificate


class NoMoreThan(Theorem):
    name = "size"
    source = "by construction"
    kept: float = np.nan

    @classmethod
    def measure(cls, trial, most=100):
        kept = trial.reducer.indices_.size
        return cls(kept=kept, state=HELD if kept <= most else VIOLATED)


def test_a_theorem_of_ones_own_stands_beside():
    X, y = labelled(10, 100)
    certificate = certify(BSSSelector(30).fit(X), X, y, also=[NoMoreThan])
    assert certificate.size.state == "held"
    assert certificate.size.kept == 30
    assert certificate.held
    assert NoMoreThan.columns() == {"size": str, "kept": float}
    assert {"size": "held", "kept": 30}.items() <= certificate.as_record().items()


def test_a_soft_margin_that_libsvm_does_not_reach_is_not_measured(monkeypatch):
    """On a column of 1e7 LIBSVM took minutes, and what it has until then bounds nothing."""
    X = np.random.default_rng(0).standard_normal((30, 400))
    X[:, 5] *= 1e7
    monkeypatch.setattr("provsel.certificates.margin.MOST_ITERATIONS", 1000)
    certificate = certify(BSSSelector(200).fit(X), X, np.arange(30) % 2)
    assert certificate.spectral.state == HELD
    assert certificate.soft.state == NOT_MEASURED
