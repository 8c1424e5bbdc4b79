"""Rows that several benchmarks measure, and how contenders, seconds and memory are measured."""

import re
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from functools import cache, lru_cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from provlab.data import MissingDataError, load_dataset

OURS = "provsel"
TECHTC = ("Exp_10341_10755", "Exp_10341_14271", "Exp_10341_186330")


def contenders(*names):
    """Mark a benchmark as one that times each of these."""
    return pytest.mark.parametrize("contender", names)


def slow(*values):
    """Return a parameter that only a run of all benchmarks has."""
    return pytest.param(*values, marks=pytest.mark.slow)


@lru_cache(maxsize=2)  # some have hundreds of megabytes
def gaussian(n, d):
    return np.random.default_rng(0).standard_normal((n, d))


def two_classes(n, d):
    """Return Gaussian rows, and classes that ten columns tell apart, mostly."""
    X = gaussian(n, d)
    signal = X[:, :10].sum(axis=1) + np.random.default_rng(1).standard_normal(len(X))
    return X, np.where(signal > 0, 1, -1)


@cache
def loaded(name, **options):
    """Return a data set, and skip the benchmark where it is not there."""
    try:
        return load_dataset(name, **options)
    except MissingDataError as missing:
        pytest.skip(str(missing))


def cpu_seconds(function, *arguments):
    """Return (CPU seconds of the process, result) of one call."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def traced(function):
    """Return the result of a call, and the megabytes that it holds at once beside its input."""
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def status_megabytes(field):
    """Return VmRSS, VmHWM or VmSize of this process (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) * 1024e-6


def in_new_process(function, *arguments, start="spawn"):
    """Return what a function returns in a process whose memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context(start)) as pool:
        return pool.submit(function, *arguments).result()
