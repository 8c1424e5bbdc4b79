"""What is to be computed, before anything is: cells, their trials, and the tasks these make."""

from provlab.plan.plan import (
    Task,
    Trial,
    feature_names_of,
    files_missing,
    identity_of,
    make_tasks,
    trials_of,
    unique_cells,
)

__all__ = [
    "Task", "Trial", "feature_names_of", "files_missing", "identity_of", "make_tasks", "trials_of", "unique_cells",
]  # fmt: skip
