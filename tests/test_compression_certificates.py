"""Theorems 5 and 7 of Giesen et al. (2013) as certificates, with their definitions written out."""

import numpy as np
import pytest
from scipy import sparse

from provlab.core.plan import make_tasks
from provlab.data import load_dataset
from provlab.run.task import run_task
from provsel.certificates import (
    HELD,
    NOT_MEASURED,
    VACUOUS,
    VIOLATED,
    MeasuredTrial,
    certify_compression,
)
from provsel.certificates.certifying import certify_compressed_trial
from provsel.models import CompressedLinearSVM, FeatureSelectiveSVM, HingeSVM
from provsel.training_view import TrainingView, described
from small_runs import FULL, small_cell

C = 1e-3


@pytest.fixture(scope="module")
def view():
    data = load_dataset(
        "sparse_rows",
        n_samples=200,
        n_features=1000,
        n_relevant=5,
        n_test=10,
        mirrored=True,
        dense=True,
    )
    return TrainingView(data.X[:200], data.y[:200])


def certified(view, n_components=100, **options):
    model = CompressedLinearSVM(n_components, c=C, random_state=0, **options)
    return on_view(model.fit(view.X, view.y), view)


def on_view(model, view):
    return certify_compressed_trial(MeasuredTrial(None, view, model=model))


def hinge(scores):
    return np.maximum(0.0, 1.0 - scores).mean()


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("recovery", ["dual", "transpose"])
def test_what_is_measured_by_definition(view, recovery, as_sparse):
    rows = TrainingView(sparse.csr_array(view.X), view.y) if as_sparse else view
    model = CompressedLinearSVM(
        60, c=C, recovery=recovery, variance="1/l", random_state=1
    ).fit(rows.X, rows.y)
    measured = certify_compression(model, rows.X, rows.y).recovery
    Lambda = model.blocks_.dense()
    w = HingeSVM(c=C).fit(view.X, view.y).coef_[0]
    w_bar = model.compressed_coef_
    Z = view.X @ Lambda.T
    assert measured.optimum == pytest.approx(hinge(view.y * (view.X @ w)) + C * w @ w)
    v = model.coef_[0]
    assert (
        measured.objective
        == pytest.approx(hinge(view.y * (view.X @ v)) + C * v @ v)
        == pytest.approx(model.objective_)
    )
    change = abs(hinge(view.y * (Z @ (Lambda @ w))) - hinge(view.y * (view.X @ w)))
    assert measured.loss_change == pytest.approx(change)
    assert measured.norm_ratio == pytest.approx(np.sum((Lambda @ w) ** 2) / (w @ w))
    assert measured.expansion_ratio == pytest.approx(
        np.sum((Lambda.T @ w_bar) ** 2) / (w_bar @ w_bar)
    )
    assert measured.objective / (
        1 + measured.delta
    ) ** 2 - measured.delta == pytest.approx(measured.optimum)
    assert 1 / (1 + measured.zero_delta) ** 2 - measured.zero_delta == pytest.approx(
        measured.optimum
    )
    # Lemma 3: the compressed problem at w_bar has the loss of the recovered vector of
    # the paper
    if recovery == "transpose":
        assert hinge(view.y * (Z @ w_bar)) == pytest.approx(
            hinge(view.y * (view.X @ v))
        )


def test_dual_recovery_holds_and_the_report_fails_one_way_at_each_variance(view):
    dual = certified(view, 400)  # the defaults are those that work
    assert dual.recovery.state == HELD
    assert dual.held
    assert dual.recovery.delta < 0.05 < dual.recovery.zero_delta < 0.5
    # Lemma 1 fails, Lemma 4 holds
    printed = certified(view, 10, recovery="transpose", variance="1/m").recovery
    assert printed.loss_change > 0.5
    assert printed.expansion_ratio < 1.2
    assert printed.delta > 0.2
    longer = certified(view, 10, recovery="transpose", variance="1/l")  # Lemma 4 fails
    assert longer.recovery.expansion_ratio > 50
    assert longer.recovery.state == VIOLATED
    assert not longer.held


def test_no_better_than_nothing_is_vacuous(view):
    model = CompressedLinearSVM(10, c=C, random_state=0).fit(view.X, view.y)
    model.coef_ = np.zeros_like(model.coef_)
    measured = on_view(model, view).recovery
    assert measured.state == VACUOUS
    assert measured.objective == 1.0
    assert measured.delta == measured.zero_delta


