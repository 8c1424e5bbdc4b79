"""The laboratory: runs, stores, judges and shows experiments with the selectors of `provsel`, or with your own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the command line imports this package, and answers at once
    from provlab.comparison import compare
    from provlab.datasets import load_dataset
    from provlab.project import Project
    from provlab.standing import rank
    from provsel.certificates import Measure, MeasuredTrial

_HOMES = {
    "Measure": "provsel.certificates",
    "MeasuredTrial": "provsel.certificates",
    "Project": "provlab.project",
    "compare": "provlab.comparison",
    "load_dataset": "provlab.datasets",
    "rank": "provlab.standing",
}

__all__ = ["Measure", "MeasuredTrial", "Project", "compare", "load_dataset", "rank"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from provlab.messages import explained

        raise explained(error) from None
