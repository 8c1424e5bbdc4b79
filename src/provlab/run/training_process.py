"""Training of a model from a file in a separate process: python -m provlab.run.training_process.

The request on standard input and the answer are JSON, so nothing is unpickled.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

from provlab.project.components import build
from provlab.run.measured_view import memory_of
from provsel.streams import row_chunks
from provsel.training_view import Cost

CHUNK_ROWS = 1024
"""Rows read together. A chunk is the fixed part of the memory; with fewer rows, Lambda is drawn more often."""
CHUNK_NONZEROS = 2**18
"""Limit that reduces the number of long rows read together, to 3 MB and half as much again during reading."""


def train(model: Mapping[str, Any], data: str, n_features: int) -> dict[str, Any]:
    """Fit a model on a file, on one thread.

    Parameters
    ----------
    model : mapping
        Config of the model.
    data : str
        Path of an svmlight file with indices from 1.
    n_features : int

    Returns
    -------
    dict
        Plain values: coef_, intercept_ and classes_; objective, None if the model has
        none; train_cpu and train_wall in seconds, including reading the file; and
        peak_memory in bytes above the memory after imports, or None.
    """
    fitted = build("model", model)
    with threadpool_limits(1):
        before, start = peak_memory(), Cost.now()
        fit_file(fitted, data, n_features)
        cost, after = Cost.now() - start, peak_memory()
    return {
        **{
            name: np.asarray(getattr(fitted, name)).tolist()
            for name in ("coef_", "intercept_", "classes_")
        },
        "objective": getattr(fitted, "objective_", None),
        "train_cpu": cost.cpu,
        "train_wall": cost.wall,
        "peak_memory": None if before is None or after is None else after - before,
    }


def fit_file(model: Any, path: str, n_features: int) -> None:
    """Fit on an svmlight file, as a stream if possible, otherwise on all rows by `load_svmlight_file`."""
    if hasattr(model, "fit_stream"):
        with open(path, "rb") as file:
            # rows of synthetic data have about equally many
            nonzeros = file.readline().count(b":")
        rows = min(CHUNK_ROWS, max(1, CHUNK_NONZEROS // max(1, nonzeros)))
        model.fit_stream(row_chunks(path, n_features=n_features, chunk_rows=rows))
    else:
        X, y = load_svmlight_file(path, n_features=n_features, zero_based=False)
        model.fit(X, y)


def peak_memory() -> int | None:
    """Return the peak resident memory of this process in bytes.

    It is VmHWM on Linux, and elsewhere ru_maxrss, which may include memory from before
    the program start; None if neither exists.
    """
    if (highest := memory_of("VmHWM")) is not None:
        return highest
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


if __name__ == "__main__":
    print(json.dumps(train(**json.load(sys.stdin))))
