"""Layout of a user's own text table: separator, header, and positions of rows.

pandas reads the rows. This module determines what pandas would guess or assume. Only
certain findings are used; otherwise an error names the setting. Excel, ARFF and
transposed tables are converted to CSV first.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import Annotated, Any

from provlab.data.files import COLUMN_BYTES, TableError
from provlab.data.own.arff import arff_as_csv
from provlab.data.own.excel import sheet_as_csv
from provlab.project.documents import file_state
from provlab.project.messages import listed
from provsel.streams.memory import check_memory, memory_limit
from provsel.streams.svmlight_rows import MAX_LINE, OPEN

TEXTS = {
    ".csv": ",",
    ".tsv": "\t",
    ".tab": "\t",
    ".txt": "\t",
    ".data": ",",
    ".dat": "\t",
    ".arff": ",",
    ".xlsx": ",",
}
"""Suffixes of text tables, with the column separator used if none can be detected."""

SVMLIGHT = (".svm", ".svmlight", ".libsvm")
JSON_LINES = (".jsonl", ".ndjson")

PACKED = (*OPEN, ".zip")

SPACES = "\\s+"
"""The pandas separator for any white space."""

BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

MISSING = {"", "?", "-", ".", "na", "n/a", "nan", "null", "none"}
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")

HEAD_LINES = 200
HEAD_CHARACTERS = 1 << 20
"""Maximum numbers of lines and of characters from which the layout is determined."""

CELL_BYTES = 64
"""Memory of a cell as a string, in bytes."""

# with a wrong separator, a line of 20,000 genes is one field
csv.field_size_limit(2**31 - 1)


def sign(text: str | None) -> str | None:
    """Return a separator or another sign; some are hard to write on a command line."""
    text = {"tab": "\t", "\\t": "\t", "space": SPACES}.get(str(text), text)
    if text is not None and text != SPACES and len(text) != 1:
        raise ValueError(f"expected one character, got {text!r:.80}.")
    return text


def known_encoding(name: str | None) -> str | None:
    """Return the name of an encoding that Python knows."""
    try:
        if name is not None:
            codecs.lookup(name)
    except LookupError:
        raise ValueError(
            f"expected an encoding of Python, such as cp1252 or utf-16, got {name!r:.80}."
        ) from None
    return name


def row_of_names(row: int | str | None) -> int | str:
    """Return the number of a row, "none" or "infer"."""
    if row is None:
        return "none"
    if row not in ("none", "infer") and (isinstance(row, str) or row < 0):
        raise ValueError(
            f"expected infer, none or a row number from 0, got {row!r:.80}."
        )
    return row


def sorted_words(values: Any) -> tuple[str, ...]:
    """Return one or several values of a YAML file as strings."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        values = [values]
    words = {str(value) for value in values if value is not None}
    if None in values:
        words.add("null")
    return tuple(sorted(words))


@dataclass(frozen=True)
class Reading:
    """A user's settings for a file, in terms of `pandas.read_csv` and `load_svmlight_file`.

    See `provlab.data.loaders.file.load`. Functions check settings and bring them into
    one spelling. For formats that store variables separately, `vectors` are pairs of a
    role, such as "target", and the name of its variable; None means the usual name.
    """

    sep: Annotated[str | None, sign] = None
    decimal: Annotated[str | None, sign] = None
    thousands: Annotated[str | None, sign] = None
    encoding: Annotated[str | None, known_encoding] = None
    header: Annotated[int | str, row_of_names] = "infer"
    comment: Annotated[str | None, sign] = None
    na_values: Annotated[tuple[str, ...], sorted_words] = ()
    keep_default_na: bool = True
    sheet_name: str | int | None = None
    X: str | None = None
    zero_based: bool | None = None
    n_features: int | None = None
    transpose: bool = False
    vectors: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True)
