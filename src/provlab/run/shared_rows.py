"""Rows shared by all trials of a task; no class may write to them, and a checksum detects violations.

The input is the rows of a fold and values derived from them. The output is the same,
read-only, or a private copy for a class that needs writable arrays.
"""

from __future__ import annotations

import random
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from provsel.training_view import TrainingView

SPARSE_PARTS = ("data", "indices", "indptr")


class ChangedInputError(ValueError):
    """A foreign class wrote to rows that other trials share."""

    def __init__(self, names: Iterable[str]) -> None:
        listed = [*names]
        super().__init__(
            f"{' or '.join(listed)}: expected a class that leaves its input as it is, got one that writes to rows that "
            f"all methods of a fold share; let it work on a copy, or give it one: "
            f"executor.private_copies=[{','.join(listed)}]."
        )


class SharedView(TrainingView):
    """A view whose rows and derived parts are read-only because several trials use them.

    Parameters
    ----------
    X, y, metadata
        See `TrainingView`.
    read_only : bool, default=True
        Whether the arrays are read-only; False for a copy that only one trial uses.
    seen_by_others : bool, default=False
        Whether the view is given to a foreign class; its parts then have checksums as
        well.
    may_change : bool, default=False
        Whether a class may write to the copy; see `guarded`.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        read_only: bool = True,
        seen_by_others: bool = False,
        may_change: bool = False,
    ) -> None:
        super().__init__(X, y, metadata)
        self.read_only = read_only
        self.seen_by_others = seen_by_others
        self.may_change = may_change
        self._checksums: dict[str, int] = {}
        if read_only:
            freeze([X, y, *self.metadata.values()])

    def _kept(self, name: str, part: Any) -> Any:
        if self.read_only:
            freeze(part)
        # rows of a view are passed to foreign classes, whatever created them
        if self.read_only and (self.seen_by_others or isinstance(part, SharedView)):
            self._checksums[name] = checksum(part)
        return part

    def _of_rows(self, rows: NDArray[np.int64]) -> Self:
        labels = None if self.y is None else self.y[rows]
        return type(self)(
            self.X[rows], labels, read_only=self.read_only, may_change=self.may_change
        )

    @cached_property
    def first_checksum(self) -> int:
        """Checksum of the rows at the first call, before foreign code runs."""
        return self.checksum()

    def checksum(self) -> int:
        """Return a checksum of the rows, their labels and their metadata."""
        return checksum([self.X, self.y, *self.metadata.values()])

    @contextmanager
    def guarded(self, estimator: BaseEstimator) -> Iterator[None]:
        """Check that a foreign class leaves its copy of the rows unchanged in the block.

        Shared rows are checked at the end of a trial.

        Raises
        ------
        ChangedInputError
            If the rows have changed. The message names the class.
        """
        if self.read_only or self.may_change:
            yield
            return
        before = self.first_checksum
        yield
        if self.checksum() != before:
            raise ChangedInputError([name_of(estimator)])

    def has_changed_parts(self) -> bool:
        """Return whether a part has changed since it was computed."""
        if any(
            checksum(self._parts[name]) != value
            for name, value in self._checksums.items()
        ):
            return True
        return any(
            isinstance(part, SharedView) and part.has_changed_parts()
            for part in self._parts.values()
        )

    def private(self, *, may_change: bool) -> SharedView:
        """Return a view of writable copies without derived parts.

        `may_change` is whether a class may write to it; otherwise `guarded` raises.
        """
        return type(self)(
            *copied([self.X, self.y, self.metadata]),
            read_only=False,
            may_change=may_change,
        )

    def apart(self, selector: BaseEstimator) -> SharedView:
        """Return the view that all selectors of a foreign class share; no other class uses its parts.

        A class may choose any names for its parts, even those of ours.
        """

        def rows_alone() -> SharedView:
            settings = {"read_only": self.read_only, "may_change": self.may_change}
            return type(self)(
                self.X, self.y, self.metadata, seen_by_others=True, **settings
            )

        return self.shared(f"view of {name_of(selector)}", rows_alone)


def name_of(estimator: BaseEstimator) -> str:
    """Return the qualified name of the class of an estimator."""
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


def freeze(part: Any) -> None:
    """Make the arrays of a value read-only in place: an array, rows, an estimator, or several of these."""
    for array in _arrays(part, of_estimators=True):
        array.flags.writeable = False


def checksum(part: Any) -> int:
    """Return a checksum of the values, types and shapes of the arrays in a value.

    Attributes of estimators are left out, because some are computed only on first use.
    """
    total = 0
    for array in _arrays(part, of_estimators=False):
        total = zlib.crc32(f"{array.dtype.str}{array.shape}".encode(), total)
        if array.dtype.kind != "O":
            total = zlib.crc32(_contiguous(array).data, total)
    return total


def copied(values: list[Any]) -> list[Any]:
    """Return copies of arrays, sparse matrices and mappings of arrays; None stays None."""
    copies: list[Any] = []
    for value in values:
        if isinstance(value, Mapping):
            copies.append({name: array.copy() for name, array in value.items()})
        else:
            copies.append(None if value is None else value.copy())
    return copies


def needs_writable_arrays(error: BaseException) -> bool:
    """Return whether an error is about a read-only array, for which NumPy, SciPy and Cython have no class."""
    text = str(error)
    return "read-only" in text or "WRITEABLE" in text


@contextmanager
def settings_of_one_trial(seed: int) -> Iterator[None]:
    """Run foreign code in the block with global generators seeded by the trial, then restore global settings.

    Otherwise unseeded draws and changed global settings would depend on the preceding
    trials.
    """
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # foreign code draws from it
    with np.errstate(), sklearn.config_context(), warnings.catch_warnings():
        # meant for authors, and repeated thousands of times
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _arrays(part: Any, *, of_estimators: bool) -> Iterator[NDArray[Any]]:
    """Yield the arrays inside a value, except those in dicts, which may grow."""
    if isinstance(part, np.ndarray):
        yield part
    elif sparse.issparse(part):
        for name in SPARSE_PARTS:
            if hasattr(part, name):
                yield np.asarray(getattr(part, name))
    else:
        for inner in _members(part, of_estimators=of_estimators):
            yield from _arrays(inner, of_estimators=of_estimators)


def _members(part: Any, *, of_estimators: bool) -> list[Any]:
    if isinstance(part, list | tuple):
        return [*part]
    if isinstance(part, TrainingView):
        return [part.X, part.y]
    params: Any = getattr(part, "__dataclass_params__", None)
    if params is not None and params.frozen:  # other parameters may grow
        return [getattr(part, field.name) for field in fields(part)]
    if isinstance(part, BaseEstimator) and of_estimators:
        return [
            value
            for value in vars(part).values()
            if isinstance(value, np.ndarray) or sparse.issparse(value)
        ]
    return []


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Return the values of an array as contiguous memory, in memory order if it is already contiguous."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        return array.T
    return np.ascontiguousarray(array)
