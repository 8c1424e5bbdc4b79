"""TechTC text categorization: pairs of web directory categories, from token lists or the official vectors."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from provlab.datasets._bag import WEIGHTINGS, Corpus, count_matrix, weigh
from provlab.datasets._cache import parsed
from provlab.datasets._errors import MissingDataError
from provlab.datasets._identity import FileOfData
from provlab.datasets._locate import locate
from provlab.datasets._paths import MIRROR_VARIABLE, describe_roots, search_roots
from provlab.datasets._record import Dataset, make_dataset
from provlab.datasets._sources import read_source
from provlab.datasets._techtc_parse import parse_tokens, parse_vectors
from provlab.datasets._xz import read_xz
from provsel.checks import check_choice, check_integer

VERSION = 1
LATER = ("form",)

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
    weighting : {"counts", "binary", "log", "l2", "log_l2", "tfidf_l2"}, default="counts"
        Entries are word counts c; "binary": 1; "log": 1 + ln c. "l2" scales rows to norm one; "log_l2" does so to
        1 + ln c; "tfidf_l2" to
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
    parameters = settled(set=set, min_word_length=min_word_length, weighting=weighting, form=form)

    def build(paths: list[Path], digest: str) -> Dataset:
        corpus = _read_corpus(paths)
        if sorted({*corpus.labels}) != [-1, 1]:
            raise ValueError(f"{paths[0]}: expected documents of both labels, +1 and -1, got { ({*corpus.labels}) }")
        counts, words = count_matrix(corpus, min_word_length=min_word_length)
        if not words:
            raise ValueError(f"techtc: {set} has no word of {min_word_length} letters. Lower min_word_length")
        names = [word.decode("latin-1") for word in words]
        if len(paths) > 1:
            kind = f"official preprocessed vectors {paths[0].parent.parent.name}/{set}"
        else:
            kind = f"token lists {_TOKENS.rsplit('/', 1)[1]}/{paths[0].name}"
        source = f"{_CITATION}; {kind}, SHA-256 {digest}"
        return make_dataset(weigh(counts, weighting), corpus.labels, names, name=set, source=source)

    return parsed("techtc", parameters, build)


def files(*, set: str, min_word_length: int, weighting: str, form: str) -> list[FileOfData]:
    """Check the parameters of `load` and return the files that it reads.

    A registered token list is named, and need not be there; what is not registered has to be.
    """
    check_integer("techtc", "min_word_length", min_word_length, minimum=1)
    check_choice("techtc", "weighting", weighting, WEIGHTINGS)
    if form == "tokens":
        known = read_source("techtc").find(f"{_TOKENS}/{set}.txt.xz")
        tokens = _token_list(set) if known is None else known
        found = [] if tokens is None else [tokens]
    else:
        official = next(_official_folders(set), None)
        found = [] if official is None else _parts(official)
    if not found:
        raise _missing(set, form)
    return found


def settled(*, set: str, form: str, **others: Any) -> dict[str, Any]:
    """Return the parameters with the form that is read: of "auto" token lists, where only the vectors are there those.

    Token lists are registered, so that it is them where neither is there.
    """
    if not isinstance(set, str) or not _SET.fullmatch(set):
        raise ValueError(f"techtc: set must look like 'Exp_10341_10755', got {set!r}")
    check_choice("techtc", "form", form, _FORMS)
    if form == "auto":
        only_vectors = _token_list(set) is None and any(_official_folders(set))
        form = "official" if only_vectors else "tokens"
    return {**others, "set": set, "form": form}


def members() -> list[str]:
    """Return the registered sets, sorted: what "all" means must not depend on what was downloaded."""
    names = (Path(file.path).name.removesuffix(".txt.xz") for file in read_source("techtc").files)
    return sorted(name for name in names if _SET.fullmatch(name))


def present() -> list[str]:
    """Return the sets that are in the searched folders, in either form, sorted."""
    lists = (path for root in search_roots() for path in (root / _TOKENS).glob("Exp_*_*.txt.xz"))
    paths = [*lists, *_official_folders("Exp_*_*")]
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


def _token_list(name: str) -> Path | None:
    """Return the token list of a set, mirror first."""
    paths = (root / _TOKENS / f"{name}.txt.xz" for root in search_roots())
    return next((path for path in paths if path.is_file()), None)


def _official_folders(pattern: str) -> Iterator[Path]:
    """Yield the folders of the official archive whose name matches, mirror first."""
    for root in search_roots():
        for collection in _OFFICIAL:
            # Some copies of the archive have one more folder on top.
            for depth in (pattern, f"*/{pattern}"):
                yield from sorted(path for path in (root / collection).glob(depth) if path.is_dir())


def _missing(name: str, form: str) -> MissingDataError:
    return MissingDataError(
        f"techtc: the set {name} is missing (form={form!r}; {len(present())} other sets are present). "
        f"Searched {_TOKENS}/{name}.txt.xz and {' , '.join(f'{c}/{name}/' for c in _OFFICIAL)} in "
        f"{describe_roots()}. Run `provsel fetch techtc`, whose official vectors are published at "
        f"{read_source('techtc').homepage} , or set {MIRROR_VARIABLE} to a folder that holds one of these"
    )


def _parts(path: Path) -> list[FileOfData]:
    """Return the files of an official folder."""
    parts = [path / "vectors.dat", path / "features.idx"]
    for part in parts:
        if not part.is_file():
            raise MissingDataError(
                f"techtc: {path.name} lacks {part.name}: expected vectors.dat and features.idx in {path}. "
                "Delete that folder and run `provsel fetch techtc`"
            )
    return [*parts]


def _read_corpus(paths: Sequence[Path]) -> Corpus:
    """Parse whichever form the files are: a token list, or official vectors and their words."""
    if len(paths) > 1:
        vectors, features = (path.read_bytes() for path in paths)
        return parse_vectors(vectors, features, str(paths[0].parent))
    [path] = paths
    return parse_tokens(read_xz(path, _MAX_EXPANDED, "a token list"), str(path))
