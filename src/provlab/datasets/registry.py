"""The registry of sources: one YAML file a data set says which files it needs and how to verify them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from provlab.documents import read_plain_yaml
from provlab.messages import did_you_mean

from .converters import converter_names

SOURCES = Path(__file__).parent / "sources"

RAW = "raw/"
"""Where the files lie that only converters read."""

PACKED = ("gz", "npz", "tar.gz", "tar.xz", "xz")
"""Formats that have a content beside their bytes."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_GIT_HOSTS = ("raw.githubusercontent.com", "codeload.github.com", "github.com")


@dataclass(frozen=True)
class SourceFile:
    """One file of a source.

    Parameters
    ----------
    path : str
        Relative POSIX path in the mirror and in the data folder.
    format : str
        What it is, in a word: "xz", "npz", "mat", ...
    urls : sequence of str
        Addresses, tried in order; empty for a file that is made, or that only a mirror has.
    sha256 : str or None
        None where only `content_sha256` is known.
    content_sha256 : str or None
        Of what a packed file holds, where other bytes of the same content are as good: liblzma and zlib pack the same
        content to other bytes in other versions.
    size : int or None
        Bytes, None when not known.
    max_size : int or None
        Largest download in bytes, in place of `size`.
    made_from : sequence of str
        Paths of the files of this source that `converter` makes it from; empty for a file that is published as it is.
    converter : str or None
        Name of a module of `provlab.datasets.converters`.
    forms : sequence of str or None
        Where files of a source stand in for each other: the forms that need this one. None: every form does. Empty:
        none does, only an option of the loader.
    source : str
        Name of the source, for messages.
    """

    path: str
    format: str
    urls: Sequence[str] = ()
    sha256: str | None = None
    content_sha256: str | None = None
    size: int | None = None
    max_size: int | None = None
    made_from: Sequence[str] = ()
    converter: str | None = None
    forms: Sequence[str] | None = None
    source: str = ""

    @property
    def fetchable(self) -> bool:
        """Tell whether `provsel fetch` can try to get it."""
        return bool(self.urls or self.made_from)

    @property
    def digest(self) -> str | None:
        """SHA-256 that names the content on every machine: of what is packed where that is registered."""
        return self.content_sha256 or self.sha256


@dataclass(frozen=True)
class MatTable:
    """A data set that is one MATLAB file with a matrix of samples and a vector of labels: its loader, as data.

    Parameters
    ----------
    version : int
        Raised when the same file gives other data.
    holds : str
        What is in it, after "Load".
    about : str
        What labels and features mean.
    citation : str
        For `Dataset.source`, which records have.
    variables : (str, str), default=("X", "Y")
        Names of the matrix and of the labels.
    columns_are_samples : bool, default=False
        The matrix is stored with one sample a column, in place of one a row.
    unread : sequence of str
        Variables of other kinds, which nothing reads.
    """

    version: int
    holds: str
    about: str
    citation: str
    variables: Sequence[str] = ("X", "Y")
    columns_are_samples: bool = False
    unread: Sequence[str] = ()


@dataclass(frozen=True)
class Source:
    """A data set's entry in the registry: citation, licence and files.

    Parameters
    ----------
    name, title, citation, licence, homepage : str
    files : tuple of SourceFile
    mat : MatTable or None
        For a data set without a module of its own.
    """

    name: str
    title: str
    citation: str
    licence: str
    homepage: str
    files: tuple[SourceFile, ...]
    mat: MatTable | None = None

    def find(self, path: str) -> SourceFile | None:
        """Return the file with this relative path, or None."""
        return next((file for file in self.files if file.path == path), None)

    def published(self) -> list[SourceFile]:
        """Return the files that a loader can read: all but those that are only there to make others."""
        return [file for file in self.files if not file.path.startswith(RAW)]

    @property
    def forms(self) -> dict[str, tuple[SourceFile, ...]]:
        """The forms of the data set; the files of any one of them are enough."""
        return forms_of(self.published())


def forms_of(files: Sequence[SourceFile]) -> dict[str, tuple[SourceFile, ...]]:
    """Return the files of each form, in the order in which the forms are registered; "" where there is only one."""
    names = dict.fromkeys(name for file in files for name in file.forms or ()) or {"": None}
    return {name: tuple(file for file in files if file.forms is None or name in file.forms) for name in names}


