"""The methods of the benchmark, for classes and for numbers: packaged and bagged ones beside definitions."""

import importlib.metadata
import warnings
from collections import Counter
from functools import cache

import fastcan
import numpy as np
import pytest
from scipy import optimize, sparse, stats
from skglm import MCPRegression
from sklearn import feature_selection
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from sklearn.linear_model import Lars, LogisticRegression, lasso_path
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC, l1_min_c

from provlab.bench import selectors
from provlab.bench.methods import panel_methods
from provlab.core.composition import compose_config, part_config
from provlab.core.plan import cells_of
from provlab.core.vocabulary import SELECTORS
from provlab.project.components import build, component_class
from provsel.reducers import is_random, seed
from provsel.selectors import (
    FTestSelector,
    FullDataSelector,
    LeverageScoreSelector,
    MutualInformationSelector,
    SVMRFESelector,
)
from provsel.training_view import TrainingView

METHODS = panel_methods()
PLANTED = {3, 7, 11}
CASES = {"two classes": 2, "three classes": 3, "numbers": 0}


@cache
def table(n_classes, n=90, d=24):
    """Return columns of which three tell the target; another is beside one of these, one is a copy, and one constant.

    Numbers are whole, as an age is: only the task tells them from classes.
    """
    rng = np.random.default_rng(n_classes + d)
    X = rng.standard_normal((n, d))
    total = X[:, sorted(PLANTED)].sum(axis=1)
    X[:, 20] = X[:, 3] + 2 * X[:, 20]
    X[:, 21] = X[:, 1]
    X[:, 22] = 1.0
    if n_classes == 0:
        return X, np.round(10 * total)
    return X, np.array(["a", "b", "c"])[
        np.digitize(total, [0.0] if n_classes == 2 else [-1.0, 1.0])
    ]


def task_of(case):
    return "classification" if CASES[case] else "regression"


def unfitted(method, size, task):
    """Return the selector of an entry, asked for some features, as the benchmark has it for a task."""
    selector = build("selector", part_config("selector", method.overrides(size)))
    if "task" in selector.get_params(deep=False):
        selector.set_params(task=task)
    return seed(selector, 0) if is_random(selector) else selector


def pairs():
    """Return each method with each kind of target that it takes."""
    accepted = []
    for name, method in METHODS.items():
        for case, n_classes in CASES.items():
            if task_of(case) in method.tasks and (method.multiclass or n_classes < 3):
                accepted.append((name, case))
    return accepted


# Of methods that say what they do on such a small table, such as keep their best
# feature where none is stable.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "case"), pairs())
def test_a_method_selects_as_many_as_asked_and_the_same_in_any_company(name, case):
    method = METHODS[name]
    X, y = table(CASES[case])
    shared = TrainingView(X, y)
    together = {
        size: unfitted(method, size, task_of(case)).fit_view(shared).indices_.tolist()
        for size in (6, 3, 5)
    }
    for size, selected in together.items():
        alone = unfitted(method, size, task_of(case)).fit(X, y).indices_.tolist()
        assert selected == alone, size
        n_distinct = len({*selected})
        assert n_distinct == len(selected)
        if method.sizes == "fixed":
            assert n_distinct == size
        else:
            assert 0 < n_distinct <= (size if method.sizes == "at most" else X.shape[1])
    if (
        unfitted(method, 3, task_of(case)).needs_labels
        and method.sizes == "fixed"
        and name not in FEW_OF_PLANTED
    ):
        assert {*together[6]} >= PLANTED


FEW_OF_PLANTED = {"CIFE", "MIFS", "permutation importance", "L1 logistic regression"}
"""The first two weigh redundancy by sums: noise comes before the third. Permutation importance looks at a quarter of 90
rows. The middle one of three classes is no linear function: noise enters its path early."""


def test_there_are_as_many_methods_as_promised_and_each_is_in_the_vocabulary():
    n_methods = Counter(task for method in METHODS.values() for task in method.tasks)
    assert n_methods["classification"] >= 40
    assert n_methods["regression"] >= 25
    for method in METHODS.values():
        [name] = [
            text.removeprefix("selector=")
            for text in method.choose
            if text.startswith("selector=")
        ]
        assert name in SELECTORS


@pytest.mark.parametrize("name", METHODS)
def test_what_takes_only_classes_refuses_numbers(name):
    method = METHODS[name]
    X, y = table(0)
    selector = unfitted(method, 3, "regression")
    if "regression" in method.tasks or "task" in selector.get_params(deep=False):
        pytest.skip("takes numbers")
    with pytest.raises(
        ValueError, match=r"expected (classes|labels of two classes), got \d+ .*; "
    ):
        selector.fit(X, y + 0.25)


