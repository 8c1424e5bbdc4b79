"""Methods of the field beside the packages that people use, in one run: CPU seconds, picks in common, memory.

python experiments/benchmarks/field.py [--quick] [--sizes 200x2000 ...] [--methods mRMR ...] [--csv FILE]

Each case is 20 features of random rows whose columns repeat each other in groups; classes are two, numbers are a sum
of three groups. One BLAS thread. Seconds are CPU seconds of the process: the median of three of ours, and one run of
the package, or three below a second. Picks: how many of the package's 20 are among ours. MB: the largest that ours
allocates beside X, by tracemalloc, in a run of its own.

Packages that are no dependency of provsel are compared where they can be imported: pip install mrmr-selection
skfeature-chappers. A package that takes minutes is left out: see `TOO_LONG`. The Laplacian score and alpha-investing
have their peers in filters.py.

Goals: mRMR 50 times as fast where columns exceed rows, 25 times on 2,000 x 500; mutual information 30 and 13 times.
"""

import argparse
import statistics
import tracemalloc
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from field_cases import forests, neighbours
from sklearn.base import clone
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report, rules_table, several

from provsel.selectors import (
    AlphaInvestingSelector,
    FTestSelector,
    JMISelector,
    LaplacianScoreSelector,
    MRMRSelector,
    MutualInformationSelector,
    RankTestSelector,
    ShrunkenCentroidsSelector,
    SVMRFESelector,
)

BENCH = {
    "bench": ["--sizes", "200x2000", "--methods", "mRMR", "mutual information", "F test", "rank test"],
    "quick": ["--quick"],
    "left_out": "2,000 x 500 and 100 x 20,000, JMI and elimination: minutes of the packages",
    "seconds": 300,
}
SIZES = ("200x2000", "2000x500", "100x20000")
N_PICKED = 20
FIELDS = ["method", "package", "rows x columns", "target", "ours s", "theirs s", "times", "picks", "MB"]
GOALS = {"mRMR": (50, 25), "mutual information": (30, 13)}
"""How many times as fast ours should be, where columns exceed rows and else."""
TOO_LONG = {("CMIM", "2000x500"), ("CMIM", "100x20000"), ("elimination", "100x20000")}


def rows_of(size):
    """Return X, two classes and numbers."""
    n_samples, n_features = map(int, size.split("x"))
    rng = np.random.default_rng([n_samples, n_features])
    hidden = rng.standard_normal((n_samples, 50))
    X = hidden[:, np.arange(n_features) % 50] + 1.5 * rng.standard_normal((n_samples, n_features))
    numbers = hidden[:, :3].sum(axis=1) + rng.standard_normal(n_samples)
    return X, (numbers > np.median(numbers)).astype(int), numbers


def is_regression(y):
    return y.dtype.kind == "f"


def ours(make):
    """Return a selection by a class of provsel."""
    return lambda X, y: make().fit(X, y).indices_


def best(scores):
    return np.argsort(-scores, kind="stable")[:N_PICKED]


def by_mrmr(X, y):
    """Return the picks of mrmr-selection."""
    import pandas as pd

    mrmr = import_module("mrmr")
    select = mrmr.mrmr_regression if is_regression(y) else mrmr.mrmr_classif
    return select(pd.DataFrame(X), pd.Series(y), K=N_PICKED, n_jobs=1, show_progress=False)


def by_information(X, y):
    estimate = mutual_info_regression if is_regression(y) else mutual_info_classif
    return best(estimate(X, y, random_state=0))


def by_cmim(X, y):
    """Return the picks of scikit-feature, which takes codes."""
    cmim = import_module("skfeature.function.information_theoretical_based.CMIM").cmim
    return cmim(codes_of(X), y, mode="index", n_selected_features=N_PICKED)


def codes_of(X):
    return np.digitize((X - X.mean(axis=0)) / X.std(axis=0), [-0.5, 0.5])


def by_f_test(X, y):
    return SelectKBest(f_regression if is_regression(y) else f_classif, k=N_PICKED).fit(X, y).get_support(indices=True)


def by_rank_test(X, y):
    """Return what SciPy's tests of each column choose."""
    from scipy.stats import kruskal, spearmanr

    if is_regression(y):
        return best(np.array([abs(spearmanr(column, y).statistic) for column in X.T]))
    return best(np.array([kruskal(column[y == 0], column[y == 1]).statistic for column in X.T]))


def by_centroids(X, y):
    return best(np.abs(NearestCentroid(shrink_threshold=1e-12).fit(X, y).deviations_).max(axis=0))


def by_elimination(X, y):
    model = Ridge(alpha=0.5) if is_regression(y) else SVC(kernel="linear")
    return RFE(model, n_features_to_select=N_PICKED, step=n_dropped(X)).fit(X, y).get_support(indices=True)


