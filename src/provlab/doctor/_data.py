"""Which data sets can be loaded, by the names and sizes of their files: nothing is read or hashed."""

from __future__ import annotations

import os
from pathlib import Path

from provlab.datasets import Source, SourceFile, dataset_names, present_members, read_source, source_names
from provlab.datasets._lock import LOCK_NAME, LockEntry, read_lock
from provlab.datasets._paths import DATA_VARIABLE, MIRROR_VARIABLE, data_dir, mirror_dir, search_roots
from provlab.doctor._check import DATA, MISSING, OK, PROBLEM, WARNING, Check, counted, listed


def data_checks() -> list[Check]:
    """Return the folders that are searched, and one check a data set."""
    checks = [_mirror(), _data_folder()]
    try:
        lock = read_lock(data_dir())
    except ValueError as error:
        checks.append(Check(DATA, LOCK_NAME, PROBLEM, str(error), "repair it, or delete it and fetch again"))
        lock = {}
    return [*checks, *(_dataset(name, lock) for name in dataset_names())]


def _mirror() -> Check:
    folder = mirror_dir()
    if folder is None:
        return Check(DATA, MIRROR_VARIABLE, OK, "not set", "may name a folder of data files; it is searched first")
    if not folder.is_dir():
        return Check(DATA, MIRROR_VARIABLE, WARNING, f"{folder}: no such folder", "correct or unset it")
    return Check(DATA, MIRROR_VARIABLE, OK, str(folder))


def _data_folder() -> Check:
    folder, given = data_dir(), "" if os.environ.get(DATA_VARIABLE) else " (the default: not set)"
    if not folder.exists():
        return Check(DATA, DATA_VARIABLE, OK, f"{folder}{given}: no such folder yet", "the first download makes it")
    if not folder.is_dir():
        return Check(DATA, DATA_VARIABLE, PROBLEM, f"{folder}{given}: not a folder", "name a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        advice = "no downloads, and each process parses the data anew: name a folder that can be written"
        return Check(DATA, DATA_VARIABLE, WARNING, f"{folder}{given}: not writable", advice)
    return Check(DATA, DATA_VARIABLE, OK, f"{folder}{given}")


def _dataset(name: str, lock: dict[str, LockEntry]) -> Check:
    if name not in source_names():
        return Check(DATA, name, OK, "needs no files")
    try:
        source = read_source(name)
    except ValueError as error:
        return Check(DATA, name, PROBLEM, str(error), "repair the file, or install provsel again")
    forms = {form: tuple(file.path for file in files) for form, files in source.forms.items()}
    read = source.published()
    found = {file.path: path for file in read if (path := _locate(file)) is not None}
    for file in read:
        if file.path in found and (reason := _wrong_size(file, found[file.path], lock)):
            step = f"delete it, then: provsel fetch {name}" if file.fetchable else "replace it by an intact copy"
            return Check(DATA, name, PROBLEM, reason, step)
    members = present_members(name)
    if members:
        return Check(DATA, name, OK, f"{counted(len(members), 'set')}, {_where(source)}")
    for form, paths in forms.items():
        if all(path in found for path in paths):
            what = f"{counted(len(paths), 'file')}{form and f' of the form {form}'}"
            return Check(DATA, name, OK, f"{what}, {_where(source)}")
    fetchable = any(file.fetchable for file in source.files)
    advice = f"provsel fetch {name}" if fetchable else f"set {MIRROR_VARIABLE} to a folder that holds its files"
    return Check(DATA, name, MISSING, _lacking(forms, found), advice)


def _locate(file: SourceFile) -> Path | None:
    """Return where the loader would find a file: it takes the first, whatever is in it."""
    return next((root / file.path for root in search_roots() if (root / file.path).is_file()), None)


def _wrong_size(file: SourceFile, path: Path, lock: dict[str, LockEntry]) -> str:
    """Return what is wrong with the size of a file, or ""; other packers of the same content arrive at other sizes."""
    size, expected = path.stat().st_size, file.size if file.content_sha256 is None else None
    if file.sha256 is None and file.path in lock:
        expected = lock[file.path].size
    if size == expected or (expected is None and size):
        return ""
    return f"{path}: expected {expected or 'more than 0'} bytes, got {size}"


def _where(source: Source) -> str:
    """Return which of the searched folders have files of a source, archives extracted there included."""
    names = {mirror_dir(): "mirror", data_dir(): "data folder"}
    paths = {path for file in source.files for path in (file.path, file.extract_to) if path}
    held = [names[root] for root in search_roots() if any((root / path).exists() for path in paths)]
    return f"in the {' and the '.join(dict.fromkeys(held))}" if held else "present"


def _lacking(forms: dict[str, tuple[str, ...]], found: dict[str, Path]) -> str:
    """Return what is not there; of forms, that of which most is there."""
    paths = max(forms.values(), key=lambda paths: sum(path in found for path in paths) / len(paths))
    absent = [path for path in paths if path not in found]
    if len(absent) == len(paths):
        return "no files"
    return f"{len(paths) - len(absent)} of {counted(len(paths), 'file')}, lacks {listed(absent)}"
