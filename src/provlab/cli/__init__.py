"""Command line of provsel, which connects plans, runs, the store, claims and reports.

Slow imports are inside the functions that need them, so that `provsel --help` answers
at once. `__main__` removes the working folder from the path before anything else is
imported.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

LEAST_ADDRESS_SPACE = 1_500_000_000
"""Bytes that NumPy, SciPy and their threads reserve; with less, OpenBLAS fails during a run, or hangs."""

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the command `provsel`, which prints what to install if packages are missing."""
    limit = _address_space()
    if limit < LEAST_ADDRESS_SPACE:
        print(
            f"provsel: expected at least {LEAST_ADDRESS_SPACE / 1e9:.1f} GB of address space for its libraries, got a "
            f"limit of {limit / 1e9:.1f} GB; raise it: ulimit -v unlimited.",
            file=sys.stderr,
        )
        return 2
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


def _address_space() -> float:
    """Return the bytes that this process may reserve, which are not the memory that it uses."""
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit
