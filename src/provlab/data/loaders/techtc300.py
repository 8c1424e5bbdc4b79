"""TechTC-300 or TechTC-100 from the official archive of a user: pairs of web directory categories.

A set is a folder Exp_<id1>_<id2> with two text files. `features.idx` has lines "index
word", and `vectors.dat` has one document per line, "label index:count ...". Comment
lines, which begin with #, may be anywhere. No real file was available, so the format is
the one that published programs read, and words are assumed to be latin-1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset
from provlab.data.files import ArchivedFile, archived_files
from provlab.project.project import current_project
from provsel.streams.memory import check_memory, within_memory

from .techtc import SET, WEIGHTINGS, check_set, weigh

VERSION = 1
AT_LEAST = {"min_word_length": 1}
CHOICES = {"weighting": WEIGHTINGS}
LICENCE = (
    "No licence is named; the authors ask that publications cite their ICML paper "
    "and tell the address of the data."
)
OBTAIN = (
    "get techtc300_preprocessed.zip from https://gabrilovich.com/resources/data/techtc/techtc.html , then say "
    "dataset=techtc300 dataset.path=techtc300_preprocessed.zip, or the folder that it is unpacked to"
)

VECTORS, WORDS = "vectors.dat", "features.idx"
LABELS = {b"+1": 1, b"1": 1, b"-1": -1}
MAX_DIGITS = 9
"""Maximum digits of a count; a document of a billion words must be damaged."""
MEMORY_FACTOR = 64
"""Bytes needed for loading per byte of the files: a pair index:count of four bytes becomes a Python object."""

File = Path | ArchivedFile


def load(
    *,
    path: str = "",
    set: str = "Exp_10341_14271",
    min_word_length: int = 5,
    weighting: str = "counts",
) -> Dataset:
    """Load one two-class set of a collection: documents as rows, words in sorted order as features.

    Parameters
    ----------
    path : str
        The zip archive, or the folder that contains the folders Exp_<id1>_<id2>,
        relative to the folder of the project. The identity of the data includes the
        SHA-256 of the two files, but not the path.
    set : str, default="Exp_10341_14271"
        Name Exp_<id1>_<id2>; label +1 is category id1, and -1 is id2. `members()` lists
        the sets in the archive.
    min_word_length : int, default=5
        Shorter words are left out, as in `techtc`; 5 removes words of at most four
        letters. Documents that are or become empty are kept as zero rows. Words that
        occur in no document are left out.
    weighting : {"counts", "binary", "log", "l2", "log_l2", "tfidf_l2"}, default="counts"
        As in `techtc`.

    Returns
    -------
    Dataset
        Sparse X of shape (documents, words).

    Raises
    ------
    ValueError
        If the archive or set does not exist; if a file is damaged, with its line and
        value; or if the files need more memory than PROVSEL_MEMORY_GB (in 10^9 bytes)
        allows, by default an eighth of the machine's.
    """
    from sklearn.feature_extraction import DictVectorizer

    vectors, words = files(path=path, set=set)
    with within_memory(f"data set {set}"):
        labels, documents = read_documents(vectors, read_words(words))
        vectorizer = DictVectorizer()
        counts = sparse.csr_array(vectorizer.fit_transform(documents))
        names = vectorizer.get_feature_names_out()
        is_long = np.array([len(name) >= min_word_length for name in names], dtype=bool)
        if not is_long.any():
            raise ValueError(
                f"techtc300: {set} has no word of {min_word_length} letters. Lower min_word_length"
            )
        weighted = weigh(counts[:, is_long], weighting)
    return make_dataset(weighted, labels, names[is_long], name=set, source=path)


def checked(*, set: str, **others: Any) -> dict[str, Any]:
    """Check the parameters of `load`."""
    check_set("techtc300", set)
    return {"set": set, **others}


def files(*, path: str, set: str, **_: Any) -> list[File]:
    """Return the two files of a set, in the user's archive or folder."""
    place = _place(path)
    parts = [_find(place, f"{set}/{name}") for name in (VECTORS, WORDS)]
    size = sum(map(_size, parts))
    check_memory(f"data set {set}", MEMORY_FACTOR * size, f"{size:,} bytes of text")
    return parts


def _size(file: File) -> int:
    return file.size if isinstance(file, ArchivedFile) else file.stat().st_size


