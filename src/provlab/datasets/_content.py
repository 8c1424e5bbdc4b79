"""What a packed file holds, as one SHA-256 that does not depend on who packed it."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from ._archives import readable, tar_members, zip_members
from ._xz import XzStream

MAX_EXPANDED = 1 << 30
"""Bytes that a file may expand to where the registry sets no other limit: of time, as nothing is kept in memory."""

_BLOCK = 1 << 20
_ARCHIVES = {"npz": zip_members, "tar.gz": tar_members, "tar.xz": tar_members}

PACKED = frozenset({"gz", "xz", *_ARCHIVES})
"""Formats of the registry that have a content beside their bytes."""


def content_sha256(path: Path, kind: str, *, limit: int | None = None) -> str:
    """Return the SHA-256 of what a packed file holds.

    zlib and liblzma pack the same content to other bytes in other versions, and GitHub packs a commit anew when it
    likes to: the hash of the packed file tells these apart, this one does not.

    Parameters
    ----------
    path : Path
    kind : str
        One of `PACKED`. "gz", "xz": the hash of the uncompressed stream. The archives: the hash over all regular
        members, sorted by name, of the name, a zero byte, and the 32 bytes of the member's SHA-256. A folder that all
        members lie in is not part of their names: GitHub names it after the commit.
    limit : int or None, default=None
        Bytes that it may expand to; None is `MAX_EXPANDED`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a damaged file, one that expands to more than the limit, or an archive with links, devices or members of
        the same name.
    """
    room = _Room(path, MAX_EXPANDED if limit is None else limit)
    with readable(path, f"{kind} file"):
        if kind == "gz":
            with gzip.open(path, "rb") as stream:
                return room.hashed(stream.read).hex()
        if kind == "xz":
            with path.open("rb") as file:
                return room.hashed(XzStream(path, file, max_expanded=room.limit, what="a packed file").take).hex()
        # Closed explicitly, so that the archive is closed when a member is refused in the middle.
        with contextlib.closing(_ARCHIVES[kind](path)) as members:
            return _over_members(path, [(name, room.hashed(content.read)) for name, content in members])


class _Room:
    """Hashes streams as long as they have no more bytes together than they may."""

    def __init__(self, path: Path, limit: int) -> None:
        self.limit = limit
        self._path, self._left = path, limit

    def hashed(self, read: Callable[[int], bytes]) -> bytes:
        """Return the SHA-256 of the rest of a stream."""
        digest = hashlib.sha256()
        while block := read(_BLOCK):
            self._left -= len(block)
            if self._left < 0:
                raise ValueError(
                    f"{self._path}: expands to more than {self.limit} bytes. Refused: if the file is right, raise "
                    "max_expanded in the source registry"
                )
            digest.update(block)
        return digest.digest()


def _over_members(path: Path, members: Iterable[tuple[str, bytes]]) -> str:
    """Return one hash over names and hashes of members."""
    hashes = dict(named := sorted(members))
    if len(hashes) != len(named):
        raise ValueError(f"{path}: a member occurs twice. Refused: fetch the archive again")
    tops = {name.partition("/")[:2] for name in hashes}
    shared = "".join(tops.pop()) if len(tops) == 1 else ""
    top = shared if shared.endswith("/") else ""
    digest = hashlib.sha256()
    for name, sha256 in named:  # one prefix less changes no order
        digest.update(name.removeprefix(top).encode("utf-8", "surrogateescape") + b"\0" + sha256)
    return digest.hexdigest()
