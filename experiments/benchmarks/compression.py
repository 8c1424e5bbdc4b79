"""python experiments/benchmarks/compression.py [--quick|--bench]: X Lambda^T by GaussianBlocks beside plain products.

Dense: n rows of m = 20,000 standard normal values, l columns, beside NumPy's product with a Lambda^T that is stored, C
order, shape (m, l): billions of floating point operations (2 n m l) a second, and the share of the product's rate.
Lambda is regenerated for each chunk ("regenerated") or drawn once ("kept").

Sparse: CCAT of RCV1, left out where it is not there, and synthetic rows with 100 non-zeros at m = 1,000,000 features,
beside SciPy's product of CSR with the stored Lambda^T, and `transform` of scikit-learn's GaussianRandomProjection,
which stores its matrix, of the same size, in the other order. Time over that of SciPy's product.

File: `compress_to` of all sparse rows in chunks of 1,024, which it puts together up to 64 MB, against each chunk alone;
with the time to write the file.

One BLAS thread, CPU seconds, the median of three calls, or one where it takes more than half a second. The default run
takes some three minutes and 4 GB.
"""

import argparse
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.random_projection import GaussianRandomProjection
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report, several

from provlab.data import MissingDataError, load_dataset
from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.selectors import GaussianCompression, _compression_stream
from provsel.streams import row_chunks

BENCH = {
    "bench": ["--bench"],
    "quick": ["--quick", "--bench"],
    "left_out": "other l and numbers of rows, a million synthetic features",
    "seconds": 300,
}
SEED, DENSE_FEATURES, SPARSE_FEATURES, NONZEROS, CHUNK = 0, 20_000, 1_000_000, 100, 1_024


def median_seconds(function, *arguments):
    """Return the median of `all_seconds`."""
    return float(np.median(all_seconds(function, *arguments)))


def all_seconds(function, *arguments):
    """Return CPU seconds of three calls, or of the first where it takes more than half a second."""
    return several(lambda: function(*arguments), long=0.5)


def lambdas(ell, m):
    """Return Lambda regenerated for each call, kept, and as an array of shape (m, l) in C order."""
    regenerated, kept = (GaussianBlocks(ell, m, variance=1 / m, key=SEED, store=store) for store in (False, True))
    stored = kept.dense().T
    assert stored.flags.c_contiguous
    return regenerated, kept, stored


def dense_rows(n, dtype):
    """Return rows of shape (n, 20,000)."""
    return np.random.default_rng(SEED).standard_normal((n, DENSE_FEATURES), dtype=dtype)


def dense(cases, dtype):
    """Return a record for each (l, numbers of rows)."""
    X = dense_rows(max(n for _, sizes in cases for n in sizes), dtype)
    records = []
    for ell, sizes in cases:
        regenerated, kept, stored = lambdas(ell, DENSE_FEATURES)
        stored = stored.astype(dtype)
        for n in sizes:
            chunk = X[:n]
            each = {"plain": all_seconds(np.matmul, chunk, stored)}
            each |= {
                name: all_seconds(blocks.project, chunk)
                for name, blocks in (("regenerated", regenerated), ("kept", kept))
            }
            seconds = {name: float(np.median(times)) for name, times in each.items()}
            plain = seconds.pop("plain")
            records.append({
                "dtype": np.dtype(dtype).name, "n_components": ell, "rows": n,
                "gigaflops": 2e-9 * n * stored.size / plain,
                "plain_seconds": plain, "all_seconds": each,
                **{f"{name}_share": plain / value for name, value in seconds.items()},
            })  # fmt: skip
    return records


def sparse_rows(n):
    """Return rows of shape (n, 1,000,000) with 100 non-zeros, or fewer where a column was drawn twice."""
    rng = np.random.default_rng(SEED)
    columns = rng.integers(SPARSE_FEATURES, size=NONZEROS * n, dtype=np.int32)
    starts = np.arange(0, NONZEROS * n + 1, NONZEROS, dtype=np.int32)
    X = sparse.csr_array((rng.standard_normal(NONZEROS * n), columns, starts), shape=(n, SPARSE_FEATURES))
    X.sum_duplicates()
    return X


def of_sparse(name, X, ell, sizes):
    """Return the records of one matrix and l."""
    regenerated, kept, stored = lambdas(ell, X.shape[1])
    peer = GaussianRandomProjection(ell, random_state=SEED).fit(X[:1])
    records = []
    for n in sizes:
        chunk = X[:n]
        each = {
            "plain": all_seconds(chunk.__matmul__, stored),
            "regenerated": all_seconds(regenerated.project, chunk),
            "kept": all_seconds(kept.project, chunk),
            "scikit_learn": all_seconds(peer.transform, chunk),
        }
        seconds = {name: float(np.median(times)) for name, times in each.items()}
        plain = seconds.pop("plain")
        records.append({
            "rows_of": name, "n_components": ell, "rows": chunk.shape[0],
            "nonzeros_a_feature": chunk.nnz / chunk.shape[1],
            "plain_seconds": plain, "all_seconds": each,
            **{f"{key}_over_plain": value / plain for key, value in seconds.items()},
        })  # fmt: skip
    plain = median_seconds(X.__matmul__, stored)
    return records, to_file(name, X, ell, plain)


