"""The panel of methods: each selects what was planted, as many as asked, and what the class that it adapts selects."""

import importlib.metadata

import fastcan
import numpy as np
import pytest
import skrebate
from boruta import BorutaPy
from scipy import sparse, stats
from skglm import MCPRegression
from sklearn import feature_selection
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import Lars, Lasso, LogisticRegression, RidgeCV
from sklearn.metrics import mutual_info_score
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import minmax_scale, scale
from sklearn.svm import LinearSVC, l1_min_c

from provlab.bench import selectors
from provlab.bench.methods import panel_methods
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.project.components import component_class
from provsel.reducers import is_random, seed
from provsel.training_view import TrainingView

METHODS = panel_methods()
ADAPTERS = {method.adapter: method for method in METHODS.values() if method.adapter and method.sizes == "fixed"}
PLANTED = {3, 7, 11}


def table(n_classes=2):
    """Return 30 columns, of which three tell the class, one is beside one of these, and one is constant."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 30))
    y = np.digitize(X[:, sorted(PLANTED)].sum(axis=1), [0.0] if n_classes == 2 else [-1.0, 1.0])
    X[:, 20] = X[:, 3] + 2 * X[:, 20]
    X[:, 29] = 1.0
    return X, np.array(["a", "b", "c"])[y]


def fitted(method, size, view):
    selector = method.selector(size)
    return (seed(selector, 0) if is_random(selector) else selector).fit_view(view)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_selects_as_many_as_asked_and_what_was_planted(name):
    method = METHODS[name]
    for n_classes in (2, 3)[: 1 + method.multiclass]:
        view = TrainingView(*table(n_classes))
        few, more = (fitted(method, size, view).indices_.tolist() for size in (3, 6))
        if method.sizes == "fixed":
            assert len({*few}) == 3
            assert len({*more}) == 6
        else:
            assert 0 < len({*few}) <= (3 if method.sizes == "at most" else 30)
        if method.adapter and method.sizes == "fixed":
            assert more[:3] == few
        if method.selector().needs_labels:
            assert {*more} >= PLANTED or (method.sizes != "fixed" and {*more} <= PLANTED)


def test_the_panel_has_methods_of_each_kind():
    assert len(METHODS) >= 35
    assert {method.family for method in METHODS.values()} == {"control", "embedded", "filter", "subset", "wrapper"}
    assert {method.source for method in METHODS.values()} == {"provsel", "scikit-learn", "boruta", "fastcan", "skglm"}
    assert {*ADAPTERS} == {name for name in selectors.__all__ if not name.endswith("Selector")}
    assert all(method.selector().version for method in METHODS.values() if method.source != "provsel")


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_order_is_made_once_for_all_sizes_and_is_the_same_again(name):
    X, y = table()
    view = TrainingView(X, y)
    spent = set()
    for size in (2, 5, 9):
        with view.metered() as meter:
            largest = fitted(ADAPTERS[name], size, view)
        spent.add(meter.shared)
    assert len(spent) == 1  # each is charged with the one order
    assert spent.pop().cpu > 0
    assert fitted(ADAPTERS[name], 9, TrainingView(X, y)).indices_.tolist() == largest.indices_.tolist()


@pytest.mark.parametrize("name", [*(n for n in ADAPTERS if getattr(selectors, n).takes_sparse), "ReliefF", "CUR"])
def test_sparse_rows_have_the_order_of_the_same_dense_ones(name):
    X, y = table()
    X = np.where(np.abs(X) < 0.5, 0, X)
    dense, from_sparse = (fitted(ADAPTERS[name], 6, TrainingView(rows, y)) for rows in (X, sparse.csr_array(X)))
    assert dense.indices_.tolist() == from_sparse.indices_.tolist()


# ---- the same as the class that is adapted, or as the definition


def best(scores, r=8):
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:r]


def kruskal(X, y):
    by_class = [X[y == label, :29] for label in np.unique(y)]
    return best(stats.kruskal(*by_class).statistic)


def centroids(X, y):
    """Return the features by the threshold at which the nearest shrunken centroids drop them."""
    thresholds = np.arange(0.01, 4, 0.01)
    kept = [
        (NearestCentroid(shrink_threshold=threshold).fit(X, y).deviations_ != 0).any(axis=0) for threshold in thresholds
    ]
    return best(np.sum(kept, axis=0, dtype=float))


def relief(kind, **settings):
    def top_six(X, y):
        return kind(categorical_features=[], **settings).fit(X[:, :29].copy(), y).top_features_[:6]

    return top_six


def mrmr(X, y):
    relevance = np.nan_to_num(feature_selection.f_classif(X, y)[0])
    chosen = []
    correlation = np.abs(np.nan_to_num(np.corrcoef(X.T)))
    while len(chosen) < 8:
        left = [j for j in range(30) if j not in chosen]
        gain = {j: relevance[j] / max(correlation[chosen, j].mean(), 1e-3) if chosen else relevance[j] for j in left}
        chosen.append(max(left, key=gain.get))
    return chosen


def jmi(X, y):
    bins = np.minimum(3 * stats.rankdata(X, axis=0) // (len(X) + 1), 2).astype(int)
    chosen = [max(range(30), key=lambda j: mutual_info_score(bins[:, j], y))]
    while len(chosen) < 5:
        left = [j for j in range(30) if j not in chosen]
        chosen.append(max(left, key=lambda j: sum(mutual_info_score(3 * bins[:, j] + bins[:, k], y) for k in chosen)))
    return chosen


def hsic(X, y):
    """Return the first features of a non-negative lasso of one kernel a feature, of blocks by loops."""
    order = np.random.default_rng(0).permutation(len(X))
    Z = scale(X)
    H = np.eye(20) - 1 / 20
    kernels = np.zeros((31, 0))
    for rows in order.reshape(-1, 20):
        same = np.array([[(y[i] == y[j]) / np.sum(y == y[i]) for j in rows] for i in rows])
        gauss = [np.exp(-(np.subtract.outer(column[rows], column[rows]) ** 2) / 2) for column in Z.T]
        block = [H @ kernel @ H for kernel in (same, *gauss)]
        kernels = np.hstack([kernels, [(kernel / (np.linalg.norm(kernel) + 1e-9)).ravel() for kernel in block]])
    target = kernels[0]
    rest = kernels[1:].T
    largest = np.max(rest.T @ target) / target.size
    chosen = []
    for alpha in np.geomspace(0.999, 0.05, 400) * largest:
        coefficients = Lasso(alpha, positive=True, fit_intercept=False, tol=1e-8).fit(rest, target).coef_
        chosen += [j for j in np.flatnonzero(coefficients) if j not in chosen]
        if len(chosen) >= 4:
            return chosen[:4]
    return chosen


def l1_logistic(X, y):
    """Return eight features by the step of the path at which they enter, then by their coefficient there."""
    first = np.full(X.shape[1], np.inf)
    for step, C in enumerate(l1_min_c(X, y, loss="log") * np.geomspace(1, 1000, 20)):
        model = LogisticRegression(C=C, l1_ratio=1, solver="liblinear", max_iter=1000, random_state=0).fit(X, y)
        size = np.abs(model.coef_[0])
        new = np.isinf(first) & (size > 0)
        first[new] = step - size[new] / (1 + size.max())
    return best(-first)


def mcp(X, y):
    target = (y == "b") - np.mean(y == "b")
    penalties = np.abs(X.T @ target).max() / len(X) * np.geomspace(1, 0.01, 20)
    kept = [np.flatnonzero(MCPRegression(penalty).fit(X, target).coef_) for penalty in penalties]
    return max((features for features in kept if features.size <= 4), key=len)


def forward(X, y):
    """Return four features by the leave-one-out errors that ridge regression itself gives."""
    Z = scale(X)
    target = (y == "b") - np.mean(y == "b")
    chosen = []
    while len(chosen) < 4:
        errors = {}
        for j in sorted({*range(30)} - {*chosen}):
            model = RidgeCV(alphas=[1.0], fit_intercept=False, store_cv_results=True).fit(Z[:, [*chosen, j]], target)
            errors[j] = model.cv_results_.sum()
        chosen.append(min(errors, key=errors.get))
    return chosen


def boruta(X, y):
    forest = RandomForestClassifier(n_jobs=1, max_depth=5)
    return np.flatnonzero(BorutaPy(forest, n_estimators=100, max_iter=20, random_state=0).fit(X, y).support_)


def cur(X, y):
    left = X.copy()
    chosen = []
    for _ in range(6):
        leading = np.linalg.svd(left, full_matrices=False)[2][0]
        chosen.append(int(np.argmax(np.abs(leading))))
        column = left[:, chosen[-1]] / np.linalg.norm(left[:, chosen[-1]])
        left = left - np.outer(column, column @ left)
    return chosen


def farthest(X, y):
    chosen = [int(np.argmax(np.linalg.norm(X.T - X.mean(axis=1), axis=1)))]
    while len(chosen) < 6:
        chosen.append(int(np.argmax(np.linalg.norm(X.T[:, None] - X.T[chosen], axis=2).min(axis=1))))
    return chosen


PEERS = {
    "FTest": lambda X, y: best(feature_selection.f_classif(X, y)[0]),
    "RankTest": kruskal,
    "ChiSquared": lambda X, y: best(feature_selection.chi2(minmax_scale(X), y)[0]),
    "ShrunkenCentroids": centroids,
    "ReliefF": relief(skrebate.ReliefF, n_neighbors=10),
    "MultiSURF": relief(skrebate.MultiSURF),
    "MRMR": mrmr,
    "JMI": jmi,
    "HSIC": hsic,
    "SVMWeights": lambda X, y: best(np.abs(LinearSVC(random_state=0).fit(X, y).coef_[0])),
    "L1LogisticPath": l1_logistic,
    "MCP": mcp,
    "LeastAngles": lambda X, y: Lars(n_nonzero_coefs=6).fit(scale(X[:, :29]), y == "b").active_,
    "ForwardRidge": forward,
    "FastCan": lambda X, y: fastcan.FastCan(6, verbose=0).fit(X[:, :29], y == "b").indices_,
    "ExtraTrees": lambda X, y: best(ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_),
    "Boruta": boruta,
    "CUR": cur,
    "FarthestPoints": farthest,
}
BY_SET = {"Boruta", "MCP"}
"""Methods whose peers tell which features are kept, and not in what order."""


# Of scikit-learn and NumPy: the table has a constant column, and one that is constant within classes.
@pytest.mark.filterwarnings("ignore:.*zero standard deviation:UserWarning")
@pytest.mark.filterwarnings("ignore:Features .* are constant:UserWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")
@pytest.mark.parametrize("name", PEERS)
def test_the_selection_is_that_of_the_class_itself_or_of_the_definition(name):
    X, y = table()
    expected = [int(feature) for feature in PEERS[name](X, y)]
    selected = fitted(ADAPTERS[name], len(expected), TrainingView(X, y)).indices_.tolist()
    assert len(expected) >= 2
    assert (sorted(selected) if name in BY_SET else selected) == (sorted(expected) if name in BY_SET else expected)


@pytest.mark.parametrize("seed", range(12))
def test_fastcan_ends_where_its_columns_are_exhausted(seed):
    """Its errors say this in two ways, by rounding: digits of a training fold bring the second one."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(seed).choice(len(y), 300, replace=False)
    selected = selectors.FastCan(60).fit(scale(X[rows]), y[rows]).indices_
    assert len({*selected.tolist()}) == 60


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mutual_information_is_scikit_learns_estimate(n_classes):
    X, y = table(n_classes)
    X[:, 5], y[0] = np.round(X[:, 5]), "d"  # equal values, and a class of one row
    scores = selectors.MutualInformation(5).fit(X, y).scores_
    np.testing.assert_allclose(scores, feature_selection.mutual_info_classif(X, y, random_state=0), atol=1e-12)


