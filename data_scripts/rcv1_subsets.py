"""A converter that `provsel fetch rcv1_ccat` runs: five public samples of RCV1-v2, which are R data, as NumPy arrays.

A data frame of 2.3 GB is never whole in memory, as each column is made small when it is
read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from provlab.data.r_data import read_r_data

N_DOCUMENTS, N_TERMS = 6000, 47236

_CODES = """
C11 C12 C13 C14 C15 C151 C1511 C152 C16 C17 C171 C172 C173 C174 C18 C181 C182 C183 C21 C22 C23 C24 C31 C311 C312
C313 C32 C33 C331 C34 C41 C411 C42 CCAT E11 E12 E121 E13 E131 E132 E14 E141 E142 E143 E21 E211 E212 E31 E311
E312 E313 E41 E411 E51 E511 E512 E513 E61 E71 ECAT G15 G151 G152 G153 G154 G155 G156 G157 G158 G159 GCAT GCRIM
GDEF GDIP GDIS GENT GENV GFAS GHEA GJOB GMIL GOBIT GODD GPOL GPRO GREL GSCI GSPO GTOUR GVIO GVOTE GWEA GWELF M11
M12 M13 M131 M132 M14 M141 M142
"""
CODES = tuple(_CODES.split())
"""The first 101 of the 103 topics in alphabetical order: M143 and MCAT fell off the end of the samples' columns."""


class Shift(NamedTuple):
    """What is wrong with a sample of `width` columns of features: in which rows labels begin `early` columns early."""

    width: int
    rows: slice
    early: int


SHIFTS = (
    Shift(47236, slice(3000, 6000), 1),
    Shift(47236, slice(3000, 6000), 12),
    Shift(47236, slice(3000, 6000), 14),
    Shift(47229, slice(3000, 6000), 24),
    Shift(47235, slice(0, 3000), 11),
)


def rcv1_subsets(sources: Sequence[Path], target: Path) -> None:
    """Write the arrays that the loader `rcv1_ccat` reads, of rcv1sub1.rda to rcv1sub5.rda or the first of these.

    A sample is a data frame of 6,000 documents in R: the features `Att1`, ..., the
    labels `Class1` to `Class101` and two columns more. It was joined from two halves,
    of which one lacked its last columns of features: there the labels begin some
    columns early, in the last features. The files are read one after the other, each as
    a stream, as each expands to 2.3 GB.
    """
    samples, topics, half = [], [], np.zeros((len(sources), N_DOCUMENTS), dtype=np.int8)
    for k, (path, shift) in enumerate(zip(sources, SHIFTS, strict=False)):
        X, labels = repaired(_entries(path, shift.width), shift)
        samples.append(X)
        topics.append(labels)
        half[k, shift.rows] = 1
    X = sparse.vstack(samples, format="csr")
    indptr, columns, weights = (
        X.indptr.astype(np.int32),
        X.indices.astype(np.uint16),
        X.data.astype(np.float32),
    )
    arrays: dict[str, Any] = {
        "indptr": indptr,
        "indices": columns,
        "data": weights,
        "shape": np.array(X.shape, dtype=np.int64),
        "topics": np.packbits(np.concatenate(topics), axis=1),
        "n_topics": np.int64(len(CODES)),
        "topic_codes": np.array(CODES),
        "subset": np.repeat(np.arange(1, len(samples) + 1), N_DOCUMENTS).astype(
            np.int8
        ),
        "half": half.ravel(),
        "first_occurrence": _first_occurrence(indptr, columns, weights),
    }
    np.savez_compressed(target, allow_pickle=False, **arrays)


def repaired(
    entries: sparse.coo_array, shift: Shift
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return features and topics of a sample whose labels begin early in some rows.

    Parameters
    ----------
    entries : coo_array of shape (n, shift.width + 101)
        Features, then labels.
    shift : Shift

    Returns
    -------
    X : csr_array of shape (n, 47236)
    topics : ndarray of shape (n, 101), bool
    """
    rows, columns = entries.coords
    early = np.zeros(entries.shape[0], dtype=np.int64)
    early[shift.rows] = shift.early
    label = columns - (shift.width - early[rows])  # negative for features
    topics = np.zeros((entries.shape[0], len(CODES)), dtype=bool)
    topics[rows[label >= 0], label[label >= 0]] = True
    kept = label < 0
    X = sparse.csr_array(
        (entries.data[kept], (rows[kept], columns[kept])),
        shape=(entries.shape[0], N_TERMS),
    )
    X.sort_indices()
    return X, topics


def _entries(path: Path, width: int) -> sparse.coo_array:
    """Return the columns of features and labels of the data frame in a file."""
    [content] = read_r_data(path, doubles=_nonzeros).values()
    columns = [
        column.values for column in content["dataset"].values[: width + len(CODES)]
    ]
    rows, values = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    lengths = [rows.size for rows, _ in columns]
    places = rows, np.repeat(np.arange(len(columns), dtype=np.int32), lengths)
    return sparse.coo_array((values, places), shape=(N_DOCUMENTS, len(columns)))


def _nonzeros(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and values of the entries of a column that are not zero."""
    rows = np.flatnonzero(column)
    return rows.astype(np.int32), column[rows]


def _first_occurrence(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray
) -> np.ndarray:
    """Return False for each row, of n, that is in all entries as one before it; shape (n,)."""
    rows = [
        indices[start:stop].tobytes() + data[start:stop].tobytes()
        for start, stop in pairwise(indptr)
    ]
    first = np.zeros(len(rows), dtype=bool)
    seen: dict[bytes, int] = {}
    for i, row in enumerate(rows):
        seen.setdefault(row, i)
    first[[*seen.values()]] = True
    return first
