"""What the pages show of where the numbers come from, as plain data: versions, this machine, audits of the store.

`collect_environment` fills it. Strings are untrusted, as in `model`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AuditSummary:
    """One run of `provsel audit`.

    Attributes
    ----------
    when : str
        UTC, ISO 8601.
    fraction : float
    n_stored, n_drawn : int
        Trials in the store then, and in the sample.
    n_identical, n_close, n_different : int
        The same bits; equal to the promised digits (other machine or versions); neither.
    skipped : tuple of (reason, number)
    different : tuple of (where, what)
        Trials that differ.
    processor : str
        Vector instructions of what computed them again; empty where it did not say.
    digits : int or None
        Fewest digits to which numbers of other machines or versions agree; None where all have the same bits, or some
        are different.
    """

    when: str
    fraction: float
    n_stored: int
    n_drawn: int
    n_identical: int
    n_close: int
    n_different: int
    skipped: tuple[tuple[str, int], ...] = ()
    different: tuple[tuple[str, str], ...] = ()
    processor: str = ""
    digits: int | None = None


@dataclass(frozen=True)
class EnvironmentPage:
    """What the stored trials were computed with, and this machine.

    Attributes
    ----------
    environments : tuple of (versions, number of trials)
    revisions : tuple of (git revision, number of trials)
    machine : tuple of (name, value)
        This machine now: processor, cores, memory, BLAS.
    store : tuple of (name, value)
        Trials, files, size, newest.
    problems : tuple of str
        Damaged files, older schemas, missing fields.
    audits : tuple of AuditSummary
        Newest first.
    """

    environments: tuple[tuple[dict[str, Any], int], ...] = ()
    revisions: tuple[tuple[str, int], ...] = ()
    machine: tuple[tuple[str, str], ...] = ()
    store: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    audits: tuple[AuditSummary, ...] = ()
