"""Laplacian score and alpha-investing against the package skfeature-chappers, a refitting peer, and all of MNIST.

python experiments/benchmarks/filters.py [--quick] [--datasets orl ...] [--images 70000]

One BLAS thread, CPU seconds of a process; each fit is run once but for ours below a second, of which the median of
three counts; alpha-investing and its refit take nine turns. skfeature-chappers is no dependency of provsel: it is
compared where it can be imported. Its Laplacian score is given our kernel width and the same graph; it counts every
row as its own neighbour, which ours does not, so its order of features is compared with and without these loops. It
forms n x n matrices: a child process of 8 GiB shows what becomes of them. Goals: alpha-investing 50 times as fast as a
least-squares refit for every feature at n = p = 1,000, with the same features accepted; the Laplacian score of all
70,000 MNIST images below 4 GB.

Everywhere the Laplacian score stands beside the nearest neighbours alone, of scikit-learn by brute force. Its limit
is a product of the operations of all distances, 2 n^2 d; that of alpha-investing is reading X once.
"""

import argparse
import math
import multiprocessing
import resource
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits
from timing import bandwidth_seconds, case, cpu_seconds, gemm_seconds, in_turns, report, several

from provlab.data import load_dataset
from provsel.selectors import AlphaInvestingSelector, LaplacianScoreSelector

try:
    from skfeature.function.similarity_based.lap_score import lap_score
    from skfeature.function.streaming.alpha_investing import alpha_investing as skfeature_alpha
    from skfeature.utility.construct_W import construct_W as affinity
except ImportError:
    lap_score = skfeature_alpha = affinity = None

BENCH = {
    "bench": ["--datasets", "orl", "coil20", "usps", "--images", "10000"],
    "quick": ["--quick"],
    "left_out": "ar; 60,000 of 70,000 MNIST images",
    "seconds": 300,
}
DATASETS = ("orl", "coil20", "ar", "usps")
IMAGES, FULL = 70_000, 1_000
NEIGHBORS = 5
ALPHA_TURNS = 9
MISSING = "skfeature-chappers is not installed: pip install skfeature-chappers"
ALPHA_GOAL, MEMORY_GOAL = 50.0, 4e9
LIMIT = 8 << 30
WEALTH = 0.5


def each_seconds(function):
    """Return (CPU seconds of each run, result): three runs when the first is below a second."""
    first, result = cpu_seconds(function)
    return [first, *several(function, 2 if first < 1.0 else 0)], result


def skfeature_order(X, width, loops):
    """Return their order of the features of X by our kernel width, with or without each row as its own neighbour."""
    W = affinity(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=width)
    if not loops:
        W.setdiag(0.0)
    return lap_score(X, mode="index", W=W)


def compare_laplacian(name, X):
    """Return the record of one data set: seconds of both, and whether they order its features alike."""
    LaplacianScoreSelector(1).fit(X[:200])  # the first calls of everything
    each, ours = each_seconds(lambda: LaplacianScoreSelector(X.shape[1]).fit(X))
    neighbors, _ = each_seconds(lambda: nearest(X))
    record = {
        "n": X.shape[0], "d": X.shape[1], "seconds": statistics.median(each), "all_seconds": each,
        "neighbor_seconds": neighbors,
    }  # fmt: skip
    if lap_score is None:
        return record
    width = ours.kernel_width_
    for label, loops in (("with loops", True), ("without loops", False)):
        theirs, order = guarded(skfeature_order, np.array(X), width, loops)
        record[label] = theirs if isinstance(theirs, str) else {"seconds": theirs, **agreement(ours, order)}
    theirs, _ = guarded(lap_score, np.array(X), None, "index")
    record["their default"] = theirs if isinstance(theirs, str) else {"seconds": theirs}
    return record


def nearest(X):
    """Return the neighbours of each row, by scikit-learn."""
    return NearestNeighbors(n_neighbors=NEIGHBORS, algorithm="brute").fit(X).kneighbors(return_distance=False)


