"""Overrides of Hydra's grammar that set one plain value, as nearly all rows and columns of artefacts do."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from provlab.configs.plain import ELSEWHERE, KNOWN, check_references

_NUMBER = re.compile(r"[+-]?(?:(?P<whole>\d+)|\d+\.\d*(?:e[+-]?\d+)?|\.?\d+e[+-]?\d+)")
_WORD = re.compile(r"[A-Za-z][\w./-]*|\d+/[a-z]+")
_CONSTANTS = {"null": None, "true": True, "false": False}
_LIST = re.compile(r"\[ *(?:\d+|[A-Za-z]\w*)(?: *, *(?:\d+|[A-Za-z]\w*))* *\]")
_OTHER_NUMBERS = ("nan", "inf")
WHOLE_REFERENCE = re.compile(r"\$\{(\w+(?:\.\w+)*)\}")


class NotPlain(Exception):  # noqa: N818 - no error: Hydra does it then
    """What is left to Hydra."""


class Override(NamedTuple):
    """A path of names, its value, and whether `+` adds it."""

    key: tuple[str, ...]
    value: Any
    adds: bool


@lru_cache(maxsize=4096)
def parsed_override(text: str) -> Override:
    """Return an override that sets one value by its path.

    Raises
    ------
    NotPlain
        For another kind of override, or a mistake.
    """
    key, found, value = text.partition("=")
    adds = key.startswith("+")
    path = key[adds:]
    if not found or not re.fullmatch(r"[A-Za-z_]\w*(?:\.\w+)*", path):
        raise NotPlain
    if path == "experiment" and re.fullmatch(r"[\w./-]+", value):
        return Override((path,), value, adds)
    override = Override(tuple(path.split(".")), _value(text, value), adds)
    if override.key[0] not in ELSEWHERE:
        check_references(override.value, path, KNOWN)
    return override


def _value(text: str, value: str) -> Any:
    number = _NUMBER.fullmatch(value)
    if number:
        return int(value) if number["whole"] else float(value)
    if value.lower() in _CONSTANTS:
        return _CONSTANTS[value.lower()]
    if WHOLE_REFERENCE.fullmatch(value) or (_WORD.fullmatch(value) and value.lower() not in _OTHER_NUMBERS):
        return value
    if _LIST.fullmatch(value):
        return [_value(text, item.strip()) for item in value[1:-1].split(",")]
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        parsed = OverridesParser.create().parse_override(text)
    except HydraException:
        raise NotPlain from None
    if parsed.is_sweep_override():
        raise NotPlain
    return parsed.value()
