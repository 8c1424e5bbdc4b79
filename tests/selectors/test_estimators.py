"""One table of estimators crossed with what every one of them promises; then each method's budget and errors."""

import inspect
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from provsel import models, selectors
from provsel.kernels.leverage import sample_with_replacement
from provsel.training_view import TrainingView

COMPRESSED = {"n_components": 20, "variance": "1/l"}
ESTIMATORS = [
    selectors.BSSSelector(2, rank=1),
    selectors.LeverageScoreSelector(1, random_state=0),
    selectors.LeverageScoreSelector(1, strategy="top"),
    selectors.LeverageScoreSelector(1, replace=False, random_state=0),
    selectors.UniformSelector(1, random_state=0),
    selectors.FullDataSelector(),
    selectors.OnSupportVectors(selectors.LeverageScoreSelector(1, random_state=0)),
    selectors.WithEnclosingBallCenter(
        selectors.LeverageScoreSelector(1, random_state=0)
    ),
    selectors.ApproximateBSSSelector(2, n_projections=1, random_state=0),
    selectors.RRQRSelector(1),
    selectors.DualSetSelector(2, rank=1),
    selectors.SVMRFESelector(1),
    selectors.LPSVMSelector(),
    selectors.L1SVMSelector(),
    selectors.AlwaysKept(selectors.SVMRFESelector(1), 1, always=[0]),
    selectors.CrossValidatedSize(selectors.SVMRFESelector(1), cv=2, most=1),
    selectors.AtSize(
        selectors.FeatureSelectiveSelector(relative=True),
        1,
        parameter="c1",
        low=1e-4,
        high=1.0,
    ),
    selectors.AtSize(selectors.LassoSelector(), 1),
    selectors.HSICLassoSelector(1, block_size=2, random_state=0),
    selectors.SVMRFESelector(1, task="regression"),
    selectors.AlphaInvestingSelector(task="regression"),
    selectors.CrossValidatedSize(
        selectors.SVMRFESelector(1),
        cv=KFold(2, shuffle=True, random_state=0),
        most=1,
        task="regression",
    ),
    selectors.OnlineLeverageSelector(1, random_state=0),
    selectors.FTestSelector(1, task="regression"),
    selectors.JMISelector(1, task="regression"),
    selectors.MRMRSelector(1, redundancy="mutual_information"),
    selectors.MutualInformationSelector(1, random_state=0),
    selectors.MutualInformationSelector(1, task="regression", random_state=0),
    selectors.RankTestSelector(1, task="regression"),
    selectors.StabilitySelector(n_pairs=3, random_state=0),
    selectors.BorutaSelector(n_estimators=3, max_iter=3, random_state=0),
    selectors.KnockoffSelector(random_state=0),
    selectors.ForestRFESelector(1, n_estimators=3, random_state=0),
    selectors.PermutationImportanceSelector(
        1, n_estimators=3, n_repeats=1, random_state=0
    ),
    models.LibsvmSVM(),
    models.LiblinearSVM(),
    models.CrossValidatedSVM(grid=(0.1, 1.0), n_splits=2),
    models.HingeSVM(0.1, tol=1e-9),
    models.CompressedLinearSVM(20, random_state=0),
    models.CompressedLinearSVM(
        5, recovery="transpose", variance="1/l", store=True, random_state=0
    ),
    models.CompressedLinearSVM(3, refinements=2, random_state=0),
    models.CompressedLinearSVM(20, loss="logistic", random_state=0),
    models.FeatureSelectiveSVM(),
    models.FeatureSelectiveSVM(form="as_printed", random_state=0),
    models.FeatureSelectiveSVM(form="as_printed", **COMPRESSED, random_state=0),
    models.FeatureSelectiveSVM(n_starts=1, **COMPRESSED, random_state=0),
]
OTHER_FORMS = [  # of classes that the tables below take as they come, and embeddings
    selectors.FeatureSelectiveSelector(
        form="as_printed", n_starts=1, tol=1e-2, random_state=0
    ),
    selectors.GaussianCompression(2, random_state=0),
    selectors.GaussianCompression(3, variance="1/l", store=False),
    selectors.SparseEmbedding(2, random_state=0),
]

N = 20
D = 120
R = 40
y = np.where(np.arange(N) % 2, "spam", "ham")
X = (
    np.random.default_rng(0).poisson(0.4, (N, D)).astype(float)
    + 0.2 * (y == "spam")[:, None]
)

SELECTORS = {
    "bss": selectors.BSSSelector(R),
    "bss plain": selectors.BSSSelector(R, rescale=False),
    "leverage": selectors.LeverageScoreSelector(R, random_state=3),
    "leverage top": selectors.LeverageScoreSelector(R, strategy="top"),
    "leverage distinct": selectors.LeverageScoreSelector(
        R, replace=False, random_state=3
    ),
    "uniform": selectors.UniformSelector(R, random_state=3),
    "full": selectors.FullDataSelector(),
    "bss on support vectors": selectors.OnSupportVectors(selectors.BSSSelector(R)),
    "leverage on support vectors": selectors.OnSupportVectors(
        selectors.LeverageScoreSelector(R, random_state=3), svm=models.LiblinearSVM()
    ),
    "approximate bss": selectors.ApproximateBSSSelector(
        R, n_projections=10, random_state=3
    ),
    "rrqr": selectors.RRQRSelector(R),
    "rrqr by norm": selectors.RRQRSelector(R, completion="norm"),
    "rrqr up to the rank": selectors.RRQRSelector(N // 2),
    "single svd of v alone": selectors.SingleSVDSelector(N // 2, form="basis_only"),
    "adaptive randomized pivoting, redrawn": selectors.AdaptiveRandomizedPivotingSelector(
        N // 2, n_redraws=3, random_state=3
    ),
    "spectral selection": selectors.SpectralSelectionSelector(R, rank=N // 2),
    "hsic lasso": selectors.HSICLassoSelector(R, block_size=5, random_state=3),
    "dual set": selectors.DualSetSelector(R, rank=N // 2),
    "rfe": selectors.SVMRFESelector(R),
    "rfe liblinear": selectors.SVMRFESelector(R, solver="liblinear"),
    "lpsvm": selectors.LPSVMSelector(),
    "l1 svm": selectors.L1SVMSelector(),
    "feature selective at size": selectors.AtSize(
        selectors.FeatureSelectiveSelector(relative=True),
        R,
        parameter="c1",
        low=1e-6,
        high=1.0,
    ),
    "feature selective as printed at size": selectors.AtSize(
        selectors.FeatureSelectiveSelector(
            relative=True, form="as_printed", n_starts=1, tol=1e-2
        ),
        5,
        parameter="c1",
        low=1e-2,
        high=1.0,
        max_fits=4,
        random_state=3,
    ),
    "rfe with kept": selectors.AlwaysKept(selectors.SVMRFESelector(1), R, always=[7]),
    "rfe at best size": selectors.CrossValidatedSize(
        selectors.SVMRFESelector(1), cv=2, most=8
    ),
    "l1 svm at size": selectors.AtSize(
        selectors.L1SVMSelector(), 5, parameter="C", low=1e-4, high=1e2
    ),
    "online leverage": selectors.OnlineLeverageSelector(R, random_state=3),
    "online leverage as printed": selectors.OnlineLeverageSelector(
        R, outside_span="project", random_state=3
    ),
    "online leverage theory": selectors.OnlineLeverageSelector(random_state=3),
    "online ridge leverage": selectors.OnlineLeverageSelector(
        R, outside_span="ridge", ridge=1.0, random_state=3
    ),
    "alpha investing": selectors.AlphaInvestingSelector(wealth=5.0),
    "ridge leverage at random": selectors.RidgeLeverageSelector(
        R, strategy="sample", random_state=3
    ),
    "f test": selectors.FTestSelector(R),
    "jmi": selectors.JMISelector(R),
    "jmi of values": selectors.JMISelector(R, criterion="cmim", discrete_features=True),
    "mrmr": selectors.MRMRSelector(R),
    "mrmr of information": selectors.MRMRSelector(
        R, relevance="mutual_information", redundancy="mutual_information"
    ),
    "mutual information": selectors.MutualInformationSelector(
        R, discrete_features=True, random_state=3
    ),
    "rank test": selectors.RankTestSelector(R),
    "stability": selectors.StabilitySelector(R, random_state=3),
    "stability of elimination": selectors.StabilitySelector(
        threshold=0.6,
        n_pairs=2,
        expected_false=99.0,
        selector=selectors.SVMRFESelector(1),
        random_state=3,
    ),
    "boruta": selectors.BorutaSelector(R, n_estimators=5, max_iter=4, random_state=3),
    "knockoffs": selectors.KnockoffSelector(R, random_state=3),
    "forest rfe": selectors.ForestRFESelector(R, n_estimators=5, random_state=3),
    "permutation importance": selectors.PermutationImportanceSelector(
        R, n_estimators=9, n_repeats=2, random_state=3
    ),
    "rfe on support vectors": selectors.OnSupportVectors(
        selectors.SVMRFESelector(R, step=5)
    ),
    "leverage with center": selectors.WithEnclosingBallCenter(
        selectors.LeverageScoreSelector(R, random_state=3)
    ),
    "rrqr with center": selectors.WithEnclosingBallCenter(selectors.RRQRSelector(R)),
    "chi2-like on support vectors": selectors.OnSupportVectors(SelectKBest(k=R)),
}


def exported(module):
    """Return the models, or the selectors; transformers that are not selectors have tests of their own."""
    base = selectors.BaseSelector if module is selectors else BaseEstimator
    classes = {
        name: getattr(module, name)
        for name in module.__all__
        if isinstance(getattr(module, name), type)
    }
    return {
        name
        for name, cls in classes.items()
        if issubclass(cls, base) and not inspect.isabstract(cls)
    }


def as_it_comes(cls, r):
    """A class that the tables do not name is tested with r features, a seed, and its own defaults."""
    arguments = {"n_features_to_select": r, "random_state": 0}
    return cls(
        **{
            name: value
            for name, value in arguments.items()
            if name in inspect.signature(cls).parameters
        }
    )


NAMED = set(SELECTORS)
for _name in sorted(
    exported(selectors) - {type(estimator).__name__ for estimator in ESTIMATORS}
):
    ESTIMATORS.append(as_it_comes(getattr(selectors, _name), 1))
    SELECTORS[_name] = as_it_comes(getattr(selectors, _name), R)
_models = exported(models) - {type(estimator).__name__ for estimator in ESTIMATORS}
ESTIMATORS.extend(getattr(models, name)() for name in sorted(_models))


@pytest.fixture(params=SELECTORS, ids=lambda name: name.replace(" ", "_"))
def selector(request):
    return clone(SELECTORS[request.param])


# Data of the checks have two or three columns, and labels that are noise.
@pytest.mark.filterwarnings(
    "ignore:.*expected scores that differ between features:UserWarning"
)
@pytest.mark.filterwarnings("ignore:.*every weight is zero:UserWarning")
@pytest.mark.filterwarnings("ignore:.*none of . features was accepted:UserWarning")
@pytest.mark.filterwarnings(
    "ignore:.*expected a relative duality gap:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.filterwarnings("ignore:.*the method keeps none of:UserWarning")
@parametrize_with_checks(ESTIMATORS + OTHER_FORMS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def test_both_tables_cover_every_class():
    checked = {type(estimator).__name__ for estimator in ESTIMATORS}
    assert checked == exported(selectors) | exported(models)
    assert {type(selector).__name__ for selector in SELECTORS.values()} == exported(
        selectors
    )


def test_all_but_the_first_parameter_are_keywords():
    for name in exported(selectors) | {"GaussianCompression", "SparseEmbedding"}:
        first, *others = inspect.signature(
            getattr(selectors, name)
        ).parameters.values() or [None]
        if first is not None and first.kind is first.POSITIONAL_OR_KEYWORD:
            assert first.name in ("n_features_to_select", "n_components", "selector")
        allowed = {
            "AtSize": ["n_features_to_select"],
            "AlwaysKept": ["n_features_to_select"],
        }.get(name, [])
        assert {
            parameter.kind for parameter in others if parameter.name not in allowed
        } <= {inspect.Parameter.KEYWORD_ONLY}


def test_every_class_declares_its_version_and_where_there_is_chance():
    for name in exported(selectors) | exported(models):
        cls = getattr(selectors, name, None) or getattr(models, name)
        assert re.fullmatch(r"[1-9]\d*(, by .+)?", str(cls.algorithm_version)), (
            "with the library that solves, if any"
        )
    random = {name for name in NAMED if SELECTORS[name].is_random}
    assert random == {
        "leverage", "leverage distinct", "uniform", "leverage on support vectors", "approximate bss",
        "leverage with center", "mutual information", "online leverage", "online leverage as printed",
        "online leverage theory", "online ridge leverage", "ridge leverage at random",
        "adaptive randomized pivoting, redrawn", "feature selective as printed at size", "hsic lasso", "forest rfe",
        "permutation importance", "stability", "stability of elimination", "boruta", "knockoffs",
    }  # fmt: skip


def test_fitted_attributes_and_the_columns_of_transform(selector):
    assert selector.fit(X, y) is selector
    assert selector.indices_.dtype == np.int64
    assert np.unique(selector.indices_).size == selector.indices_.size > 0
    assert selector.weights_.dtype == np.float64
    assert selector.weights_.shape == selector.indices_.shape
    assert (selector.weights_ > 0).all()
    assert selector.n_features_in_ == D
    kept = np.sort(selector.indices_)
    order = np.argsort(selector.indices_)
    assert_array_equal(np.flatnonzero(selector.get_support()), kept)
    assert_array_equal(selector.get_support(indices=True), kept)
    expected = X[:, kept] * (
        selector.weights_[order] if getattr(selector, "rescale", False) else 1.0
    )
    assert_array_equal(selector.transform(X), expected)
    assert_array_equal(selector.reduce(X), expected)
    # scikit-learn's page says where these are not the values of X
    differs = not np.array_equal(expected, X[:, kept])
    for shown in (selector, make_pipeline(selector)):
        assert (
            "columns keep their names and are multiplied by weights_"
            in shown._repr_html_()
        ) == differs


def test_inverse_transform_puts_the_kept_columns_back(selector):
    back = selector.fit(X, y).inverse_transform(selector.transform(X))
    kept = selector.get_support()
    assert_allclose(back[:, kept], X[:, kept], rtol=1e-12)
    assert not back[:, ~kept].any()
    for form in (
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
    ):
        sparse_back = selector.inverse_transform(form(selector.transform(X)))
        assert sparse.issparse(sparse_back)
        assert_allclose(sparse_back.toarray(), back, rtol=1e-12)
    for form in (np.asarray, sparse.csr_array):
        message = rf"expected X with the {kept.sum()} kept columns, got shape \({N}, {D + 1}\)"
        with pytest.raises(ValueError, match=message):
            selector.inverse_transform(form(np.ones((N, D + 1))))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_float32_stays_float32(selector, form):
    single = form(X.astype(np.float32))
    assert selector.fit(single, y).transform(single).dtype == np.float32
    assert selector.weights_.dtype == np.float64
    double = clone(selector).fit(form(X), y)
    # counts plus 0.2 are rounded in float32: the weights agree to its precision
    if isinstance(getattr(selector, "selector", selector), selectors.BSSSelector):
        assert_array_equal(selector.indices_, double.indices_)
        assert_allclose(selector.weights_, double.weights_, rtol=1e-4)


# without liblinear-official, scikit-learn's LIBLINEAR stops a hair above the gap that
# is asked for
@pytest.mark.filterwarnings(
    "ignore:.*expected a relative duality gap:sklearn.exceptions.ConvergenceWarning"
)
def test_frames_pipelines_and_names(selector):
    alone = clone(selector).fit_transform(X, y)
    words = [f"word{i}" for i in range(D)]
    for library, frame in (
        ("pandas", pd.DataFrame(X, columns=words)),
        ("polars", pl.DataFrame(X, schema=words)),
    ):
        reduced = selector.set_output(transform=library).fit(frame, y).transform(frame)
        assert type(reduced) is type(frame)
        assert list(reduced.columns) == list(selector.get_feature_names_out())
        assert list(reduced.columns) == [f"word{i}" for i in np.sort(selector.indices_)]
        # columns may be contiguous, not rows
        assert_allclose(reduced.to_numpy(), alone, rtol=1e-12)
    pipeline = make_pipeline(
        StandardScaler(with_mean=False),
        clone(SELECTORS["full"]),
        selector,
        models.LibsvmSVM(),
    )
    assert pipeline.fit(X, y).score(X, y) > 0.5


QUICK = {"form": "as_printed", "n_starts": 1, "tol": 1e-2, **COMPRESSED}
RANDOM = {
    name: selector
    for name, selector in SELECTORS.items()
    if hasattr(selector, "random_state") and selector.is_random
} | {
    "feature selective as printed at size": selectors.AtSize(
        selectors.FeatureSelectiveSelector(relative=True, **QUICK),
        4,
        parameter="c1",
        low=1e-3,
        high=0.1,
        max_fits=3,
    ),
    "kept beside random ones": selectors.AlwaysKept(
        selectors.UniformSelector(1), R, always=[2]
    ),
    "random ones at best size": selectors.CrossValidatedSize(
        selectors.UniformSelector(1), sizes=[50, 60], cv=3
    ),
    "gaussian compression": selectors.GaussianCompression(9),
    "sparse embedding": selectors.SparseEmbedding(9),
    "compressed svm": models.CompressedLinearSVM(5, c=1e-2),
    "compressed feature-selective svm": models.FeatureSelectiveSVM(
        c1=2e-3, c2=1e-3, **QUICK
    ),
}
del RANDOM["online leverage theory"]  # it keeps all of few columns
del RANDOM["mutual information"]  # without noise where values are counted
# on so few rows the lasso gives weight to no knockoff: it has a test of its own
del RANDOM["knockoffs"]


def numbers_of(fitted):
    """Return the arrays and numbers that a fit leaves, by name, as text, in which NaN is NaN."""
    values = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    values |= {"blocks": fitted.blocks_.dense()} if hasattr(fitted, "blocks_") else {}
    return {
        name: str(np.asarray(value).tolist())
        for name, value in values.items()
        if np.asarray(value).dtype != object
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANDOM)
def test_seeds_of_every_kind_decide_what_is_drawn(name):
    def drawn(seed):
        return numbers_of(clone(RANDOM[name]).set_params(random_state=seed).fit(X, y))

    assert drawn(1) != drawn(2)
    assert (
        drawn(np.random.default_rng(1)) == drawn(np.random.default_rng(1)) == drawn(1)
    )
    assert drawn(np.random.RandomState(1)) == drawn(np.random.RandomState(1))
    assert drawn(None) != drawn(None)
    generator = np.random.default_rng(1)
    assert drawn(generator) != drawn(generator)  # a generator moves on


# they look at other columns, folds or halves
LAST = ("rfe with kept", "rfe at best size", "stability of elimination")
SERIES = {  # settings on one view, and how many parts they compute of it together
    "all in the table": (
        [selector for name, selector in SELECTORS.items() if name not in LAST],
        None,
    ),
    "bss": ([selectors.BSSSelector(r) for r in (40, 50, 60)], 3),
    "bss of sigma V": (
        [selectors.BSSSelector(r, columns="sigma_V") for r in (40, 41)],
        3,
    ),
    "bss, centred": ([selectors.BSSSelector(r, center=True) for r in (40, 41)], 2),
    "bss of a rank": (
        [
            selectors.BSSSelector(r, rank=rank)
            for r, rank in ((40, 5), (41, 5), (40, 6))
        ],
        4,
    ),
    "pivots": ([selectors.RRQRSelector(r) for r in (15, 20, 10, 120, 60)], 2),
    "elimination": ([selectors.SVMRFESelector(r) for r in (70, 8, 120, 60)], 31),
    "elimination by liblinear": (
        [selectors.SVMRFESelector(r, solver="liblinear") for r in (70, 8, 120, 60)],
        30,
    ),
    "order of a filter": ([selectors.FTestSelector(r) for r in (8, 3)], 1),
    "forward selection": ([selectors.ForwardSelector(r) for r in (4, 2, 6)], 7),
    "laplacian scores": ([selectors.LaplacianScoreSelector(r) for r in (5, 7)], 2),
    "their widths": (
        [
            selectors.LaplacianScoreSelector(5, kernel_width=width)
            for width in (None, 2.0, 3.0)
        ],
        4,
    ),
    "their graphs": (
        [selectors.LaplacianScoreSelector(5, n_neighbors=count) for count in (4, 5)],
        4,
    ),
    "tasks": (
        [
            selectors.AlphaInvestingSelector(task=task)
            for task in ("auto", "classification")
        ],
        1,
    ),
    "picks": ([selectors.MRMRSelector(r) for r in (3, 9, 5)], 10),
    "other options": ([selectors.JMISelector(2, n_bins=count) for count in (2, 3)], 6),
    "prices": (
        [
            selectors.AtSize(selectors.FeatureSelectiveSelector(relative=True), r)
            for r in (20, 5, 12)
        ],
        15,
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SERIES)
def test_fits_on_one_view_are_fits_alone_and_share_their_parts(name, monkeypatch):
    series, computed = SERIES[name]
    alone = [numbers_of(clone(selector).fit(X, y)) for selector in series]
    parts = []
    shared = TrainingView.shared
    monkeypatch.setattr(
        TrainingView,
        "shared",
        lambda view, part, make: shared(
            view, part, lambda: parts.append(part) or make()
        ),
    )
    for order in (range(len(series)), reversed(range(len(series)))):
        view = TrainingView(X, y)
        parts.clear()
        for place in order:
            assert numbers_of(clone(series[place]).fit_view(view)) == alone[place]
        # of all: on all rows, the support vectors of LibsvmSVM, those of LiblinearSVM,
        # and all rows with their centre
        assert (
            len(parts) == computed or parts.count("basis") == parts.count("gram") == 4
        )


def test_costs_are_charged_to_whoever_uses_a_part():
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
    view = TrainingView(X, y)
    second_view = TrainingView(X, y)
    svms = [models.LibsvmSVM(C=C) for C in (1e-4, 1e3, 1e4)]
    views = [view.on_support_vectors(svm) for svm in svms]
    alone = [view.support_rows(svm) for svm in svms]
    assert alone[0].size > alone[1].size  # from some C on the rows are separated
    assert_array_equal(alone[1], alone[2])
    assert views[1] is views[2] is not views[0]
    with view.metered() as first:
        views[1].basis()
    with view.metered() as again:
        view.on_support_vectors(svms[2]).basis()
    # the SVM, and the basis that the view of the other C had
    assert again.shared.wall > first.shared.wall > 0
    assert_array_equal(second_view.on_support_vectors(svms[2]).X, views[1].X)


def test_bss_attributes():
    selector = selectors.BSSSelector(R).fit(X)
    ratio = np.sqrt(N / R)
    assert selector.rank_ == N
    assert selector.n_repeats_ == R - selector.indices_.size == 0
    assert selector.eigenvalue_range_ == pytest.approx(
        ((1 - ratio) ** 2, (1 + ratio) ** 2)
    )
    assert selector.spectral_bound_ == pytest.approx(3 * ratio)
    printed = selectors.BSSSelector(R, weights="as_printed").fit(X)
    assert_array_equal(printed.indices_, selector.indices_)
    assert_allclose(printed.weights_ * selector.weights_, (1 - ratio) / R)


def test_bss_repeats_merge():
    X = np.zeros((3, 50))
    X[:, :6] = np.random.default_rng(0).standard_normal((3, 6))
    selector = selectors.BSSSelector(40).fit(X)
    assert set(selector.indices_) <= set(range(6))
    assert selector.n_repeats_ == 40 - selector.indices_.size >= 34
    V = np.linalg.svd(X[:, :6])[2][:3].T
    kept = V[selector.indices_] * selector.weights_[:, None]
    low, high = selector.eigenvalue_range_
    eigenvalues = np.linalg.eigvalsh(kept.T @ kept)
    assert low <= eigenvalues[0] <= eigenvalues[-1] <= high


LIMITS = {  # what the theorem bounds, over what a budget promises
    selectors.BSSSelector: lambda rank, r, eps: 3 * np.sqrt(rank / r) / (eps / 2),
    selectors.DualSetSelector: lambda rank, r, eps: (
        (1 + 1 / (1 - np.sqrt(rank / r)) ** 2) / (2 + eps)
    ),
}


@pytest.mark.parametrize("cls", LIMITS)
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("rank", [1, 2, 17, 400])
def test_a_budget_is_the_least_that_is_enough(rank, eps, cls):
    r = cls.budget(rank, eps)
    assert isinstance(r, int)
    assert LIMITS[cls](rank, r, eps) <= 1 + 1e-9
    assert LIMITS[cls](rank, r - 1, eps) > 1
    assert cls.budget(rank, eps, 0.1) == r


@pytest.mark.parametrize("rank", [2, 4])
def test_leverage_budget_is_enough(rank):
    """Measured ||E|| <= eps / 2 in at least 1 - delta of the draws; a hundredth of the draws is not enough."""
    eps = 0.5
    delta = 0.1
    trials = 60
    rng = np.random.default_rng(5)
    V = np.linalg.qr(
        rng.standard_normal((300, rank)) * np.exp(rng.standard_normal((300, 1)))
    )[0]
    p = (V**2).sum(axis=1) / rank
    r = selectors.LeverageScoreSelector.budget(rank, eps, delta)

    def failures(r):
        count = 0
        for _ in range(trials):
            indices, weights = sample_with_replacement(p, r, rng)
            kept = V[indices] * weights[:, None]
            count += np.linalg.norm(np.eye(rank) - kept.T @ kept, 2) > eps / 2
        return count

    assert failures(r) <= delta * trials
    assert failures(r // 100) > delta * trials


def test_on_support_vectors_is_a_fit_on_those_rows():
    both = selectors.OnSupportVectors(
        selectors.BSSSelector(R), svm=models.LibsvmSVM(C=0.01)
    ).fit(X, y)
    rows = models.LibsvmSVM(C=0.01).fit(X, y).support_
    assert_array_equal(both.support_rows_, np.sort(rows))
    alone = selectors.BSSSelector(R).fit(X[both.support_rows_])
    assert_array_equal(both.indices_, alone.indices_)
    assert_array_equal(both.weights_, alone.weights_)
    assert both.selector_.rank_ == alone.rank_
