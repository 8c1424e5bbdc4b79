"""Selectors beside scikit-learn and skfeature-chappers, and beside what no such method avoids."""

import math
from functools import cache

import numpy as np
import pytest
from inputs import OURS, TECHTC, contenders, loaded, slow, two_classes
from scipy import sparse
from sklearn.feature_selection import RFE
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC

from provsel.kernels.lpsvm import lpsvm_highs
from provsel.kernels.lpsvm_columns import distinct_columns
from provsel.kernels.lpsvm_newton import lpsvm_newton
from provsel.models import LiblinearSVM, LibsvmSVM
from provsel.selectors import (
    AlphaInvestingSelector,
    LaplacianScoreSelector,
    SVMRFESelector,
)
from provsel.training_view import TrainingView

# a tenth is of the columns that remain in provsel, and of all in scikit-learn
SCHEDULES = {
    "500 a round": (500, [300]),
    "a tenth a round": (0.1, [300]),
    "three sizes on one path": (500, [500, 400, 300]),
}
SKLEARN, ONE_SVM = "scikit-learn", "one SVM"


@contenders(OURS, SKLEARN, ONE_SVM)
@pytest.mark.parametrize("schedule", SCHEDULES)
def bench_rfe(benchmark, schedule, contender):
    data = loaded("techtc", set=TECHTC[0])
    X, y = sparse.csr_matrix(data.X), data.y
    step, sizes = SCHEDULES[schedule]

    def ours():
        view = TrainingView(X, y)
        for r in sizes:
            SVMRFESelector(r, step=step).fit_view(view)

    def theirs():
        for r in sizes:
            RFE(SVC(kernel="linear", C=1), n_features_to_select=r, step=step).fit(X, y)

    if step == 500 and sizes == [300]:
        benchmark.extra_info["goal"] = f"{SKLEARN} / {OURS} >= 10"
    benchmark(
        {OURS: ours, SKLEARN: theirs, ONE_SVM: lambda: LibsvmSVM().fit(X, y)}[contender]
    )


def signed(X, y):
    """Return D X by columns, as both solvers of the 1-norm SVM take it."""
    return sparse.csc_array(X.multiply(y[:, None]))


def distinct(X, y):
    X = sparse.csc_array(X)
    return signed(X[:, distinct_columns(X)], y)


@cache
def ccat_support():
    """Return the rows of 5,000 documents of CCAT with y f < 1."""
    data = loaded("rcv1_ccat")
    X, y = data.X[:5_000], data.y[:5_000].astype(float)
    margins = y * LiblinearSVM(C=10).fit(X, y).decision_function(X)
    rows = np.flatnonzero(margins < 1)
    return X[rows], y[rows]


@contenders("HiGHS", "Newton", "HiGHS, all columns", ONE_SVM)
@pytest.mark.parametrize(
    ("rows", "nu"),
    [*((name, 1.0) for name in TECHTC), slow("CCAT", 1.0), slow("CCAT", 10.0)],
)
def bench_lpsvm(benchmark, rows, nu, contender):
    if rows == "CCAT":
        X, y = ccat_support()
    else:
        data = loaded("techtc", set=rows)
        X, y = data.X, data.y.astype(float)
    work = {
        "HiGHS": lambda: lpsvm_highs(distinct(X, y), y, nu, max_seconds=180),
        "Newton": lambda: lpsvm_newton(distinct(X, y), y, nu, max_iter=2_000),
        "HiGHS, all columns": lambda: lpsvm_highs(signed(X, y), y, nu, max_seconds=180),
        ONE_SVM: lambda: LibsvmSVM().fit(X, y),
    }
    benchmark(work[contender])


IMAGES = ["orl", "coil20", "usps"]


def skfeature_scores(X):
    """Return their scores of our graph, whose rows are neighbours of themselves there."""
    affinity = pytest.importorskip("skfeature.utility.construct_W").construct_W
    lap_score = pytest.importorskip(
        "skfeature.function.similarity_based.lap_score"
    ).lap_score
    width = LaplacianScoreSelector(1).fit(X).kernel_width_
    options = {
        "metric": "euclidean",
        "neighbor_mode": "knn",
        "weight_mode": "heat_kernel",
        "k": 5,
        "t": width,
    }
    return lambda: lap_score(X, mode="raw", W=affinity(X, **options))


@contenders(OURS, "skfeature", "neighbours alone", "X X^T")
@pytest.mark.parametrize("name", [*IMAGES, slow("ar")])
def bench_laplacian_score(benchmark, name, contender):
    X = np.array(loaded(name).X)
    if contender == "skfeature":
        benchmark(skfeature_scores(X))
        return
    work = {
        OURS: lambda: LaplacianScoreSelector(20).fit(X),
        "neighbours alone": lambda: (
            NearestNeighbors(n_neighbors=5, algorithm="brute").fit(X).kneighbors()
        ),
        "X X^T": lambda: X @ X.T,
    }
    benchmark(work[contender])


def refitted(X, y, wealth=0.5):
    """Return the columns that alpha-investing accepts, by a least-squares fit with each candidate."""
    income, accepted = wealth, []
    n = len(X)
    model = np.ones((n, 1))
    rss = float(((y - y.mean()) ** 2).sum())
    for i in range(X.shape[1]):
        level = wealth / (2 * (i + 1))
        wealth -= level
        candidate = np.column_stack([model, X[:, i]])
        coefficients = np.linalg.lstsq(candidate, y, rcond=None)[0]
        smaller = float(((y - candidate @ coefficients) ** 2).sum())
        if math.exp(-n * (rss - smaller) / (2 * rss)) < level:
            accepted.append(i)
            wealth += income
            model, rss = candidate, smaller
    return np.array(accepted)


@contenders(OURS, "refit", "skfeature", "X read once")
@pytest.mark.parametrize("n", [1_000])
def bench_alpha_investing(benchmark, n, contender):
    X, y = two_classes(n, n)
    if contender == "skfeature":
        module = pytest.importorskip("skfeature.function.streaming.alpha_investing")
        benchmark(module.alpha_investing, X, y, 0.5, 0.5)
        return
    work = {
        OURS: lambda: AlphaInvestingSelector(wealth=0.5, delta=0.5).fit(X, y),
        "refit": lambda: refitted(X, y),
        "X read once": X.sum,
    }
    benchmark.extra_info["goal"] = f"refit / {OURS} >= 50"
    benchmark(work[contender])
