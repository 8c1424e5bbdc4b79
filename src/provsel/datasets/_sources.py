"""The source registry: one YAML a data set says which files it needs and how to verify them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ._paths import is_safe_relative
from ._yaml import read_plain_yaml

DEFAULT_REGISTRY = Path(__file__).parent / "sources"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SOURCE_KEYS = {"name", "title", "citation", "licence", "homepage", "files"}
_FILE_KEYS = {"path", "sha256", "size", "max_size", "urls", "format", "extract", "extract_to", "max_expanded"}


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
    size : int or None
        Bytes, None when not known; then `max_size` limits the download.
    max_size : int or None
    extract : {"zip", "tar"} or None
        Kind of archive.
    extract_to : str or None
        Relative folder that the archive is extracted to.
    max_expanded : int or None
        Bytes that the archive may expand to.
    source : str
        Name of the source, for messages.
    """

    path: str
    urls: tuple[str, ...]
    format: str
    sha256: str | None
    size: int | None
    max_size: int | None
    extract: str | None
    extract_to: str | None
    max_expanded: int | None
    source: str


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
    _check_keys(where, entry, required=_SOURCE_KEYS, allowed=_SOURCE_KEYS)
    _require(entry["name"] == name, where, "name", f"{name!r} as in the file name", entry["name"])
    for key in sorted(_SOURCE_KEYS - {"files"}):
        _require(isinstance(entry[key], str) and bool(entry[key].strip()), where, key, "a text", entry[key])
    _require(isinstance(entry["files"], list) and bool(entry["files"]), where, "files", "a list", entry["files"])
    files = tuple(_read_file(f"{where}, files[{i}]", item, name) for i, item in enumerate(entry["files"]))
    paths = [file.path for file in files]
    _require(len(set(paths)) == len(paths), where, "files", "distinct paths", "a repeated path")
    return Source(name, entry["title"], entry["citation"], entry["licence"], entry["homepage"], files)


def _read_file(where: str, entry: Any, source: str) -> SourceFile:
    """Validate one file of an entry."""
    _check_keys(where, entry, required={"path", "sha256", "size", "urls", "format"}, allowed=_FILE_KEYS)
    value = {key: entry.get(key) for key in _FILE_KEYS}
    where = f"{where} ({value['path']!r:.80})"
    for key in ("path", "extract_to"):
        if key == "path" or value[key] is not None:
            safe = isinstance(value[key], str) and is_safe_relative(value[key])
            _require(safe, where, key, "a relative path without '..'", value[key])
    _require(isinstance(value["format"], str), where, "format", "a text", value["format"])
    sha = value["sha256"]
    hexadecimal = isinstance(sha, str) and _SHA256.fullmatch(sha) is not None
    _require(sha is None or hexadecimal, where, "sha256", "64 lower-case hexadecimal digits, or null", sha)
    for key in ("size", "max_size", "max_expanded"):
        number = value[key]
        whole = isinstance(number, int) and not isinstance(number, bool) and number > 0
        _require(number is None or whole, where, key, "a positive integer or null", number)
    _require(value["size"] or value["max_size"], where, "max_size", "a limit, as size is null", None)
    urls = value["urls"]
    web = isinstance(urls, list) and all(
        isinstance(url, str) and url.startswith(("http://", "https://")) for url in urls
    )
    _require(web, where, "urls", "a list of http(s) addresses, possibly empty", urls)
    _require(value["extract"] in (None, "zip", "tar"), where, "extract", "zip, tar or null", value["extract"])
    if value["extract"]:
        _require(value["extract_to"], where, "extract_to", "a folder, as extract is set", None)
        _require(value["max_expanded"], where, "max_expanded", "a limit, as extract is set", None)
    return SourceFile(**{**value, "urls": tuple(urls)}, source=source)


def _check_keys(where: str, entry: Any, *, required: set[str], allowed: set[str]) -> None:
    """Raise unless `entry` is a mapping that has all required keys and no unknown ones."""
    if not isinstance(entry, Mapping):
        raise ValueError(f"{where}: expected a mapping, got {type(entry).__name__}. See the other entries")
    missing, unknown = sorted(required - set(entry)), sorted(map(str, set(entry) - allowed))
    if missing or unknown:
        listed = f"missing keys {missing}, unknown keys {unknown}"
        raise ValueError(f"{where}: {listed:.400}. Allowed: {sorted(allowed)}")


def _require(condition: object, where: str, field: str, expected: str, got: object) -> None:
    """Raise a `ValueError` that names the field unless `condition` holds."""
    if not condition:
        raise ValueError(f"{where}: {field} must be {expected}, got {got!r:.80}. Correct the entry")
