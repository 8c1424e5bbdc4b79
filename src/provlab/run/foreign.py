"""Trials with foreign classes, on read-only rows or on private copies."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from typing import Any

from provlab.core.cell import Cell
from provlab.run.fold import Fold
from provlab.run.shared_rows import (
    ChangedInputError,
    needs_writable_arrays,
    settings_of_one_trial,
)


def run_foreign_trial(
    run: Callable[[Fold], dict[str, Any]],
    cell: Cell,
    fold: Fold,
    *,
    seed: int,
    private_copies: Collection[str],
) -> dict[str, Any]:
    """Return the record of a trial on rows that other trials share.

    A class that works only on writable arrays, such as compiled code without `const`,
    gets a copy.

    Parameters
    ----------
    run : callable
        Function that returns the record of the trial on a fold.
    cell : Cell
    fold : Fold
    seed : int
        Seed of the trial.
    private_copies : collection of str
        Names of classes that always get a copy to which they may write.

    Raises
    ------
    ChangedInputError
        If a class writes to the rows, shared or copied.
    """

    def run_once(rows: Fold) -> dict[str, Any]:
        with settings_of_one_trial(seed):
            return run(rows)

    if not set(cell.foreign).isdisjoint(private_copies):
        return run_once(fold.private(may_change=True))
    unchanged = fold.first_checksums
    try:
        record = run_once(fold)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if fold.is_changed():
            raise ChangedInputError(cell.foreign) from error
        if not needs_writable_arrays(error):
            raise
        private = fold.private(may_change=False)
        record = run_once(private)
        if (private.view.checksum(), private.test_checksum()) != unchanged:
            raise ChangedInputError(cell.foreign) from error
        _tell_of_copies(cell)
    if fold.is_changed():
        raise ChangedInputError(cell.foreign)
    return record


def _tell_of_copies(cell: Cell) -> None:
    names = " and ".join(cell.foreign)
    warnings.warn(
        f"{names}: the class fails on read-only arrays, but works on a copy of the rows without writing to it. "
        f"executor.private_copies=[{','.join(cell.foreign)}] avoids the first attempt.",
        stacklevel=2,
    )
