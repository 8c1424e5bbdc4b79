"""Selectors of provsel and of the packages that people use, by name; `field.py` measures them.

Each is a function of X and y that returns the features, the best first. Classes are
whole numbers; other targets are floats. skrebate has no RReliefF: its ReliefF of
numbers is another method.
"""

import contextlib
from importlib import import_module
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kruskal, spearmanr
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge, lars_path
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from provsel.selectors import (
    AlphaInvestingSelector,
    BorutaSelector,
    CURSelector,
    FarthestPointSelector,
    ForestRFESelector,
    ForwardSelector,
    FTestSelector,
    HSICLassoSelector,
    JMISelector,
    KnockoffSelector,
    LaplacianScoreSelector,
    MRMRSelector,
    MultiSURFSelector,
    MutualInformationSelector,
    PermutationImportanceSelector,
    RankTestSelector,
    ReliefFSelector,
    ShrunkenCentroidsSelector,
    StabilitySelector,
    SVMRFESelector,
)

N_PICKED, N_TREES, N_ROUNDS = 20, 100, 19


def ours(selector):
    """Return a selection by a class of provsel."""
    return lambda X, y: clone(selector).fit(X, y).indices_


def is_regression(y):
    return y.dtype.kind == "f"


def best(scores):
    return np.argsort(-scores, kind="stable")[:N_PICKED]


# ---- filters


def by_mrmr(X, y):
    """Return the picks of mrmr-selection."""
    mrmr = import_module("mrmr")
    select = mrmr.mrmr_regression if is_regression(y) else mrmr.mrmr_classif
    return select(
        pd.DataFrame(X), pd.Series(y), K=N_PICKED, n_jobs=1, show_progress=False
    )


def by_information(X, y):
    estimate = mutual_info_regression if is_regression(y) else mutual_info_classif
    return best(estimate(X, y, random_state=0))


def codes_of(X):
    return np.digitize((X - X.mean(axis=0)) / X.std(axis=0), [-0.5, 0.5])


def of_codes(criterion):
    """Return our selection from codes, which scikit-feature takes."""
    selector = JMISelector(
        N_PICKED, criterion=criterion, beta=0.5, discrete_features=True
    )
    return lambda X, y: clone(selector).fit(codes_of(X), y).indices_


def by_cmim(X, y):
    cmim = import_module("skfeature.function.information_theoretical_based.CMIM").cmim
    return cmim(codes_of(X), y, mode="index", n_selected_features=N_PICKED)


def by_mifs(X, y):
    """Return the picks of scikit-feature, whose functions MIFS and JMI return places instead, and no JMI."""
    likelihood = import_module(
        "skfeature.function.information_theoretical_based.LCSI"
    ).lcsi
    return likelihood(
        codes_of(X), y, mode="index", beta=0.5, gamma=0.0, n_selected_features=N_PICKED
    )


def by_f_test(X, y):
    return (
        SelectKBest(f_regression if is_regression(y) else f_classif, k=N_PICKED)
        .fit(X, y)
        .get_support(indices=True)
    )


def by_rank_test(X, y):
    """Return what SciPy's tests of each column choose."""
    if is_regression(y):
        return best(np.array([abs(spearmanr(column, y).statistic) for column in X.T]))
    return best(
        np.array([kruskal(column[y == 0], column[y == 1]).statistic for column in X.T])
    )


def by_centroids(X, y):
    return best(
        np.abs(NearestCentroid(shrink_threshold=1e-12).fit(X, y).deviations_).max(
            axis=0
        )
    )


def n_dropped(X):
    """Return a tenth of the columns: a fraction is one of the columns that remain in provsel, else one of all."""
    return X.shape[1] // 10


def our_elimination(X, y):
    return SVMRFESelector(N_PICKED, step=n_dropped(X)).fit(X, y).indices_


def by_elimination(X, y):
    model = Ridge(alpha=0.5) if is_regression(y) else SVC(kernel="linear")
    return (
        RFE(model, n_features_to_select=N_PICKED, step=n_dropped(X))
        .fit(X, y)
        .get_support(indices=True)
    )


def kernel_width(X):
    """Return a width of the size of distances, for ours and the package's."""
    return float(X.shape[1] ** 0.5 * X[0].std())


def our_laplacian(X, y):
    return (
        LaplacianScoreSelector(N_PICKED, kernel_width=kernel_width(X)).fit(X).indices_
    )


