"""The version of a class for keys: what has to change when its output may."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
from functools import cache
from pathlib import Path

from provlab.project.project import current_project


def version_of(cls: type) -> int | str:
    """Return `algorithm_version` where the class has one, else its distribution, or the hash of its source.

    The source is that of the top-level module in the project's folder, and of its file where it is in no distribution.

    Raises
    ------
    ValueError
        For a class of neither.
    """
    stated = getattr(cls, "algorithm_version", None)
    if stated is not None:
        return stated
    return _version(cls.__module__.split(".")[0], current_project().root) or _source(cls)


@cache
def _version(module: str, root: Path) -> str:
    """Return the version of a module of the project or of a distribution, "" of another one."""
    if module == "__main__":
        return ""
    spec = importlib.util.find_spec(module)
    origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    if origin is not None and origin.is_relative_to(root.resolve()) and "site-packages" not in origin.parts:
        files = sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]
        return _hash({path.relative_to(origin.parent).as_posix(): path.read_bytes() for path in files})
    names = sorted({*importlib.metadata.packages_distributions().get(module, [])})
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def _source(cls: type) -> str:
    try:
        return _hash({cls.__qualname__: inspect.getsource(cls).encode()})
    except (OSError, TypeError) as error:
        raise ValueError(
            f"{cls.__module__}.{cls.__qualname__}: expected a version to know its results by, got a class without "
            f"source or distribution; give it an algorithm_version."
        ) from error


def _hash(files: dict[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, content in files.items():
        content = content.replace(b"\r\n", b"\n")
        found.update(b"%d %s %d " % (len(name.encode()), name.encode(), len(content)) + content)
    return f"source {found.hexdigest()}"
