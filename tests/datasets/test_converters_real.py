"""What published files hold; that converters make of them what is registered is for test_fetch_everything."""

import lzma

import numpy as np
import pytest

from provlab.datasets import load_dataset


@pytest.fixture
def raw(real_mirror):
    if not (real_mirror / "raw" / "techtc").is_dir():
        pytest.skip("needs real data: the mirror has no folder raw with the published files")
    return real_mirror / "raw"


def unpacked(path, target):
    target.write_bytes(lzma.decompress(path.read_bytes()))
    return target


def test_stems_of_rcv1(raw, real_mirror, data_folder):
    if not (real_mirror / "rcv1_subsets").is_dir():
        pytest.skip("needs real data: the mirror has no folder rcv1_subsets")
    (data_folder / "rcv1").mkdir(parents=True)
    unpacked(raw / "rcv1" / "stem.termid.idf.map.txt.xz", data_folder / "rcv1" / "stem.termid.idf.map.txt")
    stems = load_dataset("rcv1_ccat", form="subsets", n_train=200, names="stems")
    terms = load_dataset("rcv1_ccat", form="subsets", n_train=200)
    assert stems.feature_names[[0, 1, 47234, 47235]].tolist() == ["_", "_____", "zyuganov", "zywnosciowej"]
    assert terms.feature_names[[0, 1, 47234, 47235]].tolist() == ["1", "2", "47235", "47236"]
    assert (stems.X != terms.X).nnz == 0
    assert stems.content != terms.content
    # A common word of business news stands where it should: in more of the CCAT documents than of the others.
    share = stems.X[:, np.flatnonzero(stems.feature_names == "profit")].toarray().ravel() > 0
    assert share[stems.y == 1].mean() > 2 * share[stems.y == -1].mean()
