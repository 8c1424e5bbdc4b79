"""Columns and rows of arrays and files in chunks, for data larger than memory."""

from provsel.streams.columns import column_blocks
from provsel.streams.rows import row_chunks

__all__ = ["column_blocks", "row_chunks"]
