"""Settings and targets that an estimator refuses, or warns of: bad values, labels, counts, ranks, budgets, limits."""

import inspect
import re
import textwrap
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.utils.multiclass import type_of_target
from test_estimators import SELECTORS

from provsel import models, selectors
from provsel.labels import check_classes
from provsel.models import (
    CompressedLinearSVM,
    CrossValidatedSVM,
    FeatureSelectiveSVM,
    HingeSVM,
    LibsvmSVM,
)
from provsel.selectors import (
    AdaptiveRandomizedPivotingSelector,
    AlphaInvestingSelector,
    AlwaysKept,
    ApproximateBSSSelector,
    AtSize,
    BSSSelector,
    CrossValidatedSize,
    DualSetSelector,
    FeatureSelectiveSelector,
    L1SVMSelector,
    LaplacianScoreSelector,
    LassoSelector,
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
from small_runs import section

N = 20
D = 30
rng = np.random.default_rng(0)
y = np.where(np.arange(N) % 2, "spam", "ham")
X = rng.poisson(0.6, (N, D)) + 0.2 * (y == "spam")[:, None]

NAN = float("nan")
INF = float("inf")
NUMBER = (0, -1.0, NAN, INF, True, "1")
COUNT = (0, -1, 1.5, True, "2")
CHOICE = ("other", 7)
BAD = {
    "n_features_to_select": (0, -3, 2.5, True, "all", D + 1, 0.0, 1.0, -0.5, NAN), "n_components": COUNT,
    "rank": COUNT, "n_redraws": COUNT, "block_size": COUNT, "n_projections": COUNT, "n_neighbors": COUNT,
    "n_starts": COUNT, "n_splits": (1, 2.5, True),
    "n_clusters": COUNT, "n_local_trials": COUNT, "n_initial": (-1, 1.5, True), "refinements": (-1, 1.5, True),
    "max_iter": COUNT, "max_fits": (1, 2.0, True), "wealth": NUMBER, "delta": (*NUMBER, 1.0), "ridge": NUMBER,
    "sampling_rate": NUMBER, "kernel_width": NUMBER, "epsilon": (0, 1.0, NAN, "half"), "f": (0.9, NAN, INF, True, "2"),
    "C": NUMBER, "c": NUMBER, "c1": NUMBER, "c2": NUMBER, "nu": NUMBER, "tol": NUMBER, "grid": ((), (1.0, -1.0)),
    "step": (0, -1, 1.0, 2.5, 0.0, -0.1, NAN, True, "0.1", None), "form": CHOICE, "weights": CHOICE, "gain": CHOICE,
    "columns": CHOICE, "strategy": CHOICE, "variance": CHOICE, "solver": CHOICE, "p_value": CHOICE, "target": CHOICE,
    "outside_span": CHOICE, "completion": CHOICE, "edges": CHOICE, "recovery": CHOICE, "loss": CHOICE,
    "if_fewer": CHOICE, "center": ("yes", 1), "signed": (0, "no"), "store": ("yes", None), "task": CHOICE,
    "penalty": NUMBER, "relevance": CHOICE, "redundancy": CHOICE, "scheme": CHOICE, "denominator": CHOICE,
    "floor": (-0.1, 1.0, NAN, True, "0"), "n_bins": (1, 2.5, True), "criterion": CHOICE, "beta": NUMBER,
    "discrete_features": ("all", [D], [-1], [0.5], [True], None, [[True]], 1.5),
    "relative": (1, "yes"), "scale": CHOICE,
    "alpha": NUMBER, "n_estimators": COUNT, "n_repeats": COUNT, "n_pairs": COUNT, "n_permutations": COUNT,
    "max_depth": COUNT, "fdr": (*NUMBER, 1.0), "expected_false": NUMBER, "threshold": (0.5, 1.01, NAN, "1"),
    "test_size": (1.0, 3, 0.0, -1, "half"), "perc": (101, -1, NAN, "half"), "two_step": ("yes", 1), "scoring": CHOICE,
    "estimator": CHOICE, "selector": CHOICE,
}  # fmt: skip
ELSEWHERE = {
    ("KMeansClustering", "max_iter"),
    ("KMeansClustering", "tol"),
    ("CrossValidatedSize", "scoring"),
}
"""scikit-learn has messages of its own for these."""


def classes():
    """Return every estimator of the library by name, each with the arguments that it cannot do without."""
    public = {
        name: getattr(module, name)
        for module in (selectors, models)
        for name in module.__all__
    }
    inner = FeatureSelectiveSelector(relative=True)
    needed = {
        "n_features_to_select": 3,
        "n_components": 3,
        "selector": inner,
        "always": [0],
        "random_state": 0,
    }
    estimators = {}
    for name, cls in public.items():
        if (
            inspect.isclass(cls)
            and issubclass(cls, BaseEstimator)
            and not inspect.isabstract(cls)
        ):
            parameters = inspect.signature(cls).parameters
            estimators[name] = cls(
                **{key: value for key, value in needed.items() if key in parameters}
            )
    for name in ("AlwaysKept", "CrossValidatedSize"):
        estimators[name].set_params(selector=SVMRFESelector(3))
    return estimators


CASES = [
    pytest.param(name, parameter, value, id=f"{name}-{parameter}-{value!r}")
    for name, estimator in classes().items()
    for parameter in estimator.get_params(deep=False)
    for value in BAD.get(parameter, ())
    if (name, parameter) not in ELSEWHERE
]


def fit(estimator, rows=X, labels=y):
    with warnings.catch_warnings(action="ignore"):
        return estimator.fit(rows, labels)


@pytest.mark.parametrize(("name", "parameter", "value"), CASES)
def test_a_bad_value_is_named_with_its_parameter(name, parameter, value):
    subject = (
        "LIBSVM"
        if name == "LibsvmSVM" or (name, parameter) == ("SVMRFESelector", "max_iter")
        else name
    )
    estimator = classes()[name].set_params(**{parameter: value})
    with pytest.raises(
        ValueError, match=f"^{subject}: .*{parameter}.*got .*{re.escape(repr(value))}"
    ):
        fit(estimator)
    assert not hasattr(estimator, "indices_")
    assert not hasattr(estimator, "coef_")


FIRST = AtSize(
    FeatureSelectiveSelector(relative=True), 3, parameter="c1", low=1e-6, high=1.0
)
TALL = rng.standard_normal((40, 6))


@pytest.mark.parametrize(
    ("estimator", "rows", "message"),
    [
        (RRQRSelector(None), X, "an integer n_features_to_select, got None; .*a fraction of them between 0 and 1"),
        (OnSupportVectors(UniformSelector(31)), X,
         "UniformSelector: expected n_features_to_select to be between 1 and .*, n_features = 30, got 31"),
        (BSSSelector(N), X, f"greater than the rank of X, rank = {N}, got {N}; the smallest that works is {N + 1}"),
        (BSSSelector(6), TALL, "full column rank, so give rank < 6 as well"),
        (BSSSelector(4), TALL, "rank = 6, got 4; X has full column rank, so give rank < 4 as well"),
        (ApproximateBSSSelector(N), X, rf"greater than the rank of the sketch, rank = {N}, got {N}; .* {N + 1}"),
        (ApproximateBSSSelector(6, n_projections=6), X, "rank = 6, got 6; choose at least 7, or n_projections < 6"),
        (SpectralSelectionSelector(4, rank=5), X, "SpectralSelectionSelector: expected rank to be at most 4"),
        (DualSetSelector(4, rank=4), X, r"DualSetSelector: expected rank to be at most 3 .* got 4"),
        (DualSetSelector(1), X, "expected n_features_to_select to be at least 2, more than the rank, got 1; for"),
        (LeverageScoreSelector(9, replace=False), np.eye(N, D) * (np.arange(D) < 4),
         "at least 9 features with a positive score .* got 4; ask for at most 4"),
        (LaplacianScoreSelector(2, edges="binary", kernel_width=1.0), X, "kernel_width to be None with edges='binary'"),
        (LaplacianScoreSelector(2), X[:5], "expected more rows than n_neighbors = 5, got n_samples = 5; lower"),
        (LaplacianScoreSelector(2, kernel_width=1e-5), X, "got 1e-05, where the smallest is .* weight is zero; raise"),
        (LaplacianScoreSelector(2), np.tile([0.1, 2.0, 1 / 3], (9, 1)), "two different rows, got 9 equal ones"),
        (LaplacianScoreSelector(2), sparse.csr_array(np.tile([0.1, 2.0, 1 / 3], (9, 1))), "got 9 equal ones"),
        (OnlineLeverageSelector(3, n_initial=4), X, "n_initial to be at most n_features_to_select = 3, got 4; lower "
                                                    "n_initial"),
        (OnlineLeverageSelector(n_initial=0, outside_span="project"), X, "or n_initial = 0 should be 1 or more"),
        (OnlineLeverageSelector(ridge=1.0), X, "ridge must be set if, and only if, outside_span='ridge', got ridge="),
        (OnlineLeverageSelector(outside_span="ridge"), X, "ridge must be set if, and only if, outside_span='ridge'"),
        (clone(FIRST).set_params(parameter="C"), X, "a parameter of FeatureSelectiveSelector, one of c1, .*, got 'C'"),
        (clone(FIRST).set_params(parameter="c2", low=None), X, "0 < low < high, both finite, got None and 1.0"),
        (clone(FIRST).set_params(low=2.0), X, "expected 0 < low < high, both finite, got 2.0 and 1.0"),
        (clone(FIRST).set_params(high=INF), X, "expected 0 < low < high, both finite, got 1e-06 and inf"),
        (clone(FIRST).set_params(high="1"), X, "expected 0 < low < high, both finite, got 1e-06 and '1'"),
        (clone(FIRST).set_params(selector="rfe"), X, "expected a provsel selector, got '"),
        (AtSize(RRQRSelector(3), 3), X, "expected a parameter of RRQRSelector, one of .* got None"),
        (WithEnclosingBallCenter(OnSupportVectors(UniformSelector(3))), X, "needs no labels, got OnSupportVectors"),
        (WithEnclosingBallCenter(SelectKBest(k=3)), X, "WithEnclosingBallCenter: expected a provsel selector, got Sel"),
        (CompressedLinearSVM(5, refinements=2, recovery="transpose"), X,
         'expected refinements=0 with recovery="transpose", got 2; use recovery="dual"'),
        (CompressedLinearSVM(5, refinements=2, loss="logistic"), X,
         'expected refinements=0 with loss="logistic", got 2; use loss="hinge"'),
        (CrossValidatedSVM(HingeSVM()), X, "CrossValidatedSVM: expected a linear SVM with a parameter C, got HingeSVM"),
        (CrossValidatedSVM(UniformSelector(2)), X, "expected a linear SVM with a parameter C, got UniformSelector"),
        (CrossValidatedSVM(LibsvmSVM(class_weight={1: 2})), X, "with class_weight 'balanced' or None, got {1: 2}"),
        *((CrossValidatedSize(SVMRFESelector(1), **options), X, message) for options, message in [
            ({"most": 31}, "expected most between 1"),
            ({"sizes": []}, "expected at least one size, got none"), ({"rule": "two"}, "expected rule to be one of"),
            ({"cv": [(np.arange(10), np.arange(10, 20))]}, "expected cv with two folds or more, got 1"),
        ]),
        *((AlwaysKept(SVMRFESelector(1), 2, always=always), X, message) for always, message in [
            ([1, 1], "expected always to list different features of X, numbers from 0 to 29, got 1"), ([30], "got 30"),
            ([-1], "got -1"), (["age"], "got 'age'"), ([True], "got True"),
            ([1, 2, 3], "expected at most n_features_to_select = 2 features in always, got 3"),
        ]),
        *((estimator, X, f"expected a provsel selector with n_features_to_select, got {type(inner).__name__}")
          for inner in (L1SVMSelector(), SelectKBest())
          for estimator in (CrossValidatedSize(inner), AlwaysKept(inner, 2, always=[0]))),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_the_rows_or_each_other(estimator, rows, message):
    with pytest.raises(ValueError, match=message):
        fit(
            estimator,
            rows,
            y[: rows.shape[0]] if rows.shape[0] <= N else np.arange(rows.shape[0]) % 2,
        )


VALUES = X[:, 0] + np.linspace(0, 1, N)
REGRESSED = [
    SVMRFESelector(2),
    AlphaInvestingSelector(),
    CrossValidatedSize(SVMRFESelector(1), most=2),
]
TARGETS = [
    *((estimator, *case) for estimator in REGRESSED for case in [
        ("classification", VALUES, "expected classes, got 20 different real numbers, such as .*; take task='regressi"),
        ("regression", y, "expected numbers with task='regression', got '?(np.str_\\('|)(spam|ham)"),
        ("regression", np.full(N, 7), "expected different numbers, got 7.0 only, n_samples = 20"),
        ("auto", np.full(N, 0.5), "expected different numbers, got 0.5 only"),
        ("auto", VALUES.astype(object), "Unknown label type. Expected classes as strings or numbers, got .* dtype obj"),
        ("regression", 1e200 * VALUES, "expected y whose largest absolute value is from 1e-140 to 1e.140, got .*e.200"),
        ("numbers", VALUES, "task must be one of auto, classification, regression, got 'numbers'"),
    ]),
    (SVMRFESelector(2, solver="libsvm"), "auto", VALUES, "expected solver 'auto' or 'ridge' for numbers"),
    (SVMRFESelector(2, solver="ridge"), "auto", y, "expected solver other than 'ridge' for classes, got 'ri"),
    (AlphaInvestingSelector(target="one_vs_rest"), "auto", VALUES,
     "a numeric target needs target='codes', got 'one_vs_rest'"),
]  # fmt: skip


@pytest.mark.parametrize(("estimator", "task", "target", "message"), TARGETS)
def test_targets_that_are_not_of_the_task(estimator, task, target, message):
    with pytest.raises(ValueError, match=f"^{type(estimator).__name__}: {message}"):
        fit(clone(estimator).set_params(task=task), X, target)


@pytest.mark.parametrize(
    "dtype", ["int64", "int8", "uint16", "bool", "float32", "float64", "object", "U4"]
)
@pytest.mark.parametrize("values", [np.arange(6) % 2, np.arange(6), np.arange(6) / 4])
def test_classes_are_those_of_scikit_learn(values, dtype):
    target = values.astype(dtype)
    if type_of_target(target) in ("binary", "multiclass"):
        check_classes("example", target)
        return
    with pytest.raises(
        ValueError, match=r"^example: (Unknown label type|expected classes, got)"
    ):
        check_classes("example", target)


def test_numbers_that_are_enough():
    assert UniformSelector(np.int32(3)).fit(X).indices_.size == 3
    assert BSSSelector(N + 1).fit(X).indices_.size
    assert BSSSelector(6, rank=5).fit(TALL).indices_.size
    few = np.eye(N, D) * (np.arange(D) < 4)
    with pytest.warns(
        UserWarning,
        match="expected scores that differ between features, got 1 for each of 4 columns",
    ):
        assert LeverageScoreSelector(4, replace=False).fit(few).indices_.size == 4
    with pytest.warns(
        UserWarning,
        match="expected scores that differ between features, got 1 for each of 4 columns",
    ):
        assert set(LeverageScoreSelector(9).fit(few).indices_) <= set(range(4))


TAKES_ZEROS = {
    "uniform",
    "full",
    "alpha investing",
    "AlphaInvestingSelector",
    "chi2-like on support vectors",
}
WORDS_OF_ZEROS = "all zeros|got none of|equal ones|every weight|w = 0 on all"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", sorted(set(SELECTORS) - TAKES_ZEROS))
def test_all_zeros_are_refused(name, form):
    with pytest.raises(ValueError, match=WORDS_OF_ZEROS):
        fit(clone(SELECTORS[name]), form(np.zeros((20, 120))), np.arange(20) % 2)


def test_the_selector_of_contributing_passes_this_file():
    [code] = re.findall(r"```python\n(.*?)```", section("Add a selector"), re.DOTALL)
    names = {"__name__": "document_frequency"}
    exec(compile(textwrap.dedent(code), "CONTRIBUTING.md", "exec"), names)
    selector = names["DocumentFrequencySelector"](2)
    X = np.array([[0, 1, 5], [2, 3, 0], [0, 4, 0], [7, 1, 0]])
    for form in (np.asarray, sparse.csr_array):
        assert selector.fit(form(X)).indices_.tolist() == [1, 0]
        with pytest.raises(ValueError, match=WORDS_OF_ZEROS):
            selector.fit(form(np.zeros((20, 12))))


LABELS = {  # the labels, what those say that take two classes, and the others
    "none": (None, "requires y to be passed", "requires y to be passed"),
    "one": (
        ["ham"] * N,
        r"got 1 class \(.*'ham'",
        r"expected labels of at least two classes, got 1 class \(.*'ham'",
    ),
    "three": (
        np.arange(N) % 3,
        r"Only binary classification is supported.* got 3; wrap it in .*OneVsRest",
        None,
    ),
    "many": (np.arange(N), "got 20", None),
    "continuous": (
        np.linspace(0, 1, N),
        "got 20 classes|Unknown label type: continuous",
        r": expected classes, got 20 different real numbers, such as 0\.05\d+; for numbers, take SVMRFESelector, "
        r"LassoSelector or AlphaInvestingSelector\.$",
    ),
    "short": (
        y[:-1],
        "inconsistent numbers of samples",
        "inconsistent numbers of samples",
    ),
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
    estimator = classes()[name]
    if name == "OnSupportVectors":
        estimator.set_params(selector=UniformSelector(3))
    message = (
        of_two
        if name in TWO or (case == "continuous" and name.endswith("SVM"))
        else of_several
    )
    # they regress on numbers
    if name in ("AlphaInvestingSelector", "SVMRFESelector") and case == "continuous":
        message = None
    if message is None:
        assert fit(estimator, X, labels)
        return
    with pytest.raises(ValueError, match=message):
        fit(estimator, X, labels)


def test_messages_of_labels():
    for estimator in REGRESSED:
        with pytest.raises(
            ValueError,
            match=f"{type(estimator).__name__}: expected labels or numbers, got y=None; pass y",
        ):
            estimator.fit_view(TrainingView(X))
    for estimator in (L1SVMSelector(), LPSVMSelector(), FeatureSelectiveSelector()):
        for labels, got in (
            (None, "got y=None"),
            (np.full(N, "one"), r"got 1 class \('one'\)"),
        ):
            with pytest.raises(ValueError, match=got):
                estimator.fit_view(TrainingView(X, labels))
    with pytest.raises(
        ValueError,
        match="expected at least two rows of each class to cross-validate on, got 1; give",
    ):
        CrossValidatedSVM().fit(X, np.arange(N) == 0)


@pytest.mark.parametrize("labels", [("spam", "ham"), (0, 1), (7, 3), (False, True)])
@pytest.mark.parametrize(
    "estimator",
    [L1SVMSelector(C=0.1), LPSVMSelector(), FeatureSelectiveSVM(c1=1e-2), HingeSVM()],
)
def test_any_two_labels_are_signs(estimator, labels):
    expected = clone(estimator).fit(X, np.where(y == "spam", 1, -1)).coef_
    low, high = sorted(labels)
    fitted = clone(estimator).fit(X, np.where(y == "spam", high, low))
    np.testing.assert_array_equal(fitted.coef_, expected)
    assert fitted.classes_.tolist() == [low, high]


BUDGETS = [
    BSSSelector,
    LeverageScoreSelector,
    ApproximateBSSSelector,
    DualSetSelector,
    RandomlyPivotedQRSelector,
]


@pytest.mark.parametrize("cls", BUDGETS)
def test_budgets_refuse_what_the_theorems_do(cls):
    for eps in (0.0, -0.1, 0.51, NAN):
        with pytest.raises(
            ValueError, match=r"budget: expected eps to be in \(0, 1/2\], got"
        ):
            cls.budget(5, eps)
    with pytest.raises(ValueError, match="budget: expected rank >= 1, got 0"):
        cls.budget(0, 0.5)


def test_chances_and_shares_out_of_range():
    for delta in (0.0, 1.0, -1.0):
        with pytest.raises(
            ValueError, match=r"budget: expected delta to be in \(0, 1\), got"
        ):
            LeverageScoreSelector.budget(5, 0.5, delta)
        with pytest.raises(
            ValueError, match=r"redraws: expected delta to be in \(0, 1\), got"
        ):
            AdaptiveRandomizedPivotingSelector.redraws(delta)
    with pytest.raises(
        ValueError, match=r"budget: expected tail_share to be in \(0, 1\], got 0"
    ):
        RandomlyPivotedQRSelector.budget(3, 0.5, tail_share=0)


@pytest.mark.parametrize(
    ("estimator", "advice"),
    [
        (LaplacianScoreSelector(1), "fit it on a sample of the rows"),
        (LPSVMSelector(), "which may take hours; .* or take L1SVMSelector"),
        (LibsvmSVM(), r"LinearSVC\(dual=False\)"),
    ],
)
def test_many_rows_are_warned_of_before_it_starts(estimator, advice):
    many = np.zeros((50_001, 2))
    labels = np.arange(50_001) % 2
    message = f"{type(estimator).__name__}: expected at most 50000 rows, got 50001, .*{advice}"
    with (
        warnings.catch_warnings(action="error"),
        pytest.raises(UserWarning, match=message),
    ):
        estimator.fit(many, labels)


def with_an_id(n=100, d=25):
    """Return rows whose first column numbers them at random up to ten million, on which LIBSVM does not converge."""
    rows = np.random.default_rng(0).standard_normal((n, d))
    labels = (
        rows[:, 0] + rows[:, 1] + np.random.default_rng(1).standard_normal(n) > 0
    ).astype(int)
    return np.column_stack(
        [np.random.default_rng(2).integers(0, 10**7, n), rows]
    ), labels


MIXED, WIDE = (
    np.random.default_rng(0).standard_normal(shape) for shape in ((40, 60), (30, 400))
)
THIRDS = np.arange(40) % 3
EARLY = {  # what stops early; rows and labels; what it says
    **{f"libsvm, {rows.shape[1]} columns, {classes} classes": (
        LibsvmSVM(max_iter=3), rows, np.arange(40) % classes,
        "LibsvmSVM: LIBSVM did not converge after max_iter = 3 iterations; scale the columns")
       for rows in (TALL, MIXED) for classes in (2, 3)},
    "hinge": (HingeSVM(1e-3, max_iter=2), MIXED, None,
              r"^HingeSVM: expected .* of at most 1e-06, got .* after 2 Newton"),
    "l1, no slack left": (L1SVMSelector(C=1e6, tol=1e-6), WIDE, np.where(WIDE[:, :4].sum(axis=1) > 0, 1, -1),
                          "gap of at most tol = 1e-06, got .* after 4 runs of LIBLINEAR; lower"),
    "l1 of three classes": (L1SVMSelector(C=100.0, tol=1e-12), TALL, THIRDS,
                            "L1SVMSelector: expected a relative duality gap of at most tol = 1e-12"),
    "lp": (LPSVMSelector(solver="newton", max_iter=1), MIXED, None,
           r"at most tol = 1e-06, got 0\.\d+ after 1 steps of solver='newton'"),
    "lasso": (LassoSelector(penalty=1e-4, max_iter=1), MIXED, MIXED[:, 1] + MIXED[:, 2] ** 2,
              "Objective did not converge"),
    "elimination": (SVMRFESelector(5, step=0.5), *with_an_id(),
                    "SVMRFESelector: LIBSVM did not converge after max_iter = 1000000 iterations in .* "
                    "of 3 rounds; scale the columns to one range"),
}  # fmt: skip


@pytest.mark.parametrize("name", EARLY)
def test_what_stops_before_it_converged_says_so_once_and_keeps_its_gap(name):
    estimator, rows, labels, message = EARLY[name]
    labels = np.arange(rows.shape[0]) % 2 if labels is None else labels
    with pytest.warns(ConvergenceWarning, match=message) as warned:
        estimator.fit(rows, labels)
    # beside what LIBLINEAR serves
    [own] = [warning for warning in warned if warning.category is ConvergenceWarning]
    assert own.filename == __file__ or name in ("hinge", "lasso")
    assert np.max(getattr(estimator, "gap_", np.inf)) > (estimator.tol or 0)
