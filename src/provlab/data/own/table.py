"""Table of the columns of a user's own file, and messages for damaged files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from provlab.data.files import TableError
from provlab.data.own.text import Reading, format_of
from provlab.project.documents import file_state
from provlab.project.messages import listed
from provsel.streams.memory import MemoryLimitError, within_memory

T = TypeVar("T")


@dataclass(frozen=True)
class Table:
    """Content of a file: `columns`, a DataFrame, ndarray or csr_array of shape (n, d), and their `names`.

    `vectors` maps roles such as "target" to variables of shape (n,) that a format
    stores separately from the columns. `where` returns the position of a row in the
    file in words. `texts` returns a column by number as written; it is None if the file
    has types. `notes` are remarks for the user before the run. `how` holds the user's
    settings for the file.
    """

    columns: Any
    names: list[str]
    vectors: Mapping[str, Any] = field(default_factory=dict)
    where: Callable[[int], str] = "row {} from 0".format
    texts: Callable[[int], Any] | None = None
    notes: list[str] = field(default_factory=list)
    how: Reading = field(default_factory=Reading)

    @property
    def is_frame(self) -> bool:
        """Whether columns may have several types."""
        return hasattr(self.columns, "iloc")

    def column(self, place: int) -> Any:
        """Return the values of a column, shape (n,)."""
        if self.is_frame:
            return self.columns.iloc[:, place].to_numpy()
        column = self.columns[:, [place]]
        if sparse.issparse(column):
            column = column.toarray()
        return column.ravel()

    def with_rows_of(self, test: Table, test_name: str) -> Table:
        """Return this table followed by the rows of another table with the same columns."""
        if test.names != self.names or test.is_frame != self.is_frame:
            raise TableError(
                f"dataset.test_path: expected the columns {listed(self.names)}, got {listed(test.names)} in "
                f"{test_name}; write the same columns in the same order."
            )
        import pandas as pd

        n = self.columns.shape[0]
        if self.is_frame:
            columns = pd.concat([self.columns, test.columns], ignore_index=True)
        elif sparse.issparse(self.columns) or sparse.issparse(test.columns):
            columns = sparse.vstack([self.columns, test.columns], format="csr")
        else:
            columns = np.vstack([self.columns, test.columns])

        def where(row: int) -> str:
            return (
                self.where(row) if row < n else f"{test.where(row - n)} of {test_name}"
            )

        def texts(k: int) -> Any:
            parts = [
                table.texts(k) for table in (self, test) if table.texts is not None
            ]
            return pd.concat(parts, ignore_index=True)

        vectors = {
            role: np.concatenate([vector, test.vectors[role]])
            for role, vector in self.vectors.items()
        }
        has_texts = self.texts is not None and test.texts is not None
        notes = [*self.notes, *test.notes]
        return replace(
            self,
            columns=columns,
            vectors=vectors,
            where=where,
            texts=texts if has_texts else None,
            notes=notes,
        )


@contextmanager
def faults_of(file: Path) -> Iterator[None]:
    """Add the file name to errors, including a lack of memory."""
    with within_memory(f"data set {file.name}"):
        try:
            yield
        except TableError as error:
            raise ValueError(f"data set {file.name}: {error}") from error


def once(read: Callable[[Path, Reading], T], file: Path, how: Reading) -> T:
    """Return the content of a file, which is read only once while the file is unchanged."""
    return _once(read, file, file_state(file), how)


@lru_cache(maxsize=64)
def _once(
    read: Callable[[Path, Reading], Any], file: Path, state: object, how: Reading
) -> Any:
    return read_sound(read, file, how)


def read_sound(read: Callable[[Path, Reading], T], file: Path, how: Reading) -> T:
    """Read a file, and report it as damaged on any error: SciPy may raise even UnboundLocalError."""
    try:
        return read(file, how)
    except (ImportError, MemoryError, MemoryLimitError, TableError):
        raise
    except Exception as error:
        message = str(error)
        from_stream = f"row_chunks: {file}: "
        if isinstance(error, ValueError) and message.startswith(str(file)):
            raise
        if isinstance(error, ValueError) and message.startswith(from_stream):
            raise TableError(message.removeprefix(from_stream)) from error
        raise ValueError(
            f"{file}: expected an intact {format_of(file)} file, got {type(error).__name__}: "
            f"{' '.join(message.split()):.200}; repair it."
        ) from error
