"""Selectors of other packages beside ours, in one run: CPU seconds, test error, and how well the columns stand for X.

python experiments/benchmarks/peers.py [--data NAME ...] [--no-steps] [--features 20]

scikit-learn's SelectKBest (F-test, mutual information), SelectFromModel (L2-SVM), RFE and SequentialFeatureSelector;
scikit-matter's CUR and farthest point sampling; fastcan's FastCan; mrmr; the largest coefficients of skglm's L1
logistic regression. Those that are no dependency of provsel are compared where they can be imported: pip install
skmatter fastcan mrmr_selection skglm. scikit-learn's search by steps is left out above 100 features, where it takes
hours, mrmr above 3,000, and skglm's model of two classes where there are more. abess and knockpy are not compared: the
one's licence is the GPL, the other has no wheel.

Error: percent of scikit-learn's LinearSVC over the same five folds for all, columns chosen on the training rows. Ratio:
||X - C C^+ X||_F^2 over that of the best rank 10, all rows. Seconds: median of the folds' selections, one BLAS thread.
Those that use labels are marked: a smaller error than that of the others is no merit of theirs alone.
"""

import argparse
import csv
import statistics
import warnings
from importlib import import_module

import numpy as np
from scipy.linalg import qr, svdvals
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SequentialFeatureSelector, mutual_info_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report
from timing.cases import folder

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

BENCH = {
    "bench": ["--data", "digits", "synthetic", "colon", "--no-steps"],
    "quick": ["--data", "digits", "--no-steps"],
    "left_out": "data of 40 classes or of 10,000 features, and scikit-learn's search by steps, minutes on 64",
    "seconds": 300,
}
DATA = ("digits", "synthetic", "colon", "orl", "arcene", "text")
RANK = 10
STEPS = "scikit-learn: by steps"
SKGLM = "skglm: L1 logistic"
STEPWISE, MRMR = 100, 3_000
"""Features above which scikit-learn's search by steps, and mrmr, are left out."""


def svm():
    """Return the model that selectors ask, and that errors are of."""
    return LinearSVC(random_state=0)


def optional(module, name):
    """Return a class or function of a package, None where it is not installed."""
    try:
        return getattr(import_module(module), name)
    except ImportError:
        print(f"{module} is not installed and left out")
        return None


def by_mrmr(mrmr_classif):
    """Return a selection with mrmr, which takes frames and gives names."""
    import pandas as pd

    def chosen(X, y, r):
        frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])])
        names = mrmr_classif(frame, pd.Series(y), K=r, n_jobs=1, show_progress=False)
        return np.array([int(name) for name in names])

    return chosen


def by_skglm(sparse_logistic_regression):
    """Return a selection with skglm at a hundredth of the penalty that leaves no feature; it needs two classes."""

    def chosen(X, y, r):
        signs = np.where(y == y[0], 1.0, -1.0)
        alpha = 0.01 * np.abs(X.T @ signs).max() / (2 * len(y))
        return np.argsort(-np.abs(sparse_logistic_regression(alpha).fit(X, signs).coef_[0]), kind="stable")[:r]

    return chosen


def fitted(make):
    """Return a selection with an estimator of scikit-learn's kind."""
    return lambda X, y, r: np.flatnonzero(make(r).fit(X, y).get_support())


