"""What every command does with bad input and interrupts."""

from __future__ import annotations

import sys
from collections.abc import Callable

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console

INTERRUPTED = 130
PLAIN_WIDTH = 180
ERRORS = (ValueError, OSError, HydraException, OmegaConfBaseException)
"""What bad input raises: shown as one message, without a traceback."""


def guarded(body: Callable[[], int]) -> int:
    """Run a command: bad input is one message, an interrupt has its own exit status."""
    try:
        return body()
    except KeyboardInterrupt:
        return INTERRUPTED
    except ERRORS as error:
        print(f"provsel: {error}", file=sys.stderr)
        return 2


def wide_console() -> Console:
    """Return a console that does not cut lines in a file or a pipe, which have no width of their own."""
    console = Console()
    return console if console.is_terminal else Console(width=PLAIN_WIDTH)
