"""Checked settings of a user for a file, in the form that readers need."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from provlab.data.own.formats import APART, FORMATS
from provlab.data.own.table import once
from provlab.data.own.text import SPACES, TEXTS, Reading, format_of, layout_of

SPELLED = {"tab": "\t", "\\t": "\t", "space": SPACES}
"""Separators that are hard to write on a command line."""

SETTINGS = tuple(setting.name for setting in fields(Reading) if setting.name != "vectors")
BESIDE = ("groups", "sample_weight", "fold")
ROLES = ("target", *BESIDE)
LATER = ("index_col", *BESIDE, "task", *SETTINGS, "categorical", "target_path", "test_path", "splits")


def _is_place(value: Any) -> bool:
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_sign(value: Any) -> bool:
    return isinstance(value, str) and (len(value) == 1 or value == SPACES)


def _is_encoding(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(codecs.lookup(value))
    except LookupError:
        return False


def _is_header(value: Any) -> bool:
    return value == "none" or (type(value) is int and value >= 0)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("index", "index_col", *ROLES), (_is_place, "a column's name or number")),
    **dict.fromkeys(("left_out", "categorical"), (_is_list, "a list of columns such as [id, date]")),
    **dict.fromkeys(("sep", "decimal", "thousands", "comment"), (_is_sign, "one character")),
    "encoding": (_is_encoding, "an encoding of Python, such as cp1252 or utf-16"),
    "header": (_is_header, "infer, none or a row number from 0"),
    "keep_default_na": (_is_truth, "true or false"),
    "sheet_name": (lambda value: isinstance(value, str) or type(value) is int, "a name or a number from 0"),
    "X": (lambda value: isinstance(value, str), "the name of a variable"),
    "zero_based": (_is_truth, "true, false or null"),
    "n_features": (lambda value: type(value) is int and value >= 1, "a whole number from 1"),
    "transpose": (_is_truth, "true or false"),
}
"""Test for valid values other than the default, and its description, by parameter."""


def reading_of(file: Path, settings: Mapping[str, Any]) -> Reading:
    """Return the `Reading` of a file, with all settings checked and in one spelling."""
    values = {name: settings[name] for name in SETTINGS}
    missing = values["na_values"]
    if not _is_list(missing):
        missing = [missing]
    words = {str(value) for value in missing if value is not None}
    if None in missing:
        words.add("null")
    values["na_values"] = tuple(sorted(words))
    if values["header"] is None:
        values["header"] = "none"
    if isinstance(values["sep"], str):
        values["sep"] = SPELLED.get(values["sep"], values["sep"])
    ending = format_of(file)
    accepted = FORMATS[ending][1]
    for name, value in values.items():
        if value != getattr(Reading, name) and name not in accepted:
            raise ValueError(
                f"dataset.{name}: expected settings of {ending} files, {', '.join(accepted) or 'none'}, got "
                f"{value!r:.80}; leave it out."
            )
    if _is_list(settings["target"]) and settings["target"]:
        targets = ",".join(map(str, settings["target"]))
        raise ValueError(
            f"dataset.target: expected a single target, got {settings['target']!r:.80}; run each target "
            f"with '-m dataset.target={targets:.80}', and leave the others out."
        )
    for name, (is_right, expected) in CHECKS.items():
        value = {**settings, **values}[name]
        if value != getattr(Reading, name, None) and not is_right(value):
            raise ValueError(f"dataset.{name}: expected {expected}, got {value!r:.80}.")
    if ending not in APART:
        return Reading(**values)
    vectors = []
    for role in ROLES:
        if isinstance(settings[role], str):
            vectors.append((role, settings[role]))
        elif role == "target" and settings[role] is None and settings["target_path"] is None:
            vectors.append((role, None))  # usual label variables are found by name
    return Reading(**values, vectors=tuple(vectors))


def reading_of_target(how: Reading) -> Reading:
    """Return the `Reading` of the second file, which has the target."""
    return replace(how, transpose=False, vectors=())


def without_what_is_found(file: Path, how: Reading) -> Reading:
    """Return the `Reading` of a file without settings that are also detected in its first lines."""
    if format_of(file) not in TEXTS:
        return how
    layout = once(layout_of, file, how)
    for name in ("sep", "decimal", "encoding", "header"):
        without = replace(how, **{name: getattr(Reading, name)})
        with suppress(ValueError):  # the setting must be stated
            if once(layout_of, file, without) == layout:
                how = without
    return how


def has_columns(settings: Mapping[str, Any]) -> bool:
    """Return whether settings name columns of a matrix instead of separate variables."""
    if settings["left_out"] or settings["categorical"]:
        return True
    if settings["index"] is not None or settings["index_col"] is not None:
        return True
    return any(isinstance(settings[role], int) for role in ROLES)
