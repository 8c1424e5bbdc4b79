"""Conversion of ARFF, as written by Weka, to CSV: typed attributes, then full or sparse rows.

SciPy's reader accepts neither strings nor sparse rows. The first line of the CSV has
the names of the attributes. All other lines keep their numbers, so that pandas reads
values as in all other formats, and messages can name lines.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from provlab.data.files import ROW_BYTES, TableError
from provsel.streams.memory import check_memory, memory_limit

FIRST_LINES = 200
"""Number of lines after @data from which provsel 0.1.0 chose the quote character."""

NUMERIC = ("numeric", "real", "integer")

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|\S+)\s*(.*)", re.IGNORECASE)
ESCAPED = re.compile(r"\\(.)")
ESCAPED_SPACES = {"n": " ", "r": " ", "t": " "}
"""Replacements for escaped line ends and tabs, so that a row remains one line."""

WEIGHT = re.compile(r"\{\s*[^\s{},]+\s*\}")
WEIGHT_OF_SPARSE_ROW = re.compile(rf",\s*{WEIGHT.pattern}$")


class Attribute(NamedTuple):
    """A column; `kind` is the declared type, or "nominal" if `values` are declared."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """Value of entries that a sparse row leaves out."""
        if self.kind in NUMERIC:
            return "0"
        return self.values[0] if self.values else "?"


def arff_as_csv(subject: str, lines: Iterable[str], na_values: Iterable[str]) -> bytes:
    """Return the rows of a file as CSV, after a line with the attribute names.

    Parameters
    ----------
    subject : str
        Name of the data set for messages.
    lines : iterable of str
    na_values : iterable of str
        Strings that may occur instead of a declared value.

    Raises
    ------
    TableError
        If there are relational attributes, repeated names, no @data, or rows that do
        not match the declared types.
    MemoryLimitError
        If the rows need too much memory.
    """
    limit = memory_limit()
    size = 0
    numbered = enumerate(lines, 1)
    attributes, n_head_lines = _read_head(numbered)
    missing = {"", "?", *na_values}
    nominal = [
        (k, {*attribute.values})
        for k, attribute in enumerate(attributes)
        if attribute.kind == "nominal"
    ]
    separator = ""
    output = io.BytesIO()
    text = io.TextIOWrapper(output, "utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([attribute.name for attribute in attributes])
    text.write("\n" * (n_head_lines - 1))
    for number, line in numbered:
        row = line.strip()
        if not row or row.startswith("%"):
            text.write("\n")
            continue
        size += len(row) + ROW_BYTES + 8 * len(attributes)  # sparse rows are completed
        if size > limit:
            check_memory(
                subject, size, f"{number:,} lines of {len(attributes):,} attributes"
            )
        separator = separator or next((sign for sign in ",\t " if sign in row), ",")
        if row.startswith("{"):
            fields = _sparse_fields(row, attributes, number)
        else:
            fields = _full_fields(row, separator, len(attributes))
        if len(fields) != len(attributes):
            raise TableError(
                f"expected {len(attributes)} values in each row, one for each attribute, got {len(fields)} in line "
                f"{number}, {row!r:.40}; correct it."
            )
        for k, declared in nominal:
            if fields[k] not in declared and fields[k] not in missing:
                raise _undeclared(attributes[k], fields[k], number)
        writer.writerow(fields)
    text.flush()
    return output.getvalue()


def _read_head(numbered: Iterator[tuple[int, str]]) -> tuple[list[Attribute], int]:
    """Return the attributes, and the line number of @data."""
    attributes: dict[str, Attribute] = {}
    for number, line in numbered:
        keyword = line.strip()[:10].lower()
        if attributes and keyword.split()[:1] == ["@data"]:
            return [*attributes.values()], number
        declared = ATTRIBUTE.fullmatch(line.strip())
        if declared is None:
            continue
        attribute = _attribute(_unquoted(declared[1]), declared[2].strip(), number)
        if attribute.name in attributes:
            raise TableError(
                f"expected each attribute once, got {attribute.name!r:.80} again in line {number}; rename one."
            )
        attributes[attribute.name] = attribute
    raise TableError(
        f"expected attributes and a line @data, got {len(attributes)} attributes; save the file again."
    )


def _attribute(name: str, declared: str, number: int) -> Attribute:
    if declared.startswith("{"):
        listed = declared.rpartition("}")[0].removeprefix("{").strip()
        separator = "," if "," in listed else " "
        return Attribute(name, "nominal", tuple(_quoted_fields(listed, separator)))
    kind = declared.split(None, 1)[0].lower() if declared else ""
    if kind == "relational":
        raise TableError(
            f"expected a single value in each row and attribute, got the relational attribute {name!r:.80} in line "
            f"{number}, which has a table in each row; write its values as separate attributes, such as their means."
        )
    return Attribute(name, kind)


def _unquoted(text: str) -> str:
    """Return a string with quotes removed and escapes resolved."""
    if text[0] not in "'\"":
        return text
    return ESCAPED.sub(
        lambda escaped: ESCAPED_SPACES.get(escaped[1], escaped[1]), text[1:-1]
    )


def _quoted_fields(line: str, separator: str) -> list[str]:
    """Return the fields up to a comment, with quotes and escapes resolved."""
    blanks = " " if separator == "\t" else " \t"
    pattern = re.compile(
        rf"[{blanks}]*(?:({QUOTED})[{blanks}]*(?=[{separator}%]|$)|([^{separator}%]*))([{separator}%]|$)"
    )
    fields = []
    place = 0
    while (match := pattern.match(line, place)) is not None:
        quoted, plain, end = match.groups()
        fields.append(_unquoted(quoted) if quoted else plain.strip())
        place = match.end()
        if end != separator:
            break
    return fields


def _full_fields(row: str, separator: str, n_attributes: int) -> list[str]:
    """Return the values of a row, without the weight that Weka may append."""
    if any(sign in row for sign in "'\"%{"):
        fields = _quoted_fields(row, separator)
    elif separator == " ":
        fields = row.split()
    else:
        fields = [*map(str.strip, row.split(separator))]
    if len(fields) == n_attributes + 1 and WEIGHT.fullmatch(fields[-1]):
        fields.pop()
    return fields


def _sparse_fields(row: str, attributes: Sequence[Attribute], number: int) -> list[str]:
    """Return the values of a sparse row, "{INDEX VALUE, ...}", written in full and without its weight."""
    fields = [attribute.default for attribute in attributes]
    last = -1
    entries = WEIGHT_OF_SPARSE_ROW.sub("", row).removeprefix("{").removesuffix("}")
    # quoted commas do not separate
    for match in re.finditer(rf"(?:{QUOTED}|[^,])+", entries):
        entry = match[0].replace("\t", " ").strip()
        if not entry:
            continue
        index, _, value = entry.partition(" ")
        k = int(index) if index.isdecimal() and index.isascii() else -1
        if not last < k < len(fields) or not value.strip():
            raise TableError(
                f"expected a sparse row {{INDEX VALUE, ...}} with rising indices from 0 to {len(fields) - 1}, got "
                f"{entry!r:.40} in line {number}; correct it."
            )
        fields[k] = _unquoted(value.strip())
        last = k
    return fields


def _undeclared(attribute: Attribute, value: str, number: int) -> TableError:
    return TableError(
        f"expected one of the values that attribute {attribute.name!r:.80} declares, "
        f"{', '.join(attribute.values):.80}, got {value!r:.40} in line {number}; correct it, add it to the list, or "
        f"if it stands for a missing value, set 'dataset.na_values=[{value:.40}]'."
    )


def was_read_otherwise(lines: Iterable[str]) -> bool:
    """Return whether provsel 0.1.0 misread this file: row weights, escapes, or both kinds of quotes.

    It used only one quote character, an apostrophe if the first lines had no other, and
    no escapes.
    """
    signs: set[str] = set()
    first_signs: set[str] = set()
    rows = iter(lines)
    for line in rows:
        if line.strip()[:6].lower().split()[:1] == ["@data"]:
            break
    for number, line in enumerate(rows):
        signs.update(sign for sign in "'\"\\{" if sign in line)
        if number < FIRST_LINES:
            first_signs = signs.copy()
    quote = "'" if "'" in first_signs and '"' not in first_signs else '"'
    return bool(signs - {quote})
