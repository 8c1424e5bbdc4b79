"""Experiments as data: config -> cells -> tasks -> records."""

from provlab.trials.cell import Cell
from provlab.trials.plan import Task, feature_names_of, files_missing, identity_of, make_tasks
from provlab.trials.trial import TaskResult, load_from, run_task

__all__ = [
    "Cell",
    "Task",
    "TaskResult",
    "feature_names_of",
    "files_missing",
    "identity_of",
    "load_from",
    "make_tasks",
    "run_task",
]
