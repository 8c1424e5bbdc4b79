"""python experiments/benchmarks/bss.py [--quick] [--repeats 5] [--inputs NAME] [--sets 3]: BSS, textbook, basis.

One process, one BLAS thread, CPU seconds of the process. The basis and the kernel take turns; each time is the
median of the repeats. The textbook version, vectorised over the columns, takes seconds and runs once, on text on the
first set only. Goals on Gaussian columns: at least 50 times as fast as the textbook, at most twice the time of the
spectral basis; on the training rows of a fold of TechTC at most twice that of the basis at r = 300, and 3.5 times at
r = 500. The other limit is reading V, of shape (d, rank), once a step, as a version that scores all columns has to;
lazy scores can take less. "order" is the part that all r of a fold share.
"""

import argparse
import importlib.util
import statistics
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits
from timing import bandwidth_seconds, case, cpu_seconds, report

from provlab.data import dataset_members, load_dataset
from provsel.kernels.bss import bss
from provsel.kernels.bss_columns import OrderedColumns
from provsel.kernels.spectral import spectral_basis

BENCH = {
    "bench": ["--inputs", "gaussian", "techtc"],
    "quick": ["--quick", "--repeats", "1", "--inputs", "gaussian", "lognormal norms"],
    "full": ["--sets", "8"],
    "left_out": "columns whose norms differ by magnitudes; 5 of 8 TechTC sets",
    "seconds": 300,
}
ROOT = Path(__file__).resolve().parents[2]
N_ROWS, N_SELECTED, FULL = 200, 300, 20_000
SPEEDUP_GOAL, BASIS_GOAL = 50.0, 2.0
TEXT_GOALS = {300: 2.0, 400: None, 500: 3.5}
"""Times of the basis, by r."""

INPUTS = ("gaussian", "lognormal norms", "techtc")


def load_textbook():
    """Return the textbook version that the tests compare with."""
    spec = importlib.util.spec_from_file_location("textbook", ROOT / "tests" / "textbook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.textbook_bss


def random_inputs(d):
    """Two kinds of rows of rank N_ROWS: Gaussian, and columns whose norms differ by orders of magnitude."""
    rng = np.random.default_rng(0)
    gaussian = rng.standard_normal((N_ROWS, d))
    return dict(zip(INPUTS, (gaussian, gaussian * np.exp(1.5 * rng.standard_normal(d))), strict=False))


def text_inputs(n_sets):
    """Return the training rows of the first of ten folds of some TechTC sets."""
    found = {}
    for name in dataset_members("techtc")[:n_sets]:
        data = load_dataset("techtc", set=name)
        train, _ = next(StratifiedKFold(10, shuffle=True, random_state=0).split(np.zeros(data.y.size), data.y))
        found[name] = data.X[train]
    return found


def measure(X, sizes, repeats, textbook_bss):
    """Return a record for each size r of one input, an array of shape (n, d); without a textbook where it is None."""
    basis_seconds, order_seconds, results = [], [], {}
    bss_seconds = {r: [] for r in sizes}
    for _ in range(repeats):
        seconds, basis = cpu_seconds(spectral_basis, X)
        basis_seconds.append(seconds)
        order_seconds.append(cpu_seconds(OrderedColumns, basis.V)[0])
        for r in sizes:
            seconds, results[r] = cpu_seconds(lambda: bss(OrderedColumns(basis.V), r))  # noqa: B023 (called at once)
            bss_seconds[r].append(seconds)
    of_basis = statistics.median(basis_seconds)
    records = []
    for r in sizes:
        of_bss = statistics.median(bss_seconds[r])
        record = {
            "n": X.shape[0], "d": X.shape[1], "rank": basis.rank, "r": r,
            "basis_seconds": of_basis,
            "order_seconds": statistics.median(order_seconds),
            "bss_seconds": of_bss,
            "bss_over_basis": of_bss / of_basis,
            "all_basis_seconds": basis_seconds,
            "all_bss_seconds": bss_seconds[r],
        }  # fmt: skip
        if textbook_bss is not None:
            seconds, (picks, gains) = cpu_seconds(textbook_bss, basis.V, r)
            record |= {
                "textbook_seconds": seconds,
                "textbook_over_bss": seconds / of_bss,
                "same_indices": bool(np.array_equal(results[r].picks, picks)),
                "largest_relative_gain_difference": float(np.max(np.abs(results[r].gains / gains - 1))),
            }
        records.append(record)
    return records


def cases(name, record, goals, judged):
    """Return the common records of one record; `goals` are of the textbook and of the basis, or None."""
    size, ours = f"{name}, {record['n']} x {record['d']:,}, r = {record['r']}", record["all_bss_seconds"]
    of_textbook, of_basis = goals
    read = bandwidth_seconds(8 * record["d"] * record["rank"] * record["r"])
    found = [
        case(f"{size}, beside its basis", ours, limit=("spectral basis", record["all_basis_seconds"]),
             goal=f"ratio_to_limit <= {of_basis:g}" if of_basis else "", judged=judged)
    ]  # fmt: skip
    if "textbook_seconds" in record:
        found.append(
            case(size, ours, peer=("textbook", record["textbook_seconds"]), limit=("memory, V each step", read[1]),
                 goal=f"ratio >= {of_textbook:g}" if of_textbook else "", judged=judged)
        )  # fmt: skip
    return found


def markdown(rows):
    """Return the table of all (name, record, goals, judged)."""
    lines = [
        "| input | d | rank | r | basis (ms) | order (ms) | BSS (ms) | BSS / basis | textbook (s) | textbook / BSS "
        "| same indices |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for name, record, (of_textbook, of_basis), _ in rows:
        ratio = f"{record['bss_over_basis']:.2f}" + (f" (goal <= {of_basis:g})" if of_basis else "")
        textbook = " | | "
        if "textbook_seconds" in record:
            goal = f" (goal >= {of_textbook:g})" if of_textbook else ""
            same = "yes" if record["same_indices"] else "NO"
            textbook = f"{record['textbook_seconds']:.2f} | {record['textbook_over_bss']:.1f}{goal} | {same}"
        lines.append(
            f"| {name} | {record['d']} | {record['rank']} | {record['r']} | {1e3 * record['basis_seconds']:.1f} "
            f"| {1e3 * record['order_seconds']:.1f} | {1e3 * record['bss_seconds']:.1f} | {ratio} "
            f"| {textbook} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="d = 4,000; the goals are for 20,000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS))
    parser.add_argument("--sets", type=int, default=3, help="number of TechTC sets")
    options = parser.parse_args()
    textbook_bss, rows = load_textbook(), []
    with threadpool_limits(1):
        for name, X in random_inputs(4_000 if options.quick else FULL).items():
            if name in options.inputs:
                (record,) = measure(X, (N_SELECTED,), options.repeats, textbook_bss)
                rows.append((name, record, (SPEEDUP_GOAL, BASIS_GOAL), not options.quick))
        for i, (name, X) in enumerate(text_inputs(options.sets if "techtc" in options.inputs else 0).items()):
            records = measure(X, tuple(TEXT_GOALS), options.repeats, None if i else textbook_bss)
            rows += [(f"TechTC {name}", record, (None, TEXT_GOALS[record["r"]]), True) for record in records]
        found = [common for row in rows for common in cases(*row)]
    inputs = {f"{name}, r = {record['r']}": record for name, record, *_ in rows}
    report("bss", markdown(rows), found, quick=options.quick, inputs=inputs)
    if not all(record.get("same_indices", True) for record in inputs.values()):
        raise SystemExit("bss.py: the indices differ from the textbook's")


if __name__ == "__main__":
    main()
