"""The source registry: one YAML a data set says which files it needs and how to verify them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from provlab.documents import read_plain_yaml
from provlab.fields import GIVEN, Fits, read_as
from provlab.messages import did_you_mean

from ._content import PACKED
from ._paths import is_safe_relative
from .converters import converter_names

DEFAULT_REGISTRY = Path(__file__).parent / "sources"

RAW = "raw/"
"""Where the files lie that only converters read."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_GIT_HOSTS = ("raw.githubusercontent.com", "codeload.github.com", "github.com")

Text = Annotated[str, Fits("a text", str.strip)]
Inside = Fits("a relative path without '..'", is_safe_relative)
SHA256 = Fits("64 lower-case hexadecimal digits, or null", re.compile(r"[0-9a-f]{64}").fullmatch)
Sha256 = Annotated[str | None, SHA256]
Positive = Annotated[int | None, Fits("a positive integer or null", lambda number: number > 0)]
Names = Fits("a list of texts, or left out")
Addresses = Fits(
    "a list of http(s) addresses, possibly empty",
    lambda urls: all(url.startswith(("http://", "https://")) for url in urls),
)


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

    path: Annotated[str, Inside]
    urls: Annotated[tuple[str, ...], Addresses]
    format: str
    sha256: Sha256
    size: Positive
    content_sha256: Sha256 = None
    max_size: Positive = None
    extract: Annotated[str | None, Fits("zip, tar or null", ("zip", "tar").__contains__)] = None
    extract_to: Annotated[str | None, Inside] = None
    max_expanded: Positive = None
    made_from: Annotated[tuple[str, ...], Names] = ()
    converter: str | None = None
    forms: Annotated[tuple[str, ...] | None, Names] = None
    source: str = field(default="", metadata=GIVEN)

    def wrong(self) -> Iterator[tuple[str, str, Any]]:
        """Yield what does not fit together."""
        if not (self.size or self.max_size):
            yield "max_size", "a limit, as size is null", None
        if self.content_sha256 is not None and self.format not in PACKED:
            yield "format", f"one of {', '.join(sorted(PACKED))}, as content_sha256 is set", self.format
        for url in self.urls:  # what a branch or a tag names may be another file tomorrow
            parts = urlsplit(url)
            if parts.hostname in _GIT_HOSTS and not any(map(_COMMIT.fullmatch, parts.path.split("/"))):
                yield "urls", "addresses at a commit of 40 digits, not at a branch or tag", url
        if self.extract and not self.extract_to:
            yield "extract_to", "a folder, as extract is set", None
        if self.extract and not self.max_expanded:
            yield "max_expanded", "a limit, as extract is set", None
        if not self.made_from and self.converter is not None:
            yield "made_from", "a list, as converter is set", None
        if self.made_from and self.converter not in converter_names():
            yield "converter", f"one of {', '.join(converter_names())}", self.converter
        if self.made_from and not self.digest:
            yield "sha256", "the hash that the converter must arrive at", None

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
    unread : tuple of str
        Variables of other kinds, which nothing reads.
    """

    version: int
    holds: Text
    about: Text
    citation: Text
    variables: tuple[str, str] = ("X", "Y")
    columns_are_samples: bool = False
    unread: tuple[str, ...] = ()


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

    name: Text
    title: Text
    citation: Text
    licence: Text
    homepage: Text
    files: Annotated[tuple[SourceFile, ...], Fits("a list", len)]
    mat: MatTable | None = None

    def wrong(self) -> Iterator[tuple[str, str, Any]]:
        """Yield what does not fit together: files must be distinct, made from others here, and raw ones of use."""
        made_from = {file.path: file.made_from for file in self.files}
        if len(made_from) != len(self.files):
            yield "files", "distinct paths", "a repeated path"
        used = {path for paths in made_from.values() for path in paths}
        if unknown := sorted(used - set(made_from)):
            yield "made_from", "paths of this entry", unknown
        if idle := sorted(path for path in made_from if path.startswith(RAW) and path not in used):
            yield "files", f"files below {RAW} that others are made from", idle
        try:
            TopologicalSorter(made_from).prepare()
        except CycleError as error:
            yield "made_from", "paths that lead to published files", " < ".join(error.args[1])

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
        raise ValueError(
            f"no source named {name!r}; registered sources are {', '.join(known) or '(none)'}"
            + did_you_mean(name, known)
        )
    path = (registry or DEFAULT_REGISTRY) / f"{name}.yaml"
    try:
        entry = read_plain_yaml(path)
    except ValueError as error:
        raise ValueError(f"source registry {path.name}: not valid YAML: {error}. Repair the file") from error
    source = read_as(Source, entry, where := f"source registry {path.name}", exactly=True)
    if source.name != name:
        raise ValueError(f"{where}: name must be {name!r} as in the file name, got {source.name!r}. Correct the entry")
    return replace(source, files=tuple(replace(file, source=name) for file in source.files))
