"""Readers of the three forms of RCV1-v2: each returns vectors and the label of CCAT, training documents first."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from provsel.streams.npz import compressed, read_npz
from provsel.streams.sources import DAMAGED

from ._errors import MissingDataError
from ._rcv1_parse import N_TERMS, parse_topics, parse_vectors

TOPIC = "CCAT"
_SKLEARN_FILES = tuple(f"{name}_py3.pkl" for name in ("samples", "sample_id", "sample_topics", "topics_names"))


def official_sizes() -> tuple[int, int]:
    """Return the number of training documents and of all documents of LYRL2004."""
    return 23149, 804414


def read_subsets(path: Path) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the distinct documents of the five subsets, in stored order.

    Parameters
    ----------
    path : Path
        rcv1v2_subsets_fixed.npz.

    Returns
    -------
    X : csr_array of shape (27613, 47236)
    y : ndarray of shape (27613,)

    Raises
    ------
    ValueError
        For a damaged file.
    """
    try:
        parts = read_npz(path)
        kept = parts["first_occurrence"]
        X = compressed(parts)
        (column,) = np.flatnonzero(parts["topic_codes"] == TOPIC)
        has_topic = np.unpackbits(parts["topics"], axis=1)[:, column]
        return X[kept], _labels(has_topic[kept])
    except DAMAGED as error:
        raise ValueError(
            f"{path}: expected the arrays of the five subsets, got {error!r:.300} on reading. "
            "Replace it by an intact copy"
        ) from error


def read_official(vectors: Sequence[Path], topics: Path) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the documents of LYRL2004.

    Parameters
    ----------
    vectors : sequence of Path
        The training file alone, or followed by the four test files.
    topics : Path
        rcv1-v2.topics.qrels.gz.

    Returns
    -------
    X : csr_array of shape (23149, 47236) or (804414, 47236)
    y : ndarray of shape (23149,) or (804414,)

    Raises
    ------
    ValueError
        For damaged files, or when they do not fit each other.
    """
    n_train, n_all = official_sizes()
    complete = len(vectors) > 1
    parsed = []
    for path in vectors:
        rows = n_train if path == vectors[0] else n_all - n_train
        parsed.append(parse_vectors(path, max_rows=rows))
    found = parsed[0][0].size
    if found != n_train:
        raise ValueError(f"{vectors[0]}: expected {n_train} documents, got {found}. It is incomplete: fetch it again")
    documents, lengths, columns, values = (np.concatenate(arrays) for arrays in zip(*parsed, strict=True))
    del parsed
    where = " , ".join(str(path) for path in vectors)
    if complete and documents.size != n_all:
        raise ValueError(f"{where}: expected {n_all} documents, got {documents.size}. Fetch the files again")
    ordered = np.sort(documents)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if repeated.size:
        raise ValueError(f"{where}: expected each document once, got number {repeated[0]} again. Fetch the files again")
    labelled, positive = parse_topics(topics, TOPIC)
    missing = np.setdiff1d(documents, labelled)
    if missing.size:
        raise ValueError(
            f"{topics}: expected a topic for every document, got none for {missing.size}, among them {missing[0]}. "
            "Fetch it again"
        )
    unknown = np.setdiff1d(labelled, documents) if complete else missing
    if unknown.size:
        raise ValueError(
            f"{topics}: expected documents of the vector files, got {unknown.size} others, among them {unknown[0]}. "
            "Fetch the files again"
        )
    indptr = np.append(0, np.cumsum(lengths))
    X = sparse.csr_array((values, columns, indptr), shape=(documents.size, N_TERMS))
    return X, _labels(np.isin(documents, positive))


def sklearn_files() -> list[Path]:
    """Return the files of scikit-learn's RCV1 cache; their bytes are not looked at.

    Raises
    ------
    MissingDataError
        When one of them is missing.
    """
    paths = [_sklearn_home() / "RCV1" / name for name in _SKLEARN_FILES]
    for path in paths:
        if not path.is_file():
            raise MissingDataError(
                f"rcv1_ccat: the file {path.name} of scikit-learn's RCV1 cache is missing. Searched {path.parent}. "
                "Run sklearn.datasets.fetch_rcv1() once, or set SCIKIT_LEARN_DATA to the folder that holds RCV1"
            )
    return paths


def read_sklearn() -> tuple[sparse.csr_array, np.ndarray]:
    """Return all documents from scikit-learn's cache. scikit-learn unpickles its files: only for an explicit wish.

    Returns
    -------
    X : csr_array of shape (804414, 47236)
    y : ndarray of shape (804414,)

    Raises
    ------
    ValueError
        When the content is not RCV1-v2.
    """
    from sklearn.datasets import fetch_rcv1

    bunch = fetch_rcv1(data_home=str(_sklearn_home()), subset="all", download_if_missing=False)
    expected = (official_sizes()[1], N_TERMS)
    if bunch.data.shape != expected:
        raise ValueError(
            f"rcv1_ccat: expected {expected} documents and terms in scikit-learn's cache, got {bunch.data.shape}. "
            f"Delete {_sklearn_home() / 'RCV1'} and run sklearn.datasets.fetch_rcv1() again"
        )
    columns = np.flatnonzero(bunch.target_names == TOPIC)
    if columns.size != 1 or bunch.target.shape != (expected[0], len(bunch.target_names)):
        raise ValueError(
            f"rcv1_ccat: expected one topic {TOPIC} and {expected[0]} rows of topics in scikit-learn's cache, got "
            f"{columns.size} and shape {bunch.target.shape}. Delete {_sklearn_home() / 'RCV1'} and run "
            "sklearn.datasets.fetch_rcv1() again"
        )
    return sparse.csr_array(bunch.data), _labels(sparse.csr_array(bunch.target)[:, columns].toarray().ravel())


def _sklearn_home() -> Path:
    """Return scikit-learn's data folder; its own get_data_home would make it."""
    return Path(os.environ.get("SCIKIT_LEARN_DATA") or "~/scikit_learn_data").expanduser()


def _labels(has_topic: np.ndarray) -> np.ndarray:
    """Return +1 where the document has the topic, else -1."""
    return np.where(has_topic.astype(bool), 1, -1)
