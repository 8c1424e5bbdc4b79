"""Columns of a trial record: primitives and lists only, so that a store never needs to run code to be read."""

from __future__ import annotations

from dataclasses import fields

import pyarrow as pa

from provsel.evaluation import Certificate

VERSION = 1
"""Raised when a column changes its meaning; a new column is filled with nulls in older files."""

TIMING = (
    "select_cpu", "select_wall", "shared_cpu", "shared_wall", "train_cpu", "train_wall", "pass_cpu", "pass_wall",
    "task_cpu",
)  # fmt: skip
"""Seconds. What trials share counts in each of them, except in `task_cpu`: the CPU time of the whole task, loading the
data and certifying included, over its number of trials, so that its sum is what the trials have cost."""

VOLATILE = (*TIMING, "peak_memory")
"""The only columns that differ between two runs of the same trial on the same machine. Memory in bytes."""


def _certificate_columns() -> list[tuple[str, pa.DataType]]:
    return [
        (f"certificate_{column.name}", pa.string() if isinstance(column.default, str) else pa.float64())
        for column in fields(Certificate)
    ]


SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("cell", pa.string()),
        ("dataset", pa.string()),
        ("data", pa.string()),
        ("content", pa.string()),
        ("source", pa.string()),
        ("setting", pa.string()),
        ("selector", pa.string()),
        ("config", pa.string()),
        ("repeat", pa.int32()),
        ("fold", pa.int32()),
        ("draw", pa.int32()),
        ("seed", pa.int64()),
        ("split_seed", pa.int64()),
        ("n_train", pa.int32()),
        ("n_test", pa.int32()),
        ("n_features", pa.int32()),
        ("n_classes", pa.int32()),
        ("n_rows", pa.int32()),
        ("rank", pa.int32()),
        ("n_selected", pa.int32()),
        ("n_repeats", pa.int32()),
        ("sampling_rate", pa.float64()),
        ("error", pa.float64()),
        ("objective", pa.float64()),
        ("scaled_objective", pa.float64()),
        ("nmi", pa.float64()),
        ("ari", pa.float64()),
        ("cost", pa.float64()),
        *_certificate_columns(),
        ("features", pa.list_(pa.int32())),
        ("environment", pa.string()),
        ("git_revision", pa.string()),
        *((name, pa.float64()) for name in TIMING),
        ("file_bytes", pa.int64()),
        ("peak_memory", pa.int64()),
    ],
    metadata={"provsel_schema": str(VERSION)},
)
