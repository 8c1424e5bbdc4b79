"""Rows and columns from files, beside the readers of other packages and plain reading."""

from functools import cache

import numpy as np
import pyarrow.parquet as pq
import pytest
from inputs import OURS, contenders, new_folder
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from provsel.selectors import GaussianCompression
from provsel.streams import column_blocks, row_chunks

CHUNK = 512
PLAIN = "plain reading"


def plainly_read(path):
    with path.open("rb") as file:
        while file.read(8 << 20):
            pass


def summed(chunks):
    """Return the sum of all values, so that a mapped file is really read."""
    total = 0.0
    for chunk in chunks:
        values = chunk[0] if isinstance(chunk, tuple) else chunk
        total += float(values.sum(dtype=np.float64))
    return total


@cache
def written():
    """Write rows with a tenth of non-zeros, and dense ones, in all forms; return the folder."""
    folder = new_folder()
    rng = np.random.default_rng(0)
    n, d = 10_000, 2_000
    X = sparse.random_array((n, d), density=0.1, format="csr", rng=rng)
    y = np.where(rng.random(n) < 0.5, -1, 1)
    dense = rng.standard_normal((n, d), dtype=np.float32)
    dump_svmlight_file(X, y, str(folder / "rows.svm"), zero_based=False)
    sparse.save_npz(folder / "rows.npz", X, compressed=False)
    np.save(folder / "rows.npy", dense)
    np.save(folder / "columns.npy", np.asfortranarray(dense))
    compression = GaussianCompression(50, random_state=0)
    compression.compress_to(folder / "rows.parquet", row_chunks(X, y=y, chunk_rows=CHUNK))
    return folder


PEERS = {
    "rows.svm": lambda path: summed([load_svmlight_file(str(path))]),
    "rows.npz": lambda path: summed([sparse.load_npz(path)]),
    "rows.npy": lambda path: summed([np.load(path)]),
    "columns.npy": lambda path: summed([np.load(path)]),
    "rows.parquet": lambda path: pq.read_table(path, use_threads=False),
}
"""load_svmlight_file of scikit-learn, SciPy, NumPy and pyarrow, by file."""


def read_by_us(path):
    if path.name == "columns.npy":
        return summed(column_blocks(path, block_size=CHUNK))
    options = {"n_features": 2_000} if path.suffix == ".svm" else {}
    return summed(row_chunks(path, chunk_rows=CHUNK, **options))


@contenders(OURS, "peer", PLAIN)
@pytest.mark.parametrize("file", PEERS)
def bench_reading(benchmark, file, contender):
    work = {OURS: read_by_us, "peer": PEERS[file], PLAIN: plainly_read}
    benchmark(work[contender], written() / file)
