"""The table of TechTC sets: their sizes from the token lists, their categories and accuracies from a published page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from provlab.datasets._locate import file_sha256
from provlab.datasets._small import read_small
from provlab.datasets._sources import read_source
from provlab.datasets._techtc_parse import parse_tokens
from provlab.datasets._xz import read_xz
from provsel.files import replacing

_COLUMNS = (
    *("dataset", "documents", "positive", "negative", "terms", "terms_longer_than_4", "empty_documents", "sha256"),
    *("category_positive", "category_negative", "published_svm_accuracy"),
)
_MAX_PAGE = 1 << 18  # bytes; the published one has 57,116
_MAX_EXPANDED = 1 << 24  # of a token list; the largest has 1,236,341
_LINK = re.compile(r'<a href="http://www\.dmoz\.org/([A-Za-z0-9_/.,\'&;()+-]+)">([0-9]{1,9})</a>')
_ACCURACY = re.compile(r"[01](?:\.[0-9]{1,9})?")
_COUNT = re.compile(r"[0-9]{1,6}")


class _Published(NamedTuple):
    positive: str
    negative: str
    documents: int
    accuracy: str


def convert(sources: Sequence[Path], target: Path) -> None:
    """Write one row a set, sorted by name: tab-separated text.

    Parameters
    ----------
    sources : sequence of Path
        The page, then token lists Exp_<id1>_<id2>.txt.xz.
    target : Path

    Raises
    ------
    ValueError
        For a damaged source, a set that the page does not list or lists with another number of documents, and a
        token list that is registered with another content.
    """
    if len(sources) < 2:
        raise ValueError(f"techtc_table: expected a page and token lists, got {len(sources)} files. Correct made_from")
    page, *lists = sources
    published = _read_page(page)
    by_name = {path.name.removesuffix(".txt.xz"): path for path in lists}
    rows: list[tuple[str, ...]] = [_COLUMNS]
    for name, path in sorted(by_name.items()):
        if name not in published:
            raise ValueError(f"{page}: expected a row of {name}, got {len(published)} others. It is another page")
        rows.append(_row(name, path, page, published[name]))
    with replacing(target) as temporary:
        temporary.write_bytes("".join("\t".join(row) + "\n" for row in rows).encode())


def _row(name: str, path: Path, page: Path, published: _Published) -> tuple[str, ...]:
    """Return the cells of one set."""
    text = read_xz(path, _MAX_EXPANDED, "a token list")
    corpus = parse_tokens(text, str(path))
    if len(corpus.labels) != published.documents:
        raise ValueError(
            f"{path}: expected {published.documents} documents as in {page}, got {len(corpus.labels)}. Fetch both again"
        )
    terms = {term for counts in corpus.documents for term in counts}
    positive = sum(label == 1 for label in corpus.labels)
    empty = sum(not counts for counts in corpus.documents)
    longer = sum(len(term) > 4 for term in terms)
    sizes = (len(corpus.labels), positive, len(corpus.labels) - positive, len(terms), longer, empty)
    sha256 = _packed_hash(name, path, text)
    return name, *map(str, sizes), sha256, published.positive, published.negative, published.accuracy


def _packed_hash(name: str, path: Path, text: bytes) -> str:
    """Return the registered hash of a packed token list, where this one holds the same text.

    Else the table would depend on the version of liblzma that packed the list here.
    """
    packed = file_sha256(path)
    file = read_source("techtc").find(f"techtc100/tokens/{name}.txt.xz")
    if file is None or file.sha256 is None or file.sha256 == packed:
        return packed
    content = hashlib.sha256(text).hexdigest()
    if content != file.content_sha256:
        raise ValueError(
            f"{path}: expected the registered text, SHA-256 {file.content_sha256}, got {content}. Delete it and run "
            "`provsel fetch techtc`"
        )
    return file.sha256


def _read_page(path: Path) -> dict[str, _Published]:
    """Return what the page says about each set. Cells are split, not matched: no page takes long."""
    page = read_small(path, _MAX_PAGE, "a page").decode("latin-1")
    published: dict[str, _Published] = {}
    for row in page.split("<tr>")[1:]:
        cells = [_content(cell) for cell in row.partition("</tr>")[0].split("<td")[1:]]
        if not cells:
            continue  # the head
        if len(cells) != 10:
            raise _bad(path, "ten cells in a row", f"{len(cells)}")
        one, two = _LINK.fullmatch(cells[1]), _LINK.fullmatch(cells[2])
        if one is None or two is None or not _COUNT.fullmatch(cells[3]) or not _ACCURACY.fullmatch(cells[4]):
            raise _bad(path, "two categories, a number of documents and an accuracy", repr(cells[1:5]))
        name = f"Exp_{one[2]}_{two[2]}"
        if name in published:
            raise _bad(path, "each set once", name)
        published[name] = _Published(one[1], two[1], int(cells[3]), cells[4])
    return published


def _content(cell: str) -> str:
    """Return what stands between the rest of the opening tag and the closing one."""
    return cell.partition(">")[2].partition("</td>")[0].strip()


def _bad(path: Path, expected: str, got: str) -> ValueError:
    return ValueError(f"{path}: expected {expected}, got {got:.120}. It is another page: fetch it again")
