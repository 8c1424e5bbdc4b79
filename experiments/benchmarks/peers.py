"""Selectors of other packages beside ours, in one run: test error, how well the columns stand for X, and CPU seconds.

python experiments/benchmarks/peers.py [--data NAME ...] [--no-steps] [--features 20] >
docs/measured/peers.md

scikit-learn's SelectKBest (F-test, mutual information), SelectFromModel (L2-SVM), RFE
and SequentialFeatureSelector; scikit-matter's CUR and farthest point sampling;
fastcan's FastCan; mrmr; the largest coefficients of skglm's L1 logistic regression.
Those that are no dependency of provsel are compared where they can be imported: pip
install skmatter fastcan mrmr_selection skglm. scikit-learn's search by steps is left
out above 100 features, where it takes hours, mrmr above 3,000, and skglm's model of two
classes where there are more. abess and knockpy are not compared: the one's licence is
the GPL, the other has no wheel.

Error: percent of scikit-learn's LinearSVC over the same five folds for all, columns
chosen on the training rows. Ratio:
||X - C C^+ X||_F^2 over that of the best rank 10, all rows. Seconds: median of the folds' selections, one BLAS thread.
Those that use labels are marked: a smaller error than that of the others is no merit of
theirs alone.
"""

import argparse
import statistics
import sys
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
from inputs import cpu_seconds
from scipy.linalg import qr, svdvals
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    mutual_info_classif,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from provlab.data import MissingDataError, dataset_members, load_dataset
from provsel.selectors import (
    AlphaInvestingSelector,
    BSSSelector,
    LaplacianScoreSelector,
    LeverageScoreSelector,
    RRQRSelector,
    SingleSVDSelector,
    SVMRFESelector,
    UniformSelector,
)

DATA = ("digits", "synthetic", "colon", "orl", "arcene", "text")
RANK = 10


def fitted(make):
    """Return a selection with an estimator of scikit-learn's kind."""
    return lambda X, y, r: np.flatnonzero(make(r).fit(X, y).get_support())


def picked(module, name):
    """Return a selection with a class of skmatter, which says what it picked."""
    return lambda X, y, r: (
        getattr(import_module(module), name)(n_to_select=r).fit(X).selected_idx_
    )


def by_fastcan(X, y, r):
    return fitted(lambda r: import_module("fastcan").FastCan(r, verbose=0))(X, y, r)


def by_mrmr(X, y, r):
    """Return a selection with mrmr, which takes frames and gives names."""
    frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])])
    names = import_module("mrmr").mrmr_classif(
        frame, pd.Series(y), K=r, n_jobs=1, show_progress=False
    )
    return np.array(names, dtype=int)


def by_skglm(X, y, r):
    """Return a selection with skglm at a hundredth of the penalty that leaves no feature; it needs two classes."""
    signs = np.where(y == y[0], 1.0, -1.0)
    alpha = 0.01 * np.abs(X.T @ signs).max() / (2 * len(y))
    model = import_module("skglm").SparseLogisticRegression(alpha).fit(X, signs)
    return np.argsort(-np.abs(model.coef_[0]), kind="stable")[:r]


def svm():
    """Return the model that selectors ask, and that errors are of."""
    return LinearSVC(random_state=0)


def information(X, y):
    return mutual_info_classif(X, y, random_state=0)