def members(path: str) -> list[str]:
    """Return the sets of an archive or folder, sorted."""
    place = _place(path)
    if place.is_dir():
        folders = [file.parent.name for file in place.glob(f"*/{VECTORS}")]
    else:
        vectors = [
            PurePosixPath(file.name)
            for file in archived_files(place)
            if _is(file, VECTORS)
        ]
        folders = [path.parent.name for path in vectors]
    sets = sorted({folder for folder in folders if SET.fullmatch(folder)})
    if not sets:
        raise ValueError(
            f"dataset.path: expected folders Exp_<id1>_<id2> with {VECTORS} in {place}, got none; correct the path, or "
            f"{OBTAIN}."
        )
    return sets


def read_words(file: File) -> dict[bytes, str]:
    """Return the words of `features.idx` by index as written; further fields are ignored.

    Raises
    ------
    ValueError
        If a line is invalid. The message names file, line and value.
    """
    words: dict[bytes, str] = {}
    for number, line in _lines(file):
        index, *fields = line.split()
        if not index.isdigit() or not fields:
            raise _fault(file, number, "an index and a word", line)
        if index in words:
            raise _fault(file, number, "each index once", line)
        words[index] = fields[0].decode("latin-1")
    return words


def read_documents(
    file: File, words: dict[bytes, str]
) -> tuple[list[int], list[dict[str, int]]]:
    """Return the labels of `vectors.dat`, and the word counts of each document.

    Counts of equal words are added, and counts of 0 are ignored.

    Raises
    ------
    ValueError
        If a line is invalid or all documents have the same label. The message names
        file, line and value.
    """
    labels = []
    documents = []
    for number, line in _lines(file):
        label, *pairs = line.partition(b"#")[0].split()
        if label not in LABELS:
            raise _fault(file, number, "a label +1 or -1", label)
        labels.append(LABELS[label])
        documents.append(_counts(file, number, pairs, words))
    if {*labels} != {-1, 1}:
        got = f"{len(labels)} documents of the labels {sorted({*labels})}"
        raise ValueError(
            f"{file}: expected documents with both labels, +1 and -1, got {got}; unpack the archive again."
        )
    return labels, documents


def _counts(
    file: File, number: int, pairs: list[bytes], words: dict[bytes, str]
) -> dict[str, int]:
    counts: dict[str, int] = {}
    indices = set()
    for pair in pairs:
        index, _, count = pair.partition(b":")
        if not count.isdigit() or len(count) > MAX_DIGITS:
            raise _fault(
                file,
                number,
                f"index:count, with a whole number of at most {MAX_DIGITS} digits",
                pair,
            )
        if index not in words:
            raise _fault(file, number, f"an index that {WORDS} lists", pair)
        if index in indices:
            raise _fault(file, number, "each index once", pair)
        indices.add(index)
        if int(count):
            counts[words[index]] = counts.get(words[index], 0) + int(count)
    return counts


def _place(path: str) -> Path:
    """Return the archive or folder of the user, relative to the folder of the project."""
    root = current_project().root
    expected = (
        "dataset.path: expected the official archive of TechTC-300, or its folder"
    )
    if not isinstance(path, str) or path in ("", "???"):
        raise ValueError(f"{expected}, got {path!r:.80}; {OBTAIN}.")
    place = root / Path(path).expanduser()
    if not place.is_dir() and not place.is_file():
        raise ValueError(
            f"{expected}, got {path!r:.200}, which does not exist in {root}; correct the path, or {OBTAIN}."
        )
    return place


def _find(place: Path, name: str) -> File:
    """Return the file of this name at any depth of an archive, which may have a top folder."""
    candidates: list[File] = []
    if place.is_file():
        candidates += [file for file in archived_files(place) if _is(file, name)]
    elif (place / name).is_file():
        candidates.append(place / name)
    if len(candidates) != 1:
        raise ValueError(
            f"techtc300: expected one file {name} in {place}, got {len(candidates)}; correct dataset.set or "
            f"dataset.path."
        )
    return candidates[0]


def _is(file: ArchivedFile, name: str) -> bool:
    return f"/{file.name}".endswith(f"/{name}")


def _lines(file: File) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers from 1, without empty lines and comments."""
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            yield number, line


def _fault(file: File, number: int, expected: str, value: bytes) -> ValueError:
    text = value.decode("latin-1")
    return ValueError(
        f"{file}, line {number}: expected {expected}, got {text!r:.80}; unpack the archive again."
    )
