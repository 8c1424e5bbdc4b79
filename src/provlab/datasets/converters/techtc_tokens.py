"""The token list of a TechTC set, from a published pickle that is never unpickled."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from provlab.datasets._token_pickle import Vector, read_token_pickle
from provsel.files import replacing

from ._sources import one_source

_MAX_TOKEN = 10_000  # bytes; the longest of the published files has 3,757
_PRESET = 1  # an eighth larger than by 6 (18 MB all in all), in a sixth of the time; 3: a fiftieth less, thrice as slow
_MAX_TEXT = 5_000_000  # bytes; the largest of the published files gives 1,236,341


def convert(sources: Sequence[Path], target: Path) -> None:
    """Write the documents as `parse_tokens` reads them: label, the letter of the half, tokens; packed with xz.

    The packed bytes depend on the version of liblzma, the text does not.

    Parameters
    ----------
    sources : sequence of Path
        One pickle of two halves, each a pair of documents (lists of byte strings) and labels (int32, 0 or 1).
    target : Path

    Raises
    ------
    ValueError
        When the pickle is anything else.
    """
    path = one_source("techtc_tokens", sources)
    lines, room = [], _MAX_TEXT
    for label, part, tokens in _documents(path, read_token_pickle(path)):
        room -= 5 + len(tokens) + sum(map(len, tokens))
        if room < 0:  # before it is put together: one string of the memo may be most of the tokens
            raise _bad(path, f"at most {_MAX_TEXT} bytes of text", "more")
        lines.append(b" ".join([label, part, *tokens]) + b"\n")
    content = lzma.compress(b"".join(lines), preset=_PRESET)
    with replacing(target) as temporary:
        temporary.write_bytes(content)


def _documents(path: Path, tree: Any) -> Iterator[tuple[bytes, bytes, list[bytes]]]:
    """Yield label, letter and tokens of each document, in the order of the archive that the pickle was made from.

    Its maker dealt the documents out to the two halves in turn, so they are taken from both in turn.
    """
    if not (isinstance(tree, tuple) and len(tree) == 2):
        raise _bad(path, "a pair of halves", type(tree).__name__)
    halves = [_half(path, half) for half in tree]
    sizes = [len(half) for half in halves]
    if sizes[0] - sizes[1] not in (0, 1):
        raise _bad(path, "two halves that documents were dealt out to in turn", f"{sizes[0]} and {sizes[1]} documents")
    for k in range(sum(sizes)):
        label, tokens = halves[k % 2][k // 2]
        yield label, (b"a", b"b")[k % 2], tokens


def _half(path: Path, half: Any) -> list[tuple[bytes, list[bytes]]]:
    """Return the documents of a half with their labels."""
    pair = isinstance(half, tuple) and len(half) == 2 and type(half[0]) is list and isinstance(half[1], Vector)
    if not pair or half[1].values is None:
        raise _bad(path, "a pair of documents and labels in each half", "something else")
    documents, labels = half[0], half[1].values
    if len(documents) != len(labels):
        raise _bad(path, "a label for each document", f"{len(documents)} documents and {len(labels)} labels")
    if not {*labels} <= {0, 1}:
        raise _bad(path, "labels 0 and 1", str({*labels}))
    for document in documents:
        if type(document) is not list:
            raise _bad(path, "a list of tokens for each document", type(document).__name__)
        for kind in dict.fromkeys(map(type, document)):
            if kind is not bytes:
                raise _bad(path, "tokens that are strings", kind.__name__)
    for token in dict.fromkeys(chain.from_iterable(documents)):  # each once: most occur often
        if not 0 < len(token) <= _MAX_TOKEN or b" " in token or b"\n" in token:
            raise _bad(path, f"tokens of 1 to {_MAX_TOKEN} bytes without blanks and newlines", repr(token[:40]))
    return [(b"+1" if label else b"-1", document) for label, document in zip(labels, documents, strict=True)]


def _bad(path: Path, expected: str, got: str) -> ValueError:
    return ValueError(f"{path}: expected {expected}, got {got:.80}. It is another file or damaged: fetch it again")