def agreement(ours, order):
    """Return how many of the first tenth of the features agree, and whether their order gives our scores in order."""
    top = max(1, order.size // 10)
    scores = np.where(np.isinf(ours.scores_), 2.0, ours.scores_)
    steps = np.diff(scores[order])
    return {
        "top": top,
        "shared": int(np.intersect1d(order[:top], ours.indices_[:top]).size),
        "same_order": bool((steps >= -1e-9 * scores.max()).all()),
    }


def guarded(function, *arguments):
    """Return (CPU seconds, result), or the exception's name and message in place of the seconds."""
    try:
        return cpu_seconds(function, *arguments)
    except Exception as error:  # whatever their package raises is what is reported
        return f"{type(error).__name__}: {error}", None


def resident(field):
    """Return `VmRSS` or `VmHWM` of this process in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith(field)).split()[1]) * 1024


def in_a_child(function, *arguments):
    """Return what the function returns in a fresh process, whose memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool, threadpool_limits(1):
        return pool.apply(function, arguments)


def laplacian_memory(n):
    """Return seconds and memory of the Laplacian score of n MNIST images."""
    X = load_dataset("mnist").X[:n]
    with threadpool_limits(1):
        before = resident("VmRSS")
        seconds, _ = cpu_seconds(LaplacianScoreSelector(100).fit, X)
    peak = resident("VmHWM")
    return {
        "n": n, "d": X.shape[1], "seconds": seconds, "peak_bytes": peak, "growth_bytes": peak - before,
        "gemm": gemm_seconds(2 * n**2 * X.shape[1], str(X.dtype)),
    }  # fmt: skip


def skfeature_within_limit(n):
    """Return what becomes of their Laplacian score of n MNIST images in `LIMIT` bytes."""
    if lap_score is None:
        return MISSING
    X = np.array(load_dataset("mnist").X[:n])
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    with threadpool_limits(1):
        outcome, _ = guarded(lap_score, X, None, "index")
    return outcome if isinstance(outcome, str) else f"{outcome:.1f} s"


def two_classes(n, d, true=20):
    """Return Gaussian columns and the sign of the sum of `true` of them, anywhere, with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    signal = X[:, rng.permutation(d)[:true]].sum(axis=1) + rng.standard_normal(n)
    return X, (signal > 0).astype(np.int64)


def refitted(X, y):
    """Return the accepted columns by the definition: one least-squares fit with each candidate."""
    n, wealth, accepted = len(X), WEALTH, []
    kept = np.ones((n, 1))
    rss = float(((y - y.mean()) ** 2).sum())
    for i in range(X.shape[1]):
        level = wealth / (2 * (i + 1))
        wealth -= level
        with_candidate = np.column_stack([kept, X[:, i]])
        coefficients = np.linalg.lstsq(with_candidate, y, rcond=None)[0]
        smaller = float(((y - with_candidate @ coefficients) ** 2).sum())
        if math.exp(-n * (rss - smaller) / (2 * rss)) < level:
            accepted.append(i)
            wealth += WEALTH
            kept, rss = with_candidate, smaller
    return np.array(accepted)


def compare_alpha(n):
    """Return the record of alpha-investing at n = p."""
    X, y = two_classes(n, n)
    AlphaInvestingSelector().fit(X[:50, :50], y[:50])
    each, results = in_turns(
        {
            "ours": lambda: AlphaInvestingSelector(wealth=WEALTH, delta=WEALTH).fit(X, y),
            "refit": lambda: refitted(X, y.astype(np.float64)),
        },
        ALPHA_TURNS,
    )
    seconds, refit_seconds, ours = statistics.median(each["ours"]), statistics.median(each["refit"]), results["ours"]
    record = {
        "n": n, "accepted": ours.n_accepted_, "seconds": seconds, "all_seconds": each["ours"],
        "refit": {"seconds": refit_seconds, "all_seconds": each["refit"], "ratio": refit_seconds / seconds,
                  "same": np.array_equal(results["refit"], ours.indices_)},
    }  # fmt: skip
    if skfeature_alpha is not None:
        theirs, accepted = guarded(skfeature_alpha, X, y, WEALTH, WEALTH)
        record["skfeature"] = theirs if isinstance(theirs, str) else {
            "seconds": theirs, "ratio": theirs / seconds, "same": np.array_equal(accepted, ours.indices_),
        }  # fmt: skip
    return record


def cases(laplacian, alpha, memory):
    """Return the common records."""
    found = []
    for name, record in laplacian.items():
        n, d, theirs = record["n"], record["d"], record.get("without loops", "")
        label = f"Laplacian score, {name}, {n:,} x {d:,}"
        found.append(case(label, record["all_seconds"], peer=("kNN, scikit-learn", record["neighbor_seconds"]),
                          limit=gemm_seconds(2 * n**2 * d)))  # fmt: skip
        if theirs and not isinstance(theirs, str):
            found.append(case(f"{label}, whole", record["all_seconds"], peer=("skfeature", theirs["seconds"])))
    n = alpha["n"]
    found.append(
        case(f"alpha-investing, n = p = {n:,}", alpha["all_seconds"], peer=("refit", alpha["refit"]["all_seconds"]),
             limit=("memory, X once", bandwidth_seconds(8 * n**2)[1]), goal=f"ratio >= {ALPHA_GOAL:g}",
             judged=n == FULL)
    )  # fmt: skip
    peak, label = memory["peak_bytes"] / 1e6, f"Laplacian score, {memory['n']:,} MNIST images"
    found += [
        case(label, memory["seconds"], limit=memory["gemm"]),
        case(f"{label}, memory", peak, limit=("all allowed", MEMORY_GOAL / 1e6), goal="ratio_to_limit <= 1",
             judged=memory["n"] == IMAGES, unit="MB"),
    ]  # fmt: skip
    return found


def laplacian_lines(records):
    lines = ["Laplacian score, CPU seconds\n", "| data set | n x d | ours | skfeature | ratio | agreement |",
             "|---|--:|--:|--:|--:|---|"]  # fmt: skip
    for name, record in records.items():
        head = f"{name} | {record['n']} x {record['d']} | {record['seconds']:.3f}"
        if lap_score is None:
            lines.append(f"| {head} | {MISSING} | | |")
            continue
        for label in ("with loops", "without loops", "their default"):
            theirs = record[label]
            if isinstance(theirs, str):
                lines.append(f"| {head} | {theirs} | | {label} |")
                continue
            about = "another graph (cosine); normalises the rows of its argument in place"
            if "top" in theirs:
                order = "same order" if theirs["same_order"] else "another order"
                about = f"{theirs['shared']} of the first {theirs['top']} features, {order}"
            ratio = theirs["seconds"] / record["seconds"]
            lines.append(f"| {head} | {theirs['seconds']:.3f} | {ratio:.1f} | {label}: {about} |")
    return lines


def alpha_lines(record):
    lines = [
        f"\nAlpha-investing, n = p = {record['n']}: ours {record['seconds']:.4f} s, {record['accepted']} accepted\n",
        "| peer | CPU (s) | ratio | same features accepted |", "|---|--:|--:|---|",
    ]  # fmt: skip
    goal = f" (goal >= {ALPHA_GOAL:g}: {'met' if record['refit']['ratio'] >= ALPHA_GOAL else 'MISSED'})"
    peers = {"least-squares refit": (record["refit"], goal), "skfeature": (record.get("skfeature", MISSING), "")}
    for name, (found, note) in peers.items():
        if isinstance(found, str):
            lines.append(f"| {name} | {found} | | |")
        else:
            same = "yes" if found["same"] else "NO"
            lines.append(f"| {name} | {found['seconds']:.2f} | {found['ratio']:.0f}{note} | {same} |")
    return lines


def memory_lines(record, theirs):
    reached = "met" if record["peak_bytes"] < MEMORY_GOAL else "MISSED"
    return [
        f"\nLaplacian score of {record['n']} MNIST images: {record['seconds']:.1f} CPU s, peak "
        f"{record['peak_bytes'] / 1e9:.2f} GB in all, {record['growth_bytes'] / 1e9:.2f} GB beyond the loaded data "
        f"(goal < {MEMORY_GOAL / 1e9:g} GB: {reached})",
        f"\nskfeature on the same images, {LIMIT >> 30} GiB of addresses: {theirs}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="ORL, n = p = 300, 3,000 images; goals are for full size")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--images", type=int, default=IMAGES)
    options = parser.parse_args()
    names, size, images = (("orl",), 300, 3_000) if options.quick else (options.datasets, FULL, options.images)
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        laplacian = {name: compare_laplacian(name, load_dataset(name).X) for name in names}
        alpha = compare_alpha(size)
    memory = in_a_child(laplacian_memory, images)
    theirs = in_a_child(skfeature_within_limit, images)
    with threadpool_limits(1):
        found = cases(laplacian, alpha, memory)
    lines = [*laplacian_lines(laplacian), *alpha_lines(alpha), *memory_lines(memory, theirs)]
    report(
        "filters", "\n".join(lines), found, quick=options.quick, laplacian=laplacian, alpha=alpha, memory=memory,
        skfeature_within_limit=theirs, wall_seconds=time.perf_counter() - start,
    )  # fmt: skip
    if not alpha["refit"]["same"]:
        raise SystemExit("filters.py: alpha-investing and its refitting peer accepted different features")


if __name__ == "__main__":
    main()
