"""The C library LIBLINEAR, which only those install who ask for it: the one part that has to be compiled."""

from __future__ import annotations

import ctypes
from types import ModuleType


def seeded_liblinear(subject: str, seed: int) -> ModuleType:
    """Return `liblinear.liblinearutil`, which draws from C's `rand()`, seeded for the next fit.

    Raises
    ------
    ImportError
        It is not installed; `subject` is named.
    """
    try:
        from liblinear import liblinearutil  # loads a shared library
    except ImportError as error:
        raise ImportError(
            f"{subject}: expected the package liblinear-official, got none; pip install 'provsel[lab]' brings it, and "
            f"needs a C compiler."
        ) from error
    ctypes.CDLL(None).srand(seed)
    return liblinearutil