def test_a_vector_below_the_optimum_is_a_violation(view):
    """The right inequality is optimality: only a reference that is none can fail it."""
    model = CompressedLinearSVM(800, c=C, variance="1/l", random_state=0).fit(
        view.X, view.y
    )
    tampered = TrainingView(view.X, view.y)
    wrong = HingeSVM(c=C).fit(view.X, view.y)
    wrong.objective_ *= 2
    tampered.shared(f"svm {described(HingeSVM(c=C))}", lambda: wrong)
    assert on_view(model, tampered).recovery.state == VIOLATED


@pytest.mark.parametrize(
    ("form", "relative"),
    [("kernel_weights", False), ("as_printed", False), ("as_printed", True)],
)
def test_theorem_7_by_definition(view, form, relative):
    view = TrainingView(view.X[:80, :300], view.y[:80])
    options = {
        "c1": 1e-3,
        "c2": C,
        "form": form,
        "relative": relative,
        "random_state": 0,
    }
    model = FeatureSelectiveSVM(n_components=40, variance="1/l", **options).fit(
        view.X, view.y
    )
    measured = on_view(model, view).recovery
    whole = FeatureSelectiveSVM(**options).fit(view.X, view.y)
    factors = model.mu_ if form == "as_printed" else np.sqrt(model.mu_)
    recovered = model.w_
    loss = hinge(view.y * (view.X @ (factors * recovered)))
    assert measured.objective == pytest.approx(
        loss + model.c2_ * recovered @ recovered + model.c1_ * model.mu_.sum()
    )
    assert (model.c1_ == 1e-3) == (not relative)
    assert measured.optimum == pytest.approx(min(whole.objective_, measured.objective))
    if measured.delta > 0:
        assert measured.objective * (
            1 - measured.delta
        ) ** 2 - measured.delta == pytest.approx(measured.optimum)
    assert (1 - measured.zero_delta) ** 2 - measured.zero_delta == pytest.approx(
        measured.optimum
    )
    w_bar = model.compressed_coef_
    assert measured.expansion_ratio == pytest.approx(
        recovered @ recovered / (w_bar @ w_bar)
    )
    assert not hasattr(measured, "loss_change")


@pytest.mark.parametrize("certify", [True, False])
def test_trials_are_certified_where_the_protocol_asks(certify):
    model = {
        "_target_": "provsel.models.CompressedLinearSVM",
        "n_components": 20,
        "c": C,
        "variance": "1/l",
    }
    cell = small_cell(
        FULL,
        model=model,
        repeats=1,
        n_splits=2,
        draws=2,
        setting="unsupervised",
        certify=certify,
    )
    results = [run_task(task) for task in make_tasks([cell])]
    assert not any(result.failures for result in results)
    records = [record for result in results for record in result.records]
    assert len(records) == 4
    # draws of Lambda differ
    assert len({record["objective"] for record in records}) == 4
    states = {record["certificate_recovery"] for record in records}
    assert (states == {NOT_MEASURED}) == (not certify)
    if certify:
        assert all(
            record["certificate_objective"] == pytest.approx(record["objective"])
            for record in records
        )
        assert all(
            record["certificate_optimum"] <= record["objective"] for record in records
        )
        assert all(
            record["scaled_objective"] <= record["objective"] * (1 + 1e-9)
            for record in records
        )


def test_other_models_and_other_rows_are_refused(view):
    with pytest.raises(
        ValueError,
        match=r"expected a CompressedLinearSVM of .*, got HingeSVM\(\); the theorems",
    ):
        certify_compression(HingeSVM(), view.X, view.y)
    with pytest.raises(
        ValueError,
        match=r"expected a CompressedLinearSVM of the hinge loss, .* got .*loss='logistic'",
    ):
        certify_compression(CompressedLinearSVM(10, loss="logistic"), view.X, view.y)
    model = CompressedLinearSVM(10, c=C, random_state=0).fit(view.X, view.y)
    with pytest.raises(
        ValueError,
        match="expected X with the 1000 features that the model was fitted on, got 999",
    ):
        certify_compression(model, view.X[:, 1:], view.y)
