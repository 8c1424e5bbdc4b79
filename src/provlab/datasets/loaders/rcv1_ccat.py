"""RCV1-v2, topic CCAT (corporate/industrial news) against the rest, from one of three forms of the collection."""

from pathlib import Path
from typing import Any

import numpy as np

from provlab.datasets._cache import parsed
from provlab.datasets._errors import MissingDataError
from provlab.datasets._identity import FileOfData, registered
from provlab.datasets._locate import is_present
from provlab.datasets._rcv1_forms import official_sizes, read_official, read_sklearn, read_subsets, sklearn_files
from provlab.datasets._rcv1_parse import N_TERMS
from provlab.datasets._rcv1_stems import read_stems
from provlab.datasets._record import Dataset, make_dataset
from provsel.checks import check_choice, check_integer

VERSION = 1
LATER = ("names",)

_FORMS = ("auto", "subsets", "official", "sklearn")
_PARTS = ("train", "all")
_NAMES = ("terms", "stems")
_SUBSETS = "rcv1_subsets/rcv1v2_subsets_fixed.npz"
_TRAIN = "rcv1/lyrl2004_vectors_train.dat.gz"
_TEST = tuple(f"rcv1/lyrl2004_vectors_test_pt{i}.dat.gz" for i in range(4))
_TOPICS = "rcv1/rcv1-v2.topics.qrels.gz"
_STEMS = "rcv1/stem.termid.idf.map.txt"
_OFFICIAL_TRAIN = 23149
_CITATION = "RCV1-v2, Lewis, Yang, Rose and Li (2004), JMLR 5:361-397"


def load(*, form: str = "auto", part: str = "train", n_train: int = _OFFICIAL_TRAIN, names: str = "terms") -> Dataset:
    """Load news stories as cosine-normalised log TF-IDF vectors over 47,236 stems; y is +1 for CCAT, else -1.

    Parameters
    ----------
    form : {"auto", "subsets", "official", "sklearn"}, default="auto"
        "official" reads the files of LYRL2004. "subsets" reads the 27,613 distinct documents among five public
        samples of 6,000: they hold documents of both sides of the official split, which cannot be told apart.
        "sklearn" reads the cache of `sklearn.datasets.fetch_rcv1`. scikit-learn keeps it as pickles, and
        *unpickling runs whatever code a file holds*: choose it only for a folder that scikit-learn filled for
        you. "auto" takes the official files when those that `part` needs are there, else the subsets, and never
        scikit-learn's cache; `source` of the record says what was read.
    part : {"train", "all"}, default="train"
        "train": the training documents, no split. "all": all documents, where `official_train` marks the
        training ones. With the subsets that split **stands in for the official one and is not it**: the first
        `n_train` of the distinct documents in stored order.
    n_train : int, default=23149
        Training documents to take from the subsets. The other forms have exactly 23,149: any other number is an
        error there, and lets "auto" take the subsets.
    names : {"terms", "stems"}, default="terms"
        What the features are called: "1" to "47236", the term numbers of LYRL2004, or the stems that they stand for,
        from its dictionary, a file of its own.

    Returns
    -------
    Dataset
        Sparse X of shape (n, 47236): n is `n_train` for part="train"; for part="all" 27,613 (subsets) or 804,414.

    Raises
    ------
    ValueError
        For bad parameters or damaged files.
    MissingDataError
        When a needed file is in none of the searched folders.
    """
    parameters = settled(form=form, part=part, n_train=n_train, names=names)

    def build(paths: list[Path], digest: str) -> Dataset:
        stems = paths.pop() if names == "stems" else None
        return _build(parameters["form"], part, int(n_train), paths, stems, digest)

    try:
        return parsed("rcv1_ccat", parameters, build)
    except MissingDataError as error:
        raise MissingDataError(f"{error}, or give form='sklearn' for the cache of scikit-learn's fetch_rcv1") from error


def files(*, form: str, part: str, n_train: int, names: str) -> list[FileOfData]:
    """Check the parameters of `load` and return the files that it reads."""
    check_choice("rcv1_ccat", "part", part, _PARTS)
    check_integer("rcv1_ccat", "n_train", n_train, minimum=1)
    check_choice("rcv1_ccat", "names", names, _NAMES)
    if form in ("official", "sklearn") and n_train != _OFFICIAL_TRAIN:
        raise ValueError(
            f"rcv1_ccat: form={form!r} has {_OFFICIAL_TRAIN} training documents, got n_train={n_train}. "
            "Leave n_train out, or choose form='subsets'"
        )
    if form == "sklearn":
        vectors: list[FileOfData] = [*sklearn_files()]
    else:
        vectors = [*registered("rcv1_ccat", [_SUBSETS] if form == "subsets" else _official_paths(part))]
    return [*vectors, *(registered("rcv1_ccat", [_STEMS]) if names == "stems" else [])]


def _build(form: str, part: str, n_train: int, paths: list[Path], stems: Path | None, digest: str) -> Dataset:
    """Read the files and take the part; the features are called by number where no file has their stems."""
    if form == "subsets":
        X, y = read_subsets(paths[0])
        words = "distinct documents of five public subsets of 6,000, not the official split"
    elif form == "official":
        n_train, _ = official_sizes()
        X, y = read_official(paths[:-1], paths[-1])
        words = "files of LYRL2004"
    else:
        n_train, _ = official_sizes()
        X, y = read_sklearn()
        words = "files of LYRL2004 from scikit-learn's fetch_rcv1"
    largest = X.shape[0] - (part == "all")
    if n_train > largest:
        raise ValueError(f"rcv1_ccat: n_train must be at most {largest} for part={part!r}, got {n_train}. Lower it")
    split = np.arange(X.shape[0]) < n_train if part == "all" else None
    rows = slice(None) if part == "all" else slice(n_train)
    names = [str(j) for j in range(1, N_TERMS + 1)] if stems is None else read_stems(stems)
    source = f"{_CITATION}; {words}; SHA-256 {digest}"
    return make_dataset(X[rows], y[rows], names, name="rcv1_ccat", source=source, official_train=split)


def _official_paths(part: str) -> list[str]:
    """Return the relative paths that a part needs: vectors, training first, then the topics."""
    return [_TRAIN, *(_TEST if part == "all" else ()), _TOPICS]


def settled(*, form: str, part: str, n_train: int, names: str) -> dict[str, Any]:
    """Return the parameters with the form that is read: of "auto" the official one where it is there and fits."""
    check_choice("rcv1_ccat", "form", form, _FORMS)
    if form == "auto":
        official = n_train == _OFFICIAL_TRAIN and all(is_present(path) for path in _official_paths(part))
        form = "official" if official else "subsets"
    return {"form": form, "part": part, "n_train": n_train, "names": names}
