"""Where data files live: the mirror folder that is searched first, and the data folder that is written to."""

import os
from pathlib import Path, PurePosixPath

MIRROR_VARIABLE = "PROVSEL_DATA_MIRROR"
DATA_VARIABLE = "PROVSEL_DATA"


def mirror_dir() -> Path | None:
    """Return the folder `$PROVSEL_DATA_MIRROR`, or None when it is not set. It is never written to."""
    value = os.environ.get(MIRROR_VARIABLE, "")
    return Path(value).expanduser() if value else None


def data_dir() -> Path:
    """Return the folder `$PROVSEL_DATA`, by default `~/.cache/provsel`, for downloads and caches."""
    return Path(os.environ.get(DATA_VARIABLE) or "~/.cache/provsel").expanduser()


def search_roots(data: Path | None = None) -> list[Path]:
    """Return the folders that are searched, in order.

    Parameters
    ----------
    data : Path or None, default=None
        Takes the place of `data_dir()`.

    Returns
    -------
    list of Path
        The mirror, when one is set, then the data folder.
    """
    mirror = mirror_dir()
    return ([] if mirror is None else [mirror]) + [data_dir() if data is None else data]


def describe_roots(data: Path | None = None) -> str:
    """Return the searched folders in words, for error messages."""
    mirror = mirror_dir()
    if mirror is None:
        first = f"${MIRROR_VARIABLE} (not set)"
    else:
        first = f"${MIRROR_VARIABLE}={mirror}" + ("" if mirror.is_dir() else " (no such folder)")
    return f"{first}, then ${DATA_VARIABLE}={data_dir() if data is None else data}"


def is_safe_relative(path: str) -> bool:
    """Tell whether a POSIX path stays inside the folder that it is joined to, on every platform."""
    # Backslashes and colons are separators and drives on Windows: `C:x` and `..\\x` would leave the folder.
    # Control characters would reach terminals and lists of files, one name a line.
    if not path or path.startswith("/") or any(char in "\\:\x7f" or char < " " for char in path):
        return False
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts
