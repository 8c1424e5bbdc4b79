"""The local lock file: hash and size of downloads whose hash was not known beforehand."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from provsel._files import replacing

LOCK_NAME = "sources.lock.yaml"


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
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return {
            str(key): LockEntry(str(item["sha256"]), int(item["size"]), str(item["url"]))
            for key, item in content.items()
        }
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"lock file {path}: expected path: {{sha256, size, url}} entries, got something else ({error}). "
            "Repair it, or delete it and fetch again"
        ) from error


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