def n_dropped(X):
    """Return a tenth of the columns: a fraction is one of the columns that remain in provsel, else one of all."""
    return X.shape[1] // 10


BOTH, CLASSES = ("classes", "numbers"), ("classes",)
CASES = {  # our selection and the package's, both functions of X and y; the package; and the kinds of target
    "mRMR": (ours(partial(MRMRSelector, N_PICKED)), by_mrmr, "mrmr-selection", BOTH),
    "mutual information": (
        ours(partial(MutualInformationSelector, N_PICKED, random_state=0)), by_information, "scikit-learn", BOTH,
    ),
    "CMIM": (
        lambda X, y: JMISelector(N_PICKED, criterion="cmim", discrete_features=True).fit(codes_of(X), y).indices_,
        by_cmim, "skfeature-chappers", CLASSES,
    ),
    "JMI": (ours(partial(JMISelector, N_PICKED)), None, "", BOTH),
    "F test": (ours(partial(FTestSelector, N_PICKED)), by_f_test, "scikit-learn", BOTH),
    "rank test": (ours(partial(RankTestSelector, N_PICKED)), by_rank_test, "scipy", BOTH),
    "shrunken centroids": (ours(partial(ShrunkenCentroidsSelector, N_PICKED)), by_centroids, "scikit-learn", CLASSES),
    "elimination": (
        lambda X, y: SVMRFESelector(N_PICKED, step=n_dropped(X)).fit(X, y).indices_,
        by_elimination, "scikit-learn", BOTH,
    ),
    "Laplacian score": (ours(partial(LaplacianScoreSelector, N_PICKED)), None, "", CLASSES),
    "alpha-investing": (ours(partial(AlphaInvestingSelector, N_PICKED)), None, "", BOTH),
}  # fmt: skip
PACKAGES = {
    "Boruta": "boruta", "forest RFE": "scikit-learn", "permutation importance": "scikit-learn",
    "forward selection": "scikit-learn", "stability selection": "scikit-learn", "knockoffs": "knockpy",
    "ReliefF": "skrebate", "MultiSURF": "skrebate", "SURF": "skrebate", "SURF*": "skrebate",
    "HSIC lasso": "pyHSICLasso", "CUR": "skmatter", "farthest columns": "skmatter",
}  # fmt: skip
for name, (select, package_select) in forests.CASES.items():
    CASES[name] = (select, package_select, PACKAGES[name], BOTH)
for name, (selector, package_select) in neighbours.CASES.items():
    CASES[name] = (
        ours(partial(clone, selector)),
        package_select,
        PACKAGES[name],
        BOTH if selector.needs_labels else CLASSES,
    )


def megabytes(function):
    """Return the largest sum of what a call allocates."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def measured(method, size, target, X, y):
    """Return the row of the table, and the record, of one case."""
    select, package_select, package, _ = CASES[method]
    run = partial(select, X, y)
    picked = run()
    seconds = several(run)
    row = {"method": method, "rows x columns": size, "target": target, "ours s": f"{statistics.median(seconds):.3g}"}
    row["MB"] = f"{megabytes(run):.0f}"
    peer = None
    if package_select is not None and (method, size) not in TOO_LONG:
        try:
            taken, theirs = cpu_seconds(partial(package_select, X, y))
        except ImportError as missing:
            print(f"{method}: {missing.name} is not installed, and {package} left out")
        else:
            peer = package, [taken, *(several(partial(package_select, X, y), 2) if taken < 1 else [])]
            row |= {"package": package, "theirs s": f"{statistics.median(peer[1]):.3g}"}
            row["times"] = f"{statistics.median(peer[1]) / statistics.median(seconds):.3g}"
            row["picks"] = f"{np.intersect1d(picked, theirs).size} of {N_PICKED}"
    goal = ""
    if method in GOALS:
        n_samples, n_features = X.shape
        goal = f"ratio >= {GOALS[method][0 if n_features > n_samples else 1]}"
    return row, case(f"{method}, {target}, {size}", seconds, peer=peer, goal=goal if peer else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="60 x 200 only")
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--methods", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--csv", type=Path, help="write the table there too")
    options = parser.parse_args()
    rows, cases = [], []
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        for size in ["60x200"] if options.quick else options.sizes:
            X, classes, numbers = rows_of(size)
            for method in options.methods:
                for target in CASES[method][3]:
                    row, record = measured(method, size, target, X, classes if target == "classes" else numbers)
                    print(row, flush=True)
                    rows.append(row)
                    cases.append(record)
    report("field", rules_table(FIELDS, rows, options.csv), cases, rows=rows)


if __name__ == "__main__":
    main()
