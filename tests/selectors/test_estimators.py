"""One table of estimators crossed with what every one of them promises; then each method's budget and errors."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import provsel.models
import provsel.selectors
import provsel.training_view as view_module
from provsel.kernels.bss_columns import OrderedColumns
from provsel.kernels.leverage import sample_with_replacement
from provsel.models import CrossValidatedSVM, LiblinearSVM, LibsvmSVM
from provsel.selectors import (
    AdaptiveRandomizedPivotingSelector,
    AlphaInvestingSelector,
    AlwaysKept,
    ApproximateBSSSelector,
    AtSize,
    BaseSelector,
    BSSSelector,
    CrossValidatedSize,
    DualSetSelector,
    FeatureSelectiveSelector,
    FullDataSelector,
    L1SVMSelector,
    LassoSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    OnlineLeverageSelector,
    OnSupportVectors,
    RidgeLeverageSelector,
    RRQRSelector,
    SingleSVDSelector,
    SpectralSelectionSelector,
    SVMRFESelector,
    UniformSelector,
    WithEnclosingBallCenter,
)
from provsel.selectors._base import _scale_columns
from provsel.training_view import TrainingView

ESTIMATORS = [
    BSSSelector(2, rank=1),
    LeverageScoreSelector(1, random_state=0),
    LeverageScoreSelector(1, strategy="top"),
    LeverageScoreSelector(1, replace=False, random_state=0),
    UniformSelector(1, random_state=0),
    FullDataSelector(),
    OnSupportVectors(LeverageScoreSelector(1, random_state=0)),
    WithEnclosingBallCenter(LeverageScoreSelector(1, random_state=0)),
    ApproximateBSSSelector(2, n_projections=1, random_state=0),
    RRQRSelector(1),
    DualSetSelector(2, rank=1),
    SVMRFESelector(1),
    LPSVMSelector(),
    L1SVMSelector(),
    AlwaysKept(SVMRFESelector(1), 1, always=[0]),
    CrossValidatedSize(SVMRFESelector(1), cv=2, most=1),
    AtSize(FeatureSelectiveSelector(relative=True), 1, parameter="c1", low=1e-4, high=1.0),
    AtSize(LassoSelector(), 1),
    SVMRFESelector(1, task="regression"),
    AlphaInvestingSelector(task="regression"),
    CrossValidatedSize(SVMRFESelector(1), cv=KFold(2, shuffle=True, random_state=0), most=1, task="regression"),
    OnlineLeverageSelector(1, random_state=0),
    LibsvmSVM(),
    LiblinearSVM(),
    CrossValidatedSVM(grid=(0.1, 1.0), n_splits=2),
]

N, D, R = 20, 120, 40

SELECTORS = {
    "bss": BSSSelector(R),
    "bss plain": BSSSelector(R, rescale=False),
    "leverage": LeverageScoreSelector(R, random_state=3),
    "leverage top": LeverageScoreSelector(R, strategy="top"),
    "leverage distinct": LeverageScoreSelector(R, replace=False, random_state=3),
    "uniform": UniformSelector(R, random_state=3),
    "full": FullDataSelector(),
    "bss on support vectors": OnSupportVectors(BSSSelector(R)),
    "leverage on support vectors": OnSupportVectors(LeverageScoreSelector(R, random_state=3), svm=LiblinearSVM()),
    "approximate bss": ApproximateBSSSelector(R, n_projections=10, random_state=3),
    "rrqr": RRQRSelector(R),
    "rrqr by norm": RRQRSelector(R, completion="norm"),
    "rrqr up to the rank": RRQRSelector(N // 2),
    "single svd of v alone": SingleSVDSelector(N // 2, form="basis_only"),
    "adaptive randomized pivoting, redrawn": AdaptiveRandomizedPivotingSelector(N // 2, n_redraws=3, random_state=3),
    "spectral selection": SpectralSelectionSelector(R, rank=N // 2),
    "dual set": DualSetSelector(R, rank=N // 2),
    "rfe": SVMRFESelector(R),
    "rfe liblinear": SVMRFESelector(R, solver="liblinear"),
    "lpsvm": LPSVMSelector(),
    "l1 svm": L1SVMSelector(),
    "feature selective at size": AtSize(FeatureSelectiveSelector(relative=True), R, parameter="c1", low=1e-6, high=1.0),
    "feature selective as printed at size": AtSize(
        FeatureSelectiveSelector(relative=True, form="as_printed", n_starts=1, tol=1e-2),
        5,
        parameter="c1",
        low=1e-2,
        high=1.0,
        max_fits=4,
        random_state=3,
    ),
    "rfe with kept": AlwaysKept(SVMRFESelector(1), R, always=[7]),
    "rfe at best size": CrossValidatedSize(SVMRFESelector(1), cv=2, most=8),
    "l1 svm at size": AtSize(L1SVMSelector(), 5, parameter="C", low=1e-4, high=1e2),
    "online leverage": OnlineLeverageSelector(R, random_state=3),
    "online leverage as printed": OnlineLeverageSelector(R, outside_span="project", random_state=3),
    "online leverage theory": OnlineLeverageSelector(random_state=3),
    "online ridge leverage": OnlineLeverageSelector(R, outside_span="ridge", ridge=1.0, random_state=3),
    "alpha investing": AlphaInvestingSelector(wealth=5.0),
    "ridge leverage at random": RidgeLeverageSelector(R, strategy="sample", random_state=3),
    "rfe on support vectors": OnSupportVectors(SVMRFESelector(R, step=5)),
    "leverage with center": WithEnclosingBallCenter(LeverageScoreSelector(R, random_state=3)),
    "rrqr with center": WithEnclosingBallCenter(RRQRSelector(R)),
    "chi2-like on support vectors": OnSupportVectors(SelectKBest(k=R)),
}


def exported(module):
    """Return the models, or the selectors; transformers that are not selectors have tests of their own."""
    base = BaseSelector if module is provsel.selectors else BaseEstimator
    classes = {name: getattr(module, name) for name in module.__all__ if isinstance(getattr(module, name), type)}
    return {name for name, cls in classes.items() if issubclass(cls, base) and not inspect.isabstract(cls)}


def as_it_comes(cls, r):
    """A class that the tables do not name is tested with r features, a seed, and its own defaults."""
    arguments = {"n_features_to_select": r, "random_state": 0}
    return cls(**{name: value for name, value in arguments.items() if name in inspect.signature(cls).parameters})


NAMED = set(SELECTORS)
for _name in sorted(exported(provsel.selectors) - {type(estimator).__name__ for estimator in ESTIMATORS}):
    ESTIMATORS.append(as_it_comes(getattr(provsel.selectors, _name), 1))
    SELECTORS[_name] = as_it_comes(getattr(provsel.selectors, _name), R)
_models = exported(provsel.models) - {type(estimator).__name__ for estimator in ESTIMATORS}
ESTIMATORS.extend(getattr(provsel.models, name)() for name in sorted(_models))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(N) % 2, "spam", "ham")
    X = rng.poisson(0.4, (N, D)).astype(float) + 0.2 * (y == "spam")[:, None]
    return X, y


@pytest.fixture(params=SELECTORS, ids=lambda name: name.replace(" ", "_"))
def selector(request):
    return clone(SELECTORS[request.param])


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def test_both_tables_cover_every_class():
    checked = {type(estimator).__name__ for estimator in ESTIMATORS}
    assert checked == exported(provsel.selectors) | exported(provsel.models)
    assert {type(selector).__name__ for selector in SELECTORS.values()} == exported(provsel.selectors)


def test_all_but_the_first_parameter_are_keywords():
    for name in exported(provsel.selectors) | {"GaussianCompression", "SparseEmbedding"}:
        first, *others = inspect.signature(getattr(provsel.selectors, name)).parameters.values() or [None]
        if first is not None and first.kind is first.POSITIONAL_OR_KEYWORD:
            assert first.name in ("n_features_to_select", "n_components", "selector")
        allowed = {"AtSize": ["n_features_to_select"], "AlwaysKept": ["n_features_to_select"]}.get(name, [])
        assert {other.kind for other in others if other.name not in allowed} <= {inspect.Parameter.KEYWORD_ONLY}


def test_every_class_declares_its_version_and_where_there_is_chance():
    for name in exported(provsel.selectors) | exported(provsel.models):
        cls = getattr(provsel.selectors, name, None) or getattr(provsel.models, name)
        assert isinstance(cls.algorithm_version, int)
    random = {name for name in NAMED if SELECTORS[name].is_random}
    assert random == {
        "leverage", "leverage distinct", "uniform", "leverage on support vectors", "approximate bss",
        "leverage with center", "online leverage", "online leverage as printed", "online leverage theory",
        "online ridge leverage", "ridge leverage at random", "adaptive randomized pivoting, redrawn",
        "feature selective as printed at size",
    }  # fmt: skip


def test_fitted_attributes(selector, data):
    X, y = data
    assert selector.fit(X, y) is selector
    assert selector.indices_.dtype == np.int64
    assert np.unique(selector.indices_).size == selector.indices_.size > 0
    assert selector.weights_.dtype == np.float64
    assert selector.weights_.shape == selector.indices_.shape
    assert (selector.weights_ > 0).all()
    assert selector.n_features_in_ == D
    np.testing.assert_array_equal(np.flatnonzero(selector.get_support()), np.sort(selector.indices_))
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(selector.indices_))


def test_sparse_input_selects_the_same(selector, data):
    """All sparse forms give the same bits, see test_inputs.py."""
    X, y = data
    dense, as_sparse = clone(selector).fit(X, y), sparse.csr_array(X)
    selector.fit(as_sparse, y)
    np.testing.assert_array_equal(selector.indices_, dense.indices_)
    np.testing.assert_allclose(selector.weights_, dense.weights_, rtol=1e-8)
    reduced = selector.transform(as_sparse)
    assert sparse.issparse(reduced)
    np.testing.assert_allclose(reduced.toarray(), dense.transform(X), rtol=1e-8)
    np.testing.assert_array_equal(selector.reduce(as_sparse).toarray(), reduced.toarray())


def test_transform_scales_columns_in_increasing_order(selector, data):
    X, y = data
    reduced = selector.fit_transform(X, y)
    expected = X[:, np.sort(selector.indices_)]
    if getattr(selector, "rescale", False):
        expected = expected * selector.weights_[np.argsort(selector.indices_)]
    np.testing.assert_array_equal(reduced, expected)
    np.testing.assert_array_equal(selector.reduce(X), expected)


def test_inverse_transform_puts_the_kept_columns_back(selector, data):
    X, y = data
    back = selector.fit(X, y).inverse_transform(selector.transform(X))
    kept = selector.get_support()
    np.testing.assert_allclose(back[:, kept], X[:, kept], rtol=1e-12)
    assert not back[:, ~kept].any()
    for form in (sparse.csr_array, sparse.csr_matrix):
        sparse_back = selector.inverse_transform(selector.transform(form(X)))
        assert sparse.issparse(sparse_back)
        np.testing.assert_allclose(sparse_back.toarray(), back, rtol=1e-12)
    for form in (np.asarray, sparse.csr_array):
        message = rf"expected X with the {kept.sum()} kept columns, got shape \({N}, {D + 1}\)"
        with pytest.raises(ValueError, match=message):
            selector.inverse_transform(form(np.ones((N, D + 1))))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_float32_stays_float32(selector, data, form):
    X, y = data
    single = form(X.astype(np.float32))
    assert selector.fit(single, y).transform(single).dtype == np.float32
    assert selector.weights_.dtype == np.float64
    double = clone(selector).fit(form(X), y)
    # counts plus 0.2 are rounded in float32: the weights agree to its precision
    if isinstance(getattr(selector, "selector", selector), BSSSelector):
        np.testing.assert_array_equal(selector.indices_, double.indices_)
        np.testing.assert_allclose(selector.weights_, double.weights_, rtol=1e-4)


def test_frames_pipelines_and_names(selector, data):
    X, y = data
    alone = clone(selector).fit_transform(X, y)
    words = [f"word{i}" for i in range(D)]
    for library, frame in (("pandas", pd.DataFrame(X, columns=words)), ("polars", pl.DataFrame(X, schema=words))):
        reduced = selector.set_output(transform=library).fit(frame, y).transform(frame)
        assert type(reduced) is type(frame)
        assert list(reduced.columns) == list(selector.get_feature_names_out())
        assert list(reduced.columns) == [f"word{i}" for i in np.sort(selector.indices_)]
        np.testing.assert_allclose(reduced.to_numpy(), alone, rtol=1e-12)  # columns may be contiguous, not rows
    pipeline = make_pipeline(StandardScaler(with_mean=False), clone(SELECTORS["full"]), selector, LibsvmSVM())
    assert pipeline.fit(X, y).score(X, y) > 0.5


def test_scikit_learn_s_html_says_where_values_are_not_those_of_x(selector, data):
    X, y = data
    differs = not np.array_equal(selector.fit_transform(X, y), X[:, selector.get_support()])
    for shown in (selector, make_pipeline(selector)):
        assert ("columns keep their names and are multiplied by weights_" in shown._repr_html_()) == differs


@pytest.mark.parametrize(
    "made",
    [
        UniformSelector(R),
        LeverageScoreSelector(R),
        OnlineLeverageSelector(R),
        ApproximateBSSSelector(R, n_projections=8),
    ],
)
def test_other_seeds_and_kinds_of_seed(made, data):
    X, _ = data

    def drawn(seed):
        return clone(made).set_params(random_state=seed).fit(X).indices_.tolist()

    assert drawn(1) != drawn(2)
    assert drawn(np.random.default_rng(1)) == drawn(np.random.default_rng(1)) == drawn(1)
    assert drawn(np.random.RandomState(1)) == drawn(np.random.RandomState(1))
    assert drawn(None) != drawn(None)
    generator = np.random.default_rng(1)
    assert drawn(generator) != drawn(generator)  # a generator moves on


def test_one_view_computes_its_parts_once(data, monkeypatch):
    X, y = data
    calls = []
    for name in ("spectral_basis", "gram_matrix"):
        original = getattr(view_module, name)
        monkeypatch.setattr(
            view_module, name, lambda *args, name=name, original=original: calls.append(name) or original(*args)
        )
    view = TrainingView(X, y)
    alone = {name: clone(selector).fit(X, y) for name, selector in SELECTORS.items()}
    calls.clear()
    for name, selector in SELECTORS.items():
        if name in ("rfe with kept", "rfe at best size"):  # which look at other columns, or at folds
            continue
        shared = clone(selector).fit_view(view)
        np.testing.assert_array_equal(shared.indices_, alone[name].indices_)
        np.testing.assert_array_equal(shared.weights_, alone[name].weights_)
    # all rows, the support vectors of LibsvmSVM, those of LiblinearSVM, and all rows with their ball's centre
    assert calls.count("spectral_basis") == calls.count("gram_matrix") == 4


def test_bss_of_all_sizes_shares_the_order_of_the_columns(data, monkeypatch):
    X, _ = data
    made = []
    monkeypatch.setattr(
        "provsel.selectors.bss.OrderedColumns", lambda *args: made.append(args) or OrderedColumns(*args)
    )
    view = TrainingView(X)
    for r in (40, 50, 60):
        shared, alone = BSSSelector(r).fit_view(view), BSSSelector(r).fit(X)
        np.testing.assert_array_equal(shared.indices_, alone.indices_)
        np.testing.assert_array_equal(shared.weights_, alone.weights_)
    assert len(made) == 1 + 3
    for other in ({"columns": "sigma_V"}, {"center": True}, {"rank": 5}):
        shared, alone = BSSSelector(40, **other).fit_view(view), BSSSelector(40, **other).fit(X)
        np.testing.assert_array_equal(shared.indices_, alone.indices_)
        BSSSelector(41, **other).fit_view(view)  # made once
    assert len(made) == 4 + 2 * 3


def test_costs_are_charged_to_whoever_uses_a_part(data):
    X, y = data
    view = TrainingView(X, y)
    with view.metered() as first:
        clone(SELECTORS["bss on support vectors"]).fit_view(view)
    with view.metered() as second:
        clone(SELECTORS["bss on support vectors"]).fit_view(view)
    with view.metered() as third:
        clone(SELECTORS["uniform"]).fit_view(view)
    assert first.shared == second.shared
    assert first.shared.wall > 0
    assert third.shared.wall == 0
    assert min(first.own.wall, second.own.wall, third.own.wall) >= 0


def test_models_with_the_same_support_vectors_share_their_view():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 80)) + 0.6 * y[:, None]
    view, other = TrainingView(X, y), TrainingView(X, y)
    views = [view.on_support_vectors(LibsvmSVM(C=C)) for C in (1e-4, 1e3, 1e4)]
    alone = [view.support_rows(LibsvmSVM(C=C)) for C in (1e-4, 1e3, 1e4)]
    assert alone[0].size > alone[1].size  # from some C on the rows are separated
    np.testing.assert_array_equal(alone[1], alone[2])
    assert views[1] is views[2] is not views[0]
    with view.metered() as first:
        views[1].basis()
    with view.metered() as again:
        view.on_support_vectors(LibsvmSVM(C=1e4)).basis()
    assert again.shared.wall > first.shared.wall > 0  # the SVM, and the basis that the view of the other C had
    np.testing.assert_array_equal(other.on_support_vectors(LibsvmSVM(C=1e4)).X, views[1].X)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array], ids=str)
def test_scaled_sparse_columns_have_the_bits_and_order_of_a_product(kind):
    X = kind(sparse.random_array((9, 30), density=0.3, rng=np.random.default_rng(0)))
    factors = np.random.default_rng(1).random(30)
    ours, expected = _scale_columns(X, factors), X @ sparse.diags_array(factors)
    assert type(ours) is type(expected)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))


def test_bss_attributes(data):
    X, _ = data
    selector = BSSSelector(R).fit(X)
    ratio = np.sqrt(N / R)
    assert selector.rank_ == N
    assert selector.n_repeats_ == R - selector.indices_.size
    assert selector.eigenvalue_range_ == pytest.approx(((1 - ratio) ** 2, (1 + ratio) ** 2))
    assert selector.spectral_bound_ == pytest.approx(3 * ratio)
    printed = BSSSelector(R, weights="as_printed").fit(X)
    np.testing.assert_array_equal(printed.indices_, selector.indices_)
    if selector.n_repeats_ == 0:
        np.testing.assert_allclose(printed.weights_ * selector.weights_, (1 - ratio) / R)


def test_bss_repeats_merge():
    X = np.zeros((3, 50))
    X[:, :6] = np.random.default_rng(0).standard_normal((3, 6))
    selector = BSSSelector(40).fit(X)
    assert set(selector.indices_) <= set(range(6))
    assert selector.n_repeats_ == 40 - selector.indices_.size >= 34
    V = np.linalg.svd(X[:, :6])[2][:3].T
    kept = V[selector.indices_] * selector.weights_[:, None]
    low, high = selector.eigenvalue_range_
    eigenvalues = np.linalg.eigvalsh(kept.T @ kept)
    assert low <= eigenvalues[0] <= eigenvalues[-1] <= high


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("rank", [1, 2, 17, 400])
def test_bss_budget_implies_its_bound(rank, eps):
    r = BSSSelector.budget(rank, eps)
    assert isinstance(r, int)
    assert 3 * np.sqrt(rank / r) <= eps / 2 * (1 + 1e-12)
    assert 3 * np.sqrt(rank / (r - 1)) > eps / 2  # and no smaller one does
    assert BSSSelector.budget(rank, eps, 0.1) == r


@pytest.mark.parametrize("rank", [2, 4])
def test_leverage_budget_is_enough(rank):
    """Measured ||E|| <= eps / 2 in at least 1 - delta of the draws; a hundredth of the draws is not enough."""
    eps, delta, trials = 0.5, 0.1, 60
    rng = np.random.default_rng(5)
    V = np.linalg.qr(rng.standard_normal((300, rank)) * np.exp(rng.standard_normal((300, 1))))[0]
    p = (V**2).sum(axis=1) / rank
    r = LeverageScoreSelector.budget(rank, eps, delta)

    def failures(r):
        count = 0
        for _ in range(trials):
            indices, weights = sample_with_replacement(p, r, rng)
            kept = V[indices] * weights[:, None]
            count += np.linalg.norm(np.eye(rank) - kept.T @ kept, 2) > eps / 2
        return count

    assert failures(r) <= delta * trials
    assert failures(r // 100) > delta * trials


def test_labels_are_needed_only_where_they_are_used(selector, data):
    if selector.needs_labels:
        with pytest.raises(ValueError, match="requires y to be passed"):
            selector.fit(data[0])
    else:
        assert selector.fit(data[0]).indices_.size


def test_on_support_vectors_is_a_fit_on_those_rows(data):
    X, y = data
    both = OnSupportVectors(BSSSelector(R), svm=LibsvmSVM(C=0.01)).fit(X, y)
    rows = LibsvmSVM(C=0.01).fit(X, y).support_
    np.testing.assert_array_equal(both.support_rows_, np.sort(rows))
    alone = BSSSelector(R).fit(X[both.support_rows_])
    np.testing.assert_array_equal(both.indices_, alone.indices_)
    np.testing.assert_array_equal(both.weights_, alone.weights_)
    assert both.selector_.rank_ == alone.rank_
