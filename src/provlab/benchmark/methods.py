"""The methods of the benchmark, as `methods.yaml` has them: how each is chosen, and what it is."""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pandas as pd

from provlab.benchmark import selectors
from provlab.documents import read_record
from provlab.plan import compose_config
from provlab.plan.composition import resolved
from provlab.project.components import PANEL, build
from provsel.selectors import BaseSelector


@dataclass(frozen=True)
class PanelMethod:
    """An entry of `methods.yaml`.

    Attributes
    ----------
    kind : {"filter", "embedded", "wrapper", "subset", "control"}
    choose : tuple of str
        Overrides that choose the selector. SIZE in them stands for the number of features that is asked for, and HALF
        for half of it, which is the rank of methods that approximate.
    adapter : str
        Class of `provlab.benchmark.selectors`; `choose` then has further overrides.
    sizes : {"fixed", "at most", "own"}
        "at most": fewer where draws repeat, or where no more can be had; "own" methods choose their number themselves.
    multiclass : bool
        Whether labels may be of more than two classes.
    """

    kind: Literal["filter", "embedded", "wrapper", "subset", "control"]
    choose: tuple[str, ...] = ()
    adapter: str = ""
    sizes: Literal["fixed", "at most", "own"] = "fixed"
    multiclass: bool = True

    def overrides(self, size: int, *, installed: bool = False) -> list[str]:
        """Return the overrides that choose the method, asked for `size` features.

        Versions of packages are those that the panel was computed with; with `installed` those that are there, for
        trials that are not compared with stored ones.
        """
        found = list(self.choose)
        if self.adapter:
            asked = "null" if self.sizes == "own" else "SIZE"
            target = f"selector._target_={PANEL}.{self.adapter}"
            found[:0] = ["selector=any", target, f"+selector.n_features_to_select={asked}"]
        if self.source != "provsel":
            version = importlib.metadata.version(self.source) if installed else _panel().versions[self.source]
            found.append(f"+selector.version='{version}'")
        return [each.replace("SIZE", str(size)).replace("HALF", str(max(1, size // 2))) for each in found]

    def selector(self, size: int = 1) -> BaseSelector:
        """Return the selector, asked for `size` features, not fitted."""
        config = resolved(compose_config(self.overrides(size)), ["selector"])["selector"]
        found: BaseSelector = build("selector", config)
        return found

    @property
    def uses_labels(self) -> bool:
        """Whether it selects by labels."""
        return self.selector().needs_labels

    @property
    def source(self) -> str:
        """Provsel, or the distribution whose code orders the features."""
        return str(getattr(selectors, self.adapter).package) if self.adapter else "provsel"

    @property
    def needs(self) -> str | None:
        """The package of the extra "benchmark" that it needs."""
        return None if self.source in ("provsel", "scikit-learn") else self.source


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


def methods_table() -> pd.DataFrame:
    """Return a line a method: what it is, as `methods.yaml` and its class say.

    Columns method, kind, source, sizes, labels, classes, guarantee, what and reference, all of text. A guarantee is
    "budget", where the class tells how many features a theorem asks for, or "subset", where it bounds the error of the
    columns kept; the theorems on draws are not about the largest scores.
    """
    lines = []
    for name, method in panel_methods().items():
        selector = method.selector()
        of = type(getattr(selector, "selector", selector))
        said = inspect.getdoc(of) or ""
        _, _, reference = said.replace("References\n----------\n", "Source: ").partition("Source: ")
        promises = (
            {} if getattr(selector, "strategy", "") == "top" else {"budget": "budget", "subset": "subset_promise"}
        )
        lines.append(
            {
                "method": name,
                "kind": method.kind,
                "source": method.source,
                "sizes": method.sizes,
                "labels": "yes" if method.uses_labels else "no",
                "classes": "any" if method.multiclass else "two",
                "guarantee": ", ".join(name for name, has in promises.items() if hasattr(of, has)),
                "what": " ".join(said.partition("\n\n")[0].split()),
                "reference": " ".join(reference.split()),
            }
        )
    return pd.DataFrame(lines)
