"""Versions of classes and functions in keys: stated, of the distribution, or a hash of the source."""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import sys
from pathlib import Path
from typing import Any

from provlab.project.project import current_project


def version_of(value: Any) -> int | str:
    """Return the `algorithm_version` of a class, or otherwise its distribution or the hash of its source.

    A version counts if it is stated by the class or by a base in the same top-level
    module, because another author's version does not cover a subclass. The hashed
    source is the whole top-level module if it is in the project's folder or in no
    distribution, or a whole script. For a class or function of a notebook, it is only
    its own source.

    Parameters
    ----------
    value : type or function

    Raises
    ------
    ValueError
        If none of these exists for a class or function.
    """
    top = value.__module__.split(".")[0]
    for cls in getattr(value, "__mro__", (value,)):
        stated = getattr(cls, "__dict__", {}).get("algorithm_version")
        if stated is not None and cls.__module__.split(".")[0] == top:
            version: int | str = stated
            return version
    return _version(top, current_project().root) or _source(value)


_versions: dict[tuple[str, Path], tuple[list[Any], str]] = {}
"""Versions of modules with the import to which they belong, because a reimported module may differ."""


def _version(module: str, root: Path) -> str:
    """Return the version of a module or script, the hash of its files or its distribution; "" in a notebook."""
    loaded = list(sys.modules)  # another thread may import while names are compared
    names = [name for name in loaded if name == module or name.startswith(f"{module}.")]
    imports = [getattr(sys.modules[name], "__spec__", None) for name in names]
    known_imports, version = _versions.get((module, root), (None, ""))
    if known_imports is None or [*map(id, known_imports)] != [*map(id, imports)]:
        version = _version_now(module, root)
        _versions[module, root] = imports, version
    return version


def _version_now(module: str, root: Path) -> str:
    if module == "__main__":
        script = getattr(sys.modules[module], "__file__", None)
        return _hash({"": Path(script).read_bytes()}) if script else ""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    origin = Path(spec.origin or "").resolve() if spec is not None else Path()
    is_of_project = (
        origin.is_relative_to(root.resolve()) and "site-packages" not in origin.parts
    )
    # listing the files of all distributions takes half a second
    if not (is_of_project and origin.suffix == ".py"):
        names = sorted({*importlib.metadata.packages_distributions().get(module, [])})
        if names or origin.suffix != ".py":
            return ", ".join(
                f"{name} {importlib.metadata.version(name)}" for name in names
            )
    files = (
        sorted(origin.parent.rglob("*.py"))
        if origin.name == "__init__.py"
        else [origin]
    )
    return _hash(
        {
            path.relative_to(origin.parent).as_posix(): path.read_bytes()
            for path in files
        }
    )


def _source(value: Any) -> str:
    try:
        return _hash({value.__qualname__: inspect.getsource(value).encode()})
    except (OSError, TypeError) as error:
        raise ValueError(
            f"{value.__module__}.{value.__qualname__}: its results need a version, but the class or function belongs "
            f"to no source file and no installed package; give it an algorithm_version."
        ) from error


def _hash(files: dict[str, bytes]) -> str:
    hashed = hashlib.sha256()
    for name, content in files.items():
        content = content.replace(b"\r\n", b"\n")
        hashed.update(
            b"%d %s %d " % (len(name.encode()), name.encode(), len(content)) + content
        )
    return f"source {hashed.hexdigest()}"
