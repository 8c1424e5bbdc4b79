"""Trials of the benchmark, in which slow or failed selections are results and memory is measured."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from provlab.core.protocols.base import Method, Record
from provlab.project.documents import canonical_json
from provlab.run.fitting import Fitted, classify, fit_selector
from provlab.run.fold import Fold
from provlab.run.measured_view import MeasuredView
from provlab.run.shared_rows import needs_writable_arrays

RANK = 5
"""Rank of the approximation that `subset_ratio` compares with; it is equal for all sizes and fits all data."""

ROUNDING = 1e-12
"""Share of ||X||_F^2 that counts as zero."""

CUT_OFF = "cut off"
"""Name of the part of a view with the smallest cut-off size by the first key of `sizes_asked`."""

SIZES = ("n_features_to_select", "rank", "n_projections")
"""Selector parameters that depend on the number of features in the benchmark."""


class OutOfTimeError(Exception):
    """A selection exceeded its limit of CPU seconds."""


def subset_ratio(fitted: Fitted) -> float:
    """Return ||X - C C^+ X||_F^2 of the selected columns C relative to the best approximation of rank `RANK`.

    It takes O(n r^2 + n r min(n, d)) in addition to shared work, and is NaN if rank
    `RANK` leaves no residual.
    """
    from provsel.kernels.column_span import dense_columns
    from provsel.kernels.subset_errors import independent_directions
    from provsel.reducers import kept_features, leaves_nothing_out

    def compute() -> float:
        view = fitted.rows
        columns = kept_features(fitted.reducer)
        if columns is None or leaves_nothing_out(fitted.reducer, view):
            return 0.0
        is_wide = view.n_samples < view.n_features
        products = (
            view.gram()
            if is_wide
            else view.shared("products of columns", lambda: _products(view.X))
        )
        squares = view.shared(
            "squared singular values",
            lambda: np.linalg.eigvalsh(products)[::-1].clip(0),
        )
        Q = independent_directions(dense_columns(view.X, columns))
        kept = np.vdot(Q, products @ Q) if is_wide else np.square(view.X.T @ Q).sum()
        tail = squares[RANK:].sum()
        if not tail > 0:
            return np.nan
        left = squares.sum() - kept
        return float(left / tail) if left > ROUNDING * squares.sum() else 0.0

    if "subset ratio" not in fitted.geometry:
        fitted.geometry["subset ratio"] = compute()
    return float(fitted.geometry["subset ratio"])


def _products(X: Any) -> Any:
    products = X.T @ X
    return products if isinstance(products, np.ndarray) else products.toarray()


def sizes_asked(selector: Mapping[str, Any]) -> dict[str, float]:
    """Return the number of features requested from a selector, keyed by its config without that number.

    A selector that chooses its own number counts as infinitely many. A selector that
    tries several numbers, such as `CrossValidatedSize`, comes first, followed by its
    inner selector with the largest number tried.
    """
    others = {name: value for name, value in selector.items() if name not in SIZES}
    size = selector.get("n_features_to_select")
    asked = {
        canonical_json(others): float(size) if isinstance(size, int | float) else np.inf
    }
    sizes, inside = selector.get("sizes"), selector.get("selector")
    if isinstance(sizes, list) and isinstance(inside, Mapping):
        inner = next(iter(sizes_asked(inside)))
        asked[inner] = float(max(sizes))
    return asked


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in the block after the given CPU seconds of this process.

    The error is raised between two steps of the interpreter, so a long call of compiled
    code finishes first. Nothing is raised in threads or on Windows, which lacks the
    timer.
    """
    if (
        not hasattr(signal, "SIGPROF")
        or threading.current_thread() is not threading.main_thread()
        or seconds == np.inf
    ):
        yield
        return

    def stop(*_: Any) -> None:
        raise OutOfTimeError(
            f"the selection was stopped at its limit of {seconds:g} CPU seconds"
        )

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def measure_within_limit(
    method: Method, fold: Fold, *, seed: int, split_seed: int
) -> Record:
    """Return the selection, the error and the subset ratio, or the reason of a failure.

    Raises
    ------
    ImportError, MemoryError
        If this machine is the cause, which is not a failure of the method.
    """
    view, limit = fold.view, float(method.limit or np.inf)
    assert isinstance(view, MeasuredView)
    cut_off: dict[str, float] = view.shared(CUT_OFF, dict)
    asked = sizes_asked(method.selector)
    try:
        if any(
            name in cut_off and size >= cut_off[name] for name, size in asked.items()
        ):
            raise OutOfTimeError(
                f"the selection was not tried: this method was stopped at its limit of {limit:g} CPU seconds on this "
                f"data set before, in this fold or another, with as many features or fewer"
            )
        with view.measured() as memory, cpu_limit(limit):
            fitted = fit_selector(method, seed, view)
        peak = memory()
        cost = fitted.selecting.own + fitted.selecting.shared
        if cost.cpu > limit:
            raise OutOfTimeError(
                f"the selection takes longer than its limit of {limit:g} CPU seconds"
            )
        record = classify(method, fitted, fold, seed) | {
            "subset_ratio": subset_ratio(fitted)
        }
    except (ImportError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a method may raise anything
        if needs_writable_arrays(error):  # the trial is rerun on a copy
            raise
        if isinstance(error, OutOfTimeError):
            name, size = next(iter(asked.items()))
            cut_off[name] = min(size, cut_off.get(name, np.inf))
        return {
            "failure": f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        }
    for name in ("error", "r2", "rmse", "mae", "subset_ratio", *method.scoring):
        if name in record:  # classes and numbers have different measures
            record[name] = float(np.float32(record[name]))
    return record | {"peak_memory": peak, "failure": "", "coefficients": None}
