"""What an entry of the source registry must be; each message names the file, the entry and the field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import urlsplit

from ._content import PACKED
from ._paths import is_safe_relative
from .converters import converter_names

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_GIT_HOSTS = ("raw.githubusercontent.com", "codeload.github.com", "github.com")
_SOURCE_KEYS = {"name", "title", "citation", "licence", "homepage", "files"}
_FILE_KEYS = {
    *("path", "sha256", "content_sha256", "size", "max_size", "urls", "format"),
    *("extract", "extract_to", "max_expanded", "made_from", "converter", "forms"),
}


def check_source(where: str, name: str, entry: Any) -> None:
    """Raise unless an entry has all texts and a list of files, which are not looked at."""
    _check_keys(where, entry, required=_SOURCE_KEYS, allowed=_SOURCE_KEYS)
    _require(entry["name"] == name, where, "name", f"{name!r} as in the file name", entry["name"])
    for key in sorted(_SOURCE_KEYS - {"files"}):
        _require(isinstance(entry[key], str) and bool(entry[key].strip()), where, key, "a text", entry[key])
    _require(isinstance(entry["files"], list) and bool(entry["files"]), where, "files", "a list", entry["files"])


def check_file(where: str, entry: Any) -> dict[str, Any]:
    """Raise unless one file of an entry is as it must be; return all its fields, None for those left out."""
    _check_keys(where, entry, required={"path", "sha256", "size", "urls", "format"}, allowed=_FILE_KEYS)
    value = {key: entry.get(key) for key in _FILE_KEYS}
    where = f"{where} ({value['path']!r:.80})"
    for key in ("path", "extract_to"):
        if key == "path" or value[key] is not None:
            safe = isinstance(value[key], str) and is_safe_relative(value[key])
            _require(safe, where, key, "a relative path without '..'", value[key])
    _require(isinstance(value["format"], str), where, "format", "a text", value["format"])
    _check_numbers(where, value)
    _check_addresses(where, value["urls"])
    for key in ("made_from", "forms"):
        texts = isinstance(value[key], list) and all(isinstance(text, str) for text in value[key])
        _require(value[key] is None or texts, where, key, "a list of texts, or left out", value[key])
    _require(value["extract"] in (None, "zip", "tar"), where, "extract", "zip, tar or null", value["extract"])
    if value["extract"]:
        _require(value["extract_to"], where, "extract_to", "a folder, as extract is set", None)
        _require(value["max_expanded"], where, "max_expanded", "a limit, as extract is set", None)
    if value["made_from"]:
        known = value["converter"] in converter_names()
        _require(known, where, "converter", f"one of {', '.join(converter_names())}", value["converter"])
        hashed = value["sha256"] or value["content_sha256"]
        _require(hashed, where, "sha256", "the hash that the converter must arrive at", None)
    else:
        _require(value["converter"] is None, where, "made_from", "a list, as converter is set", None)
    return value


def check_made(where: str, files: Sequence[tuple[str, tuple[str, ...]]], raw: str) -> None:
    """Raise unless files are distinct and made from others of the entry, and every raw file is of use.

    Parameters
    ----------
    where : str
    files : sequence of (str, tuple of str)
        Path of each file, and the paths that it is made from.
    raw : str
        How the paths begin of files that are only there to make others.
    """
    made_from = dict(files)
    _require(len(made_from) == len(files), where, "files", "distinct paths", "a repeated path")
    used = {path for paths in made_from.values() for path in paths}
    unknown = sorted(used - set(made_from))
    _require(not unknown, where, "made_from", "paths of this entry", unknown)
    idle = sorted(path for path in made_from if path.startswith(raw) and path not in used)
    _require(not idle, where, "files", f"files below {raw} that others are made from", idle)
    try:
        TopologicalSorter(made_from).prepare()
    except CycleError as error:
        _require(False, where, "made_from", "paths that lead to published files", " < ".join(error.args[1]))


def _check_numbers(where: str, value: Mapping[str, Any]) -> None:
    """Check hashes and sizes."""
    for key in ("sha256", "content_sha256"):
        sha = value[key]
        hexadecimal = isinstance(sha, str) and _SHA256.fullmatch(sha) is not None
        _require(sha is None or hexadecimal, where, key, "64 lower-case hexadecimal digits, or null", sha)
    for key in ("size", "max_size", "max_expanded"):
        number = value[key]
        whole = isinstance(number, int) and not isinstance(number, bool) and number > 0
        _require(number is None or whole, where, key, "a positive integer or null", number)
    _require(value["size"] or value["max_size"], where, "max_size", "a limit, as size is null", None)
    if value["content_sha256"] is not None:
        expected = f"one of {', '.join(sorted(PACKED))}, as content_sha256 is set"
        _require(value["format"] in PACKED, where, "format", expected, value["format"])


def _check_addresses(where: str, urls: Any) -> None:
    """Check addresses: what a branch or a tag names may be another file tomorrow."""
    web = isinstance(urls, list) and all(
        isinstance(url, str) and url.startswith(("http://", "https://")) for url in urls
    )
    _require(web, where, "urls", "a list of http(s) addresses, possibly empty", urls)
    for url in urls:
        parts = urlsplit(url)
        pinned = parts.hostname not in _GIT_HOSTS or any(map(_COMMIT.fullmatch, parts.path.split("/")))
        _require(pinned, where, "urls", "addresses at a commit of 40 digits, not at a branch or tag", url)


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
