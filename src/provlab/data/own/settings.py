"""Checked settings of a user for a file, in the form that readers need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from provlab.data.own.formats import APART, FORMATS
from provlab.data.own.table import once
from provlab.data.own.text import TEXTS, Reading, format_of, layout_of
from provlab.project.documents import read_as

SETTINGS = tuple(
    setting.name for setting in fields(Reading) if setting.name != "vectors"
)
BESIDE = ("groups", "sample_weight", "fold")
ROLES = ("target", *BESIDE)
LATER = (
    "index_col",
    *BESIDE,
    "task",
    *SETTINGS,
    "categorical",
    "target_path",
    "test_path",
    "splits",
)

KINDS = {
    name: kind
    for name, kind in get_type_hints(Reading, include_extras=True).items()
    if name in SETTINGS
}
KINDS |= dict.fromkeys(("index", "index_col", *ROLES), str | int | None)
"""Types of settings, with functions that check their values."""


def reading_of(file: Path, settings: Mapping[str, Any]) -> Reading:
    """Return the `Reading` of a file, with all settings checked and in one spelling."""
    values = {
        name: read_as(kind, settings[name], f"dataset.{name}")
        for name, kind in KINDS.items()
    }
    for name in ("left_out", "categorical"):
        if isinstance(settings[name], str) or not isinstance(settings[name], Sequence):
            raise ValueError(
                f"dataset.{name}: expected a list of columns such as [id, date], got {settings[name]!r:.80}."
            )
    how = Reading(**{name: values[name] for name in SETTINGS})
    ending = format_of(file)
    accepted = FORMATS[ending][1]
    for name in SETTINGS:
        if values[name] != getattr(Reading, name) and name not in accepted:
            raise ValueError(
                f"dataset.{name}: expected settings of {ending} files, {', '.join(accepted) or 'none'}, got "
                f"{values[name]!r:.80}; leave it out."
            )
    if ending not in APART:
        return how
    vectors = []
    for role in ROLES:
        if isinstance(settings[role], str):
            vectors.append((role, settings[role]))
        elif (
            role == "target"
            and settings[role] is None
            and settings["target_path"] is None
        ):
            vectors.append((role, None))  # usual label variables are found by name
    return replace(how, vectors=tuple(vectors))


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
