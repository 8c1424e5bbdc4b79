"""python experiments/benchmarks/lpsvm.py [--quick] [--every 1]: solvers of the 1-norm SVM, on TechTC and CCAT.

One process, one BLAS thread, CPU seconds. "full" is HiGHS on all columns, the oracle; "highs" the same after parallel
columns are merged; "newton" the paper's method made convergent. CCAT: the rows with y f < 1 of LIBLINEAR, C = 10,
squared hinge, on 5,000 distinct documents of the RCV1 subsets. HiGHS stops after 180 seconds and Newton
after 1,000 (CCAT: 2,000) steps: where one did, its gap says so. The limit is one linear SVM (LIBSVM) on all features.
"""

import argparse
import statistics

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report

from provlab.data import MissingDataError, dataset_members, load_dataset
from provsel.kernels.lpsvm import lpsvm_highs
from provsel.kernels.lpsvm_columns import distinct_columns
from provsel.kernels.lpsvm_newton import lpsvm_newton
from provsel.models import LiblinearSVM, LibsvmSVM

BENCH = {
    "bench": ["--every", "5"],
    "quick": ["--quick"],
    "left_out": "four of five TechTC sets; CCAT",
    "seconds": 300,
}
CCAT_DOCUMENTS = 5_000
NEWTON_LIMIT_ON_CCAT = 2_000
HIGHS_SECONDS = 180.0


def merged(X, y):
    """Return D X without parallel columns."""
    X = sparse.csc_array(X)
    return sparse.csc_array(X[:, distinct_columns(X)].multiply(y[:, None]))


def methods(newton_limit):
    """Return the compared solvers, each a function of X, y, nu."""
    return {
        "full": lambda X, y, nu: lpsvm_highs(
            sparse.csc_array(X.multiply(y[:, None])), y, nu, max_seconds=HIGHS_SECONDS
        ),
        "highs": lambda X, y, nu: lpsvm_highs(merged(X, y), y, nu, max_seconds=HIGHS_SECONDS),
        "newton": lambda X, y, nu: lpsvm_newton(merged(X, y), y, nu, max_iter=newton_limit),
    }


def compare(X, y, nu, newton_limit):
    """Return a record per method."""
    records = {"svm": {"seconds": cpu_seconds(LibsvmSVM().fit, X, y)[0]}}
    for name, method in methods(newton_limit).items():
        seconds, found = cpu_seconds(method, X, y, nu)
        support = int(np.count_nonzero(found.w))
        records[name] = {
            "seconds": seconds,
            "objective": found.objective,
            "gap": found.gap,
            "features": support,
            "steps": found.n_iter,
        }
    return records


def ccat_rows():
    """Return (X, y) of the support vectors, or None without the data."""
    try:
        data = load_dataset("rcv1_ccat")
    except MissingDataError:
        return None
    X, y = data.X[:CCAT_DOCUMENTS], data.y[:CCAT_DOCUMENTS].astype(float)
    rows = np.flatnonzero(y * LiblinearSVM(C=10).fit(X, y).decision_function(X) < 1)
    return X[rows], y[rows]


def techtc_table(records):
    """Return the table of medians, sums and extremes over the sets."""
    lines = [
        f"TechTC, {len(records)} sets, nu = 1",
        "| method | median (ms) | sum (s) | fastest on | objective difference (max) | gap (max) | features (median) |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name in methods(1):
        mine = [record[name] for record in records.values()]
        seconds = [entry["seconds"] for entry in mine]
        wins = sum(
            record[name]["seconds"] == min(record[each]["seconds"] for each in methods(1))
            for record in records.values()
        )
        difference = max(abs(r[name]["objective"] / r["full"]["objective"] - 1) for r in records.values())
        lines.append(
            f"| {name} | {1e3 * statistics.median(seconds):.1f} | {sum(seconds):.2f} | {wins} | {difference:.1e} "
            f"| {max(entry['gap'] for entry in mine):.1e} | {statistics.median(e['features'] for e in mine):g} |"
        )
    return "\n".join(lines)


def ccat_table(records, shape):
    """Return the table of CCAT, one row for each nu and method."""
    lines = [
        f"CCAT, {CCAT_DOCUMENTS} documents, {shape[0]} support vectors x {shape[1]} terms",
        "| nu | method | seconds | objective | gap | features | steps |",
        "|--:|---|--:|--:|--:|--:|--:|",
    ]
    for nu, record in records.items():
        for name in methods(1):
            entry = record[name]
            lines.append(
                f"| {nu} | {name} | {entry['seconds']:.2f} | {entry['objective']:.6f} | {entry['gap']:.1e} "
                f"| {entry['features']} | {entry['steps']} |"
            )
    return "\n".join(lines)


def cases(sets, ccat):
    """Return the common records: medians over the TechTC sets, and CCAT."""
    seconds = {name: [record[name]["seconds"] for record in sets.values()] for name in ("svm", *methods(1))}
    found = [
        case(f"TechTC, {len(sets)} sets, {name}", seconds[name], peer=("HiGHS, all columns", seconds["full"]),
             limit=("one full SVM", seconds["svm"]))
        for name in ("highs", "newton")
    ]  # fmt: skip
    found += [
        case(f"CCAT, nu = {nu}, {name}", record[name]["seconds"],
             peer=("HiGHS, all columns", record["full"]["seconds"]), limit=("one full SVM", record["svm"]["seconds"]))
        for nu, record in ccat.items() for name in ("highs", "newton")
    ]  # fmt: skip
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="every tenth TechTC set, no CCAT")
    parser.add_argument("--every", type=int, default=1, help="every so many sets only, and no CCAT from 2 on")
    options = parser.parse_args()
    every = 10 if options.quick else options.every
    with threadpool_limits(1):
        sets = {}
        for name in dataset_members("techtc")[::every]:
            data = load_dataset("techtc", set=name)
            sets[name] = compare(data.X, data.y.astype(float), 1.0, 1_000)
        rows = None if every > 1 else ccat_rows()
        ccat = {} if rows is None else {nu: compare(*rows, float(nu), NEWTON_LIMIT_ON_CCAT) for nu in (1, 10)}
    second = (
        ccat_table(ccat, rows[0].shape)
        if ccat
        else "CCAT: not run (not all sets were asked for, or the data set is missing)"
    )
    report("lpsvm", f"{techtc_table(sets)}\n\n{second}", cases(sets, ccat), quick=options.quick, techtc=sets, ccat=ccat)


if __name__ == "__main__":
    main()