def by_laplacian(X, y):
    """Return the picks of scikit-feature, of its graph without loops."""
    affinity = import_module("skfeature.utility.construct_W").construct_W
    order = import_module("skfeature.function.similarity_based.lap_score").lap_score
    W = affinity(
        X,
        metric="euclidean",
        neighbor_mode="knn",
        weight_mode="heat_kernel",
        k=5,
        t=kernel_width(X),
    )
    W.setdiag(0.0)
    return order(X, mode="index", W=W)[:N_PICKED]


def by_alpha_investing(X, y):
    investing = import_module(
        "skfeature.function.streaming.alpha_investing"
    ).alpha_investing
    return investing(X, y, 0.5, 0.5)[:N_PICKED]


# ---- forests, halves of the rows, knockoffs


def forest(y, **options):
    """Return the forest that our selectors ask."""
    if is_regression(y):
        return RandomForestRegressor(
            N_TREES, max_features=1 / 3, random_state=0, **options
        )
    return RandomForestClassifier(N_TREES, random_state=0, **options)


def by_boruta(X, y):
    boruta = import_module("boruta").BorutaPy(
        forest(y, max_depth=5),
        n_estimators=N_TREES,
        max_iter=N_ROUNDS + 1,
        random_state=0,
    )
    return best(-boruta.fit(X, y).ranking_)


def by_forest_rfe(X, y):
    """Drop the half each round, which a `step` of scikit-learn's RFE cannot say."""
    kept = np.arange(X.shape[1])
    while kept.size > N_PICKED:
        half = max(N_PICKED, kept.size // 2)
        kept = kept[
            RFE(forest(y), n_features_to_select=half, step=kept.size)
            .fit(X[:, kept], y)
            .support_
        ]
    return kept


def by_permutation(X, y):
    stratify = None if is_regression(y) else y
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.25, stratify=stratify, random_state=0
    )
    fitted = forest(y).fit(X[train], y[train])
    return best(
        permutation_importance(
            fitted, X[test], y[test], n_repeats=5, random_state=0
        ).importances_mean
    )


def by_steps(X, y):
    search = SequentialFeatureSelector(
        Ridge(), n_features_to_select=N_PICKED, cv=5, scoring="neg_mean_squared_error"
    )
    return search.fit(StandardScaler().fit_transform(X), y).get_support(indices=True)


