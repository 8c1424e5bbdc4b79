"""Plain values, as YAML and JSON give them, as dataclasses: checked by the annotations of the fields.

One place for what a file must be that others may have written. An annotation is a type of plain values, a dataclass, a
tuple of these, which is a list in the file, one of them or None, or `Annotated` with a `Fits` that has a name: inside
annotations a lambda sees no names of its module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

GIVEN = {"given": True}
"""Metadata of a field that the reader of a file sets, and no file."""

_WORDS: dict[Any, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Fits:
    """What a value must be, in words; and a test of one that has the right type and is not None."""

    words: str
    test: Callable[[Any], object] = lambda value: True


class _UnfitError(Exception):
    """A value is of another type than the annotation says."""


def read_as(
    kind: Callable[..., T], data: Any, where: str, *, exactly: bool = False, step: str = ". Correct the entry"
) -> T:
    """Return plain values as a dataclass.

    Parameters
    ----------
    kind : dataclass
        Where it has a method `wrong`, that yields (field, what it must be, what it is) of all that does not fit
        together.
    data : object
        A mapping; what is left out has the field's default.
    where : str
        What the values are of, for messages.
    exactly : bool, default=False
        Refuse what is no field.
    step : str
        What to do about it, for messages.

    Raises
    ------
    ValueError
        Naming the field, what it must be, and what it is.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{where}: expected a mapping, got {type(data).__name__}{step}")
    known = _hints(kind)
    missing = sorted(name for name, (_, needed) in known.items() if needed and name not in data)
    unknown = sorted(map(str, data.keys() - known)) if exactly else []
    if missing or unknown:
        listed = f"missing keys {missing}, unknown keys {unknown}"
        raise ValueError(f"{where}: {listed:.400}. Allowed: {sorted(known)}")
    values = {}
    for name, (hint, _) in known.items():
        if name not in data:
            continue
        inner, *rules = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        try:
            values[name] = found = _value(inner, data[name], f"{where}, {name}", exactly=exactly, step=step)
            fits = found is None or all(rule.test(found) for rule in rules)
        except _UnfitError:
            fits = False
        if not fits:
            words = rules[0].words if rules else _WORDS.get(inner, "a list")
            raise ValueError(f"{where}: {name} must be {words}, got {data[name]!r:.80}{step}")
    made = kind(**values)
    wrong: Iterable[tuple[str, str, Any]] = getattr(made, "wrong", tuple)()
    for name, words, got in wrong:
        raise ValueError(f"{where}: {name} must be {words}, got {got!r:.80}{step}")
    return made


def _value(hint: Any, value: Any, where: str, **options: Any) -> Any:
    """Return a value as an annotation without a rule has it."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if value is None and NoneType in kinds:
        return None
    kind = kinds[0]
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        if type(value) is not list or not (parts[-1] is Ellipsis or len(parts) == len(value)):
            raise _UnfitError
        each = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return tuple(
            _value(part, item, f"{where}[{i}]", **options)
            for i, (part, item) in enumerate(zip(each, value, strict=True))
        )
    if is_dataclass(kind) and isinstance(kind, type):
        first = fields(kind)[0].name  # what one of a list is known by
        listed = where.endswith("]") and isinstance(value, Mapping) and first in value
        known_as = f" ({value[first]!r:.80})" if listed else ""
        return read_as(kind, value, f"{where}{known_as}", **options)
    if type(value) is not kind and not (kind is float and type(value) is int):  # not isinstance: true is an int
        raise _UnfitError
    return value


@cache
def _hints(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return annotation, and whether it must be there, of each field that files have."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.name: (hints[field.name], field.default is MISSING)
        for field in fields(kind)
        if not field.metadata.get("given")
    }
