"""Settings that no estimator takes: every bad value of every parameter, and labels, counts, ranks and budgets."""

import inspect
import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectKBest
from test_estimators import SELECTORS

from provsel import models, selectors
from provsel.models import (
    CompressedLinearSVM,
    CrossValidatedSVM,
    FeatureSelectiveSVM,
    HingeSVM,
    LiblinearSVM,
    LibsvmSVM,
)
from provsel.selectors import (
    AdaptiveRandomizedPivotingSelector,
    AlphaInvestingSelector,
    ApproximateBSSSelector,
    AtSize,
    BSSSelector,
    CrossValidatedSize,
    DualSetSelector,
    FeatureSelectiveSelector,
    L1SVMSelector,
    LaplacianScoreSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    OnlineLeverageSelector,
    OnSupportVectors,
    RandomlyPivotedQRSelector,
    RRQRSelector,
    SpectralSelectionSelector,
    SVMRFESelector,
    UniformSelector,
    WithEnclosingBallCenter,
)
from provsel.training_view import TrainingView

N, D = 20, 30
rng = np.random.default_rng(0)
y = np.where(np.arange(N) % 2, "spam", "ham")
X = rng.poisson(0.6, (N, D)) + 0.2 * (y == "spam")[:, None]

NAN, INF = float("nan"), float("inf")
NUMBER, COUNT, CHOICE = (0, -1.0, NAN, INF, True, "1"), (0, -1, 1.5, True, "2"), ("other", 7)
BAD = {
    "n_features_to_select": (0, -3, 2.5, True, "all", D + 1), "n_components": COUNT, "rank": COUNT, "n_redraws": COUNT,
    "block_size": COUNT, "n_projections": COUNT, "n_neighbors": COUNT, "n_starts": COUNT, "n_splits": (1, 2.5, True),
    "n_clusters": COUNT, "n_local_trials": COUNT, "n_initial": (-1, 1.5, True), "refinements": (-1, 1.5, True),
    "max_iter": COUNT, "max_fits": (1, 2.0, True), "wealth": NUMBER, "delta": (*NUMBER, 1.0), "ridge": NUMBER,
    "sampling_rate": NUMBER, "kernel_width": NUMBER, "epsilon": (0, 1.0, NAN, "half"), "f": (0.9, NAN, INF, True, "2"),
    "C": NUMBER, "c": NUMBER, "c1": NUMBER, "c2": NUMBER, "nu": NUMBER, "tol": NUMBER, "grid": ((), (1.0, -1.0)),
    "step": (0, -1, 1.0, 2.5, 0.0, -0.1, NAN, True, "0.1", None), "form": CHOICE, "weights": CHOICE, "gain": CHOICE,
    "columns": CHOICE, "strategy": CHOICE, "variance": CHOICE, "solver": CHOICE, "p_value": CHOICE, "target": CHOICE,
    "outside_span": CHOICE, "completion": CHOICE, "edges": CHOICE, "recovery": CHOICE, "loss": CHOICE,
    "if_fewer": CHOICE, "center": ("yes", 1), "signed": (0, "no"), "store": ("yes", None), "task": CHOICE,
    "penalty": NUMBER,
}  # fmt: skip
ELSEWHERE = {("KMeansClustering", "max_iter"), ("KMeansClustering", "tol")}
"""scikit-learn has messages of its own for these."""


def classes():
    """Return every estimator of the library by name, each with the arguments that it cannot do without."""
    found = {name: getattr(module, name) for module in (selectors, models) for name in module.__all__}
    inner = FeatureSelectiveSelector(relative=True)
    needed = {"n_features_to_select": 3, "n_components": 3, "selector": inner, "always": [0], "random_state": 0}
    made = {}
    for name, cls in found.items():
        if inspect.isclass(cls) and issubclass(cls, BaseEstimator) and not inspect.isabstract(cls):
            parameters = inspect.signature(cls).parameters
            made[name] = cls(**{key: value for key, value in needed.items() if key in parameters})
    for name in ("AlwaysKept", "CrossValidatedSize"):
        made[name].set_params(selector=SVMRFESelector(3))
    return made


