"""Cost against sizes, each doubled four times from where it starts; `ratios.py` fits exponents to a stored run."""

from functools import partial

import numpy as np
import pytest
from inputs import OURS, contenders, gaussian, orthonormal, slow, two_classes

from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, make_tasks
from provlab.run.task import run_task
from provsel.kernels.bss import bss
from provsel.kernels.bss_columns import OrderedColumns
from provsel.kernels.leverage import leverage_scores
from provsel.kernels.spectral import spectral_basis
from provsel.models import CompressedLinearSVM
from provsel.selectors import (
    ApproximateBSSSelector,
    LaplacianScoreSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    OnlineLeverageSelector,
    RRQRSelector,
    SVMRFESelector,
)


def bss_steps(d, r, rank):
    return partial(bss, OrderedColumns(orthonormal(d, rank)), r)


def approximate_bss(n, d):
    return partial(ApproximateBSSSelector(130, n_projections=64, random_state=0).fit, gaussian(n, d))


def ofs(n, d):
    """Return a fit to columns of length about 1 in few directions, with a little noise in all."""
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((n, 20)) @ rng.standard_normal((20, d)) / np.sqrt(n * 20)
    X = np.asfortranarray(signal + 3e-4 * gaussian(n, d))
    options = {"sampling_rate": 1.0, "outside_span": "ridge", "ridge": 1.0, "random_state": 0}
    return partial(OnlineLeverageSelector(**options).fit, X)


def compressed_svm(n, d, components):
    return partial(CompressedLinearSVM(components, random_state=0).fit, *two_classes(n, d))


def small_tasks(number):
    """Return what runs tasks of one synthetic fold each."""
    dataset = ["dataset.n_samples=100", "dataset.n_features=500", f"protocol.repeats={number // 5 + 1}"]
    selector = ["selector=bss", "selector.n_features_to_select=200", "protocol.n_splits=5", "protocol.draws=2"]
    tasks = list(make_tasks(cells_of(compose_config([*dataset, *selector]))))[:number]
    return lambda: [run_task(task) for task in tasks]


METHODS = {  # sizes -> the function that is timed
    "BSS": bss_steps,
    "approximate BSS": approximate_bss,
    "spectral basis": lambda n, d: partial(spectral_basis, gaussian(n, d)),
    "leverage scores": lambda d, rank: partial(leverage_scores, orthonormal(d, rank)),
    "leverage sampling": lambda n, d, r: partial(LeverageScoreSelector(r, random_state=0).fit, gaussian(n, d)),
    "OFS": ofs,
    "RRQR": lambda n, d, r: partial(RRQRSelector(r).fit, gaussian(n, d)),
    "RFE": lambda n, d, r: partial(SVMRFESelector(r).fit, *two_classes(n, d)),
    "LPSVM": lambda n, d: partial(LPSVMSelector().fit, *two_classes(n, d)),
    "Laplacian score": lambda n, d: partial(LaplacianScoreSelector(10).fit, gaussian(n, d)),
    "compressed SVM": compressed_svm,
    "tasks": small_tasks,
}
SWEEPS = [  # method, size that grows, all sizes at the start, exponent of the theory without what does not dominate
    ("BSS", "d", {"d": 10_000, "r": 200, "rank": 50}, 1),  # Paul et al. (2016), Algorithm 1: O(d r l^2)
    ("BSS", "r", {"d": 10_000, "r": 125, "rank": 50}, 1),
    ("BSS", "rank", {"d": 5_000, "r": 450, "rank": 25}, 2),
    ("approximate BSS", "n", {"n": 500, "d": 4_000}, 1),  # G X: O(n d t)
    ("approximate BSS", "d", {"n": 400, "d": 5_000}, 1),
    ("spectral basis", "n", {"n": 100, "d": 4_000}, 2),  # X X^T: O(n^2 d)
    ("spectral basis", "d", {"n": 200, "d": 5_000}, 1),
    ("leverage sampling", "r", {"n": 200, "d": 10_000, "r": 125}, 0),  # draws beside a product
    ("leverage scores", "rank", {"d": 40_000, "rank": 25}, 1),
    ("OFS", "n", {"n": 500, "d": 2_000}, 1),  # O(n k) a column, of k kept ~ log d
    ("OFS", "d", {"n": 400, "d": 4_000}, 1),
    ("RRQR", "n", {"n": 100, "d": 8_000, "r": 64}, 1),  # O(n d) a step
    ("RRQR", "d", {"n": 200, "d": 5_000, "r": 64}, 1),
    ("RRQR", "r", {"n": 500, "d": 5_000, "r": 25}, 1),
    ("RFE", "n", {"n": 50, "d": 2_000, "r": 50}, 2),  # X X^T of a round: O(n^2 d)
    ("RFE", "d", {"n": 80, "d": 2_500, "r": 50}, 1),
    ("LPSVM", "n", {"n": 25, "d": 1_000}, None),  # a linear program: no useful bound
    ("LPSVM", "d", {"n": 60, "d": 500}, None),
    ("Laplacian score", "n", {"n": 500, "d": 100}, 2),  # all distances: O(n^2 d)
    ("Laplacian score", "d", {"n": 1_000, "d": 250}, 1),
    ("compressed SVM", "n", {"n": 500, "d": 2_000, "components": 64}, 1),  # X Lambda^T: O(n d l)
    ("compressed SVM", "d", {"n": 500, "d": 2_500, "components": 64}, 1),
    ("compressed SVM", "components", {"n": 1_000, "d": 5_000, "components": 25}, 1),
    ("tasks", "number", {"number": 8}, 1),
]
CASES = {
    f"{method} against {variable}": (method, variable, start, theory) for method, variable, start, theory in SWEEPS
}


@contenders(OURS)
@pytest.mark.parametrize("times", [1, 2, 4, 8, slow(16)])
@pytest.mark.parametrize("case", CASES)
def bench_growth(benchmark, case, times, contender):
    method, variable, start, theory = CASES[case]
    sizes = start | {variable: times * start[variable]}
    benchmark.extra_info.update(growth=case, size=sizes[variable], theory=theory)
    benchmark(METHODS[method](**sizes))
