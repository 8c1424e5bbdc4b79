"""What a command is, and the arguments that several have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

DEFAULT_RESULTS = "results"


class Command(NamedTuple):
    """A command: one line about it, a call, and what adds its arguments and runs it, which returns the exit status."""

    help: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


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
