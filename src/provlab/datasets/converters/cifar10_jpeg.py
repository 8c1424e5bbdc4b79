"""The archive of CIFAR-10's JPEG files from the archive of a repository, whose own bytes are not always the same."""

from __future__ import annotations

import contextlib
import io
import lzma
import tarfile
from collections.abc import Sequence
from pathlib import Path

from provlab.datasets._archives import readable, tar_members
from provlab.datasets._cifar import CLASSES, MAX_JPEG, N_TEST, N_TRAIN, unexpected
from provsel.files import replacing

from ._sources import one_source

_NOTE = "README.md"
_TIME = 1577836800  # 2020-01-01: the same bytes whenever it is made
_PRESET = 0  # packs as well as the largest, as JPEG files are packed already, in an eighth of the time and 3 MB


def convert(sources: Sequence[Path], target: Path) -> None:
    """Write the members of the repository without the folder that they lie in, by part, class and number.

    What is packed is always the same, byte for byte; the packed bytes depend on the version of liblzma.

    Parameters
    ----------
    sources : sequence of Path
        A tar archive of files <folder>/{train,test}/<class>/<number>.jpg and <folder>/README.md, compressed or not.
    target : Path

    Raises
    ------
    ValueError
        For a damaged archive, and for unknown, missing, repeated or large members.
    """
    path = one_source("cifar10_jpeg", sources)
    contents = _contents(path)
    with (
        replacing(target) as temporary,
        lzma.open(temporary, "wb", preset=_PRESET) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as archive,
    ):
        for name in _names():
            content = contents.get(name, b"")  # folders have none
            archive.addfile(_header(name, len(content)), io.BytesIO(content))


def _contents(path: Path) -> dict[str, bytes]:
    """Return the files of the repository by name: 60 MB."""
    wanted = {name for name in _names() if not name.endswith("/")}
    contents: dict[str, bytes] = {}
    top = None
    with readable(path, "archive"), contextlib.closing(tar_members(path)) as members:
        for member, content in members:
            folder, _, name = member.partition("/")
            top = top or folder
            if folder != top or name not in wanted or name in contents:
                raise unexpected(path, member)
            contents[name] = content.read(MAX_JPEG + 1)
            if len(contents[name]) > MAX_JPEG:
                raise ValueError(
                    f"{path}: {member!r:.80} has more than {MAX_JPEG} bytes; expected a small image. Do not trust it"
                )
    missing = wanted - contents.keys()
    if missing:
        raise ValueError(
            f"{path}: lacks {len(missing)} of {len(wanted)} files, among them {min(missing)}. Replace it by an intact "
            "copy"
        )
    return contents


def _names() -> list[str]:
    """Return the names of all members in order; those of folders end with a slash."""
    names = []
    for part, total in (("train", N_TRAIN), ("test", N_TEST)):
        names.append(f"{part}/")
        for kind in CLASSES:
            names.append(f"{part}/{kind}/")
            names += [f"{part}/{kind}/{number:04}.jpg" for number in range(total // len(CLASSES))]
    return [*names, _NOTE]


def _header(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name.removesuffix("/"))
    info.type, info.mode = (tarfile.DIRTYPE, 0o775) if name.endswith("/") else (tarfile.REGTYPE, 0o664)
    info.size, info.mtime = size, _TIME
    return info
