"""Output to a terminal, with control characters escaped as in `provlab.project.messages`."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import IO, Any, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from provlab.project.messages import visible

WIDTH = 180
"""Line width for files and pipes, which have no width of their own."""


class PlainConsole(Console):
    """A console that prints brackets, colons and control characters in names and paths as text.

    Parameters
    ----------
    stderr : bool, default=False
    **options
        Options of `rich.console.Console`.
    """

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        stream = sys.stderr if stderr else sys.stdout
        file = getattr(stream, "obeyed", stream)  # for the colours of this console
        super().__init__(
            **{
                "file": file,
                "markup": False,
                "highlight": False,
                "emoji": False,
                **options,
            }
        )
        if not self.is_terminal and "width" not in options:
            self.width = WIDTH

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of a text, a table or its cells; only rich itself may move the cursor."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(visible(part.text), part.style)


def table(
    lines: Sequence[Mapping[str, object]], title: str = "", caption: str = ""
) -> Table:
    """Return a table for a console, with a row per mapping and a column per key of the first mapping.

    None becomes an empty cell, and a `rich.text.Text` keeps its colour. Nothing is
    truncated.
    """
    shown = Table(title_justify="left", caption_justify="left")
    shown.title = Text(title) if title else None
    shown.caption = Text(caption) if caption else None
    for name in lines[0] if lines else ():
        shown.add_column(name, overflow="fold")
    for line in lines:
        shown.add_row(*map(_cell, line.values()))
    return shown


def _cell(value: object) -> Text | str:
    if isinstance(value, Text):
        return value
    return "" if value is None else str(value)


def print_text(text: str) -> None:
    """Print a text for a reader that may stop early, such as head."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # the rest must not be written when Python exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(value: Any) -> None:
    """Print values of Python, NumPy and pandas as JSON, with arrays as lists and missing numbers as null."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name): plain(inner) for name, inner in value.items()}
        value = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(value, list | tuple):
            return [plain(inner) for inner in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    print(json.dumps(plain(value), indent=2))


class VisibleStream:
    """A stream that escapes control characters in written text and passes through everything else.

    Attributes
    ----------
    obeyed : file
        The underlying stream.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.obeyed = stream

    def write(self, text: str) -> int:
        """Write a text, and return its length."""
        self.obeyed.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.obeyed, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Escape control characters in printed text, logs and warnings within the block."""
    with redirect_stdout(_visible(sys.stdout)), redirect_stderr(_visible(sys.stderr)):
        yield


def _visible(stream: TextIO) -> TextIO:
    return (
        stream
        if isinstance(stream, VisibleStream)
        else cast(TextIO, VisibleStream(stream))
    )
