"""What an installation has and lacks: packages, machine, BLAS, data sets, the store. Changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from provlab.doctor._check import GROUPS, MISSING, OK, PROBLEM, STATES, WARNING, Check
from provlab.doctor._data import data_checks
from provlab.doctor._machine import blas_checks, machine_checks, package_checks
from provlab.doctor._store import store_checks

__all__ = ["GROUPS", "MISSING", "OK", "PROBLEM", "STATES", "WARNING", "Check", "examine"]


def examine(results: Path) -> list[Check]:
    """Look at everything that a run needs. Quick: no data set is loaded or hashed, of records only the keys are read.

    Parameters
    ----------
    results : Path
        Results folder; its store is `results/store`. Neither needs to exist.

    Returns
    -------
    list of Check
        Group by group, in the order of `GROUPS`.
    """
    looks: tuple[Callable[[], list[Check]], ...] = (
        package_checks,
        lambda: machine_checks(results),
        blas_checks,
        data_checks,
        lambda: store_checks(results / "store"),
    )
    checks = []
    for group, look in zip(GROUPS, looks, strict=True):
        try:
            checks += look()
        except OSError as error:  # a folder that cannot be read must not hide what is wrong elsewhere
            checks.append(Check(group, "access", PROBLEM, str(error), "make it readable"))
    return checks
