"""Overrides in Hydra's grammar, and references to other settings that a config may contain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from provlab.project.documents import MAX_DEPTH, MAX_SCALAR
from provlab.project.messages import nearest

CELL_GROUPS = ("dataset", "selector", "model", "protocol")
"""Groups of conf/ that make up a cell."""

GROUPS = (*CELL_GROUPS, "preparation", "executor")
"""Groups of conf/; a config has one member of each."""

ELSEWHERE = ("results", "executor")
"""Parts of a config that describe a run instead of a result; they may read the environment and are not recorded."""

KNOWN = (*CELL_GROUPS, "preparation", "artefact")
"""Possible targets of a reference."""

_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)(?:\.\w+)*\}")
_KEY = re.compile(r"(\+{0,2}|~)([A-Za-z_][\w$-]*(?:\.[\w$-]+)*)")
_WORD = re.compile(
    r"(?!(?i:nan|inf|null|true|false)$)[A-Za-z][\w./-]*|[1-9]/[a-z]|\?{3}|\$\{[a-z]\w*(\.[a-z]\w*)*\}"
)
_NUMBER = re.compile(r"(0|[1-9]\d*)(\.\d+)?([eE]-?\d+)?", re.ASCII)
_CONSTANTS = {"true": True, "false": False, "null": None}


class Override(NamedTuple):
    """One change of a config.

    Attributes
    ----------
    text : str
        Override as written.
    mark : str
        "" changes a setting, "+" adds one, "++" does either, "~" deletes.
    key : tuple of str
        Path of names.
    value : object
        Plain value; references are strings.
    """

    text: str
    mark: str
    key: tuple[str, ...]
    value: Any


@lru_cache(maxsize=8192)
def parse_override(text: str) -> Override:
    """Return the content of an override.

    Raises
    ------
    ValueError
        If the grammar is invalid, or there are several values.
    """
    check_size(text)
    name, equals, value = text.partition("=")
    match = _KEY.fullmatch(name)
    if match is None or not (equals or match[1] == "~"):
        raise ValueError(
            f"override {text!r:.80}: expected GROUP=NAME or GROUP.SETTING=VALUE, with + before an added setting and "
            f"~ before a deleted one; see provsel run --help."
        )
    return Override(
        text,
        match[1],
        tuple(match[2].split(".")),
        _value(text, value) if equals else None,
    )


def setting(override: str) -> str:
    """Return the key that an override changes."""
    return override.split("=", 1)[0].lstrip("+~")


def check_size(text: str) -> None:
    """Raise if an override is nested too deeply or too long for Hydra's parser."""
    deepest = max(
        accumulate((char in "([{") - (char in ")]}") for char in text), default=0
    )
    if deepest > MAX_DEPTH or len(text) > MAX_SCALAR:
        raise ValueError(
            f"override {text!r:.80}: expected at most {MAX_DEPTH} levels and {MAX_SCALAR} characters, got "
            f"{deepest} and {len(text)}; write the values into a file of conf/."
        )


def _value(text: str, value: str) -> Any:
    """Return the value of an override; simple values bypass the parser, which is slow to import."""
    if _WORD.fullmatch(value):
        return value
    if _NUMBER.fullmatch(value):
        return int(value) if value.isdecimal() else float(value)
    if value in _CONSTANTS:
        return _CONSTANTS[value]
    if re.fullmatch(r"\[\d+(,\d+)*\]", value, re.ASCII):
        return [int(item) for item in value[1:-1].split(",")]
    parsed = parse_with_hydra(text)
    if parsed.is_sweep_override():
        raise ValueError(
            f"override {text!r:.80}: expected one value, got several; provsel run -m runs one job for each of them, "
            f"and quotes turn them into one text."
        )
    return parsed.value()


def parse_with_hydra(text: str) -> Any:
    """Return an override parsed by Hydra, including sweeps; errors become a one-line ValueError."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    check_size(text)
    try:
        return OverridesParser.create().parse_override(text)
    except HydraException as error:
        reason = " ".join(str(error).partition("See https")[0].split())
        hint = ""
        name, equals, value = text.partition("=")
        if equals and value and not re.search(r"[\w\[\]{}()\"']", value):
            hint = f"; quote the value twice: '{name}=\"{value}\"'"
        raise ValueError(
            f"override {text!r:.80}: expected Hydra's grammar, got: {reason}{hint}"
        ) from None


def check_references(value: Any, where: str) -> None:
    """Raise if a value, possibly nested, has a reference outside the parts of a cell.

    Parameters
    ----------
    value : mapping, list or value
        References are strings, such as "${dataset.seed}".
    where : str
        Key of the value for messages.

    Raises
    ------
    ValueError
        If a reference has a resolver or another part. It is not resolved, so its value
        appears in no message.
    """
    for key, text in _texts(value, where):
        unknown = [name for name in _REFERENCE.findall(text) if name not in KNOWN]
        if unknown or "${" in _REFERENCE.sub("", text):
            raise ValueError(
                f"{key}: expected a value, or a reference to another setting of the same cell such as "
                f"${{dataset.seed}}, got {text!r:.80}; the environment and other places stay out of results: "
                f"write the value itself."
            )


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield the key and text of every value with a reference."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, f"{where}.{name}")
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _texts(inner, f"{where}[{place}]")
    elif isinstance(value, str) and "${" in value:
        yield where, value


def check_names(where: str, names: Iterable[Any], allowed: Iterable[str]) -> None:
    """Raise if a name is not read by anything.

    Raises
    ------
    ValueError
        If there is one. The message names the first, and the nearest known name.
    """
    allowed = [*map(str, allowed)]
    for name in map(str, names):
        if name not in allowed:
            raise ValueError(
                f"{where}: expected {', '.join(allowed)}, got {name!r:.80}; {nearest_setting(name, allowed)}."
            )


def nearest_setting(name: str, settings: Iterable[str]) -> str:
    """Return the advice for an unknown setting: the most similar one, or leaving it out."""
    # a common group alone does not make names similar
    by_end = {path.split(".", 1)[-1]: path for path in settings}
    nearest_end = nearest(name.split(".", 1)[-1], by_end)
    return f"the nearest is {by_end[nearest_end]}" if nearest_end else "leave it out"
