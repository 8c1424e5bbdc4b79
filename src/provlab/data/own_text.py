"""A user's own table of text, plain or packed: what separates its columns, which line names them, where a row stands.

pandas reads it. What is found here is what pandas would guess, or take for granted: only what is certain is found, all
else is an error that names the setting.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress, islice, pairwise
from pathlib import Path
from typing import Any

from provlab.data.files import TableError
from provlab.data.own_arff import Attribute, Rows, read_attributes
from provlab.data.own_wide import CELLS, WIDE, read_wide, rows_of
from provlab.project.documents import file_state
from provlab.project.messages import to_install
from provsel.streams.memory import check_memory, memory_limit
from provsel.streams.svmlight_rows import MAX_LINE, OPEN

TEXTS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t", ".data": ",", ".dat": "\t", ".arff": ",", ".xlsx": ","}
"""Endings of tables of text, and what separates their columns where that cannot be found."""

SVMLIGHT = (".svm", ".svmlight", ".libsvm")

PACKED = (*OPEN, ".zip")

SPACES = "\\s+"
"""What pandas calls any white space as separator."""

SPELLED = {"tab": "\t", "\\t": "\t", "space": SPACES}
"""Separators that are hard to write on a command line."""

BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

MISSING = {"", "?", "-", ".", "na", "n/a", "nan", "null", "none"}
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")

HEAD_LINES, HEAD = 200, 1 << 20
"""Lines, and characters, that tell the layout."""

SHEET_ROWS = 1 << 20
"""Rows that Excel has at most."""

OF_A_ROW, OF_A_COLUMN = 64, 256
"""Bytes that loading takes beside the numbers: labels as Python objects, and names with their suffixes."""

csv.field_size_limit(2**31 - 1)  # a line of 20,000 genes is one field to the separators that it does not have


@dataclass(frozen=True)
class Reading:
    """How a file is read, in the words of `pandas.read_csv` and of `load_svmlight_file`.

    See `provlab.data.loaders.file.load` for what a user can say. For formats that keep variables apart, `vectors`
    are pairs of a role, such as "target", and the name of its variable. None means the usual name. Of text `layout_of`
    finds what the user has not said, and the rest: `skip` lines stand before the table, such as those that declare the
    `attributes` of ARFF; of `width` columns none at the end is empty; `row_names` tells whether rows have one field
    more than there are names, as R writes them.
    """

    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: int | str | None = "infer"
    comment: str | None = None
    na_values: tuple[str, ...] = ()
    keep_default_na: bool = True
    sheet_name: str | int | None = None
    X: str | None = None
    zero_based: bool | None = None
    n_features: int | None = None
    vectors: tuple[tuple[str, str | None], ...] = ()
    skip: int = 0
    attributes: tuple[Attribute, ...] = ()
    width: int = 0
    row_names: bool = False


def format_of(file: Path) -> str:
    """Return the ending that says the format, such as ".csv" of a.csv.gz, or the last one where it is not known."""
    *before, last = ["", *(ending.lower() for ending in file.suffixes[-2:])]
    packed = {*TEXTS, *(() if last == ".zip" else SVMLIGHT)} - {".xlsx"}
    return before[-1] if last in PACKED and before[-1] in packed else last


def opened(file: Path, how: Reading) -> Any:
    """Return a table of text, unpacked, as a file of bytes; of Excel a sheet, written as CSV."""
    if file.suffix.lower() == ".xlsx":
        return io.BytesIO(_sheet(file, file_state(file), how.sheet_name))
    if file.suffix.lower() != ".zip":
        return OPEN.get(file.suffix.lower(), open)(file, "rb")
    archive = zipfile.ZipFile(file)
    members = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(members) != 1:
        raise TableError(f"expected one file in the archive, got {members!s:.200}; unpack it.")
    return archive.open(members[0])


@lru_cache(maxsize=1)
def _sheet(file: Path, state: object, name: str | int | None) -> bytes:
    """Return a sheet as CSV, a line for each of its rows, so that what reads text reads it."""
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    check_memory(f"data set {file.name}", 8 * unpacked, f"{unpacked:,} bytes of cells")
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise TableError(
            f"expected openpyxl, which reads Excel, got an installation without; {to_install('excel')}, or save "
            f"the sheet as CSV."
        ) from error
    with closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book:
        sheets = book.worksheets
        names = [sheet.title for sheet in sheets]
        if name not in {*names, *range(len(names))} and (name is not None or len(names) > 1):
            raise TableError(
                f"expected {'one sheet' if name is None else f'a sheet {name!r:.40}'}, got {some(names)}; say which: "
                "dataset.sheet_name=NAME."
            )
        rows = _rows_of(file, book[name] if isinstance(name, str) else sheets[name or 0])
    width = max(map(len, rows), default=0)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for cells in rows:
        if cells:
            writer.writerow([*cells, *[""] * (width - len(cells))])
        else:
            text.write("\n")  # a row without any value is an empty line
    return text.getvalue().encode()


def _rows_of(file: Path, sheet: Any) -> list[tuple[Any, ...]]:
    """Return the cells of a sheet, without empty ones at the ends, as long as the whole table fits into memory.

    A few bytes can name a cell in the last row and column, or a long text in each row.
    """
    sheet.reset_dimensions()  # which may be wrong
    limit = memory_limit()
    rows: list[tuple[Any, ...]] = []
    width = characters = 0
    for row in sheet.iter_rows():
        cells = [_cell(cell) for cell in row]
        while cells and cells[-1] == "":
            cells.pop()
        rows.append(tuple(cells))
        if cells:
            width = max(width, len(cells))
            characters += sum(len(cell) for cell in cells if isinstance(cell, str))
        needed = (8 * width + OF_A_ROW) * len(rows) + characters
        if needed > limit:
            check_memory(f"data set {file.name}", needed, f"{len(rows):,} rows of {width:,} columns")
        if len(rows) > SHEET_ROWS:
            raise TableError(f"expected at most {SHEET_ROWS:,} rows, as Excel has, got more; save the sheet as CSV.")
    return rows


def _cell(cell: Any) -> Any:
    """Return the value of a cell as it is written in CSV: whole numbers without ".0", None for an error."""
    if cell.value is None:
        return ""
    if cell.data_type == "e":
        return None
    if cell.data_type == "n":
        whole = int(cell.value)
        return whole if whole == cell.value else float(cell.value)
    return cell.value


def lines_of(file: Any) -> Iterator[Any]:
    """Yield the lines of a file: a packed one could be a single line that fills the memory.

    Raises
    ------
    TableError
        For a line that is longer than any row.
    """
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise TableError(f"expected lines of at most {MAX_LINE:,} characters, got a longer one; write it again.")
        yield line


@contextmanager
def _as_text(file: Path, how: Reading) -> Iterator[Any]:
    """Yield a table of text after some lines: pandas' own skiprows takes quotes in those for its own."""
    with opened(file, how) as binary:
        text = io.TextIOWrapper(binary, encoding=how.encoding, newline="")
        for _ in islice(lines_of(text), how.skip):
            pass
        yield Rows(lines_of(text), how.attributes, how.skip, how.na_values) if how.attributes else text


