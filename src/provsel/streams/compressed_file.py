"""Parquet file of compressed rows, which is written atomically in chunks and read by `row_chunks`."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from provsel.files import replacing

METADATA = b"provsel.compression"
"""Key of the JSON in the schema metadata that describes the columns."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class CompressedFile:
    """Writes rows of l numbers, the columns z0, z1, ..., and their labels, if there are any, as the column "label".

    Made by `compressed_file`. The encoding is plain, without compression or
    dictionaries, because the numbers are random bits.

    Attributes
    ----------
    n_rows : int
        Number of rows written so far.
    """

    def __init__(
        self,
        name: str,
        target: Path,
        sink: Any,
        n_samples: int | None,
        about: dict[str, Any],
    ) -> None:
        self.n_rows = 0
        self._name, self._target, self._sink, self._n_samples, self._about = (
            name,
            target,
            sink,
            n_samples,
            about,
        )
        self._writer: Any = None

    def write(self, Z: NDArray[Any], y: NDArray[Any] | None) -> None:
        """Append rows Z, shape (b, l), float32 or float64, with labels y, shape (b,), as a row group.

        Raises
        ------
        ValueError
            If Z or y have another type than the first rows.
        OSError
            If the rows do not fit, with the size written and the size missing.
        """
        columns = {
            f"z{i}": pa.array(column)
            for i, column in enumerate(np.ascontiguousarray(Z.T))
        }
        if y is not None:
            columns["label"] = self._label_column(y)
        rows = pa.table(columns)
        if self._writer is None:
            schema = rows.schema.with_metadata(
                {METADATA: json.dumps(self._about, sort_keys=True)}
            )
            with self._room():
                self._writer = pq.ParquetWriter(
                    self._sink,
                    schema,
                    compression="none",
                    use_dictionary=False,
                    write_statistics=False,
                )
        if not rows.schema.equals(self._writer.schema):
            expected, got = (
                {str(f.type) for f in schema}
                for schema in (self._writer.schema, rows.schema)
            )
            raise ValueError(
                f"{self._name}: expected rows and labels of the same types as in the first chunk, "
                f"{', '.join(sorted(expected))}, "
                f"got {', '.join(sorted(got))} from row {self.n_rows} on; convert them."
            )
        with self._room():
            self._writer.write_table(rows, row_group_size=max(1, Z.shape[0]))
        self.n_rows += Z.shape[0]

    def finish(self) -> None:
        """Write the remaining rows; the file is complete afterwards."""
        with self._room():
            if self._writer is not None:
                self._writer.close()
            self._sink.close()

    def abandon(self) -> None:
        """Close the file, because the writer would otherwise warn when it is garbage-collected."""
        if self._writer is not None:
            with suppress(Exception):  # the original error must stay visible
                self._writer.close()
            self._writer.is_open = False

    def _label_column(self, y: NDArray[Any]) -> Any:
        try:
            return pa.array(y)
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise ValueError(
                f"{self._name}: expected labels to be all numbers, all strings or all booleans, got {error} from row "
                f"{self.n_rows} on; convert them to one type."
            ) from error

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Explain what was written and what is missing if the disk, a quota or a process limit is exhausted."""
        try:
            yield
        except OSError as error:
            if error.errno not in FULL:
                raise
            # before `replacing` removes it; data still buffered by the system are not
            # counted
            written = self._sink.tell() if not self._sink.closed else 0
            raise OSError(
                error.errno, self._no_room(os.strerror(error.errno), written)
            ) from error

    def _no_room(self, reason: str, written: int) -> str:
        n_rows = self._n_samples
        a_row = self._about["n_components"] * 8
        if self._writer is not None:
            a_row = sum(_bytes(field.type) for field in self._writer.schema)
        needed = (
            f"about {n_rows * a_row / 1e6:,.1f} MB for {n_rows:,} rows"
            if n_rows
            else f"about {a_row:,.0f} bytes per row"
        )
        return (
            f"{self._name}: expected room for {self._target}, got {reason!r} after {self.n_rows:,} rows and "
            f"{written / 1e6:,.1f} MB; it needs {needed}: make room, write to another disk, or take a smaller "
            f"n_components. Nothing is left of it."
        )


def _bytes(kind: Any) -> float:
    """Return the bytes of a value; estimated for a string."""
    try:
        return float(kind.bit_width / 8)
    except ValueError:
        return 8


@contextmanager
def compressed_file(
    name: str, path: Any, n_samples: int | None, about: dict[str, Any]
) -> Iterator[CompressedFile]:
    """Yield a `CompressedFile` that is moved to `path` on success, and removed otherwise.

    Parameters
    ----------
    name : str
        Name of the caller, for messages.
    path : str or Path
        Ends with .parquet, so that `row_chunks` can read it.
    n_samples : int or None
        Number of rows to come, if known.
    about : dict
        "n_components" and other metadata that the file should state.

    Raises
    ------
    ValueError
        If the path ends otherwise, or is a folder.
    """
    target = Path(path)
    if target.suffix.lower() != ".parquet":
        raise ValueError(
            f"{name}: expected a path that ends with .parquet, got {str(path)!r}; rename the file."
        )
    if target.is_dir():
        raise ValueError(
            f"{name}: expected the path of a file, got the folder {target}; add a file name."
        )
    with replacing(target) as temporary, pa.OSFile(str(temporary), "wb") as sink:
        file = CompressedFile(name, target, sink, n_samples, about)
        try:
            yield file
            file.finish()
        except BaseException:
            file.abandon()
            raise
