"""TechTC: token lists from published pickles, and the table of the sets from their published page."""

from __future__ import annotations

import lzma
import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from provlab.datasets.loaders.techtc import read_tokens
from provlab.datasets.registry import read_source
from provsel.files import replacing

_PRESET = 1  # an eighth larger than by 6 (18 MB all in all), in a sixth of the time; 3: a fiftieth less, thrice as slow

COLUMNS = (
    *("dataset", "documents", "positive", "negative", "terms", "terms_longer_than_4", "empty_documents", "sha256"),
    *("category_positive", "category_negative", "published_svm_accuracy"),
)
_CATEGORY = r'<td[^>]*>\s*<a href="http://www\.dmoz\.org/([^"]+)">([0-9]+)</a>\s*</td>\s*'
_CELL = r"<td[^>]*>\s*([0-9.]+)\s*</td>\s*"
_ROW = re.compile(_CATEGORY + _CATEGORY + _CELL + _CELL)
"""Two categories, the number of documents and the accuracy."""


_KNOWN = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}
"""What the names in the pickles stand for."""


class TokenUnpickler(pickle.Unpickler):
    """Unpickles lists of texts and vectors of numbers: of all names it knows three of NumPy, and imports none.

    The pickles are of Python 2, so that texts are bytes.
    """

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the three."""
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"the name {module}.{name}")
        return _KNOWN[module, name]


def techtc_tokens(sources: Sequence[Path], target: Path) -> None:
    """Write the documents of one pickle as a token list, see `read_tokens`, packed with xz.

    The pickle holds two halves, each a pair of documents (lists of texts) and labels (0 or 1). Its maker dealt the
    documents out to the halves in turn, so they are taken from both in turn. The packed bytes depend on the version of
    liblzma, the text does not.

    Raises
    ------
    ValueError
        When the pickle holds anything else; it names the file.
    """
    [path] = sources
    try:
        with path.open("rb") as file:
            first, second = TokenUnpickler(file, encoding="bytes").load()
        pairs = [[*zip(labels.tolist(), documents, strict=True)] for documents, labels in (first, second)]
        lines = []
        for k in range(sum(map(len, pairs))):
            label, tokens = pairs[k % 2][k // 2]
            lines.append(b" ".join([b"+1" if label else b"-1", (b"a", b"b")[k % 2], *tokens]) + b"\n")
    except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, LookupError, EOFError) as error:
        raise ValueError(
            f"{path}: expected a pickle of two halves of documents and labels, got {error!s:.80}. It is another file "
            "or damaged: fetch it again, and do not unpickle it"
        ) from error
    with replacing(target) as temporary:
        temporary.write_bytes(lzma.compress(b"".join(lines), preset=_PRESET))


def techtc_table(sources: Sequence[Path], target: Path) -> None:
    """Write one row a set, sorted by name, as tab-separated text: sizes are counted, categories and accuracies copied.

    The sources are the page, then token lists Exp_<id1>_<id2>.txt.xz.

    Raises
    ------
    ValueError
        For a set that the page does not list with its number of documents.
    """
    page, *lists = sources
    published = {
        f"Exp_{one}_{two}": (positive, negative, int(documents), accuracy)
        for positive, one, negative, two, documents, accuracy in _ROW.findall(page.read_text(encoding="latin-1"))
    }
    rows: list[tuple[object, ...]] = [COLUMNS]
    for path in sorted(lists, key=lambda path: path.name.removesuffix(".txt.xz")):
        name = path.name.removesuffix(".txt.xz")
        sizes = _sizes(path)
        positive, negative, documents, accuracy = published.get(name, ("", "", 0, ""))
        if documents != sizes[0]:
            raise ValueError(f"{path}: expected {documents} documents as in {page}, got {sizes[0]}. Fetch both again")
        # of the registered bytes: those of the list here depend on the version of liblzma that packed it
        registered = read_source("techtc").find(f"techtc100/tokens/{path.name}")
        sha256 = None if registered is None else registered.sha256
        rows.append((name, *sizes, sha256, positive, negative, accuracy))
    with replacing(target) as temporary:
        temporary.write_bytes("".join("\t".join(map(str, row)) + "\n" for row in rows).encode())


def _sizes(path: Path) -> tuple[int, ...]:
    """Return documents, those of either label, terms, long ones, and documents without any."""
    labels, documents = read_tokens(path)
    terms = set().union(*documents)
    positive = labels.count(1)
    longer = sum(len(term) > 4 for term in terms)
    return len(labels), positive, len(labels) - positive, len(terms), longer, sum(not counts for counts in documents)
