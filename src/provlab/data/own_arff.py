"""ARFF, as Weka writes it: attributes of declared types, then rows, in full or sparse.

The rows become lines of CSV, one for each line of the file: so pandas reads their numbers as those of any other table,
and a line has the same number in both.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from provlab.data.files import TableError

FIRST_LINES = 200
"""Lines below @data by which provsel 0.1.0 chose the sign of quotes."""

NUMERIC = ("numeric", "real", "integer")

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|\S+)\s*(.*)", re.IGNORECASE)
ESCAPED = re.compile(r"\\(.)")
SPACES_OF = {"n": " ", "r": " ", "t": " "}
"""What escaped ends of lines and tabs become: a row stays one line."""

WEIGHT = re.compile(r"\{\s*[^\s{},]+\s*\}")
WEIGHT_OF_SPARSE = re.compile(rf",\s*{WEIGHT.pattern}$")


@dataclass(frozen=True)
class Attribute:
    """A column: `kind` is the word that declares its type, or "nominal" where `values` are declared."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """What a sparse row means where it says nothing."""
        if self.kind in NUMERIC:
            return "0"
        return self.values[0] if self.values else "?"


def read_attributes(lines: Iterable[str]) -> tuple[tuple[Attribute, ...], int]:
    """Return the attributes, and how many lines they take with the line @data.

    Raises
    ------
    TableError
        Relational attributes, no @data, the same name twice.
    """
    attributes: dict[str, Attribute] = {}
    for number, line in enumerate(lines, 1):
        words = line.split(None, 1)
        keyword = words[0].lower() if words else ""
        if keyword == "@data" and attributes:
            return tuple(attributes.values()), number
        declared = ATTRIBUTE.fullmatch(line.strip())
        if keyword != "@attribute" or declared is None:
            continue
        attribute = _attribute(_plain(declared[1]), declared[2].strip(), number)
        if attribute.name in attributes:
            raise TableError(
                f"expected each attribute once, got {attribute.name!r:.80} again in line {number}; rename one."
            )
        attributes[attribute.name] = attribute
    raise TableError(f"expected attributes and a line @data, got {len(attributes)} attributes; write it again.")


def _attribute(name: str, declared: str, number: int) -> Attribute:
    if declared.startswith("{"):
        listed = declared.rpartition("}")[0].removeprefix("{").strip()
        separator = "," if "," in listed else " "
        return Attribute(name, "nominal", tuple(fields_of(listed, separator)))
    kind = declared.split(None, 1)[0].lower() if declared else ""
    if kind == "relational":
        raise TableError(
            f"expected one value a row in each attribute, got the relational attribute {name!r:.80} in line {number}, "
            "a table in each row; write its values as attributes of their own, such as their means."
        )
    return Attribute(name, kind)


def fields_of(line: str, separator: str) -> list[str]:
    """Return what stands between separators, without quotes and escapes, up to a comment."""
    blanks = " " if separator == "\t" else " \t"
    field = re.compile(
        rf"[{blanks}]*(?:({QUOTED})[{blanks}]*(?=[{separator}%]|$)|([^{separator}%]*))([{separator}%]|$)"
    )
    fields = []
    place = 0
    while (match := field.match(line, place)) is not None:
        fields.append(_plain(match[1]) if match[1] else match[2].strip())
        place = match.end()
        if match[3] != separator:
            break
    return fields


def _plain(text: str) -> str:
    """Return a text without its quotes, and its escaped letters as they are meant."""
    if text[0] not in "'\"":
        return text
    return ESCAPED.sub(lambda escaped: SPACES_OF.get(escaped[1], escaped[1]), text[1:-1])


class Rows:
    """The rows below @data as lines of CSV, to be read once.

    Parameters
    ----------
    lines : iterable of str
        Below @data.
    attributes : tuple of Attribute
    skip : int
        Lines up to @data.
    missing : collection of str
        Texts that may stand where a value of a list is declared.
    """

    def __init__(
        self, lines: Iterable[str], attributes: tuple[Attribute, ...], skip: int, missing: Iterable[str] = ()
    ) -> None:
        self._lines = iter(lines)
        self._attributes = attributes
        self._number = skip
        self._missing = {"", "?", *missing}
        self._nominal = [(k, {*each.values}) for k, each in enumerate(attributes) if each.kind == "nominal"]
        self._separator = ""
        self._rest = ""

    def __iter__(self) -> Iterator[str]:
        """Return itself: the lines that are not read yet."""
        return self

    def __next__(self) -> str:
        """Return the next line, empty where the file has no row."""
        line = next(self._lines)
        self._number += 1
        row = line.strip()
        if not row or row.startswith("%"):
            return "\n"
        if not self._separator:
            self._separator = next((sign for sign in ",\t " if sign in row), ",")
        fields = self._fields(row)
        if len(fields) != len(self._attributes):
            raise TableError(
                f"expected {len(self._attributes)} values in each row, one for each attribute, got {len(fields)} in "
                f"line {self._number}, {row!r:.40}; correct it."
            )
        for k, declared in self._nominal:
            if fields[k] not in declared and fields[k] not in self._missing:
                self._refuse(k, fields[k])
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(fields)
        return text.getvalue()

    def read(self, size: int) -> str:
        """Return the next characters, at most `size`."""
        parts = [self._rest]
        length = len(self._rest)
        while length < size:
            line = next(self, "")
            if not line:
                break
            parts.append(line)
            length += len(line)
        text = "".join(parts)
        self._rest = text[size:]
        return text[:size]

    def _fields(self, row: str) -> list[str]:
        """Return the values of a row; weights of rows, which Weka writes behind them, are left out."""
        if row.startswith("{"):
            return self._filled(WEIGHT_OF_SPARSE.sub("", row))
        if not any(sign in row for sign in "'\"%{"):
            fields = [field.strip() for field in row.split(self._separator if self._separator != " " else None)]
        else:
            fields = fields_of(row, self._separator)
        if len(fields) == len(self._attributes) + 1 and WEIGHT.fullmatch(fields[-1]):
            fields.pop()
        return fields

    def _filled(self, row: str) -> list[str]:
        """Return the values of a sparse row, "{INDEX VALUE, ...}", written in full."""
        fields = [attribute.default for attribute in self._attributes]
        before = -1
        for entry in _entries(row.removeprefix("{").removesuffix("}")):
            index, _, value = entry.strip().partition(" ")
            k = int(index) if index.isdecimal() and index.isascii() else -1
            if not before < k < len(fields) or not value.strip():
                raise TableError(
                    f"expected a sparse row {{INDEX VALUE, ...}} with rising indices from 0 to {len(fields) - 1}, got "
                    f"{entry.strip()!r:.40} in line {self._number}; correct it."
                )
            fields[k] = _plain(value.strip())
            before = k
        return fields

    def _refuse(self, k: int, value: str) -> None:
        attribute = self._attributes[k]
        raise TableError(
            f"expected one of the values that attribute {attribute.name!r:.80} declares, "
            f"{', '.join(attribute.values):.80}, got {value!r:.40} in line {self._number}; correct it, add it to the "
            f"list, or where it stands for a missing value, say 'dataset.na_values=[{value:.40}]'."
        )


def _entries(text: str) -> Iterator[str]:
    """Yield the entries of a sparse row: commas in quotes separate none."""
    for match in re.finditer(rf"(?:{QUOTED}|[^,])+", text):
        if match[0].strip():
            yield match[0].replace("\t", " ")


def is_read_otherwise(lines: Iterable[str]) -> bool:
    """Tell whether provsel 0.1.0 read other values below @data: weights of rows, escapes, or both kinds of quotes.

    That took one sign as quote, an apostrophe where only that is in the first lines, and knew no escapes.
    """
    signs: set[str] = set()
    first: set[str] = set()
    for number, line in enumerate(lines):
        signs |= {sign for sign in "'\"\\{" if sign in line}
        if number < FIRST_LINES:
            first = {*signs}
    quote = "'" if "'" in first and '"' not in first else '"'
    return bool(signs - {quote})