def methods():
    """Return of each method its selection, a function of X, y and r, and whether it uses labels."""
    found = {
        "BSS, k = r/2": (fitted(lambda r: BSSSelector(r, rank=r // 2)), False),
        "single SVD": (fitted(SingleSVDSelector), False),
        "RRQR": (fitted(RRQRSelector), False),
        "leverage, largest": (fitted(lambda r: LeverageScoreSelector(r, strategy="top", rank=r // 2)), False),
        "Laplacian score": (fitted(LaplacianScoreSelector), False),
        "alpha-investing": (fitted(AlphaInvestingSelector), True),
        "RFE": (fitted(SVMRFESelector), True),
        "random": (fitted(lambda r: UniformSelector(r, random_state=0)), False),
        "scikit-learn: F-test": (fitted(lambda r: SelectKBest(k=r)), True),
        "scikit-learn: mutual information": (
            fitted(lambda r: SelectKBest(lambda X, y: mutual_info_classif(X, y, random_state=0), k=r)), True,
        ),
        "scikit-learn: SelectFromModel": (
            fitted(lambda r: SelectFromModel(svm(), max_features=r, threshold=-np.inf)), True,
        ),
        "scikit-learn: RFE": (fitted(lambda r: RFE(svm(), n_features_to_select=r, step=0.1)), True),
        STEPS: (
            fitted(lambda r: SequentialFeatureSelector(svm(), n_features_to_select=r, cv=3)), True,
        ),
    }  # fmt: skip
    cur, fps = (optional("skmatter.feature_selection", name) for name in ("CUR", "FPS"))
    fastcan, mrmr = optional("fastcan", "FastCan"), optional("mrmr", "mrmr_classif")
    skglm = optional("skglm", "SparseLogisticRegression")
    if cur:
        found["skmatter: CUR"] = (lambda X, y, r: cur(n_to_select=r).fit(X).selected_idx_, False)
    if fps:
        found["skmatter: farthest points"] = (lambda X, y, r: fps(n_to_select=r).fit(X).selected_idx_, False)
    if fastcan:
        found["fastcan"] = (fitted(lambda r: fastcan(r, verbose=0)), True)
    if skglm:
        found[SKGLM] = (by_skglm(skglm), True)
    if mrmr:
        found["mrmr"] = (by_mrmr(mrmr), True)
    return found


def data(names):
    """Return X, its largest number 1, and y by name: those of some data sets that are here."""
    found = {}
    for name in names:
        try:
            # counts over the largest of all would leave a model at C = 1 nothing to see
            options = {"set": dataset_members("techtc")[0], "unit_rows": True} if name == "text" else {}
            loaded = load_dataset("techtc" if name == "text" else name, **options)
        except MissingDataError as missing:
            print(f"{name} is left out: {missing}")
            continue
        X = loaded.X.toarray() if hasattr(loaded.X, "toarray") else loaded.X
        found[name] = X / np.abs(X).max(), loaded.y
    return found


def is_left_out(method, d, n_classes):
    """Tell whether a method would take hours on so many features, or has no model of so many classes."""
    too_large = (method == STEPS and d > STEPWISE) or (method == "mrmr" and d > MRMR)
    return too_large or (method == SKGLM and n_classes > 2)


def measure(select, X, y, r):
    """Return the CPU seconds, errors in percent and selected columns of five folds, and the ratio of all rows."""
    seconds, errors = [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        cpu, chosen = cpu_seconds(lambda train=train: select(X[train], y[train], r))
        model = svm().fit(X[np.ix_(train, chosen)], y[train])
        seconds.append(cpu)
        errors.append(100 * float(np.mean(model.predict(X[np.ix_(test, chosen)]) != y[test])))
    return statistics.median(seconds), statistics.mean(errors), ratio(X, select(X, y, r))


def ratio(X, chosen):
    """Return the squared error of some columns over that of the best rank `RANK`."""
    Q, R, _ = qr(X[:, chosen], mode="economic", pivoting=True)
    basis = Q[:, np.abs(np.diag(R)) > 1e-10 * np.abs(R[0, 0])]
    tail = float((svdvals(X)[RANK:] ** 2).sum())
    return float(((X - basis @ (basis.T @ X)) ** 2).sum()) / tail


def main():
    """Measure, write peers.csv, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA, metavar="NAME", help=", ".join(DATA))
    parser.add_argument("--no-steps", action="store_true")
    parser.add_argument("--features", type=int, default=20)
    given = parser.parse_args()
    rows, cases, chosen = [], [], methods()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LinearSVC says where it has not converged
        for name, (X, y) in data(given.data).items():
            for method, (select, labels) in chosen.items():
                if is_left_out(method, X.shape[1], np.unique(y).size) or (given.no_steps and method == STEPS):
                    continue
                print(f"{name}, {method} ...", flush=True)
                seconds, error, squared = measure(select, X, y, given.features)
                rows.append({"data": name, "n": X.shape[0], "d": X.shape[1], "method": method, "labels": labels,
                             "seconds": seconds, "error": error, "ratio": squared})  # fmt: skip
                cases.append(case(f"{method}, {name} ({X.shape[0]} x {X.shape[1]}), r = {given.features}", seconds))
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / "peers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    report("peers", "\n\n".join(table(rows, *part) for part in PARTS), cases)


PARTS = (("error", "test error (%)", ".1f"), ("ratio", "squared error over the best of rank 10", ".3g"),
         ("seconds", "CPU seconds of a selection", ".2g"))  # fmt: skip


def table(rows, number, title, form):
    """Return one number of all methods and data sets as Markdown; * marks methods that use labels."""
    heads = {row["data"]: f"{row['data']} ({row['n']} x {row['d']})" for row in rows}
    found = {(row["method"], row["data"]): format(row[number], form) for row in rows}
    marks = {row["method"]: " *" if row["labels"] else "" for row in rows}
    lines = [f"| {title} | {' | '.join(heads.values())} |", "|---" + "|--:" * len(heads) + "|"]
    lines += [f"| {method}{marks[method]} | {' | '.join(found.get((method, name), '') for name in heads)} |"
              for method in marks]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    main()
