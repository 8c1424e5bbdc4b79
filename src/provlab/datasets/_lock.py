"""The local lock file: hash and size of downloads whose hash was not known beforehand."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import yaml

from provlab.documents import read_plain_yaml
from provlab.fields import Fits, read_as
from provsel.files import replacing

from ._paths import is_safe_relative
from ._sources import SHA256

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

    sha256: Annotated[str, SHA256]
    size: Annotated[int, Fits("a whole number of at least 0", lambda size: size >= 0)]
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
        for key in content:
            if not isinstance(key, str) or not is_safe_relative(key):
                raise ValueError(f"the path {key!r:.80}")
        return {key: read_as(LockEntry, item, f"{key!r:.80}", step="") for key, item in content.items()}
    except ValueError as error:
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
    plain = {key: asdict(each) for key, each in sorted(entries.items())}
    with replacing(folder / LOCK_NAME) as temporary:
        temporary.write_text(
            "# Recorded by `provsel fetch` at the first download; later downloads must be the same.\n"
            + yaml.safe_dump(plain, sort_keys=False),
            encoding="utf-8",
        )