# ---- the same as another implementation, or as the definition


def best(scores, r=6):
    return np.argsort(-scores, kind="stable")[:r].tolist()


def by_step(paths, r=6):
    """Return the first features to enter a path, shape (n_steps, d), the larger coefficient first."""
    order = []
    for weights in np.abs(paths):
        order += [
            j
            for j in np.argsort(-weights, kind="stable").tolist()
            if weights[j] > 0 and j not in order
        ]
    return order[:r]


def linear_svr(X, y):
    """Return the features of largest weight where the objective of a linear SVR, bias included, is least."""
    A = np.column_stack([X, np.ones(len(X))])
    target = scale(y)

    def objective(w):
        excess = np.abs(target - A @ w) - 0.1
        outside = np.maximum(excess, 0)
        return w @ w / 2 + (outside**2).sum(), w - 2 * A.T @ (
            outside * np.sign(target - A @ w)
        )

    solution = optimize.minimize(
        objective,
        np.zeros(A.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-9},
    )
    return best(np.abs(solution.x[:-1]))


def lasso(X, y):
    Z = X - X.mean(axis=0)
    target = scale(y)
    penalties = np.abs(Z.T @ target).max() / len(Z) * np.geomspace(1, 0.001, 20)
    return by_step(lasso_path(Z, target, alphas=penalties)[1].T)


def mcp(X, y):
    """Return the features of the largest model of at most four on the path, each fitted from zero."""
    target = scale(y)
    penalties = np.abs(X.T @ target).max() / len(X) * np.geomspace(1, 0.01, 20)
    kept = [
        np.flatnonzero(MCPRegression(penalty).fit(X, target).coef_).tolist()
        for penalty in penalties
    ]
    return max((features for features in kept if len(features) <= 4), key=len)


def least_angles(X, y):
    return Lars(n_nonzero_coefs=6).fit(scale(X), y).active_


def forward_r2(X, y):
    """Return features one after the other, each with the least squared residual beside those before."""
    chosen = []
    for _ in range(6):
        left = [j for j in range(X.shape[1]) if j not in chosen]
        residuals = {}
        for j in left:
            A = np.column_stack([np.ones(len(X)), X[:, [*chosen, j]]])
            residuals[j] = np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2)
        chosen.append(min(left, key=residuals.get))
    return chosen


def forest(X, y):
    return best(
        ExtraTreesRegressor(250, max_features=1 / 3, random_state=0)
        .fit(X, y)
        .feature_importances_
    )


def boosting(X, y):
    return best(
        GradientBoostingRegressor(max_features="sqrt", random_state=0)
        .fit(X, y)
        .feature_importances_
    )


def boosting_of_classes(X, y):
    return best(
        GradientBoostingClassifier(max_features="sqrt", random_state=0)
        .fit(X, y)
        .feature_importances_
    )


def canonical(X, y):
    return (
        fastcan.FastCan(6, verbose=0)
        .fit(X, np.array([y == label for label in "abc"]).T)
        .indices_.tolist()
    )


def svm_weights(X, y):
    return best(np.abs(LinearSVC(random_state=0).fit(X, y).coef_[0]))


def l1_logistic(X, y):
    """Return the features by the step of the path at which they enter, then by their coefficient there."""
    penalties = l1_min_c(X, y, loss="log") * np.geomspace(1, 1000, 20)
    models = [
        LogisticRegression(
            C=C, l1_ratio=1, solver="liblinear", max_iter=1000, random_state=0
        )
        for C in penalties
    ]
    return by_step(np.array([model.fit(X, y).coef_[0] for model in models]))


def mcp_of_classes(X, y):
    return mcp(X, y == "b")


def least_angles_of_classes(X, y):
    return least_angles(X, y == "b")


def forest_of_classes(X, y):
    return best(
        ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_
    )


def canonical_of_two(X, y):
    return fastcan.FastCan(6, verbose=0).fit(X, y == "b").indices_.tolist()


