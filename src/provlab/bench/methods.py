"""The methods of the benchmark, as listed in `methods.yaml`, with their overrides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from provlab.bench.selectors.versions import installed_version
from provlab.core.composition import part_config
from provlab.core.vocabulary import family_of, file_named
from provlab.project.components import build, component_class
from provlab.project.documents import read_record
from provsel.selectors import BaseSelector

Task = Literal["classification", "regression"]

TASKS: tuple[Task, ...] = ("classification", "regression")


@dataclass(frozen=True)
class PanelMethod:
    """An entry of `methods.yaml`.

    Attributes
    ----------
    choose : tuple of str
        Overrides that choose the selector. In them, SIZE stands for the requested
        number of features and HALF for half of it, the rank of methods that approximate
        X.
    sizes : {"fixed", "at most", "own"}
        "at most" means fewer features if draws repeat or no more are available; "own"
        means that the method chooses the number.
    tasks : tuple of {"classification", "regression"}
    multiclass : bool
        Whether labels may have more than two classes.
    most : int, or None
        Largest number of training rows times columns on which the method is run.
    most_columns : int, or None
        Largest number of columns for which the method is defined.
    chosen : bool
        Whether the method is also run with a number of features chosen by
        cross-validation.
    grid : tuple of (str, tuple)
        Parameters that cross-validation chooses, and their candidate values.
    """

    choose: tuple[str, ...]
    sizes: Literal["fixed", "at most", "own"] = "fixed"
    tasks: tuple[Task, ...] = TASKS
    multiclass: bool = True
    most: int | None = None
    most_columns: int | None = None
    chosen: bool = True
    grid: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    @property
    def selector_name(self) -> str:
        """The method's name in `selector=`; "" if the overrides name no selector."""
        for text in self.choose:
            if text.startswith("selector="):
                return text.removeprefix("selector=")
        return ""

    @property
    def family(self) -> str:
        """Family of the method, see `provlab.core.vocabulary.Described`."""
        return family_of(self.selector_name)

    @property
    def source(self) -> str:
        """The distribution whose code ranks the features, or "provsel" itself."""
        return getattr(
            component_class("selector", self._config()), "package", "provsel"
        )

    def overrides(self, size: int) -> list[str]:
        """Return the overrides that choose the method with `size` features."""
        half = str(max(1, size // 2))
        return [
            text.replace("SIZE", str(size)).replace("HALF", half)
            for text in self.choose
        ]

    def selector(self, size: int = 1) -> BaseSelector:
        """Return the unfitted selector for `size` features."""
        selector: BaseSelector = build("selector", self._config(size))
        return selector

    def takes(self, shape: tuple[int, int, int], task: str) -> bool:
        """Return whether the method is run on data of this shape: training rows, columns and classes."""
        n_rows, n_columns, n_classes = shape
        if self.most is not None and n_rows * n_columns > self.most:
            return False
        if self.most_columns is not None and n_columns > self.most_columns:
            return False
        return task in self.tasks and (self.multiclass or n_classes <= 2)

    def for_task(self, task: Task) -> PanelMethod:
        """Return the method with the task set, so that it is not guessed from the values of the target."""
        if "task" not in self._config():
            return self
        return replace(self, choose=(*self.choose, f"++selector.task={task}"))

    @property
    def is_installed(self) -> bool:
        """Whether the package that ranks the features is installed."""
        return self.source == "provsel" or installed_version(self.source) is not None

    def _config(self, size: int = 1) -> dict[str, object]:
        return part_config("selector", self.overrides(size))


@dataclass(frozen=True)
class _Methods:
    methods: Mapping[str, PanelMethod]


@cache
def panel_methods() -> Mapping[str, PanelMethod]:
    """Return the methods of the panel by name."""
    return read_record(Path(__file__).with_name("methods.yaml"), _Methods).methods


def panel_names(names: Iterable[str]) -> list[str]:
    """Return the panel's names of methods given by `selector=` names or other spellings.

    A method may be in the panel twice: with a requested number of features, and with
    its own choice of the number. Unknown names are returned unchanged.
    """
    methods = panel_methods()
    chosen: dict[str, None] = {}
    for spelling in names:
        meant = [spelling] if spelling in methods else []
        if not meant:
            selectors = {method.selector_name for method in methods.values()}
            selector = file_named("selector", spelling, selectors)
            meant = [
                name
                for name, method in methods.items()
                if method.selector_name == selector
            ]
        chosen |= dict.fromkeys(meant or [spelling])
    return list(chosen)
