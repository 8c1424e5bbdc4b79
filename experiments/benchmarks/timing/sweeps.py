"""What scaling.py varies, over which sizes, and what theory says of it."""

from functools import partial
from typing import NamedTuple

import numpy as np

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

RANK, NOISE = 20, 3e-4
LINEAR_PROGRAM = "no useful bound: a linear program"


class Sweep(NamedTuple):
    """One size varied, the others fixed; `PREPARE` makes what is timed, of all sizes."""

    method: str
    variable: str
    values: tuple
    fixed: dict
    theory: float | None
    source: str


def rows(n, d):
    """Return Gaussian rows, shape (n, d)."""
    return np.random.default_rng(0).standard_normal((n, d))


def labelled(n, d):
    """Return rows of two classes that ten features tell apart, mostly."""
    X = rows(n, d)
    return X, np.where(X[:, :10].sum(axis=1) + np.random.default_rng(1).standard_normal(n) > 0, 1, -1)


def low_rank(n, d):
    """Return columns of length about 1 in few directions, with a little noise in all, shape (n, d)."""
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((n, RANK)) @ rng.standard_normal((RANK, d)) / np.sqrt(n * RANK)
    return np.asfortranarray(signal + NOISE * rng.standard_normal((n, d)))


def orthonormal(d, rank):
    """Return orthonormal columns, shape (d, rank)."""
    return np.ascontiguousarray(np.linalg.qr(rows(d, rank))[0])


def sparsified(V, r):
    """Return what BSS picks of V, shape (d, rank)."""
    return bss(OrderedColumns(V), r)


def two_class(make, n, d):
    """Return what fits `make()` to labelled rows."""
    X, y = labelled(n, d)
    return lambda: make().fit(X, y)


def unlabelled(make, X):
    """Return what fits `make()` to X."""
    return lambda: make().fit(X)


PREPARE = {  # sizes by name -> the function that is timed
    "BSS": lambda d, r, ell: partial(sparsified, orthonormal(d, ell), r),
    "approximate BSS": lambda n, d, r, ell: unlabelled(
        lambda: ApproximateBSSSelector(r, n_projections=ell, random_state=0), rows(n, d)
    ),
    "spectral basis": lambda n, d: partial(spectral_basis, rows(n, d)),
    "leverage scores": lambda d, ell: partial(leverage_scores, orthonormal(d, ell)),
    "leverage sampling": lambda n, d, r: unlabelled(lambda: LeverageScoreSelector(r, random_state=0), rows(n, d)),
    "OFS": lambda n, d: unlabelled(
        lambda: OnlineLeverageSelector(sampling_rate=1.0, outside_span="ridge", ridge=1.0, random_state=0),
        low_rank(n, d),
    ),
    "RRQR": lambda n, d, r: unlabelled(lambda: RRQRSelector(r), rows(n, d)),
    "RFE": lambda n, d, r: two_class(lambda: SVMRFESelector(r), n, d),
    "LPSVM": lambda n, d: two_class(LPSVMSelector, n, d),
    "Laplacian score": lambda n, d: unlabelled(lambda: LaplacianScoreSelector(10), rows(n, d)),
    "compressed SVM": lambda n, d, ell: two_class(lambda: CompressedLinearSVM(ell, random_state=0), n, d),
}

PAUL = "Paul et al. (2016), Algorithm 1: O(d r l^2)"
SKETCH = "G X: O(n d t), then BSS with l = t"
GRAM = "X X^T: O(n^2 d), and O(n^3) of its eigenproblem"
SWEEPS = [
    Sweep("BSS", "d", (10_000, 20_000, 40_000, 80_000, 160_000), {"r": 200, "ell": 50}, 1, PAUL),
    Sweep("BSS", "r", (125, 250, 500, 1_000, 2_000), {"d": 10_000, "ell": 50}, 1, PAUL),
    Sweep("BSS", "ell", (25, 50, 100, 200, 400), {"d": 5_000, "r": 450}, 2, PAUL),
    Sweep("approximate BSS", "n", (500, 1_000, 2_000, 4_000, 8_000), {"d": 4_000, "r": 130, "ell": 64}, 1, SKETCH),
    Sweep("approximate BSS", "d", (5_000, 10_000, 20_000, 40_000, 80_000), {"n": 400, "r": 130, "ell": 64}, 1, SKETCH),
    Sweep("spectral basis", "n", (100, 200, 400, 800, 1_600), {"d": 4_000}, 2, GRAM),
    Sweep("spectral basis", "d", (5_000, 10_000, 20_000, 40_000, 80_000), {"n": 200}, 1, GRAM),
    Sweep("leverage sampling", "r", (125, 250, 500, 1_000, 2_000), {"n": 200, "d": 10_000}, 0, "r draws beside GEMM"),
    Sweep("leverage scores", "ell", (25, 50, 100, 200, 400), {"d": 40_000}, 1, "rows of V: O(d l)"),
    Sweep("OFS", "n", (500, 1_000, 2_000, 4_000, 8_000), {"d": 2_000}, 1, "O(n k) a column, k kept"),
    Sweep("OFS", "d", (4_000, 8_000, 16_000, 32_000, 64_000), {"n": 400}, 1, "O(n k) a column, k kept ~ log d"),
    Sweep("RRQR", "n", (100, 200, 400, 800, 1_600), {"d": 8_000, "r": 64}, 1, "O(n d) a step"),
    Sweep("RRQR", "d", (5_000, 10_000, 20_000, 40_000, 80_000), {"n": 200, "r": 64}, 1, "O(n d) a step"),
    Sweep("RRQR", "r", (25, 50, 100, 200, 400), {"n": 500, "d": 5_000}, 1, "O(n d) a step"),
    Sweep("RFE", "n", (50, 100, 200, 400, 800), {"d": 2_000, "r": 50}, 2, "X X^T of a round: O(n^2 d)"),
    Sweep("RFE", "d", (2_500, 5_000, 10_000, 20_000, 40_000), {"n": 80, "r": 50}, 1, "X X^T of a round: O(n^2 d)"),
    Sweep("LPSVM", "n", (25, 50, 100, 200, 400), {"d": 1_000}, None, LINEAR_PROGRAM),
    Sweep("LPSVM", "d", (500, 1_000, 2_000, 4_000, 8_000), {"n": 60}, None, LINEAR_PROGRAM),
    Sweep("Laplacian score", "n", (500, 1_000, 2_000, 4_000, 8_000), {"d": 100}, 2, "all distances: O(n^2 d)"),
    Sweep("Laplacian score", "d", (250, 500, 1_000, 2_000, 4_000), {"n": 1_000}, 1, "all distances: O(n^2 d)"),
    Sweep("compressed SVM", "n", (500, 1_000, 2_000, 4_000, 8_000), {"d": 2_000, "ell": 64}, 1, "X Lambda^T: O(n d l)"),
    Sweep("compressed SVM", "d", (2_500, 5_000, 10_000, 20_000, 40_000), {"n": 500, "ell": 64}, 1, "O(n d l)"),
    Sweep("compressed SVM", "ell", (25, 50, 100, 200, 400), {"n": 1_000, "d": 5_000}, 1, "X Lambda^T: O(n d l)"),
]
