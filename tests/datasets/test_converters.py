"""Converters and the reader of R data, on made files and on the published ones."""

import gzip
import lzma
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from r_objects import integer, pairs, r, texts, vector
from scipy import sparse

from provlab.data import FetchError, read_source
from provlab.data.download import converter
from provlab.data.files import difference
from provlab.data.r_data import read_r_data

RCV1 = converter("rcv1_subsets").__globals__  # a script of the checkout
CODES, N_DOCUMENTS, Shift, repaired = (
    RCV1[name] for name in ("CODES", "N_DOCUMENTS", "Shift", "repaired")
)


@pytest.mark.parametrize(
    ("name", "unpack"), [("pack_xz", lzma.decompress), ("pack_gz", gzip.decompress)]
)
def test_plain_files_are_packed(name, unpack, tmp_path):
    (tmp_path / "plain").write_bytes(b"some text" * 99)
    converter(name)([tmp_path / "plain"], tmp_path / "packed")
    assert unpack((tmp_path / "packed").read_bytes()) == b"some text" * 99


def test_a_converter_of_a_checkout_is_none_of_the_package(monkeypatch, tmp_path):
    monkeypatch.setattr("provlab.data.download.SCRIPTS", tmp_path)
    with pytest.raises(
        FetchError,
        match=r"converter data_scripts/rcv1_subsets\.py is not installed; run the fetch in a "
        r"checkout",
    ):
        converter("rcv1_subsets")


HALVES = (
    ([[b"alpha", b"be'ta", b"gam\xa0ma"], [b"door"], []], np.array([1, 0, 1])),
    ([[b"alpha", b"back\\slash"], [b"alpha", b'dou"ble']], np.array([0, 1])),
)
TOKEN_TEXT = b"+1 a alpha be'ta gam\xa0ma\n-1 b alpha back\\slash\n-1 a door\n+1 b alpha dou\"ble\n+1 a\n"


def test_token_lists_and_no_names_of_others(tmp_path):
    (tmp_path / "pkl").write_bytes(pickle.dumps(HALVES, 3))
    converter("techtc_tokens")([tmp_path / "pkl"], tmp_path / "out")
    assert lzma.decompress((tmp_path / "out").read_bytes()) == TOKEN_TEXT
    (tmp_path / "pkl").write_bytes(pickle.dumps(np.lib.format.open_memmap, 3))
    with pytest.raises(
        pickle.UnpicklingError, match=r"numpy\.lib.*open_memmap in a pickle of tokens"
    ):
        converter("techtc_tokens")([tmp_path / "pkl"], tmp_path / "out")


@pytest.mark.parametrize("early", [0, 1, 3])
def test_labels_that_begin_early_are_moved_back(early):
    """Of six rows the last three have no last features, and their labels begin that many columns early."""
    rng = np.random.default_rng(early)
    features = rng.random((6, 9)) * (rng.random((6, 9)) < 0.5)
    topics = rng.random((6, len(CODES))) < 0.1
    features[3:, 9 - early :] = 0
    frame = np.hstack([features, topics])
    frame[3:] = np.hstack([features[3:, : 9 - early], topics[3:], np.zeros((3, early))])
    X, shift = repaired(sparse.coo_array(frame), Shift(9, slice(3, 6), early))
    assert X.shape == (6, 47236)
    assert_array_equal(X.toarray()[:, :9], features)
    assert X[:, 9:].nnz == 0
    assert_array_equal(shift, topics)


# ---- the published files


@pytest.mark.parametrize(
    ("source", "path"),
    [
        *(
            ("techtc", f"techtc100/tokens/{name}.txt.xz")
            for name in ("Exp_10341_10755", "Exp_8308_8366")
        ),
        ("cifar10", "cifar10/cifar10_labels.js.xz"),
    ],
)
def test_what_is_made_of_the_published_files_is_what_is_registered(
    real_mirror, tmp_path, source, path
):
    file = read_source(source).find(path)
    [raw] = [real_mirror / name for name in file.made_from]
    if not raw.is_file():  # a mirror may keep raw files packed
        packed = next(
            (
                place
                for place in (raw.with_name(f"{raw.name}.xz"), real_mirror / path)
                if place.is_file()
            ),
            None,
        )
        if packed is None:
            pytest.skip(f"needs real data: the mirror has no {raw.name}")
        raw = tmp_path / "raw"
        raw.write_bytes(lzma.decompress(packed.read_bytes()))
    converted = tmp_path / path.rsplit("/", 1)[1]
    converter(file.converter)([raw], converted)
    assert difference(file, converted) == ""


def test_a_sample_of_rcv1_is_the_first_part_of_the_registered_arrays(
    real_mirror, tmp_path
):
    raw = real_mirror / "raw" / "rcv1" / "rcv1sub1.rda"
    if not raw.is_file():
        pytest.skip(f"needs real data: the mirror has no {raw.name}")
    converter("rcv1_subsets")([raw], tmp_path / "first.npz")
    with (
        np.load(tmp_path / "first.npz") as ours,
        np.load(real_mirror / "rcv1_subsets" / "rcv1v2_subsets_fixed.npz") as theirs,
    ):
        n_entries = theirs["indptr"][N_DOCUMENTS]
        sizes = {"data": n_entries, "indices": n_entries, "indptr": N_DOCUMENTS + 1}
        for name in ours:
            expected = (
                np.array([N_DOCUMENTS, 47236]) if name == "shape" else theirs[name]
            )
            if expected.shape and name not in ("shape", "topic_codes"):
                expected = expected[: sizes.get(name, N_DOCUMENTS)]
            assert ours[name].dtype == theirs[name].dtype
            assert_array_equal(ours[name], expected, err_msg=name)


# ---- R data


def test_objects_with_their_attributes(tmp_path):
    """A data frame with a factor, a text, nothing, and a list whose attribute is the third symbol of the file."""
    numbers = vector([0, 1.5, np.nan])
    frame = r(
        19,
        integer(2) + numbers + vector([1, 2, 1], levels=texts("n", "t")),
        names=texts("x", "y"),
    )
    names = integer(0x402) + integer(255 | 3 << 8) + texts() + integer(254)
    objects = {
        "frame": frame,
        "note": r(16, integer(1) + integer(9) + integer(4) + b"caf\xe9"),
        "none": integer(254),
    }
    again = integer(19 | 0x200) + integer(0) + names
    path = tmp_path / "made.RData"
    path.write_bytes(
        lzma.compress(b"RDX2\nX\n" + bytes(12) + pairs({**objects, "again": again}))
    )
    objects = read_r_data(path)
    assert [*objects] == ["frame", "note", "none", "again"]
    assert_array_equal(objects["frame"]["x"].values, [0, 1.5, np.nan])
    assert objects["frame"]["y"].values.tolist() == [1, 2, 1]
    assert objects["frame"]["y"].attributes["levels"].values == ["n", "t"]
    assert objects["note"].values == ["caf\xe9"]
    assert objects["none"] is None
    assert [*objects["again"].attributes] == ["names"]
    assert read_r_data(path, doubles=np.flatnonzero)["frame"]["x"].values.tolist() == [
        1,
        2,
    ]
