"""Converters that only pack: a file as it is published, or the images of a repository.

The packed bytes depend on the version of the library that packs, the content does not.
"""

import gzip
import io
import lzma
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from provsel.files import replacing

_TIME = 1577836800  # 2020-01-01: the same bytes whenever it is made


def pack_gz(sources: Sequence[Path], target: Path) -> None:
    """Pack one file with gzip."""
    [source] = sources
    with replacing(target) as temporary:
        temporary.write_bytes(gzip.compress(source.read_bytes(), 6, mtime=0))


def pack_xz(sources: Sequence[Path], target: Path) -> None:
    """Pack one file with xz."""
    [source] = sources
    with replacing(target) as temporary:
        temporary.write_bytes(lzma.compress(source.read_bytes(), preset=6))


def cifar10_jpeg(sources: Sequence[Path], target: Path) -> None:
    """Write the members of a repository's archive by name, without the folder that they lie in, with one date.

    GitHub packs a commit when it is asked to, to bytes that are not promised.
    """
    [source] = sources
    contents = {}
    with tarfile.open(source) as archive:
        for member in archive:
            if member.isreg():
                name = member.name.partition("/")[2]
                contents[name] = archive.extractfile(member).read()  # type: ignore[union-attr]
                contents |= {f"{folder}/": b"" for folder in PurePosixPath(name).parents[:-1]}
    with (
        replacing(target) as temporary,
        # preset 0 packs as well as the largest, as JPEG files are packed already, in an eighth of the time and 3 MB
        lzma.open(temporary, "wb", preset=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as made,
    ):
        for name in sorted(contents, key=_place):
            made.addfile(_header(name, len(contents[name])), io.BytesIO(contents[name]))


def _place(name: str) -> tuple[bool, bool, str]:
    """Return what members are sorted by: training images, test images, and the note of the repository."""
    return "/" not in name, not name.startswith("train/"), name


def _header(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name.removesuffix("/"))
    info.type, info.mode = (tarfile.DIRTYPE, 0o775) if name.endswith("/") else (tarfile.REGTYPE, 0o664)
    info.size, info.mtime = size, _TIME
    return info