CASES = [
    pytest.param(name, parameter, value, id=f"{name}-{parameter}-{value!r}")
    for name, made in classes().items()
    for parameter in made.get_params(deep=False)
    for value in BAD.get(parameter, ())
    if (name, parameter) not in ELSEWHERE
]


def fit(made, rows=X, labels=y):
    with warnings.catch_warnings(action="ignore"):
        return made.fit(rows, labels)


@pytest.mark.parametrize(("name", "parameter", "value"), CASES)
def test_a_bad_value_is_named_with_its_parameter(name, parameter, value):
    subject = "LIBSVM" if name == "LibsvmSVM" or (name, parameter) == ("SVMRFESelector", "max_iter") else name
    made = classes()[name].set_params(**{parameter: value})
    with pytest.raises(ValueError, match=f"^{subject}: .*{parameter}.*got .*{re.escape(repr(value))}"):
        fit(made)
    assert not hasattr(made, "indices_")
    assert not hasattr(made, "coef_")


FIRST = AtSize(FeatureSelectiveSelector(relative=True), 3, parameter="c1", low=1e-6, high=1.0)
TALL = rng.standard_normal((40, 6))


@pytest.mark.parametrize(
    ("made", "rows", "message"),
    [
        (BSSSelector(2, weights="t"), X, r"BSSSelector: expected weights in \('sqrt_t', 'as_printed'\), got 't'"),
        (AlphaInvestingSelector(delta=1.0), X, r"expected delta a positive number below 1, got 1\.0"),
        (RRQRSelector(None), X, "expected an integer n_features_to_select, got None"),
        (UniformSelector(31), X, "n_features_to_select between 1 and the number of features, n_features = 30, got 31"),
        (OnSupportVectors(UniformSelector(31)), X, "UniformSelector: expected n_features_to_select between 1 and"),
        (BSSSelector(N), X, f"greater than the rank of X, rank = {N}, got {N}; the smallest that works is {N + 1}"),
        (BSSSelector(6), TALL, "full column rank, so give rank < 6 as well"),
        (ApproximateBSSSelector(N), X, rf"greater than the rank of the sketch, rank = {N}, got {N}; .* {N + 1}"),
        (ApproximateBSSSelector(6, n_projections=6), X, "rank = 6, got 6; choose at least 7, or n_projections < 6"),
        (SpectralSelectionSelector(4, rank=5), X, "SpectralSelectionSelector: expected rank at most 4"),
        (DualSetSelector(4, rank=4), X, r"DualSetSelector: expected rank at most 3 .* got 4"),
        (DualSetSelector(1), X, "expected n_features_to_select of at least 2, more than the rank, got 1; for"),
        (LeverageScoreSelector(9, replace=False), np.eye(N, D) * (np.arange(D) < 4),
         "at least 9 features with a positive score .* got 4; ask for at most 4"),
        (LaplacianScoreSelector(2, edges="binary", kernel_width=1.0), X, "kernel_width None with edges='binary'"),
        (LaplacianScoreSelector(2), X[:5], "expected more rows than n_neighbors = 5, got n_samples = 5; lower"),
        (LaplacianScoreSelector(2), X[:1], "expected more rows than n_neighbors = 5, got n_samples = 1; lower"),
        (LaplacianScoreSelector(2, kernel_width=1e-5), X, "got 1e-05, where the smallest is .* weight is zero; raise"),
        (LaplacianScoreSelector(2), np.tile([0.1, 2.0, 1 / 3], (9, 1)), "two different rows, got 9 equal ones"),
        (LaplacianScoreSelector(2), sparse.csr_array(np.tile([0.1, 2.0, 1 / 3], (9, 1))), "got 9 equal ones"),
        (OnlineLeverageSelector(3, n_initial=4), X, "n_initial up to n_features_to_select = 3, got 4; lower n_initial"),
        (OnlineLeverageSelector(n_initial=0, outside_span="project"), X, "or n_initial = 0 should be 1 or more"),
        (OnlineLeverageSelector(ridge=1.0), X, "a ridge with outside_span='ridge', and only then, got ridge="),
        (OnlineLeverageSelector(outside_span="ridge"), X, "a ridge with outside_span='ridge', and only then"),
        (OnlineLeverageSelector(outside_span="project", ridge=2.0), X, "a ridge with outside_span='ridge', and only"),
        (SVMRFESelector(31), X, "expected n_features_to_select between 1 and .* 30, got 31"),
        (clone(FIRST).set_params(parameter="C"), X, "a parameter of FeatureSelectiveSelector, one of c1, .*, got 'C'"),
        (clone(FIRST).set_params(parameter="c2", low=None), X, "0 < low < high, both finite, got None and 1.0"),
        (clone(FIRST).set_params(low=2.0), X, "expected 0 < low < high, both finite, got 2.0 and 1.0"),
        (clone(FIRST).set_params(high=INF), X, "expected 0 < low < high, both finite, got 1e-06 and inf"),
        (clone(FIRST).set_params(high="1"), X, "expected 0 < low < high, both finite, got 1e-06 and '1'"),
        (clone(FIRST).set_params(selector="rfe"), X, "expected a provsel selector, got str"),
        (AtSize(RRQRSelector(3), 3), X, "expected a parameter of RRQRSelector, one of .* got None"),
        (WithEnclosingBallCenter(OnSupportVectors(UniformSelector(3))), X, "needs no labels, got OnSupportVectors"),
        (WithEnclosingBallCenter(SelectKBest(k=3)), X, "WithEnclosingBallCenter: expected a provsel selector, got Sel"),
        (CompressedLinearSVM(5, refinements=2, recovery="transpose"), X,
         'expected refinements=0 with recovery="transpose", got 2; use recovery="dual"'),
        (CrossValidatedSVM(HingeSVM()), X, "CrossValidatedSVM: expected a linear SVM with a parameter C, got HingeSVM"),
        (LibsvmSVM(C="many"), X, "LIBSVM: expected C positive and finite, got 'many'"),
        (LiblinearSVM(loss="log"), X, r"LiblinearSVM: expected loss in \['hinge', 'squared_hinge'\], got 'log'"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_the_rows_or_each_other(made, rows, message):
    with pytest.raises(ValueError, match=message):
        fit(made, rows, y[: rows.shape[0]] if rows.shape[0] <= N else np.arange(rows.shape[0]) % 2)


def test_numbers_that_are_enough():
    assert UniformSelector(np.int32(3)).fit(X).indices_.size == 3
    assert BSSSelector(N + 1).fit(X).indices_.size
    assert BSSSelector(6, rank=5).fit(TALL).indices_.size
    few = np.eye(N, D) * (np.arange(D) < 4)
    assert LeverageScoreSelector(4, replace=False).fit(few).indices_.size == 4
    assert set(LeverageScoreSelector(9).fit(few).indices_) <= set(range(4))


TAKES_ZEROS = {"uniform", "full", "alpha investing", "AlphaInvestingSelector", "chi2-like on support vectors"}
WORDS_OF_ZEROS = "all zeros|got none of|equal ones|every weight|w = 0 on all"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", sorted(set(SELECTORS) - TAKES_ZEROS))
def test_all_zeros_are_refused(name, form):
    with pytest.raises(ValueError, match=WORDS_OF_ZEROS):
        fit(clone(SELECTORS[name]), form(np.zeros((20, 120))), np.arange(20) % 2)


LABELS = {  # the labels, what those say that take two classes, and the others
    "none": (None, "requires y to be passed", "requires y to be passed"),
    "one": (["ham"] * N, r"got 1 class \(.*'ham'", r"expected labels of at least two classes, got 1 class \(.*'ham'"),
    "three": (np.arange(N) % 3, "got 3", None),
    "many": (np.arange(N), "got 20", None),
    "continuous": (
        np.linspace(0, 1, N),
        "got 20 classes|Unknown label type: continuous",
        "Unknown label type|expected classes, got 20 different real numbers, such as 0.05",
    ),
    "short": (y[:-1], "inconsistent numbers of samples", "inconsistent numbers of samples"),
}
TWO = {"FeatureSelectiveSVM", "CompressedLinearSVM", "HingeSVM"}
SEVERAL = {
    "L1SVMSelector", "LPSVMSelector", "FeatureSelectiveSelector", "AtSize", "AlphaInvestingSelector", "SVMRFESelector",
    "OnSupportVectors", "LibsvmSVM", "LiblinearSVM",
}  # fmt: skip


@pytest.mark.parametrize("case", LABELS)
@pytest.mark.parametrize("name", sorted(TWO | SEVERAL))
def test_labels_that_are_not_of_the_wanted_classes(name, case):
    labels, of_two, of_several = LABELS[case]
    made = classes()[name]
    if name == "OnSupportVectors":
        made.set_params(selector=UniformSelector(3))
    message = of_two if name in TWO else of_several
    if name in ("AlphaInvestingSelector", "SVMRFESelector") and case == "continuous":  # they regress on numbers
        message = None
    if message is None:
        assert fit(made, X, labels)
        return
    with pytest.raises(ValueError, match=message):
        fit(made, X, labels)


def test_messages_of_labels():
    for made in (HingeSVM(), CompressedLinearSVM(3), FeatureSelectiveSVM()):
        with pytest.raises(
            ValueError, match=r"Only binary classification is supported.* got 3; wrap it in .*OneVsRest"
        ):
            made.fit(X, np.arange(N) % 3)
    for made in (SVMRFESelector(10), AlphaInvestingSelector(), CrossValidatedSize(SVMRFESelector(1))):
        with pytest.raises(ValueError, match=f"{type(made).__name__}: expected labels or numbers, got y=None; pass y"):
            made.fit_view(TrainingView(X))
    with pytest.raises(ValueError, match="expected at least two rows of each class to cross-validate on, got 1; give"):
        CrossValidatedSVM().fit(X, np.arange(N) == 0)


@pytest.mark.parametrize("labels", [("spam", "ham"), (0, 1), (7, 3), (False, True)])
@pytest.mark.parametrize("made", [L1SVMSelector(C=0.1), LPSVMSelector(), FeatureSelectiveSVM(c1=1e-2), HingeSVM()])
def test_any_two_labels_are_signs(made, labels):
    expected = clone(made).fit(X, np.where(y == "spam", 1, -1)).coef_
    low, high = sorted(labels)
    found = clone(made).fit(X, np.where(y == "spam", high, low))
    np.testing.assert_array_equal(found.coef_, expected)
    assert found.classes_.tolist() == [low, high]


BUDGETS = [BSSSelector, LeverageScoreSelector, ApproximateBSSSelector, DualSetSelector, RandomlyPivotedQRSelector]


@pytest.mark.parametrize("cls", BUDGETS)
def test_budgets_refuse_what_the_theorems_do(cls):
    for eps in (0.0, -0.1, 0.51, NAN):
        with pytest.raises(ValueError, match=r"budget: expected eps in \(0, 1/2\], got"):
            cls.budget(5, eps)
    with pytest.raises(ValueError, match="budget: expected rank >= 1, got 0"):
        cls.budget(0, 0.5)


def test_chances_and_shares_out_of_range():
    for delta in (0.0, 1.0, -1.0):
        with pytest.raises(ValueError, match=r"budget: expected delta in \(0, 1\), got"):
            LeverageScoreSelector.budget(5, 0.5, delta)
        with pytest.raises(ValueError, match=r"redraws: expected delta in \(0, 1\), got"):
            AdaptiveRandomizedPivotingSelector.redraws(delta)
    with pytest.raises(ValueError, match=r"budget: expected tail_share in \(0, 1\], got 0"):
        RandomlyPivotedQRSelector.budget(3, 0.5, tail_share=0)


@pytest.mark.parametrize(
    ("made", "advice"),
    [
        (LaplacianScoreSelector(1), "fit it on a sample of the rows"),
        (LPSVMSelector(), "which may take hours; .* or take L1SVMSelector"),
        (LibsvmSVM(), r"LinearSVC\(dual=False\)"),
    ],
)
def test_many_rows_are_warned_of_before_it_starts(made, advice):
    many, labels = np.zeros((50_001, 2)), np.arange(50_001) % 2
    message = f"{type(made).__name__}: expected at most 50000 rows, got 50001, .*{advice}"
    with warnings.catch_warnings(action="error"), pytest.raises(UserWarning, match=message):
        made.fit(many, labels)
