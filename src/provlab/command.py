"""The command `provsel`, which says what to install where only the library is."""

from __future__ import annotations

import sys
from collections.abc import Sequence

NEEDED = ("rich", "omegaconf", "hydra", "pandas", "pyarrow", "yaml", "requests", "threadpoolctl", "psutil")
"""Modules that come with the extra "lab"."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point: `provlab.cli.main`."""
    try:
        from provlab.cli import main as command

        return command(argv)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in NEEDED:
            raise
        print(
            f"provsel: expected the packages of the laboratory, got no {error.name}; pip install 'provsel[lab]'. The "
            f"library works without them: from provsel.selectors import ...",
            file=sys.stderr,
        )
        return 2
