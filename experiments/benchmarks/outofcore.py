"""python experiments/benchmarks/outofcore.py [--part sparse|dense] [--every 1]: more rows than memory.

A compressed SVM is trained from files of five times the memory that its process may
use, and so is LIBLINEAR, without a limit. Real rows: MNIST's 3 against 8, whose
features are the products of random pairs of pixels, divided by the rows' root mean
square length. "sparse" is an svmlight file of the training images; "dense" a .npy file
in float32 of these and their shifts by one pixel to the right and down. Test rows:
MNIST's own 1,984, unshifted.

The limit is RLIMIT_DATA (Linux), set before Python starts: all memory that a process
can write to and shares with nobody, that of Python and the imports too. LIBLINEAR
solves the same problem, the hinge with C = 1 / (2 c n). It reads svmlight files by
scikit-learn's `load_svmlight_file`, and .npy files chunk by chunk into one sparse
matrix of float64. One BLAS thread; CPU seconds include reading the file, which the
system has just written and may still hold in its cache. VmPeak counts addresses, and so
a mapped file too.

Beside the compressed rows, 8 n l bytes, the fixed part is two chunks, of which one is
being read, 8 MB of Lambda, and a buffer of 34 MB that SciPy's BLAS, which is not
NumPy's, takes at its first factorisation. All processes get one arena of malloc, and
blocks from 1 MB on have pages of their own: else malloc raises that bound to the
largest block that was freed, and chunks leave holes. With --every 40 the files are too
small to be out of core.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import islice, product
from pathlib import Path

import numpy as np

C, CHUNK = 1e-4, 128
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "1000000",
}
DUAL, TRANSPOSE = (
    {"recovery": "dual", "n_components": 200},
    {"recovery": "transpose", "n_components": 200},
)
# compressed rows are held twice
REFINED = {"recovery": "dual", "refinements": 4, "n_components": 50}
MODELS = {
    "compressed, dual": DUAL,
    "compressed, transpose": TRANSPOSE,
    "compressed, refined": REFINED,
}
# megabytes of 10^6 bytes; refined takes ten passes over the rows, too many over text
PARTS = {
    "sparse": {
        "file": "train.svm",
        "features": 85_000,
        "shifts": 1,
        "limit": 400,
        "models": list(MODELS)[:2],
    },
    "dense": {
        "file": "train.npy",
        "features": 15_000,
        "shifts": 3,
        "limit": 425,
        "models": list(MODELS),
    },
}


class Pairs:
    """Products of random pairs of pixels of the training images, with some shifts, and of the test images."""

    def __init__(self, features, shifts, every):
        from provlab.data import load_dataset

        data = load_dataset("mnist", part="all", classes=[3, 8])
        X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
        X = np.rint(255 / X.max() * X).astype(np.int32)  # whatever the loader scales to
        is_train = data.official_train
        images = X[is_train][::every].reshape(-1, 28, 28)
        shifted = [
            np.roll(images, move, axis=(1, 2))
            for move in islice(product(range(3), repeat=2), shifts)
        ]
        order = np.random.default_rng(0).permutation(len(images) * shifts)
        self.images = np.vstack(shifted).reshape(-1, 784)[order]
        self.y = np.tile(data.y[is_train][::every], shifts)[order]
        # of a border that is always white nothing comes
        used = np.flatnonzero(images.reshape(-1, 784).any(axis=0))
        self.pairs = np.random.default_rng(0).choice(used, size=(2, features))
        sample = self.products(self.images[:1000]).astype(float)
        self.scale = 1.0 / np.sqrt((sample**2).sum(axis=1).mean())
        self.test, self.y_test = X[~is_train], data.y[~is_train]

    def products(self, images):
        """Return whole numbers, shape (b, features)."""
        return images[:, self.pairs[0]] * images[:, self.pairs[1]]

    def error(self, coef):
        """Return the test error of coefficients, in %."""
        blocks = np.array_split(self.test, 20)
        scores = np.concatenate([self.products(images) @ coef for images in blocks])
        return 100 * float(np.mean(np.where(scores > 0, 1, -1) != self.y_test))

    def blocks(self, length=200):
        """Yield some rows after the other, and their whole numbers."""
        for start in range(0, self.y.size, length):
            rows = slice(start, start + length)
            yield rows, self.products(self.images[rows])

    def write(self, path):
        """Write the training rows in the format that the suffix names."""
        from sklearn.datasets import dump_svmlight_file

        if path.suffix == ".svm":
            with path.open("wb") as file:
                for rows, block in self.blocks():
                    dump_svmlight_file(
                        self.scale * block, self.y[rows], file, zero_based=False
                    )
            return
        shape = (self.y.size, self.pairs.shape[1])
        array = np.lib.format.open_memmap(
            path, mode="w+", dtype=np.float32, shape=shape
        )
        for rows, block in self.blocks():
            array[rows] = self.scale * block
        np.save(path.with_suffix(".labels.npy"), self.y)


def megabytes(field):
    """Return a line of /proc/self/status."""
    return (
        int(
            re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]
        )
        * 1024e-6
    )


def liblinear(path, y, features):
    from scipy import sparse
    from sklearn.datasets import load_svmlight_file

    from provsel.models import LiblinearSVM
    from provsel.streams import row_chunks

    if y is None:
        X, y = load_svmlight_file(str(path), n_features=features, zero_based=False)
    else:
        chunks = [
            sparse.csr_array(X, dtype=np.float64)
            for X, _ in row_chunks(path, y=y, chunk_rows=CHUNK)
        ]
        X = sparse.vstack(chunks, format="csr")
        del chunks
    return LiblinearSVM(C=1 / (2 * C * y.size), loss="hinge").fit(X, y)


def train(folder, file, features, model):
    """Train, write the coefficients, and print what it took; runs in a process of its own, under its limit."""
    from provsel.models import CompressedLinearSVM
    from provsel.streams import row_chunks

    # BLAS takes its buffers at the first product
    np.ones((300, 300)) @ np.ones((300, 300))
    start = time.process_time()
    path = Path(folder) / file
    labels = path.with_suffix(".labels.npy")
    y = np.load(labels) if labels.exists() else None
    if model == "LIBLINEAR":
        fitted = liblinear(path, y, features)
    else:
        chunks = row_chunks(path, y=y, chunk_rows=CHUNK, n_features=features)
        options = {
            "variance": "1/l",
            "store": False,
            "random_state": 0,
            **MODELS[model],
        }
        fitted = CompressedLinearSVM(c=C, **options).fit_stream(chunks)
    np.save(Path(folder) / "coef.npy", fitted.coef_[0])
    seconds = time.process_time() - start
    print(
        json.dumps(
            {"cpu": seconds, "VmHWM": megabytes("VmHWM"), "VmPeak": megabytes("VmPeak")}
        )
    )


def in_limit(limit, **arguments):
    """Return what `train` of a new process prints, or how it ended; limit in MB or None."""

    def limited():
        import resource

        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (int(limit * 1e6),) * 2)

    command = [sys.executable, __file__, "--child", json.dumps(arguments)]
    environment = os.environ | ENVIRONMENT
    done = subprocess.run(
        command,
        env=environment,
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return json.loads(done.stdout)
    lines = done.stderr.strip().splitlines()
    return {"failed": lines[-1][:100] if lines else f"signal {-done.returncode}"}


def measure(part, every):
    """Print a line for each model trained from one file."""
    settings = PARTS[part]
    rows = Pairs(settings["features"], settings["shifts"], every)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / settings["file"]
        rows.write(path)
        about = {"part": part, "rows": rows.y.size, "file": path.stat().st_size / 1e6}
        limits = dict.fromkeys(settings["models"], settings["limit"]) | {
            "LIBLINEAR": None
        }
        for model, limit in limits.items():
            arguments = {
                "folder": folder,
                "file": path.name,
                "features": settings["features"],
                "model": model,
            }
            numbers = in_limit(limit, **arguments)
            if "failed" not in numbers:
                numbers["error"] = rows.error(np.load(Path(folder) / "coef.npy"))
            print(
                json.dumps(about | {"model": model, "limit": limit} | numbers),
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, help="one file only")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        help="every so many training rows; all by default",
    )
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        train(**options.child)
        return
    for part in [options.part] if options.part else PARTS:
        measure(part, options.every)


if __name__ == "__main__":
    main()
