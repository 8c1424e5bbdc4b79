"""Hashes of files, computed once: remembered by what the file system says about a file."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from provsel.files import replacing

from ._content import content_sha256
from ._paths import data_dir

MEMORY = "cache/hashes.json"
"""Below the data folder. A shortcut only: damaged, not writable or deleted, the files are hashed again."""

SETTLED = 2.0
"""Seconds since the last change after which a hash is remembered: some file systems count time in steps of two."""

_MAX_ENTRIES = 4096
_MAX_BYTES = 1 << 22
_BLOCK = 1 << 20
_HASH = re.compile(r"[0-9a-f]{64}")

State = tuple[int, int, int, int]
Entries = dict[str, tuple[State, dict[str, str]]]

_memories: dict[Path, Entries] = {}


def file_sha256(path: Path, *, data: Path | None = None) -> str:
    """Return the SHA-256 of a file: computed, or remembered from when the file was the same.

    Parameters
    ----------
    path : Path
    data : Path or None, default=None
        Data folder in place of `$PROVSEL_DATA`, for its memory.

    Returns
    -------
    str
    """
    return _once(path, "sha256", lambda: _sha256(path), data)


def file_content_sha256(path: Path, kind: str, *, limit: int | None = None, data: Path | None = None) -> str:
    """Return `content_sha256` of a packed file: computed, or remembered from when the file was the same."""
    return _once(path, kind, lambda: content_sha256(path, kind, limit=limit), data)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _once(path: Path, kind: str, compute: Callable[[], str], data: Path | None) -> str:
    """Return a hash of a file from memory, or compute and remember it."""
    name, state, began = os.path.abspath(path), _state(path), time.time()
    memory = (data_dir() if data is None else data) / MEMORY
    known = _known(memory).get(name)
    if known is not None and known[0] == state and kind in known[1]:
        return known[1][kind]
    computed = compute()
    # The clock of a file system may stand still for a while: a file that was written just now could be written again
    # without a trace. One that changed while it was read has a hash of nothing.
    if _state(path) == state and began - max(state[1:3]) / 1e9 > SETTLED:
        _remember(memory, name, state, kind, computed)
    return computed


def _state(path: Path) -> State:
    """Return size, times of content and of status in nanoseconds, and inode: who puts back one changes another."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _known(memory: Path) -> Entries:
    """Return what this process remembers; at first, what is in the file."""
    if memory not in _memories:
        _memories[memory] = _read(memory)
    return _memories[memory]


def _remember(memory: Path, name: str, state: State, kind: str, computed: str) -> None:
    """Add a hash to the memory of this process and to the file, with what other processes have written meanwhile."""
    entries = {**_read(memory), **_known(memory)}
    before = entries.pop(name, None)
    entries[name] = (state, {**(before[1] if before and before[0] == state else {}), kind: computed})
    _memories[memory] = entries = dict([*entries.items()][-_MAX_ENTRIES:])
    with suppress(OSError), replacing(memory) as temporary:  # another process may win: then this is hashed once more
        temporary.write_text(json.dumps(entries), encoding="utf-8")


def _read(memory: Path) -> Entries:
    """Return the sound entries of the file; none of one that is damaged."""
    try:
        with memory.open("rb") as handle:
            content = json.loads(handle.read(_MAX_BYTES))
        return {
            name: (tuple(state), dict(hashes)) for name, (state, hashes) in content.items() if _sound(state, hashes)
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _sound(state: Any, hashes: Any) -> bool:
    """Tell whether an entry is as `_remember` writes it."""
    numbers = isinstance(state, list) and len(state) == 4 and all(type(part) is int for part in state)
    return (
        numbers
        and isinstance(hashes, dict)
        and all(isinstance(text, str) and _HASH.fullmatch(text) for text in hashes.values())
    )
