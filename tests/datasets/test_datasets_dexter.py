"""DEXTER: the challenge's check sums, and damaged files."""

from dataclasses import replace

import numpy as np
import pytest

from provlab.datasets import DataIntegrityError, MissingDataError, _identity, load_dataset, read_source
from provlab.datasets.loaders import dexter


@pytest.fixture
def made(mirror, monkeypatch):
    """Write four files of three documents and forget the hashes."""
    source = read_source("dexter")
    files = tuple(replace(file, sha256=None, size=None, max_size=1 << 20) for file in source.files)
    monkeypatch.setattr(_identity, "read_source", lambda name: replace(source, files=files))
    monkeypatch.setattr(dexter, "_N_SAMPLES", 3)
    folder = mirror / "dexter"
    folder.mkdir()
    (folder / "dexter_train.data").write_bytes(b"1:5 20000:7 \n\n2:1\n")
    (folder / "dexter_train.labels").write_bytes(b"1\n-1\n1\n")
    (folder / "dexter_valid.data").write_bytes(b"3:1\n4:1\n5:999\n")
    (folder / "dexter_valid.labels").write_bytes(b"-1\n-1\n1\n")
    return folder


def test_made_files(made):
    data = load_dataset("dexter", part="all")
    assert data.X.shape == (6, 20000)
    entries = {(i, j): v for i, j, v in zip(*data.X.nonzero(), data.X.data, strict=True)}
    assert entries == {(0, 0): 5, (0, 19999): 7, (2, 1): 1, (3, 2): 1, (4, 3): 1, (5, 4): 999}
    assert data.y.tolist() == [1, -1, 1, -1, -1, 1]
    assert data.official_train.tolist() == [True] * 3 + [False] * 3
    train = load_dataset("dexter")
    assert train.X.shape == (3, 20000)
    assert train.official_train is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train.data", b"1:5\n2:x\n3:1\n", r"dexter_train\.data, line 2: expected increasing .* got '2:x'"),
        ("train.data", b"1:5\n2:nan\n3:1\n", "line 2: .* got '2:nan'"),
        ("train.data", b"0:5\n2:1\n3:1\n", "line 1: .* got '0:5'"),
        ("train.data", b"1:5\n2:1\n20001:1\n", "line 3: .* got '20001:1'"),
        ("train.data", b"1:5\n2:1 2:1\n3:1\n", "line 2: .* got '2:1'"),
        ("train.data", b"1:5\n2:1\n", r"dexter_train\.data: expected 3 lines, got 2"),
        ("valid.labels", b"1\n0\n1\n", r"dexter_valid\.labels, line 2: expected a label 1 or -1, got '0'"),
        ("valid.labels", b"1\n1\n1\n1\n", "expected 3 lines, got 4"),
    ],
)
def test_damaged_files(made, data_folder, name, content, message):
    (made / f"dexter_{name}").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load_dataset("dexter", part="all")
    assert not list(data_folder.glob("cache/*"))


def test_bad_parameter_missing_and_tampered(mirror):
    with pytest.raises(ValueError, match="part must be one of train, all, got 'valid'"):
        load_dataset("dexter", part="valid")
    with pytest.raises(MissingDataError, match=r"dexter: the file dexter/dexter_train\.data is missing"):
        load_dataset("dexter")
    (mirror / "dexter").mkdir()
    (mirror / "dexter" / "dexter_train.data").write_bytes(b"1:5\n")
    with pytest.raises(DataIntegrityError, match="expected 249183 bytes"):
        load_dataset("dexter")


def test_real_files_have_the_published_check_sums(real_mirror, monkeypatch):
    table = real_mirror / "dexter" / "dexter.param"
    if not table.is_file():
        pytest.skip("needs real data: the mirror has no dexter/dexter.param")
    rows = {
        line.split()[0]: line.split()[1:] for line in table.read_text().splitlines() if line[:5] in ("Train", "Valid")
    }
    data = load_dataset("dexter", part="all")
    assert data.X.shape == (600, 20000)
    for kind, part in (("Train", data.official_train), ("Valid", ~data.official_train)):
        positive, negative, total, check_sum = (float(value) for value in rows[kind])
        assert ((data.y[part] == 1).sum(), (data.y[part] == -1).sum(), part.sum()) == (positive, negative, total)
        assert data.X[part].sum() == check_sum
    train = load_dataset("dexter")
    assert (data.X[:300] != train.X).nnz == 0
    monkeypatch.setattr(dexter, "_read_data", lambda *_: pytest.fail("a cached set was read again"))
    assert load_dataset("dexter").content == train.content
    np.testing.assert_array_equal(load_dataset("dexter", part="all").official_train, data.official_train)
