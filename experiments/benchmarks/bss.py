"""python experiments/benchmarks/bss.py [--quick] [--repeats 5] [--inputs NAME]: BSS, its textbook version, its basis.

One process, one BLAS thread, CPU seconds of the process. The basis and the kernel take turns; each time is the
median of the repeats. The textbook version, vectorised over the columns, takes seconds and runs once. Goals: at
least 50 times as fast as the textbook, at most twice the time of the spectral basis. The other limit is reading V, of
shape (d, rank), once a step, as a version that scores all columns has to; lazy scores can take less.
"""

import argparse
import importlib.util
import statistics
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits
from timing import bandwidth_seconds, case, cpu_seconds, report

from provsel.kernels.bss import bss
from provsel.kernels.bss_columns import OrderedColumns
from provsel.kernels.spectral import spectral_basis

BENCH = {
    "bench": ["--inputs", "gaussian"],
    "quick": ["--quick", "--repeats", "1"],
    "left_out": "columns whose norms differ by magnitudes",
    "seconds": 300,
}
ROOT = Path(__file__).resolve().parents[2]
N_ROWS, N_SELECTED, FULL = 200, 300, 20_000
SPEEDUP_GOAL, BASIS_GOAL = 50.0, 2.0
INPUTS = ("gaussian", "lognormal norms")


def load_textbook():
    """Return the textbook version that the tests compare with."""
    spec = importlib.util.spec_from_file_location("textbook", ROOT / "tests" / "textbook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.textbook_bss


def inputs(d):
    """Two kinds of rows of rank N_ROWS: Gaussian, and columns whose norms differ by orders of magnitude."""
    rng = np.random.default_rng(0)
    gaussian = rng.standard_normal((N_ROWS, d))
    return dict(zip(INPUTS, (gaussian, gaussian * np.exp(1.5 * rng.standard_normal(d))), strict=True))


def measure(X, repeats, textbook_bss):
    """Return the record of one input, an array of shape (n, d)."""
    basis_seconds, bss_seconds = [], []
    for _ in range(repeats):
        seconds, basis = cpu_seconds(spectral_basis, X)
        basis_seconds.append(seconds)
        seconds, fast = cpu_seconds(lambda: bss(OrderedColumns(basis.V), N_SELECTED))  # noqa: B023 (called at once)
        bss_seconds.append(seconds)
    textbook_seconds, (picks, gains) = cpu_seconds(textbook_bss, basis.V, N_SELECTED)
    of_basis, of_bss = statistics.median(basis_seconds), statistics.median(bss_seconds)
    return {
        "n": X.shape[0], "d": X.shape[1], "rank": basis.rank, "r": N_SELECTED,
        "basis_seconds": of_basis,
        "bss_seconds": of_bss,
        "textbook_seconds": textbook_seconds,
        "textbook_over_bss": textbook_seconds / of_bss,
        "bss_over_basis": of_bss / of_basis,
        "same_indices": bool(np.array_equal(fast.picks, picks)),
        "largest_relative_gain_difference": float(np.max(np.abs(fast.gains / gains - 1))),
        "all_basis_seconds": basis_seconds,
        "all_bss_seconds": bss_seconds,
    }  # fmt: skip


def cases(records):
    """Return the common records."""
    found = []
    for name, record in records.items():
        size = f"{name}, {record['n']} x {record['d']:,}, r = {record['r']}"
        judged, ours = record["d"] == FULL, record["all_bss_seconds"]
        read = bandwidth_seconds(8 * record["d"] * record["rank"] * record["r"])
        found += [
            case(size, ours, peer=("textbook", record["textbook_seconds"]), limit=("memory, V each step", read[1]),
                 goal=f"ratio >= {SPEEDUP_GOAL:g}", judged=judged),
            case(f"{size}, beside its basis", ours, limit=("spectral basis", record["all_basis_seconds"]),
                 goal=f"ratio_to_limit <= {BASIS_GOAL:g}", judged=judged),
        ]  # fmt: skip
    return found


def markdown(records):
    """Return the table of all inputs."""
    lines = [
        "| input | d | basis (s) | BSS (s) | textbook (s) | textbook / BSS | BSS / basis | same indices |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
    ]
    for name, record in records.items():
        lines.append(
            f"| {name} | {record['d']} | {record['basis_seconds']:.3f} | {record['bss_seconds']:.3f} "
            f"| {record['textbook_seconds']:.2f} | {record['textbook_over_bss']:.1f} (goal >= {SPEEDUP_GOAL:g}) "
            f"| {record['bss_over_basis']:.2f} (goal <= {BASIS_GOAL:g}) | {'yes' if record['same_indices'] else 'NO'} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="d = 4,000; the goals are for 20,000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS))
    options = parser.parse_args()
    textbook_bss = load_textbook()
    with threadpool_limits(1):
        records = {
            name: measure(X, options.repeats, textbook_bss)
            for name, X in inputs(4_000 if options.quick else FULL).items()
            if name in options.inputs
        }
        found = cases(records)
    report("bss", markdown(records), found, quick=options.quick, inputs=records)
    if not all(record["same_indices"] for record in records.values()):
        raise SystemExit("bss.py: the indices differ from the textbook's")


if __name__ == "__main__":
    main()
