"""What every command does with bad input and interrupts."""

from __future__ import annotations

import _thread
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from provlab.messages import visible_line
from provlab.terminal import PlainConsole, visible_output

INTERRUPTED = 130
PLAIN_WIDTH = 180
REPORT = ("matplotlib", "PIL", "plotly", "jinja2")
"""Modules that come with the extra "report"."""
AGAIN_AFTER = 0.05
"""Seconds after which an interrupt that got lost comes again."""


def guarded(body: Callable[[], int]) -> int:
    """Run a command: bad input is one message, an interrupt has its own exit status."""
    with visible_output():
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
    usual_hook, usual_handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    lock = threading.Lock()
    ended = coming = False

    def lost() -> None:
        nonlocal coming
        if not coming:  # one ends the command, more would fall into its end
            coming = True
            _thread.start_new_thread(bring, ())  # waits for nothing, unlike threading.Thread.start

    def bring() -> None:
        nonlocal coming
        time.sleep(AGAIN_AFTER)  # at once, it would end the hook
        coming = False
        with lock:
            if not ended:
                _thread.interrupt_main()

    def hook(given: sys.UnraisableHookArgs) -> None:
        if issubclass(given.exc_type, KeyboardInterrupt):
            lost()
        else:
            usual_hook(given)

    def handler(_: int, frame: FrameType | None) -> None:
        """Interrupt whatever runs but the hook, in which the interrupt would be lost once more."""
        while frame is not None:
            if frame.f_code is hook.__code__:
                lost()
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    sys.unraisablehook = hook
    if usual_handler is signal.default_int_handler and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        try:
            with lock:
                ended = True
        finally:
            sys.unraisablehook = usual_hook
            if signal.getsignal(signal.SIGINT) is handler:
                signal.signal(signal.SIGINT, usual_handler)


def _message(error: Exception) -> str | None:
    """Return what a user is told about an error; None for one that nobody expects, which keeps its traceback."""
    from provlab.cli._errors import ERRORS

    package = (error.name or "").split(".")[0] if isinstance(error, ImportError) else ""
    if package in REPORT:
        return (
            f"figures, pages and images: expected the package {package}, got none; "
            f"pip install 'provsel[report]', or in a checkout: make setup-report."
        )
    return said(error) if isinstance(error, ERRORS) else None


def said(error: BaseException) -> str:
    """Return the message of an error; the system's own names a file and a reason, and here gets what helps."""
    from provlab.store.faults import STEPS

    if not isinstance(error, OSError) or error.filename is None or error.errno not in STEPS:
        return str(error)
    return (
        f"{os.fsdecode(error.filename)}: expected a file or folder that can be read and written, got "
        f"{os.strerror(error.errno)!r}; {STEPS[error.errno]}, then run the same command again."
    )


def one_line(error: BaseException) -> str:
    """Return an error as one line: its message where that was written for users, else with its type."""
    from provlab.cli._errors import ERRORS

    text = visible_line(" ".join(said(error).split()))
    return text if isinstance(error, ERRORS) and text else f"{type(error).__name__}: {text}"


def called(*arguments: str) -> str:
    """Return `provsel run` with some arguments, started as the user did, to be pasted into a shell."""
    name = Path(sys.argv[0]).name
    if name == "provsel":
        return shlex.join([sys.argv[0], "run", *arguments])
    script = ["-m", "provlab.cli", "run"] if name == "__main__.py" else [sys.argv[0]]
    return shlex.join([sys.orig_argv[0], *script, *arguments])


def wide_console() -> PlainConsole:
    """Return a console that does not cut lines in a file or a pipe, which have no width of their own."""
    console = PlainConsole()
    return console if console.is_terminal else PlainConsole(width=PLAIN_WIDTH)
