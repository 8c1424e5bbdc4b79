"""What a config may say about cells: plain values of bounded size, and nothing that is looked up elsewhere."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

MAX_DEPTH = 20
MAX_TEXT = 2000
MAX_VALUES = 10_000
MAX_OVERRIDE = 20_000

CELL_GROUPS = ("dataset", "selector", "model", "protocol")
"""Parts of a config that make a cell."""

KNOWN = (*CELL_GROUPS, "artefact")
"""What a reference may refer to."""

ELSEWHERE = ("results", "executor", "hydra")
"""Parts of a config that describe this run and no result: they may ask the environment, and are not recorded."""

SETTINGS_OF_HYDRA = (
    "hydra.verbose", "hydra.mode", "hydra.run.dir", "hydra.sweep.dir", "hydra.sweep.subdir", "hydra.job.name",
    "hydra.sweeper.max_batch_size",
)  # fmt: skip
"""What `provsel run` takes beside the launcher: nothing that makes an object or chooses another config."""

_SETTING_OF_HYDRA = re.compile(
    rf"hydra/launcher=[\w-]+|(?:\+*hydra\.launcher\.\w+(?:\.\w+)*|{'|'.join(map(re.escape, SETTINGS_OF_HYDRA))})=.*",
    re.DOTALL,
)

_OPENING, _CLOSING = "([{", ")]}"
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)(?:\.\w+)*\}")


def check_overrides(overrides: Iterable[str]) -> None:
    """Refuse overrides that Hydra's parser would not come back from, or that bring the environment into a config.

    Raises
    ------
    ValueError
        Nested too deeply, too long, with a resolver, such as ${oc.env:NAME}, outside of `ELSEWHERE`, with a file
        outside of conf/, or for Hydra itself: `check_settings_of_hydra` has those of `provsel run`.
    """
    for text in overrides:
        _check_override(text)


def check_settings_of_hydra(overrides: Iterable[str]) -> None:
    """Refuse what `provsel run` does not let Hydra do: it makes any object, and writes any file, that it is told to.

    Raises
    ------
    ValueError
        Names the override and those that there are.
    """
    for text in overrides:
        _check_size(text)
        if not _SETTING_OF_HYDRA.fullmatch(text) or "_target_" in text or re.search(r"\$\{(?!oc\.env:)", text):
            raise ValueError(
                f"override {text!r:.80}: expected hydra/launcher=NAME, hydra.launcher.NAME=VALUE, or one of "
                f"{', '.join(SETTINGS_OF_HYDRA)}, without a reference or _target_; leave it out."
            )


def is_of_hydra(key: str) -> bool:
    """Tell whether a key, of an override or a file, is or may lead to Hydra's own part of a config."""
    return "hydra" in re.split(r"[\s.+~/@:]", key)


@lru_cache(maxsize=4096)
def _check_override(text: str) -> None:
    _check_size(text)
    key, _, value = text.partition("=")
    if is_of_hydra(key):
        raise ValueError(
            f"override {text!r:.80}: expected a setting of a cell, got one of Hydra's; only provsel run takes some."
        )
    part = re.split(r"[./@]", key.lstrip("+~"))[0]
    if part != "results" and ("." not in key or "@" in key) and ".." in value:
        raise ValueError(f"override {text!r:.80}: expected the name of a file of conf/{part:.40}, got '..' in it.")
    if part not in ELSEWHERE:
        _check_references(f"override {key!r:.80}", value, None)


def _check_size(text: str) -> None:
    depth = deepest = 0
    for char in text:
        depth += (char in _OPENING) - (char in _CLOSING)
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH or len(text) > MAX_OVERRIDE:
        raise ValueError(
            f"override {text!r:.80}: expected at most {MAX_DEPTH} levels and {MAX_OVERRIDE} characters, got "
            f"{deepest} and {len(text)}; write the values into a file of conf/."
        )


def check_references(part: Any, where: str, known: Iterable[str]) -> None:
    """Refuse what an unresolved config would look up in other places than the parts that are `known`.

    Parameters
    ----------
    part : mapping, list or value
        Not resolved: interpolations are texts.
    where : str
        Its key, for messages.
    known : iterable of str
        Parts of the config that may be referred to, as in ${artefact.c}.

    Raises
    ------
    ValueError
        For a resolver or another part. What they stand for is looked up nowhere, so that it is in no message.
    """
    for key, value in _leaves(part, where, 0):
        if isinstance(value, str):
            _check_references(key, value, {*known})


def check_parts(parts: Mapping[str, Any]) -> None:
    """Refuse references to other places than the parts of a cell; see `check_references`."""
    for name in sorted(parts.keys() - {*ELSEWHERE}):
        check_references(parts[name], name, KNOWN)


def check_plain(part: Any, where: str) -> None:
    """Refuse what is no mapping of texts, finite numbers, truth values, lists and mappings, in bounded number.

    Raises
    ------
    ValueError
        Names the key.
    """
    if not isinstance(part, Mapping):
        raise ValueError(f"{where}: expected a mapping of names to values, got {part!r:.80}; see conf/{where}.")
    for count, (key, value) in enumerate(_leaves(part, where, 0)):
        if count > MAX_VALUES:
            raise ValueError(f"{where}: expected at most {MAX_VALUES} values, got more; put data into a data set.")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise ValueError(f"{key}: expected a text of at most {MAX_TEXT} characters, got {value!r:.80}; shorten it.")
        if not isinstance(value, str | int | float | None) or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(f"{key}: expected a text, a finite number, true, false or null, got {value!r:.80}.")


def _check_references(where: str, value: str, known: set[str] | None) -> None:
    found = _REFERENCE.findall(value)
    unknown = [] if known is None else [name for name in found if name not in known]
    # without any known parts, as in an override, only resolvers are refused: what they name comes later
    rest = re.search(r"\$\{[^}]*:", value) if known is None else "${" in _REFERENCE.sub("", value)
    if unknown or rest:
        raise ValueError(
            f"{where}: expected a value, or a reference to another setting of the same cell such as ${{dataset.seed}}, "
            f"got {value!r:.80}; the environment and other places stay out of results: write the value itself."
        )


def _leaves(value: Any, where: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the key and the value of everything that is no mapping and no list."""
    if depth > MAX_DEPTH:
        raise ValueError(f"{where:.80}: expected at most {MAX_DEPTH} levels, got more; flatten it.")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{where}: expected names as keys, got {key!r:.80}; write them as texts.")
            yield from _leaves(inner, f"{where}.{key:.80}", depth + 1)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{where}[{place}]", depth + 1)
    else:
        yield where, value
