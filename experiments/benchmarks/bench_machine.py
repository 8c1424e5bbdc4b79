"""What bounds a computation on this machine: products and memory."""

import numpy as np
import pytest
from inputs import contenders, gaussian
from scipy.linalg.blas import daxpy


@contenders("float64", "float32")
@pytest.mark.parametrize("n", [1_500])
def bench_product(benchmark, n, contender):
    X = gaussian(n, n).astype(contender)
    benchmark(np.matmul, X, X)


@contenders("copy", "y = a x + y")
@pytest.mark.parametrize("megabytes", [134])
def bench_memory(benchmark, megabytes, contender):
    x, y = np.ones((2, megabytes * 125_000))
    work = {"copy": lambda: np.copyto(y, x), "y = a x + y": lambda: daxpy(x, y, a=0.5)}
    benchmark(work[contender])
