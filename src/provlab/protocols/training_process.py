"""python -m provlab.protocols.training_process request.json: train a model from a file, in a process alone.

The request and what comes back, an .npz of arrays, are data only: nothing is unpickled.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from provlab.project.components import build
from provsel.streams import row_chunks
from provsel.training_view import Cost

CHUNK_ROWS = 1024
"""Rows that are read together: a chunk is the fixed part of the memory; with fewer rows Lambda is drawn more often."""
CHUNK_NONZEROS = 2**18
"""Of long rows fewer are read together: these take 3 MB, and half as much again while they are read."""


def train(request: Path) -> None:
    """Do what `request`, a JSON file, asks for.

    It has `model`, the config of a component; `data`, an svmlight file with indices from 1; `n_features`; `result`,
    where the arrays go: coef, intercept, classes, objective (NaN where the model has none), cpu and wall seconds with
    the reading of the file, and peak, the bytes of `peak_memory` beyond those after the imports, or -1.
    """
    asked = json.loads(request.read_text(encoding="utf-8"))
    model = build("model", asked["model"])
    with threadpool_limits(1):
        before, start = peak_memory(), Cost.now()
        fit_file(model, asked["data"], asked["n_features"])
        cost, after = Cost.now() - start, peak_memory()
    np.savez(
        asked["result"],
        coef=model.coef_,
        intercept=model.intercept_,
        classes=model.classes_,
        objective=getattr(model, "objective_", np.nan),
        cpu=cost.cpu,
        wall=cost.wall,
        peak=-1 if before is None or after is None else after - before,
    )


def fit_file(model: Any, path: str, n_features: int) -> None:
    """Fit on an svmlight file: as a stream where the model can, else on all rows by `load_svmlight_file`."""
    if hasattr(model, "fit_stream"):
        with open(path, "rb") as file:
            nonzeros = file.readline().count(b":")  # all rows of synthetic data have about as many
        rows = min(CHUNK_ROWS, max(1, CHUNK_NONZEROS // max(1, nonzeros)))
        model.fit_stream(row_chunks(path, n_features=n_features, chunk_rows=rows))
    else:
        X, y = load_svmlight_file(path, n_features=n_features, zero_based=False)
        model.fit(X, y)


def peak_memory() -> int | None:
    """Return the largest resident memory, in bytes, that this process ever had.

    VmHWM on Linux; elsewhere ru_maxrss, which may also count what came before the program started; None without both.
    """
    status = Path("/proc/self/status")
    if status.is_file() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return 1024 * int(found[1])
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    train(Path(sys.argv[1]))
