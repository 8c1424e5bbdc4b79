"""Columns of a trial record: primitives and lists only, so that a store never needs to run code to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from provlab.protocols import COLUMNS

VERSION = 1
"""Raised when a column changes its meaning; a new column is filled with nulls in older files."""

TYPES = {
    "text": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "number": pa.float64(),
    "seconds": pa.float64(),
    "volatile bytes": pa.int64(),
    "features": pa.list_(pa.int32()),
}

TIMING = tuple(column.name for column in COLUMNS if column.kind == "seconds")
"""Seconds. What trials share counts in each of them, except in `task_cpu`."""

VOLATILE = tuple(column.name for column in COLUMNS if column.kind in ("seconds", "volatile bytes"))
"""The only columns that differ between two runs of the same trial on the same machine."""

SCHEMA = pa.schema([(column.name, TYPES[column.kind]) for column in COLUMNS], metadata={"provsel_schema": str(VERSION)})
"""The union of what trials, protocols and theorems declare."""


def record_schema(records: Iterable[Mapping[str, Any]]) -> pa.Schema:
    """Return the schema of some records: `SCHEMA`, and after it the columns of the project's own measures."""
    own: dict[str, pa.DataType] = {}
    for record in records:
        for name in record.keys() - {*SCHEMA.names}:
            own[name] = pa.string() if isinstance(record[name], str) else own.get(name, pa.float64())
    return pa.schema([*SCHEMA, *(pa.field(name, own[name]) for name in sorted(own))], metadata=SCHEMA.metadata)
