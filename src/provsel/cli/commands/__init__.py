"""Subcommands of `provsel`. The folder is the registry.

A module without a leading underscore is a subcommand of its name: `HELP`, one line; `add_arguments(parser)`; and
`run(options)`, which returns the exit status and may raise what `provsel.cli._guard` turns into a message.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from typing import Protocol


class Command(Protocol):
    """What a module of this folder has."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the subcommand."""

    def run(self, options: argparse.Namespace) -> int:
        """Run the subcommand and return the exit status."""


def command_modules() -> dict[str, Command]:
    """Return the subcommands by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what all commands take that read stored trials: the results folder, and settings."""
    parser.add_argument("--results", default="results", help="results folder (default: results)")
    parser.add_argument("overrides", nargs="*", help="settings in Hydra's grammar, such as protocol.repeats=1")
