"""Extract an archive of unknown intent: inside its folder only, and within a limit of bytes."""

import contextlib
import tempfile
import unicodedata
from pathlib import Path
from typing import IO

from ._archives import readable, tar_members, zip_members
from ._paths import is_safe_relative

MARKER = ".provsel-archive"
_BLOCK = 1 << 20


def extract(archive: Path, folder: Path, *, kind: str, max_expanded: int, sha256: str) -> Path:
    """Extract an archive to a folder, completely or not at all.

    Parameters
    ----------
    archive : Path
    folder : Path
        Takes the place of an earlier extraction. When that was of this very archive, nothing is done.
    kind : {"zip", "tar"}
    max_expanded : int
        Bytes that all members may have together.
    sha256 : str
        Hash of the archive, kept in the folder to recognise it later.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ValueError
        When a member would leave the folder, is a link or device, or occurs twice (also where only the case or the
        form of Unicode differs); when the archive is damaged, expands beyond the limit, or has too many members; when
        the folder is there but not from an earlier extraction.
        Nothing is left behind.
    """
    marker = folder / MARKER
    if marker.is_file() and marker.read_bytes() == sha256.encode():
        return folder
    if folder.exists() and not marker.is_file():
        raise ValueError(
            f"{folder}: there already, but not from an earlier fetch. Move it away, so that {archive.name} "
            "can be extracted there"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part") as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        members = zip_members if kind == "zip" else tar_members
        room = max_expanded
        names: set[str] = set()
        # Closed explicitly, so that the archive is closed when a member is refused in the middle.
        with readable(archive, f"{kind} archive"), contextlib.closing(members(archive)) as stream:
            for name, content in stream:
                _check_name(archive, name, names)
                room -= _write(archive, fresh, name, content, room, max_expanded)
        (fresh / MARKER).write_bytes(sha256.encode())
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        fresh.rename(folder)
    return folder


def _check_name(archive: Path, name: str, names: set[str]) -> None:
    """Refuse a name that is not safe, or that some file system takes for one that was there; add it to `names`."""
    if not is_safe_relative(name) or MARKER in Path(name).parts:
        raise ValueError(f"{archive}: member {name!r:.80} would leave its folder. Refused: do not trust this archive")
    folded = unicodedata.normalize("NFC", str(Path(name))).casefold()
    if folded in names:
        raise _twice(archive, name)
    names.add(folded)


def _write(archive: Path, root: Path, name: str, content: IO[bytes], room: int, limit: int) -> int:
    """Write one member and return its size; the declared size is not believed."""
    target = root / name
    written = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as handle:
            while block := content.read(_BLOCK):
                written += len(block)
                if written > room:
                    raise ValueError(
                        f"{archive}: expands to more than the registered {limit} bytes. Refused: if the "
                        "archive is right, raise max_expanded in the source registry"
                    )
                handle.write(block)
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise _twice(archive, name) from error
    return written


def _twice(archive: Path, name: str) -> ValueError:
    return ValueError(f"{archive}: member {name!r:.80} occurs twice. Refused: fetch the archive again")