def by_halves(X, y):
    """Run scikit-learn's least angle regression on the same number of halves: no package of the field is kept up."""
    rng = np.random.default_rng(0)
    n, d = X.shape
    counts = np.zeros(d)
    for _ in range(50):
        order = rng.permutation(n)
        for half in (order[: n // 2], order[n // 2 :]):
            target = y[half] - y[half].mean()
            counts[
                lars_path(
                    scale(X[half]), target, method="lar", max_iter=int(np.sqrt(0.8 * d))
                )[1]
            ] += 1
    return best(counts)


def by_knockoffs(X, y):
    knockoffs = import_module("knockpy.knockoff_filter")
    search = knockoffs.KnockoffFilter(
        ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "equicorrelated"}
    )
    search.forward(X=X, y=y.astype(float), shrinkage="ledoitwolf", fdr=0.1)
    return best(search.W)


# ---- neighbours, kernels, columns without labels


def skrebate(name, **options):
    """Return a selection by a class of skrebate."""

    def select(X, y):
        kind = "continuous" if is_regression(y) else "binary"
        method = getattr(import_module("skrebate"), name)(
            N_PICKED, categorical_features=[], label_type=kind, **options
        )
        return method.fit(X.copy(), y).top_features_[:N_PICKED]

    return select


def by_hsic_lasso(X, y):
    """Return the picks of pyHSICLasso, of blocks of 20 rows."""
    method = import_module("pyHSICLasso").HSICLasso()
    method.input(X, y.astype(float))
    fit = method.regression if is_regression(y) else method.classification
    with contextlib.redirect_stdout(None):
        fit(N_PICKED, B=20, M=3, n_jobs=1)
    return method.A


def by_cur(X, y):
    return (
        import_module("skmatter.feature_selection")
        .CUR(n_to_select=N_PICKED)
        .fit(X)
        .selected_idx_
    )


def by_farthest_points(X, y):
    """Return the picks of scikit-matter, which would draw the first column."""
    farthest_from_mean = int(
        np.argmax(((X - X.mean(axis=1, keepdims=True)) ** 2).sum(axis=0))
    )
    search = import_module("skmatter.feature_selection").FPS(
        n_to_select=N_PICKED, initialize=farthest_from_mean
    )
    return search.fit(X).selected_idx_


BOTH, CLASSES = ("classes", "numbers"), ("classes",)


class Case(NamedTuple):
    """Our selection, the package and its selection (None for none), and the kinds of target."""

    select: object
    package: str
    package_select: object
    targets: tuple = BOTH


CASES = {
    "mRMR": Case(ours(MRMRSelector(N_PICKED)), "mrmr-selection", by_mrmr),
    "mutual information": Case(
        ours(MutualInformationSelector(N_PICKED, random_state=0)),
        "scikit-learn",
        by_information,
    ),
    "CMIM": Case(of_codes("cmim"), "skfeature-chappers", by_cmim, CLASSES),
    "MIFS": Case(of_codes("mifs"), "skfeature-chappers", by_mifs, CLASSES),
    "JMI": Case(ours(JMISelector(N_PICKED)), "", None),
    "F test": Case(ours(FTestSelector(N_PICKED)), "scikit-learn", by_f_test),
    "rank test": Case(ours(RankTestSelector(N_PICKED)), "scipy", by_rank_test),
    "shrunken centroids": Case(
        ours(ShrunkenCentroidsSelector(N_PICKED)), "scikit-learn", by_centroids, CLASSES
    ),
    "SVM-RFE": Case(our_elimination, "scikit-learn", by_elimination),
    "Laplacian score": Case(our_laplacian, "skfeature-chappers", by_laplacian, CLASSES),
    "alpha-investing": Case(
        ours(AlphaInvestingSelector(N_PICKED)), "skfeature-chappers", by_alpha_investing
    ),
    "Boruta": Case(
        ours(
            BorutaSelector(
                N_PICKED, n_estimators=N_TREES, max_iter=N_ROUNDS, random_state=0
            )
        ),
        "boruta",
        by_boruta,
    ),
    "forest RFE": Case(
        ours(ForestRFESelector(N_PICKED, n_estimators=N_TREES, random_state=0)),
        "scikit-learn",
        by_forest_rfe,
    ),
    "permutation importance": Case(
        ours(
            PermutationImportanceSelector(
                N_PICKED, n_estimators=N_TREES, random_state=0
            )
        ),
        "scikit-learn",
        by_permutation,
    ),
    "forward selection": Case(
        ours(ForwardSelector(N_PICKED)), "scikit-learn", by_steps
    ),
    "stability selection": Case(
        ours(StabilitySelector(N_PICKED, random_state=0)), "scikit-learn", by_halves
    ),
    "knockoffs": Case(
        ours(KnockoffSelector(N_PICKED, random_state=0)), "knockpy", by_knockoffs
    ),
    "ReliefF": Case(
        ours(ReliefFSelector(N_PICKED)), "skrebate", skrebate("ReliefF", n_neighbors=10)
    ),
    "MultiSURF": Case(
        ours(MultiSURFSelector(N_PICKED)), "skrebate", skrebate("MultiSURF")
    ),
    "SURF": Case(
        ours(MultiSURFSelector(N_PICKED, form="surf")), "skrebate", skrebate("SURF")
    ),
    "SURF*": Case(
        ours(MultiSURFSelector(N_PICKED, form="surf_star")),
        "skrebate",
        skrebate("SURFstar"),
    ),
    "HSIC lasso": Case(
        ours(HSICLassoSelector(N_PICKED, random_state=0)), "pyHSICLasso", by_hsic_lasso
    ),
    "CUR": Case(ours(CURSelector(N_PICKED)), "skmatter", by_cur, CLASSES),
    "farthest columns": Case(
        ours(FarthestPointSelector(N_PICKED)), "skmatter", by_farthest_points, CLASSES
    ),
}
"""In the order of the tables."""

LEFT_OUT = {
    "SVM-RFE": ["2000x500 classes"],
    "Boruta": ["100x20000 numbers"],
    "forest RFE": ["100x20000 numbers"],
    "permutation importance": ["100x20000 numbers"],
    "knockoffs": ["100x20000"],
}
"""Cases that take minutes here too: SVMs of rows that overlap, trees of numbers that try a third of 20,000 columns.
Knockoffs of more than 2,000 columns are refused.
"""
TOO_LONG = {
    "SURF": ["100x20000", "2000x500", "200x2000 numbers"],
    "SURF*": ["100x20000", "2000x500", "200x2000 numbers"],
    "CMIM": ["100x20000", "2000x500"],
    "MIFS": ["100x20000", "2000x500"],
    "CUR": ["100x20000"],
    "forward selection": ["100x20000", "2000x500", "200x2000"],
    "permutation importance": ["100x20000", "200x2000", "2000x500 numbers"],
}
"""Cases whose packages take minutes."""
