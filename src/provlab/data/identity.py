"""Identities of data sets, which are known without loading and are the same on every processor.

A loader is a module of `loaders/`, or is made for a source with a section `mat`. It has
`load`, `VERSION`, and optionally the other members:

- `load(*, ...)` returns the `Dataset`; it is called with checked parameters. For a data
  set with a source it is `load(paths, digest, *, ...)`, with the verified files and one
  SHA-256 for all of them, which is stated in `Dataset.source`.
- `VERSION` is increased when the same files and parameters give other data; trials
  stored under the old version no longer count.
- `version(**parameters)` returns the version, increased only for files that gave other
  data before.
- `entry(**parameters)` returns the entry of a data set in a file beside the loader, if
  it determines what is read.
- `CHOICES` maps parameters to their allowed values. `AT_LEAST` maps integer parameters
  to their minimum, and `AT_MOST` maps them to a parameter that they must not exceed.
- `checked(**parameters)` rejects invalid parameters, and returns them in one spelling
  for all that give equal data.
- `settled(**parameters)` returns the parameters with "auto" replaced by the form of the
  files on this machine.
- `files(**parameters)` returns the registered paths of the files that `load` reads, or
  the paths of unregistered files; by default all files of its source.
- `members()` returns the members of a collection that `set: all` means; by default the
  choices of its parameter `set`.
- `LATER` names parameters that were added later, so keys leave them out at their
  defaults.
- `LICENCE` is the licence of data that are not generated and have no registered source.
- `OBTAIN` states in the imperative how a user obtains data that cannot be fetched.

The loaders in `OF_USERS` read the user's own files. Their parameter `path` is the
location of the files, the `Dataset.source`, and the argument of `members`.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from provlab.project.documents import digest
from provlab.project.messages import did_you_mean
from provsel.checks import check_at_most, check_choice, check_integers

from . import loaders
from .dataset import NOTHING, separated
from .files import ArchivedFile, file_sha256, find_file
from .registry import SourceFile, mat_loader, read_source, source_names

FileOfData = SourceFile | Path | ArchivedFile
"""A file that a loader reads: a registered file or the user's own."""

OF_USERS = ("file", "techtc300")


def dataset_names() -> list[str]:
    """Return the sorted names of the data sets that `load_dataset` knows, except those in users' files."""
    return [name for name in _names() if name not in OF_USERS]


def loader(name: str) -> Any:
    """Return the loader of a data set.

    Raises
    ------
    ValueError
        If the name is unknown. It is looked up first, so that a config cannot import
        anything else.
    """
    if name not in _names():
        raise ValueError(
            f"unknown data set {name!r:.80}; known data sets are {', '.join(_names())}"
        )
    return _loader(name)


def is_place(name: str, parameter: str) -> bool:
    """Return whether a loader parameter is only a location, which keys and identities leave out."""
    return name in OF_USERS and parameter == "path"


def dataset_members(name: str, path: str = "") -> list[str]:
    """Return the sorted members of a collection that `set: all` means; [] for a single data set.

    They do not depend on what is downloaded. For a user's own archive at `path`, they
    are its sets.
    """
    module = loader(name)
    if not hasattr(module, "members"):
        return [*getattr(module, "CHOICES", {}).get("set", ())]
    members: list[str] = (
        module.members(path) if is_place(name, "path") else module.members()
    )
    return members


def dataset_identity(name: str, /, **params: Any) -> str:
    """Return the identity of a data set, the SHA-256 of its loader, loader version, parameters and files.

    Nothing is loaded, and the identity involves no floating-point computation.
    Parameters are those of `load_dataset`, with the loader's defaults. The registry
    knows the SHA-256 of registered files, so these may be missing; other files are
    hashed.

    Raises
    ------
    ValueError
        If a name or parameter is unknown, or a value is invalid. MissingDataError If a
        required file is neither in the registry nor in a searched folder.
    """
    preparation, loader_params = separated(name, params)
    return identity_from(name, checked_parameters(name, loader_params), preparation)


def identity_from(
    name: str, parameters: Mapping[str, Any], preparation: Mapping[str, Any] = NOTHING
) -> str:
    """Return the identity of a loader's data, from all checked parameters and the operations on the data."""
    module = loader(name)
    version = (
        module.version(**parameters) if hasattr(module, "version") else module.VERSION
    )
    stated = {}
    for key, value in parameters.items():
        if not is_place(name, key):
            stated[key] = value.item() if isinstance(value, np.generic) else value
    stated["unit_rows"] = preparation["unit_rows"]
    # later parameters are included if they are not at their defaults
    stated |= {
        key: value for key, value in preparation.items() if value != NOTHING[key]
    }
    files = digests_of(files_of(name, parameters))
    parts = {"loader": name, "version": version, "parameters": stated, "files": files}
    if hasattr(module, "entry"):
        parts["entry"] = module.entry(**parameters)
    return digest(parts)


