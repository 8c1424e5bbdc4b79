"""Shell completion of commands and options with the package shtab.

This module imports the modules of all commands, because the script contains the options
of each.
"""

from __future__ import annotations

import importlib

from provlab.cli.commands import COMMANDS, parser_of_all
from provlab.project.messages import to_install


def completion_script(shell: str) -> str:
    """Return the script for a shell.

    Raises
    ------
    ValueError
        If shtab does not know the shell or is not installed.
    """
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise ValueError(
            f"--completion: expected the package shtab, got none; {to_install('completion')}."
        ) from error
    if shell not in shtab.SUPPORTED_SHELLS:
        raise ValueError(
            f"--completion: expected one of {', '.join(shtab.SUPPORTED_SHELLS)}, got {shell!r}."
        )
    parser, commands = parser_of_all()
    for name, (module, about, _) in COMMANDS.items():
        add_arguments, _ = importlib.import_module(f"provlab.cli.{module}").COMMANDS[
            name
        ]
        add_arguments(commands.add_parser(name, help=about, description=about))
    return str(shtab.complete(parser, shell=shell))
