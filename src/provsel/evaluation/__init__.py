"""Experiments as data: config -> cells -> tasks -> records, and the certificates of each selection and compression."""

from provsel.evaluation.certificates import Certificate, certify
from provsel.evaluation.compression import certify_compression
from provsel.evaluation.plan import Cell, Task, feature_names_of, files_missing, identity_of, make_tasks
from provsel.evaluation.trial import TaskResult, load_from, run_task

__all__ = [
    "Cell",
    "Certificate",
    "Task",
    "TaskResult",
    "certify",
    "certify_compression",
    "feature_names_of",
    "files_missing",
    "identity_of",
    "load_from",
    "make_tasks",
    "run_task",
]