def missing_files(name: str, /, **params: Any) -> list[str]:
    """Return the paths of the registered files of a data set that are in none of the searched folders."""
    _, loader_params = separated(name, params)
    files = files_of(name, checked_parameters(name, loader_params))
    return [
        file.path
        for file in files
        if isinstance(file, SourceFile) and find_file(file.path) is None
    ]


def keyed_parameters(name: str, /, **params: Any) -> dict[str, Any]:
    """Return parameters of a data set as used in the keys of trials: equal for all spellings of equal data.

    Defaults are written out, except those of parameters added after the first keys.

    Raises
    ------
    ValueError
        If a name or parameter is unknown, or a value is invalid.
    """
    preparation, loader_params = separated(name, params)
    spelled = {**_spelled(name, loader_params), **preparation}
    keyed = {}
    for key, value in spelled.items():
        is_later = key in NOTHING or key in getattr(loader(name), "LATER", ())
        if not is_later or value != _defaults(name).get(key, NOTHING.get(key)):
            keyed[key] = value
    return keyed


def checked_parameters(name: str, loader_params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a loader's own parameters, checked and completed, with "auto" resolved on this machine."""
    parameters = _spelled(name, loader_params)
    module = loader(name)
    return module.settled(**parameters) if hasattr(module, "settled") else parameters


def _spelled(name: str, loader_params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a loader's own parameters, checked, completed and in one spelling, such as 1.0 for 1."""
    module = loader(name)
    defaults = _defaults(name)
    unknown = sorted(loader_params.keys() - defaults.keys())
    if unknown:
        accepted = ", ".join(defaults) or "none"
        raise ValueError(
            f"data set {name!r} has no parameter {', '.join(unknown):.200}; it accepts {accepted}, and as any data set "
            f"{', '.join(NOTHING)}{did_you_mean(unknown[0], [*defaults, *NOTHING])}"
        )
    parameters = {**defaults, **loader_params}
    for parameter, choices in getattr(module, "CHOICES", {}).items():
        check_choice(name, parameter, parameters[parameter], choices)
    check_integers(name, parameters, **getattr(module, "AT_LEAST", {}))
    for parameter, limit in getattr(module, "AT_MOST", {}).items():
        check_at_most(name, parameters, parameter, limit)
    if hasattr(module, "checked"):
        parameters = module.checked(**parameters)
    for key, default in defaults.items():
        if isinstance(default, float):
            parameters[key] = float(parameters[key])
    return parameters


def files_of(name: str, parameters: Mapping[str, Any]) -> list[FileOfData]:
    """Return the result of the loader's `files`, or all published files of its source."""
    module = loader(name)
    if not hasattr(module, "files"):
        return [*read_source(name).published()] if name in source_names() else []
    files: list[FileOfData] = []
    for file in module.files(**parameters):
        files.append(read_source(name).find(file) if isinstance(file, str) else file)
    return files


def digests_of(files: Sequence[FileOfData]) -> list[str]:
    """Return the SHA-256 of each file: from the registry if it knows the file, otherwise from the file itself."""
    digests = []
    for file in files:
        digests.append(file_sha256(file) if isinstance(file, Path) else file.digest)
    return digests


@cache
def _loader(name: str) -> Any:
    if name in source_names():
        source = read_source(name)
        if source.mat is not None:
            return mat_loader(name, **source.mat)
    # called thousands of times while planning
    return importlib.import_module(f"{loaders.__name__}.{name}")


@cache
def _names() -> tuple[str, ...]:
    modules = {module.name for module in pkgutil.iter_modules(loaders.__path__)}
    return tuple(sorted({*modules, *source_names()}))


def dataset_parameters(name: str) -> list[str]:
    """Return the parameters of a data set, including those that all have.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    return [*_defaults(name), *NOTHING]


@cache
def _defaults(name: str) -> dict[str, Any]:
    """Return the parameters of a loader that a config can set, with their defaults."""
    defaults = {}
    for parameter in inspect.signature(loader(name).load).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            defaults[parameter.name] = parameter.default
    return defaults
