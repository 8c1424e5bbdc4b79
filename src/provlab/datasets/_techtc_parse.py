"""The two formats of TechTC data sets; both give a `Corpus`. Words are bytes, of latin-1 text."""

import math
from collections import Counter

from ._bag import Corpus
from ._errors import bad_line

_LABELS = {b"+1": 1, b"1": 1, b"-1": -1}


def parse_tokens(content: bytes, where: str) -> Corpus:
    """Parse token lists: label, a letter a or b that is no token, then the words, one document a line.

    Parameters
    ----------
    content : bytes
        Split at the byte 0x20 only: other white space, such as a non-breaking space, belongs to the words.
    where : str
        Name of the file, for messages.

    Returns
    -------
    Corpus

    Raises
    ------
    ValueError
        Naming file and line.
    """
    labels, documents = [], []
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=1):
        label, *rest = line.split(b" ")
        labels.append(_label(label, where, number))
        if not rest or rest[0] not in (b"a", b"b"):
            raise bad_line(where, number, "the letter a or b after the label", rest[0] if rest else b"")
        counts = Counter(rest[1:])
        del counts[b""]  # from a double or trailing space
        documents.append(counts)
    return Corpus(labels, documents)


def parse_vectors(vectors: bytes, features: bytes, where: str) -> Corpus:
    """Parse the official form: `vectors.dat` in SVMlight style and `features.idx` with the words.

    Parameters
    ----------
    vectors : bytes
        Comment lines begin with '#'; else label and index:count pairs.
    features : bytes
        Comment lines begin with '#'; else index, white space and word. Counts of equal words are added.
    where : str
        Name of the folder, for messages.

    Returns
    -------
    Corpus

    Raises
    ------
    ValueError
        Naming file and line.
    """
    words = _parse_features(features, f"{where}/features.idx")
    labels, documents = [], []
    where = f"{where}/vectors.dat"
    for number, line in _lines(vectors):
        label, *pairs = line.partition(b"#")[0].split()  # SVMlight allows a comment behind the pairs
        labels.append(_label(label, where, number))
        documents.append(_parse_pairs(pairs, words, where, number))
    if not labels:
        raise ValueError(f"{where}: expected documents, found none. The file is empty or cut: fetch it again")
    return Corpus(labels, documents)


def _parse_pairs(pairs: list[bytes], words: dict[int, bytes], where: str, number: int) -> dict[bytes, float]:
    """Return the word counts of one document."""
    counts: dict[bytes, float] = {}
    seen = set()
    for pair in pairs:
        index, colon, value = pair.partition(b":")
        key = _index(index)
        if not colon or key is None:
            raise bad_line(where, number, "index:count pairs", pair)
        if key in seen:
            raise bad_line(where, number, "each index once", pair)
        if key not in words:
            raise bad_line(where, number, "an index that features.idx lists", pair)
        count = _count(value)
        if count is None:
            raise bad_line(where, number, "a finite count of at least 0", pair)
        seen.add(key)
        if count > 0:
            counts[words[key]] = counts.get(words[key], 0.0) + count
    return counts


def _parse_features(content: bytes, where: str) -> dict[int, bytes]:
    """Return the words by index."""
    words: dict[int, bytes] = {}
    for number, line in _lines(content):
        index, *rest = line.split(maxsplit=1)
        key = _index(index)
        if key is None or not rest:
            raise bad_line(where, number, "an index and a word", line)
        if key in words:
            raise bad_line(where, number, "each index once", line)
        words[key] = rest[0].rstrip()
    return words


def _lines(content: bytes) -> list[tuple[int, bytes]]:
    """Return numbered lines, without empty ones and comments."""
    lines = enumerate(content.split(b"\n"), start=1)
    return [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith(b"#")]


def _label(label: bytes, where: str, number: int) -> int:
    """Return -1 or +1."""
    if label not in _LABELS:
        raise bad_line(where, number, "a label +1 or -1", label)
    return _LABELS[label]


def _index(text: bytes) -> int | None:
    """Return a whole number; int() alone would also take signs, underscores and thousands of digits."""
    return int(text) if text.isdigit() and len(text) <= 18 else None


def _count(text: bytes) -> float | None:
    """Return a finite number of at least 0, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 and b"_" not in text else None
