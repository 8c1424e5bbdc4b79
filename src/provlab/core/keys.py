"""Keys, the SHA-256 of canonical JSON, and the seeds derived from them.

A trial is identified by its key, wherever it was computed. This file determines the
keys and seeds of all stored trials, so a change would invalidate all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from provlab.project.documents import digest


def seed_from(key: str) -> int:
    """Return a 32-bit seed derived from a hex digest by SeedSequence."""
    return int(np.random.SeedSequence(int(key, 16)).generate_state(1)[0])


def trial_key(cell_json: str, repeat: int, fold: int, draw: int) -> str:
    """Return the SHA-256 of the canonical JSON of cell, draw, fold and repeat."""
    return trial_keys(cell_json, [(repeat, fold, draw)])[0]


def trial_keys(cell_json: str, places: Iterable[tuple[int, int, int]]) -> list[str]:
    """Return the keys of the given (repeat, fold, draw) of a cell; the shared text is hashed once."""
    shared = hashlib.sha256(f'{{"cell":{cell_json},"draw":'.encode())
    keys = []
    for repeat, fold, draw in places:
        whole = shared.copy()
        whole.update(b'%d,"fold":%d,"repeat":%d}' % (draw, fold, repeat))
        keys.append(whole.hexdigest())
    return keys


@lru_cache(maxsize=4096)
def split_seed(data: str, n_splits: int, seed: int, repeat: int) -> int:
    """Return the seed of the folds of a repeat, equal for all methods, settings and models, and the inverse."""
    return seed_from(
        digest({"split": [first_content(data) or data, n_splits, seed, repeat]})
    )


def first_content(data: str) -> str | None:
    """Return the content digest that seeds a data set of the first release; None for other data sets.

    Keys of the first release contained this digest, computed on one machine. Since
    then, keys contain the identity of a data set, which is the same on every machine,
    and seeds follow from keys. The data sets of the first release keep the folds and
    draws of their published numbers. Other data sets, and these after a change of their
    loader version, are seeded by their identity.
    """
    return _first_release().get(data)


@cache
def _first_release() -> dict[str, str]:
    return json.loads(
        Path(__file__).with_name("first_release.json").read_text(encoding="utf-8")
    )
