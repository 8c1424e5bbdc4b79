"""python experiments/benchmarks/outofcore.py [--quick] [--part sparse|dense] [--every 1]: more rows than memory.

A compressed SVM is trained from files of five times the memory that its process may use, and so is LIBLINEAR, under
the same limit and without. Real rows: MNIST's 3 against 8, whose features are the products of random pairs of pixels,
divided by the rows' root mean square length. "sparse" is an svmlight file of the training images; "dense" a .npy file
in float32 of these and their shifts by one pixel to the right and down. Test rows: MNIST's own 1,984, unshifted.

The limit is RLIMIT_DATA (Linux), set before Python starts: all memory that a process can write to and shares with
nobody, that of Python and the imports too (the row "imports only"). LIBLINEAR solves the same problem, the hinge with
C = 1 / (2 c n). It reads svmlight files by scikit-learn's `load_svmlight_file`, and .npy files chunk by chunk into one
sparse matrix of float64. One BLAS thread; CPU seconds include reading the file, which the system has just written and
may still hold in its cache. VmPeak counts addresses, and so a mapped file too.

Beside the compressed rows, 8 n l bytes, the fixed part is two chunks, of which one is being read, 8 MB of Lambda, and
a buffer of 34 MB that SciPy's BLAS, which is not NumPy's, takes at its first factorisation. All processes get one
arena of malloc, and blocks from 1 MB on have pages of their own: else malloc raises that bound to the largest block
that was freed, and chunks leave holes. `--quick` takes files too small to be out of core.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np

BENCH = {
    "bench": ["--every", "12"],
    "quick": ["--quick"],
    "left_out": "11 of 12 rows: smaller than memory",
    "seconds": 300,
}
SEED, C, TIMEOUT = 0, 1e-4, 900
SETTINGS = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1"),
    "MALLOC_MMAP_THRESHOLD_": "1000000",
}
PARTS = {
    "sparse": {"suffix": ".svm", "features": 85_000, "shifts": 1, "chunk_rows": 128, "limit": 400, "refined": False},
    "dense": {"suffix": ".npy", "features": 15_000, "shifts": 3, "chunk_rows": 128, "limit": 425, "refined": True},
}
"""limit in MB (10^6 bytes); refined: ten passes over the rows, too many over text."""

MODELS = {
    "compressed, dual": {"recovery": "dual", "n_components": 200},
    "compressed, transpose": {"recovery": "transpose", "n_components": 200},
    # compressed rows are held twice, so l is smaller
    "compressed, refined": {"recovery": "dual", "refinements": 4, "n_components": 50},
    "LIBLINEAR": None,
}


class Pairs:
    """Products of random pairs of pixels of the training images, with some shifts, and of the test images."""

    def __init__(self, features, shifts, every):
        from provlab.data import load_dataset

        data = load_dataset("mnist", part="all", classes=[3, 8])
        X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
        X = np.rint(255 / X.max() * X).astype(np.int32)  # whatever the loader scales to
        train = data.official_train
        images = X[train][::every].reshape(-1, 28, 28)
        moves = list(product(range(3), range(3)))[:shifts]
        self.images = np.vstack([np.roll(images, move, axis=(1, 2)).reshape(-1, 784) for move in moves])
        self.y = np.tile(data.y[train][::every], len(moves))
        order = np.random.default_rng(SEED).permutation(self.y.size)
        self.images, self.y = self.images[order], self.y[order]
        used = np.flatnonzero(images.reshape(-1, 784).any(axis=0))  # of a border that is always white nothing comes
        self.pairs = np.random.default_rng(SEED).choice(used, size=(2, features))
        some = self.products(self.images[:1000]).astype(float)
        self.scale = 1.0 / np.sqrt((some**2).sum(axis=1).mean())
        self.test, self.y_test = X[~train], data.y[~train]

    def products(self, images):
        """Return whole numbers, shape (b, features)."""
        return images[:, self.pairs[0]] * images[:, self.pairs[1]]

    def error(self, coef):
        """Return the test error of coefficients, in %."""
        blocks = np.array_split(np.arange(self.y_test.size), 20)
        scores = np.concatenate([self.products(self.test[rows]) @ coef for rows in blocks])
        return 100 * float(np.mean(np.where(scores > 0, 1, -1) != self.y_test))

    def write(self, path):
        """Write the training rows in the format that the suffix names."""
        {".svm": self._svmlight, ".npy": self._npy}[path.suffix](path)

    def _blocks(self, size):
        for start in range(0, self.y.size, size):
            yield slice(start, start + size), self.products(self.images[start : start + size])

    def _svmlight(self, path):
        # products of two bytes take few values: their texts are made once
        values = np.array([f"{self.scale * v:.16g}" for v in range(255**2 + 1)], dtype=object)
        columns = np.array([f" {j}:" for j in range(1, self.pairs.shape[1] + 1)], dtype=object)
        with path.open("w") as file:
            for rows, block in self._blocks(200):
                for label, row in zip(self.y[rows], block, strict=True):
                    there = np.flatnonzero(row)
                    file.write(str(label) + "".join(columns[there] + values[row[there]]) + "\n")

    def _npy(self, path):
        shape = (self.y.size, self.pairs.shape[1])
        with path.open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for _, block in self._blocks(500):
                file.write((self.scale * block).astype(np.float32).tobytes())
        np.save(path.with_suffix(".labels.npy"), self.y)


def status(name):
    """Return a line of /proc/self/status in MB."""
    return int(re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024e-6


def train(asked):
    """Do what the parent asks for; runs in a process of its own, under its limit."""
    import time

    from scipy import sparse
    from sklearn.datasets import load_svmlight_file

    from provsel.models import CompressedLinearSVM, LiblinearSVM
    from provsel.streams import row_chunks

    np.ones((300, 300)) @ np.ones((300, 300))  # BLAS takes its buffers at the first product
    imports, start = status("VmData"), time.process_time()
    if asked["model"] != "imports":
        path = Path(asked["path"])
        labels = path.with_suffix(".labels.npy")
        y = np.load(labels) if labels.exists() else None
        m, text = asked["features"], path.suffix == ".svm"
        chunks = row_chunks(path, y=y, chunk_rows=asked["chunk_rows"], n_features=m)
        if asked["model"] == "LIBLINEAR":
            if text:
                X, y = load_svmlight_file(str(path), n_features=m, zero_based=False)
            else:
                parts = [(sparse.csr_array(X, dtype=np.float64), y) for X, y in chunks]
                X, y = sparse.vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts])
                del parts
            model = LiblinearSVM(C=1 / (2 * C * y.size), loss="hinge").fit(X, y)
        else:
            options = {"variance": "1/l", "store": False, "random_state": SEED, **MODELS[asked["model"]]}
            model = CompressedLinearSVM(c=C, **options).fit_stream(chunks)
        np.save(asked["result"], model.coef_[0])
    seconds = time.process_time() - start
    print(json.dumps({"cpu": seconds, "peak": status("VmHWM"), "virtual": status("VmPeak"), "imports": imports}))


def alone(asked, limit=None):
    """Return what `train` of a new process prints, or how it ended; limit in MB."""

    def limited():
        import resource

        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (int(limit * 1e6),) * 2)

    try:
        done = subprocess.run(
            [sys.executable, __file__, "--child", json.dumps(asked)],
            env={**os.environ, **SETTINGS},
            preexec_fn=limited, capture_output=True, text=True, timeout=TIMEOUT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"no end after {TIMEOUT} s"}
    if done.returncode == 0:
        return json.loads(done.stdout)
    last = (done.stderr.strip().splitlines() or [f"signal {-done.returncode}"])[-1]
    return {"failed": last[:100]}


def measure(part, settings):
    """Return the records of one file."""
    from timing import several  # not in the child, whose imports count

    rows = Pairs(settings["features"], settings["shifts"], settings["every"])
    records = []
    with tempfile.TemporaryDirectory() as folder:
        path, result = Path(folder) / f"train{settings['suffix']}", Path(folder) / "coef.npy"
        rows.write(path)
        plain = several(lambda: plainly_read(path), long=2.0)
        size, limit = path.stat().st_size / 1e6, settings["limit"]
        asked = {**settings, "path": str(path), "result": str(result)}
        limited = [model for model in MODELS if settings["refined"] or "refined" not in model]
        runs = [("imports", limit), *((model, limit) for model in limited), ("LIBLINEAR", None)]
        for model, allowed in runs:
            result.unlink(missing_ok=True)
            found = alone({**asked, "model": model}, allowed)
            if result.exists():
                found["error"] = rows.error(np.load(result))
            shape = {"rows": rows.y.size, "features": settings["features"], "file": size}
            components = (MODELS.get(model) or {}).get("n_components")
            records.append(
                {"part": part, "reading": plain, **shape, "model": model, "l": components, "limit": allowed, **found}
            )
            print(records[-1], file=sys.stderr, flush=True)
    return records


def plainly_read(path):
    """Read a file as it is, in parts of 8 MB."""
    with path.open("rb") as file:
        while file.read(8 << 20):
            pass


def cases(records):
    """Return the common records: the dual recovery under the limit beside LIBLINEAR without."""
    from timing import case  # not in the child, whose imports count

    found = []
    for part in PARTS:
        mine = {(r["model"], r["limit"] is None): r for r in records if r["part"] == part and "failed" not in r}
        peer = mine.get(("LIBLINEAR", True))
        for model in MODELS:
            ours = mine.get((model, False))
            if ours is None or model == "LIBLINEAR" or ours["cpu"] == 0:
                continue
            name = f"{part}, {ours['rows']:,} x {ours['features']:,}, {model}"
            found.append(case(name, ours["cpu"], peer=peer and ("LIBLINEAR, no limit", peer["cpu"]),
                              limit=("plain reading", ours["reading"])))  # fmt: skip
            found.append(case(f"{name}, memory", ours["peak"], peer=peer and ("LIBLINEAR, no limit", peer["peak"]),
                              limit=("file", ours["file"]), unit="MB"))  # fmt: skip
    return found


def markdown(records):
    """Return one table of all files."""
    lines = [
        "| file | rows x features | size (MB) | trained | limit (MB) | size / limit | VmHWM (MB) | VmPeak (MB) "
        "| test error (%) | CPU (s) |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for found in records:
        limit = found["limit"]
        name = found["model"] + (f", l = {found['l']}" if found["model"].startswith("compressed") else "")
        head = f"| {found['part']} | {found['rows']:,} x {found['features']:,} | {found['file']:,.0f} | {name} "
        head += f"| {limit} | {found['file'] / limit:.1f} " if limit else "| none | "
        if "failed" in found:
            lines.append(f"{head}| failed: {found['failed']} | | | |")
        else:
            error = f"{found['error']:.2f}" if "error" in found else ""
            lines.append(f"{head}| {found['peak']:.0f} | {found['virtual']:.0f} | {error} | {found['cpu']:.1f} |")
    return "\n".join(lines).replace("| imports |", "| imports only |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fortieth of the rows, a tenth of the features")
    parser.add_argument("--part", choices=PARTS, help="one file only")
    parser.add_argument("--every", type=int, default=1, help="every so many training rows; all by default")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        train(json.loads(options.child))
        return
    from timing import report  # as above

    records = []
    for part in [options.part] if options.part else PARTS:
        less = {"every": 40, "features": PARTS[part]["features"] // 10} if options.quick else {"every": options.every}
        records += measure(part, {**PARTS[part], **less})
    report("outofcore", markdown(records), cases(records), quick=options.quick, c=C, records=records)


if __name__ == "__main__":
    main()
