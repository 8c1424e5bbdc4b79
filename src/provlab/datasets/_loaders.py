"""The folders are the registry: the modules of `loaders/` are loaders, and so are `sources/` with a section `mat`."""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def dataset_names() -> list[str]:
    """Return the names of the data sets that `load_dataset` knows, sorted: without `file`, which is anything."""
    return [name for name in _names() if name != "file"]


def is_place(name: str, parameter: str) -> bool:
    """Tell whether a loader's parameter says where data are and not what: keys leave it out."""
    return name in _names() and parameter in getattr(loader(name), "PATHS", ())


def loader(name: str) -> Any:
    """Return the module of a data set, or what stands for one.

    It has `load`, `VERSION`, and where there are any `check`, `files`, `spelled`, `settled` and `members`.

    `VERSION` is raised when the same files and parameters give other data than before; stored trials of the old
    version then no longer count. `load` and all others are called with parameters that are checked: by
    `check(parameters)`, or by `files(**parameters)`, which returns what `load` reads.
    `spelled(**parameters)` returns them in the one spelling of all that give equal data: identities and keys hold it.
    `settled(**parameters)` returns them with the form of the files that "auto" stands for on this machine.
    `LATER` names parameters that keys leave out at their defaults, as they came later.

    Raises
    ------
    ValueError
        For an unknown name: it is looked up first, so that a config cannot import anything else.
    """
    if name not in _names():
        raise ValueError(f"unknown data set {name!r:.80}; known data sets are {', '.join(_names())}")
    return _module(name)


@cache
def _module(name: str) -> Any:
    if name in _modules():
        return importlib.import_module(f"{__package__}.loaders.{name}")  # asked for thousands of times while planning
    return importlib.import_module(f"{__package__}.mat").loader_of(name)


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(_modules() | {path.stem for path in (_FOLDER / "sources").glob("*.yaml")}))


@cache
def _modules() -> set[str]:
    modules = pkgutil.iter_modules([str(_FOLDER / "loaders")])
    return {module.name for module in modules}
