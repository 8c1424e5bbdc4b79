"""TechTC-100 text categorization: pairs of web directory categories, from token lists of documents."""

import lzma
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset
from provlab.data.files import (
    MIRROR_VARIABLE,
    MissingDataError,
    describe_roots,
    find_file,
)
from provlab.data.registry import read_source

VERSION = 1
LATER = ("form",)
AT_LEAST = {"min_word_length": 1}
WEIGHTINGS = ("counts", "binary", "log", "l2", "log_l2", "tfidf_l2")
CHOICES = {"form": ("auto", "tokens"), "weighting": WEIGHTINGS}

SET = re.compile(r"Exp_[0-9]+_[0-9]+")
_TOKENS = "techtc100/tokens"
_CITATION = "TechTC, Gabrilovich and Markovitch (2004), ICML"


def load(
    paths: list[Path],
    digest: str,
    *,
    set: str = "Exp_10341_10755",
    min_word_length: int = 5,
    weighting: str = "counts",
    form: str = "auto",
) -> Dataset:
    """Load one two-class set of 125 to 165 documents and 7 to 19 thousand words.

    The files are token lists of TechTC-100 in the folder techtc100/tokens of a mirror
    or the data folder; `techtc300` reads the official archive of TechTC-300.

    Parameters
    ----------
    set : str, default="Exp_10341_10755"
        Name Exp_<id1>_<id2>; label +1 is category id1, and -1 is id2. `members()` lists
        the registered sets.
    min_word_length : int, default=5
        Shorter words are left out; 5 removes words of at most four letters, as in the
        paper. Documents that are or become empty are kept as zero rows.
    weighting : {"counts", "binary", "log", "l2", "log_l2", "tfidf_l2"}, default="counts"
        Entries are word counts c; "binary": 1; "log": 1 + ln c. "l2" scales rows to
        norm one; "log_l2" does so to 1 + ln c; "tfidf_l2" to c (ln((1 + n) / (1 +
        document frequency)) + 1). The document frequencies are unsupervised, and are
        taken from *all* documents of the set, including those of later test folds.
    form : {"auto", "tokens"}, default="auto"
        Form of the files. There is only one, which is part of the identity of the data.

    Returns
    -------
    Dataset
        Sparse X of shape (documents, words); the features are the words in sorted
        order.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    [path] = paths
    labels, documents = read_tokens(path)

    def long_words(document: list[str]) -> list[str]:
        return [word for word in document if len(word) >= min_word_length]

    vectorizer = CountVectorizer(analyzer=long_words, dtype=np.float64)
    try:
        counts = sparse.csr_array(vectorizer.fit_transform(documents))
    except ValueError as error:
        raise ValueError(
            f"techtc: {set} has no word of {min_word_length} letters. Lower min_word_length"
        ) from error
    source = f"{_CITATION}; token lists tokens/{path.name}, SHA-256 {digest}"
    return make_dataset(
        weigh(counts, weighting),
        labels,
        vectorizer.get_feature_names_out(),
        name=set,
        source=source,
    )


def checked(*, set: str, **others: Any) -> dict[str, Any]:
    """Check the parameters of `load`."""
    check_set("techtc", set)
    return {"set": set, **others}


def check_set(dataset: str, set: str) -> None:
    """Check the name of a set."""
    if not isinstance(set, str) or not SET.fullmatch(set):
        raise ValueError(
            f"{dataset}: set must look like 'Exp_10341_10755', got {set!r}"
        )


def settled(**parameters: Any) -> dict[str, Any]:
    """Return the parameters with the form that is read."""
    return {**parameters, "form": "tokens"}


def files(*, set: str, **_: Any) -> list[str | Path]:
    """Return the file that `load` reads; a missing file is allowed only if it is registered."""
    name = f"{_TOKENS}/{set}.txt.xz"
    if any(file.path == name for file in read_source("techtc").files):
        return [name]
    file = find_file(name)
    if file is None:
        raise MissingDataError(
            f"techtc: the set {set} is missing. Searched {name} in {describe_roots()}. Run `provsel fetch techtc`, or "
            f"set {MIRROR_VARIABLE} to a folder that holds it",
            dataset="techtc",
        )
    return [file]


def members() -> list[str]:
    """Return the sorted registered sets, because "all" must not depend on what was downloaded."""
    return sorted(
        Path(file.path).name.removesuffix(".txt.xz")
        for file in read_source("techtc").published()
    )


def read_tokens(path: Path) -> tuple[list[int], list[list[str]]]:
    """Read a token list, one document per line: label, a letter a or b that is not a token, then the words.

    The list is compressed with xz. The text is latin-1 and split only at the byte 0x20,
    because other white space, such as a non-breaking space, belongs to the words.
    Labels are -1 or +1; a document may have no words.
    """
    labels = []
    documents = []
    for line in (
        lzma.decompress(path.read_bytes())
        .decode("latin-1")
        .removesuffix("\n")
        .split("\n")
    ):
        label, _, *words = line.split(" ")
        labels.append(int(label))
        # a double or trailing space gives an empty word
        documents.append([word for word in words if word])
    return labels, documents


def weigh(counts: sparse.csr_array, weighting: str) -> sparse.csr_array:
    """Return a weighted copy of a count matrix of shape (n, d), see `load`. Zero rows stay zero."""
    X = counts.copy()
    if weighting == "binary":
        X.data[:] = 1.0
    elif weighting in ("log", "log_l2"):
        X.data = 1.0 + _log(X.data)
    elif weighting == "tfidf_l2":
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        X.data *= (_log((1 + X.shape[0]) / (1 + frequency)) + 1.0)[X.indices]
    if not weighting.endswith("l2"):
        return X
    for start, stop in zip(X.indptr, X.indptr[1:], strict=False):
        # fsum does not depend on the order of summation, so the data do not depend on
        # the SIMD width.
        X.data[start:stop] /= math.sqrt(math.fsum(X.data[start:stop] ** 2)) or 1.0
    return X


def _log(values: np.ndarray) -> np.ndarray:
    """Return natural logarithms by math.log, because those of NumPy vary with the vector unit of the CPU."""
    distinct, inverse = np.unique(values, return_inverse=True)
    return np.array([math.log(value) for value in distinct])[inverse]
