"""Commands on projects, data and the installation, and lists of everything that can be run."""

from __future__ import annotations

import argparse
import inspect
import logging
import re
from pathlib import Path
from typing import Any

from provlab.cli.commands import DEFAULT_RESULTS, add_json, one_line
from provlab.project.messages import counted_noun, did_you_mean, visible_line

ALL = "all"

LISTED = 5
"""Largest number of missing files that are listed for a data set."""

TITLES = {
    "datasets": "Data sets (dataset=NAME)",
    "selectors": "Selectors (selector=NAME)",
    "models": "Models (model=NAME)",
    "protocols": "Protocols (protocol=NAME)",
    "preparations": "Preparations, fitted in each fold (preparation=NAME)",
    "artefacts": "Artefacts",
}


def fetch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names of the data sets, and options for downloads and progress."""
    from provlab.data import source_names

    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help=f"{ALL}, or some of {', '.join(source_names())}",
    )
    parser.add_argument(
        "--keep-raw",
        action="store_true",
        help="keep downloaded files after their conversion",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def call_fetch(options: argparse.Namespace) -> int:
    """Fetch the data sets; the exit status is 1 if one cannot be loaded."""
    from provlab.data import UnreachableError, fetch, source_names, usable

    names: dict[str, None] = {}
    for name in options.names:
        names |= dict.fromkeys(source_names() if name == ALL else [name])
    logging.getLogger("provlab.data").setLevel(
        logging.WARNING
    )  # hides failed attempts, whose reasons are printed below
    outcomes = fetch([*names], keep_raw=options.keep_raw, progress=not options.quiet)
    width = max(map(len, outcomes))
    without_network = ""
    for name, obtained in outcomes.items():
        paths = [item.path for item in obtained if item.path is not None]
        absent = []
        for item in obtained:
            if isinstance(item.error, UnreachableError):
                without_network = item.error.reason
                absent.append(f"{item.file.path}: no network")
            elif item.error is not None:
                absent.append(f"{item.file.path}: {one_line(item.error)}")
        counts = counted_noun(len(obtained), "file")
        counts = f"{len(paths)} of {counts}" if absent else counts
        size = f"{sum(path.stat().st_size for path in paths) / 1e6:,.1f} MB"
        if not obtained:
            state = "needs no files"
        elif usable(obtained):
            state = f"present ({counts}, {size})" + "; missing but not needed:" * bool(
                absent
            )
        else:
            state = f"MISSING ({counts}):"
        print(f"{name:{width}}  {state}")
        more = (
            [f"and {len(absent) - LISTED} more files"] if len(absent) > LISTED else []
        )
        for line in absent[:LISTED] + more:
            print(f"{'':{width}}    {line}")
    if without_network:
        print(
            f"there is no network: {without_network}; try again later, or put the files into the mirror folder"
        )
    is_complete = all(
        not obtained or usable(obtained) for obtained in outcomes.values()
    )
    return 0 if is_complete else 1


STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "missing": "cyan"}
"""Colours of the states of a check."""


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the results folder and the option for JSON output."""
    parser.add_argument(
        "--results",
        default=DEFAULT_RESULTS,
        help="results folder (default: %(default)s)",
    )
    add_json(parser)


def call_doctor(options: argparse.Namespace) -> int:
    """Print the findings; the exit status is 1 if there is a problem."""
    from rich.text import Text

    from provlab.custody.doctor import PROBLEM, WARNING, examine
    from provlab.project.terminal import PlainConsole, print_json, table

    checks = examine(Path(options.results))
    states = [check.state for check in checks]
    if options.json:
        print_json([check._asdict() for check in checks])
        return 1 if PROBLEM in states else 0
    console = PlainConsole()
    for group in dict.fromkeys(check.group for check in checks):
        lines = []
        for check in checks:
            if check.group == group:
                advice = f" -> {check.advice}" if check.advice else ""
                state = Text(check.state, STYLES[check.state])
                lines.append(
                    {"state": state, "name": check.name, "found": check.value + advice}
                )
        console.print(table(lines, title=group))
    n_problems = states.count(PROBLEM)
    n_warnings = states.count(WARNING)
    print(f"{counted_noun(n_problems, PROBLEM)}, {counted_noun(n_warnings, WARNING)}")
    return 1 if PROBLEM in states else 0


def new_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    parser.add_argument("folder", help="new folder of the project, such as my-study")


def call_new(options: argparse.Namespace) -> int:
    """Create the folder, and print its content and the next steps."""
    from provlab.project.project import new_project

    for name in new_project(Path(options.folder)):
        print(f"  {name}")
    print(f"cd {options.folder} && provsel reproduce comparison && provsel verify")
    return 0


