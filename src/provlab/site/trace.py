"""Where a number comes from: its cell's config, seeds, trials, versions, and the command that computes it again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from provsel.values import ValuesWithNaN


@dataclass(frozen=True, eq=False)
class Distribution(ValuesWithNaN):
    """One measured column of the records of a cell.

    Attributes
    ----------
    name : str
        Column of the records, such as "error".
    unit : str
        "%", "s", "bytes" or "".
    by : str
        What a value is: "fold" (draws averaged), "seed", "draw" or "trial".
    values : tuple of float
        In order of repeat, fold, draw; at most `site.tracing.MAX_VALUES` of `n`.
    n : int
    mean, sd, minimum, lower, median, upper, maximum : float
        Of all n values; lower and upper are the quartiles. NaN where there are none.
    """

    name: str
    unit: str
    by: str
    values: tuple[float, ...]
    n: int
    mean: float = math.nan
    sd: float = math.nan
    minimum: float = math.nan
    lower: float = math.nan
    median: float = math.nan
    upper: float = math.nan
    maximum: float = math.nan


@dataclass(frozen=True, eq=False)
class TracedTrial(ValuesWithNaN):
    """One stored trial; seeds are -1 where the record does not say."""

    key: str
    repeat: int
    fold: int
    draw: int
    seed: int
    split_seed: int
    values: dict[str, float]
    environment: str
    git_revision: str


@dataclass(frozen=True)
class TracedCell:
    """One cell, on one data set: everything that its number depends on.

    Attributes
    ----------
    dataset : str
        Name in the artefact.
    cell : str
        SHA-256 of the identity.
    identity : dict
        Data set and its identity, selector, model, protocol, as they are hashed.
    data : str
    n_found, n_planned : int
        Trials.
    split_seeds : tuple of (repeat, seed)
        Of the folds; the same for all methods.
    distributions : tuple of Distribution
    trials : tuple of TracedTrial
        Empty where they were not asked for.
    command : str
        Computes exactly this cell again, into another results folder.
    audit_command : str
        Computes it again and compares it with what is stored.
    problems : tuple of str
        What the records do not say, such as fields that an older schema did not have.
    audited : tuple of three int
        Times that a trial of it was computed again by `provsel audit` with the same bits, the same digits, or neither.
    """

    dataset: str
    cell: str
    identity: dict[str, Any]
    data: str
    n_found: int
    n_planned: int
    split_seeds: tuple[tuple[int, int], ...]
    distributions: tuple[Distribution, ...]
    trials: tuple[TracedTrial, ...] = ()
    command: str = ""
    audit_command: str = ""
    problems: tuple[str, ...] = ()
    audited: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Trace:
    """What stands behind one row and column of an artefact, data set by data set.

    Attributes
    ----------
    artefact, row, column : str
    lines : tuple of (name, dataset, value, sd, printed)
        The numbers of the artefact that come from these cells; `name` is their column.
    cells : tuple of TracedCell
    environments : tuple of (versions, number of trials)
        Versions of Python, packages and BLAS, and the kind of machine; {} for records that do not say.
    revisions : tuple of (git revision, number of trials)
        "+" after a revision: files differed from it. "" where it is not known.
    """

    artefact: str
    row: str
    column: str
    lines: tuple[tuple[str, str, str, str, str], ...]
    cells: tuple[TracedCell, ...]
    environments: tuple[tuple[dict[str, Any], int], ...] = ()
    revisions: tuple[tuple[str, int], ...] = ()
    settings: tuple[str, ...] = ()
