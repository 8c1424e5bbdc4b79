"""The C library LIBLINEAR: its authors' package if it is installed, otherwise the copy in scikit-learn."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import threading
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

IS_OFFICIAL = (
    sys.platform != "win32" and importlib.util.find_spec("liblinear") is not None
)
"""Whether the authors' package is used. It has to be compiled; on Windows its `rand()` cannot be seeded from here."""

SOLVERS: dict[int, dict[str, Any]] = {
    1: {"loss": "squared_hinge", "dual": True},
    3: {"loss": "hinge", "dual": True},
    5: {"loss": "squared_hinge", "dual": False, "penalty": "l1"},
}
"""LIBLINEAR's -s, as settings of `LinearSVC`."""

_ONE_AT_A_TIME = threading.Lock()
"""All threads of the process share random numbers and LIBLINEAR's print function."""


def train_liblinear(
    subject: str,
    X: Any,
    labels: NDArray[Any],
    *,
    solver: int,
    C: float,
    tol: float,
    seed: int,
    bias: int = -1,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return LIBLINEAR's weights, shape (n_problems, d), and offsets, shape (n_problems,), for X of shape (n, d).

    Labels, shape (n,), are numbers; two labels give one problem, positive towards the
    larger. Other threads do not affect the result: calls wait for each other, and each
    seeds its random numbers. Ctrl-C takes effect after the call. `solver`, a key of
    `SOLVERS`, is LIBLINEAR's `-s`, `tol` its `-e`, `bias` its `-B`.

    Warns
    -----
    UserWarning
        Once per process, if liblinear-official is missing and scikit-learn's LIBLINEAR
        replaces it; names `subject`.
    """
    if not IS_OFFICIAL:
        _warn_of_other(subject)
        return _by_scikit_learn(
            X,
            labels,
            SOLVERS[solver] | {"C": C, "tol": tol, "random_state": seed},
            bias,
        )
    with _ONE_AT_A_TIME:
        library = _liblinearutil()
    rows = sparse.csr_matrix(X, dtype=np.float64)
    if not rows.has_sorted_indices:
        # otherwise the package sorts them in place, and they may be the caller's
        rows = rows.sorted_indices()
    problem = library.problem(labels.astype(np.float64), rows, bias)
    libc = ctypes.CDLL(None)
    with _ONE_AT_A_TIME:
        parameter = library.parameter(f"-s {solver} -c {C!r} -e {tol!r} -B {bias}")
        # not its -q, which calls Python for each line, where an interrupt would be
        # lost; strlen ignores the line
        parameter.print_func = ctypes.cast(libc.strlen, type(parameter.print_func))
        libc.srand(seed)
        model = library.train(problem, parameter)
    met, classes = model.get_labels(), np.unique(labels)
    # one vector for two classes, positive towards the one that LIBLINEAR met first
    places = [0] if classes.size == 2 else [met.index(label) for label in classes]
    sign = -1.0 if classes.size == 2 and met[0] != classes[1] else 1.0
    d = X.shape[1]
    # memory owned by C, freed with the model
    w = np.ctypeslib.as_array(model.w, (d + (bias > 0), len(places)))
    offsets = bias * w[d, places] if bias > 0 else np.zeros(len(places))
    return sign * np.ascontiguousarray(w[:d, places].T), sign * offsets


@cache
def _warn_of_other(subject: str) -> None:
    warnings.warn(
        f"{subject}: the package liblinear-official is not installed; scikit-learn's LIBLINEAR is used, whose "
        f"weights differ within its tolerance. To install the package, which needs a C++ compiler: pip install "
        f"liblinear-official.",
        stacklevel=5,
    )


def _by_scikit_learn(
    X: Any, labels: NDArray[Any], settings: dict[str, Any], bias: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Like `train_liblinear`, without a warning of an early end, which callers measure if needed."""
    model = LinearSVC(**settings, fit_intercept=bias > 0, intercept_scaling=abs(bias))
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, labels)
    return model.coef_, np.broadcast_to(model.intercept_, len(model.coef_)).astype(
        np.float64
    )


def liblinear_version(version: int) -> int | str:
    """Return the version of an algorithm that uses LIBLINEAR, which gives other numbers with scikit-learn's copy."""
    return version if IS_OFFICIAL else f"{version}, by scikit-learn's LIBLINEAR"


@cache
def _liblinearutil() -> ModuleType:
    """Load the package and its shared library, with numba hidden.

    If numba is installed, the package compiles its loop over rows in each process:
    seconds and a hundred megabytes to save milliseconds.
    """
    numba = sys.modules.pop("numba", None)
    sys.modules["numba"] = None  # type: ignore[assignment]
    try:
        from liblinear import liblinearutil
    finally:
        del sys.modules["numba"]
        if numba is not None:
            sys.modules["numba"] = numba
    module: ModuleType = liblinearutil
    return module
