"""The methods of the benchmark, as listed in `methods.yaml`, with their overrides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from provlab.bench import selectors
from provlab.bench.selectors.ranked import installed_version, is_version
from provlab.core.composition import part_config
from provlab.core.vocabulary import family_of, file_named
from provlab.project.components import build
from provlab.project.documents import read_record
from provsel.selectors import BaseSelector


@dataclass(frozen=True)
class PanelMethod:
    """An entry of `methods.yaml`.

    Attributes
    ----------
    choose : tuple of str
        Overrides that choose the selector. SIZE in them stands for the requested number of features. HALF stands for
        half of it, the rank of methods that approximate X.
    adapter : str
        Class of `provlab.bench.selectors`; `choose` then has further overrides.
    sizes : {"fixed", "at most", "own"}
        "at most": fewer if draws repeat or no more are available; "own" methods choose their number themselves.
    multiclass : bool
        Whether labels may have more than two classes.
    version : str
        Version of the package, by default that of the panel.
    name : str
        File of conf/selector where `choose` does not state it.
    """

    choose: tuple[str, ...] = ()
    adapter: str = ""
    sizes: Literal["fixed", "at most", "own"] = "fixed"
    multiclass: bool = True
    version: str = ""
    name: str = ""

    @property
    def selector_name(self) -> str:
        """The method's name in the vocabulary of `selector=`."""
        return self.name or _chosen_selector(self.choose)

    @property
    def family(self) -> str:
        """The kind of method, see `provlab.core.vocabulary.Described`."""
        return family_of(self.selector_name)

    def overrides(self, size: int) -> list[str]:
        """Return the overrides that choose the method with `size` features."""
        overrides = list(self.choose)
        if self.adapter:
            n_features = "null" if self.sizes == "own" else "SIZE"
            target = f"selector._target_={selectors.__name__}.{self.adapter}"
            overrides[:0] = ["selector=any", target, f"+selector.n_features_to_select={n_features}"]
        if self.source != "provsel":
            overrides.append(f"+selector.version='{self.version or _panel().versions[self.source]}'")
        half = str(max(1, size // 2))
        return [text.replace("SIZE", str(size)).replace("HALF", half) for text in overrides]

    def selector(self, size: int = 1) -> BaseSelector:
        """Return the unfitted selector for `size` features."""
        selector: BaseSelector = build("selector", part_config("selector", self.overrides(size)))
        return selector

    def for_numbers(self) -> PanelMethod | None:
        """Return the method for a numeric target, in provsel's own class; None if it needs classes."""
        choose = self.choose
        if self.adapter:
            number = "null" if self.sizes == "own" else "SIZE"
            choose = (f"selector={self.selector_name}", f"selector.n_features_to_select={number}")
        method = replace(self, adapter="", choose=choose, name=self.selector_name)
        selector = method.selector()
        if selector.classes_only:
            return None
        if "task" in selector.get_params(deep=False):
            method = replace(method, choose=(*choose, "++selector.task=regression"))
        return method

    def installed(self) -> PanelMethod | None:
        """Return the method with the installed version of its package; None if it is not installed."""
        if self.source == "provsel":
            return self
        version = installed_version(self.source)
        if version is None:
            return None
        return self if is_version(version, _panel().versions[self.source]) else replace(self, version=version)

    @property
    def source(self) -> str:
        """Provsel, or the distribution whose code orders the features."""
        return str(getattr(selectors, self.adapter).package) if self.adapter else "provsel"


def _chosen_selector(overrides: Iterable[str]) -> str:
    """Return the name of the selector that overrides choose; "" where they state none."""
    for text in overrides:
        if text.startswith("selector="):
            return text.removeprefix("selector=")
    return ""


@dataclass(frozen=True)
class _Panel:
    versions: Mapping[str, str]
    methods: Mapping[str, PanelMethod]


@cache
def _panel() -> _Panel:
    return read_record(Path(__file__).with_name("methods.yaml"), _Panel)


def panel_methods() -> Mapping[str, PanelMethod]:
    """Return the methods of the panel by name."""
    return _panel().methods


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
