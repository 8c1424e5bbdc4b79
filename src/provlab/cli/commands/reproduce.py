"""`provsel reproduce`."""

from __future__ import annotations

import argparse

from provlab.cli.commands import add_settings

HELP = "compute what an artefact of a paper is missing, and write its tables and figures"
EXAMPLE = "provsel reproduce table1 protocol.repeats=1 executor=serial"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which artefact, and how."""
    parser.epilog = "Interrupt at any time; the same command resumes."
    parser.add_argument("name", help="an artefact, such as table1 or PAPER/table1; all those of a paper; or all")
    parser.add_argument("--render", action="store_true", help="render what is stored, compute nothing")
    parser.add_argument("--fail-fast", action="store_true", help="end the run at the first trial that fails")
    add_settings(parser)


def run(options: argparse.Namespace) -> int:
    """Reproduce one artefact after the other; the exit status is the largest."""
    from provlab.cli._artefacts import reproduce
    from provlab.project import full_name, papers, some_artefacts
    from provlab.recipe import load_recipe

    if options.name == "all":
        names = some_artefacts()
    elif options.name in papers():
        names = [f"{options.name}/{artefact}" for artefact in papers()[options.name].artefacts()]
    else:
        names = [full_name(options.name, also=["all", *papers()])]
    how = {"render": options.render, "fail_fast": options.fail_fast}
    return max([reproduce(load_recipe(name), options.overrides, **how) for name in names], default=0)
