"""The version of a class for keys: what has to change when its output may."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from functools import cache
from pathlib import Path

from provlab.project.project import current_project


def version_of(cls: type) -> int | str:
    """Return `algorithm_version` where the class has one, the hash of its source in the project, or its distribution.

    Raises
    ------
    ValueError
        For a class of neither.
    """
    stated = getattr(cls, "algorithm_version", None)
    if stated is not None:
        return stated
    return _version(cls.__module__.split(".")[0], current_project().root)


@cache
def _version(module: str, root: Path) -> str:
    spec = importlib.util.find_spec(module)
    origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    if origin is not None and origin.is_relative_to(root.resolve()) and "site-packages" not in origin.parts:
        files = sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]
        found = hashlib.sha256()
        for path in files:
            content = path.read_bytes().replace(b"\r\n", b"\n")
            name = path.relative_to(origin.parent).as_posix().encode()
            found.update(b"%d %s %d " % (len(name), name, len(content)) + content)
        return f"source {found.hexdigest()}"
    names = sorted({*importlib.metadata.packages_distributions().get(module, [])})
    if not names:
        raise ValueError(
            f"{module}: expected a version to know its results by, got a module without one; give the class an "
            f"algorithm_version, or put the module into the project's folder."
        )
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
