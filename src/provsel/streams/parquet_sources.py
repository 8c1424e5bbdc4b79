"""Rows and columns of Parquet files, the only streams that need pyarrow, which is slow to import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from .column_sources import NAME as COLUMNS
from .column_sources import ColumnSource
from .memory import check_memory
from .row_sources import NAME as ROWS
from .row_sources import Chunk, RowSource
from .sources import DAMAGED, damaged

DAMAGED_PARQUET = (*DAMAGED, pa.ArrowException)


class ParquetRows(RowSource):
    """Rows of a Parquet file, with labels if `label` names a column; one row group at a time is in memory."""

    def __init__(self, path: Path, label: str | None = None) -> None:
        self._path, self._label = path, label
        file, self._names, self._type = self._opened()
        if label is not None and label not in file.schema_arrow.names:
            raise ValueError(
                f"{ROWS}: {path}: expected a column {label!r} of labels, which is missing; pass the name of the "
                f"label column as y."
            )
        self.n_samples, self.n_features = file.metadata.num_rows, len(self._names)

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield chunks in Fortran order."""
        file, *_ = self._opened()
        # a name "a" also reads a column "a.b", as if it were nested; `table_values`
        # takes only the requested ones
        names = self._names if self._label is None else [*self._names, self._label]
        batches = file.iter_batches(batch_size=size, columns=names, use_threads=False)
        start = 0
        while True:
            try:
                batch = next(batches, None)
            except DAMAGED_PARQUET as error:
                raise damaged(
                    ROWS, self._path, f"rows from {start} on in good order", error
                ) from error
            if batch is None:
                check_rows(ROWS, self._path, file.metadata.num_rows, start)
                return
            X = table_values(ROWS, self._path, batch, self._names, self._type)
            y = (
                None
                if self._label is None
                else batch.column(self._label).to_numpy(zero_copy_only=False)
            )
            start += batch.num_rows
            yield X, y

    def _opened(self) -> tuple[Any, list[str], type]:
        # without pre_buffer pages are not read ahead of their use
        return opened_parquet(ROWS, self._path, self._label, pre_buffer=False)


class ParquetColumns(ColumnSource):
    """Columns of a Parquet file; its footer is held in memory, the columns only while their block is read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file, self._names, self._type = opened_parquet(COLUMNS, path)
        self.shape = (self._file.metadata.num_rows, len(self._names))

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the columns, in Fortran order."""
        names, n = self._names[start:stop], self.shape[0]
        # as Arrow reads them, and as an array
        check_memory(
            f"{COLUMNS}: {self._path}",
            16 * n * len(names),
            f"{n:,} rows of a block of {len(names)} columns",
        )
        try:
            # a name "a" also reads a column "a.b", as if it were nested; `table_values`
            # takes only the requested ones
            table = self._file.read(columns=names, use_threads=False)
        except DAMAGED_PARQUET as error:
            raise damaged(
                COLUMNS,
                self._path,
                f"columns {names[0]!r} to {names[-1]!r} in good order",
                error,
            ) from error
        check_rows(COLUMNS, self._path, self.shape[0], table.num_rows)
        return table_values(COLUMNS, self._path, table, names, self._type)


def opened_parquet(
    subject: str, path: Path, label: str | None = None, **options: Any
) -> tuple[Any, list[str], type]:
    """Return a Parquet file, the names of its columns without `label`, all numeric, and their common type."""
    try:
        file = pq.ParquetFile(path, **options)
        schema = file.schema_arrow
    except DAMAGED_PARQUET as error:
        raise damaged(subject, path, "a whole Parquet file", error) from error
    features = [field for field in schema if field.name != label]
    if not features:
        raise ValueError(
            f"{subject}: {path}: expected columns of features, got none; write it again."
        )
    for field in features:
        if not (
            pa.types.is_integer(field.type)
            or pa.types.is_floating(field.type)
            or field.type == pa.bool_()
        ):
            raise ValueError(
                f"{subject}: {path}: expected numeric columns, got {field.type} in column {field.name!r}; "
                f"drop or convert it."
            )
    if len(set(schema.names)) < len(schema.names):
        repeated = Counter(schema.names).most_common(1)[0][0]
        raise ValueError(
            f"{subject}: {path}: expected distinct column names, got {repeated!r} more than once; rename them."
        )
    # one type for the file, because scores would otherwise depend on which columns
    # share a block
    single = bool(features) and all(field.type == pa.float32() for field in features)
    return (
        file,
        [field.name for field in features],
        np.float32 if single else np.float64,
    )


def table_values(
    subject: str, path: Path, table: Any, names: list[str], dtype: type
) -> NDArray[Any]:
    """Return columns of an Arrow table or batch as an array of shape (n, len(names)), in Fortran order."""
    values = np.empty((table.num_rows, len(names)), dtype=dtype, order="F")
    for position, name in enumerate(names):
        column = table.column(name)
        if column.null_count:
            raise ValueError(
                f"{subject}: {path}: expected numbers without nulls, got nulls in column {name!r}; "
                f"fill them or drop the column."
            )
        values[:, position] = np.asarray(column)
    return values


def check_rows(subject: str, path: Path, stated: int, n_read: int) -> None:
    """Raise if a Parquet file has another number of rows than its footer states, which Arrow would ignore."""
    if stated != n_read:
        raise ValueError(
            f"{subject}: {path}: expected {stated} rows, the number in its footer, got {n_read}; the file is "
            f"damaged: write "
            "it again."
        )
