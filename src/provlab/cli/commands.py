"""Which command is called, and with what."""

from __future__ import annotations

import argparse
import gc
import importlib
import logging
import re
import sys
import textwrap
from collections.abc import Sequence

from provlab.cli.arguments import Command, choose_results
from provlab.cli.guard import guarded
from provlab.messages import did_you_mean
from provsel import __version__

GROUPS = {
    "run": ("run",),
    "artefacts": ("reproduce", "status"),
    "claims": ("readings", "reference", "verify"),
    "trials": ("audit", "export", "merge"),
    "pages": ("explain", "report"),
    "project": ("doctor", "fetch", "list", "new"),
}
"""Commands by the module of this folder that has them in its `COMMANDS`; only what is called is imported."""

OBJECTS_A_COLLECTION = 50_000
"""Plans and verdicts are many small objects that stay; Python's default looks at all of them again and again."""


def command_names() -> list[str]:
    """Return the names of the commands, without importing them."""
    return sorted(name for names in GROUPS.values() for name in names)


def commands(names: Sequence[str]) -> dict[str, Command]:
    """Return some commands by name."""
    modules = {name: group for group, found in GROUPS.items() for name in found}
    return {name: importlib.import_module(f"provlab.cli.{modules[name]}").COMMANDS[name] for name in names}


def call(argv: Sequence[str]) -> int:
    """Call a command with its arguments, and return its exit status."""
    gc.set_threshold(OBJECTS_A_COLLECTION)
    parser = argparse.ArgumentParser(prog="provsel", description="Provable feature selection and its replications.")
    parser.add_argument("--version", action="version", version=f"provsel {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True)
    names = command_names()
    chosen = argv[0] if argv else ""
    if chosen and chosen not in names and not chosen.startswith("-"):
        message = f"expected a command, one of {', '.join(names)}, got {chosen!r:.80}"
        parser.error(message + (did_you_mean(chosen, names) or "."))
    called = commands([chosen] if chosen in names else names)
    for name, command in called.items():
        form = argparse.RawDescriptionHelpFormatter
        added = subparsers.add_parser(name, help=command.help, description=command.help, formatter_class=form)
        if name == chosen:
            command.add_arguments(added)
            added.epilog = "\n\n".join([f"Example:\n  {command.example}", textwrap.fill(added.epilog or "", 80)])
    # settings may stand on both sides of options, which argparse cannot do where there are subcommands
    options, settings = parser.parse_known_args(argv)
    if settings and (not hasattr(options, "overrides") or any(text.startswith("-") for text in settings)):
        is_folder = hasattr(options, "results") and any(text.startswith("results=") for text in settings)
        hint = "; the folder is given as --results FOLDER" if is_folder else ""
        wrong = next((text for text in settings if text.startswith("--")), "")
        known = re.findall(r"--[\w-]+", subparsers.choices[chosen].format_help())
        hint = hint or did_you_mean(wrong.partition("=")[0], known)
        parser.error(f"unrecognized arguments: {' '.join(settings)}{hint}")
    if settings:
        options.overrides = [*options.overrides, *settings]

    def body() -> int:
        _show_messages()
        if hasattr(options, "overrides") and hasattr(options, "results"):
            choose_results(options)
        return called[options.command].run(options)

    return guarded(body)


def _show_messages() -> None:
    """Write what provsel logs to standard error; other packages tell of every glyph and every closed connection."""
    for package in ("provlab", "provsel"):
        logger = logging.getLogger(package)
        logger.setLevel(logging.INFO)
        for handler in logger.handlers[:]:  # of a call before, in the same process
            logger.removeHandler(handler)
        logger.addHandler(logging.StreamHandler(sys.stderr))
