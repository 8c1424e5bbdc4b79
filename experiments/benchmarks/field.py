"""Methods of the field beside the packages that people use, in one run: CPU seconds, picks in common, memory.

python experiments/benchmarks/field.py [--quick] [--sizes 200x2000 ...] [--methods mRMR ...] [--csv FILE]
python experiments/benchmarks/field.py --growth [--methods mRMR ...] [--csv FILE]
python experiments/benchmarks/field.py --memory [--methods mRMR ...] [--csv FILE]

Each case is 20 features of random rows whose columns repeat each other in groups; classes are two, numbers are a sum
of three groups. One BLAS thread. Seconds are CPU seconds of the process: the median of three, or one run of what takes
more than a second. Picks: how many of the package's 20 are among ours. MB: the largest that ours allocates beside X,
by tracemalloc, in a run before. A case replaces its row in the CSV file, so that a table can be made piece by piece.

`--growth` measures ours alone: exponents of the CPU seconds in n, of 500 to 4,000 rows of 200 columns, and in d, of
1,000 to 8,000 columns of 100 rows, classes, fitted to the three largest.

`--memory` measures the largest resident set of a process of its own, with interpreter and X, of ours on 20,000 x 500
and 200 x 100,000, classes. A fit is stopped after `LONGEST` CPU seconds; the peak is that of the part before.

Packages that are no dependency of provsel are compared where they can be imported: pip install mrmr-selection
skfeature-chappers skrebate pyHSICLasso boruta knockpy skmatter. Packages that take minutes are left out: see
`TOO_LONG`.

Goals: mRMR, ReliefF and MultiSURF 50 times as fast where columns exceed rows, 25 times on 2,000 x 500; mutual
information 30 and 13 times.
"""

import argparse
import csv
import multiprocessing
import resource
import signal
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
from timing.exponents import exponent_text, fit_exponent

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
    "bench": ["--sizes", "200x2000", "--methods", "mRMR", "mutual information", "F test", "rank test", "ReliefF"],
    "quick": ["--quick", "--methods", "mRMR", "mutual information", "F test", "rank test", "ReliefF", "MultiSURF"],
    "left_out": "2,000 x 500 and 100 x 20,000, and methods whose packages take minutes",
    "seconds": 300,
}
SIZES = ("200x2000", "2000x500", "100x20000")
N_PICKED = 20
FIELDS = ["method", "package", "rows x columns", "target", "ours s", "theirs s", "times", "picks", "MB"]
GOALS = {"mRMR": (50, 25), "ReliefF": (50, 25), "MultiSURF": (50, 25), "mutual information": (30, 13)}
"""How many times as fast ours should be, where columns exceed rows and else."""
FORESTS = ("Boruta", "forest RFE", "permutation importance")
LEFT_OUT = {
    "knockoffs": {("100x20000", "classes"), ("100x20000", "numbers")},
    "SVM-RFE": {("2000x500", "classes")},
}
"""Cases that take minutes here too: SVMs of rows that overlap, trees of numbers that try a third of 20,000 columns.
Knockoffs of more than 2,000 columns are refused.
"""
LEFT_OUT |= {method: {("100x20000", "numbers")} for method in FORESTS}
TALL = {("2000x500", "classes"), ("2000x500", "numbers")}
WIDE = {("100x20000", "classes"), ("100x20000", "numbers")}
TOO_LONG = {
    "SURF": WIDE | TALL | {("200x2000", "numbers")}, "SURF*": WIDE | TALL | {("200x2000", "numbers")},
    "CMIM": WIDE | TALL, "MIFS": WIDE | TALL, "CUR": WIDE,
    "forward selection": WIDE | TALL | {("200x2000", "classes"), ("200x2000", "numbers")},
    "permutation importance": WIDE | {("200x2000", "classes"), ("200x2000", "numbers"), ("2000x500", "numbers")},
}  # fmt: skip
"""Cases whose packages take minutes."""
ROWS, COLUMNS = (500, 1000, 2000, 4000), (1000, 2000, 4000, 8000)
MEMORY_SIZES, LONGEST = ("20000x500", "200x100000"), 20
MEMORY_FIELDS = ["method", "rows x columns", "peak MB", "before MB", "s"]
KNOCKOFF_SIZES = ["200x250", "200x500", "200x1000", "200x2000"]
GROWTH_FIELDS = ["method", "exponent of n", "exponent of d", "s of 4,000 x 200", "s of 100 x 8,000"]


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


def by_mifs(X, y):
    """Return the picks of scikit-feature, whose functions MIFS and JMI return places instead, and no JMI."""
    likelihood = import_module("skfeature.function.information_theoretical_based.LCSI").lcsi
    return likelihood(codes_of(X), y, mode="index", beta=0.5, gamma=0.0, n_selected_features=N_PICKED)


def of_codes(criterion, X, y):
    selector = JMISelector(N_PICKED, criterion=criterion, beta=0.5, discrete_features=True)
    return selector.fit(codes_of(X), y).indices_


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


def kernel_width(X):
    """Return a width of the size of distances, for ours and the package's."""
    return float(X.shape[1] ** 0.5 * X[0].std())


def of_laplacian(X, y):
    return LaplacianScoreSelector(N_PICKED, kernel_width=kernel_width(X)).fit(X).indices_


def by_laplacian(X, y):
    """Return the picks of scikit-feature, of its graph without loops."""
    affinity = import_module("skfeature.utility.construct_W").construct_W
    order = import_module("skfeature.function.similarity_based.lap_score").lap_score
    W = affinity(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=kernel_width(X))
    W.setdiag(0.0)
    return order(X, mode="index", W=W)[:N_PICKED]


def by_alpha_investing(X, y):
    investing = import_module("skfeature.function.streaming.alpha_investing").alpha_investing
    return investing(X, y, 0.5, 0.5)[:N_PICKED]


