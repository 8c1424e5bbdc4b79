"""DEXTER of the NIPS 2003 feature selection challenge: texts about corporate acquisitions, with probe features."""

import re
from pathlib import Path

import numpy as np
from scipy import sparse

from provlab.datasets._cache import parsed
from provlab.datasets._errors import bad_line
from provlab.datasets._identity import registered
from provlab.datasets._record import Dataset, make_dataset
from provlab.datasets._sources import SourceFile
from provsel.checks import check_choice

VERSION = 1

_PARTS = ("train", "all")
_N_FEATURES = 20000
_N_SAMPLES = 300  # in each of the two parts whose labels are public
_PAIR = re.compile(rb"([0-9]{1,9}):([0-9]{1,9})")
_CITATION = "DEXTER, Guyon, Gunn, Ben-Hur and Dror (2004), Result Analysis of the NIPS 2003 Feature Selection Challenge"


def load(*, part: str = "train") -> Dataset:
    """Load 300 or 600 documents with 20,000 integer features, of which 10,053 are probes without meaning.

    Parameters
    ----------
    part : {"train", "all"}, default="train"
        "train": the 300 training documents, no split. "all": these, then the 300 validation documents;
        `official_train` marks the training ones. The labels of the test documents are not public.

    Returns
    -------
    Dataset
        Sparse X of shape (300, 20000) or (600, 20000); y is +1 for texts about acquisitions, else -1. The
        features are named "1" to "20000".

    Raises
    ------
    ValueError
        For a bad parameter or damaged files.
    MissingDataError
        When a file is in none of the searched folders.
    """

    def build(paths: list[Path], digest: str) -> Dataset:
        X = sparse.vstack([_read_data(path) for path in paths[::2]], format="csr")
        y = np.concatenate([_read_labels(path) for path in paths[1::2]])
        split = np.arange(len(y)) < _N_SAMPLES if part == "all" else None
        names = [str(j) for j in range(1, _N_FEATURES + 1)]
        words = f"{_CITATION}; parts {', '.join(_kinds(part))}, SHA-256 {digest}"
        return make_dataset(X, y, names, name="dexter", source=words, official_train=split)

    return parsed("dexter", {"part": part}, build)


def files(*, part: str) -> list[SourceFile]:
    """Check the parameter of `load` and return the files that it reads."""
    check_choice("dexter", "part", part, _PARTS)
    names = [f"dexter/dexter_{kind}.{suffix}" for kind in _kinds(part) for suffix in ("data", "labels")]
    return registered("dexter", names)


def _kinds(part: str) -> tuple[str, ...]:
    return ("train", "valid") if part == "all" else ("train",)


def _read_data(path: Path) -> sparse.csr_array:
    """Return the documents of a file: index:value pairs, counted from 1 and increasing, one document a line."""
    indptr, indices, values = [0], [], []
    lines = _lines(path)
    for number, line in enumerate(lines, start=1):
        last = 0
        for pair in line.split():
            match = _PAIR.fullmatch(pair)
            if match is None or not last < int(match[1]) <= _N_FEATURES:
                expected = f"increasing index:value pairs with indices up to {_N_FEATURES} and whole values"
                raise bad_line(path, number, expected, pair)
            last = int(match[1])
            indices.append(last - 1)
            values.append(float(match[2]))
        indptr.append(len(indices))
    return sparse.csr_array((values, indices, indptr), shape=(len(lines), _N_FEATURES))


def _read_labels(path: Path) -> np.ndarray:
    """Return the labels, one a line."""
    lines = _lines(path)
    for number, line in enumerate(lines, start=1):
        if line.strip() not in (b"1", b"+1", b"-1"):
            raise bad_line(path, number, "a label 1 or -1", line)
    return np.array([int(line) for line in lines])


def _lines(path: Path) -> list[bytes]:
    """Return the lines of a file that has one for each document."""
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    if len(lines) != _N_SAMPLES:
        raise ValueError(
            f"{path}: expected {_N_SAMPLES} lines, got {len(lines)}. It is cut or another file: replace it"
        )
    return lines
