"""python experiments/benchmarks/limits.py [--quick]: what bounds a computation on this machine.

Rates of multiplication in float64 and float32, of copying and of y = a x + y over arrays far beyond the cache, and
LAPACK at the sizes of a TechTC fold: the eigenproblem of the Gram matrix, n = 150, and the SVD of dense rows, which
other benchmarks set their own times against. One BLAS thread, CPU seconds, medians of five. An eigenproblem and an SVD
stand beside a product of as many operations: n^3 times 4/3 for the tridiagonal form, 3 for its vectors and 2 to bring
them back (Golub and Van Loan, section 8.3), and for the SVD of n x d rows 6 n^2 d + 20 n^3 (their figure 8.6.1, by QR).
"""

import argparse

import numpy as np
from scipy.linalg import eigh, svd
from threadpoolctl import threadpool_limits
from timing import case, gemm_seconds, report, several
from timing.machine import ARRAY, BATCH, GEMM_SIZE, bandwidth, gemm_rate, gemm_times, memory_times

BENCH = {"bench": [], "quick": ["--quick"], "left_out": "", "seconds": 300}


def lapack(n, d):
    """Return the common records of LAPACK at one size."""
    X = np.random.default_rng(0).standard_normal((n, d))
    gram = X @ X.T
    eigen = several(lambda: eigh(gram, driver="evd", check_finite=False), BATCH)
    full = several(lambda: svd(X, full_matrices=False, check_finite=False), BATCH, long=2.0)
    operations = {"eigh": (4 / 3 + 3 + 2) * n**3, "svd": 6 * n**2 * d + 20 * n**3}
    return [
        case(f"eigh, n = {n}", eigen, limit=gemm_seconds(operations["eigh"])),
        case(f"SVD, {n} x {d:,}", full, limit=gemm_seconds(operations["svd"])),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="n = 60 and d = 2,000 for LAPACK")
    n, d = (60, 2_000) if parser.parse_args().quick else (150, 20_000)
    with threadpool_limits(1):
        rates = {
            f"GEMM float64, {GEMM_SIZE:,} (GFLOP/s)": gemm_rate("float64") / 1e9,
            f"GEMM float32, {GEMM_SIZE:,} (GFLOP/s)": gemm_rate("float32") / 1e9,
            f"copy, {8e-6 * ARRAY:.0f} MB (GB/s)": bandwidth("copy") / 1e9,
            f"y = a x + y, {8e-6 * ARRAY:.0f} MB (GB/s)": bandwidth("triad") / 1e9,
        }
        single = case(
            f"GEMM float32, {GEMM_SIZE:,}",
            gemm_times("float32"),
            limit=("half of float64", [t / 2 for t in gemm_times()]),
        )
        copied = f"copy, {8e-6 * ARRAY:.0f} MB"  # two arrays are moved where y = a x + y moves three
        copy = case(copied, memory_times("copy"), limit=("memory, y = a x + y", [2 * t / 3 for t in memory_times()]))
        found = [single, copy, *lapack(n, d)]
    lines = ["| | rate |", "|---|--:|", *(f"| {name} | {rate:.1f} |" for name, rate in rates.items())]
    lines += [f"| {one['case']} (s) | {one['ours_cpu']:.4f} |" for one in found]
    report("limits", "\n".join(lines), found, rates=rates)


if __name__ == "__main__":
    main()