def list_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kind of items to list."""
    parser.add_argument(
        "kind", nargs="?", help=f"only {', '.join(TITLES)} (default: all)"
    )
    add_json(parser)


def call_list(options: argparse.Namespace) -> int:
    """Print one unwrapped line per item, so that lines can be searched and counted."""
    from provlab.project.terminal import print_json, print_text

    titles = TITLES if options.kind is None else {options.kind: ""}
    listings = {kind: listing(kind) for kind in titles}
    if options.json:
        print_json(listings)
        return 0
    blocks = []
    for kind, items in listings.items():
        width = max(map(len, items), default=0)
        lines = [
            visible_line(f"{name:{width}}  {text}") for name, text in items.items()
        ]
        blocks.append(
            "\n".join(
                [*filter(None, [titles[kind]]), *(lines or [f"(no {kind} here)"])]
            )
        )
    print_text("\n\n".join(blocks))
    return 0


def listing(kind: str) -> dict[str, str]:
    """Return the items of a kind, sorted by name, each with a one-line description.

    Parameters
    ----------
    kind : str
        One of `TITLES`. All kinds except artefacts are named by their configs.

    Raises
    ------
    ValueError
        If the kind is unknown, or a config does not fit its class or loader.
    """
    if kind not in TITLES:
        hint = did_you_mean(kind, TITLES) or "."
        raise ValueError(
            f"list: expected one of {', '.join(TITLES)}, got {kind!r}{hint}"
        )
    from provlab.core.artefact import artefact_title
    from provlab.core.composition import read_config
    from provlab.project.papers import artefact_names, reproduce_command
    from provlab.project.project import conf_files

    if kind == "artefacts":
        descriptions = {
            name: f"{artefact_title(name)}: {reproduce_command(name)}"
            for name in artefact_names()
        }
    else:
        descriptions = {}
        group = kind.removesuffix("s")
        for path in conf_files(group):
            config = read_config(group, path)
            comment = (
                re.split(r"\n[^#]", path.read_text("utf-8"), maxsplit=1)[0]
                .replace("\n#", "")
                .lstrip("# ")
            )
            if group == "dataset":
                descriptions[path.stem] = _dataset(config)
            else:
                is_comment_enough = group in ("protocol", "preparation")
                descriptions[path.stem] = (
                    comment
                    if is_comment_enough
                    else _component(group, path.stem, config)
                )
    return {name: " ".join(text.split()) for name, text in descriptions.items()}


def _dataset(config: dict[str, Any]) -> str:
    """Return the description of a data set, its size, and its licence or origin."""
    from provlab.data import dataset_names, is_place, loader, read_source, source_names

    name = config["name"]
    if is_place(name, "path"):
        return _first_line(loader(name))
    if name not in dataset_names():
        raise ValueError(
            f"config of the data set {name!r}: expected one of {', '.join(dataset_names())}; correct it."
        )
    module = loader(name)
    size = _first_line(module.load).removeprefix("Load ").rstrip(".")
    if name in source_names():
        source = read_source(name)
        return f"{source.title}: {size}. Licence: {source.licence}"
    origin = (
        "Generated"
        if "seed" in inspect.signature(module.load).parameters
        else "Bundled with scikit-learn"
    )
    return f"{_first_line(module)} {size}. {origin}."


def _component(kind: str, name: str, config: dict[str, Any]) -> str:
    """Return the class, summary and source of a component, whether it is random, and its budget if it has one."""
    from provlab.project.components import UNSET, build, component_class
    from provlab.project.project import current_project
    from provsel.reducers import is_random, is_random_model

    if "_target_" not in config:  # a model that depends on the task
        classes = [
            f"{component_class(kind, of_task).__name__} for {task}"
            for task, of_task in config.items()
        ]
        return f"By the task of the data: {', '.join(classes)}."
    if config["_target_"] == UNSET:
        trust = ", ".join(current_project().trust) or "none yet"
        return f"A class of a module that the project trusts, in provsel.toml ({trust}): {kind}._target_=module.Class"
    cls, component = component_class(kind, config), build(kind, config)
    inner = [
        str(value["_target_"]).rsplit(".", 1)[-1]
        for value in config.values()
        if isinstance(value, dict)
    ]
    text = f"{cls.__name__}{' of ' * bool(inner)}{', '.join(inner)}: {_first_line(cls)}"
    if kind == "selector":
        text += _labels_and_source(name, component)
    if is_random_model(component) if kind == "model" else is_random(component):
        text += " Draws."
    if hasattr(cls, "budget"):
        text += f" Guarantee: budget({', '.join(inspect.signature(cls.budget).parameters)})."
    return text


def _labels_and_source(name: str, selector: Any) -> str:
    """Return the family, the kind of labels, the time complexity and the first reference of a selector."""
    from provlab.core.vocabulary import SELECTORS, family_of

    labels = "without labels"
    if getattr(selector, "needs_labels", False):
        labels = "classes" if selector.classes_only else "classes or numbers"
    parts = [family_of(name).capitalize(), labels]
    if name in SELECTORS:
        parts.append(f"time {SELECTORS[name].cost}")
    text = f" {', '.join(parts)}."
    documented = (inspect.getdoc(type(selector)) or "").replace(
        "References\n----------\n", "Source: "
    )
    source = re.match(r"[^;.]*?\(\d{4}\)", documented.partition("Source: ")[2])
    return f"{text} Source: {source[0]}." if source else text


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


COMMANDS = {
    "doctor": (doctor_arguments, call_doctor),
    "fetch": (fetch_arguments, call_fetch),
    "list": (list_arguments, call_list),
    "new": (new_arguments, call_new),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
