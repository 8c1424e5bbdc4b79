"""python experiments/benchmarks/reading.py [--quick]: rows from files, beside plain reading and scikit-learn.

Synthetic rows with a tenth of non-zeros, as svmlight text, SciPy's .npz and Parquet of compressed rows, and dense rows
in float32 as .npy; `row_chunks` and `column_blocks` read them chunk by chunk, and every value is summed, so that a
mapped file is really read. The peer is `load_svmlight_file`, `scipy.sparse.load_npz`, `pyarrow` or `numpy.load`, with
the same sum, all rows at once. The limit is reading the file as bytes. The system has just written the files and may
hold them in its cache. One thread, CPU seconds (of the process, with the threads that read ahead), medians of five
turns.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from threadpoolctl import threadpool_limits
from timing import case, in_turns, report

from provsel.selectors import GaussianCompression
from provsel.streams import column_blocks, row_chunks

BENCH = {"bench": [], "quick": ["--quick"], "left_out": "", "seconds": 300}
DENSITY, CHUNK, COMPONENTS = 0.1, 512, 50
TURNS, READINGS = 5, 5


def plainly(path):
    """Read a file in parts of 8 MB, several times, as once is too short for the clock."""
    for _ in range(READINGS):
        with path.open("rb") as file:
            while file.read(8 << 20):
                pass


def summed(chunks):
    """Return the sum of all values of chunks (X, y) or (block, indices)."""
    return sum(float((chunk[0] if isinstance(chunk, tuple) else chunk).sum(dtype=np.float64)) for chunk in chunks)


def files(folder, n, d):
    """Write the files and return, by name, (path, our reader, peer, their reader)."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=DENSITY, format="csr", rng=rng)
    y = np.where(rng.random(n) < 0.5, -1, 1)
    text, npz, npy, columns = (folder / name for name in ("rows.svm", "rows.npz", "rows.npy", "columns.npy"))
    dump_svmlight_file(X, y, str(text), zero_based=False)
    sparse.save_npz(npz, X, compressed=False)
    dense = rng.standard_normal((n, d), dtype=np.float32)
    np.save(npy, dense)
    np.save(columns, np.asfortranarray(dense))
    parquet = folder / "compressed.parquet"
    compression = GaussianCompression(COMPONENTS, random_state=0)
    compression.compress_to(parquet, row_chunks(X, y=y, chunk_rows=CHUNK))
    return {
        "svmlight": (text, lambda: summed(row_chunks(text, chunk_rows=CHUNK, n_features=d)), "load_svmlight_file",
                     lambda: summed([load_svmlight_file(str(text), n_features=d, zero_based=False)])),
        "npz, sparse": (npz, lambda: summed(row_chunks(npz, chunk_rows=CHUNK)), "load_npz",
                        lambda: summed([sparse.load_npz(npz)])),
        "npy, rows": (npy, lambda: summed(row_chunks(npy, chunk_rows=CHUNK)), "numpy.load",
                      lambda: summed([np.load(npy)])),
        "npy, columns": (columns, lambda: summed(column_blocks(columns, block_size=CHUNK)), "numpy.load",
                         lambda: summed([np.load(columns)])),
        "compressed Parquet": (parquet, lambda: summed(row_chunks(parquet, chunk_rows=CHUNK)), "pyarrow",
                               lambda: pq.read_table(parquet, use_threads=False)),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    n, d = (1_000, 2_000) if parser.parse_args().quick else (10_000, 2_000)
    found, lines = (
        [],
        ["| file | MB | ours (s) | peer | peer (s) | plain (s) | MB/s |", "|---|--:|--:|---|--:|--:|--:|"],
    )
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for name, (path, ours, peer, theirs) in files(Path(folder), n, d).items():
            seconds, sums = in_turns({"ours": ours, "peer": theirs, "plain": lambda path=path: plainly(path)}, TURNS)
            seconds["plain"] = [each / READINGS for each in seconds["plain"]]
            if isinstance(sums["peer"], float):
                assert np.isclose(sums["ours"], sums["peer"], rtol=1e-6, atol=1e-3), f"{name}: another sum"
            size = path.stat().st_size / 1e6
            one = case(f"{name}, {n:,} x {d:,}", seconds["ours"], peer=(peer, seconds["peer"]),
                       limit=("plain reading", seconds["plain"]))  # fmt: skip
            found.append(one)
            lines.append(
                f"| {name} | {size:.1f} | {one['ours_cpu']:.3f} | {peer} | {one['peer_cpu']:.3f} "
                f"| {one['limit_cpu']:.3f} | {size / one['ours_cpu']:,.0f} |"
            )
    report("reading", "\n".join(lines), found)


if __name__ == "__main__":
    main()