def layout_of(file: Path, how: Reading) -> Reading:
    """Return how the columns of a file are separated and named, of what the user says and what its first lines are.

    Raises
    ------
    ValueError
        Where that is not certain: names the setting.
    """
    ending = format_of(file)
    with opened(file, how) as binary:
        first = binary.read(3)
    encoding = how.encoding or next((name for bom, name in BOMS.items() if first.startswith(bom)), "utf-8")
    how = replace(how, encoding=encoding, sep="," if ending == ".xlsx" else how.sep)
    try:
        with _as_text(file, how) as text:
            if ending == ".arff":
                attributes, skip = read_attributes(lines_of(text))
                known: dict[str, Any] = {"sep": ",", "decimal": ".", "header": None, "width": len(attributes)}
                return replace(how, attributes=attributes, skip=skip, **known)
            lines = _first_lines(text)
        if any("\0" in line for line in lines):
            raise UnicodeError("zero bytes")
    except UnicodeError as error:
        raise _other_encoding(file, how) from error
    if lines and (said := re.fullmatch(r'"?sep=(.)"?', lines[0].strip())):
        how, lines = replace(how, sep=how.sep or said[1], skip=1), lines[1:]
    signs = how.sep if how.sep not in (None, SPACES) else ",;\t| "
    columns = 1 + max((line.count(sign) for line in lines for sign in signs), default=0)
    check_memory(f"data set {file.name}", OF_A_COLUMN * columns, f"a line of {columns:,} columns")
    how = how if how.sep else replace(how, sep=_separator(file, lines, how))
    rows = [fields for _, fields in records(lines, how)]
    at = _names_at(rows, how)
    body = rows if at is None else rows[at + 1 :]
    header = rows[at] if at is not None and at < len(rows) else next(iter(rows), [])
    longer = bool(body) and all(len(row) == len(header) + 1 for row in body)
    whole = [row for row in (header if at is not None else [], *body) if len(row) == len(header)]
    used = (k + 1 for k in range(len(header)) if at is None or any(row[k] for row in whole))
    width = max(used, default=min(1, len(header)))
    decimal = how.decimal or _decimal(body, how)
    return replace(how, header=at, decimal=decimal, width=width, row_names=longer and any(row[-1] for row in body))


