"""Methods of the field beside the packages that people use, in one run: CPU seconds, picks in common, memory.

python experiments/benchmarks/field.py [--sizes 60x200 ...] [--methods mRMR ...] [--csv
FILE] python experiments/benchmarks/field.py --growth [--methods mRMR ...] [--csv FILE]
python experiments/benchmarks/field.py --memory [--methods mRMR ...] [--csv FILE]

Each case is 20 features of random rows whose columns repeat each other in groups;
classes are two, numbers are a sum of three groups. One BLAS thread. Seconds are CPU
seconds of the process: the median of three, or one run of what takes more than a
second. Picks: how many of the package's 20 are among ours. MB: the largest that ours
allocates beside X, by tracemalloc, in a run before. A case replaces its row in the CSV
file, so that a table can be made piece by piece.

`--growth` measures ours alone: exponents of the CPU seconds in n, of 500 to 4,000 rows
of 200 columns, and in d, of 1,000 to 8,000 columns of 100 rows, classes, fitted to the
three largest.

`--memory` measures the largest resident set of a process of its own, with interpreter
and X, of ours on 20,000 x 500 and 200 x 100,000, classes. A fit is stopped after
`LONGEST` CPU seconds; the peak is that of the part before.

Packages that are no dependency of provsel are compared where they can be imported: pip
install mrmr-selection skfeature-chappers skrebate pyHSICLasso boruta knockpy skmatter.
Packages that take minutes are left out: see `TOO_LONG`.
"""

import argparse
import resource
import signal
import statistics
import warnings
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from field_cases import CASES, LEFT_OUT, TOO_LONG
from inputs import cpu_seconds, in_new_process, traced
from threadpoolctl import threadpool_limits

SIZES = ("60x200", "200x2000", "2000x500", "100x20000")
FIELDS = [
    "method",
    "package",
    "rows x columns",
    "target",
    "ours s",
    "theirs s",
    "times",
    "picks",
    "MB",
]
ROWS, COLUMNS = (500, 1000, 2000, 4000), (1000, 2000, 4000, 8000)
KNOCKOFF_SIZES = ["200x250", "200x500", "200x1000", "200x2000"]
GROWTH_FIELDS = [
    "method",
    "exponent of n",
    "exponent of d",
    "s of 4,000 x 200",
    "s of 100 x 8,000",
]
MEMORY_SIZES, LONGEST = ("20000x500", "200x100000"), 20
MEMORY_FIELDS = ["method", "rows x columns", "peak MB", "before MB", "s"]


@lru_cache(maxsize=1)
def rows_of(size):
    """Return X, two classes and numbers."""
    n_samples, n_features = map(int, size.split("x"))
    rng = np.random.default_rng([n_samples, n_features])
    hidden = rng.standard_normal((n_samples, 50))
    X = hidden[:, np.arange(n_features) % 50] + 1.5 * rng.standard_normal(
        (n_samples, n_features)
    )
    numbers = hidden[:, :3].sum(axis=1) + rng.standard_normal(n_samples)
    return X, (numbers > np.median(numbers)).astype(int), numbers


def timed(function):
    """Return the median CPU seconds of three calls, or of one of more than a second, and the result of the last."""
    seconds = []
    while len(seconds) < 3 and (not seconds or seconds[-1] <= 1):
        spent, result = cpu_seconds(function)
        seconds.append(spent)
    return statistics.median(seconds), result


def rounded(factor):
    """Return three digits of a factor, without an exponent."""
    return f"{float(f'{factor:.3g}'):g}"


def is_in(size, target, cases):
    """Return whether cases, as of `TOO_LONG`, have a size, or a target of it."""
    return size in cases or f"{size} {target}" in cases


def table_rows(sizes, methods):
    """Yield a row for each case."""
    for size in sizes:
        X, classes, numbers = rows_of(size)
        for method in methods:
            for target in CASES[method].targets:
                if not is_in(size, target, LEFT_OUT.get(method, ())):
                    yield measured(
                        method,
                        size,
                        target,
                        X,
                        classes if target == "classes" else numbers,
                    )


