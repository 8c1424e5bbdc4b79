"""What is seen of a fetch while it runs: bars in a terminal, lines of text elsewhere, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """Shows transfers and conversions, and how many files of a data set are done.

    Parameters
    ----------
    shown : bool
    """

    def __init__(self, shown: bool) -> None:
        self._console: Any = None
        self._bars: Any = None
        if not shown:
            return
        from rich import progress  # loaders do without

        from provlab.terminal import PlainConsole

        self._console = PlainConsole(stderr=True)
        if self._console.is_terminal:
            first = progress.TextColumn("{task.description}", markup=False), progress.BarColumn()
            last = progress.DownloadColumn(), progress.TransferSpeedColumn()
            self._bars = progress.Progress(*first, *last, console=self._console)

    def __enter__(self) -> Progress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    @contextmanager
    def step(self, verb: str, path: str, size: int | None) -> Iterator[Callable[[int, int | None], None]]:
        """Show that a file is got; yield what is to be told of the bytes that are there, and of how many.

        Parameters
        ----------
        verb : str
            "download" or "make".
        path : str
        size : int or None
            In bytes, when it is known.
        """
        if self._bars is None:
            if self._console is not None:
                known = "" if size is None else f" ({size / 1e6:,.1f} MB)"
                self._console.print(f"{verb} {path}{known}", soft_wrap=True)
            yield lambda done, total: None
            return
        bars = self._bars
        task = bars.add_task(f"{verb} {path}", total=size)
        try:
            yield lambda done, total: bars.update(task, completed=done, total=total)
        finally:
            bars.remove_task(task)
