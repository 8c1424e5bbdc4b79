"""Files for the tests of streams of columns and of rows: written, damaged, and the memory that reading them takes."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse


def write_npy(folder, X, order="C"):
    np.save(folder / "X.npy", np.asarray(X, order=order))
    return folder / "X.npy"


def write_memmap(folder, X):
    mapped = np.memmap(folder / "X.raw", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def written(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


def npz_of(folder, **entries):
    np.savez(folder / "X.npz", **entries)
    return folder / "X.npz"


def parquet_of(folder, **columns):
    pq.write_table(pa.table(columns), folder / "X.parquet")
    return folder / "X.parquet"


def truncated(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    return path


def zeroed(path, position):
    """Damage a column; the footer stays whole."""
    content = bytearray(path.read_bytes())
    content[position : position + 40] = bytes(40)
    path.write_bytes(content)
    return path


def dense(part):
    return part.toarray() if sparse.issparse(part) else part


def peak_memory(read):
    """Return the largest memory of Python, NumPy and Arrow together while `read()` runs."""
    default = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(default)
    pa.set_memory_pool(counting)
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1] + counting.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(default)
