"""What every command does with bad input and interrupts."""

from __future__ import annotations

import _thread
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

INTERRUPTED = 130
PLAIN_WIDTH = 180
REPORT = ("matplotlib", "PIL", "plotly", "jinja2")
"""Modules that come with the extra "report"."""
AGAIN_AFTER = 0.05
"""Seconds after which an interrupt that got lost comes again."""


def guarded(body: Callable[[], int]) -> int:
    """Run a command: bad input is one message, an interrupt has its own exit status."""
    try:
        with _no_interrupt_lost():
            return body()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        print(f"provsel: {message}", file=sys.stderr)
        return 2


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """Bring an interrupt again that came while an object was being deleted, as those of Dask: Python only prints it."""
    usual = sys.unraisablehook
    coming: list[threading.Timer] = []

    def hook(given: sys.UnraisableHookArgs) -> None:
        if not issubclass(given.exc_type, KeyboardInterrupt):
            usual(given)
            return
        again = threading.Timer(AGAIN_AFTER, _thread.interrupt_main)  # at once, it would end this hook
        again.daemon = True
        coming.append(again)
        again.start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual
        for again in coming:
            again.cancel()


def _message(error: Exception) -> str | None:
    """Return what a user is told about an error; None for one that nobody expects, which keeps its traceback."""
    from provlab.cli._errors import ERRORS

    package = (error.name or "").split(".")[0] if isinstance(error, ImportError) else ""
    if package in REPORT:
        return (
            f"figures, pages and images: expected the package {package}, got none; "
            f"pip install 'provsel[report]', or in a checkout: make setup-report."
        )
    return str(error) if isinstance(error, ERRORS) else None


def one_line(error: BaseException) -> str:
    """Return an error as one line: its message where that was written for users, else with its type.

    What a terminal would obey in it, as it may quote a file, is left out.
    """
    from provlab.cli._errors import ERRORS

    text = "".join(letter if letter.isprintable() else "?" for letter in " ".join(str(error).split()))
    return text if isinstance(error, ERRORS) and text else f"{type(error).__name__}: {text}"


def called(*arguments: str) -> str:
    """Return `provsel run` with some arguments, started as the user did, to be pasted into a shell."""
    name = Path(sys.argv[0]).name
    if name == "provsel":
        return shlex.join([sys.argv[0], "run", *arguments])
    script = ["-m", "provlab.cli", "run"] if name == "__main__.py" else [sys.argv[0]]
    return shlex.join([sys.orig_argv[0], *script, *arguments])


def plain_console(width: int | None = None) -> Console:
    """Return a console that prints text as it is, whatever brackets and colons a name or a path has."""
    return Console(width=width, markup=False, highlight=False, emoji=False)


def wide_console() -> Console:
    """Return a plain console that does not cut lines in a file or a pipe, which have no width of their own."""
    console = plain_console()
    return console if console.is_terminal else plain_console(width=PLAIN_WIDTH)
