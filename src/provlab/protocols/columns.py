"""Columns of a record, as protocols and theorems declare them: primitives and one list, so that no code is read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from provsel.certificates import NOT_MEASURED, Theorem

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


def certificate_columns(*theorems: type[Theorem]) -> tuple[Column, ...]:
    """Return the columns of some theorems, each once: a trial that does not measure them says so."""
    kinds = {name: kind for theorem in theorems for name, kind in theorem.columns().items()}
    return tuple(
        Column(name, "text", NOT_MEASURED) if kind is str else Column(name, "number", math.nan)
        for name, kind in kinds.items()
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
