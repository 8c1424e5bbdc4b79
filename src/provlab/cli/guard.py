"""What every command does with bad input and interrupts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from provlab.cli import INTERRUPTED
from provlab.messages import visible_line
from provlab.terminal import PlainConsole, visible_output

PLAIN_WIDTH = 180
REPORT = ("matplotlib", "PIL", "plotly", "jinja2")
"""Modules that come with the extra "report"."""
ERRORS = (OSError, ValueError)
"""What bad input raises: shown as one message, without a traceback."""


def guarded(body: Callable[[], int]) -> int:
    """Run a command: bad input is one message, an interrupt has its own exit status."""
    with visible_output():
        try:
            return body()
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:
            message = _message(error)
            if message is None:
                raise
            print(f"provsel: {message}", file=sys.stderr)
            return 2


def _message(error: Exception) -> str | None:
    """Return what a user is told about an error; None for one that nobody expects, which keeps its traceback."""
    package = (error.name or "").split(".")[0] if isinstance(error, ImportError) else ""
    if package in REPORT:
        return (
            f"figures, pages and images: expected the package {package}, got none; "
            f"pip install 'provsel[report]', or in a checkout: make setup-report."
        )
    return said(error) if isinstance(error, ERRORS) else None


def said(error: BaseException) -> str:
    """Return the message of an error; the system's own names a file and a reason, and here gets what helps."""
    from provlab.store import STEPS

    if not isinstance(error, OSError) or error.filename is None or error.errno not in STEPS:
        return str(error)
    return (
        f"{os.fsdecode(error.filename)}: expected a file or folder that can be read and written, got "
        f"{os.strerror(error.errno)!r}; {STEPS[error.errno]}, then run the same command again."
    )


def one_line(error: BaseException) -> str:
    """Return an error as one line: its message where that was written for users, else with its type."""
    text = visible_line(" ".join(said(error).split()))
    return text if isinstance(error, ERRORS) and text else f"{type(error).__name__}: {text}"


def wide_console() -> PlainConsole:
    """Return a console that does not cut lines in a file or a pipe, which have no width of their own."""
    console = PlainConsole()
    return console if console.is_terminal else PlainConsole(width=PLAIN_WIDTH)
