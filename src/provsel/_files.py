"""Files appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target` that takes its place on success and is removed on failure.

    Parameters
    ----------
    target : Path
        File to write. Its folder is made when needed.

    Yields
    ------
    Path
        Does not exist yet; the same folder, so that the final move is atomic.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())  # or a power cut could leave an empty file under the final name
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
