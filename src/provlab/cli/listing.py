"""What can be named in a config or on the command line, with one line about each. Needs no data."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Iterator
from typing import Any

from provlab.messages import did_you_mean, visible_line

TITLES = {
    "datasets": "Data sets (dataset=NAME)",
    "selectors": "Selectors (selector=NAME)",
    "models": "Models (model=NAME)",
    "artefacts": "Artefacts",
}


def list_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is listed."""
    parser.add_argument("kind", nargs="?", help=f"only {', '.join(TITLES)} (default: all)")


def call_list(options: argparse.Namespace) -> int:
    """Print one line an item, never wrapped, so that the lines can be searched and counted."""
    lines: list[str] = []
    for kind, title in TITLES.items() if options.kind is None else [(options.kind, "")]:
        items = listing(kind)
        width = max(map(len, items), default=0)
        lines += ["", title] if lines and title else [title] * bool(title)
        lines += [visible_line(f"{name:{width}}  {text}") for name, text in items.items()]
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:  # of a reader that leaves early, such as head
        # what is left must not be written once more at the exit of Python
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def listing(kind: str) -> dict[str, str]:
    """Return what there is of a kind, sorted by name, with one line about each.

    Parameters
    ----------
    kind : str
        One of `TITLES`. Data sets, selectors and models have the names of their configs.

    Raises
    ------
    ValueError
        For another kind, or a config that does not fit its class or loader.
    """
    if kind not in TITLES:
        hint = did_you_mean(kind, TITLES) or "."
        raise ValueError(f"list: expected one of {', '.join(TITLES)}, got {kind!r}{hint}")
    found = _artefacts() if kind == "artefacts" else _members(kind.removesuffix("s"))
    return {name: " ".join(text.split()) for name, text in found}


def _artefacts() -> Iterator[tuple[str, str]]:
    from provlab.plan.artefact import artefact_title
    from provlab.project import artefact_names, reproduce_command

    for name in artefact_names():
        yield name, f"{artefact_title(name)}: {reproduce_command(name)}"


def _members(group: str) -> Iterator[tuple[str, str]]:
    from provlab.plan.composition import read_config
    from provlab.project import conf_files

    for path in conf_files(group):
        config = read_config(group, path)
        yield path.stem, _dataset(config) if group == "dataset" else _component(group, config)


def _dataset(config: dict[str, Any]) -> str:
    """Return what a data set is, its size, and its licence or where it comes from."""
    from provlab.datasets import dataset_names, loader, read_source, source_names

    name = config["name"]
    if name == "file":
        return _first_line(loader(name))
    if name not in dataset_names():
        raise ValueError(f"config of the data set {name!r}: expected one of {', '.join(dataset_names())}; correct it.")
    module = loader(name)
    size = _first_line(module.load).removeprefix("Load ").rstrip(".")
    if name in source_names():
        source = read_source(name)
        return f"{source.title}: {size}. Licence: {source.licence}"
    origin = "Generated" if "seed" in inspect.signature(module.load).parameters else "Bundled with scikit-learn"
    return f"{_first_line(module)} {size}. {origin}."


def _component(kind: str, config: dict[str, Any]) -> str:
    """Return class and summary of a component, whether it draws, and whether it has a theorem's number of features."""
    from provlab.project import current_project
    from provlab.project.components import UNSET, build, component_class
    from provsel.reducers import is_random, is_random_model

    if config["_target_"] == UNSET:
        trust = ", ".join(current_project().trust) or "none yet"
        return f"A class of a module that the project trusts, in provsel.toml ({trust}): {kind}._target_=module.Class"
    cls, component = component_class(kind, config), build(kind, config)
    inner = [str(value["_target_"]).rsplit(".", 1)[-1] for value in config.values() if isinstance(value, dict)]
    text = f"{cls.__name__}{' of ' * bool(inner)}{', '.join(inner)}: {_first_line(cls)}"
    if is_random_model(component) if kind == "model" else is_random(component):
        text += " Draws."
    if hasattr(cls, "budget"):
        text += f" Guarantee: budget({', '.join(inspect.signature(cls.budget).parameters)})."
    return text


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]
