"""Subcommands of `provsel`. The folder is the registry.

A module without a leading underscore is a subcommand of its name: `HELP`, one line; `EXAMPLE`, a call;
`add_arguments(parser)`; and `run(options)`, which returns the exit status and may raise what `provlab.cli._guard` turns
into a message. What takes long to import is imported by the functions that need it: `provsel --help` imports all of
these modules.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Sequence
from typing import Protocol

DEFAULT_RESULTS = "results"


class Command(Protocol):
    """What a module of this folder has."""

    HELP: str
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the subcommand."""

    def run(self, options: argparse.Namespace) -> int:
        """Run the subcommand and return the exit status."""


def command_names() -> list[str]:
    """Return the names of the subcommands, without importing them."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def command_modules(names: Sequence[str]) -> dict[str, Command]:
    """Return some subcommands by name."""
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


def add_store_arguments(parser: argparse.ArgumentParser, example: str = "protocol.repeats=1") -> None:
    """Add what all commands take that read stored trials: the results folder, and settings."""
    parser.add_argument("--results", help="results folder (default: results)")
    add_settings(parser, example)


def add_settings(parser: argparse.ArgumentParser, example: str = "protocol.repeats=1") -> None:
    """Add settings; with a default, as argparse calls them required otherwise where another argument is missing."""
    parser.add_argument("overrides", nargs="*", default=[], help=f"settings in Hydra's grammar, such as {example}")


def choose_results(options: argparse.Namespace) -> None:
    """Make the setting results=FOLDER mean --results FOLDER; it says where trials are, not which.

    Raises
    ------
    ValueError
        When both are given, and differ.
    """
    from provlab.plan import compose_config, results_folder

    named = [text for text in options.overrides if text.split("=", 1)[0].lstrip("+") == "results"]
    folder = str(results_folder(compose_config(named))) if named else None
    if named and options.results not in (None, folder):
        raise ValueError(
            f"results: expected one folder, got --results {options.results} and {named[-1]}; leave out one of them."
        )
    options.overrides = [text for text in options.overrides if text not in named]
    options.results = options.results or folder or DEFAULT_RESULTS