def source_names(registry: Path | None = None) -> list[str]:
    """Return the names of the registered sources, sorted; `registry` is a folder in place of the package's."""
    return sorted(path.stem for path in (registry or SOURCES).glob("*.yaml"))


@lru_cache(maxsize=64)
def read_source(name: str, registry: Path | None = None) -> Source:
    """Read one entry of the registry.

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
        For an unknown name or a malformed entry; the message names the file and what is wrong.
    """
    known = source_names(registry)
    if name not in known:
        raise ValueError(
            f"no source named {name!r}; registered sources are {', '.join(known) or '(none)'}"
            + did_you_mean(name, known)
        )
    where = f"source registry {name}.yaml"
    try:
        entry: Any = read_plain_yaml((registry or SOURCES) / f"{name}.yaml")
        files = tuple(_immutable(SourceFile(source=name, **file)) for file in entry.pop("files"))
        mat = entry.pop("mat", None)
        source = Source(**entry, files=files, mat=mat and _immutable(MatTable(**mat)))
    except (ValueError, TypeError, LookupError, AttributeError) as error:  # no YAML, or other fields than there are
        raise ValueError(f"{where}: expected an entry such as those beside it, got {error}. Correct it") from error
    if source.name != name:
        raise ValueError(f"{where}: name must be {name!r} as in the file name, got {source.name!r}. Correct the entry")
    for file in source.files:
        if wrong := next(filter(None, _faults(source, file)), ""):
            raise ValueError(f"{where}, {file.path!r:.80}: {wrong}. Correct the entry")
    return source


def registered(source: str, paths: Sequence[str]) -> list[SourceFile]:
    """Return the files that the registry of `source` has under some paths; a loader names its own files."""
    found = [read_source(source).find(path) for path in paths]
    return [file for file in found if file is not None]


def is_safe_relative(path: str) -> bool:
    """Tell whether a POSIX path stays inside the folder that it is joined to, on every platform."""
    # Backslashes and colons are separators and drives on Windows: `C:x` and `..\\x` would leave the folder.
    # Control characters would reach terminals and lists of files, one name a line.
    if not path or path.startswith("/") or any(char in "\\:\x7f" or char < " " for char in path):
        return False
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts


def _immutable(found: Any) -> Any:
    """Return a record with tuples in the place of the lists of YAML, as sources are compared and hashed."""
    return replace(found, **{name: tuple(value) for name, value in vars(found).items() if isinstance(value, list)})


def _faults(source: Source, file: SourceFile) -> list[str]:
    """Return what is wrong with a file of a source, and "" for each rule that it keeps."""
    paths = [each.path for each in source.files]
    hashes = [each for each in (file.sha256, file.content_sha256) if each is not None]
    at_branch = [url for url in file.urls if _is_at_branch(url)]
    used = file.path in {path for each in source.files for path in each.made_from}
    return [
        "" if is_safe_relative(file.path) else "path must be a relative path without '..'",
        "" if paths.count(file.path) == 1 else "paths must be distinct",
        "" if hashes and all(map(_SHA256.fullmatch, hashes)) else "expected a SHA-256 of 64 lower-case digits",
        "" if file.size or file.max_size else "max_size must be a limit, as size is null",
        "" if all(url.startswith(("http://", "https://")) for url in file.urls) else "urls must be http(s) addresses",
        f"urls must be addresses at a commit of 40 digits, not at a branch or tag, got {at_branch}"
        if at_branch
        else "",
        f"format must be one of {', '.join(PACKED)}, as content_sha256 is set, got {file.format!r:.80}"
        if file.content_sha256 and file.format not in PACKED
        else "",
        f"made_from must be paths of this entry, got {file.made_from}" if not {*file.made_from} <= {*paths} else "",
        f"converter must be one of {', '.join(converter_names())}, got {file.converter!r:.80}"
        if file.made_from and file.converter not in converter_names()
        else "",
        f"files below {RAW} must be such that others are made from" if file.path.startswith(RAW) and not used else "",
    ]


def _is_at_branch(url: str) -> bool:
    """Tell whether an address names a branch or a tag, which may be another file tomorrow."""
    parts = urlsplit(url)
    return parts.hostname in _GIT_HOSTS and not any(map(_COMMIT.fullmatch, parts.path.split("/")))
