"""The two text formats of LYRL2004: document vectors and topic assignments, parsed in blocks of lines."""

import gzip
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ._errors import bad_line

N_TERMS = 47236
_BLOCK = 1 << 23
# The longest line of the official files has about 20,000 bytes.
_MAX_LINE = 1 << 20
_MAX_ASSIGNMENTS = 1 << 24  # of which the official file has 2,606,875

# Possessive quantifiers: one pass over the whole block, without a stack of places to go back to.
_VALUE = rb"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]{1,4}+)?+"
_DOCUMENT = rb"[0-9]{1,9}+(?: ++[0-9]{1,9}+:" + _VALUE + rb"(?![^ \n]))*+ *+\n"
_ASSIGNMENT = rb"[A-Z0-9]++ ++[0-9]{1,9}+ ++1 *+\n"
_VECTORS = re.compile(rb"(?:" + _DOCUMENT + rb")*+")
_QRELS = re.compile(rb"(?:" + _ASSIGNMENT + rb")*+")
_TOPIC = re.compile(rb"^[A-Z0-9]+", re.MULTILINE)


def parse_vectors(path: Path, *, max_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Parse a file of vectors: one document a line, its number, two spaces, then term:value pairs.

    Parameters
    ----------
    path : Path
        Compressed with gzip. Terms count from 1 and increase along the line.
    max_rows : int
        More documents are refused, so that a wrong file cannot fill the memory.

    Returns
    -------
    documents : ndarray of shape (n,), int64
        Document numbers in the order of the file.
    lengths : ndarray of shape (n,), int64
        Number of pairs of each document.
    columns : ndarray of shape (lengths.sum(),), int32
        Terms, counted from 0.
    values : ndarray of shape (lengths.sum(),), float64

    Raises
    ------
    ValueError
        Naming file and line.
    """
    parts: list[tuple[np.ndarray, ...]] = []
    n = 0
    for block in _blocks(path):
        _require_lines(path, n, block, _VECTORS, "a document number and term:value pairs")
        lengths = _per_line(block, b":")
        parts.append((*_numbers_of(path, n, block, lengths), lengths))
        n += lengths.size
        if n > max_rows:
            raise ValueError(
                f"{path}: expected at most {max_rows} documents, got more. It is another file: fetch it again"
            )
    if not parts:
        raise ValueError(f"{path}: expected documents, found none. The file is empty: fetch it again")
    documents, columns, values, lengths = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return documents, lengths, columns, values


def parse_topics(path: Path, topic: str) -> tuple[np.ndarray, np.ndarray]:
    """Parse topic assignments: topic, document number and 1, one assignment a line.

    Parameters
    ----------
    path : Path
        Compressed with gzip.
    topic : str
        Topic to look for.

    Returns
    -------
    labelled : ndarray of int64
        Documents with at least one topic, sorted.
    positive : ndarray of int64
        Documents with this one, sorted.

    Raises
    ------
    ValueError
        Naming file and line, or when no document has the topic.
    """
    wanted = np.frombuffer(f"{topic} ".encode(), dtype=np.uint8)
    labelled, positive = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    n = 0
    for block in _blocks(path):
        _require_lines(path, n, block, _QRELS, "a topic, a document number and 1")
        documents = _read_numbers(_TOPIC.sub(b"", block))[::2].astype(np.int64)
        text = np.frombuffer(block, dtype=np.uint8)
        starts = np.append(0, np.flatnonzero(text == ord("\n"))[:-1] + 1)
        # The shortest line, "X 1 1", is as long as "CCAT ", so a start plus this length stays in the block.
        found = (text[starts[:, None] + np.arange(wanted.size)] == wanted).all(axis=1)
        labelled = np.union1d(labelled, documents)
        positive = np.union1d(positive, documents[found])
        n += documents.size
        if n > _MAX_ASSIGNMENTS:
            raise ValueError(
                f"{path}: expected at most {_MAX_ASSIGNMENTS} assignments, got more. It is another file: fetch it again"
            )
    if positive.size == 0:
        raise ValueError(f"{path}: expected documents with topic {topic}, found none among {n} assignments. Replace it")
    return labelled, positive


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the expanded file in blocks of whole lines."""
    rest = b""
    try:
        with gzip.open(path) as handle:
            while content := handle.read(_BLOCK):
                head, newline, tail = content.rpartition(b"\n")
                if newline:
                    yield rest + head + newline
                    rest = tail
                else:
                    rest += content
                if len(rest) > _MAX_LINE:
                    raise ValueError(f"{path}: a line has more than {_MAX_LINE} bytes; expected text. Fetch it again")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{path}: cannot be decompressed ({error}); expected a complete .gz file. Replace it by an intact copy"
        ) from error
    if rest:
        yield rest + b"\n"


def _require_lines(path: Path, before: int, block: bytes, pattern: re.Pattern[bytes], expected: str) -> None:
    """Raise unless every line of a block has the format."""
    match = pattern.match(block)
    end = 0 if match is None else match.end()
    if end < len(block):
        line = block[end : block.index(b"\n", end)]
        number = before + block.count(b"\n", 0, end)
        for pair in line.split():
            if not _is_finite(pair):
                raise bad_line(path, number + 1, "finite values", pair)
        raise bad_line(path, number + 1, expected, line)


def _is_finite(pair: bytes) -> bool:
    """Tell a pair whose value is NaN or infinite from all else: it is named in the message."""
    try:
        return math.isfinite(float(pair.partition(b":")[2]))
    except ValueError:
        return True


def _numbers_of(path: Path, before: int, block: bytes, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return document numbers, columns and values of a block of well-formed lines."""
    numbers = _read_numbers(block.replace(b":", b" "))
    first = np.append(0, np.cumsum(2 * lengths + 1)[:-1])
    documents = numbers[first].astype(np.int64)
    pairs = np.delete(numbers, first).reshape(-1, 2)
    columns, values = pairs[:, 0].astype(np.int32) - 1, pairs[:, 1].copy()
    line = np.repeat(np.arange(lengths.size), lengths)
    not_increasing = np.append(False, (np.diff(columns) <= 0) & (np.diff(line) == 0))
    checks = {
        f"terms from 1 to {N_TERMS}": (columns < 0) | (columns >= N_TERMS),
        "increasing terms": not_increasing,
        "finite values": ~np.isfinite(values),
    }
    for expected, wrong in checks.items():
        if wrong.any():
            k = int(wrong.argmax())
            raise bad_line(path, before + int(line[k]) + 1, expected, f"{columns[k] + 1}:{values[k]:g}".encode())
    return documents, columns, values


def _per_line(block: bytes, char: bytes) -> np.ndarray:
    """Return how often a character occurs in each line."""
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.searchsorted(np.flatnonzero(text == ord(char)), np.flatnonzero(text == ord("\n")))
    return np.diff(ends, prepend=0)


def _read_numbers(text: bytes) -> np.ndarray:
    """Return the numbers of a text; newlines separate too."""
    return np.fromstring(text.decode("ascii"), dtype=np.float64, sep=" ")
