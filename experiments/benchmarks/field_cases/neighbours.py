"""Relief, HSIC lasso, CUR and farthest columns beside the packages that people use; `field.py` measures them.

skrebate has no RReliefF: its ReliefF of numbers is another method.
"""

import contextlib

import numpy as np

from provsel.selectors import (
    CURSelector,
    FarthestPointSelector,
    HSICLassoSelector,
    MultiSURFSelector,
    ReliefFSelector,
)

N_KEPT = 20


def skrebate(name, **options):
    """Return a function that orders columns by a class of skrebate."""

    def order(X, y):
        import skrebate

        kind = "continuous" if y.dtype.kind == "f" else "binary"
        method = getattr(skrebate, name)(N_KEPT, categorical_features=[], label_type=kind, **options)
        return method.fit(X.copy(), y).top_features_[:N_KEPT]

    return order


def pyhsiclasso(X, y):
    """Return pyHSICLasso's columns, of blocks of 20 rows."""
    from pyHSICLasso import HSICLasso

    method = HSICLasso()
    method.input(X, y.astype(float))
    fit = method.regression if y.dtype.kind == "f" else method.classification
    with contextlib.redirect_stdout(None):
        fit(N_KEPT, B=20, M=3, n_jobs=1)
    return method.A


def skmatter(name, options):
    """Return a function that picks columns by a class of scikit-matter; `options` is a function of X."""

    def order(X, y):
        from skmatter import feature_selection

        return getattr(feature_selection, name)(n_to_select=N_KEPT, **options(X)).fit(X).selected_idx_

    return order


def farthest_from_mean(X):
    """Return scikit-matter's option for our first column."""
    return {"initialize": int(np.argmax(((X - X.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)))}


CASES = {  # name: ours, theirs
    "ReliefF": (ReliefFSelector(N_KEPT), skrebate("ReliefF", n_neighbors=10)),
    "MultiSURF": (MultiSURFSelector(N_KEPT), skrebate("MultiSURF")),
    "SURF": (MultiSURFSelector(N_KEPT, form="surf"), skrebate("SURF")),
    "SURF*": (MultiSURFSelector(N_KEPT, form="surf_star"), skrebate("SURFstar")),
    "HSIC lasso": (HSICLassoSelector(N_KEPT, random_state=0), pyhsiclasso),
    "CUR": (CURSelector(N_KEPT), skmatter("CUR", lambda X: {})),
    "farthest columns": (FarthestPointSelector(N_KEPT), skmatter("FPS", farthest_from_mean)),
}
