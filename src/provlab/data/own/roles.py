"""Roles of the columns in a user's own file, and remarks on their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from provlab.data.files import TableError
from provlab.data.own.formats import APART, FORMATS, UNNAMED, has_index
from provlab.data.own.settings import ROLES, reading_of
from provlab.data.own.table import Table, once
from provlab.data.own.text import MISSING, SVMLIGHT, format_of
from provlab.project.messages import did_you_mean, listed

TARGETS = ("label", "target", "class", "y")
"""Names of the label column that are recognised."""

EVENTS = {
    "event",
    "status",
    "death",
    "died",
    "dead",
    "censored",
    "censor",
    "cens",
    "fustat",
    "os",
    "vital_status",
}
TIMES = {
    "time",
    "duration",
    "survival",
    "survival_time",
    "follow_up",
    "futime",
    "time_to_event",
    "os_time",
    "os.time",
}
"""Names of time columns in survival data. A time as a feature suggests that the target is an event, and vice versa."""


@dataclass(frozen=True)
class Columns:
    """Columns by role (None if absent or stored separately), columns that are not features, and categories."""

    roles: dict[str, int | None]
    left_out: set[int]
    categorical: set[int]


def columns_of(file: Path, names: list[str], settings: Mapping[str, Any]) -> Columns:
    """Return the role of each column."""
    left_out = {_place("left_out", names, column) for column in settings["left_out"]}
    for parameter in ("index", "index_col"):
        if settings[parameter] is not None:
            left_out.add(_place(parameter, names, settings[parameter]))
    if (
        names
        and UNNAMED.fullmatch(names[0])
        and once(has_index, file, reading_of(file, settings))
    ):
        left_out.add(0)
    roles = {role: _place_of_role(file, names, role, settings) for role in ROLES}
    left_out.update(place for place in roles.values() if place is not None)
    return Columns(
        roles,
        left_out,
        {_place("categorical", names, column) for column in settings["categorical"]},
    )


def _place_of_role(
    file: Path, names: list[str], role: str, settings: Mapping[str, Any]
) -> int | None:
    """Return the number of the column with a role; None if there is none or it is in another file."""
    column = settings[role]
    if role == "target" and settings["target_path"] is not None:
        return None
    if (
        format_of(file) in SVMLIGHT
        and column is not None
        and (role, column) != ("groups", "qid")
    ):
        raise TableError(
            f"expected no {role}, because an svmlight file has only labels and qid, got {column!r:.80}; leave it out."
        )
    is_apart = format_of(file) in APART
    if column is None and role == "target" and not is_apart:
        step = "dataset.target=NAME or a number from 0 (-1 for the last)"
        if "transpose" in FORMATS[format_of(file)][1]:
            step += "; if the samples are columns, set dataset.transpose=true"
        if format_of(file) == ".arff":  # by convention the target is last
            step = f"by the format's convention 'dataset.target=\"{names[-1]:.80}\"', the last attribute"
        return _usual_target(names, step)
    if column is None or (is_apart and isinstance(column, str)):
        return None
    return _place(role, names, column)


def _usual_target(names: list[str], step: str) -> int:
    """Return the number of the column with a usual label name."""
    usual = [k for k, name in enumerate(names) if name.lower() in TARGETS]
    if len(usual) != 1:
        raise TableError(
            f"expected one column of labels called {', '.join(TARGETS)}, got {len(usual)} among {listed(names)}; "
            f"choose one: {step}."
        )
    return usual[0]


def place_of_target(names: list[str], target: str | int | None) -> int:
    """Return the number of the target in a second file."""
    if target is not None:
        return _place("target", names, target)
    if len(names) == 1:
        return 0
    return _usual_target(names, "dataset.target=NAME, a column of dataset.target_path")


def _place(parameter: str, names: list[str], column: str | int) -> int:
    """Return the number of a column given by name or number."""
    if (
        isinstance(column, int)
        and not isinstance(column, bool)
        and -len(names) <= column < len(names)
    ):
        return column % len(names)
    if names.count(str(column)) == 1:
        return names.index(str(column))
    step = did_you_mean(str(column), names)
    if parameter == "target" and not step:
        step = "; if the samples are columns, set dataset.transpose=true."
    raise TableError(
        f"dataset.{parameter}: expected a column of {listed(names)}, got {column!r:.80}{step or '.'}"
    )


def notes_on_names(
    table: Table, columns: Columns, features: list[int], class_names: np.ndarray | None
) -> list[str]:
    """Return remarks for the user on column and class names."""
    notes = []
    nameless = [k for k in features if UNNAMED.fullmatch(table.names[k])]
    if nameless:
        places = ",".join(map(str, nameless[:5]))
        notes.append(
            f"columns without a name, {listed([table.names[k] for k in nameless])}, are features; give them names in "
            f"the first line, or leave them out: dataset.left_out=[{places}]"
        )
    if UNNAMED.fullmatch(table.names[0]) and 0 in columns.left_out:
        notes.append(
            f"column {table.names[0]!r}, which only numbers the rows, is left out"
        )
    if class_names is not None:
        odd = [repr(name) for name in class_names if name.lower() in MISSING]
        if odd:
            notes.append(
                f"classes are called {listed(odd)}; if that means no label, set dataset.na_values"
            )
    target = columns.roles["target"]
    if target is not None:
        names = [table.names[k] for k in features]
        survival = _notes_of_survival(table.names[target], names)
        notes += survival or _notes_of_other_targets(table.names[target], names)
    return notes


def _notes_of_other_targets(target: str, names: list[str]) -> list[str]:
    """Return a note on features whose names suggest further targets, such as t2 beside t1."""
    stem = re.sub(r"(\d+|[A-Z])$", "", target).rstrip("_.- ")
    if stem == target or not stem:
        return []
    alike = [
        name
        for name in names
        if name != target
        and re.fullmatch(rf"{re.escape(stem)}[_.\- ]?(\d+|[A-Z])", name)
    ]
    if not alike or 2 * len(alike) > len(names):
        return []
    return [
        f"features with names like that of the target {target}: {listed(alike)}; if they are "
        f"further targets, leave them out, 'dataset.left_out=[{','.join(alike):.200}]'"
    ]


def _notes_of_survival(target: str, names: list[str]) -> list[str]:
    """Return a note if the feature of an event is a time, or vice versa."""
    partners: set[str] = set()
    for targets, beside in ((EVENTS, TIMES), (TIMES, EVENTS)):
        if target.lower() in targets:
            partners |= beside
    return [
        f"column {name} is a feature, but in survival data it is known only with the target {target}; if so, leave "
        f"it out: dataset.left_out=[{name}]"
        for name in names
        if name.lower() in partners
    ]
