"""The local lock file: hash and size of downloads whose hash was not known beforehand."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from provsel.files import replacing

from ._paths import is_safe_relative
from ._yaml import read_plain_yaml

LOCK_NAME = "sources.lock.yaml"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class LockEntry:
    """What the first download of a file was.

    Parameters
    ----------
    sha256 : str
    size : int
    url : str
        Where it came from.
    """

    sha256: str
    size: int
    url: str


def read_lock(folder: Path) -> dict[str, LockEntry]:
    """Return the recorded downloads of a data folder by relative path; empty when there are none.

    Parameters
    ----------
    folder : Path
        The data folder.

    Returns
    -------
    dict of str to LockEntry

    Raises
    ------
    ValueError
        When the file is damaged.
    """
    path = folder / LOCK_NAME
    if not path.is_file():
        return {}
    try:
        content = read_plain_yaml(path) or {}
        if not isinstance(content, dict):
            raise ValueError(f"a {type(content).__name__}")
        return {key: _entry(key, item) for key, item in content.items()}
    except ValueError as error:
        raise ValueError(
            f"lock file {path}: expected path: {{sha256, size, url}} entries, got something else ({error}). "
            "Repair it, or delete it and fetch again"
        ) from error


def _entry(key: Any, item: Any) -> LockEntry:
    """Return an entry as `record` writes it; text in place of a hash would only fail much later."""
    if not isinstance(key, str) or not is_safe_relative(key):
        raise ValueError(f"the path {key!r:.80}")
    values: dict[str, Any] = {
        name: item.get(name) if isinstance(item, dict) else None for name in ("sha256", "size", "url")
    }
    good = {
        "sha256": isinstance(values["sha256"], str) and _SHA256.fullmatch(values["sha256"]) is not None,
        "size": type(values["size"]) is int and values["size"] >= 0,
        "url": isinstance(values["url"], str),
    }
    for name, fits in good.items():
        if not fits:
            raise ValueError(f"{name} = {values[name]!r:.80} of {key!r:.80}")
    return LockEntry(**values)


def record(folder: Path, path: str, entry: LockEntry) -> None:
    """Add one download to the lock file of a data folder, atomically.

    Parameters
    ----------
    folder : Path
        The data folder.
    path : str
        Relative path of the file.
    entry : LockEntry
    """
    entries = {**read_lock(folder), path: entry}
    plain = {key: {"sha256": e.sha256, "size": e.size, "url": e.url} for key, e in sorted(entries.items())}
    with replacing(folder / LOCK_NAME) as temporary:
        temporary.write_text(
            "# Recorded by `provsel fetch` at the first download; later downloads must be the same.\n"
            + yaml.safe_dump(plain, sort_keys=False),
            encoding="utf-8",
        )
