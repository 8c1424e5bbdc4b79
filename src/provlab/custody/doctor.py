"""What an installation has and lacks: packages, data sets, the store. Nothing is loaded or changed.

What is missing can be fetched; a warning lets runs continue; a problem stops them, or makes their results wrong.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from provlab.core.store import TrialStore
from provlab.data import data_dir, dataset_members, dataset_names, read_source, source_names
from provlab.data.files import DATA_VARIABLE, MIRROR_VARIABLE, found, mirror_dir
from provlab.run.environment import environment, git_revision
from provlab.run.executors import usable_cores

OK, WARNING, PROBLEM, MISSING = "ok", "warning", "problem", "missing"

INSTALLATION, DATA, STORE = "Installation", "Data sets", "Store"
"""Groups of checks. The first one says nothing of folders, and stands in reports, which are passed on."""

Findings = Iterator[tuple[str, ...]]
"""Name, state, value, and advice where there is any, as in `Check`."""


class Check(NamedTuple):
    """One finding; `value` can hold paths and other foreign text, `advice` is the next step, or ""."""

    group: str
    name: str
    state: str
    value: str
    advice: str = ""


def examine(results: Path) -> list[Check]:
    """Return what was found of all that a run needs; the store is `results/store`, and none of it needs to exist."""
    groups = {INSTALLATION: _installation(), DATA: _data(), STORE: _store(results / "store")}
    return [Check(group, *finding) for group, findings in groups.items() for finding in findings]


def _installation() -> Findings:
    """Give what each record says of the place that it was computed in."""
    for name, value in json.loads(environment()).items():
        if str(value).startswith("none"):
            yield name, WARNING, value, f"its trials have other keys; with a C++ compiler: pip install {name}"
        else:
            yield name, OK, ", ".join(value) if isinstance(value, list) else str(value)
    revision = git_revision()
    advice = "files differ from it, and new records say so; commit first" if revision.endswith("+") else ""
    yield "git revision", WARNING if advice else OK, revision[:12] or "none: not a checkout", advice
    yield "cores", OK, f"{usable_cores()} usable of {os.cpu_count()}", "a run starts a worker on each usable core"


def _data() -> Findings:
    mirror, folder = mirror_dir(), data_dir()
    if mirror is not None:
        bad = not mirror.is_dir()
        yield MIRROR_VARIABLE, WARNING if bad else OK, str(mirror), "no such folder: unset it" if bad else ""
    is_file = folder.exists() and not folder.is_dir()
    yield DATA_VARIABLE, PROBLEM if is_file else OK, str(folder), "no folder: name one" if is_file else ""
    for name in dataset_names():
        yield (name, *_files(name)) if name in source_names() else (name, OK, "needs no files")


def _files(name: str) -> tuple[str, ...]:
    """Return state, value and advice of a data set: by the names and sizes of its files, in its most complete form."""
    source = read_source(name)
    paths = {file.path: found(file.path) for file in source.published()}
    for file in source.published():
        path = paths[file.path]
        if path is not None and file.size not in (None, path.stat().st_size) and not file.content_sha256:
            value = f"{path}: expected {file.size} bytes, got {path.stat().st_size}"
            return PROBLEM, value, f"delete it, then: provsel fetch {name}"
    absent = {form: [file.path for file in files if paths[file.path] is None] for form, files in source.forms.items()}
    form = min(absent, key=lambda form: len(absent[form]) / len(source.forms[form]))
    n, lacks = len(source.forms[form]), len(absent[form])
    value = f"{n - lacks} of {n} files{form and f' of the form {form}'}"
    if not lacks or (dataset_members(name) and lacks < n):  # a part of a collection can be used
        return OK, value
    return MISSING, f"{value}, lacks {absent[form][0]}", f"provsel fetch {name}"


def _store(folder: Path) -> Findings:
    """Read the keys of a store, in which nothing is changed."""
    if folder.exists() and not folder.is_dir():
        yield "folder", PROBLEM, f"{folder}: not a folder", "name another results folder"
        return
    paths = sorted(folder.glob("*.parquet"))
    yield "folder", OK, f"{folder}: {len(paths)} files, {sum(path.stat().st_size for path in paths) / 1e6:.1f} MB"
    store = TrialStore(folder, read_only=True)
    try:
        n_trials = len(store.keys())
    except (ValueError, OSError) as error:
        yield "trials", PROBLEM, f"{error!s:.300}", "fix that, or use another results folder"
        return
    for name, wrong in store.passed_over.items():
        advice = "restore a copy; otherwise the next run sets it aside and runs its trials again"
        yield name, PROBLEM, f"{wrong:.200}", advice
    yield "trials", OK, f"{n_trials:,}", "" if n_trials else "provsel reproduce NAME, or provsel run"
    for path in sorted(folder.glob("*.damaged")):
        yield path.name, WARNING, "set aside, its trials count as not run", "delete it once they are stored again"
