"""Cases of selectors that ask forests, halves of the rows or knockoffs, against the packages of the field.

`CASES` has what a name runs on X and y, here and in its package; `experiments/benchmarks/field.py` measures them.
"""

from __future__ import annotations

import numpy as np

from provsel.selectors import (
    BorutaSelector,
    ForestRFESelector,
    ForwardSelector,
    KnockoffSelector,
    PermutationImportanceSelector,
    StabilitySelector,
)

N_SELECTED, N_TREES, N_ROUNDS = 20, 100, 19


def is_regression(y):
    return y.dtype.kind == "f"


def their_forest(y, **options):
    """Return the forest that the selectors ask."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if is_regression(y):
        return RandomForestRegressor(N_TREES, max_features=1 / 3, random_state=0, **options)
    return RandomForestClassifier(N_TREES, random_state=0, **options)


def our_boruta(X, y):
    return BorutaSelector(N_SELECTED, n_estimators=N_TREES, max_iter=N_ROUNDS, random_state=0).fit(X, y).indices_


def their_boruta(X, y):
    from boruta import BorutaPy

    forest = their_forest(y, max_depth=5)
    fitted = BorutaPy(forest, n_estimators=N_TREES, max_iter=N_ROUNDS + 1, random_state=0).fit(X, y)
    return np.argsort(fitted.ranking_, kind="stable")[:N_SELECTED]


def our_forest_rfe(X, y):
    return ForestRFESelector(N_SELECTED, n_estimators=N_TREES, random_state=0).fit(X, y).indices_


def their_forest_rfe(X, y):
    """Drop the half each round, which a `step` of scikit-learn's RFE cannot say."""
    from sklearn.feature_selection import RFE

    kept = np.arange(X.shape[1])
    while kept.size > N_SELECTED:
        half = max(N_SELECTED, kept.size // 2)
        kept = kept[RFE(their_forest(y), n_features_to_select=half, step=kept.size).fit(X[:, kept], y).support_]
    return kept


def our_permutation(X, y):
    return PermutationImportanceSelector(N_SELECTED, n_estimators=N_TREES, random_state=0).fit(X, y).indices_


def their_permutation(X, y):
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    stratify = None if is_regression(y) else y
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=stratify, random_state=0)
    forest = their_forest(y).fit(X[train], y[train])
    importances = permutation_importance(forest, X[test], y[test], n_repeats=5, random_state=0).importances_mean
    return np.argsort(-importances, kind="stable")[:N_SELECTED]


def our_forward(X, y):
    return ForwardSelector(N_SELECTED).fit(X, y).indices_


def their_forward(X, y):
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import StandardScaler

    search = SequentialFeatureSelector(Ridge(), n_features_to_select=N_SELECTED, cv=5, scoring="neg_mean_squared_error")
    return search.fit(StandardScaler().fit_transform(X), y).get_support(indices=True)


def our_stability(X, y):
    return StabilitySelector(N_SELECTED, random_state=0).fit(X, y).indices_


def their_stability(X, y):
    """Run scikit-learn's least angle regression on the same number of halves: no package of the field is kept up."""
    from sklearn.linear_model import lars_path
    from sklearn.preprocessing import scale

    drawn = np.random.default_rng(0)
    n, d = X.shape
    counts = np.zeros(d)
    for _ in range(50):
        order = drawn.permutation(n)
        for half in (order[: n // 2], order[n // 2 :]):
            target = y[half] - y[half].mean()
            counts[lars_path(scale(X[half]), target, method="lar", max_iter=int(np.sqrt(0.8 * d)))[1]] += 1
    return np.argsort(-counts, kind="stable")[:N_SELECTED]


def our_knockoffs(X, y):
    return KnockoffSelector(N_SELECTED, random_state=0).fit(X, y).indices_


def their_knockoffs(X, y):
    from knockpy.knockoff_filter import KnockoffFilter

    search = KnockoffFilter(ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "equicorrelated"})
    search.forward(X=X, y=y.astype(float), shrinkage="ledoitwolf", fdr=0.1)
    return np.argsort(-search.W, kind="stable")[:N_SELECTED]


CASES = {
    "Boruta": (our_boruta, their_boruta),
    "forest RFE": (our_forest_rfe, their_forest_rfe),
    "permutation importance": (our_permutation, their_permutation),
    "forward selection": (our_forward, their_forward),
    "stability selection": (our_stability, their_stability),
    "knockoffs": (our_knockoffs, their_knockoffs),
}
"""What runs here, and in a package, by name: functions of X and y that return features, the best first."""
