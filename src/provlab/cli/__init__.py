"""The command line: the one place that wires plans, runs, the store, claims and reports.

What takes long to import is imported by the functions that need it, so that `provsel --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from provlab.messages import to_install

NEEDED = ("rich", "omegaconf", "hydra", "pandas", "pyarrow", "yaml", "pooch", "requests", "threadpoolctl")
"""Modules that come with the extra "lab"."""

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the command `provsel`, which says what to install where only the library is."""
    try:
        from provlab.cli.commands import call
        from provlab.run.isolation import isolated_children

        with isolated_children():
            return call(sys.argv[1:] if argv is None else argv)
    except ModuleNotFoundError as error:
        explained = without_laboratory(error)
        if explained is error:
            raise
        print(f"provsel: {explained}", file=sys.stderr)
        return 2


def without_laboratory(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that says what to install, where a package of the extra "lab" is missing; others as they are."""
    if (error.name or "").split(".")[0] not in NEEDED:
        return error
    return ModuleNotFoundError(
        f"expected the packages of the laboratory, got no {error.name}; {to_install('lab')}. The library works "
        f"without them: from provsel.selectors import ...",
        name=error.name,
    )
