"""python experiments/benchmarks/stream.py [--quick] [--columns 1000000]: OnlineLeverageSelector on endless streams.

Columns of n = 1,000 rows: B g + noise, where B, shape (n, 20), is fixed, g is Gaussian, and the noise is in all
directions and 0.2 % as long. Block j comes from Philox with the key (seed, j), so it is the same in every run. Without
a ridge the noise would put every column outside the span of those kept, to score 1 until a thousand are kept; a ridge
of the squared length of a column of B makes it negligible, and the rate c = 1 then keeps a few hundred columns.

"generated" is a million columns in float64, made when they are wanted; ".npy" 100,000 of them in float32, in a file of
400 MB in Fortran order in a temporary folder, which the system has just written and may still hold in its cache. One
BLAS thread; CPU seconds, each stream in a process of its own; peak memory (VmHWM, so Linux only) beyond that after the
imports. The limit is a product of the 2 n d k operations that projecting d columns on k kept ones takes, the peer of
the memory storing all columns.
"""

import argparse
import re
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, gemm_seconds, report

from provsel.selectors import OnlineLeverageSelector
from provsel.streams import column_blocks

BENCH = {
    "bench": ["--columns", "200000"],
    "quick": ["--quick"],
    "left_out": "four of five columns",
    "seconds": 300,
}
N_ROWS, RANK, NOISE, BLOCK, SEED = 1_000, 20, 3e-4, 1_000, 0


def philox(block):
    """Return the generator of block 0, 1, ..., or of the directions B for -1."""
    return np.random.Generator(np.random.Philox(key=np.array([SEED, block + 1], dtype=np.uint64)))


def generated(d, dtype):
    """Yield (block, feature_indices) of d columns, a multiple of BLOCK; a block has shape (n, BLOCK)."""
    directions = philox(-1).standard_normal((N_ROWS, RANK)) / np.sqrt(N_ROWS)
    for j in range(d // BLOCK):
        rng = philox(j)
        signal = directions @ rng.standard_normal((RANK, BLOCK))
        noise = rng.standard_normal((BLOCK, N_ROWS), dtype=np.float32).T
        yield (signal + NOISE * noise).astype(dtype), np.arange(j * BLOCK, (j + 1) * BLOCK)


def written(path, d):
    """Write d columns to a .npy file in Fortran order."""
    shape = (N_ROWS, d)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape, fortran_order=True)
    for block, features in generated(d, np.float32):
        array[:, features[0] : features[-1] + 1] = block


def peak_megabytes():
    """Return the largest resident memory that this process ever had."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1e3


def measure(d, path=None):
    """Return the record of a stream of d columns, after a tenth and at the end; from a file when there is one."""
    with threadpool_limits(1):
        before = peak_megabytes()
        selector = OnlineLeverageSelector(sampling_rate=1.0, outside_span="ridge", ridge=1.0, random_state=SEED)
        blocks = iter(generated(d, np.float64) if path is None else column_blocks(path, block_size=BLOCK))
        reading = selecting = 0.0
        records, start = [], time.perf_counter()
        for goal in (d // 10, d):
            while reading == 0.0 or selector.n_seen_ < goal:
                seconds, (block, features) = cpu_seconds(next, blocks)
                reading += seconds
                seconds, _ = cpu_seconds(selector.partial_fit_columns, block, features)
                selecting += seconds
            records.append({
                "columns": selector.n_seen_, "kept": selector.indices_.size,
                "reading_seconds": reading, "selecting_seconds": selecting,
                "wall_seconds": time.perf_counter() - start,
                "read_columns_per_second": selector.n_seen_ / reading,
                "selected_columns_per_second": selector.n_seen_ / selecting,
                "selecting_over_reading": selecting / reading,
                "peak_growth_megabytes": peak_megabytes() - before,
            })  # fmt: skip
    return records


def alone(*arguments):
    """Return `measure` of a new process, whose memory is not that of the stream before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, *arguments).result()


def cases(streams):
    """Return the common records, at the end of each stream."""
    found = []
    for name, (_, end) in streams.items():
        label, size = f"{name}, {N_ROWS:,} x {end['columns']:,}", 8e-6 * N_ROWS * end["columns"]
        found += [
            case(label, end["selecting_seconds"], limit=gemm_seconds(2 * N_ROWS * end["columns"] * end["kept"])),
            case(f"{label}, memory", end["peak_growth_megabytes"], peer=("all columns", size), unit="MB"),
        ]
    return found


def markdown(streams):
    """Return the table of all streams, and what a column costs in memory."""
    lines = [
        "| stream | columns | kept | made or read (s) | selected (s) | made or read, columns/s | selected, columns/s "
        "| ratio of times | peak growth (MB) |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, records in streams.items():
        lines += [
            f"| {name} | {found['columns']:,} | {found['kept']} | {found['reading_seconds']:.2f} "
            f"| {found['selecting_seconds']:.2f} | {found['read_columns_per_second']:,.0f} "
            f"| {found['selected_columns_per_second']:,.0f} | {found['selecting_over_reading']:.1f} "
            f"| {found['peak_growth_megabytes']:.1f} |"
            for found in records
        ]
    for name, (tenth, whole) in streams.items():
        growth = whole["peak_growth_megabytes"] - tenth["peak_growth_megabytes"]
        each = 1e6 * growth / (whole["columns"] - tenth["columns"])
        lines.append(f"\n{name}: {each:.0f} bytes a column after the first tenth; a column is {8 * N_ROWS:,} bytes.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20,000 columns, and 10,000 of the file")
    parser.add_argument("--columns", type=int, default=1_000_000, help="of the stream; a tenth in the file")
    options = parser.parse_args()
    d, stored = (20_000, 10_000) if options.quick else (options.columns, options.columns // 10)
    streams = {"generated": alone(d)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "columns.npy"
        written(path, stored)
        streams[".npy"] = alone(stored, path)
    with threadpool_limits(1):
        found = cases(streams)
    report("stream", markdown(streams), found, quick=options.quick, streams=streams)


if __name__ == "__main__":
    main()
