"""The C library LIBLINEAR, which only those install who ask for it: the one part that has to be compiled."""

from __future__ import annotations

import ctypes
import sys
import threading
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_ONE_AT_A_TIME = threading.Lock()
"""C's `rand()` and LIBLINEAR's print function are one for all threads of the process."""


def train_liblinear(
    subject: str, options: str, X: Any, labels: NDArray[Any], *, seed: int, bias: int = -1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return LIBLINEAR's weights, shape (n_problems, d), and offsets, shape (n_problems,), for X of shape (n, d).

    Labels, shape (n,), are numbers; of two, there is one problem, positive towards the larger. What other threads do
    changes nothing: calls wait for each other, and `rand()` is seeded for each. Ctrl-C takes effect after the call.

    Raises
    ------
    ImportError
        LIBLINEAR is not installed; `subject` is named.
    """
    try:
        with _ONE_AT_A_TIME:
            library = _liblinearutil()
    except ImportError as error:
        raise ImportError(
            f"{subject}: expected the package liblinear-official, got none; pip install 'provsel[lab]' brings it, and "
            f"needs a C compiler."
        ) from error
    rows = sparse.csr_matrix(X, dtype=np.float64)
    if not rows.has_sorted_indices:
        rows = rows.sorted_indices()  # or the package sorts them in place, and they may be the caller's
    problem = library.problem(labels.astype(np.float64), rows, bias)
    libc = ctypes.CDLL(None)
    with _ONE_AT_A_TIME:
        parameter = library.parameter(f"{options} -B {bias}")
        # not its -q, which calls Python for each line, where an interrupt would be lost; strlen does nothing to a line
        parameter.print_func = ctypes.cast(libc.strlen, type(parameter.print_func))
        libc.srand(seed)
        model = library.train(problem, parameter)
    met, classes = model.get_labels(), np.unique(labels)
    # one vector for two classes, positive towards the one that LIBLINEAR met first
    places = [0] if classes.size == 2 else [met.index(label) for label in classes]
    sign = -1.0 if classes.size == 2 and met[0] != classes[1] else 1.0
    d = X.shape[1]
    w = np.ctypeslib.as_array(model.w, (d + (bias > 0), len(places)))  # C's memory, which goes with the model
    offsets = bias * w[d, places] if bias > 0 else np.zeros(len(places))
    return sign * np.ascontiguousarray(w[:d, places].T), sign * offsets


@cache
def _liblinearutil() -> ModuleType:
    """Load the package and its shared library, with numba out of sight.

    Where numba happens to be installed, the package compiles its loop over rows with it, anew in each process: seconds
    and a hundred megabytes, to save milliseconds.
    """
    there = sys.modules.pop("numba", None)
    sys.modules["numba"] = None  # type: ignore[assignment]
    try:
        from liblinear import liblinearutil
    finally:
        del sys.modules["numba"]
        if there is not None:
            sys.modules["numba"] = there
    module: ModuleType = liblinearutil
    return module
