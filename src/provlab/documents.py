"""YAML, TOML and JSON that anybody may have written: plain values, and no more than a limit says."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Plain values only; libyaml's is ten times faster."""

MAX_BYTES = 1 << 20
MAX_JSON = 1 << 26
MAX_DEPTH = 20
MAX_VALUES = 100_000
MAX_SCALAR = 20_000


def read_text(path: Path, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a small file.

    Raises
    ------
    ValueError
        With the reason and without the name of the file: more bytes, or no UTF-8.
    OSError
        When the file cannot be read.
    """
    with path.open("rb") as handle:
        content = handle.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"it has more than {max_bytes} bytes")
    return content.decode("utf-8")


def parse_yaml(text: str, *, loader: Any = SAFE_LOADER, max_values: int = MAX_VALUES) -> Any:
    """Return the plain values of a text, of which the events are looked at before any value is made.

    Raises
    ------
    ValueError
        With the reason: no YAML, other types than those of plain values, more than 20 levels, more values than
        `max_values`, those included that an alias stands for, or one of more than 20,000 characters.
    """
    try:
        _check_events(text, max_values)
        # A SafeLoader makes plain values only; `yaml.load` without one could build any object.
        return yaml.load(text, Loader=loader)
    except Exception as error:  # tags with wrong values raise whatever int(), dict lookups and the like do
        raise ValueError(f"{' '.join(str(error).split()) or type(error).__name__:.300}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of TOML; a ValueError gives the reason."""
    found: dict[str, Any] = _not_deep(tomllib.loads, text)
    return found


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; a ValueError names it, and gives the reason."""
    try:
        return _not_deep(json.loads, read_text(path, MAX_JSON))
    except ValueError as error:
        raise ValueError(f"{path}: expected JSON, got {error}; write it again, or remove the file.") from error


def read_plain_yaml(path: Path) -> Any:
    """Return the content of a small YAML file; errors as `read_text` and `parse_yaml`, without the file's name."""
    return parse_yaml(read_text(path))


def read_listing(path: Path, of: str, see: str) -> dict[str, Any]:
    """Return a paper's file that lists things of one kind: a mapping with `paper`, and `of` with a list.

    Raises
    ------
    ValueError
        When it is another one, with `see` as the place that says what is expected.
    """
    try:
        content = read_plain_yaml(path)
    except ValueError as error:
        raise ValueError(f"{path}: expected YAML, got {error}.") from error
    if not isinstance(content, dict) or not isinstance(content.get(of), list) or not content.get("paper"):
        raise ValueError(f"{path}: expected the keys paper, and {of} with a list, see {see}.")
    return content


def check_keys(subject: str, entry: Any, keys: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Check that an entry of a file is a mapping with some keys, and at most some more."""
    if not isinstance(entry, Mapping):
        raise ValueError(f"{subject}: expected a mapping with {', '.join(keys)}, got {entry!r:.80}.")
    wrong = [f"no {key}" for key in keys if key not in entry]
    wrong += [f"the unknown {key}" for key in entry.keys() - {*keys, *optional}]
    if wrong:
        more = f", and at most {', '.join(optional)}" if optional else ""
        raise ValueError(
            f"{subject}: expected exactly the keys {', '.join(keys)}{more}, got {', '.join(sorted(wrong))}."
        )


def one_line(text: Any) -> str:
    """Return a text without the breaks that YAML's folding leaves."""
    return " ".join(str(text).split())


def _not_deep(parse: Callable[[str], Any], text: str) -> Any:
    """Return what a recursive parser gives, if it is not nested too deeply for it or for those that read on."""
    with suppress(RecursionError):
        found = parse(text)
        level = [found] if isinstance(found, dict | list) else []
        for _ in range(MAX_DEPTH):
            inner = [each.values() if isinstance(each, dict) else each for each in level]
            level = [each for values in inner for each in values if isinstance(each, dict | list)]
        if not level:
            return found
    raise ValueError(f"it is nested in more than {MAX_DEPTH} levels")


def _check_events(text: str, max_values: int) -> None:
    """Refuse a text that is nested too deeply, or stands for too many values."""
    n_values, opened, sizes = 0, [], {}
    for event in yaml.parse(text, Loader=SAFE_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, n_values))
            if len(opened) > MAX_DEPTH:  # libyaml's loader takes a piece of the C stack a level, and crashes at its end
                raise ValueError(f"it is nested in more than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            sizes[anchor] = n_values - before
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in opened):
                raise ValueError(f"the alias *{event.anchor:.80} stands for what it is part of")
            n_values += sizes.get(event.anchor, 0)
        elif isinstance(event, yaml.ScalarEvent):
            sizes[event.anchor] = 0
            if len(event.value) > MAX_SCALAR:  # a number in base 60, for one, takes quadratic time
                raise ValueError(f"it has a value of more than {MAX_SCALAR} characters")
        n_values += isinstance(event, yaml.NodeEvent)
        if n_values > max_values:
            # a few lines of aliases stand for so many values that a message about one would never end
            raise ValueError(f"it stands for more than {max_values} values, those of its aliases included")
