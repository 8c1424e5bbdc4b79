"""Compiled forms of kernels, by numba: an option, which the variable PROVSEL_COMPILED of the environment turns on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

VARIABLE = "PROVSEL_COMPILED"

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled_by() -> str:
    """Return by what kernels are compiled, as "numba 0.68.1", or "" where they are not: only where they are asked for.

    Raises
    ------
    ValueError
        When the variable is neither 0 nor 1, or 1 where numba is not there or does not fit the other packages.
    """
    wanted = os.environ.get(VARIABLE, "0")
    if wanted not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE}: expected 0 or 1, got {wanted!r:.80}; set one of them, or leave it out.")
    if wanted != "1":
        return ""
    try:
        import numba
    except ImportError as error:
        raise ValueError(
            f"{VARIABLE}: expected 0 without numba, got 1 ({error}); pip install 'provsel[compiled]', or leave it out."
        ) from error
    return f"numba {numba.__version__}"


def jit(function: Function) -> Function:
    """Compile a function of arrays and numbers at its first call; kept on disk where a place can be written to.

    Sums may be reordered, so that they use vector instructions; what is infinite or NaN keeps its meaning.
    """
    import numba

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}}
    try:
        made = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder for the cache can be written to
        made = numba.njit(**options)(function)
    compiled: Function = made
    return compiled
