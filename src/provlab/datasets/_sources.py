"""The source registry: one YAML a data set says which files it needs and how to verify them."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ._source_checks import check_file, check_made, check_source
from ._yaml import read_plain_yaml

DEFAULT_REGISTRY = Path(__file__).parent / "sources"

RAW = "raw/"
"""Where the files lie that only converters read."""


@dataclass(frozen=True)
class SourceFile:
    """One file of a source.

    Parameters
    ----------
    path : str
        Relative POSIX path in the mirror and in the data folder.
    urls : tuple of str
        Addresses, tried in order; empty for a file that only a mirror has.
    format : str
        What it is, in a word: "xz", "zip", "mat", ...
    sha256 : str or None
        None when it is not known beforehand: the first download records it in the lock file.
    content_sha256 : str or None
        Of what a packed file holds, where other bytes of the same content are as good: liblzma and zlib pack the same
        content to other bytes in other versions.
    size : int or None
        Bytes, None when not known; then `max_size` limits the download.
    max_size : int or None
    extract : {"zip", "tar"} or None
        Kind of archive.
    extract_to : str or None
        Relative folder that the archive is extracted to.
    max_expanded : int or None
        Bytes that the archive may expand to.
    made_from : tuple of str
        Paths of the files of this source that `converter` makes it from; empty for a file that is published as it is.
    converter : str or None
        Name of a module of `provlab.datasets.converters`.
    forms : tuple of str or None
        Where files of a source stand in for each other: the forms that need this one. None: every form does. Empty:
        none does, only an option of the loader.
    source : str
        Name of the source, for messages.
    """

    path: str
    urls: tuple[str, ...]
    format: str
    sha256: str | None
    content_sha256: str | None
    size: int | None
    max_size: int | None
    extract: str | None
    extract_to: str | None
    max_expanded: int | None
    made_from: tuple[str, ...]
    converter: str | None
    forms: tuple[str, ...] | None
    source: str

    @property
    def fetchable(self) -> bool:
        """Tell whether `provsel fetch` can try to get it."""
        return bool(self.urls or self.made_from)

    @property
    def digest(self) -> str | None:
        """SHA-256 that names the content on every machine: of what is packed where that is registered."""
        return self.content_sha256 or self.sha256


@dataclass(frozen=True)
class Source:
    """A data set's entry in the registry: citation, licence and files.

    Parameters
    ----------
    name, title, citation, licence, homepage : str
    files : tuple of SourceFile
    """

    name: str
    title: str
    citation: str
    licence: str
    homepage: str
    files: tuple[SourceFile, ...]

    def find(self, path: str) -> SourceFile | None:
        """Return the file with this relative path, or None."""
        return next((file for file in self.files if file.path == path), None)

    def published(self) -> list[SourceFile]:
        """Return the files that a loader can read: all but those that are only there to make others."""
        return [file for file in self.files if not file.path.startswith(RAW)]

    @property
    def forms(self) -> dict[str, tuple[SourceFile, ...]]:
        """The forms of the data set in the order in which they are registered, "" where there is one: their files.

        The files of any one of them are enough.
        """
        read = self.published()
        names = dict.fromkeys(name for file in read for name in file.forms or ()) or {"": None}
        return {name: tuple(file for file in read if file.forms is None or name in file.forms) for name in names}


def source_names(registry: Path | None = None) -> list[str]:
    """Return the names of the registered sources, sorted.

    Parameters
    ----------
    registry : Path or None, default=None
        Folder of YAML files; None is the registry of the package.

    Returns
    -------
    list of str
    """
    return sorted(path.stem for path in (registry or DEFAULT_REGISTRY).glob("*.yaml"))


@lru_cache(maxsize=64)
def read_source(name: str, registry: Path | None = None) -> Source:
    """Read and validate one entry of the registry.

    Parameters
    ----------
    name : str
        One of `source_names(registry)`.
    registry : Path or None, default=None
        Folder of YAML files; None is the registry of the package.

    Returns
    -------
    Source

    Raises
    ------
    ValueError
        For an unknown name or a malformed entry; the message names the file, the entry and the field.
    """
    known = source_names(registry)
    if name not in known:
        raise ValueError(f"no source named {name!r}; registered sources are {', '.join(known) or '(none)'}")
    path = (registry or DEFAULT_REGISTRY) / f"{name}.yaml"
    try:
        entry = read_plain_yaml(path)
    except ValueError as error:
        raise ValueError(f"source registry {path.name}: not valid YAML: {error}. Repair the file") from error
    where = f"source registry {path.name}"
    check_source(where, name, entry)
    files = tuple(_read_file(f"{where}, files[{i}]", item, name) for i, item in enumerate(entry["files"]))
    check_made(where, [(file.path, file.made_from) for file in files], RAW)
    return Source(name, entry["title"], entry["citation"], entry["licence"], entry["homepage"], files)


def _read_file(where: str, entry: Any, source: str) -> SourceFile:
    """Validate one file of an entry."""
    value = check_file(where, entry)
    lists = {
        "urls": tuple(value["urls"]),
        "made_from": tuple(value["made_from"] or ()),
        "forms": None if value["forms"] is None else tuple(value["forms"]),
    }
    return SourceFile(**{**value, **lists}, source=source)
