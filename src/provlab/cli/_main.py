"""The command `provsel`: its subcommands are the modules of `provlab.cli.commands`."""

from __future__ import annotations

import argparse
import gc
import logging
import re
import sys
import textwrap
from collections.abc import Sequence

from provlab.cli._guard import guarded
from provlab.cli.commands import choose_results, command_modules, command_names
from provlab.messages import did_you_mean
from provsel import __version__

OBJECTS_A_COLLECTION = 50_000
"""Plans and verdicts are many small objects that stay; Python's default looks at all of them again and again."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the command `provsel`."""
    gc.set_threshold(OBJECTS_A_COLLECTION)
    parser = argparse.ArgumentParser(prog="provsel", description="Provable feature selection and its replications.")
    parser.add_argument("--version", action="version", version=f"provsel {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    argv = sys.argv[1:] if argv is None else argv
    names = command_names()
    chosen = argv[0] if argv else ""
    if chosen and chosen not in names and not chosen.startswith("-"):
        message = f"expected a command, one of {', '.join(names)}, got {chosen!r:.80}"
        parser.error(message + (did_you_mean(chosen, names) or "."))
    modules = command_modules([chosen] if chosen in names else names)
    for name, module in modules.items():
        form = argparse.RawDescriptionHelpFormatter
        command = commands.add_parser(name, help=module.HELP, description=module.HELP, formatter_class=form)
        if name == chosen:
            module.add_arguments(command)
            command.epilog = "\n\n".join([f"Example:\n  {module.EXAMPLE}", textwrap.fill(command.epilog or "", 80)])
    # settings may stand on both sides of options, which argparse cannot do where there are subcommands
    options, settings = parser.parse_known_args(argv)
    if settings and (not hasattr(options, "overrides") or any(text.startswith("-") for text in settings)):
        is_folder = hasattr(options, "results") and any(text.startswith("results=") for text in settings)
        hint = "; the folder is given as --results FOLDER" if is_folder else ""
        wrong = next((text for text in settings if text.startswith("--")), "")
        known = re.findall(r"--[\w-]+", commands.choices[chosen].format_help())
        hint = hint or did_you_mean(wrong.partition("=")[0], known)
        parser.error(f"unrecognized arguments: {' '.join(settings)}{hint}")
    if settings:
        options.overrides = [*options.overrides, *settings]

    def body() -> int:
        _show_messages()
        if hasattr(options, "overrides") and hasattr(options, "results"):
            choose_results(options)
        return modules[options.command].run(options)

    return guarded(body)


def _show_messages() -> None:
    """Write what provsel logs to standard error; other packages tell of every glyph and every closed connection."""
    for package in ("provlab", "provsel"):
        logger = logging.getLogger(package)
        logger.setLevel(logging.INFO)
        for handler in logger.handlers[:]:  # of a call before, in the same process
            logger.removeHandler(handler)
        logger.addHandler(logging.StreamHandler(sys.stderr))
