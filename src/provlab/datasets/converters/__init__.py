"""Converters make one file of the registry from published ones, whose SHA-256 was verified: `provsel fetch` runs them.

A converter is a function of its name in one of these modules, `name(sources: Sequence[Path], target: Path) -> None`. It
writes the target whole or not at all.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path

_MODULES = {
    "cifar10_jpeg": "packing",
    "pack_gz": "packing",
    "pack_xz": "packing",
    "rcv1_subsets": "rcv1",
    "techtc_table": "techtc",
    "techtc_tokens": "techtc",
}


def converter_names() -> list[str]:
    """Return the names that `run_converter` knows, sorted."""
    return sorted(_MODULES)


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
        For an unknown name, or sources that are others than the converter is for.
    """
    if name not in _MODULES:
        raise ValueError(f"unknown converter {name!r:.80}; known converters are {', '.join(converter_names())}")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    getattr(module, name)(sources, target)
