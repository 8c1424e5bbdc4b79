"""The five public samples of RCV1-v2 as one file of NumPy arrays, from five R data files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provlab.datasets._rcv1_parse import N_TERMS
from provsel.files import replacing

from ._rcv1_repair import ROWS, Shift, read_sample
from ._rcv1_topics import CODES

_SHIFTS = (
    Shift(width=47236, start=3000, stop=6000, columns=1),
    Shift(width=47236, start=3000, stop=6000, columns=12),
    Shift(width=47236, start=3000, stop=6000, columns=14),
    Shift(width=47229, start=3000, stop=6000, columns=24),
    Shift(width=47235, start=0, stop=3000, columns=11),
)


def convert(sources: Sequence[Path], target: Path) -> None:
    """Write the arrays that `_rcv1_forms.read_subsets` reads, without pickles.

    The files are read one after the other, each as a stream, as each expands to 2.3 GB.

    Parameters
    ----------
    sources : sequence of Path
        rcv1sub1.rda to rcv1sub5.rda.
    target : Path

    Raises
    ------
    ValueError
        When a source is another file, or does not pass the checks of `read_sample`.
    """
    if len(sources) != len(_SHIFTS):
        raise ValueError(
            f"rcv1_subsets: expected {len(_SHIFTS)} files to convert, got {len(sources)}. Correct made_from"
        )
    lengths, indices, data, topics, half = [], [], [], [], []
    for path, shift in zip(sources, _SHIFTS, strict=True):
        sample = read_sample(path, shift)
        lengths.append(np.bincount(sample.rows, minlength=ROWS))
        indices.append(sample.columns.astype(np.uint16))
        data.append(sample.values.astype(np.float32))
        topics.append(sample.topics)
        half.append(((np.arange(ROWS) >= shift.start) & (np.arange(ROWS) < shift.stop)).astype(np.int8))
    indptr = np.append(0, np.cumsum(np.concatenate(lengths))).astype(np.int32)
    columns, weights = np.concatenate(indices), np.concatenate(data)
    arrays: dict[str, Any] = {
        "indptr": indptr,
        "indices": columns,
        "data": weights,
        "shape": np.array([ROWS * len(sources), N_TERMS], dtype=np.int64),
        "topics": np.packbits(np.concatenate(topics), axis=1),
        "n_topics": np.int64(len(CODES)),
        "topic_codes": np.array(CODES),
        "subset": np.repeat(np.arange(1, len(sources) + 1), ROWS).astype(np.int8),
        "half": np.concatenate(half),
        "first_occurrence": _first_occurrence(indptr, columns, weights),
    }
    with replacing(target) as temporary, temporary.open("xb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _first_occurrence(
    indptr: NDArray[np.int32], indices: NDArray[np.uint16], data: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Return False for each row, of n, that is in all entries as one before it; shape (n,)."""
    seen = set()
    first = np.zeros(indptr.size - 1, dtype=bool)
    for i, (start, stop) in enumerate(pairwise(indptr)):
        row = indices[start:stop].tobytes() + data[start:stop].tobytes()  # of equal lengths only where both are
        first[i] = row not in seen
        seen.add(row)
    return first