DEFINITIONS = {
    ("SVMWeightsSelector", "two classes"): svm_weights,
    ("L1PathSelector", "two classes"): l1_logistic,
    ("MCPPathSelector", "two classes"): mcp_of_classes,
    ("LeastAnglesSelector", "two classes"): least_angles_of_classes,
    ("FastCanSelector", "two classes"): canonical_of_two,
    ("ExtraTreesSelector", "two classes"): forest_of_classes,
    ("SVMWeightsSelector", "numbers"): linear_svr,
    ("L1PathSelector", "numbers"): lasso,
    ("MCPPathSelector", "numbers"): mcp,
    ("LeastAnglesSelector", "numbers"): least_angles,
    ("FastCanSelector", "numbers"): forward_r2,
    ("FastCanSelector", "three classes"): canonical,
    ("ExtraTreesSelector", "numbers"): forest,
    ("BoostingGainSelector", "numbers"): boosting,
    ("BoostingGainSelector", "three classes"): boosting_of_classes,
}


@pytest.mark.parametrize("columns", [19, 96])
@pytest.mark.parametrize(("name", "case"), DEFINITIONS)
def test_the_selection_is_that_of_another_implementation_or_of_the_definition(
    name, case, columns
):
    X, y = table(CASES[case], d=100)
    # no copies, whose order is a matter of rounding
    X = np.delete(X, [19, 20, 21, 22], axis=1)[:, :columns]
    expected = DEFINITIONS[name, case](X, y)
    selected = (
        getattr(selectors, name)(len(expected), task=task_of(case))
        .fit(X, y)
        .indices_.tolist()
    )
    assert len(expected) >= 3
    # its peer tells which features, and not in what order
    if name == "MCPPathSelector":
        selected.sort()
    assert selected == expected


PACKAGED = [
    name
    for name in selectors.__all__
    if name not in ("BaggedSelector", "TunedSelector")
]