STEPS, MRMR, SKGLM = "scikit-learn: by steps *", "mrmr *", "skglm: L1 logistic *"
METHODS = {  # functions of X, y and r; * marks those that use labels
    "BSS, k = r/2": fitted(lambda r: BSSSelector(r, rank=r // 2)),
    "single SVD": fitted(SingleSVDSelector),
    "RRQR": fitted(RRQRSelector),
    "leverage, largest": fitted(
        lambda r: LeverageScoreSelector(r, strategy="top", rank=r // 2)
    ),
    "Laplacian score": fitted(LaplacianScoreSelector),
    "alpha-investing *": fitted(AlphaInvestingSelector),
    "RFE *": fitted(SVMRFESelector),
    "random": fitted(lambda r: UniformSelector(r, random_state=0)),
    "scikit-learn: F-test *": fitted(lambda r: SelectKBest(k=r)),
    "scikit-learn: mutual information *": fitted(
        lambda r: SelectKBest(information, k=r)
    ),
    "scikit-learn: SelectFromModel *": fitted(
        lambda r: SelectFromModel(svm(), max_features=r, threshold=-np.inf)
    ),
    "scikit-learn: RFE *": fitted(
        lambda r: RFE(svm(), n_features_to_select=r, step=0.1)
    ),
    STEPS: fitted(
        lambda r: SequentialFeatureSelector(svm(), n_features_to_select=r, cv=3)
    ),
    "skmatter: CUR": picked("skmatter.feature_selection", "CUR"),
    "skmatter: farthest points": picked("skmatter.feature_selection", "FPS"),
    "fastcan *": by_fastcan,
    SKGLM: by_skglm,
    MRMR: by_mrmr,
}
MOST_FEATURES = {STEPS: 100, MRMR: 3_000}


def data(name):
    """Return X, its largest number 1, and y."""
    # counts over the largest of all would leave a model at C = 1 nothing to see
    if name == "text":
        loaded = load_dataset(
            "techtc", set=dataset_members("techtc")[0], unit_rows=True
        )
    else:
        loaded = load_dataset(name)
    X = loaded.X.toarray() if hasattr(loaded.X, "toarray") else loaded.X
    return X / np.abs(X).max(), loaded.y


def measure(select, X, y, r):
    """Return the mean error of five folds in percent, the ratio of all rows, and the median CPU seconds."""
    seconds, errors = [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        cpu, columns = cpu_seconds(select, X[train], y[train], r)
        model = svm().fit(X[np.ix_(train, columns)], y[train])
        seconds.append(cpu)
        errors.append(
            100 * float(np.mean(model.predict(X[np.ix_(test, columns)]) != y[test]))
        )
    return (
        statistics.mean(errors),
        ratio(X, select(X, y, r)),
        statistics.median(seconds),
    )


def ratio(X, columns):
    """Return the squared error of some columns over that of the best rank `RANK`."""
    Q, R, _ = qr(X[:, columns], mode="economic", pivoting=True)
    basis = Q[:, np.abs(np.diag(R)) > 1e-10 * np.abs(R[0, 0])]
    tail = float((svdvals(X)[RANK:] ** 2).sum())
    return float(((X - basis @ (basis.T @ X)) ** 2).sum()) / tail


TABLES = {
    "test error (%)": ".1f",
    "squared error over the best of rank 10": ".3g",
    "CPU seconds of a selection": ".2g",
}


def measured(names, no_steps, r):
    """Yield (data, method, the numbers of `TABLES`)."""
    for name in names:
        try:
            X, y = data(name)
        except MissingDataError as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)
            continue
        for method, select in METHODS.items():
            is_too_large = X.shape[1] > MOST_FEATURES.get(method, np.inf)
            if (
                is_too_large
                or (method == SKGLM and np.unique(y).size > 2)
                or (method == STEPS and no_steps)
            ):
                continue
            try:
                yield (
                    f"{name} ({X.shape[0]} x {X.shape[1]})",
                    method,
                    measure(select, X, y, r),
                )
            except ImportError as missing:
                print(f"{method}: {missing.name} is not installed", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        nargs="+",
        choices=DATA,
        default=DATA,
        metavar="NAME",
        help=", ".join(DATA),
    )
    parser.add_argument("--no-steps", action="store_true")
    parser.add_argument("--features", type=int, default=20)
    options = parser.parse_args()
    # LinearSVC says where it has not converged
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        results = list(measured(options.data, options.no_steps, options.features))
    heads = list(dict.fromkeys(head for head, _, _ in results))
    for place, (title, form) in enumerate(TABLES.items()):
        texts = {
            (method, head): format(numbers[place], form)
            for head, method, numbers in results
        }
        print(
            f"\n| {title} | {' | '.join(heads)} |"
            if place
            else f"| {title} | {' | '.join(heads)} |"
        )
        print("|---" + "|--:" * len(heads) + "|")
        for method in dict.fromkeys(method for _, method, _ in results):
            print(
                f"| {method} | {' | '.join(texts.get((method, head), '') for head in heads)} |"
            )


if __name__ == "__main__":
    main()
