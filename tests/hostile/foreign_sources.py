"""The sources of converters, each with whole files to damage; `few` makes the sizes small that a converter expects."""

import lzma
import tarfile

import numpy as np
from hostile_bytes import Reader

import made_sources as made
from provlab.datasets import _rcv1_stems
from provlab.datasets._r_data import Doubles, RVector, read_r_data
from provlab.datasets._rcv1_stems import read_stems
from provlab.datasets._techtc_parse import parse_tokens
from provlab.datasets.converters import _rcv1_repair, cifar10_jpeg, rcv1_subsets, run_converter, techtc_tokens
from provsel.streams.npz import read_npz


def few(monkeypatch):
    monkeypatch.setattr(_rcv1_repair, "ROWS", 4)
    monkeypatch.setattr(rcv1_subsets, "ROWS", 4)
    for module in (_rcv1_repair, rcv1_subsets):
        monkeypatch.setattr(module, "CODES", made.CODES)
    monkeypatch.setattr(rcv1_subsets, "_SHIFTS", (_rcv1_repair.Shift(**made.SHIFT),))
    monkeypatch.setattr(cifar10_jpeg, "N_TRAIN", 20)
    monkeypatch.setattr(cifar10_jpeg, "N_TEST", 10)
    monkeypatch.setattr(_rcv1_stems, "N_TERMS", 4)
    # the largest preset clears hundreds of megabytes for each of thousands of files
    monkeypatch.setattr(techtc_tokens, "_PRESET", 0)


def converted(name, path, *others):
    """Convert into the folder that a reader may write to; nothing is there after an error."""
    target = path.parent / "data" / "made"
    try:
        run_converter(name, [path, *others], target)
    except ValueError:
        assert not target.exists()
        assert not list(path.parent.glob("data/*"))
        raise
    return target


def token_list(path):
    corpus = parse_tokens(lzma.decompress(converted("techtc_tokens", path).read_bytes()), "made")
    assert corpus.labels
    assert {*corpus.labels} <= {-1, 1}
    assert len(corpus.documents) == len(corpus.labels)


def r_values(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            assert isinstance(name, str)
            r_values(inner)
    elif isinstance(value, RVector):
        r_values(value.attributes)
        if isinstance(value.values, Doubles):
            assert value.values.positions.shape == value.values.values.shape
            assert (value.values.positions < value.values.length).all()
        elif isinstance(value.values, list):
            for inner in value.values:
                r_values(inner)
        else:
            assert value.values.dtype == np.int32
    else:
        assert value is None or isinstance(value, str)


def repacked(read):
    """Return a reader of a stream that is packed before it is read, so that damage reaches the parser."""

    def packed(path):
        (path.parent / "data").mkdir(exist_ok=True)
        other = path.parent / "data" / path.name
        other.write_bytes(made.packed(path.read_bytes()))
        read(other)

    return packed


def sample(path):
    arrays = read_npz(converted("rcv1_subsets", path))
    assert arrays["shape"].tolist() == [4, 47236]
    assert arrays["indptr"][-1] == arrays["indices"].size == arrays["data"].size
    assert np.isfinite(arrays["data"]).all()


def images(path):
    with tarfile.open(converted("cifar10_jpeg", path)) as archive:
        assert [info.name for info in archive] == [name.rstrip("/") for name in cifar10_jpeg._names()]


def table(path):
    lists = path.parent / "mirror" / "Exp_1_2.txt.xz"
    lists.parent.mkdir(exist_ok=True)
    lists.write_bytes(lzma.compress(made.TOKEN_TEXT, preset=0))
    rows = converted("techtc_table", path, lists).read_text().splitlines()
    assert [len(row.split("\t")) for row in rows] == [11, 11]


def stems(path):
    assert len({*read_stems(path)}) == 4


def r_objects():
    names = made.Names()
    return made.r_stream(
        names.pairs(
            a=lambda: names.list([names.doubles([0, 1, 2]), names.texts([b"x", None]), word(254)], [b"d", b"t", b"n"]),
            b=lambda: names.integers([1, 2]),
        )
    )


word = made.word
PICKLE = made.token_pickle(*made.HALVES)
SHARED = made.token_pickle([(1, [b"a", b"b", b"a"])], [(0, [b"a"])], shared=True)
PICKLE_WORDS = (
    *(b"(", b"l", b"t", b"a", b"S'x'\n", b"g1\n", b"p1\n", b"I1\n", b"L2L\n", b"N", b".", b"R", b"b", b"0", b"2", b"d"),
    *(b"cos\nsystem\n", b"cnumpy\ndtype\n", b"ios\nsystem\n", b"Pid\n", b"\x80\x02", b"\x82\x01", b"T\xff\xff\xff\x7f"),
    *(b"\\x00", b"\\x", b"p999999\n", b"(lp0\ng0\na"),
)
R_WORDS = (
    *(word(kind) for kind in (1, 2, 0x402, 0x602, 3, 4, 6, 9, 10, 13, 14, 0x20D, 16, 19, 25, 238, 254, 255, 0x1FF)),
    *(word(-1), word(5), word(100_000), word(2**31 - 1), b"RDX3\nX\n", b"Class1", b"names"),
)
STREAM = made.made_sample()
PAGE = made.page(made.page_row(1, 1, 2, 5), made.page_row(2, 30, 4, 7))
STEMS = b"_ 1 10.05\nab-c 2 8.4\n0x 3 1\nzz 4 2.25\n"


def small_repository(mode="w:gz"):
    """Return the archive of thirty images, as `few` wants it."""
    names = [f"{part}/{kind}/{i:04}.jpg" for part, n in (("train", 2), ("test", 1)) for kind in cifar10_jpeg.CLASSES
             for i in range(n)]  # fmt: skip
    return made.repository([*names, "README.md"], mode=mode, content=lambda _: b"\xff\xd8")


SOURCES = {
    "token pickle": Reader("x.pkl", (PICKLE, SHARED), token_list, PICKLE_WORDS),
    "R data, packed": Reader("x.rda", (made.packed(r_objects()),), lambda path: r_values(read_r_data(path))),
    "R data": Reader("x.rda", (r_objects(),), repacked(lambda path: r_values(read_r_data(path))), R_WORDS),
    "RCV1 sample, packed": Reader("x.rda", (made.packed(STREAM),), sample),
    "RCV1 sample": Reader("x.rda", (STREAM,), repacked(sample), R_WORDS),
    "TechTC page": Reader("page.html", (PAGE,), table, (b"<tr>", b"</tr>", b"<td>", b"</td>", b"</a>", b"Exp", b"5")),
    "repository": Reader("r.tar", (small_repository("w"),), images, (b"train/", b"..", b"5", b"2", b"x", b"g", b"L")),
    "repository, packed": Reader("r.tar.gz", (small_repository(),), images),
    "stems": Reader("stems.txt", (STEMS,), stems, (b"zz", b" 4 ", b"\n", b" ")),
}