def test_stability_selection_keeps_what_most_halves_keep_and_no_noise():
    X, y = table()
    own = METHODS["stability selection, its number"].selector().fit(X, y)
    assert {*own.indices_.tolist()} == {feature for feature in range(30) if own.scores_[feature] > 0.9 - 1e-9}
    assert {*own.indices_.tolist()} <= PLANTED
    shuffled = np.random.default_rng(0).permutation(y)
    assert np.max(selectors.StabilitySelection(3).fit(X, shuffled).scores_) < 0.9


# ---- versions


def keys():
    cells = (cells_of(compose_config([*method.overrides(5), "dataset=colon"])) for method in METHODS.values())
    return {name: cell.id for name, [cell] in zip(METHODS, cells, strict=True)}


def test_keys_are_the_same_without_the_packages_and_fits_say_what_to_install(monkeypatch):
    with_packages = keys()
    version = importlib.metadata.version
    assert len({*with_packages.values()}) == len(METHODS)

    def missing(name):
        if name in {"boruta", "fastcan", "skglm"}:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert keys() == with_packages
    with pytest.raises(ModuleNotFoundError, match=r"MCP: .* skglm, got none; .* -m pip install .*\[benchmark\]'"):
        METHODS["MCP"].selector().fit(*table())


def test_another_version_has_another_key_and_is_no_failure_of_the_method():
    stated = METHODS["F-test"].overrides(5)
    older = [override.replace("1.9", "0.1") for override in stated]
    [[first], [second]] = (cells_of(compose_config([*override, "dataset=colon"])) for override in (stated, older))
    assert first.id != second.id
    with pytest.raises(ImportError, match=r"FTest: expected scikit-learn 0\.1, got 1\..*selector\.version=1\."):
        selectors.FTest(2, version="0.1").fit(*table())


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("selector", "selectors.Ranked"),
        ("selector", "selectors.ranked.Ranked"),
        ("selector", "selectors.filters.FTest"),
        ("selector", "methods.panel_methods"),
        ("model", "selectors.FTest"),
    ],
)
def test_configs_may_name_the_selectors_of_the_benchmark_and_nothing_else_of_it(kind, target):
    assert component_class("selector", {"_target_": "provlab.bench.selectors.FTest"}) is selectors.FTest
    with pytest.raises(ValueError, match=rf"config of the {kind}: expected .* got 'provlab\.bench\.{target}'"):
        component_class(kind, {"_target_": f"provlab.bench.{target}"})


def test_a_size_of_its_own_is_refused_where_a_method_has_none():
    with pytest.raises(
        ValueError, match="FTest: expected an integer n_features_to_select, got None; this method does not choose"
    ):
        selectors.FTest(None).fit(*table())
