"""Columns of a record, as protocols and theorems declare them: primitives and one list, so that no code is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Literal, NamedTuple

from provsel.certificates import Certificate

Kind = Literal["text", "int32", "int64", "number", "seconds", "volatile bytes", "features"]


class Column(NamedTuple):
    """One column of a record.

    Attributes
    ----------
    name : str
    kind : str
        "text", "int32", "int64", "number"; "features", a list of int32; "seconds" and "volatile bytes" differ between
        two runs of the same trial on the same machine.
    default : value
        Of a trial whose protocol measures something else.
    """

    name: str
    kind: Kind
    default: Any = None


def columns(kind: Kind, *names: str) -> tuple[Column, ...]:
    """Return columns of one kind, empty where nothing was measured."""
    return tuple(Column(name, kind) for name in names)


def certificate_columns(certificate: type[Certificate] = Certificate) -> tuple[Column, ...]:
    """Return the columns of a theorem's record."""
    return tuple(
        Column(f"certificate_{field.name}", "text" if isinstance(field.default, str) else "number", field.default)
        for field in fields(certificate)
    )


def union(parts: Iterable[Iterable[Column]]) -> tuple[Column, ...]:
    """Return the columns of all parts, each once, in order."""
    found: dict[str, Column] = {}
    for column in (column for part in parts for column in part):
        if found.setdefault(column.name, column) != column:
            raise ValueError(
                f"column {column.name}: expected the same kind and default wherever it is declared, got "
                f"{found[column.name]} and {column}; rename one."
            )
    return tuple(found.values())
