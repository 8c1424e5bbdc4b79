"""CrossValidatedSVM against scikit-learn's grid search, and its two routes against each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

import provsel.models.cross_validated_svm as module
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.project.components import build
from provsel.models import CrossValidatedSVM, LiblinearSVM, LibsvmSVM
from provsel.selectors import LeverageScoreSelector, OnSupportVectors
from provsel.training_view import TrainingView, support_rows

GRID = [0.001, 0.01, 0.1, 1.0, 10.0]


def noisy(n=60, d=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, :5].sum(axis=1) + 1.5 * rng.standard_normal(n) > 0, 1, -1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(60, 150), (120, 30)])
@pytest.mark.parametrize("model", [LibsvmSVM(), LiblinearSVM(tol=1e-3)])
def test_it_is_a_grid_search(model, shape, form):
    X, y = noisy(*shape)
    ours = CrossValidatedSVM(model, grid=GRID[::-1], n_splits=4).fit(form(X), y)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    sizes = np.array([test.size for _, test in folds])
    theirs = GridSearchCV(model, {"C": GRID}, cv=folds, scoring="accuracy").fit(X, y)
    accuracy = [theirs.cv_results_[f"split{k}_test_score"] for k in range(4)]
    errors = 1 - np.average(accuracy, axis=0, weights=sizes)
    assert_allclose(ours.errors_, errors, atol=1e-12)
    assert GRID[int(np.argmin(np.round(errors, 9)))] == ours.C_
    alone = type(model)(**{**model.get_params(), "C": ours.C_}).fit(form(X), y)
    assert_array_equal(ours.coef_, alone.coef_)
    assert_array_equal(ours.predict(X), alone.predict(X))
    assert_array_equal(support_rows(ours, X, y), support_rows(alone, X, y))


def test_the_balanced_accuracy_is_scikit_learns_and_units_do_not_matter():
    """Of the pooled predictions; a tenth of the rows is positive, which a plain SVM would not predict."""
    rng = np.random.default_rng(0)
    for n, d in ((150, 8), (60, 90)):
        X = rng.standard_normal((n, d))
        y = np.where(np.arange(n) % 10 == 0, 1, -1)
        X[y > 0, :4] += 0.8
        options = {
            "grid": GRID,
            "relative": True,
            "scoring": "balanced_accuracy",
            "n_splits": 4,
        }
        ours = CrossValidatedSVM(LibsvmSVM(class_weight="balanced"), **options).fit(
            X, y
        )
        folds = StratifiedKFold(4, shuffle=True, random_state=0)
        unit = (X**2).sum(axis=1).mean()
        models = [
            SVC(kernel="linear", C=C / unit, class_weight="balanced") for C in GRID
        ]
        errors = [
            1 - balanced_accuracy_score(y, cross_val_predict(model, X, y, cv=folds))
            for model in models
        ]
        assert_allclose(ours.errors_, errors, atol=1e-12)
        assert pytest.approx(GRID[int(np.argmin(errors))] / unit, rel=1e-12) == ours.C_
        assert_array_equal(
            ours.predict(X), models[int(np.argmin(errors))].fit(X, y).predict(X)
        )
        assert (ours.predict(X) > 0).any()
        for factor in (2.0**-20, 2.0**20):
            assert_array_equal(
                CrossValidatedSVM(LibsvmSVM(class_weight="balanced"), **options)
                .fit(factor * X, y)
                .errors_,
                ours.errors_,
            )
    # no row has a length
    zero = CrossValidatedSVM(relative=True).fit(np.zeros((12, 3)), np.arange(12) % 2)
    assert module.GRID[0] == zero.C_


def test_several_classes_and_small_ones():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    model = CrossValidatedSVM(grid=(0.001, 0.1), n_splits=3).fit(X, y)
    assert_array_equal(model.predict(X), LibsvmSVM(C=model.C_).fit(X, y).predict(X))
    # as many folds as the smallest class
    few = CrossValidatedSVM(n_splits=10).fit(*[part[:12] for part in noisy()])
    assert few.C_ in module.GRID


def test_supervised_selection_has_the_support_vectors_of_the_chosen_c():
    X, y = noisy()
    model = CrossValidatedSVM(grid=GRID)
    chosen = model.fit(X, y).C_
    selector = OnSupportVectors(
        LeverageScoreSelector(20, strategy="top"), svm=CrossValidatedSVM(grid=GRID)
    ).fit(X, y)
    assert_array_equal(
        selector.support_rows_, np.sort(LibsvmSVM(C=chosen).fit(X, y).support_)
    )
    assert TrainingView(X, y).support_rows(model).size == selector.support_rows_.size


@pytest.mark.parametrize(
    ("name", "inner"), [("libsvm_cv", LibsvmSVM), ("liblinear_cv", LiblinearSVM)]
)
def test_configs(name, inner):
    [cell] = cells_of(compose_config([f"model={name}", "+model.grid=[0.1,1]"]))
    model = build("model", cell.model)
    assert isinstance(model.model, inner)
    assert list(model.grid) == [0.1, 1]
    assert cell.identity["model"]["arguments"]["model"]["name"] == inner.__name__
