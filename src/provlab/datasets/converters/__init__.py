"""The folder is the registry: each module here without a leading underscore makes one file from published ones.

It has one function, `convert(sources: Sequence[Path], target: Path) -> None`: it reads the sources, of unknown intent,
and writes the target whole or not at all. A `ValueError` names the source that is damaged or another file.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path


def converter_names() -> list[str]:
    """Return the names that `run_converter` knows, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def run_converter(name: str, sources: Sequence[Path], target: Path) -> None:
    """Make a file from others.

    Parameters
    ----------
    name : str
        One of `converter_names()`.
    sources : sequence of Path
        In the order of the registry.
    target : Path
        Replaced when all is well, and else left as it is.

    Raises
    ------
    ValueError
        For an unknown name, or sources that are damaged or others than the converter is for.
    """
    known = converter_names()
    if name not in known:  # checked before anything is imported by it
        raise ValueError(f"unknown converter {name!r:.80}; known converters are {', '.join(known)}")
    importlib.import_module(f"{__name__}.{name}").convert(sources, target)