BOTH, CLASSES = ("classes", "numbers"), ("classes",)
CASES = {  # our selection and the package's, both functions of X and y; the package; and the kinds of target
    "mRMR": (ours(partial(MRMRSelector, N_PICKED)), by_mrmr, "mrmr-selection", BOTH),
    "mutual information": (
        ours(partial(MutualInformationSelector, N_PICKED, random_state=0)), by_information, "scikit-learn", BOTH,
    ),
    "CMIM": (partial(of_codes, "cmim"), by_cmim, "skfeature-chappers", CLASSES),
    "MIFS": (partial(of_codes, "mifs"), by_mifs, "skfeature-chappers", CLASSES),
    "JMI": (ours(partial(JMISelector, N_PICKED)), None, "", BOTH),
    "F test": (ours(partial(FTestSelector, N_PICKED)), by_f_test, "scikit-learn", BOTH),
    "rank test": (ours(partial(RankTestSelector, N_PICKED)), by_rank_test, "scipy", BOTH),
    "shrunken centroids": (ours(partial(ShrunkenCentroidsSelector, N_PICKED)), by_centroids, "scikit-learn", CLASSES),
    "SVM-RFE": (
        lambda X, y: SVMRFESelector(N_PICKED, step=n_dropped(X)).fit(X, y).indices_,
        by_elimination, "scikit-learn", BOTH,
    ),
    "Laplacian score": (of_laplacian, by_laplacian, "skfeature-chappers", CLASSES),
    "alpha-investing": (
        ours(partial(AlphaInvestingSelector, N_PICKED)), by_alpha_investing, "skfeature-chappers", BOTH,
    ),
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


def traced(function):
    """Return the result of a call, and the largest sum of what it allocates, in MB."""
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def rounded(factor):
    """Return three digits of a factor, without an exponent."""
    return f"{float(f'{factor:.3g}'):g}"


def measured(method, size, target, X, y):
    """Return the row of the table, and the record, of one case."""
    select, package_select, package, _ = CASES[method]
    run = partial(select, X, y)
    picked, megabytes = traced(run)
    seconds = several(run)
    row = {"method": method, "rows x columns": size, "target": target, "ours s": f"{statistics.median(seconds):.3g}"}
    row["MB"] = f"{megabytes:.0f}"
    peer = None
    if package_select is not None and (size, target) not in TOO_LONG.get(method, ()):
        try:
            first, theirs = cpu_seconds(partial(package_select, X, y))
        except ImportError as missing:
            print(f"{method}: {missing.name} is not installed, and {package} left out")
        else:
            peer = package, [first, *(several(partial(package_select, X, y), 2) if first < 1 else [])]
            row |= {"package": package, "theirs s": f"{statistics.median(peer[1]):.3g}"}
            row["times"] = rounded(statistics.median(peer[1]) / statistics.median(seconds))
            row["picks"] = f"{np.intersect1d(picked, theirs).size} of {len(theirs)}"
    goal = ""
    if method in GOALS:
        n_samples, n_features = X.shape
        goal = f"ratio >= {GOALS[method][0 if n_features > n_samples else 1]}"
    return row, case(f"{method}, {target}, {size}", seconds, peer=peer, goal=goal if peer else "")


def table_of(sizes, methods, path):
    """Return the rows of the table and the records of the cases; rows of other cases in the file are kept."""
    rows, cases = stored(path, FIELDS[:1] + FIELDS[2:4]), []
    for size in sizes:
        X, classes, numbers = rows_of(size)
        for method in methods:
            for target in CASES[method][3]:
                if (size, target) not in LEFT_OUT.get(method, ()):
                    row, record = measured(method, size, target, X, classes if target == "classes" else numbers)
                    print(row, flush=True)
                    rows[method, size, target] = row
                    cases.append(record)
    place = {method: number for number, method in enumerate(CASES)}
    return sorted(rows.values(), key=lambda row: (place[row["method"]], row["rows x columns"], row["target"])), cases


def growth_of(methods, path):
    """Return the rows of the table of exponents, and the records of the cases."""
    rows, cases = stored(path, ["method"]), []
    sizes = [[f"{n}x200" for n in ROWS], [f"100x{d}" for d in COLUMNS]]
    for method in methods:
        sizes_of_method = [sizes[0], KNOCKOFF_SIZES] if method == "knockoffs" else sizes
        row = {"method": method}
        for names, label in zip(sizes_of_method, ("n", "d"), strict=True):
            seconds = []
            for size in names:
                X, classes, _ = rows_of(size)
                seconds.append(statistics.median(several(partial(CASES[method][0], X, classes))))
                cases.append(case(f"growth of {method}, {size}", seconds[-1]))
            along = ROWS if label == "n" else [int(size.split("x")[1]) for size in names]
            row[f"exponent of {label}"] = exponent_text(fit_exponent(along, seconds))
            row[GROWTH_FIELDS[3 if label == "n" else 4]] = f"{seconds[-1]:.3g}"
        print(row, flush=True)
        rows[(method,)] = row
    return [rows[(method,)] for method in CASES if (method,) in rows], cases


def memory_of(methods, path):
    """Return the rows of the table of memory, and the records of the cases."""
    rows, cases = stored(path, MEMORY_FIELDS[:2]), []
    for size in MEMORY_SIZES:
        X, classes, _ = rows_of(size)
        for method in methods:
            if method == "knockoffs" and size != "20000x500":
                continue  # which refuses more than 2,000 columns
            receiver, sender = multiprocessing.Pipe(duplex=False)
            target = partial(send_peak, sender, partial(CASES[method][0], X, classes))
            child = multiprocessing.get_context("fork").Process(target=target)
            child.start()
            before, peak, seconds = receiver.recv()
            child.join()
            row = {"method": method, "rows x columns": size, "peak MB": f"{peak:.0f}", "before MB": f"{before:.0f}"}
            row["s"] = seconds
            print(row, flush=True)
            rows[method, size] = row
            cases.append(case(f"memory of {method}, {size}", peak, unit="MB"))
    place = {method: number for number, method in enumerate(CASES)}
    return sorted(rows.values(), key=lambda row: (place[row["method"]], row["rows x columns"])), cases


def send_peak(sender, run):
    """Send the peak of this process before and after a fit, in MB, and the fit's CPU seconds as a text."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        seconds = f"{cpu_seconds(run)[0]:.2g}"
    except TimeoutError:
        seconds = f"stopped after {LONGEST}"
    except ValueError as error:
        seconds = f"refused: {error}"
    signal.setitimer(signal.ITIMER_PROF, 0)
    sender.send((before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, seconds))


def stop(signal_number, frame):
    raise TimeoutError


def stored(path, key):
    """Return the rows of a CSV file, by the fields of a key; none without a file."""
    if path is None or not path.exists():
        return {}
    with path.open(newline="") as file:
        return {tuple(row[field] for field in key): row for row in csv.DictReader(file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="60 x 200 only")
    parser.add_argument("--growth", action="store_true", help="exponents of ours in n and d, and no package")
    parser.add_argument("--memory", action="store_true", help="largest resident sets of ours, and no package")
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--methods", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--csv", type=Path, help="write the table there too")
    options = parser.parse_args()
    fields = FIELDS
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        if options.growth:
            fields = GROWTH_FIELDS
            rows, cases = growth_of(options.methods, options.csv)
        elif options.memory:
            fields = MEMORY_FIELDS
            rows, cases = memory_of(options.methods, options.csv)
        else:
            rows, cases = table_of(["60x200"] if options.quick else options.sizes, options.methods, options.csv)
    report("field", rules_table(fields, rows, options.csv), cases, rows=rows)


if __name__ == "__main__":
    main()
