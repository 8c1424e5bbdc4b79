"""Command line of provsel, which connects plans, runs, the store, claims and reports.

Slow imports are inside the functions that need them, so that `provsel --help` answers at once. `__main__` removes the
working folder from the path before anything else is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the command `provsel`, which prints what to install if packages are missing."""
    try:
        from provlab.cli.commands import call
        from provlab.run.isolation import isolated_children

        with isolated_children():
            return call(sys.argv[1:] if argv is None else argv)
    except ModuleNotFoundError as error:
        from provlab.project.messages import explained

        advice = explained(error)
        if advice is error:
            raise
        print(f"provsel: {advice}", file=sys.stderr)
        return 2
