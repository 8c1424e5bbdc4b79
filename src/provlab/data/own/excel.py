"""Conversion of Excel sheets to CSV, so that they are read with the settings and messages of text tables."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from provlab.data.files import ROW_BYTES, TableError
from provlab.project.messages import listed, to_install
from provsel.streams.memory import check_memory, memory_limit

MAX_ROWS = 1 << 20
"""Largest number of rows in Excel."""


def sheet_as_csv(file: Path, name: str | int | None) -> bytes:
    """Return a sheet as CSV, one line per row.

    Parameters
    ----------
    file : Path
    name : str or int, optional
        Name or number from 0 of the sheet; may be None if there is only one.

    Raises
    ------
    TableError
        If openpyxl is missing or the sheet does not exist.
    MemoryLimitError
        If the content needs too much memory.
    """
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    check_memory(f"data set {file.name}", 8 * unpacked, f"{unpacked:,} bytes of cells")
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise TableError(
            f"the package openpyxl, which reads Excel, is not installed; {to_install('excel')}, or save "
            f"the sheet as CSV."
        ) from error
    with (
        file.open("rb") as content,
        closing(load_workbook(content, True, data_only=True, keep_links=False)) as book,
    ):
        rows = _rows(file, _chosen(book.worksheets, name))
    width = max(map(len, rows), default=0)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for cells in rows:
        if cells:
            writer.writerow([*cells, *[""] * (width - len(cells))])
        else:
            text.write("\n")  # an empty row is an empty line
    return text.getvalue().encode()


def _chosen(sheets: Sequence[Any], name: str | int | None) -> Any:
    """Return a sheet by name or number, or the only one."""
    names = [sheet.title for sheet in sheets]
    if name is None and len(sheets) == 1:
        return sheets[0]
    if isinstance(name, int) and 0 <= name < len(sheets):
        return sheets[name]
    if name in names:
        return sheets[names.index(name)]
    expected = "one sheet" if name is None else f"a sheet {name!r:.40}"
    raise TableError(
        f"expected {expected}, got {listed(names)}; choose one by dataset.sheet_name=NAME."
    )


def _rows(file: Path, sheet: Any) -> list[list[Any]]:
    """Return the cells of a sheet without trailing empty ones; raise if they do not fit into memory.

    A few bytes can name a cell in the last row and column, or repeat a long string in
    each row.
    """
    sheet.reset_dimensions()  # they may be wrong
    limit = memory_limit()
    rows: list[list[Any]] = []
    width = 0
    characters = 0
    for row in sheet.iter_rows():
        cells = [*map(_value, row)]
        while cells and cells[-1] == "":
            cells.pop()
        rows.append(cells)
        width = max(width, len(cells))
        characters += sum(len(cell) for cell in cells if isinstance(cell, str))
        needed = (8 * width + ROW_BYTES) * len(rows) + characters
        if needed > limit:
            check_memory(
                f"data set {file.name}",
                needed,
                f"{len(rows):,} rows of {width:,} columns",
            )
        if len(rows) > MAX_ROWS:
            raise TableError(
                f"expected at most {MAX_ROWS:,} rows, the limit of Excel, got more rows; save the sheet as CSV."
            )
    return rows


def _value(cell: Any) -> Any:
    """Return the value of a cell for CSV: whole numbers without ".0", and None for an error."""
    if cell.value is None:
        return ""
    if cell.data_type == "e":
        return None
    if cell.data_type != "n":
        return cell.value
    number = int(cell.value)
    return number if number == cell.value else float(cell.value)
