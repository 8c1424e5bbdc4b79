"""YAML, TOML and JSON from untrusted sources, as plain values within limits."""

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import yaml

from provlab.project.messages import did_you_mean

Record = TypeVar("Record")

SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""YAML loader for plain values only; the libyaml version is ten times faster."""

# ---- limits for untrusted text, of which a few lines must not fill the memory or take hours

MAX_BYTES = 1 << 20
"""Maximum size of a YAML or TOML file in bytes."""

MAX_JSON_BYTES = 1 << 26
"""Maximum size in bytes of a JSON file written by one of our commands."""

MAX_DEPTH = 20
"""Maximum number of levels of a document or an override."""

MAX_CONFIG_DEPTH = 3 * MAX_DEPTH
"""Maximum number of levels of a config in a record, where a component takes two levels."""

MAX_VALUES = 100_000
"""Maximum number of values of a document, including those behind aliases."""

MAX_CONFIG_VALUES = 10_000
"""Maximum number of values of a config, including those behind references."""

MAX_SCALAR = 20_000
"""Maximum number of characters of a value or an override."""

MAX_COUNT = 100_000
"""Maximum number of repeats, folds or draws, because all trials are listed before the first is run."""

# ---- files and texts


def file_state(path: Path) -> tuple[int, ...]:
    """Return a value that changes with a file, even if it is replaced by a file with the same time."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def read_text(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a small file.

    Raises
    ------
    ValueError
        If the file is too large or not UTF-8. The message does not name the file.
    OSError
        If the file cannot be read.
    """
    with path.open("rb") as handle:
        content = handle.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"it has more than {max_bytes} bytes")
    return content.decode("utf-8")


def parse_yaml(
    text: str, *, loader: Any = SAFE_LOADER, max_values: int = MAX_VALUES
) -> Any:
    """Return the plain values of a YAML text, whose events are checked before values are created.

    Raises
    ------
    ValueError
        If the text is not YAML, or has types other than plain values, more than 20
        levels, more than `max_values` values including those behind aliases, or a value
        of more than 20,000 characters.
    """
    try:
        _check_events(text, max_values)
        # A SafeLoader creates only plain values; `yaml.load` without it could build any
        # object.
        return yaml.load(text, Loader=loader)
    except Exception as error:
        # tags with wrong values raise any error of int(), dict lookups and so on
        raise ValueError(
            f"{' '.join(str(error).split()) or type(error).__name__:.300}"
        ) from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of TOML; a ValueError states the reason."""
    content: dict[str, Any] = _not_deep(tomllib.loads, text)
    return content


def parse_json(text: str, max_depth: int = MAX_DEPTH) -> Any:
    """Return the content of JSON; raise ValueError if it is not JSON or has more than `max_depth` levels."""
    return _not_deep(json.loads, text, max_depth)


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; a ValueError names the file and the reason."""
    try:
        return parse_json(read_text(path, MAX_JSON_BYTES))
    except ValueError as error:
        raise ValueError(
            f"{path}: expected JSON, got {error}; correct the file, or remove it."
        ) from error


def read_plain_yaml(path: Path) -> Any:
    """Return the content of a small YAML file; raises as `read_text` and `parse_yaml` do, without the file name."""
    return parse_yaml(read_text(path))


def read_record(path: Path, kind: Callable[..., Record]) -> Record:
    """Return a YAML file as a dataclass, see `read_as`; unknown keys may hold YAML anchors.

    Raises
    ------
    ValueError
        If the file is invalid. The message names the file and the error.
    """
    try:
        content = read_plain_yaml(path)
    except ValueError as error:
        raise ValueError(f"{path}: expected YAML, got {error}.") from error
    record: Record = read_as(kind, with_known_keys(kind, content), str(path))
    return record


def with_known_keys(kind: Any, content: Any) -> Any:
    """Return a mapping without keys that have no value or are not fields of a dataclass."""
    if not isinstance(content, Mapping):
        return content
    return {
        name: content[name] for name in _kinds(kind) if content.get(name) is not None
    }


def read_as(kind: Any, value: Any, subject: str) -> Any:
    """Return a value of a YAML or TOML file converted to the type of a type hint.

    A mapping becomes a dataclass according to the hints of its fields, and a list
    becomes a tuple. An integer is accepted as a `float`; there are no other
    conversions. `Annotated[kind, function]` is the result of a function of a value,
    whose type is that of the first parameter of the function.

    Raises
    ------
    ValueError
        If a value has another type, a key is missing or unknown, or a function or
        dataclass raises an error. The message begins with `subject` and the keys.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(value, Mapping):
        return _read_mapping(kind, value, subject)
    if origin is Annotated:
        function = inner[1]
        [kind_of_argument, *_] = get_type_hints(function, include_extras=True).values()
        argument = read_as(kind_of_argument, value, subject)
        with about(subject):
            return function(argument)
    if origin is tuple and isinstance(value, list):
        items = []
        for place, item in enumerate(value, 1):
            name = item.get("id", place) if isinstance(item, Mapping) else place
            items.append(read_as(inner[0], item, f"{subject}: {name}"))
        return tuple(items)
    if origin is Mapping and isinstance(value, Mapping):
        return {
            str(name): read_as(inner[1], item, f"{subject}: {name}")
            for name, item in value.items()
        }
    if kind is float and type(value) is int:
        return float(value)
    one_of = inner if origin is UnionType else (kind,)
    if kind is Any or type(value) in one_of or (origin is Literal and value in inner):
        return value
    hint = (
        "; put it in quotes" if kind is str and isinstance(value, int | float) else ""
    )
    raise ValueError(f"{subject}: expected {_form(kind)}, got {value!r:.80}{hint}.")


