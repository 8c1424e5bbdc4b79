"""python experiments/benchmarks/rrqr.py [--quick] [--documents N] [--repeats 3]: RRQR on sparse text, and dense LAPACK.

2,000 CCAT documents x 47,236 terms, r = 1,024, one process, one BLAS thread, CPU seconds of the process; the median
of the repeats for the sparse route, one run of `scipy.linalg.qr(X.toarray(), mode="r", pivoting=True)`, which
knows no r, and peak memory by tracemalloc of another run of each. Goals: 10 times as fast, a tenth of the memory.
The limit is what no such method avoids: a product of the rows with one direction a step, by SciPy. Other numbers of
documents come with r of half of them.
"""

import argparse
import statistics
import tracemalloc

import numpy as np
from scipy.linalg import qr
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report, several

from provlab.data import load_dataset
from provsel.selectors import RRQRSelector

BENCH = {
    "bench": ["--documents", "1000"],
    "quick": ["--quick", "--repeats", "1"],
    "left_out": "2,000 documents, the size of the goals",
    "seconds": 300,
}
FULL = 2_000
TIME_GOAL, MEMORY_GOAL = 10.0, 10.0


def peak_bytes(function):
    """Return the largest memory that a call held at once, beyond its input."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def lapack_pivots(X):
    """Pivots of geqp3 on the dense copy of X, of shape (n, d)."""
    return qr(X.toarray(), mode="r", pivoting=True, check_finite=False, overwrite_a=True)[1]


def measure(X, r, repeats):
    """Return the record of one comparison."""
    X = X.astype(np.float64)
    runs = [cpu_seconds(lambda: RRQRSelector(r).fit(X).indices_) for _ in range(repeats)]
    cpu, indices = statistics.median(seconds for seconds, _ in runs), runs[0][1]
    tracemalloc.start()
    try:  # tracing costs a dense factorisation nothing: it allocates a handful of arrays
        lapack_cpu, pivots = cpu_seconds(lapack_pivots, X)
        lapack_peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    columns, direction = X.tocsc().T, np.ones(X.shape[0])
    products = several(lambda: [columns @ direction for _ in range(r)])
    different = np.flatnonzero(pivots[:r] != indices)
    peak = peak_bytes(lambda: RRQRSelector(r).fit(X))
    return {
        "n": X.shape[0], "d": X.shape[1], "r": r, "nonzeros": int(X.nnz),
        "cpu_seconds": cpu, "all_cpu_seconds": [run[0] for run in runs],
        "lapack_cpu_seconds": lapack_cpu, "product_seconds": products,
        "cpu_ratio": lapack_cpu / cpu,
        "peak_megabytes": peak / 1e6, "lapack_peak_megabytes": lapack_peak / 1e6,
        "memory_ratio": lapack_peak / peak,
        "same_pivots": different.size == 0,
        "first_difference": int(different[0]) if different.size else None,
    }  # fmt: skip


def cases(record):
    """Return the common records."""
    name, judged = f"CCAT, {record['n']:,} x {record['d']:,}, r = {record['r']:,}", record["n"] == FULL
    lapack = "LAPACK's geqp3, dense"
    return [
        case(name, record["all_cpu_seconds"], peer=(lapack, record["lapack_cpu_seconds"]),
             limit=("r products with X", record["product_seconds"]), goal=f"ratio >= {TIME_GOAL:g}", judged=judged),
        case(f"{name}, memory", record["peak_megabytes"], peer=(lapack, record["lapack_peak_megabytes"]),
             goal=f"ratio >= {MEMORY_GOAL:g}", judged=judged, unit="MB"),
    ]  # fmt: skip


def markdown(record):
    """Return the table of the record."""
    return "\n".join([
        "| | RRQRSelector, sparse | scipy.linalg.qr, dense | ratio |",
        "|---|--:|--:|--:|",
        f"| CPU (s) | {record['cpu_seconds']:.2f} | {record['lapack_cpu_seconds']:.2f} "
        f"| {record['cpu_ratio']:.1f} (goal >= {TIME_GOAL:g}) |",
        f"| peak memory (MB) | {record['peak_megabytes']:.0f} | {record['lapack_peak_megabytes']:.0f} "
        f"| {record['memory_ratio']:.1f} (goal >= {MEMORY_GOAL:g}) |",
        f"\nSame pivots: {'yes' if record['same_pivots'] else 'NO, from step ' + str(record['first_difference'])}",
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="300 documents, r = 128; the goals are for the full size")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--documents", type=int, default=FULL)
    options = parser.parse_args()
    n, r = (
        (300, 128)
        if options.quick
        else (options.documents, 1_024 if options.documents == FULL else options.documents // 2)
    )
    X = load_dataset("rcv1_ccat").X[:n]
    with threadpool_limits(1):
        record = measure(X, r, options.repeats)
    report("rrqr", markdown(record), cases(record), quick=options.quick, **record)
    if not record["same_pivots"]:
        raise SystemExit("rrqr.py: the pivots differ from LAPACK's")


if __name__ == "__main__":
    main()
