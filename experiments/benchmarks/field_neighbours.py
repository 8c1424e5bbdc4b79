"""Relief, HSIC lasso, CUR and farthest columns beside the packages that people use, in one run.

python experiments/benchmarks/field_neighbours.py [NAME ...] [--shapes 200x2000 2000x500 100x20000] [--targets classes]

Process CPU seconds, one BLAS thread: the median of three runs of ours, and of theirs where it takes below 5 seconds.
"same" is how many of the 20 columns are theirs. skrebate has no RReliefF: its ReliefF of numbers is another method.
pip install skrebate pyHSICLasso skmatter; what is not installed is left out, and named.
"""

import argparse
import contextlib
import os
import statistics
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from provsel.selectors import (
    CURSelector,
    FarthestPointSelector,
    HSICLassoSelector,
    MultiSURFSelector,
    ReliefFSelector,
)

SHAPES = ("200x2000", "2000x500", "100x20000")
TARGETS = ("classes", "numbers")
N_KEPT, LONG = 20, 5.0


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


def rows(n, d, target):
    """Return rows of which five columns matter, and classes or numbers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    signal = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    return X, signal if target == "numbers" else (signal > 0).astype(int)


def cpu_seconds(function, *arguments):
    """Return the median CPU seconds of three runs, or of one that is long, and the result."""
    taken = []
    while len(taken) < 3 and not (taken and taken[0] > LONG):
        start = time.process_time()
        result = function(*arguments)
        taken.append(time.process_time() - start)
    return statistics.median(taken), result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *CASES], help="methods; default: all")
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'method':18s}{'shape':>12s}{'target':>9s}{'ours (s)':>10s}{'theirs':>9s}{'factor':>8s}{'same':>6s}")
    with threadpool_limits(1):
        for shape in options.shapes:
            for target in options.targets:
                X, y = rows(*map(int, shape.split("x")), target)
                for name in options.names or CASES:
                    ours, theirs = CASES[name]
                    if target == "numbers" and not ours.needs_labels:
                        continue
                    own_seconds, fitted = cpu_seconds(ours.fit, X, y)
                    try:
                        seconds, picks = cpu_seconds(theirs, X, y)
                    except ImportError as error:
                        print(f"{name:18s}{shape:>12s}{target:>9s}{own_seconds:10.3f}  {error}")
                        continue
                    same = len(set(fitted.indices_) & {int(pick) for pick in picks})
                    print(
                        f"{name:18s}{shape:>12s}{target:>9s}{own_seconds:10.3f}{seconds:9.2f}"
                        f"{seconds / own_seconds:8.1f}{same:6d}",
                        flush=True,
                    )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