def wide_rows(file: Path, layout: Reading) -> tuple[list[str], list[list[str]]] | None:
    """Return names and rows of a plain table with far more columns than rows; None of all others."""
    is_plain = not (layout.attributes or layout.row_names or layout.comment or layout.thousands)
    if layout.width < WIDE or not is_plain or layout.sep in (None, SPACES):
        return None
    with _as_text(file, layout) as text:
        lines = [*islice(lines_of(text), CELLS // layout.width + 1)]
    if len(lines) > CELLS // layout.width:
        return None
    return rows_of(lines, str(layout.sep), None if layout.header is None else int(layout.header))


def read_whole(file: Path, layout: Reading) -> Any:
    """Return all of the file as `read_frame` does."""
    wide = wide_rows(file, layout)
    if wide is None or not wide[1]:
        return read_frame(file, layout)
    names, rows = wide
    options: dict[str, Any] = {"sep": layout.sep, "decimal": layout.decimal, "na_values": [*layout.na_values]}
    frame = read_wide(rows, keep_default_na=layout.keep_default_na, skipinitialspace=True, **options)
    return frame.set_axis(names, axis=1)


def read_frame(file: Path, layout: Reading, **options: Any) -> Any:
    """Return what pandas reads of the file, with texts as names of the columns and numbers of rows as index.

    Raises
    ------
    ValueError
        Rows of several lengths, another encoding, and what pandas refuses.
    """
    import pandas as pd

    of_pandas = ("sep", "decimal", "thousands", "header", "comment", "keep_default_na")
    names = [attribute.name for attribute in layout.attributes] or None
    with _as_text(file, layout) as text, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(
                text,
                index_col=None if layout.row_names else False,
                skipinitialspace=True,
                low_memory=False,  # a column has one type, wherever its first text stands
                na_values=[*layout.na_values, *(["?"] if names else [])],
                names=names,
                **{name: getattr(layout, name) for name in of_pandas},
                **options,
            )
        except pd.errors.ParserWarning as warning:
            raise TableError(
                f"expected rows of {layout.width} fields, as many as there are names, got more, which do not end in an "
                f"empty one; say dataset.header=1 where the second row has the names, or dataset.sep, which was "
                f"{layout.sep!r}."
            ) from warning
        except UnicodeError as error:
            raise _other_encoding(file, layout) from error
    if layout.header is None and names is None:
        frame.columns = range(1, frame.shape[1] + 1)
    return frame.set_axis([str(name).strip() for name in frame.columns], axis=1)


def _other_encoding(file: Path, how: Reading) -> TableError:
    """Return the error of a file that is not written in an encoding: which byte, in which line, and what to say."""
    place = "zero bytes"
    with opened(file, how) as binary:
        for number, line in enumerate(lines_of(binary), 1):
            try:
                line.decode(how.encoding)
            except UnicodeError as error:
                at = getattr(error, "start", 0)
                place = f"the byte 0x{line[at : at + 1].hex()} in line {number}, {line[max(0, at - 10) : at + 10]!r}"
                break
    return TableError(
        f"expected text in {how.encoding}, got {place}; say what it is written in: "
        f"dataset.encoding=cp1252 (Windows, Western Europe), latin-1, utf-16, utf-16-le, ...."
    )


def records(lines: Iterable[str], how: Reading) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line, from 1, and the fields of each row: pandas passes over empty lines, too."""
    sep, comment = how.sep or "", how.comment
    if comment:
        lines = (line.split(comment, 1)[0] + "\n" if comment in line else line for line in lines)
    if sep == SPACES:
        sep, lines = " ", (re.sub(r"[ \t]+", " ", line).strip(" ") for line in lines)
    reader = csv.reader(lines, delimiter=sep, skipinitialspace=True)
    for fields in reader:
        if len(fields) > 1 or (fields and fields[0].strip()):
            yield reader.line_num, [field.strip() for field in fields]


def line_of(file: Path, layout: Reading, row: int) -> int:
    """Return the line of the file, from 1, that a row ends in."""
    place = row + (0 if layout.header is None else int(layout.header) + 1)
    with _as_text(file, layout) as text:
        return next((line for k, (line, _) in enumerate(records(text, layout)) if k == place), 0) + layout.skip


def is_number(text: str, comma: bool = False) -> bool:
    """Tell whether a text is a number of digits as `float` reads it, or one with a decimal comma where that may be."""
    try:
        float(text.replace(",", ".") if comma else text)
    except ValueError:
        return False
    return "_" not in text and any(map(str.isdigit, text))


def some(names: Any, shown: int = 5) -> str:
    """Return the first of some names for a message, and how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"{', '.join(f'{name!s:.40}' for name in names[:shown])}{more}"


def _first_lines(text: Any) -> list[str]:
    """Return the lines that tell the layout."""
    lines = []
    size = 0
    for line in islice(lines_of(text), HEAD_LINES):
        lines.append(line)
        size += len(line)
        if size >= HEAD:
            break
    return lines


def _separator(file: Path, lines: list[str], how: Reading) -> str:
    """Return the one separator that splits the first lines into equally many fields, or that of the format."""
    if lines and re.match(r"\S+( (qid|\d+):\S+)+\s*$", lines[0]):
        raise TableError("expected a table, got rows of svmlight; call the file NAME.svm.")
    splits = []
    for sep in (",", ";", "\t", "|", SPACES):
        fields = [len(row) for _, row in records(lines, replace(how, sep=sep))]
        first, widths = next(iter(fields), 0), {*fields[1 : -1 if len(lines) > 2 else None]}  # the last may be cut
        # one field more: row names, or a separator at the end
        if len(widths) <= 1 and first > 1 and widths <= {first, first + 1}:
            splits.append(sep)
    if len(splits) > 1 and splits[-1] == SPACES:
        splits.pop()  # texts have spaces
    if len(splits) == 1:
        return splits[0]
    own = TEXTS[format_of(file)]
    if found := splits or [sep for sep in (";", "\t", "|") if lines and sep in lines[0] and own not in lines[0]]:
        raise TableError(
            f"expected one separator that splits all lines alike, got {' and '.join(map(repr, found))}; say "
            f"which, such as 'dataset.sep=\"{found[0]}\"', tab or space."
        )
    if lines and lines[0][0] in "#%" and how.comment is None:
        raise TableError(
            f"expected names of columns in the first line, got {lines[0].strip()!r:.80}; where such lines are "
            f"comments, say 'dataset.comment=\"{lines[0][0]}\"'."
        )
    return own


def _names_at(rows: list[list[str]], how: Reading) -> int | None:
    """Return the row that has the names of the columns, None where the user says that there is none."""
    if how.header != "infer":
        return None if how.header == "none" else int(how.header or 0)
    if not rows:
        raise TableError("expected names of columns and rows, got an empty file.")
    first, body = rows[0], rows[1:]
    below = [[row[k] for row in body if k < len(row) and row[k].lower() not in MISSING] for k in range(len(first))]
    named_by_number = [is_number(name, comma=True) for name in first]
    numbers = [float(name.replace(",", ".")) for name in compress(first, named_by_number)]
    names = [k for k, name in enumerate(first) if not named_by_number[k] and name.lower() not in MISSING]
    if any(below[k] and all(is_number(cell, comma=True) for cell in below[k]) for k in names):
        return 0  # a text above numbers
    rising = all(a < b for a, b in pairwise(numbers))  # as wavelengths are
    if any(first[k] in below[k] for k in names) or (numbers and not (rising and (names or first[0] == ""))):
        raise TableError(
            f"expected names of columns in the first line, got {some(first)}, which are like the values below; say "
            f"dataset.header=none where the file has no names, or dataset.header=0 where these are."
        )
    return 0


def _decimal(body: list[list[str]], how: Reading) -> str:
    """Return a comma where some column is certainly of numbers with decimal commas, and none has decimal points."""
    columns = [[cell for cell in column if cell.lower() not in MISSING] for column in zip(*body, strict=False)]
    if how.sep == "," or any("." in cell and is_number(cell) for column in columns for cell in column):
        return "."
    for column in columns:
        certain = not all(THOUSANDS.fullmatch(cell) for cell in column if "," in cell)
        if certain and all(is_number(cell, comma=True) for cell in column):
            return ","
    return "."
