"""Compressed rows: X Lambda^T by blocks of Lambda, beside products with a stored Lambda and scikit-learn."""

from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from inputs import OURS, contenders, gaussian, loaded, slow
from scipy import sparse
from sklearn.random_projection import GaussianRandomProjection

from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.selectors import GaussianCompression, _compression_stream
from provsel.streams import row_chunks

KEPT, STORED = "Lambda kept", "product with Lambda stored"
WHOLE = 10**6
"""More rows than any data set here has."""


@cache
def blocks(components, n_features, store):
    return GaussianBlocks(
        components, n_features, variance=1 / n_features, key=0, store=store
    )


@cache
def stored(components, n_features):
    return blocks(components, n_features, True).dense().T


def compressors(X, components):
    """Return what compresses X, by contender."""
    n_features = X.shape[1]
    matrix = stored(components, n_features).astype(X.dtype)
    return {
        OURS: lambda: blocks(components, n_features, False).project(X),
        KEPT: lambda: blocks(components, n_features, True).project(X),
        STORED: lambda: X @ matrix,
    }


@contenders(OURS, KEPT, STORED)
@pytest.mark.parametrize("rows", [256, 1_024, 4_096])
@pytest.mark.parametrize("components", [slow(100), 400, slow(1_000)])
@pytest.mark.parametrize("numbers", ["float64", "float32"])
def bench_dense_rows(benchmark, numbers, components, rows, contender):
    X = gaussian(rows, 20_000).astype(numbers)
    benchmark(compressors(X, components)[contender])


@cache
def sparse_rows(name):
    """Return CCAT, or rows of a million columns with 100 non-zeros."""
    if name == "CCAT":
        return sparse.csr_array(loaded("rcv1_ccat").X)
    n, d = 65_536, 1_000_000
    return sparse.random_array(
        (n, d), density=100 / d, format="csr", rng=np.random.default_rng(0)
    )


SPARSE = [
    *(("CCAT", 100, rows) for rows in (1_024, 4_096, WHOLE)),
    *(slow("CCAT", 400, rows) for rows in (1_024, 4_096, WHOLE)),
    *(slow("a million columns", 100, rows) for rows in (1_024, 4_096, 16_384, WHOLE)),
]


@contenders(OURS, KEPT, STORED, "scikit-learn")
@pytest.mark.parametrize(("name", "components", "rows"), SPARSE)
def bench_sparse_rows(benchmark, name, components, rows, contender):
    X = sparse_rows(name)[:rows]
    if contender == "scikit-learn":
        benchmark(
            GaussianRandomProjection(components, random_state=0).fit(X[:1]).transform, X
        )
    else:
        benchmark(compressors(X, components)[contender])


@contenders("chunks together", "chunks alone", STORED)
@pytest.mark.parametrize(
    ("name", "components"), [("CCAT", 100), slow("a million columns", 100)]
)
def bench_rows_to_a_file(benchmark, tmp_path, name, components, contender):
    X = sparse_rows(name)
    if contender == STORED:
        benchmark(compressors(X, components)[STORED])
        return
    compression = GaussianCompression(components, store=False, random_state=0)
    together = _compression_stream.TOGETHER if contender == "chunks together" else 1
    with patch.object(_compression_stream, "TOGETHER", together):
        benchmark(
            lambda: compression.compress_to(
                tmp_path / "Z.parquet", row_chunks(X, chunk_rows=1_024)
            )
        )
