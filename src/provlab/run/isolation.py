"""Protection of child processes against importing files from the data folder, whatever their names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SAFE_PATH = "PYTHONSAFEPATH"
"""Variable that keeps Python from putting the working folder or the script's folder first on its path."""


@contextmanager
def isolated_children() -> Iterator[None]:
    """Let processes started in the block find modules in the working folder only after all others.

    The environment ensures this for their start. Workers then take over the path of
    this process, on which the working folder, if present, comes last within the block.
    So workers find the classes of a program, but its `json.py` hides no other module.
    """
    variable = os.environ.get(SAFE_PATH)
    moved = [
        (place, entry)
        for place, entry in enumerate(sys.path)
        if _is_working_folder(entry)
    ]
    os.environ[SAFE_PATH] = "1"
    # a new list, because a thread that imports meanwhile still reads the old one
    sys.path = [entry for entry in sys.path if not _is_working_folder(entry)] + [
        entry for _, entry in moved
    ]
    try:
        yield
    finally:
        if variable is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = variable
        sys.path = _moved_back(sys.path, moved)


def _is_working_folder(entry: str) -> bool:
    """Return whether a path entry is the working folder, which may no longer exist."""
    return entry in ("", ".") or (os.path.isdir(entry) and os.path.samefile(entry, "."))


def _moved_back(path: list[str], moved: list[tuple[int, str]]) -> list[str]:
    """Return a path with moved entries back at their old positions; removed entries stay removed."""
    path = path.copy()
    for place, entry in moved:
        if entry in path:
            last = len(path) - 1 - path[::-1].index(entry)
            path.insert(place, path.pop(last))
    return path
