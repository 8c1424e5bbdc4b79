"""The laboratory: it runs, stores, judges and shows experiments with the selectors of `provsel`, or with your own."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the command line imports this package, and must start fast
    from provlab.bench.compare import compare
    from provlab.bench.rank import rank
    from provlab.bench.selection.select import select
    from provlab.data import load_dataset
    from provlab.project.project import Project
    from provsel.certificates import Measure, MeasuredTrial

_HOMES = {
    "Measure": "provsel.certificates",
    "MeasuredTrial": "provsel.certificates",
    "Project": "provlab.project.project",
    "compare": "provlab.bench.compare",
    "load_dataset": "provlab.data",
    "rank": "provlab.bench.rank",
    "select": "provlab.bench.selection.select",
}

FORMER_MODULES = {
    "provlab.benchmark": "provlab.bench",
    "provlab.benchmark.selectors": "provlab.bench.selectors",
    "provlab.datasets": "provlab.data",
    "provlab.figures": "provlab.report.figures",
    "provlab.frames": "provlab.core.frames",
    "provlab.preparation": "provlab.run.preparation",
    "provlab.recipe": "provlab.core.recipe",
    "provlab.summaries": "provlab.core.summaries",
    "provlab.tables": "provlab.core.tables",
}
"""Present modules by their former names in users' scripts and configs, and in keys of stored trials: these names keep
working.
"""

__all__ = [
    "Measure",
    "MeasuredTrial",
    "Project",
    "compare",
    "load_dataset",
    "rank",
    "select",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from provlab.project.messages import explained

        raise explained(error) from None


class _FormerModules:
    """Finds a module, or one of a package, by its former name: it is the same module, with the same classes."""

    @staticmethod
    def find_spec(
        name: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a specification for a former name; None for any other."""
        package, _, module = name.rpartition(".")
        if name in FORMER_MODULES:
            present_name = FORMER_MODULES[name]
        elif package in FORMER_MODULES:
            present_name = f"{FORMER_MODULES[package]}.{module}"
        else:
            return None
        return ModuleSpec(name, _FormerModules, loader_state=present_name)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Let Python create an empty module, which `exec_module` replaces."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Put the module by its present name in place of the empty one."""
        assert module.__spec__ is not None
        sys.modules[module.__name__] = import_module(module.__spec__.loader_state)


sys.meta_path.insert(0, _FormerModules)
