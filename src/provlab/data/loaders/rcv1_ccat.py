"""RCV1-v2: topic CCAT (corporate/industrial news) or another topic against the rest, in two forms."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset
from provlab.data.files import find_file
from provsel.checks import check_integer

VERSION = 1
LATER = ("names",)
AT_LEAST = {"n_train": 1}
CHOICES = {
    "form": ("auto", "subsets", "official"),
    "part": ("train", "all"),
    "names": ("terms", "stems"),
    "topic": ("CCAT", "ECAT", "GCAT"),
}
N_TERMS = 47236

_SUBSETS = "rcv1_subsets/rcv1v2_subsets_fixed.npz"
_TRAIN = "rcv1/lyrl2004_vectors_train.dat.gz"
_TEST = tuple(f"rcv1/lyrl2004_vectors_test_pt{i}.dat.gz" for i in range(4))
_TOPICS = "rcv1/rcv1-v2.topics.qrels.gz"
_STEMS = "rcv1/stem.termid.idf.map.txt"
_OFFICIAL_TRAIN = 23149
_N_SAMPLES = 5
_CITATION = "RCV1-v2, Lewis, Yang, Rose and Li (2004), JMLR 5:361-397"


def load(
    paths: list[Path],
    digest: str,
    *,
    form: str = "auto",
    part: str = "train",
    n_train: int = _OFFICIAL_TRAIN,
    names: str = "terms",
    topic: str = "CCAT",
    sample: int | None = None,
) -> Dataset:
    """Load news stories as cosine-normalised log TF-IDF vectors over 47,236 stems.

    y is +1 for the topic and -1 otherwise.

    Parameters
    ----------
    form : {"auto", "subsets", "official"}, default="auto"
        "official" reads the files of LYRL2004. "subsets" reads the 27,613 distinct
        documents in five public samples of 6,000, which mix both sides of the official
        split. "auto" takes the official files if those needed for `part` are available,
        otherwise the subsets; `source` states what was read.
    part : {"train", "all"}, default="train"
        "train" means the training documents, without a split. "all" means all
        documents; `official_train` marks the training documents. For the subsets, this
        split **only stands in for the official one**: it takes the first `n_train`
        distinct documents in stored order.
    n_train : int, default=23149
        Number of training documents to take from the subsets. The official files have
        exactly 23,149, so any other number is an error for them, and makes "auto" take
        the subsets.
    names : {"terms", "stems"}, default="terms"
        Names of the features: "1" to "47236", the term numbers of LYRL2004, or the
        stems that they stand for, from its dictionary, a separate file.
    topic : {"CCAT", "ECAT", "GCAT"}, default="CCAT"
        Topic: corporate and industrial news, economics, or government and society.
    sample : int or None, default=None
        Take only the documents of this public sample, from 1 to 5, that are in no
        earlier sample: about 5,500, so different samples are disjoint. It applies to
        the subsets, instead of `n_train`.

    Returns
    -------
    Dataset
        Sparse X of shape (n, 47236). n is `n_train` for part="train", 27,613 (subsets)
        or 804,414 for part="all", or the number of documents in `sample`.
    """
    stems = paths.pop() if names == "stems" else None
    if form == "official":
        X, y, first, words = read_official(paths, topic)
    else:
        X, y, first, words = read_subsets(paths[0], int(n_train), topic, sample)
    largest = X.shape[0] - (part == "all")
    if first > largest:
        raise ValueError(
            f"rcv1_ccat: n_train must be at most {largest} for part={part!r}, got {first}. Lower it"
        )
    split = None
    if part == "all":
        split = np.arange(X.shape[0]) < first
    else:
        X = X[:first]
        y = y[:first]
    terms = None if stems is None else read_stems(stems)
    source = f"{_CITATION}; {words}; SHA-256 {digest}"
    return make_dataset(
        X, y, terms, name=f"rcv1_{topic.lower()}", source=source, official_train=split
    )


def checked(
    *, form: str, part: str, n_train: int, topic: str, sample: int | None, names: str
) -> dict[str, Any]:
    """Check the parameters of `load`; identities from earlier versions omit topic and sample at their defaults."""
    if form == "official" and n_train != _OFFICIAL_TRAIN:
        raise ValueError(
            f"rcv1_ccat: form='official' has {_OFFICIAL_TRAIN} training documents, got n_train={n_train}. "
            "Leave n_train out, or choose form='subsets'"
        )
    later: dict[str, Any] = {} if topic == "CCAT" else {"topic": topic}
    if sample is not None:
        check_integer("rcv1_ccat", "sample", sample, minimum=1)
        if (
            sample > _N_SAMPLES
            or form == "official"
            or part != "train"
            or n_train != _OFFICIAL_TRAIN
        ):
            raise ValueError(
                f"rcv1_ccat: expected a sample from 1 to {_N_SAMPLES} of the subsets, with neither part nor n_train, "
                f"got sample={sample}, form={form!r}, part={part!r}, n_train={n_train}. Leave out sample or the others"
            )
        form, later = "subsets", {**later, "sample": sample}
    return {"form": form, "part": part, "n_train": n_train, "names": names, **later}


def settled(*, form: str, part: str, n_train: int, **others: Any) -> dict[str, Any]:
    """Return the parameters with "auto" replaced by the official form if it is available and fits."""
    if form == "auto":
        official = n_train == _OFFICIAL_TRAIN and all(
            map(find_file, _official_paths(part))
        )
        form = "official" if official else "subsets"
    return {"form": form, "part": part, "n_train": n_train, **others}


def files(*, form: str, part: str, names: str, **_: Any) -> list[str]:
    """Return the files that `load` reads."""
    paths = [_SUBSETS] if form == "subsets" else _official_paths(part)
    return [*paths, _STEMS] if names == "stems" else paths


def _official_paths(part: str) -> list[str]:
    """Return the relative paths that a part needs: vectors, training vectors first, then the topics."""
    return [_TRAIN, *_TEST, _TOPICS] if part == "all" else [_TRAIN, _TOPICS]


# The readers return vectors, labels, the number of training documents, which come
# first, and a description.

_Read = tuple[sparse.csr_array, np.ndarray, int, str]


def read_subsets(path: Path, n_train: int, topic: str, sample: int | None) -> _Read:
    """Read the distinct documents of one or all of the five subsets, in stored order."""
    with np.load(path, allow_pickle=False) as parts:
        entries = parts["data"], parts["indices"].astype(np.int32), parts["indptr"]
        X = sparse.csr_array(entries, shape=tuple(parts["shape"].tolist()))
        [column] = np.flatnonzero(parts["topic_codes"] == topic)
        y = np.where(np.unpackbits(parts["topics"], axis=1)[:, column], 1, -1)
        rows = parts["first_occurrence"]
        words = (
            "distinct documents of five public subsets of 6,000, not the official split"
        )
        if sample is not None:
            rows = rows & (parts["subset"] == sample)
            n_train = rows.sum()
            words = (
                f"documents of the public subset {sample} that are in none before it"
            )
    return X[rows], y[rows], n_train, words


def read_official(paths: Sequence[Path], topic: str) -> _Read:
    """Read the files of LYRL2004, whose vectors have the number of the document instead of a label."""
    from sklearn.datasets import load_svmlight_files

    *vectors, topics = paths
    parts = load_svmlight_files(
        [*map(str, vectors)], n_features=N_TERMS, zero_based=False
    )
    X = sparse.vstack(parts[::2], format="csr")
    documents = np.concatenate(parts[1::2])
    with gzip.open(topics, "rt", encoding="ascii") as lines:  # topic, document and 1
        positive = [
            int(line.split()[1]) for line in lines if line.startswith(f"{topic} ")
        ]
    return (
        X,
        np.where(np.isin(documents, positive), 1, -1),
        parts[0].shape[0],
        "files of LYRL2004",
    )


def read_stems(path: Path) -> list[str]:
    """Return the stems by term number, from lines of stem, number and weight."""
    rows = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    return [row[0] for row in sorted(rows, key=lambda row: int(row[1]))]
