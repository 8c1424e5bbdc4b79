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
        Overrides that choose the selector. SIZE in them stands for the requested number of features. HALF stands for
        half of it, the rank of methods that approximate X.
    sizes : {"fixed", "at most", "own"}
        "at most": fewer if draws repeat or no more are available; "own" methods choose their number themselves.
    tasks : tuple of {"classification", "regression"}
    multiclass : bool
        Whether labels may have more than two classes.
    most : int, or None
        Training rows times columns up to which it is run.
    most_columns : int, or None
        Columns up to which it is defined.
    chosen : bool
        Whether cross-validation chooses its number of features as well.
    grid : tuple of (str, tuple)
        Parameters that cross-validation chooses, and their values.
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
        """The method's name in the vocabulary of `selector=`; "" where the overrides state none."""
        for text in self.choose:
            if text.startswith("selector="):
                return text.removeprefix("selector=")
        return ""

    @property
    def family(self) -> str:
        """The kind of method, see `provlab.core.vocabulary.Described`."""
        return family_of(self.selector_name)

    @property
    def source(self) -> str:
        """Provsel, or the distribution whose code orders the features."""
        return getattr(component_class("selector", self._config()), "package", "provsel")

    def overrides(self, size: int) -> list[str]:
        """Return the overrides that choose the method with `size` features."""
        half = str(max(1, size // 2))
        return [text.replace("SIZE", str(size)).replace("HALF", half) for text in self.choose]

    def selector(self, size: int = 1) -> BaseSelector:
        """Return the unfitted selector for `size` features."""
        selector: BaseSelector = build("selector", self._config(size))
        return selector

    def takes(self, shape: tuple[int, int, int], task: str) -> bool:
        """Return whether it is run on data of so many training rows, columns and classes."""
        n_rows, n_columns, n_classes = shape
        if self.most is not None and n_rows * n_columns > self.most:
            return False
        if self.most_columns is not None and n_columns > self.most_columns:
            return False
        return task in self.tasks and (self.multiclass or n_classes <= 2)

    def for_task(self, task: Task) -> PanelMethod:
        """Return the method for a target whose kind is known, where others would be guessed from its values."""
        if "task" not in self._config():
            return self
        return replace(self, choose=(*self.choose, f"++selector.task={task}"))

    @property
    def is_installed(self) -> bool:
        """Whether the package that orders the features is here."""
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
    """Return names of methods of the panel for those of `selector=` and other spellings.

    A method may be in the panel twice, with a requested number of features and with its own. Unknown names are
    unchanged.
    """
    methods = panel_methods()
    chosen: dict[str, None] = {}
    for spelling in names:
        meant = [spelling] if spelling in methods else []
        if not meant:
            selectors = {method.selector_name for method in methods.values()}
            selector = file_named("selector", spelling, selectors)
            meant = [name for name, method in methods.items() if method.selector_name == selector]
        chosen |= dict.fromkeys(meant or [spelling])
    return list(chosen)
