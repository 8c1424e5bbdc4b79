"""State of an installation: packages, data sets and the store.

Nothing is loaded or changed. Missing items can be downloaded. A warning lets runs
continue; a problem stops them, or makes their results wrong.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from provlab.core.store import TrialStore
from provlab.data import (
    data_dir,
    dataset_members,
    dataset_names,
    read_source,
    source_names,
)
from provlab.data.files import DATA_VARIABLE, MIRROR_VARIABLE, find_file, mirror_dir
from provlab.run.environment import environment, git_revision
from provlab.run.executors import usable_cores

OK = "ok"
WARNING = "warning"
PROBLEM = "problem"
MISSING = "missing"

INSTALLATION = "Installation"
"""Group of checks that name no folder, because it appears in reports, which may be shared."""

DATA = "Data sets"
STORE = "Store"

Findings = Iterator[tuple[str, ...]]
"""Name, state, value and optional advice, as in `Check`."""


class Check(NamedTuple):
    """One finding; `value` can contain paths and other untrusted text, and `advice` is the next step or ""."""

    group: str
    name: str
    state: str
    value: str
    advice: str = ""


def examine(results: Path) -> list[Check]:
    """Return the state of everything that a run needs; the store `results/store` need not exist."""
    checks = [Check(INSTALLATION, *finding) for finding in _installation()]
    checks += [Check(DATA, *finding) for finding in _data()]
    checks += [Check(STORE, *finding) for finding in _store(results / "store")]
    return checks


def _installation() -> Findings:
    """Yield the environment that each record states."""
    for name, value in json.loads(environment()).items():
        if str(value).startswith("none"):
            yield (
                name,
                WARNING,
                value,
                f"its trials have other keys; with a C++ compiler: pip install {name}",
            )
        elif isinstance(value, list):
            yield name, OK, ", ".join(value)
        else:
            yield name, OK, str(value)
    revision = git_revision()
    if revision.endswith("+"):
        yield (
            "git revision",
            WARNING,
            revision[:12],
            "files differ from it, which new records state; commit first",
        )
    else:
        yield "git revision", OK, revision[:12] or "none: not a checkout"
    yield (
        "cores",
        OK,
        f"{usable_cores()} usable of {os.cpu_count()}",
        "a run starts a worker on each usable core",
    )


def _data() -> Findings:
    mirror, folder = mirror_dir(), data_dir()
    if mirror is not None and mirror.is_dir():
        yield MIRROR_VARIABLE, OK, str(mirror)
    elif mirror is not None:
        yield MIRROR_VARIABLE, WARNING, str(mirror), "no such folder: unset it"
    if folder.exists() and not folder.is_dir():
        yield DATA_VARIABLE, PROBLEM, str(folder), "no folder: name one"
    else:
        yield DATA_VARIABLE, OK, str(folder)
    registered = source_names()
    for name in dataset_names():
        if name in registered:
            yield name, *_files(name)
        else:
            yield name, OK, "needs no files"


def _files(name: str) -> tuple[str, ...]:
    """Return state, value and advice for a data set, judged by the names of its files; loaders verify their content."""
    source = read_source(name)
    absent = {}
    for form, files in source.forms.items():
        absent[form] = [file.path for file in files if find_file(file.path) is None]
    form = min(absent, key=lambda form: len(absent[form]) / len(source.forms[form]))
    n_files, n_absent = len(source.forms[form]), len(absent[form])
    value = f"{n_files - n_absent} of {n_files} files"
    if form:
        value += f" of the form {form}"
    # a part of a collection can be used
    if not n_absent or (dataset_members(name) and n_absent < n_files):
        return OK, value
    return MISSING, f"{value}, lacks {absent[form][0]}", f"provsel fetch {name}"


def _store(folder: Path) -> Findings:
    """Check the keys of a store without changing it."""
    if folder.exists() and not folder.is_dir():
        yield (
            "folder",
            PROBLEM,
            f"{folder}: not a folder",
            "name another results folder",
        )
        return
    paths = sorted(folder.glob("*.parquet"))
    yield (
        "folder",
        OK,
        f"{folder}: {len(paths)} files, {sum(path.stat().st_size for path in paths) / 1e6:.1f} MB",
    )
    store = TrialStore(folder, read_only=True)
    try:
        n_trials = len(store.keys())
    except (ValueError, OSError) as error:
        yield (
            "trials",
            PROBLEM,
            f"{error!s:.300}",
            "fix that, or use another results folder",
        )
        return
    for name, wrong in store.passed_over.items():
        advice = "restore a copy; otherwise the next run sets it aside and recomputes its trials"
        yield name, PROBLEM, f"{wrong:.200}", advice
    yield (
        "trials",
        OK,
        f"{n_trials:,}",
        "" if n_trials else "provsel reproduce NAME, or provsel run",
    )
    for path in sorted(folder.glob("*.damaged")):
        yield (
            path.name,
            WARNING,
            "set aside, its trials count as not run",
            "delete it once they are stored again",
        )