@pytest.mark.parametrize("seed", range(12))
def test_fastcan_ends_where_its_columns_are_exhausted(seed):
    """Its errors say this in two ways, by rounding: digits of a training fold bring the second one."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(seed).choice(len(y), 300, replace=False)
    selected = selectors.FastCanSelector(60).fit(scale(X[rows]), y[rows]).indices_
    assert len({*selected.tolist()}) == 60


@pytest.mark.parametrize(
    "name", [name for name in PACKAGED if getattr(selectors, name).takes_sparse]
)
@pytest.mark.parametrize("case", CASES)
def test_sparse_rows_have_the_order_of_the_same_dense_ones(name, case):
    X, y = table(CASES[case])
    X = np.where(np.abs(X) < 0.5, 0, X)
    selector = getattr(selectors, name)(6, task=task_of(case))
    dense = clone(selector).fit(X, y).indices_.tolist()
    assert clone(selector).fit(sparse.csr_array(X), y).indices_.tolist() == dense


@pytest.mark.parametrize("name", PACKAGED)
def test_the_unit_of_a_target_of_numbers_changes_nothing(name):
    X, y = table(0)
    selector = getattr(selectors, name)(6, task="regression")
    expected = clone(selector).fit(X, y).indices_.tolist()
    for unit in (1e-6, 1e5):
        assert clone(selector).fit(X, unit * y + 7 * unit).indices_.tolist() == expected


@pytest.mark.parametrize(
    "name",
    ["L1PathSelector", "MCPPathSelector", "LeastAnglesSelector", "FastCanSelector"],
)
def test_columns_of_numbers_may_be_far_from_zero(name):
    X, y = table(0)
    selector = getattr(selectors, name)(4, task="regression")
    expected = clone(selector).fit(X, y).indices_.tolist()
    assert clone(selector).fit(X + 50.0, y).indices_.tolist() == expected


# ---- bags


def test_a_bagged_order_is_that_of_the_mean_rank_over_its_samples():
    for case in ("three classes", "numbers"):
        X, y = table(CASES[case])
        rng = np.random.default_rng(3)
        total = np.zeros(X.shape[1])
        for _ in range(4):
            if case == "numbers":
                bag = rng.integers(len(y), size=len(y))
                statistic = feature_selection.f_regression
            else:
                by_class = [np.flatnonzero(y == label) for label in "abc"]
                bag = np.concatenate(
                    [rng.choice(members, members.size) for members in by_class]
                )
                statistic = feature_selection.f_classif
            with warnings.catch_warnings(action="ignore"):
                scores = np.nan_to_num(statistic(X[bag], y[bag])[0])
            total += stats.rankdata(-np.round(scores, 9), "ordinal")
        bagged = selectors.BaggedSelector(
            8, selector=FTestSelector(2), n_bags=4, task=task_of(case), random_state=3
        )
        assert bagged.fit(X, y).indices_.tolist() == best(-total, 8)


def test_features_of_one_round_of_an_elimination_share_their_mean_rank():
    X, y = table(2)
    elimination = SVMRFESelector(1, step=8)
    bagged = selectors.BaggedSelector(
        3, selector=elimination, n_bags=1, random_state=0
    ).fit(X, y)
    ranks = -bagged.scores_
    assert ranks.sum() == pytest.approx(sum(range(1, 25)))
    assert len({*ranks}) == len({*clone(elimination).fit(X, y).ranking_}) < 24


def test_bags_draw_the_seeds_of_a_selector_that_draws():
    X, y = table(0)
    orders = []
    for _ in range(2):
        drawing = MutualInformationSelector(1, random_state=None)
        bagged = selectors.BaggedSelector(
            24, selector=drawing, n_bags=3, task="regression", random_state=5
        )
        orders.append(bagged.fit(X, y).indices_.tolist())
    assert orders[0] == orders[1]


@pytest.mark.parametrize(
    "selector",
    [
        None,
        "f_test",
        FTestSelector,
        FullDataSelector(),
        feature_selection.SelectKBest(),
    ],
)
def test_bags_of_what_ranks_nothing_are_refused(selector):
    with pytest.raises(
        ValueError,
        match=r"BaggedSelector: expected a selector of provsel with .*, got .*; pass, for example, F",
    ):
        selectors.BaggedSelector(2, selector=selector).fit(*table(2))


def test_bags_of_a_selector_without_ranks_and_no_bags_are_refused():
    with pytest.raises(
        ValueError,
        match=r"BaggedSelector: expected .* ranking_, got LeverageScore.*; pass, for example, FTest",
    ):
        selectors.BaggedSelector(2, selector=LeverageScoreSelector(1)).fit(*table(2))
    with pytest.raises(
        ValueError,
        match="BaggedSelector: n_bags must be an integer of at least 1, got 0",
    ):
        selectors.BaggedSelector(2, selector=FTestSelector(1), n_bags=0).fit(*table(2))


# ---- versions and refusals


def keys():
    cells = (
        cells_of(compose_config([*method.overrides(5), "dataset=colon"]))
        for method in METHODS.values()
    )
    return {name: cell.id for name, [cell] in zip(METHODS, cells, strict=True)}


def test_keys_are_the_same_without_the_packages_and_fits_say_what_to_install(
    monkeypatch,
):
    with_packages = keys()
    version = importlib.metadata.version
    assert len({*with_packages.values()}) == len(METHODS)

    def missing(name):
        if name in {"fastcan", "skglm"}:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert keys() == with_packages
    assert {name for name, method in METHODS.items() if not method.is_installed} == {
        "MCP",
        "fastcan",
    }
    with pytest.raises(
        ModuleNotFoundError,
        match=r"MCP.*: .* skglm, got none; .* -m pip install .*\[benchmark\]'",
    ):
        METHODS["MCP"].selector().fit(*table(2))


def test_the_methods_are_of_each_kind_and_state_the_versions_of_packages():
    assert {method.family for method in METHODS.values()} == {
        "control",
        "embedded",
        "filter",
        "subset",
        "wrapper",
    }
    assert {method.source for method in METHODS.values()} == {
        "provsel",
        "scikit-learn",
        "fastcan",
        "skglm",
    }
    for method in METHODS.values():
        assert method.source == "provsel" or method.selector().version


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("selector", "selectors.of_packages.PackagedSelector"),
        ("selector", "methods.panel_methods"),
        ("model", "selectors.BaggedSelector"),
    ],
)
def test_configs_may_name_the_selectors_of_the_benchmark_and_nothing_else_of_it(
    kind, target
):
    name = {"_target_": "provlab.bench.selectors.BaggedSelector"}
    assert component_class("selector", name) is selectors.BaggedSelector
    with pytest.raises(
        ValueError,
        match=rf"config of the {kind}: expected .* got 'provlab\.bench\.{target}'",
    ):
        component_class(kind, {"_target_": f"provlab.bench.{target}"})


@pytest.mark.parametrize("name", PACKAGED)
def test_another_version_and_a_number_of_its_own_are_refused(name):
    package = getattr(selectors, name).package
    with pytest.raises(
        ImportError,
        match=rf"{name}: expected {package} 0\.01, got .*; install {package} 0\.01, or",
    ):
        getattr(selectors, name)(2, version="0.01").fit(*table(2))
    with pytest.raises(
        ValueError,
        match=rf"{name}: expected an integer n_features_to_select, got None; give",
    ):
        getattr(selectors, name)(None).fit(*table(2))
