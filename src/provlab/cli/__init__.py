"""The command line: the one place that wires plans, runs, the store, claims and reports.

What takes long to import is imported by the functions that need it, so that `provsel --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from provlab.messages import explained

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the command `provsel`, which says what to install where packages are missing."""
    try:
        from provlab.cli.commands import call

        return call(sys.argv[1:] if argv is None else argv)
    except ModuleNotFoundError as error:
        advice = explained(error)
        if advice is error:
            raise
        print(f"provsel: {advice}", file=sys.stderr)
        return 2
