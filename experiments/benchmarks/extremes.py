"""Every selector on very wide and very tall X: CPU seconds and memory of one fit.

python experiments/benchmarks/extremes.py [--size 1000000] [--limit 60] [--selectors
RRQRSelector ...]

Wide: 100 x 1,000,000, sparse, one value in a hundred, uniform between 0 and 1. Tall:
1,000,000 x 100, dense and Gaussian. Both have two classes, told by ten columns with
noise. Each selector keeps 20 features, by the leading 10 singular vectors or 10
projections where it has such a number, and has its defaults else. Those that only wrap
another selector are left out. Each fit is a process of its own, on one BLAS thread,
with an end after `--limit` CPU seconds and at 8 GiB of addresses beyond X (Linux only).
Memory is the peak (VmHWM) beyond X itself. The output is docs/measured/extremes.md.
"""

import argparse
import inspect
import os
import resource
import warnings
from concurrent.futures.process import BrokenProcessPool

import numpy as np
from inputs import cpu_seconds, in_new_process, status_megabytes
from scipy import sparse
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from provsel import selectors

SHORT, N_RELEVANT = 100, 10
ARGUMENTS = {
    "n_features_to_select": 20,
    "rank": 10,
    "n_projections": 10,
    "random_state": 0,
}
MEGABYTES = 8 << 10


def rows_of(shape, size):
    """Return rows, 100 x size in CSR or size x 100, and their two classes."""
    rng = np.random.default_rng(0)
    if shape == "wide":
        X = sparse.random_array((SHORT, size), density=0.01, format="lil", rng=rng)
        X[:, :N_RELEVANT] = rng.random((SHORT, N_RELEVANT))
        X = X.tocsr()
        signal = X[:, :N_RELEVANT].toarray().sum(axis=1)
    else:
        X = rng.standard_normal((size, SHORT))
        signal = X[:, :N_RELEVANT].sum(axis=1)
    signal += signal.std() * rng.standard_normal(signal.size)
    return X, (signal > np.median(signal)).astype(np.int64)


def names():
    """Return the selectors that can be made and wrap no other."""
    chosen = []
    for name in selectors.__all__:
        cls = getattr(selectors, name)
        is_selector = (
            inspect.isclass(cls)
            and issubclass(cls, selectors.BaseSelector)
            and not inspect.isabstract(cls)
        )
        if is_selector and "selector" not in inspect.signature(cls).parameters:
            chosen.append(name)
    return chosen


def selector_named(name):
    cls = getattr(selectors, name)
    parameters = inspect.signature(cls).parameters
    return cls(**{key: value for key, value in ARGUMENTS.items() if key in parameters})


def fit(name, shape, size, limit):
    """Return two cells of the table, CPU seconds and megabytes; or why there are none."""
    X, y = rows_of(shape, size)
    selector, before = selector_named(name), status_megabytes("VmRSS")
    room = int((status_megabytes("VmSize") + MEGABYTES) * 1e6)
    end = int(sum(os.times()[:2])) + limit
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CPU, (end, end))  # SIGXCPU ends the process
    needs_labels = get_tags(selector).target_tags.required
    try:
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
            seconds, _ = cpu_seconds(selector.fit, X, y if needs_labels else None)
    except MemoryError:
        return "more memory | "
    except ValueError as error:
        return f"{error} | "
    return f"{seconds:.2f} | {max(status_megabytes('VmHWM') - before, 0):,.0f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of a fit")
    parser.add_argument(
        "--selectors", nargs="+", choices=names(), default=names(), metavar="NAME"
    )
    options = parser.parse_args()
    long = f"{options.size:,}"
    print(
        f"| | {SHORT} x {long}, sparse (CPU s) | memory (MB) | {long} x {SHORT}, dense (CPU s) | memory (MB) |"
    )
    print("|---|--:|--:|--:|--:|")
    for name in options.selectors:
        cells = []
        for shape in ("wide", "tall"):
            try:
                cells.append(
                    in_new_process(fit, name, shape, options.size, options.limit)
                )
            except BrokenProcessPool:
                cells.append(f"more than {options.limit} s | ")
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
