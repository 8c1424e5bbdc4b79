"""What can be named in a config or on the command line, with one line about each. Needs no data."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from omegaconf import MISSING

from provlab.datasets import dataset_names, loader, read_source, source_names
from provlab.messages import did_you_mean
from provlab.plan import artefact_part
from provlab.plan.composition import read_config
from provlab.project import artefact_file, artefact_names, conf_files, current_project, reproduce_command
from provlab.project.components import build, component_class
from provsel.reducers import is_random, is_random_model


class Item(NamedTuple):
    """Something that can be named, and what is to be said of it in one line."""

    name: str
    text: str


def listing(kind: str) -> list[Item]:
    """Return what there is of a kind, sorted by name.

    Parameters
    ----------
    kind : str
        One of `KINDS`.

    Returns
    -------
    list of Item
        Data sets, selectors and models by the names of their configs.

    Raises
    ------
    ValueError
        For another kind, or a config that does not fit its class or loader.
    """
    if kind not in KINDS:
        raise ValueError(f"list: expected one of {', '.join(KINDS)}, got {kind!r}" + (did_you_mean(kind, KINDS) or "."))
    return KINDS[kind]()


def _datasets() -> list[Item]:
    return [Item(path.stem, _dataset(read_config("dataset", path))) for path in conf_files("dataset")]


def _dataset(config: dict[str, Any]) -> str:
    """Return what a data set is, its size, and its licence or where it comes from."""
    name = config["name"]
    if name == "file":
        return _line(_first_line(loader(name)))
    if name not in dataset_names():
        raise ValueError(f"config of the data set {name!r}: expected one of {', '.join(dataset_names())}; correct it.")
    module = loader(name)
    size = _first_line(module.load).removeprefix("Load ").rstrip(".")
    if name in source_names():
        source = read_source(name)
        return _line(f"{source.title}: {size}. Licence: {source.licence}")
    origin = "Generated" if "seed" in inspect.signature(module.load).parameters else "Bundled with scikit-learn"
    return _line(f"{_first_line(module)} {size}. {origin}.")


def _components(kind: str, draws: Callable[[Any], bool]) -> list[Item]:
    return [Item(path.stem, _component(kind, read_config(kind, path), draws)) for path in conf_files(kind)]


def _component(kind: str, config: dict[str, Any], draws: Callable[[Any], bool]) -> str:
    """Return class and summary of a component, whether it draws, and whether it has a theorem's number of features."""
    if config["_target_"] == MISSING:
        trust = ", ".join(current_project().trust) or "none yet"
        return f"A class of a module that the project trusts, in provsel.toml ({trust}): {kind}._target_=module.Class"
    cls = component_class(kind, config)
    inner = [str(value["_target_"]).rsplit(".", 1)[-1] for value in config.values() if isinstance(value, dict)]
    notes = [_first_line(cls)]
    notes += ["Draws."] if draws(build(kind, config)) else []
    notes += (
        [f"Guarantee: budget({', '.join(inspect.signature(cls.budget).parameters)})."] if hasattr(cls, "budget") else []
    )
    of = f" of {', '.join(inner)}" if inner else ""
    return _line(f"{cls.__name__}{of}: {' '.join(notes)}")


def _artefacts() -> list[Item]:
    return [Item(name, _line(f"{artefact_title(name)}: {reproduce_command(name)}")) for name in artefact_names()]


def artefact_title(name: str) -> str:
    """Return the title of an artefact: as its own file has it, or else as the files do that this one is made of."""
    stated = read_config("", artefact_file(name)).get("artefact", {}).get("title")
    return str(stated or artefact_part(name)["title"])


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def _line(text: str) -> str:
    return " ".join(text.split())


KINDS: dict[str, Callable[[], list[Item]]] = {
    "datasets": _datasets,
    "selectors": partial(_components, "selector", is_random),
    "models": partial(_components, "model", is_random_model),
    "artefacts": _artefacts,
}
"""What can be listed."""
