"""Which stored trials are audited."""

from __future__ import annotations

import math
import re
import secrets
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provlab.store import TrialStore

FRACTION = 0.01
"""Of a store, where neither a fraction nor a cell was asked for."""

SHORTEST_PREFIX = 8


@dataclass(frozen=True)
class Sample:
    """Drawn keys, sorted, and what repeats the draw on the same store.

    Attributes
    ----------
    keys : tuple of str
    n_stored : int
        Trials in the store.
    fraction : float
    seed : int
    limit : int or None
    cell : str
        Whole id of the cell that was drawn from; "" for all.
    """

    keys: tuple[str, ...]
    n_stored: int
    fraction: float
    seed: int
    limit: int | None = None
    cell: str = ""


def draw_sample(
    store: TrialStore,
    *,
    fraction: float | None = None,
    cell: str = "",
    limit: int | None = None,
    seed: int | None = None,
) -> Sample:
    """Draw stored trials at random, without replacement; at least one.

    Parameters
    ----------
    store : TrialStore
    fraction : float in (0, 1], optional
        Default: 0.01 of a store, and all of a cell.
    cell : str
        At least 8 hex digits that only one cell's id begins with; "" takes all cells.
    limit : int, optional
        Draw no more than that.
    seed : int, optional
        Default: a fresh one.

    Raises
    ------
    ValueError
        Nothing is stored, no or several cells fit, or a number is out of its range.
    """
    fraction = fraction if fraction is not None else 1.0 if cell else FRACTION
    if not (math.isfinite(fraction) and 0 < fraction <= 1):
        raise ValueError(f"audit: expected a fraction above 0 and up to 1, got {fraction!r}; use --fraction 0.01.")
    if limit is not None and limit < 1:
        raise ValueError(f"audit: expected a limit of at least 1 trial, got {limit}; leave --limit out for none.")
    if seed is not None and seed < 0:
        raise ValueError(f"audit: expected a seed of at least 0, got {seed}; leave --seed out for a fresh one.")
    trials = store.query(columns=["key", "cell"])
    if not len(trials):
        raise ValueError(
            f"audit: expected stored trials, got nothing stored in {store.folder}; "
            f"compute some first, by provsel reproduce or provsel run, or name their folder with --results."
        )
    whole = _cell_id(trials["cell"], cell) if cell else ""
    keys = (trials.filter(pc.equal(trials["cell"], whole)) if whole else trials)["key"].to_pylist()
    size = max(1, round(fraction * len(keys)))
    size = size if limit is None else min(size, limit)
    chosen_seed = secrets.randbits(32) if seed is None else seed
    chosen = np.random.default_rng(chosen_seed).choice(len(keys), size=size, replace=False)
    drawn = tuple(keys[place] for place in np.sort(chosen))
    return Sample(drawn, len(trials), fraction, chosen_seed, limit, whole)


def _cell_id(cells: pa.ChunkedArray, prefix: str) -> str:
    if not re.fullmatch(rf"[0-9a-fA-F]{{{SHORTEST_PREFIX},64}}", prefix):
        raise ValueError(
            f"audit: expected the first {SHORTEST_PREFIX} or more hex digits of a cell, got {prefix!r}; "
            f"copy them from the trace of a number."
        )
    known = pc.drop_null(pc.unique(cells))
    found = sorted(known.filter(pc.starts_with(known, pattern=prefix.lower())).to_pylist())
    if len(found) != 1:
        got = f"{len(found)}, such as {found[0]} and {found[1]}; add digits" if found else "none that is stored"
        raise ValueError(f"audit: expected one cell that begins with {prefix}, got {got}.")
    return str(found[0])
