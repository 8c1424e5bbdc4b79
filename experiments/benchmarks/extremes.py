"""Every selector on very wide and very tall X: CPU seconds and memory of one fit.

python experiments/benchmarks/extremes.py [--quick] [--limit 60] [--selectors RRQRSelector ...]

Wide: 100 x 1,000,000, sparse, one value in a hundred, uniform between 0 and 1. Tall: 1,000,000 x 100, dense and
Gaussian. Both have two classes, told by ten columns with noise. Each selector keeps 20 features, by the leading 10
singular vectors or 10 projections where it has such a number, and has its defaults else. Those that only wrap another
selector are left out.
Each fit is a process of its own, on one BLAS thread, with an end after `--limit` CPU seconds and at 8 GiB of addresses
beyond X (Linux only). Memory is the peak (VmHWM) beyond X itself. extremes_table.md is the table alone.
"""

import argparse
import inspect
import os
import resource
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report
from timing.cases import folder

from provlab.core.tables import write_text
from provsel import selectors

BENCH = {
    "bench": ["--quick"],
    "quick": ["--quick"],
    "full": [],
    "left_out": "nine tenths of the long side, and what takes more than 5 s there",
    "seconds": 300,
}
SHORT, LONG, QUICK = 100, 1_000_000, 100_000
TOLD, DENSITY, KEPT, RANK = 10, 0.01, 20, 10
ROOM = 8 << 30


def wide(d):
    """Return sparse rows, CSR of shape (100, d), and their classes."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((SHORT, d), density=DENSITY, format="lil", rng=rng)
    X[:, :TOLD] = rng.random((SHORT, TOLD))
    X = X.tocsr()
    return X, labelled(X[:, :TOLD].toarray(), rng)


def tall(n):
    """Return Gaussian rows, shape (n, 100), and their classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, SHORT))
    return X, labelled(X[:, :TOLD], rng)


def labelled(told, rng):
    """Return two classes by the sum of some columns, with noise."""
    signal = told.sum(axis=1)
    signal += signal.std() * rng.standard_normal(signal.size)
    return (signal > np.median(signal)).astype(np.int64)


SHAPES = {"wide": wide, "tall": tall}


def made(name):
    """Return a selector of 20 features, or None for a class that wraps another selector."""
    cls = getattr(selectors, name)
    arguments = {"n_features_to_select": KEPT, "rank": RANK, "n_projections": RANK, "random_state": 0}
    takes = inspect.signature(cls).parameters
    return None if "selector" in takes else cls(**{key: value for key, value in arguments.items() if key in takes})


def names():
    """Return the selectors that are measured."""
    found = {name: getattr(selectors, name) for name in selectors.__all__}
    concrete = {name: cls for name, cls in found.items() if inspect.isclass(cls) and not inspect.isabstract(cls)}
    return [
        name for name, cls in concrete.items() if issubclass(cls, selectors.BaseSelector) and made(name) is not None
    ]


def status(field):
    """Return a number of /proc/self/status in bytes."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def fit(name, shape, size, limit):
    """Return (CPU seconds, peak bytes beyond X) of a fit, or the name of what it raised in place of the seconds."""
    X, y = SHAPES[shape](size)
    selector, before = made(name), status("VmRSS")
    spent = int(sum(os.times()[:2]))
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + ROOM,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (spent + limit, spent + limit))  # SIGXCPU ends the process
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what has not converged, and of equal scores
        try:
            seconds, _ = cpu_seconds(selector.fit, X, y if get_tags(selector).target_tags.required else None)
        except (MemoryError, ValueError) as error:
            return "more memory" if isinstance(error, MemoryError) else str(error), None
    return seconds, max(status("VmHWM") - before, 0)


def alone(*arguments):
    """Return `fit` of a new process."""
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(fit, *arguments).result()
    except BrokenProcessPool:
        return f"more than {arguments[-1]} s", None


def text(seconds, peak):
    """Return two cells of the table."""
    return f"{seconds} | " if isinstance(seconds, str) else f"{seconds:.2f} | {peak / 1e6:,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100,000 in the place of a million, and 5 s at most")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of a fit")
    parser.add_argument("--selectors", nargs="+", choices=names(), default=names(), metavar="NAME")
    options = parser.parse_args()
    size, limit = (QUICK, min(options.limit, 5)) if options.quick else (LONG, options.limit)
    titles = {"wide": f"{SHORT} x {size:,}, sparse", "tall": f"{size:,} x {SHORT}, dense"}
    lines = [
        f"| | {' | '.join(f'{title} (CPU s) | memory (MB)' for title in titles.values())} |",
        "|---|--:|--:|--:|--:|",
    ]
    records, cases = {}, []
    for name in options.selectors:
        found = records[name] = {shape: alone(name, shape, size, limit) for shape in SHAPES}
        lines.append(f"| `{name}` | {' | '.join(text(*each) for each in found.values())} |")
        print(lines[-1], flush=True)
        for shape, (seconds, peak) in found.items():
            if not isinstance(seconds, str):
                cases.append(case(f"{name}, {titles[shape]}", seconds))
                cases.append(case(f"{name}, {titles[shape]}, memory", peak / 1e6, unit="MB"))
    table = "\n".join(lines)
    write_text(folder() / "extremes_table.md", table + "\n")
    report("extremes", table, cases, selectors=records)


if __name__ == "__main__":
    main()