def measured(method, size, target, X, y):
    case = CASES[method]
    run = partial(case.select, X, y)
    picked, megabytes = traced(run)
    seconds, _ = timed(run)
    row = {
        "method": method,
        "rows x columns": size,
        "target": target,
        "ours s": f"{seconds:.3g}",
    }
    row["MB"] = f"{megabytes:.0f}"
    if case.package_select is None or is_in(size, target, TOO_LONG.get(method, ())):
        return row
    try:
        their_seconds, theirs = timed(partial(case.package_select, X, y))
    except ImportError as missing:
        print(f"{method}: {missing.name} is not installed, and {case.package} left out")
        return row
    row |= {
        "package": case.package,
        "theirs s": f"{their_seconds:.3g}",
        "times": rounded(their_seconds / seconds),
    }
    return row | {"picks": f"{np.intersect1d(picked, theirs).size} of {len(theirs)}"}


def growth_rows(methods):
    """Yield the exponents and the seconds of the largest case of each method."""
    for method in methods:
        row = {"method": method}
        tall = [f"{n}x200" for n in ROWS]
        wide = (
            KNOCKOFF_SIZES if method == "knockoffs" else [f"100x{d}" for d in COLUMNS]
        )
        for place, names in enumerate([tall, wide]):
            seconds = []
            for size in names:
                X, classes, _ = rows_of(size)
                seconds.append(timed(partial(CASES[method].select, X, classes))[0])
            lengths = [int(size.split("x")[place]) for size in names]
            row[GROWTH_FIELDS[1 + place]] = exponent_text(lengths, seconds)
            row[GROWTH_FIELDS[3 + place]] = f"{seconds[-1]:.3g}"
        yield row


def exponent_text(sizes, seconds):
    """Return "0.98 ± 0.02", of least squares in the logarithms of the three largest: small ones have constant costs."""
    (exponent, _), covariance = np.polyfit(
        np.log(sizes[-3:]), np.log(seconds[-3:]), 1, cov=True
    )
    return f"{exponent:.2f} ± {np.sqrt(covariance[0, 0]):.2f}"


def memory_rows(methods):
    """Yield a row for each size and method."""
    for size in MEMORY_SIZES:
        # before the fork, so that a peak has X and nothing of how it is drawn
        rows_of(size)
        for method in methods:
            if method == "knockoffs" and size != "20000x500":
                continue  # which refuses more than 2,000 columns
            before, peak, seconds = in_new_process(peaks, method, size, start="fork")
            row = {
                "method": method,
                "rows x columns": size,
                "peak MB": f"{peak:.0f}",
                "before MB": f"{before:.0f}",
            }
            yield row | {"s": seconds}


def peaks(method, size):
    """Return the peak of this process before and after a fit, in MB, and the fit's CPU seconds as a text."""
    X, classes, _ = rows_of(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        seconds = f"{cpu_seconds(CASES[method].select, X, classes)[0]:.2g}"
    except TimeoutError:
        seconds = f"stopped after {LONGEST}"
    except ValueError as error:
        seconds = f"refused: {error}"
    signal.setitimer(signal.ITIMER_PROF, 0)
    return before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, seconds


def stop(signal_number, frame):
    raise TimeoutError


def table_of(rows, fields, path):
    """Return the rows as a table, with those of other cases in a file, ordered by method, size and target."""
    lines = []
    for row in rows:
        print(row, flush=True)
        lines.append(row)
    table = pd.DataFrame(lines, columns=fields)
    if path and path.exists():
        table = pd.concat([pd.read_csv(path, dtype=str), table])
    key = [field for field in ("method", "rows x columns", "target") if field in fields]
    table["method"] = pd.Categorical(table["method"], [*CASES])
    return table.drop_duplicates(key, keep="last").sort_values(key)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--growth",
        action="store_true",
        help="exponents of ours in n and d, and no package",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="largest resident sets of ours, and no package",
    )
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument(
        "--methods", nargs="+", default=list(CASES), choices=list(CASES)
    )
    parser.add_argument("--csv", type=Path, help="write the table there too")
    options = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        if options.growth:
            table = table_of(growth_rows(options.methods), GROWTH_FIELDS, options.csv)
        elif options.memory:
            table = table_of(memory_rows(options.methods), MEMORY_FIELDS, options.csv)
        else:
            table = table_of(
                table_rows(options.sizes, options.methods), FIELDS, options.csv
            )
    print(table.to_string(index=False, na_rep=""))
    if options.csv:
        table.to_csv(options.csv, index=False)


if __name__ == "__main__":
    main()
