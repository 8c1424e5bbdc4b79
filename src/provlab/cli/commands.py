"""Names and options of the commands, and their common handling of settings, bad input and interrupts.

Each module of this folder lists two functions for each of its commands in `COMMANDS`.
Only the module of the called command is imported.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from provlab.cli import INTERRUPTED
from provlab.project.messages import did_you_mean, explained, visible_line
from provlab.project.terminal import visible_output
from provsel import __version__

COMMANDS = {
    "audit": ("trials", "recompute a random sample of the stored trials, and compare", "--fraction 0.01"),
    "doctor": ("project", "check the installation: packages, machine, data sets, store", "--json"),
    "explain": ("pages", "print config, seeds, trials and versions of a number, and its command",
                "table1 --row BSS"),
    "export": ("trials", "write the stored trials as Parquet and as one CSV file, for others", "--output for-anna"),
    "fetch": ("project", "download, convert and verify the files of data sets", "orl madelon"),
    "list": ("project", "list data sets, selectors, models and artefacts", "selectors"),
    "merge": ("trials", "add trials of other stores or exports, and print conflicts", "from-anna/results"),
    "new": ("project", "create a project: data, a selector, an experiment, a claim and a test", "my-study"),
    "rank": ("benchmark", "rank a selector in the benchmark, or its methods on your data",
             "selector=rrqr --panel quick"),
    "readings": ("claims", "judge the claims of a paper under all its readings", "smith2020 --artefact table1 --plan"),
    "report": ("pages", "write the HTML report: your runs, and every number and claim of papers", "--results results"),
    "reproduce": ("artefacts", "compute missing trials of an artefact, and write its tables and figures",
                  "table1 executor=serial"),
    "run": ("run", "run one cell, or with -m a sweep over cells", "-m dataset=digits selector=bss,leverage"),
    "select": ("select", "select features of a table, with the method and the error", "penguins.csv species"),
    "status": ("artefacts", "count stored trials of each artefact", "--artefact table1"),
    "verify": ("claims", "judge the claims of papers on stored trials, or any claims on a table",
               "--paper smith2020 --detail"),
    "panel": ("benchmark", "compute the benchmark: every method on every data set", "--dataset digits executor=serial"),
    "reference": ("claims", "write results/reference from the store", "--artefact table1"),
}  # fmt: skip
"""Module, one-line description and example arguments of each command."""

FOR_MAINTAINERS = ("panel", "reference")
"""Commands for maintainers, which write files of the project itself; help lists them separately."""

ERRORS = (OSError, ValueError)
"""Errors raised by bad input, which are shown as one message without a traceback."""

DEFAULT_RESULTS = "results"

DESCRIPTION = "Provable feature selection and its replications."

WITHOUT_COMMAND = ("--version", "--completion")
"""Options that are given instead of a command."""


class Parser(argparse.ArgumentParser):
    """Suggests a similar name for a wrong command or option."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit with status 2."""
        wrong = re.search(
            r"invalid choice: '(.*?)'|unrecognized arguments: (--[\w-]+)", message
        )
        names = [*COMMANDS, *re.findall(r"--[\w-]+", self.format_help())]
        super().error(
            message + (did_you_mean(wrong[1] or wrong[2], names) if wrong else "")
        )


