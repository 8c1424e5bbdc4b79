"""One finding, and how sizes and ages are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PACKAGES, MACHINE, BLAS, DATA, STORE = GROUPS = ("Python and packages", "Machine", "BLAS", "Data sets", "Store")

OK, WARNING, PROBLEM, MISSING = STATES = ("ok", "warning", "problem", "missing")
"""A warning lets runs continue. A problem stops them, or makes their results wrong. What is missing can be fetched."""

SHOWN = 3
"""So many files are named, and the others counted."""


@dataclass(frozen=True)
class Check:
    """What was looked at, and what was found.

    Attributes
    ----------
    group : str
        One of `GROUPS`.
    name : str
    state : str
        One of `STATES`.
    value : str
        What was found. It can hold paths and other untrusted text: show it as plain text.
    advice : str
        The next step, or why it matters; "" where nothing is to be said.
    """

    group: str
    name: str
    state: str
    value: str
    advice: str = ""


def counted(n: int, noun: str) -> str:
    """Return "1 file", "2 files"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def bytes_text(n: float) -> str:
    """Return a number of bytes with its unit: "512 bytes", "4.1 MB"."""
    if n < 1000:
        return f"{n:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        n /= 1000
        if n < 1000 or unit == "GB":
            break
    return f"{n:.1f} {unit}"


def age_text(seconds: float) -> str:
    """Return an age in its largest whole unit: "3 hours"."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return "less than a minute"


def listed(names: Sequence[str]) -> str:
    """Return the first `SHOWN` names, and how many more there are."""
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