def to_file(name, X, ell, plain):
    """Return the record of `compress_to` in chunks of 1,024 rows, put together or alone, Lambda regenerated."""
    record = {"rows_of": name, "n_components": ell, "rows": X.shape[0], "plain_seconds": plain}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Z.parquet"
        for how, size in (("together", _compression_stream.TOGETHER), ("alone", 1)):
            compression = GaussianCompression(ell, store=False, random_state=SEED)
            with patch.object(_compression_stream, "TOGETHER", size):
                seconds, _ = cpu_seconds(compression.compress_to, path, row_chunks(X, chunk_rows=CHUNK))
            record |= {f"{how}_over_plain": seconds / plain, f"{how}_rows_per_second": X.shape[0] / seconds}
    return record


def cases(of_dense, of_sparse_, of_files):
    """Return the common records; dense rows and files with Lambda regenerated for each chunk."""
    found = []
    for r in of_dense:
        name = f"{r['dtype']}, {r['rows']:,} x {DENSE_FEATURES:,}, l = {r['n_components']}"
        found.append(case(name, r["all_seconds"]["regenerated"], limit=("GEMM, stored", r["all_seconds"]["plain"])))
    for r in of_sparse_:
        name = f"{r['rows_of']}, {r['rows']:,} rows, l = {r['n_components']}"
        peer = ("scikit-learn, stored", r["all_seconds"]["scikit_learn"])
        limit = ("SciPy's product", r["all_seconds"]["plain"])
        found += [
            case(f"{name}, {how}", r["all_seconds"][how], peer=peer, limit=limit) for how in ("regenerated", "kept")
        ]
    for r in of_files:
        seconds = {how: r["rows"] / r[f"{how}_rows_per_second"] for how in ("together", "alone")}
        name, limit = f"{r['rows_of']} to a file, l = {r['n_components']}", ("SciPy's product", r["plain_seconds"])
        found.append(case(name, seconds["together"], peer=("chunks alone", seconds["alone"]), limit=limit))
    return found


def markdown(of_dense, of_sparse_, of_files):
    """Return the three tables."""
    lines = [
        "| numbers | l | rows | product, GFLOP/s | share, regenerated | share, kept |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {r['dtype']} | {r['n_components']:,} | {r['rows']:,} | {r['gigaflops']:.1f} | {r['regenerated_share']:.2f} "
        f"| {r['kept_share']:.2f} |"
        for r in of_dense
    ]
    lines += [
        "\n| rows of | l | rows | non-zeros a feature | product (ms) | regenerated / product | kept / product "
        "| scikit-learn / product |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {r['rows_of']} | {r['n_components']:,} | {r['rows']:,} | {r['nonzeros_a_feature']:.1f} "
        f"| {1e3 * r['plain_seconds']:.1f} | {r['regenerated_over_plain']:.2f} | {r['kept_over_plain']:.2f} "
        f"| {r['scikit_learn_over_plain']:.2f} |"
        for r in of_sparse_
    ]
    lines += [
        "\n| to a file, chunks of 1,024 rows of | l | rows | together / product | alone / product "
        "| together, rows/s | alone, rows/s |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {r['rows_of']} | {r['n_components']:,} | {r['rows']:,} | {r['together_over_plain']:.2f} "
        f"| {r['alone_over_plain']:.2f} | {r['together_rows_per_second']:,.0f} | {r['alone_rows_per_second']:,.0f} |"
        for r in of_files
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small chunks, l = 100")
    parser.add_argument("--bench", action="store_true", help="l = 400 of the dense rows, l = 100 of CCAT")
    options = parser.parse_args()
    quick, few_components = options.quick, options.quick or options.bench
    with threadpool_limits(1):
        few, many = (256, 1_024, 4_096), (256, 512, 1_024, 4_096, 8_192)
        small = [(100, (256, 1_024))] if quick else [(400, (1_024, 4_096))]
        of_dense = dense(small if few_components else [(100, many), (400, few), (1_000, few)], np.float64)
        of_dense += dense(small if few_components else [(400, few)], np.float32)
        inputs = [] if options.bench else [
            ("synthetic", sparse_rows(4_096 if quick else 65_536), [100], (1_024, 4_096, 16_384, 65_536))
        ]  # fmt: skip
        try:
            X = sparse.csr_array(load_dataset("rcv1_ccat").X)
            inputs.insert(0, ("CCAT", X, [100] if few_components else [100, 400], (1_024, 4_096, 8_192, X.shape[0])))
        except MissingDataError as missing:
            print(f"CCAT is left out: {missing}\n")
        records, of_files = [], []
        for name, X, components, sizes in inputs:
            for ell in components:
                found, file = of_sparse(name, X, ell, [n for n in sizes if n <= X.shape[0]])
                records += found
                of_files.append(file)
    tables = markdown(of_dense, records, of_files)
    found = cases(of_dense, records, of_files)
    report("compression", tables, found, quick=quick, dense=of_dense, sparse=records, files=of_files)


if __name__ == "__main__":
    main()
