"""View of the rows of a fold with the peak memory of each derived part.

It is a separate module because it needs scikit-learn, which plans and stores do not
need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from provlab.run.shared_rows import SharedView


class MeasuredView(SharedView):
    """View that records the peak memory of each of its parts, in addition to the time.

    Only Linux can reset the peak; elsewhere it is unknown.
    """

    def __init__(self, *rows: Any, **settings: Any) -> None:
        super().__init__(*rows, **settings)
        self._peaks: dict[str, int | None] = {}
        # peaks of the nested blocks that are being measured
        self._highest: list[int] = []

    def shared(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the part `name`, which is computed at the first call."""

        def with_memory() -> Any:
            with self._peak() as peak:
                part = compute()
            self._peaks[name] = peak()
            return part

        return super().shared(name, with_memory)

    @contextmanager
    def measured(self) -> Iterator[Callable[[], int | None]]:
        """Measure a block; the yielded function returns its peak, including those of all parts that it used."""
        with self._peak() as own:

            def largest() -> int | None:
                views = [
                    view for view in self._family() if isinstance(view, MeasuredView)
                ]
                peaks = [
                    own(),
                    *(
                        view._peaks[name]
                        for view in views
                        for name in view._used
                        if name in view._peaks
                    ),
                ]
                known_peaks = [peak for peak in peaks if peak is not None]
                return max(known_peaks) if len(known_peaks) == len(peaks) else None

            yield largest

    @contextmanager
    def _peak(self) -> Iterator[Callable[[], int | None]]:
        measured_peaks: list[int] = []
        before = memory_of("VmHWM")
        if self._highest and before is not None:
            self._highest[-1] = max(self._highest[-1], before)
        base = memory_of("VmRSS") if _count_anew() else None
        self._highest.append(0)
        try:
            yield lambda: measured_peaks[0] if measured_peaks else None
        finally:
            highest = max(self._highest.pop(), memory_of("VmHWM") or 0)
            if base is not None:
                measured_peaks.append(max(0, highest - base))
            if self._highest:
                self._highest[-1] = max(self._highest[-1], highest)


def _count_anew() -> bool:
    """Reset VmHWM to the current memory of the process; return False if that is impossible."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def memory_of(name: str) -> int | None:
    """Return the bytes that Linux reports for this process as VmHWM, the peak, or VmRSS, the current value."""
    try:
        line = re.search(
            rf"{name}:\s+(\d+) kB",
            Path("/proc/self/status").read_text(encoding="ascii"),
        )
    except OSError:
        return None
    return None if line is None else 1024 * int(line[1])
