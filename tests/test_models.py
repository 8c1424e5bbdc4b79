"""The linear back ends against scikit-learn's, and LIBLINEAR's promise to repeat itself."""

import ctypes

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.svm import SVC, LinearSVC

from provsel.models import CompressedLinearSVM, LiblinearSVM, LibsvmSVM, _libsvm_library
from provsel.models._liblinear_library import IS_OFFICIAL
from provsel.models._libsvm_library import fit_gram
from provsel.training_view import support_rows
from small_runs import run_python

FORMS = {
    "dense": np.asarray,
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
}
MODELS = [LibsvmSVM(), LiblinearSVM()]


def two_classes(n, d, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, "yes", "no")
    return rng.standard_normal((n, d)) + (y == "yes")[:, None] * (
        rng.random(d) < 0.1
    ), y


DIGITS = load_digits().data[:700] / 16, load_digits().target[:700]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(40, 300), (300, 40)], ids=["wide", "tall"])
@pytest.mark.parametrize(
    ("C", "weights"), [(0.01, None), (1.0, None), (0.1, "balanced"), (0.1, {"no": 5.0})]
)
def test_libsvm_equals_scikit_learn(shape, form, C, weights):
    X, y = two_classes(*shape)
    if weights:  # one row in three is of the first class
        kept = np.flatnonzero((y == np.unique(y)[1]) | (np.arange(len(y)) % 4 == 0))
        X, y = X[kept], y[kept]
    options = {"C": C, "tol": 1e-8, "class_weight": weights}
    ours = LibsvmSVM(**options).fit(FORMS[form](X), y)
    theirs = SVC(kernel="linear", **options).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-6)
    assert_array_equal(ours.support_, theirs.support_)
    new, _ = two_classes(*shape, seed=1)
    assert_array_equal(ours.predict(FORMS[form](new)), theirs.predict(new))
    assert_allclose(
        ours.decision_function(FORMS[form](new)),
        theirs.decision_function(new),
        atol=1e-5,
    )
    assert isinstance(ours.coef_, np.ndarray)
    assert ours.support_.dtype == np.int64


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_gram_matrix_gives_the_bits_of_scikit_learn(n_classes, C):
    assert _libsvm_library._direct() is not None
    for seed in range(5):
        X, _ = two_classes(40, 60, seed)
        X, labels = (
            np.round(3 * X),
            np.random.default_rng(seed).permutation(np.arange(40) % n_classes),
        )
        labels[:5] = 0
        for balanced in (False, True):
            weights = (
                labels.size / (n_classes * np.bincount(labels)) if balanced else None
            )
            ours = fit_gram(X @ X.T, labels, C=C, tol=1e-3, weights=weights)
            theirs = SVC(
                kernel="precomputed",
                C=C,
                tol=1e-3,
                class_weight="balanced" if balanced else None,
            )
            theirs.fit(X @ X.T, labels)
            for name in ours._fields:
                assert_array_equal(getattr(ours, name), getattr(theirs, f"{name}_"))


BROKEN = {
    "fewer": lambda *_: (),
    "others": lambda gram, labels, C, *rest: _libsvm_library._by_svc(
        gram, labels, 2 * C, *rest
    ),
    "gone": None,
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_another_libsvm_in_scikit_learn_is_left_for_its_public_one(monkeypatch, broken):
    X, y = two_classes(20, 50)
    expected = LibsvmSVM().fit(X, y)
    monkeypatch.setattr(_libsvm_library, "_through", lambda fit: broken)
    _libsvm_library._direct.cache_clear()
    assert _libsvm_library._direct() is None
    assert_array_equal(LibsvmSVM().fit(X, y).coef_, expected.coef_)
    _libsvm_library._direct.cache_clear()


@np.errstate(all="ignore")
def test_libsvm_refuses_rows_whose_inner_products_overflow():
    X, y = two_classes(20, 50)
    with pytest.raises(
        ValueError, match="expected rows with finite inner products, got infinity"
    ):
        LibsvmSVM().fit_rows(X * 1e200, y)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [50, 400], ids=["wide", "tall"])
def test_libsvm_votes_as_scikit_learn_on_digits(rows, form):
    """Equal votes go to the larger sum of decision values, as SVC does when asked to; LIBSVM takes the first class."""
    X, y = DIGITS
    new = X[rows:]
    ours = LibsvmSVM().fit(FORMS[form](X[:rows]), y[:rows])
    theirs = SVC(kernel="linear", break_ties=True).fit(X[:rows], y[:rows])
    assert_array_equal(ours.predict(FORMS[form](new)), theirs.predict(new))
    assert_allclose(
        ours.decision_function(new), theirs.decision_function(new), atol=1e-6
    )
    assert ours.coef_.shape == (45, 64)


