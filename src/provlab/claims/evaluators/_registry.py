"""Find the class of a test by the name of its module."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path

from provlab.claims.evaluators._base import AbstractEvaluator

_FOLDER = Path(__file__).parent


def evaluator_names() -> list[str]:
    """Return the names of all tests, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules([str(_FOLDER)]) if not module.name.startswith("_"))


@cache
def evaluator_class(name: str) -> type[AbstractEvaluator]:
    """Return the class of a test; the name is checked first, so that a file cannot import anything else."""
    if name not in evaluator_names():
        raise ValueError(f"test: expected one of {', '.join(evaluator_names())}, got {name!r}.")
    module = importlib.import_module(f"provlab.claims.evaluators.{name}")
    [found] = [
        cls
        for cls in vars(module).values()
        if inspect.isclass(cls) and issubclass(cls, AbstractEvaluator) and cls.__module__ == module.__name__
    ]
    return found
