"""Health of a store. It reads the footers and keys itself: `TrialStore` would set damaged files aside."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from provlab.doctor._check import OK, PROBLEM, STORE, WARNING, Check, age_text, bytes_text, counted, listed
from provlab.doctor._machine import nearest_folder
from provlab.store.schema import SCHEMA, VERSION
from provlab.store.stored_file import DAMAGE, NewerFileError, stored_file
from provlab.store.trial_store import LOOSE_FILES
from provsel.files import ABANDONED


@dataclass(frozen=True)
class _File:
    """What a file of the store says of itself; `error` is "" unless it cannot be read."""

    name: str
    size: int
    error: str = ""
    version: int = 0
    keys: pa.ChunkedArray | None = None
    lacking: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return 0 if self.keys is None else len(self.keys)


def store_checks(folder: Path) -> list[Check]:
    """Return what is stored in a folder and whether it can be used; an empty or absent folder is fine."""
    if folder.exists() and not folder.is_dir():
        return [Check(STORE, "folder", PROBLEM, f"{folder}: not a folder", "name another results folder")]
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        return [Check(STORE, "folder", PROBLEM, f"{folder}: cannot be read", "make it readable")]
    place = Check(STORE, "folder", OK, f"{folder}{'' if folder.is_dir() else ': no such folder yet'}")
    files = [seen for path in sorted(folder.glob("*.parquet")) if (seen := _look(path)) is not None]
    content = _content(files) if files else []
    if not files:
        content = [Check(STORE, "trials", OK, "nothing stored yet", "provsel reproduce NAME, or provsel run")]
    return [place, _writable(folder), *content, *_set_aside(folder), *_temporary(folder)]


def _look(path: Path) -> _File | None:
    """Return what a file says, None when it has just gone: a run may be merging."""
    name, size = path.name, 0
    try:
        size = path.stat().st_size
        with stored_file(path) as file:
            keys = file.read(range(file.parquet.num_row_groups), ["key"])["key"].cast(pa.string())
    except FileNotFoundError:
        return None
    except NewerFileError as error:
        return _File(name, size, version=error.version)
    except (*DAMAGE, OSError) as error:
        return _File(name, size, str(error) or type(error).__name__)
    return _File(name, size, version=file.version, keys=keys, lacking=tuple(set(SCHEMA.names) - set(file.names)))


def _content(files: list[_File]) -> list[Check]:
    """Return the checks of the Parquet files."""
    whole = [file for file in files if not file.error]
    chunks = [chunk for file in whole if file.keys is not None for chunk in file.keys.chunks]
    trials, rows = pc.count_distinct(pa.chunked_array(chunks, pa.string())).as_py(), sum(file.rows for file in whole)
    repeats = f", {counted(rows - trials, 'repeated row')} left by a merge that was cut short"
    loose = sum(not file.name.startswith("merged-") for file in files)
    many = loose > LOOSE_FILES
    size = bytes_text(sum(file.size for file in files))
    checks = [
        Check(STORE, "trials", OK, f"{trials:,}{repeats if rows > trials else ''}"),
        Check(
            STORE,
            "files",
            WARNING if many else OK,
            f"{counted(len(files), 'file')}, {loose:,} of them loose, {size}",
            f"more than {LOOSE_FILES} loose files are slow to read: the next run merges them" if many else "",
        ),
    ]
    return [*checks, *_damaged(files), *_versions(whole), *_lacking(whole, rows)]


def _damaged(files: list[_File]) -> list[Check]:
    damaged = [file for file in files if file.error]
    if not damaged:
        return []
    value = f"{counted(len(damaged), 'file')}: {listed([f'{file.name} ({file.error})' for file in damaged])}"
    advice = "restore a copy; otherwise the next run sets it aside and runs its trials again"
    return [Check(STORE, "damaged files", PROBLEM, value, advice)]


def _versions(whole: list[_File]) -> list[Check]:
    found = Counter(file.version for file in whole)
    if not found:
        return []
    value = ", ".join(f"{version} ({counted(n, 'file')})" for version, n in sorted(found.items()))
    newer = [file.name for file in whole if file.version > VERSION]
    if newer:
        value += f"; newer than {VERSION}, which this provsel knows: {listed(newer)}"
        return [Check(STORE, "schema", PROBLEM, value, "upgrade provsel, or use another results folder")]
    return [Check(STORE, "schema", OK, value)]


def _lacking(whole: list[_File], rows: int) -> list[Check]:
    older = [file for file in whole if file.lacking]
    if not older:
        return []
    columns = [name for name in SCHEMA.names if any(name in file.lacking for file in older)]
    n = sum(file.rows for file in older)
    value = f"{n:,} of {counted(rows, 'record')}, in {counted(len(older), 'file')}, lack {', '.join(columns)}"
    advice = "written by an older provsel: read with these columns empty; another results folder records them anew"
    return [Check(STORE, "older records", WARNING, value, advice)]


def _writable(folder: Path) -> Check:
    if os.access(nearest_folder(folder), os.W_OK | os.X_OK):
        return Check(STORE, "writable", OK, "yes")
    advice = "what is stored can be read, new trials cannot be stored: change the permissions, or use another folder"
    return Check(STORE, "writable", PROBLEM, f"no: {nearest_folder(folder)}", advice)


def _set_aside(folder: Path) -> list[Check]:
    names = sorted(path.name for path in folder.glob("*.damaged"))
    if not names:
        return []
    advice = "their trials count as not run; delete them once these are stored again"
    return [Check(STORE, "set aside", WARNING, f"{counted(len(names), 'damaged file')}: {listed(names)}", advice)]


def _temporary(folder: Path) -> list[Check]:
    ages = {}
    for path in sorted(folder.glob("*.part")):
        try:
            ages[path.name] = time.time() - path.stat().st_mtime
        except FileNotFoundError:  # it has just taken its place
            continue
    if not ages:
        return []
    value = f"{counted(len(ages), 'file')}: {listed([f'{name} ({age_text(age)} old)' for name, age in ages.items()])}"
    stale = max(ages.values()) > ABANDONED
    advice = "delete those over an hour old: their writer was killed" if stale else "a run may be writing now"
    return [Check(STORE, "temporary files", WARNING if stale else OK, value, advice)]
