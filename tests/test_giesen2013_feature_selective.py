"""The feature-selective SVM: relative units, what its trials say, and where its solution is not unique."""

import numpy as np
import pytest
from scipy import sparse

from provlab.core.plan import trials_of
from provsel.models import FeatureSelectiveSVM
from small_runs import FULL, UNIFORM, records_of, small_cell

COMPRESSED = {
    "_target_": "provsel.models.FeatureSelectiveSVM",
    "c1": 1e-5,
    "form": "as_printed",
    "n_components": 10,
    "variance": "1/l",
    "n_starts": 1,
    "tol": 1e-2,
    "relative": True,
}
CONVEX = {
    "_target_": "provsel.models.FeatureSelectiveSVM",
    "c1": 1e-2,
    "relative": True,
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 80))
    return X, np.where(X[:, :4].sum(axis=1) + 0.5 * rng.standard_normal(50) > 0, 1, -1)


def test_a_trial_records_what_its_model_keeps():
    options = {
        "model": CONVEX,
        "setting": "unsupervised",
        "certify": False,
        "n_splits": 2,
        "draws": 1,
    }
    full = records_of(small_cell(FULL, **options))
    after = records_of(small_cell(UNIFORM, **options))
    assert {record["n_features"] for record in full} == {120}
    assert all(
        1 <= record["n_selected"] == record["features"].size < 60 for record in full
    )
    assert all(record["objective"] > 0 for record in full)
    assert all(
        1 <= record["n_selected"] == record["features"].size <= 20 for record in after
    )
    # numbers of the data set's columns
    assert max(record["features"].max() for record in after) > 20


def test_models_with_chance_are_seeded_by_their_trial():
    cell = small_cell(
        FULL,
        model=COMPRESSED,
        setting="unsupervised",
        certify=False,
        n_splits=2,
        draws=2,
    )
    assert len(list(trials_of(cell))) == 4
    assert (
        len(
            list(
                trials_of(
                    small_cell(
                        FULL, model=CONVEX, setting="unsupervised", certify=False
                    )
                )
            )
        )
        == 3
    )
    first = [record["objective"] for record in records_of(cell)]
    assert first == [record["objective"] for record in records_of(cell)]
    assert len({*first}) == 4


@pytest.mark.filterwarnings("ignore:.*every weight is zero:UserWarning")
@pytest.mark.parametrize("form", ["kernel_weights", "as_printed"])
@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_relative_units_forget_the_scale(form, scale, data):
    X, y = data
    model = FeatureSelectiveSVM(
        c1=1e-2, c2=1e-3, relative=True, form=form, n_starts=2, tol=1e-5, random_state=0
    )
    fitted = model.fit(X, y)
    same = FeatureSelectiveSVM(
        **{**fitted.get_params(), "relative": False, "c1": fitted.c1_, "c2": fitted.c2_}
    ).fit(X, y)
    np.testing.assert_array_equal(same.coef_, fitted.coef_)
    assert fitted.c2_ == pytest.approx(1e-3 * (X**2).sum() / 50)
    assert fitted.c1_ == pytest.approx(
        1e-2 * FeatureSelectiveSVM.c1_max(X, y, fitted.c2_)
    )
    of_scaled = FeatureSelectiveSVM(**fitted.get_params()).fit(
        sparse.csr_array(scale * X), y
    )
    assert of_scaled.objective_ == pytest.approx(fitted.objective_, rel=1e-5)
    np.testing.assert_allclose(scale * of_scaled.coef_, fitted.coef_, atol=1e-4)
    absolute = FeatureSelectiveSVM(**same.get_params()).fit(scale * X, y)
    # negative control
    assert absolute.objective_ != pytest.approx(fitted.objective_, rel=1e-2)


def share(v, first, second, part):
    """Return v with the sum of two weights, a part of it at one and the rest at the other."""
    shared = v.copy()
    shared[first], shared[second] = (
        part * (v[first] + v[second]),
        (1 - part) * (v[first] + v[second]),
    )
    return shared


def objective_of(X, signs, v, penalty):
    """Return the mean hinge loss and the penalty of each weight, its least over mu."""
    return np.maximum(0, 1 - signs * (X @ v)).mean() + sum(
        penalty(abs(weight)) for weight in v
    )


def test_the_solution_of_section_4_is_not_unique():
    """The convex form has more than one solution where columns are equal and neither is in full use."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    X[:, 7] = X[:, 3]
    signs = np.where(
        X[:, 3] + 0.5 * X[:, 5] + 0.3 * rng.standard_normal(80) > 0, 1.0, -1.0
    )
    unique = []
    for c1 in (0.02, 1e-6):
        c2 = 1e-3
        fitted = FeatureSelectiveSVM(c1=c1, c2=c2, tol=1e-8).fit(X, signs)
        v = fitted.coef_[0]
        full = np.sqrt(c1 / c2)

        def convex(size, c1=c1, c2=c2, full=full):
            return 2 * np.sqrt(c1 * c2) * size if size <= full else c2 * size**2 + c1

        least = objective_of(X, signs, v, convex)
        assert least == pytest.approx(fitted.objective_, rel=1e-9)
        # no solution is better than that
        assert (least - fitted.dual_objective_) / least <= 1e-8
        others = [
            objective_of(X, signs, share(v, 3, 7, part), convex)
            for part in (0.4, 0.45, 0.6)
        ]
        unique.append(min(others) > least * (1 + 1e-6))
        if not unique[-1]:
            assert np.abs(v[[3, 7]]).sum() * 0.6 <= full
            assert others == pytest.approx([least] * 3, rel=1e-12)
    # from full use on the penalty is quadratic, and has one least value
    assert unique == [False, True]
