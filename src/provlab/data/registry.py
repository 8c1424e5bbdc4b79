"""The registry of sources: one YAML file per data set states the files it needs and how to verify them.

A data set in one MATLAB file, with a matrix of samples and a vector of labels, needs no
loader module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from provlab.project.documents import read_plain_yaml
from provlab.project.messages import did_you_mean

from .dataset import Dataset, make_dataset

SOURCES = Path(__file__).parent / "sources"

RAW = "raw/"
"""Folder of files that only converters read."""


@dataclass(frozen=True)
class SourceFile:
    """One file of a source, as described in its YAML file."""

    path: str  # relative POSIX path in the mirror and in the data folder
    format: str  # one word: "xz", "npz", "mat", ...
    sha256: str
    # tried in order; empty for a file that is made from others
    urls: Sequence[str] = ()
    # hash of the content, for compressed files whose bytes depend on the version of
    # liblzma or zlib
    content_sha256: str | None = None
    size: int | None = None  # in bytes
    max_size: int | None = None  # largest download, instead of `size`
    # paths of the files of this source that `converter` reads
    made_from: Sequence[str] = ()
    converter: str | None = None  # see `provlab.data.download.converter`
    # forms of the data that need this file; None: all forms, empty: only an option of a
    # loader
    forms: Sequence[str] | None = None
    source: str = ""  # name of the source, for messages

    @property
    def digest(self) -> str:
        """SHA-256 that identifies the file on every machine, of the uncompressed content if that is registered."""
        return self.content_sha256 or self.sha256


@dataclass(frozen=True)
class Source:
    """Registry entry of a data set: citation, licence and files; `mat` holds arguments of `mat_loader`."""

    name: str
    title: str
    citation: str
    licence: str
    homepage: str
    files: list[SourceFile]
    mat: dict[str, Any] | None = None

    def find(self, path: str) -> SourceFile:
        """Return the file with this relative path."""
        return next(file for file in self.files if file.path == path)

    def published(self) -> list[SourceFile]:
        """Return the files that a loader can read: all files except those used only to make others."""
        return [file for file in self.files if not file.path.startswith(RAW)]

    @property
    def forms(self) -> dict[str, list[SourceFile]]:
        """Files by form, in the order of registration; the files of one form suffice."""
        files = self.published()
        names = [name for file in files for name in file.forms or ()] or [""]
        by_form: dict[str, list[SourceFile]] = {}
        for name in names:
            by_form[name] = [
                file for file in files if file.forms is None or name in file.forms
            ]
        return by_form


def source_names() -> list[str]:
    """Return the names of the registered sources, sorted."""
    return sorted(path.stem for path in SOURCES.glob("*.yaml"))


@lru_cache(maxsize=64)
def read_source(name: str) -> Source:
    """Read one entry of the registry.

    Raises
    ------
    ValueError
        If the name is unknown. Tests check the requirements on all entries.
    """
    names = source_names()
    if name not in names:
        raise ValueError(
            f"no source is called {name!r}; registered sources are {', '.join(names)}{did_you_mean(name, names)}"
        )
    entry = read_plain_yaml(SOURCES / f"{name}.yaml")
    files = [SourceFile(source=name, **file) for file in entry.pop("files")]
    return Source(**entry, files=files)


def mat_loader(
    name: str,
    *,
    version: int,
    holds: str,
    about: str,
    citation: str,
    variables: Sequence[str] = ("X", "Y"),
    columns_are_samples: bool = False,
) -> SimpleNamespace:
    """Return the loader of a data set described by the section `mat` of its source, like a loader module.

    Of two labels, the smaller becomes -1 and the larger +1; more labels are kept. The
    features are named "1", "2", ... . `holds` and `about` describe the content of the
    file, after "Load", and the meaning of labels and features. `citation` is used in
    `Dataset.source`. `variables` names the matrix, with one sample per row unless
    `columns_are_samples`, and the labels. `version` is increased when the same file
    gives other data.
    """

    def load(paths: list[Path], digest: str) -> Dataset:
        from scipy.io import loadmat

        content = loadmat(paths[0], variable_names=variables)
        X, y = (content[variable] for variable in variables)
        if columns_are_samples:
            X = X.T
        y = y.ravel()
        classes = np.unique(y)
        if classes.size == 2:
            y = np.where(y == classes[1], 1, -1)
        [file] = read_source(name).published()
        return make_dataset(
            X, y, name=name, source=f"{citation}; {file.path}, SHA-256 {digest}"
        )

    load.__doc__ = f"Load {holds}.\n\n{about}\n"
    return SimpleNamespace(VERSION=version, load=load)
