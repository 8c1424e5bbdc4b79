"""Mutual information of columns of codes, from counts: many columns and one target at a time.

Columns are rows here, shape (d, n), so that each is contiguous. Information is in nats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy
from scipy.stats import rankdata

from provsel.kernels.spectral import Array

BLOCK = 1 << 18
"""Values of a block of columns, whose counts stay in a cache."""

FEW = 16
"""Cells of a table, per value, above which only non-empty ones are counted, by sorting."""

Codes = NDArray[np.int32]


def column_blocks(
    n_columns: int, n_samples: int, n_values: int = BLOCK
) -> Iterator[slice]:
    """Yield slices of columns that together hold about `n_values` values."""
    step = max(1, n_values // n_samples)
    for start in range(0, n_columns, step):
        yield slice(start, min(start + step, n_columns))


def coded(columns: NDArray[Any]) -> Codes:
    """Return the rank of each value among the distinct values of its column, shape (d, n), smallest first."""
    codes = np.empty(columns.shape, dtype=np.int32)
    for part in column_blocks(*columns.shape):
        order = np.argsort(columns[part], axis=1)
        ordered = np.take_along_axis(columns[part], order, axis=1)
        numbers = np.zeros(ordered.shape, dtype=np.int32)
        np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=numbers[:, 1:])
        np.put_along_axis(codes[part], order, numbers, axis=1)
    return codes


def binned(columns: Array, n_bins: int, strategy: str) -> Codes:
    """Return the bin of each value, shape (d, n): equally filled bins ("quantile") or bins of equal width ("width").

    Equal values share a bin: with quantiles, the bin of their mean rank.
    """
    bins = np.empty(columns.shape, dtype=np.int32)
    for part in column_blocks(*columns.shape):
        if strategy == "quantile":
            bins[part] = (
                n_bins * rankdata(columns[part], axis=1) // (columns.shape[1] + 1)
            )
        else:
            low = columns[part].min(axis=1, keepdims=True)
            width = np.ptp(columns[part], axis=1, keepdims=True)
            bins[part] = np.minimum(
                n_bins * (columns[part] - low) // np.where(width > 0, width, 1.0),
                n_bins - 1,
            )
    return coded(bins)  # none is empty


@dataclass(frozen=True)
class CodedColumns:
    """Columns of codes 0, 1, ... and the values needed to count them.

    Attributes
    ----------
    codes : ndarray of shape (d, n)
    widths : ndarray of shape (d,), int64
        Number of distinct codes in each column.
    log_table : ndarray of shape (n + 1,)
        x log x of each count.
    """

    codes: Codes
    widths: NDArray[np.int64]
    log_table: Array

    @classmethod
    def of(cls, codes: Codes) -> CodedColumns:
        """Return all columns as codes, shape (d, n)."""
        counts = np.arange(codes.shape[1] + 1, dtype=np.float64)
        return cls(codes, codes.max(axis=1).astype(np.int64) + 1, xlogy(counts, counts))

    def entropy_of(self, labels: NDArray[np.int64]) -> float:
        """Return the entropy of labels 0, 1, ..., shape (n,)."""
        return float(
            np.log(labels.size)
            - self.log_table[np.bincount(labels)].sum() / labels.size
        )

    def entropies(
        self, labels: NDArray[np.int64], n_labels: int, n_inner: int = 1
    ) -> tuple[Array, Array]:
        """Return H(column, label) of each column, shape (d,), and H(column, label // n_inner)."""
        n_features, n_samples = self.codes.shape
        fine, coarse = np.empty(n_features), np.empty(n_features)
        for part in column_blocks(n_features, n_samples):
            ends = np.cumsum(self.widths[part])
            starts = ends - self.widths[part]
            cells = ((self.codes[part] + starts[:, None]) * n_labels + labels).ravel()
            if ends[-1] * n_labels > FEW * cells.size:
                cells, counts = np.unique(cells, return_counts=True)
            else:
                counts = np.bincount(cells, minlength=int(ends[-1]) * n_labels)
                cells = np.arange(counts.size)
            fine[part] = self._sums(counts, cells, starts * n_labels)
            outer = cells // n_inner
            first = np.flatnonzero(np.diff(outer, prepend=-1))
            coarse[part] = self._sums(
                np.add.reduceat(counts, first),
                outer[first],
                starts * (n_labels // n_inner),
            )
        return np.log(n_samples) - fine / n_samples, np.log(
            n_samples
        ) - coarse / n_samples

    def _sums(
        self,
        counts: NDArray[np.int64],
        cells: NDArray[np.int64],
        starts: NDArray[np.int64],
    ) -> Array:
        """Return the sum of x log x over the counts of each column, whose sorted cells begin at `starts`."""
        return np.asarray(
            np.add.reduceat(self.log_table[counts], cells.searchsorted(starts))
        )


def information_with_codes(codes: Codes, y: NDArray[np.int64]) -> Array:
    """Return the mutual information, shape (d,), of columns of codes, shape (d, n), with the classes y."""
    information = np.empty(len(codes))
    n_classes = int(y.max()) + 1
    for part in column_blocks(*codes.shape):
        widths = codes[part].max(axis=1).astype(np.int64) + 1
        starts = np.cumsum(widths) - widths
        cells = (codes[part] + starts[:, None]) * n_classes + y
        counts = np.bincount(cells.ravel(), minlength=int(widths.sum()) * n_classes)
        information[part] = _information(counts.reshape(-1, n_classes), starts)
    return information


def information_with_sparse(X: Any, y: NDArray[np.int64]) -> Array:
    """Return the mutual information, shape (d,), of the values of sparse X, shape (n, d), with the classes y.

    Zeros are one of the values; they are counted together.
    """
    X = sparse.csc_array(X)
    n_features, n_classes = X.shape[1], int(y.max()) + 1
    columns = np.repeat(np.arange(n_features), np.diff(X.indptr))
    order = np.lexsort((X.data, columns))
    columns, values, rows = columns[order], X.data[order], X.indices[order]
    is_new = np.ones(values.size, dtype=bool)
    is_new[1:] = (columns[1:] != columns[:-1]) | (values[1:] != values[:-1])
    # the cell of the zeros precedes the others of its column
    cells = np.cumsum(is_new) - 1 + columns + 1
    n_values = np.bincount(columns[is_new], minlength=n_features) + 1
    starts = np.cumsum(n_values) - n_values
    counts = np.bincount(
        cells * n_classes + y[rows], minlength=int(n_values.sum()) * n_classes
    )
    counts = counts.reshape(-1, n_classes)
    counts[starts] = np.bincount(y) - np.add.reduceat(counts, starts, axis=0)
    return _information(counts, starts)


def _information(counts: NDArray[np.int64], starts: NDArray[np.int64]) -> Array:
    """Return the information of each column; its counts by value and class, shape (m, n_classes), begin at `starts`."""
    by_class = np.add.reduceat(counts, starts, axis=0)
    total = by_class.sum(axis=1)
    of_values = counts.sum(axis=1)
    joint = np.add.reduceat(xlogy(counts, counts).sum(axis=1), starts)
    separate = np.add.reduceat(xlogy(of_values, of_values), starts) + xlogy(
        by_class, by_class
    ).sum(axis=1)
    information = (joint - separate) / total + np.log(total)
    rounding = 64 * np.finfo(np.float64).eps * (1 + np.log(total))
    return np.where(information <= rounding, 0.0, information)
