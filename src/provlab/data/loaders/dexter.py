"""DEXTER from the NIPS 2003 feature selection challenge: texts on corporate acquisitions, with probes."""

from pathlib import Path

import numpy as np
from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset

VERSION = 1

_PARTS = {"train": ("train",), "all": ("train", "valid")}
CHOICES = {"part": tuple(_PARTS)}
_N_FEATURES = 20000
_CITATION = "DEXTER, Guyon, Gunn, Ben-Hur and Dror (2004), Result Analysis of the NIPS 2003 Feature Selection Challenge"


def load(paths: list[Path], digest: str, *, part: str = "train") -> Dataset:
    """Load 300 or 600 documents with 20,000 integer features, of which 10,053 are meaningless probes.

    Parameters
    ----------
    part : {"train", "all"}, default="train"
        "train" means the 300 training documents, without a split. "all" means these
        followed by the 300 validation documents; `official_train` marks the training
        documents. The labels of the test documents are not public.

    Returns
    -------
    Dataset
        Sparse X of shape (300, 20000) or (600, 20000); y is +1 for texts about
        acquisitions and -1 otherwise. The features are named "1" to "20000".
    """
    X = sparse.vstack([*map(read_data, paths[::2])], format="csr")
    labels = [np.loadtxt(path, dtype=np.int64) for path in paths[1::2]]
    y = np.concatenate(labels)
    split = None
    if part == "all":
        split = np.arange(len(y)) < len(labels[0])
    source = f"{_CITATION}; parts {', '.join(_PARTS[part])}, SHA-256 {digest}"
    return make_dataset(X, y, name="dexter", source=source, official_train=split)


def files(*, part: str) -> list[str]:
    """Return the files that `load` reads, alternating documents and labels."""
    return [
        f"dexter/dexter_{kind}.{suffix}"
        for kind in _PARTS[part]
        for suffix in ("data", "labels")
    ]


def read_data(path: Path) -> sparse.csr_array:
    """Return the documents of a file of index:value pairs, counted from 1, with one document per line."""
    lines = path.read_text(encoding="ascii").splitlines()
    pairs = np.array(
        [pair.split(":") for pair in " ".join(lines).split()], dtype=np.int64
    )
    indptr = np.cumsum([0, *(line.count(":") for line in lines)])
    return sparse.csr_array(
        (pairs[:, 1], pairs[:, 0] - 1, indptr), shape=(len(lines), _N_FEATURES)
    )
