"""TechTC text categorization: pairs of web directory categories, from token lists or the official vectors."""

import csv
import lzma
import re
from collections.abc import Iterator
from pathlib import Path

from ._bag import WEIGHTINGS, Corpus, count_matrix, weigh
from ._cache import cached
from ._checks import check_choice, check_integer
from ._errors import MissingDataError
from ._locate import content_hash, locate
from ._paths import MIRROR_VARIABLE, describe_roots, search_roots
from ._record import Dataset, make_dataset
from ._sources import read_source
from ._techtc_parse import parse_tokens, parse_vectors

_TOKENS = "techtc100/tokens"
_TABLE = "techtc100/datasets.tsv"
_OFFICIAL = ("techtc300", "techtc100")
_FORMS = ("auto", "tokens", "official")
_SET = re.compile(r"Exp_[0-9]+_[0-9]+")
_CITATION = "TechTC, Gabrilovich and Markovitch (2004), ICML"
# The largest registered token list expands to 1.2 MB; an unregistered file must not fill the memory.
_MAX_EXPANDED = 1 << 28


def load(
    *, set: str = "Exp_10341_10755", min_word_length: int = 5, weighting: str = "counts", form: str = "auto"
) -> Dataset:
    """Load one two-class set of 125 to 165 documents and 7 to 19 thousand words.

    Two forms exist: token lists (folder techtc100/tokens of a mirror) and the official preprocessed vectors
    (folders techtc300/Exp_* and techtc100/Exp_*). They come from different tokenisers; `source` says which
    one was read. The same words in both forms give the same record.

    Parameters
    ----------
    set : str, default="Exp_10341_10755"
        Exp_<id1>_<id2>; label +1 is category id1, -1 is id2. `members()` lists those that are present.
    min_word_length : int, default=5
        Shorter words are left out: 5 removes the words of at most four letters, as in the paper. Documents
        that are or become empty are kept as zero rows.
    weighting : {"counts", "l2", "log_l2", "tfidf_l2"}, default="counts"
        Entries are word counts c; "l2" scales rows to norm one; "log_l2" does so to 1 + ln c; "tfidf_l2" to
        c (ln((1 + n) / (1 + document frequency)) + 1). The document frequencies are unsupervised, and are
        taken from *all* documents of the set, those of later test folds included.
    form : {"auto", "tokens", "official"}, default="auto"
        Form to read; "auto" takes token lists when they are there, else the official vectors.

    Returns
    -------
    Dataset
        Sparse X of shape (documents, words); the features are the words in sorted order.

    Raises
    ------
    ValueError
        For bad parameters or damaged files.
    MissingDataError
        When the set is in none of the searched folders.
    """
    if not isinstance(set, str) or not _SET.fullmatch(set):
        raise ValueError(f"techtc: set must look like 'Exp_10341_10755', got {set!r}")
    check_integer("techtc", "min_word_length", min_word_length, minimum=1)
    check_choice("techtc", "weighting", weighting, WEIGHTINGS)
    check_choice("techtc", "form", form, _FORMS)
    path = _find(set, form)
    digest = content_hash(_parts(path))
    params = {"set": set, "min_word_length": int(min_word_length), "weighting": weighting}

    def build() -> Dataset:
        corpus = _read_corpus(path)
        if sorted({*corpus.labels}) != [-1, 1]:
            raise ValueError(f"{path}: expected documents of both labels, +1 and -1, got { ({*corpus.labels}) }")
        counts, words = count_matrix(corpus, min_word_length=min_word_length)
        if not words:
            raise ValueError(f"techtc: {set} has no word of {min_word_length} letters. Lower min_word_length")
        names = [word.decode("latin-1") for word in words]
        kind = "official preprocessed vectors" if path.is_dir() else "token lists"
        source = f"{_CITATION}; {kind} {path.parent.name}/{path.name}, SHA-256 {digest}"
        return make_dataset(weigh(counts, weighting), corpus.labels, names, name=set, source=source)

    return cached("techtc", params, digest, build)


def members() -> list[str]:
    """Return the sets that are present in the searched folders, in either form, sorted."""
    paths = [*_token_lists("Exp_*_*"), *_official_folders("Exp_*_*")]
    return sorted({name for path in paths if _SET.fullmatch(name := path.name.removesuffix(".txt.xz"))})


def categories(set: str) -> tuple[str, str] | None:
    """Return the two directory categories of a set, from the table techtc100/datasets.tsv of a mirror.

    Parameters
    ----------
    set : str
        Exp_<id1>_<id2>.

    Returns
    -------
    (str, str) or None
        Categories of the labels +1 and -1; None when no searched folder has the table, or it lacks the set.

    Raises
    ------
    DataIntegrityError
        When the table is not the registered one.
    """
    registered = read_source("techtc").find(_TABLE)
    assert registered is not None
    try:
        path = locate(registered)
    except MissingDataError:
        return None
    with path.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["dataset"] == set:
                return row["category_positive"], row["category_negative"]
    return None


def _token_lists(pattern: str) -> Iterator[Path]:
    """Yield the token lists of the sets whose name matches, mirror first."""
    for root in search_roots():
        yield from sorted((root / _TOKENS).glob(f"{pattern}.txt.xz"))


def _official_folders(pattern: str) -> Iterator[Path]:
    """Yield the folders of the official archive whose name matches, mirror first."""
    for root in search_roots():
        for collection in _OFFICIAL:
            # Some copies of the archive have one more folder on top.
            for depth in (pattern, f"*/{pattern}"):
                yield from sorted(path for path in (root / collection).glob(depth) if path.is_dir())


def _find(name: str, form: str) -> Path:
    """Return the token list or official folder of a set; registered token lists are verified."""
    path = next(_token_lists(name), None) if form != "official" else None
    if path is not None:
        registered = read_source("techtc").find(f"{_TOKENS}/{name}.txt.xz")
        return path if registered is None else locate(registered)
    path = next(_official_folders(name), None) if form != "tokens" else None
    if path is not None:
        return path
    present = members()
    raise MissingDataError(
        f"techtc: the set {name} is missing (form={form!r}; {len(present)} other sets are present). "
        f"Searched {_TOKENS}/{name}.txt.xz and {' , '.join(f'{c}/{name}/' for c in _OFFICIAL)} in "
        f"{describe_roots()}. Run `provsel fetch techtc` for the official vectors, published at "
        f"{read_source('techtc').homepage} , or set {MIRROR_VARIABLE} to a folder that holds one of these"
    )


def _parts(path: Path) -> list[Path]:
    """Return the files of a set."""
    if path.is_file():
        return [path]
    parts = [path / "vectors.dat", path / "features.idx"]
    for part in parts:
        if not part.is_file():
            raise MissingDataError(
                f"techtc: {path.name} lacks {part.name}: expected vectors.dat and features.idx in {path}. "
                "Delete that folder and run `provsel fetch techtc`"
            )
    return parts


def _read_corpus(path: Path) -> Corpus:
    """Parse whichever form `path` is."""
    if path.is_dir():
        vectors, features = (part.read_bytes() for part in _parts(path))
        return parse_vectors(vectors, features, str(path))
    try:
        with lzma.open(path) as handle:
            content = handle.read(_MAX_EXPANDED + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError(
            f"{path}: cannot be decompressed ({error}); expected a complete .xz file. Replace it by an intact copy"
        ) from error
    if len(content) > _MAX_EXPANDED:
        raise ValueError(f"{path}: expands to more than {_MAX_EXPANDED} bytes; expected a token list. Delete it")
    return parse_tokens(content, str(path))