def raw_liblinear(X, y):
    from liblinear.liblinearutil import parameter, problem, train

    model = train(
        problem((y == "yes").astype(float), sparse.csr_matrix(X)),
        parameter("-s 1 -c 10 -e 0.1 -q"),
    )
    return np.array(model.get_decfun(0)[0])


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_liblinear_repeats_bit_for_bit_by_its_seed(loss):
    X, y = two_classes(150, 60)
    first, of_other_seed = (
        LiblinearSVM(loss=loss, random_state=seed).fit(X, y).coef_ for seed in (1, 2)
    )
    assert not np.array_equal(first, of_other_seed)
    for disturbance in range(3):
        ctypes.CDLL(None).srand(disturbance)
        [ctypes.CDLL(None).rand() for _ in range(disturbance)]
        # negative control: without the seed two calls in one process differ
        if IS_OFFICIAL:
            assert not np.array_equal(raw_liblinear(X, y), raw_liblinear(X, y))
        assert_array_equal(LiblinearSVM(loss=loss).fit(X, y).coef_, first)


def objective(coef, intercept, X, y, loss, C, penalise_intercept):
    slack = np.maximum(
        0, 1 - np.where(y == "yes", 1, -1) * (X @ coef.ravel() + intercept)
    )
    regulariser = 0.5 * (coef**2).sum() + 0.5 * penalise_intercept * float(
        np.sum(intercept**2)
    )
    return regulariser + C * (slack ** (2 if loss == "squared_hinge" else 1)).sum()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("shape", [(30, 200), (200, 30)], ids=["wide", "tall"])
def test_liblinear_is_optimal(shape, loss, fit_intercept):
    X, y = two_classes(*shape)
    C = 0.1
    ours = LiblinearSVM(C=C, loss=loss, fit_intercept=fit_intercept, tol=1e-5).fit(X, y)
    theirs = LinearSVC(
        C=C,
        loss=loss,
        fit_intercept=fit_intercept,
        dual=True,
        tol=1e-6,
        max_iter=100_000,
    ).fit(X, y)
    values = [
        objective(model.coef_, np.ravel(model.intercept_), X, y, loss, C, fit_intercept)
        for model in (ours, theirs)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-2)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.intercept_.shape == (1,)
    assert (ours.intercept_[0] != 0) == fit_intercept


def test_liblinear_leaves_numba_alone(tmp_path):
    """Its package would compile a loop, in each process, where numba happens to be installed."""
    (tmp_path / "numba.py").write_text("raise SystemExit('numba is imported')")
    fit = "from provsel.models import LiblinearSVM; LiblinearSVM().fit([[0.0], [1.0]], [0, 1]); import numba"
    done = run_python(["-W", "ignore", "-c", fit], tmp_path)
    assert done.returncode == 1
    assert done.stderr.strip() == "numba is imported"
    fit = fit.removesuffix("; import numba")
    assert run_python(["-c", fit], tmp_path).returncode == 0


def test_liblinear_several_classes():
    X, y = DIGITS
    order = np.argsort(-y, kind="stable")  # met in another order than sorted
    model = LiblinearSVM(C=1.0, tol=1e-3, fit_intercept=True).fit(X[order], y[order])
    assert model.coef_.shape == (10, 64)
    assert model.score(X, y) > 0.95
    for k in (0, 7):
        binary = LiblinearSVM(C=1.0, tol=1e-3, fit_intercept=True).fit(
            X[order], y[order] == k
        )
        assert_allclose(model.coef_[k], binary.coef_[0], atol=0.02)


OTHERWISE = {
    "not installed": "import sys; from importlib.machinery import PathFinder; find = PathFinder.find_spec\n"
    "PathFinder.find_spec = lambda name, *rest: None if name == 'liblinear' else find(name, *rest)",
    "Windows": "import ctypes, os, sklearn.svm, sys; sys.platform = 'win32'; load = ctypes.CDLL\n"
    "ctypes.CDLL = lambda name, *rest, **more: load(os.fspath(name), *rest, **more)  # None is no library there\n"
    "import provsel.models; sys.platform = 'linux'",
}


