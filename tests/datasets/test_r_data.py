"""R data files: made ones, the published microarrays, and files that are others or damaged."""

import bz2
import gzip
import lzma

import made_sources as made
import numpy as np
import pytest

from provlab.datasets import load_dataset
from provlab.datasets.r_data import read_r_data


def objects():
    """Return a data frame with a factor, as R's `save` writes it."""
    names = made.Names()
    factor = lambda: names.integers([1, 2, 1], levels=names.texts([b"n", b"t"]))  # noqa: E731
    frame = lambda: names.list([names.doubles([0, 1.5, np.nan]), factor()], [b"x", b"y"])  # noqa: E731
    return names.pairs(frame=frame, note=lambda: names.texts([b"caf\xe9", None]), none=made.word(254))


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress, bz2.compress, bytes])
@pytest.mark.parametrize("version", [2, 3])
def test_objects_with_their_attributes(pack, version, tmp_path):
    path = tmp_path / "made.RData"
    path.write_bytes(pack(made.r_stream(objects(), version)))
    found = read_r_data(path)
    assert [*found] == ["frame", "note", "none"]
    np.testing.assert_array_equal(found["frame"]["x"].values, [0, 1.5, np.nan])
    assert found["frame"].names == ["x", "y"]
    assert found["frame"]["y"].values.tolist() == [1, 2, 1]
    assert found["frame"]["y"].attributes["levels"].values == ["n", "t"]
    assert found["note"].values == ["caf\xe9", None]
    assert found["none"] is None
    kept = read_r_data(path, doubles=np.flatnonzero)
    assert kept["frame"]["x"].values.tolist() == [1, 2]


WHOLE = lzma.compress(made.r_stream(objects()))
OTHERS = {
    "empty": (b"", "the first bytes b''|the end"),
    "a page": (b"<html>" * 9, "the first bytes b'<html><'"),
    "cut": (WHOLE[:-20], "end"),
    "damaged": (WHOLE[:60] + bytes(8) + WHOLE[68:], ""),
    "cut inside": (lzma.compress(made.r_stream(objects())[:-30]), "the end of the file where"),
    "a function": (made.r_stream(made.word(3)), "an R object of type 3"),
    "an environment": (made.r_stream(made.word(4)), "an R object of type 4"),
    "a negative length": (made.r_stream(made.word(14) + made.word(-9)), "where -72 bytes were due"),
    "a huge length": (made.r_stream(made.word(13) + made.word(1 << 29)), "bytes were due"),
    "a name that is not there": (made.r_stream(made.word(2 | 0x400) + made.word(255 | 9 << 8)), "out of range"),
    "lists without end": (made.r_stream((made.word(19) + made.word(1)) * 100_000), "recursion"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_files_are_one_error_that_names_file_and_byte(case, tmp_path):
    content, message = OTHERS[case]
    (tmp_path / "x.rda").write_bytes(content)
    with pytest.raises(ValueError, match=rf"x\.rda, byte \d+ expanded: expected R data .*{message}.*fetch it again"):
        read_r_data(tmp_path / "x.rda")


SHAPES = {
    "alon": (62, 2000, 2), "borovecki": (31, 22283, 2), "chowdary": (104, 22283, 2), "christensen": (217, 1413, 3),
    "golub": (72, 7129, 2), "gordon": (181, 12533, 2), "gravier": (168, 2905, 2), "nakayama": (105, 22283, 10),
    "sorlie": (85, 456, 5), "su": (102, 5565, 4), "west": (49, 7129, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_published_microarrays(name, real_mirror):
    path = real_mirror / "microarray" / f"{name}.RData"
    if not path.is_file():
        pytest.skip(f"needs real data: the mirror has no {path.name}")
    n, d, classes = SHAPES[name]
    x, y = (read_r_data(path)[name][part] for part in ("x", "y"))
    shape = x.attributes["dim"].values if "dim" in x.attributes else (x.values[0].values.size, len(x.values))
    assert (*shape, len(y.attributes["levels"].values)) == (n, d, classes)
    assert np.unique(y.values).tolist() == [*range(1, classes + 1)]
    values = np.concatenate([column.values for column in x.values]) if isinstance(x.values, list) else x.values
    assert values.shape == (n * d,)
    assert np.isfinite(values).all()


def test_alon_is_colon_which_others_have_discretised_in_a_matlab_file(real_mirror):
    if not (real_mirror / "microarray" / "alon.RData").is_file():
        pytest.skip("needs real data: the mirror has no microarray/alon.RData")
    found, colon = read_r_data(real_mirror / "microarray" / "alon.RData")["alon"], load_dataset("colon")
    np.testing.assert_array_equal(np.where(found["y"].values == 1, 1, -1), colon.y)
    logs = np.log(found["x"].values.reshape(62, 2000, order="F"))
    assert min(np.corrcoef(logs[:, j], colon.X[:, j])[0, 1] for j in range(0, 2000, 100)) > 0.7
