"""Files beside the data are never run in a process that this one starts, whatever their names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SAFE_PATH = "PYTHONSAFEPATH"
"""Variable that keeps a new Python from putting the working folder, or a script's, first on its path."""


@contextmanager
def isolated_children() -> Iterator[None]:
    """Let processes that start in the block find all other modules before those in the working folder.

    Their environment ensures this for their own start. Then workers take over the path of this process: the working
    folder, if it is on it, comes last in the block. So a program's own classes are found in workers, and its `json.py`
    hides no other module.
    """
    variable = os.environ.get(SAFE_PATH)
    moved = [(place, entry) for place, entry in enumerate(sys.path) if _is_working_folder(entry)]
    os.environ[SAFE_PATH] = "1"
    # a new list: a thread that imports meanwhile still reads the old one
    sys.path = [entry for entry in sys.path if not _is_working_folder(entry)] + [entry for _, entry in moved]
    try:
        yield
    finally:
        if variable is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = variable
        sys.path = _moved_back(sys.path, moved)


def _is_working_folder(entry: str) -> bool:
    """Return whether an entry of the path is the working folder, which may no longer exist."""
    return entry in ("", ".") or (os.path.isdir(entry) and os.path.samefile(entry, "."))


def _moved_back(path: list[str], moved: list[tuple[int, str]]) -> list[str]:
    """Return a path with moved entries back in their old places; removed entries stay removed."""
    path = path.copy()
    for place, entry in moved:
        if entry in path:
            last = len(path) - 1 - path[::-1].index(entry)
            path.insert(place, path.pop(last))
    return path
