"""The C library LIBLINEAR, which only those install who ask for it: the one part that has to be compiled."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from types import ModuleType


def seeded_liblinear(subject: str, seed: int) -> ModuleType:
    """Return `liblinear.liblinearutil`, which draws from C's `rand()`, seeded for the next fit.

    Raises
    ------
    ImportError
        It is not installed; `subject` is named.
    """
    try:
        liblinearutil = _liblinearutil()
    except ImportError as error:
        raise ImportError(
            f"{subject}: expected the package liblinear-official, got none; pip install 'provsel[lab]' brings it, and "
            f"needs a C compiler."
        ) from error
    ctypes.CDLL(None).srand(seed)
    return liblinearutil


@cache
def _liblinearutil() -> ModuleType:
    """Load the package and its shared library, with numba out of sight.

    Where numba happens to be installed, the package compiles its loop over rows with it, anew in each process: seconds
    and a hundred megabytes, to save milliseconds.
    """
    there = sys.modules.pop("numba", None)
    sys.modules["numba"] = None  # type: ignore[assignment]
    try:
        from liblinear import liblinearutil
    finally:
        del sys.modules["numba"]
        if there is not None:
            sys.modules["numba"] = there
    module: ModuleType = liblinearutil
    return module