def read_fields(kind: Any, content: Mapping[Any, Any], subject: str) -> dict[str, Any]:
    """Return the values of those keys of a mapping that are fields of a dataclass; raises as `read_as` does."""
    kinds = _kinds(kind)
    return {
        name: read_as(kinds[name], content[name], f"{subject}: {name}")
        for name in content
        if name in kinds
    }


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Prefix the message of a ValueError with a subject."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{subject}: {error}") from error


def _read_mapping(kind: Any, content: Mapping[Any, Any], subject: str) -> Any:
    unknown = [str(name) for name in content if name not in _kinds(kind)]
    needed = [
        member.name
        for member in fields(kind)
        if member.default is MISSING and member.default_factory is MISSING
    ]
    wrong = [f"no {name}" for name in needed if name not in content] + [
        f"the unknown {name!r:.80}" for name in unknown
    ]
    if wrong:
        hint = did_you_mean(unknown[0], _kinds(kind)) if unknown else ""
        raise ValueError(
            f"{subject}: expected {_form(kind)}, got {', '.join(wrong)}{hint or '.'}"
        )
    values = read_fields(kind, content, subject)
    with about(subject):
        return kind(**values)


def _form(kind: Any) -> str:
    """Return a description of the expected form of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return f"a mapping with {', '.join(field.name for field in fields(kind))}"
    if origin is tuple:
        return f"a list, each {_form(inner[0])}"
    if origin is UnionType:
        return " or ".join(map(_form, inner))
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if kind is NoneType:
        return "null"
    words = {
        str: "a string",
        float: "a number",
        int: "a whole number",
        bool: "true or false",
        Mapping: "a mapping",
    }
    return words[origin or kind]


@cache
def _kinds(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields; cached, because evaluating the annotations is slow."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def one_line(text: str) -> str:
    """Return a text without the line breaks left by folding in YAML."""
    return " ".join(text.split())


Line = Annotated[str, one_line]
"""Text whose line breaks are irrelevant."""


def _not_deep(
    parse: Callable[[str], Any], text: str, max_depth: int = MAX_DEPTH
) -> Any:
    """Return the result of a recursive parser; raise if the document is nested too deeply."""
    with suppress(RecursionError):
        content = parse(text)
        level = [content] if isinstance(content, dict | list) else []
        for _ in range(max_depth + 1):
            if not level:
                return content
            values: list[Any] = []
            for collection in level:
                values += (
                    collection.values() if isinstance(collection, dict) else collection
                )
            level = [value for value in values if isinstance(value, dict | list)]
    raise ValueError(f"it is nested more than {max_depth} levels")


def _check_events(text: str, max_values: int) -> None:
    """Raise if a document is nested too deeply or has too many values."""
    n_values, opened, sizes = 0, [], {}
    for event in yaml.parse(text, Loader=SAFE_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, n_values))
            # libyaml's loader uses C stack per level, and crashes when it is exhausted
            if len(opened) > MAX_DEPTH:
                raise ValueError(f"it is nested more than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            sizes[anchor] = n_values - before
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in opened):
                raise ValueError(f"the alias *{event.anchor:.80} contains itself")
            n_values += sizes.get(event.anchor, 0)
        elif isinstance(event, yaml.ScalarEvent):
            sizes[event.anchor] = 0
            # a number in base 60, for example, takes quadratic time
            if len(event.value) > MAX_SCALAR:
                raise ValueError(f"it has a value of more than {MAX_SCALAR} characters")
        n_values += isinstance(event, yaml.NodeEvent)
        if n_values > max_values:
            # a few lines of aliases can stand for so many values that a message would
            # never end
            raise ValueError(
                f"it has more than {max_values} values, counting those of its aliases"
            )


# ---- canonical JSON, from which keys are made


def canonical_json(value: Any) -> str:
    """Return the unique JSON text of a value of primitives, lists and dicts, with sorted keys and no white space."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of `value`, in hex."""
    return digest_of(canonical_json(value))


def digest_of(text: str) -> str:
    """Return the SHA-256 of existing canonical JSON, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
