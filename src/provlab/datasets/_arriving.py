"""A file that arrives piece by piece: under its name when it is whole; what arrived is kept where it can be resumed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: there every transfer starts anew
    fcntl = None  # type: ignore[assignment]


@contextmanager
def arriving(target: Path, identity: str | None, keep_on: tuple[type[BaseException], ...]) -> Iterator[IO[bytes]]:
    """Yield a file, at its end, that takes the place of `target` on success.

    Parameters
    ----------
    target : Path
        Its folder is made when needed.
    identity : str or None
        Hash of the file that arrives: what is kept is resumed only as a part of that file. None: nothing is kept.
    keep_on : tuple of exception types
        Those after which what arrived is kept, beside `target` as ``.<name>.<identity>.part``: no loader looks at
        names with a dot in front. After any other it is removed.

    Yields
    ------
    file
        Open for reading and appending. What was kept of an earlier attempt is in it, unless another process is just
        continuing that: then it is a file of our own.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    path, handle = _claimed(target, identity) or _own(target)
    left = True
    try:
        yield handle
        handle.flush()
        os.fsync(handle.fileno())  # or a power cut could leave an empty file under the final name
        os.replace(path, target)
        left = False
    except keep_on:
        handle.flush()
        left = identity is None or os.fstat(handle.fileno()).st_size == 0
        raise
    finally:
        with suppress(OSError):  # the error that brought us here is to be seen
            if left:
                path.unlink(missing_ok=True)
        handle.close()  # and with it the lock


def kept(target: Path, identity: str | None) -> int:
    """Return how many bytes of a file are kept for the next attempt."""
    path = None if identity is None else _part(target, identity)
    return path.stat().st_size if path is not None and path.is_file() else 0


def _part(target: Path, identity: str) -> Path:
    return target.with_name(f".{target.name}.{identity[:12]}.part")


def _claimed(target: Path, identity: str | None) -> tuple[Path, IO[bytes]] | None:
    """Return the part that is kept, or a new one, locked; None when another process has it."""
    if identity is None or fcntl is None:
        return None
    path = _part(target, identity)
    handle = path.open("ab+")
    with suppress(OSError):  # locked, a file system without locks, or moved to its place since we opened it
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a lock ends with its process, however that ends
        if os.path.samestat(path.stat(), os.fstat(handle.fileno())):
            return path, handle
    handle.close()
    return None


def _own(target: Path) -> tuple[Path, IO[bytes]]:
    path = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    return path, path.open("xb+")