class Help(argparse.HelpFormatter):
    """Wraps each paragraph at the terminal's width, except examples, whose lines are indented."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        parts = []
        for part in text.split("\n\n"):
            is_example = "\n  " in part
            parts.append(part if is_example else fill(part, width, indent))
        return "\n\n".join(parts)


def call(argv: Sequence[str]) -> int:
    """Call a command with its arguments, and return its exit status."""
    # plans are many long-lived small objects, which would be scanned repeatedly by
    # default
    gc.set_threshold(50_000)
    every, names = parser_of_all()
    for name, (_, about, _) in COMMANDS.items():
        listed: dict[str, Any] = {} if name in FOR_MAINTAINERS else {"help": about}
        names.add_parser(name, **listed, add_help=False)
    if argv and argv[0].startswith(WITHOUT_COMMAND):
        return guarded(lambda: call_without_command(every.parse_args(argv)))
    if not argv:
        every.print_help()
        return 2
    names.required = True
    command = every.parse_args(argv[:1]).command
    module, about, example = COMMANDS[command]
    add_arguments, run = importlib.import_module(f"provlab.cli.{module}").COMMANDS[
        command
    ]
    parser = Parser(f"provsel {command}", description=about, formatter_class=Help)
    add_arguments(parser)
    parser.epilog = "\n\n".join(
        filter(None, [f"Example:\n  provsel {command} {example}", parser.epilog])
    )
    options = parser.parse_intermixed_args(argv[1:])

    def body() -> int:
        # loggers of other packages report too many details
        for package in ("provlab", "provsel"):
            logger = logging.getLogger(package)
            logger.setLevel(logging.INFO)
            logger.handlers[:] = [
                logging.StreamHandler(sys.stderr)
            ]  # replaces the handler of an earlier call in the same process
        if hasattr(options, "overrides") and hasattr(options, "results"):
            _choose_results(options)
        status: int = run(options)
        return status

    return guarded(body)


def parser_of_all() -> tuple[Parser, Any]:
    """Return the parser of `provsel` with its own options, and the action that adds commands to it."""
    usage = "%(prog)s [-h] [--version [--verbose]] COMMAND ..."
    parser = Parser(
        prog="provsel", usage=usage, description=DESCRIPTION, formatter_class=Help
    )
    ours = [f"{name} ({COMMANDS[name][1]})" for name in FOR_MAINTAINERS]
    parser.epilog = f"For maintainers: {', '.join(ours)}."
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="with --version: Python, packages and processor as well",
    )
    parser.add_argument(
        "--completion",
        metavar="SHELL",
        help="print a script that completes commands and options",
    )
    return parser, parser.add_subparsers(dest="command", metavar="COMMAND ...")


def call_without_command(options: argparse.Namespace) -> int:
    """Print what an option without a command requests."""
    if options.completion is not None:
        from provlab.cli.completion import completion_script

        print(completion_script(options.completion))
        return 0
    print(f"provsel {__version__}")
    if options.verbose:
        from provlab.run.environment import environment

        for name, value in json.loads(environment()).items():
            print(f"{name}: {', '.join(value) if isinstance(value, list) else value}")
    return 0


def add_settings(
    parser: argparse.ArgumentParser, example: str = "protocol.repeats=1"
) -> None:
    """Add settings with a default; otherwise argparse reports them as required if another argument is missing."""
    parser.add_argument(
        "overrides",
        nargs="*",
        default=[],
        help=f"settings in Hydra's grammar, such as {example}",
    )


def add_store_arguments(
    parser: argparse.ArgumentParser, example: str = "protocol.repeats=1"
) -> None:
    """Add the options of all commands that read stored trials: the results folder and settings."""
    parser.add_argument(
        "--results",
        default=DEFAULT_RESULTS,
        help="results folder (default: %(default)s)",
    )
    add_settings(parser, example)


def only_executor(
    command: str, options: argparse.Namespace, example: str, why: str
) -> dict[str, Any]:
    """Return the settings of a command that takes only executor settings; `why` is the advice in the error."""
    for text in options.overrides:
        if text.split("=", 1)[0].split(".")[0] != "executor":
            raise ValueError(
                f"{command}: expected settings of the executor, such as {example}, got {text!r:.80}; {why}."
            )
    from provlab.core.composition import compose_config, executor_settings

    return executor_settings(
        {**compose_config(options.overrides), "results": options.results}
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for JSON output."""
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def _choose_results(options: argparse.Namespace) -> None:
    """Treat the setting results=FOLDER as --results FOLDER, because it does not affect which trials are meant."""
    named = [
        text
        for text in options.overrides
        if text.split("=", 1)[0].lstrip("+") == "results"
    ]
    if not named:
        return
    from provlab.core.composition import compose_config, results_folder

    folder = str(results_folder(compose_config(named)))
    if options.results not in (DEFAULT_RESULTS, folder):
        raise ValueError(
            f"results: expected one results folder, got --results {options.results} and {named[-1]}; omit one of them."
        )
    options.overrides = [text for text in options.overrides if text not in named]
    options.results = folder


def guarded(body: Callable[[], int]) -> int:
    """Run a command; bad input prints one message, and an interrupt has its own exit status."""
    with visible_output(), _warnings_as_notes():
        try:
            return body()
        except KeyboardInterrupt:
            return INTERRUPTED
        except ERRORS as error:
            print(f"provsel: {message_of(error)}", file=sys.stderr)
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and explained(error) is not error:
                raise
            # an internal error, which Python would print with the control characters of
            # untrusted text
            traceback.print_exc()
            return 1
    return 2


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print each warning as one line, once per command, even if a file is read several times."""
    shown, as_before = set(), warnings.showwarning

    def show(
        message: Warning | str, category: type[Warning], *place: Any, **options: Any
    ) -> None:
        if category is not UserWarning:
            as_before(message, category, *place, **options)
        elif (text := str(message)) not in shown:
            shown.add(text)
            print(f"note: {text}", file=sys.stderr)

    with warnings.catch_warnings():
        if any(
            action == "error" for action, *_ in warnings.filters
        ):  # as with python -W error: a note must not end a command
            warnings.filterwarnings("default", category=UserWarning)
        warnings.showwarning = show
        yield


def message_of(error: BaseException) -> str:
    """Return the message of an error; for system errors it has the file, the reason and advice."""
    from provlab.core.store import STEPS

    if (
        not isinstance(error, OSError)
        or error.filename is None
        or error.errno not in STEPS
    ):
        return str(error)
    return (
        f"{os.fsdecode(error.filename)}: expected a file or folder that can be read and written, got "
        f"{os.strerror(error.errno)!r}; {STEPS[error.errno]}, then rerun the command."
    )


def one_line(error: BaseException) -> str:
    """Return an error on one line: its message, preceded by its type unless the message is written for users."""
    text = visible_line(" ".join(message_of(error).split()))
    return (
        text
        if isinstance(error, ERRORS) and text
        else f"{type(error).__name__}: {text}"
    )