class Layout:
    """The layout of a text table.

    `header` is the row with the names, or None; `lines_before` lines precede the first
    row of values. `names` are the column names without trailing empty ones. Rows have
    `n_fields` fields, the first of which has no name if `row_names` is true, as in
    files written by R.
    """

    sep: str
    decimal: str
    encoding: str
    header: int | None
    names: tuple[str, ...]
    n_fields: int
    row_names: bool
    lines_before: int


def format_of(file: Path) -> str:
    """Return the suffix that determines the format, such as ".csv" of a.csv.gz; the last one if it is unknown."""
    endings = ["", *map(str.lower, file.suffixes)]
    may_be_packed = {*TEXTS, *JSON_LINES} - {".xlsx"}
    if endings[-1] != ".zip":
        may_be_packed.update(SVMLIGHT)
    if endings[-1] in PACKED and endings[-2] in may_be_packed:
        return endings[-2]
    return endings[-1]


def open_unpacked(file: Path) -> Any:
    """Return a binary file object with the uncompressed content."""
    ending = file.suffix.lower()
    if ending != ".zip":
        return OPEN.get(ending, open)(file, "rb")
    archive = zipfile.ZipFile(file)
    members = [
        name
        for name in archive.namelist()
        if not name.endswith("/") and not name.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise TableError(
            f"expected a single file in the archive, got {members!s:.200}; unpack it."
        )
    return archive.open(members[0])


def lines_of(file: Any) -> Iterator[Any]:
    """Yield the lines of a file, with a limit, because a compressed file could be one huge line.

    Raises
    ------
    TableError
        If a line is longer than any row may be.
    """
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise TableError(
                f"expected lines of at most {MAX_LINE:,} characters, got a longer one; break it into rows."
            )
        yield line


def is_written_as_csv(file: Path, how: Reading) -> bool:
    """Return whether a file is read after conversion by `written_as_csv`."""
    return how.transpose or format_of(file) in (".arff", ".xlsx")


def written_as_csv(file: Path, how: Reading) -> bytes:
    """Return an Excel, ARFF or transposed file as CSV, converted only once while it is unchanged."""
    # these have no effect
    settings = replace(
        how, decimal=None, thousands=None, header="infer", keep_default_na=True
    )
    return _written_as_csv(file, file_state(file), settings)


@lru_cache(maxsize=1)
def _written_as_csv(file: Path, state: object, how: Reading) -> bytes:
    if format_of(file) == ".xlsx":
        sheet = sheet_as_csv(file, how.sheet_name)
        if not how.transpose:
            return sheet
        return _transposed(file, records(io.StringIO(sheet.decode(), newline=""), ","))
    encoding = how.encoding or encoding_of(file)
    with io.TextIOWrapper(open_unpacked(file), encoding, newline="") as text:
        try:
            if not how.transpose:
                return arff_as_csv(
                    f"data set {file.name}", lines_of(text), how.na_values
                )
            head = _first_lines(text)
            sep = how.sep or _separator(file, head, how)
            return _transposed(
                file, records(chain(head, lines_of(text)), sep, how.comment)
            )
        except UnicodeError as error:
            raise _encoding_fault(encoding, error) from error


def _transposed(file: Path, rows: Iterable[tuple[int, list[str]]]) -> bytes:
    """Return the transpose of rows of fields as CSV."""
    limit = memory_limit()
    fields = []
    size = 0
    for _, row in rows:
        fields.append(row)
        size += CELL_BYTES * len(row) + sum(map(len, row))
        if size > limit:
            check_memory(
                f"data set {file.name}", size, f"{len(fields):,} lines to be transposed"
            )
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(zip_longest(*fields, fillvalue=""))
    return text.getvalue().encode()


def open_text(file: Path, how: Reading, encoding: str) -> Any:
    """Return a text table as a text file object."""
    if is_written_as_csv(file, how):
        return io.TextIOWrapper(
            io.BytesIO(written_as_csv(file, how)), "utf-8", newline=""
        )
    return io.TextIOWrapper(open_unpacked(file), encoding, newline="")


def encoding_of(file: Path) -> str:
    """Return the encoding stated by the first bytes of a file; by default UTF-8."""
    with open_unpacked(file) as content:
        first = content.read(3)
    for mark, encoding in BOMS.items():
        if first.startswith(mark):
            return encoding
    return "utf-8"


def _encoding_fault(encoding: str, error: UnicodeError) -> TableError:
    """Return the error for a file in another encoding, with the byte, its surroundings and advice."""
    got = f"{error!s:.200}"
    if isinstance(error, UnicodeDecodeError):
        surroundings = error.object[max(0, error.start - 10) : error.start + 10]
        got = f"the byte 0x{error.object[error.start]:02x} in {surroundings!r}"
    return TableError(
        f"expected text in {encoding}, got {got}; state the encoding: dataset.encoding=cp1252 (Windows, Western "
        f"Europe), latin-1, utf-16, utf-16-le, ...."
    )


def layout_of(file: Path, how: Reading) -> Layout:
    """Return the layout of a table from the user's settings and its first lines.

    Raises
    ------
    TableError
        If it is ambiguous. The message names the setting.
    """
    is_converted = is_written_as_csv(file, how)
    encoding = how.encoding or encoding_of(file)
    try:
        with open_text(file, how, encoding) as text:
            lines = _first_lines(text)
        if any("\0" in line for line in lines):
            raise UnicodeError("zero bytes")
    except UnicodeError as error:
        raise _encoding_fault(encoding, error) from error
    sep = "," if is_converted else how.sep
    lines_before = 0
    declared = re.fullmatch(r'"?sep=(.)"?', lines[0].strip()) if lines else None
    if declared:
        sep = sep or declared[1]
        lines = lines[1:]
        lines_before = 1
    _check_width(file, lines, sep)
    if sep is None:
        sep = _separator(file, lines, how)
    numbered_rows = [*records(lines, sep, how.comment)]
    rows = [fields for _, fields in numbered_rows]
    if format_of(file) == ".arff":
        return Layout(
            sep, ".", encoding, 0, column_names(rows[0]), len(rows[0]), False, 1
        )
    header = _header_of(rows, how)
    if header is not None and header >= len(rows):
        raise TableError(
            f"expected the column names in row {header}, counted from 0, but there are only {len(rows)} "
            f"rows before the values."
        )
    if header is None:
        first = rows[0] if rows else []
        body = rows
    else:
        first = rows[header]
        body = rows[header + 1 :]
        lines_before += numbered_rows[header][0]
    has_more_fields = bool(body) and all(len(row) == len(first) + 1 for row in body)
    return Layout(
        sep=sep,
        decimal=how.decimal or _decimal(body, sep),
        encoding=encoding,
        header=header,
        names=_names(first, body, is_named=header is not None),
        n_fields=len(first) + has_more_fields,
        row_names=has_more_fields and any(row[-1] for row in body),
        lines_before=lines_before,
    )


def _first_lines(text: Any) -> list[str]:
    """Return the first lines, from which the layout is determined."""
    lines = []
    n_characters = 0
    for line in islice(lines_of(text), HEAD_LINES):
        lines.append(line)
        n_characters += len(line)
        if n_characters >= HEAD_CHARACTERS:
            break
    return lines


def _check_width(file: Path, lines: Sequence[str], sep: str | None) -> None:
    """Raise if a line has more columns than fit into memory."""
    signs = ",;\t| " if sep in (None, SPACES) else sep
    n_columns = 1 + max(
        (line.count(sign) for line in lines for sign in signs), default=0
    )
    check_memory(
        f"data set {file.name}",
        COLUMN_BYTES * n_columns,
        f"a line of {n_columns:,} columns",
    )


def _names(first: list[str], body: list[list[str]], is_named: bool) -> tuple[str, ...]:
    """Return the names of the columns; trailing columns count only if they have a name or a value."""
    rows = [row for row in body if len(row) == len(first)]
    width = len(first)
    if is_named:
        while (
            width > 1
            and not first[width - 1]
            and not any(row[width - 1] for row in rows)
        ):
            width -= 1
        return column_names(first[:width])
    return tuple(map(str, range(1, width + 1)))


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """Return distinct column names as pandas makes them: "Unnamed: 0" if nameless, "a.1" for a second "a"."""
    names = [name or f"Unnamed: {k}" for k, name in enumerate(header)]
    stated = {*names}
    n_times = dict.fromkeys(stated, 0)
    distinct = []
    for name in names:
        unique = name
        if n_times[name]:
            while (unique := f"{name}.{n_times[name]}") in stated:
                n_times[name] += 1
        n_times[name] += 1
        distinct.append(unique)
    return tuple(distinct)


def records(
    lines: Iterable[str], sep: str, comment: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line number, from 1, and the fields of each row, skipping empty lines like pandas."""
    if comment:
        lines = (line.rstrip("\r\n").split(comment, 1)[0] + "\n" for line in lines)
    if sep == SPACES:
        sep = " "
        lines = (re.sub(r"[ \t]+", " ", line).strip() + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=sep, skipinitialspace=True)
    for fields in reader:
        if len(fields) > 1 or (fields and fields[0].strip()):
            yield reader.line_num, [*map(str.strip, fields)]


@dataclass(frozen=True)
class TextTable:
    """A text table with its settings and its layout."""

    file: Path
    how: Reading
    layout: Layout

    def read(self, **options: Any) -> Any:
        """Return the rows as read by pandas, with columns and index numbered.

        Raises
        ------
        TableError
            If a row is longer than the header, or the encoding is another.
        """
        import pandas as pd

        how = self.how
        na_values = [*how.na_values]
        if format_of(self.file) == ".arff":
            na_values.append("?")
        with self._body() as text, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                return pd.read_csv(
                    text,
                    sep=self.layout.sep,
                    decimal=self.layout.decimal,
                    thousands=how.thousands,
                    comment=how.comment,
                    na_values=na_values,
                    header=None,
                    names=range(self.layout.n_fields),
                    index_col=False,
                    skipinitialspace=True,
                    # a column has one type, wherever its first string is
                    low_memory=False,
                    **{"keep_default_na": how.keep_default_na, **options},
                )
            except (pd.errors.ParserError, pd.errors.ParserWarning):
                self._check_lengths()
                raise
            except UnicodeError as error:
                raise _encoding_fault(self.layout.encoding, error) from error

    def read_written(self, **options: Any) -> Any:
        """Return the fields of all rows as strings in their written form."""
        return self.read(dtype=str, keep_default_na=False, **options)

    def read_column(self, k: int) -> Any:
        """Return one field of all rows in its written form."""
        import pandas as pd

        try:
            return self.read_written(usecols=[k]).iloc[:, 0]
        except pd.errors.ParserError:  # all rows are shorter than the header
            return self.read_written().iloc[:, k]

    def place_of(self, row: int) -> str:
        """Return the position of a row: the line number, from 1, of its end, or the column if transposed."""
        if self.how.transpose:
            return f"column {row + 1 + self.layout.lines_before}"
        for k, (line, _) in enumerate(self._records()):
            if k == row:
                return f"line {self.layout.lines_before + line}"
        return "the last line"

    def _body(self) -> Any:
        """Return a text file positioned after the header; skiprows of pandas would misread its quotes."""
        text = open_text(self.file, self.how, self.layout.encoding)
        for _ in islice(lines_of(text), self.layout.lines_before):
            pass
        return text

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        with self._body() as text:
            yield from records(lines_of(text), self.layout.sep, self.how.comment)

    def _check_lengths(self) -> None:
        """Raise if a row has more fields than there are names, naming the first."""
        for row, (_, fields) in enumerate(self._records()):
            if len(fields) > self.layout.n_fields:
                raise TableError(
                    f"expected rows of {len(self.layout.names)} fields, as many as there are names, got {len(fields)} "
                    f"in {self.place_of(row)}; correct the row, set dataset.header=1 if the second row has the names, "
                    f"or set dataset.sep, which was {self.layout.sep!r}."
                )


def is_number(text: str, comma: bool = False) -> bool:
    """Return whether `float` accepts a string of digits as a number, or with a decimal comma if allowed."""
    try:
        float(text.replace(",", ".") if comma else text)
    except ValueError:
        return False
    return "_" not in text and any(map(str.isdigit, text))


def _separator(file: Path, lines: list[str], how: Reading) -> str:
    """Return the only separator that splits the first lines into equally many fields, or that of the format."""
    if lines and re.match(r"\S+( (qid|\d+):\S+)+\s*$", lines[0]):
        raise TableError(
            "expected a table, got rows in svmlight format; rename the file to NAME.svm."
        )
    separators = [
        sep for sep in (",", ";", "\t", "|") if _splits_alike(lines, sep, how)
    ]
    if not separators and _splits_alike(lines, SPACES, how):  # strings contain spaces
        separators = [SPACES]
    if len(separators) == 1:
        return separators[0]
    usual = TEXTS[format_of(file)]
    if not separators and lines and usual not in lines[0]:
        separators = [sep for sep in (";", "\t", "|") if sep in lines[0]]
    if separators:
        raise TableError(
            f"expected one separator that splits all lines into equally many fields, got "
            f"{' and '.join(map(repr, separators))}; choose one, such as 'dataset.sep=\"{separators[0]}\"', tab or "
            f"space."
        )
    if lines and lines[0][0] in "#%" and how.comment is None:
        raise TableError(
            f"expected column names in the first line, got {lines[0].strip()!r:.80}; if such lines are comments, "
            f"set 'dataset.comment=\"{lines[0][0]}\"'."
        )
    return usual


def _splits_alike(lines: list[str], sep: str, how: Reading) -> bool:
    """Return whether a separator splits all lines into as many fields as the first, or all others into one more.

    The additional field is a row name or follows a trailing separator. The last line
    may be truncated.
    """
    widths = [len(fields) for _, fields in records(lines, sep, how.comment)]
    if not widths or widths[0] < 2:
        return False
    following = {*widths[1 : -1 if len(lines) > 2 else None]}
    return len(following) <= 1 and following <= {widths[0], widths[0] + 1}


def _header_of(rows: list[list[str]], how: Reading) -> int | None:
    """Return the row with the column names; None if the user states that there is none."""
    if how.header == "none":
        return None
    if how.header != "infer":
        return int(how.header)
    if not rows:
        raise TableError("expected column names and rows, got an empty file.")
    names = rows[0]
    numbers = [
        float(name.replace(",", ".")) for name in names if is_number(name, comma=True)
    ]
    n_words = 0
    has_name_among_values = False
    for k, name in enumerate(names):
        if is_number(name, comma=True) or name.lower() in MISSING:
            continue
        n_words += 1
        column = [
            row[k] for row in rows[1:] if k < len(row) and row[k].lower() not in MISSING
        ]
        if column and all(is_number(cell, comma=True) for cell in column):
            return 0  # a string above numbers
        has_name_among_values |= name in column
    are_rising = all(a < b for a, b in pairwise(numbers))  # as for wavelengths
    if has_name_among_values or (
        numbers and not (are_rising and (n_words or names[0] == ""))
    ):
        raise TableError(
            f"expected column names in the first line, got {listed(names)}, which look like the values below; "
            f"set dataset.header=none if the file has no names, or dataset.header=0 if these are the names."
        )
    return 0


def _decimal(body: list[list[str]], sep: str) -> str:
    """Return a comma if a column certainly has decimal commas and no column has decimal points."""
    if sep == ",":
        return "."
    has_decimal_commas = False
    for column in zip(*body, strict=False):
        cells = [cell for cell in column if cell.lower() not in MISSING]
        if any("." in cell and is_number(cell) for cell in cells):
            return "."
        with_comma = [cell for cell in cells if "," in cell]
        if not all(map(THOUSANDS.fullmatch, with_comma)) and all(
            is_number(cell, comma=True) for cell in cells
        ):
            has_decimal_commas = True
    return "," if has_decimal_commas else "."
