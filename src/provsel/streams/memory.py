"""Memory limit for the contents of a user's file, because a few bytes can claim, or expand to, terabytes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LIMIT = "PROVSEL_MEMORY_GB"
"""Environment variable that sets the limit, in 10^9 bytes."""

SHARE = 8
"""Default limit as a share of the machine's memory, because loading needs up to three copies, and trials more."""

_UNKNOWN = 8 << 30
"""Memory assumed for a machine that does not report it."""
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


class MemoryLimitError(ValueError):
    """The contents of a file would take more memory than the limit, or the limit is not a number."""


def memory_limit() -> int:
    """Return the bytes that the contents of a file may take: `PROVSEL_MEMORY_GB`, or an eighth of the memory.

    Raises
    ------
    MemoryLimitError
        If the variable is not a positive number.
    """
    limit_text = os.environ.get(LIMIT)
    if limit_text:
        with suppress(ValueError):
            if 0 < (limit := float(limit_text)) < math.inf:
                return int(limit * 1e9)
        raise MemoryLimitError(
            f"{LIMIT}: expected a positive number of 10^9 bytes, such as 4, got {limit_text!r:.80}; correct it."
        )
    memory = _UNKNOWN
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(ValueError, OSError):  # "max" if there is no limit
        memory = min(memory, int(_CONTAINER.read_text()))
    return memory // SHARE


def check_memory(subject: str, needed: int, what: str) -> None:
    """Raise if `what` needs more bytes than the limit, before anything allocates them.

    Raises
    ------
    MemoryLimitError
        If it exceeds the limit; the message states how to raise it.
    """
    if needed > (limit := memory_limit()):
        raise MemoryLimitError(
            f"{subject}: expected contents of at most {limit / 1e9:,.1f} GB of memory, got {what}, which need "
            f"{needed / 1e9:,.1f} GB; make the file smaller, or allow more by {LIMIT}={math.ceil(needed / 1e9)}."
        )


@contextmanager
def within_memory(subject: str) -> Iterator[None]:
    """Name the contents that do not fit if a block runs out of memory, even below the limit.

    Raises
    ------
    MemoryLimitError
        Replaces a MemoryError, which often has no message.
    """
    try:
        yield
    except MemoryError as error:
        raise MemoryLimitError(
            f"{subject}: expected contents that fit into free memory, got {error!r:.200}; make the file smaller, or "
            f"free memory. {LIMIT} sets the size above which files are refused."
        ) from error
