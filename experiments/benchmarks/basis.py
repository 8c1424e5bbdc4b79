"""python experiments/benchmarks/basis.py [--quick]: spectral basis and leverage scores beside LAPACK's SVD.

Rows of a TechTC set (sparse: the basis comes from their Gram matrix), dense Gaussian rows of the same shape, and dense
rows that are nearly square, where the basis is an SVD itself. The peer is SciPy's SVD of the dense rows; the limit is a
product of the operations of the route without its eigenproblem: 2 n^2 d each for X X^T and X^T U, for a dense X.
Leverage scores, given the basis, stand beside reading V once, which bounds them, and beside a product of V with a
square matrix, which numerical libraries are fastest at. Approximate BSS against BSS itself, both with the basis that
they need. One BLAS thread, CPU seconds, medians of three turns.
"""

import argparse

import numpy as np
from scipy.linalg import svd
from threadpoolctl import threadpool_limits
from timing import bandwidth_seconds, case, gemm_seconds, in_turns, report, several

from provlab.data import MissingDataError, load_dataset
from provsel.kernels.leverage import leverage_scores
from provsel.kernels.spectral import spectral_basis
from provsel.selectors import ApproximateBSSSelector, BSSSelector, LeverageScoreSelector

BENCH = {"bench": [], "quick": ["--quick"], "left_out": "", "seconds": 300}
TECHTC = "Exp_10341_10755"
N_PROJECTIONS = 64


def basis_case(name, X):
    """Return (common record, basis); X dense or sparse, shape (n, d)."""
    dense = X.toarray() if hasattr(X, "toarray") else X
    n, d = sorted(X.shape)
    seconds, found = in_turns({
        "ours": lambda: spectral_basis(X),
        "svd": lambda: svd(np.array(dense, dtype=np.float64), full_matrices=False, check_finite=False),
    }, 3)  # fmt: skip
    difference = np.abs(found["svd"][1][: found["ours"].rank] / found["ours"].singular_values - 1).max()
    assert difference < 1e-6, "other singular values"
    limit = ("GEMM" if X is dense else "GEMM, were X dense", gemm_seconds(4 * n**2 * d)[1])
    record = case(f"basis, {name}", seconds["ours"], peer=("LAPACK's SVD, dense", seconds["svd"]), limit=limit)
    return record, found["ours"]


def scores_case(name, V):
    """Return the common record of the leverage scores, given V of shape (d, rank)."""
    ours = several(lambda: leverage_scores(V))
    square = np.eye(V.shape[1])
    product = several(lambda: V @ square)
    return case(f"leverage scores, {name}", ours, peer=("V M, M square", product),
                limit=("memory, V once", bandwidth_seconds(V.nbytes)[1]))  # fmt: skip


def selector_cases(name, X, r):
    """Return the common records of whole fits that begin with a basis."""
    seconds, _ = in_turns({
        "basis": lambda: spectral_basis(X),
        "leverage": lambda: LeverageScoreSelector(r, random_state=0).fit(X),
        "bss": lambda: BSSSelector(r).fit(X),
        "approximate": lambda: ApproximateBSSSelector(r, n_projections=N_PROJECTIONS, random_state=0).fit(X),
    }, 3)  # fmt: skip
    limit = ("spectral basis", seconds["basis"])
    label = f"approximate BSS, {N_PROJECTIONS} projections, {name}, r = {r}"
    return [
        case(f"leverage sampling, {name}, r = {r}", seconds["leverage"], limit=limit),
        case(label, seconds["approximate"], peer=("BSS", seconds["bss"]), limit=limit),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="Gaussian rows of a tenth of the size only")
    quick = parser.parse_args().quick
    rng = np.random.default_rng(0)
    n, d, square = (40, 2_000, 150) if quick else (150, 20_000, 1_000)
    inputs = {"Gaussian": rng.standard_normal((n, d)), "nearly square": rng.standard_normal((square, square + 200))}
    try:
        if not quick:
            inputs["TechTC, sparse"] = load_dataset("techtc", set=TECHTC).X
    except MissingDataError as missing:
        print(f"TechTC is left out: {missing}\n")
    found = []
    with threadpool_limits(1):
        for label, X in inputs.items():
            name = f"{label}, {X.shape[0]:,} x {X.shape[1]:,}"
            record, basis = basis_case(name, X)
            found += [record, scores_case(name, basis.V)]
            if label != "nearly square":
                found += selector_cases(name, X, 2 * n)
    lines = ["| case | ours (ms) | peer | peer (ms) | limit | limit (ms) |", "|---|--:|---|--:|---|--:|"]
    lines += [
        f"| {one['case']} | {1e3 * one['ours_cpu']:.2f} | {one['peer'] or ''} "
        f"| {'' if one['peer'] is None else format(1e3 * one['peer_cpu'], '.2f')} | {one['limit']} "
        f"| {1e3 * one['limit_cpu']:.2f} |"
        for one in found
    ]
    report("basis", "\n".join(lines), found)


if __name__ == "__main__":
    main()
