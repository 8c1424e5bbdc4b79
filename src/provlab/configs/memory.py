"""Composed artefacts, remembered with a digest of all that they were composed from.

To compose one is to ask classes for their parameters, versions and whether they draw, for thousands of cells. What is
remembered is believed only where that digest, of every file of this program, every config, the project and the
installed packages, is that of now, and each data set has the identity that it had. Artefacts with classes of other
modules are composed every time: what a project trusts, and what is in those modules, is looked at as ever.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import provsel
from provlab.configs.artefacts import Artefact, Entry, compose_artefact
from provlab.datasets import MissingDataError, data_dir
from provlab.identity.cell import Cell
from provlab.identity.keys import canonical_json
from provlab.plan import identity_of
from provlab.project import conf_dirs, current_project, papers
from provlab.project.components import is_component, is_own
from provsel.files import replacing

FOLDER = "cache/plans"
"""Below the data folder. A shortcut only: what is damaged, not ours or deleted is composed again."""

_MAX_FILES = 256
_MAX_BYTES = 1 << 26

Parts = Mapping[str, Any]


def remembered_artefact(name: str, overrides: Sequence[str] = ()) -> Artefact:
    """Return what `compose_artefact` returns, from memory where nothing that it rests on has changed."""
    place = hashlib.sha256(canonical_json([str(current_project().root), name, *overrides]).encode()).hexdigest()
    path = data_dir() / FOLDER / f"{place}.json"
    inputs = _inputs(name, overrides)
    found = _recalled(path, inputs)
    if found is None:
        found = compose_artefact(name, overrides)
        _remember(path, inputs, found)
    return found


def _inputs(name: str, overrides: Sequence[str]) -> str:
    """Return the digest of what an artefact is composed from, data aside."""
    digest = hashlib.sha256(canonical_json([name, *overrides, repr(current_project())]).encode())
    digest.update(_program().encode())
    rooms = [path for paper in papers().values() for path in sorted(paper.folder.glob("*.yaml"))]
    for path in [*rooms, *(path for folder in conf_dirs() for path in sorted(folder.rglob("*.yaml")))]:
        _add(digest, path)
    return digest.hexdigest()


@cache
def _program() -> str:
    """Return the digest of this program, Python's version, and the names and versions of installed packages."""
    digest = hashlib.sha256(sys.version.encode())
    for package in (Path(__file__).parents[1], Path(*provsel.__path__)):
        for folder, folders, names in os.walk(package):
            folders[:] = sorted({*folders} - {"__pycache__"})
            for each in sorted(names):
                _add(digest, Path(folder, each))
    for entry in sys.path:
        with suppress(OSError):
            digest.update("".join(sorted(name for name in os.listdir(entry) if name.endswith("-info"))).encode())
    return digest.hexdigest()


def _add(digest: Any, path: Path) -> None:
    content, name = path.read_bytes(), str(path).encode()
    digest.update(b"%d %s %d " % (len(name), name, len(content)) + content)


def _remember(path: Path, inputs: str, artefact: Artefact) -> None:
    """Write an artefact, unless a class of another module is part of it, or JSON would not give it back as it is."""
    shared: dict[str, int] = {}

    def place(value: Any) -> int:
        return shared.setdefault(canonical_json(value), len(shared))

    entries = [
        [entry.row, entry.column, entry.label, place([*entry.overrides]), cell.data, cell.id, cell.n_draws,
         *(place(part) for part in (cell.dataset, cell.selector, cell.model, cell.protocol))]
        for entry in artefact.entries
        for cell in [entry.cell]
    ]  # fmt: skip
    if not all(_only_own(cell) for cell in artefact.cells):
        return
    parts = dict(artefact.parts)
    with suppress(TypeError, ValueError, OSError):  # no JSON, or no place for it: then it is composed once more
        stated = [artefact.name, artefact.title, parts, entries]
        content = json.dumps([inputs, *stated, f"[{','.join(shared)}]"])
        if json.loads(content)[1:5] != stated:
            return
        with replacing(path) as temporary:
            temporary.write_text(f"{hashlib.sha256(content.encode()).hexdigest()}\n{content}", encoding="utf-8")
        old = sorted(path.parent.glob("*.json"), key=lambda each: each.stat().st_mtime_ns)[:-_MAX_FILES]
        for each in old:
            each.unlink(missing_ok=True)


def _recalled(path: Path, inputs: str) -> Artefact | None:
    """Return the artefact of a file, None where that is damaged, or rests on anything that is different now."""
    try:
        with path.open("rb") as file:
            checksum, _, content = file.read(_MAX_BYTES).partition(b"\n")
        if checksum.decode() != hashlib.sha256(content).hexdigest():
            return None
        stated, name, title, parts, entries, shared = json.loads(content)
        if stated != inputs:
            return None
        known = json.loads(shared)
        found = [_entry(known, *entry) for entry in entries]
        data = {entry.cell.data: entry.cell for entry in found}
        unique = {id(part): part for entry in found for part in _parts(entry.cell)}
        if not all(map(_all_own, unique.values())):
            return None
        if not isinstance(parts, dict) or any(identity_of(cell.dataset) != identity for identity, cell in data.items()):
            return None
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, MissingDataError):
        return None
    return Artefact(str(name), str(title), tuple(found), parts)


def _entry(
    known: Sequence[Any], row: str, column: str, label: str, overrides: int, data: str, cell: str, draws: int, *at: int
) -> Entry:
    dataset, selector, model, protocol = (known[k] for k in at)
    made = Cell.known(dataset, selector, model, protocol, data, cell=cell, n_draws=draws)
    entry = Entry(row, column, made, label, tuple(known[overrides]))
    texts = (row, column, label, data, cell, entry.dataset, *entry.overrides)
    if type(made.n_trials) is not int or not all(isinstance(text, str) for text in texts):
        raise TypeError("an entry that nobody here wrote")
    return entry


def _parts(cell: Cell) -> tuple[Parts, Parts, Parts]:
    return cell.selector, cell.model, cell.protocol


def _only_own(cell: Cell) -> bool:
    return all(map(_all_own, _parts(cell)))


def _all_own(part: Parts) -> bool:
    """Tell whether all classes that a part of a config names, however deep, are provsel's."""
    return all(map(is_own, _components(part)))


def _components(value: Any) -> Iterator[Parts]:
    if is_component(value):
        yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for each in inner:
        yield from _components(each)