@pytest.mark.parametrize("place", OTHERWISE.values(), ids=OTHERWISE)
def test_without_its_package_liblinear_is_scikit_learns_and_keys_say_so(
    place, tmp_path
):
    script = f"""
{place}
import warnings
import numpy as np
from sklearn.svm import LinearSVC
from provlab.project.components import component_identity, is_own
from provlab.run.environment import environment
from provsel.models import LiblinearSVM
from provsel.selectors import L1SVMSelector, SVMRFESelector
rng = np.random.default_rng(0)
X = rng.standard_normal((90, 12))
y = np.digitize(X @ rng.standard_normal(12), [-1, 1])
told = []
for labels in (y, y > 0):
    for settings in ({{}}, {{"loss": "hinge", "C": 0.3, "fit_intercept": True, "tol": 1e-3, "random_state": 5}}):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ours = LiblinearSVM(**settings).fit(X, labels)
        told += [str(each.message)[:45] for each in found]
        defaults = {{"C": 10.0, "fit_intercept": False, "tol": 0.1, "random_state": 1}}
        theirs = LinearSVC(dual=True, **{{**defaults, **settings}}).fit(X, labels)
        np.testing.assert_array_equal(ours.coef_, theirs.coef_)
        np.testing.assert_array_equal(ours.intercept_, np.zeros(len(ours.coef_)) + theirs.intercept_)
assert told == ["LiblinearSVM: the package liblinear-official "]  # once
assert L1SVMSelector(C=0.1).fit(X, y > 0).gap_ <= 1e-2
identity = component_identity("selector", {{"_target_": "provsel.selectors.OnSupportVectors",
    "selector": {{"_target_": "provsel.selectors.L1SVMSelector"}}, "svm": {{"_target_": "provsel.models.LibsvmSVM"}}}})
print([identity["arguments"][name]["algorithm_version"] for name in ("selector", "svm")])
print(SVMRFESelector.algorithm_version, LiblinearSVM.algorithm_version, environment().count("none, scikit-learn's"))
"""
    done = run_python(["-W", "ignore", "-c", script], tmp_path)
    version = "1, by scikit-learn's LIBLINEAR"
    assert done.stdout.splitlines() == [
        f"[{version!r}, 1]".replace("'1,", '"1,'),
        f"{version} {version} 1",
    ], done.stderr


@pytest.mark.parametrize("n_columns", [1, 4])
def test_liblinear_trailing_empty_columns(n_columns):
    """LIBLINEAR counts the features by the highest index that occurs."""
    X, y = two_classes(40, 20)
    padded = np.hstack([X, np.zeros((40, n_columns))])
    for fit_intercept in (False, True):
        plain = LiblinearSVM(fit_intercept=fit_intercept).fit(X, y)
        model = LiblinearSVM(fit_intercept=fit_intercept).fit(padded, y)
        assert_allclose(model.coef_[:, :20], plain.coef_, atol=1e-12)
        assert not model.coef_[:, 20:].any()
        assert_allclose(model.intercept_, plain.intercept_, atol=1e-12)


def test_support_rows_of_a_compressed_svm_are_those_with_dual_variables():
    """Its vector can be so long that no row of all features is inside the margin."""
    X, y = load_digits(return_X_y=True)
    rows = np.isin(y, (3, 8))
    model = CompressedLinearSVM(10, c=1e-3, random_state=0).fit(X[rows], y[rows])
    assert_array_equal(
        support_rows(model, X[rows], y[rows]), np.flatnonzero(model.dual_coef_ != 0)
    )
    assert support_rows(model, X[rows], y[rows]).size > 0


def test_support_rows_without_support_are_those_inside_a_margin():
    for X, y in (two_classes(200, 10), DIGITS):
        model = LiblinearSVM(C=0.1).fit(X, y)
        values = model.decision_function(X)
        signs = np.where(y[:, None] == model.classes_, 1, -1)
        inside = (
            signs * values < 1
            if values.ndim == 2
            else (signs[:, 1] * values < 1)[:, None]
        )
        rows = support_rows(model, X, y)
        assert rows.dtype == np.int64
        assert_array_equal(rows, np.flatnonzero(inside.any(axis=1)))
    assert (
        0
        < support_rows(
            LiblinearSVM(C=0.1).fit(*two_classes(200, 10)), *two_classes(200, 10)
        ).size
        < 200
    )


@pytest.mark.parametrize(
    "model",
    [*MODELS, CompressedLinearSVM(5, random_state=0)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("form", FORMS)
def test_rows_validated_before_give_the_same(model, form):
    X, y = two_classes(30, 80)
    X = FORMS[form](X)
    whole = clone(model).fit(X, y)
    rows = clone(model).fit_rows(X, y)
    assert_array_equal(whole.coef_, rows.coef_)
    assert_array_equal(whole.predict(X), rows.predict_rows(X))
    assert whole.n_features_in_ == rows.n_features_in_
    with pytest.raises(
        ValueError, match="expected labels of at least two classes, got 1 class"
    ):
        clone(model).fit_rows(X, np.zeros(30))
