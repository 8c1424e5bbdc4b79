"""Columns of a record: which trial it is, what its protocol measured, and where."""

from __future__ import annotations

from provlab.project.components import component_arguments, component_class
from provlab.project.measures import check_columns
from provlab.protocols import MEASURED, Method
from provlab.protocols.base import columns
from provsel.certificates import Measure

COLUMNS = (
    *columns("text", "key", "cell", "dataset", "data", "content", "source", "setting", "config"),
    *columns("int32", "repeat", "fold", "draw"),
    *columns("int64", "seed", "split_seed"),
    *columns("int32", "n_classes"),
    *MEASURED,
    *columns("text", "environment", "git_revision"),
    *columns("seconds", "task_cpu"),
)
"""Of a record: which trial it is, what its protocol measured, and where. `task_cpu` is the CPU time of the whole task,
loading the data and certifying included, over its number of trials, so that its sum is what the trials have cost."""

_NAMES = frozenset(column.name for column in COLUMNS)


def check_own_columns(method: Method) -> None:
    """Refuse measures of the project's own with columns of provsel or of another measure, or with unknown settings."""
    known = _NAMES
    for config in method.measures:
        measure: type[Measure] = component_class("measure", config)
        check_columns(measure, known)
        component_arguments("measure", config)
        known |= measure.columns().keys()
