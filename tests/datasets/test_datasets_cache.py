"""The cache is a shortcut: the same record with it, without it, and when it is damaged."""

import json
import logging

import numpy as np
import pytest
from scipy import sparse

from provlab.datasets import make_dataset
from provlab.datasets._cache import cache_path, cached, cached_names
from provlab.datasets._record import content_digest

SPARSE = make_dataset(
    sparse.csr_array([[1.0, 0, 2], [0, 0, 3]]), [1, -1], ["é" * 9, "b\xa0c", "d"], name="s", source="q"
)
SPLIT = make_dataset(np.eye(2), [1, -1], ["x", "y"], name="p", source="q", official_train=[False, True])
DENSE = make_dataset(np.array([[1.0, 2.0]]), [7], ["x", ""], name="d", source="q")


class Builder:
    def __init__(self, dataset):
        self.dataset, self.calls = dataset, 0

    def __call__(self):
        self.calls += 1
        return self.dataset


def same(one, two):
    assert (one.name, one.source, one.content) == (two.name, two.source, two.content)
    assert type(one.X) is type(two.X)
    np.testing.assert_array_equal(sparse.csr_array(one.X).toarray(), sparse.csr_array(two.X).toarray())
    np.testing.assert_array_equal(one.y, two.y)
    assert one.feature_names.tolist() == two.feature_names.tolist()
    np.testing.assert_array_equal(one.official_train, two.official_train)


@pytest.mark.parametrize("dataset", [SPARSE, DENSE, SPLIT], ids=["sparse", "dense", "official split"])
def test_second_time_comes_from_the_cache(dataset):
    build = Builder(dataset)
    for _ in range(3):
        same(cached("loader", "content", build), dataset)
    assert build.calls == 1


def test_entries_differ_by_identity(data_folder):
    build = Builder(DENSE)
    for identity in ("c", "d", "c"):
        cached("l", identity, build)
    assert build.calls == 2
    files = sorted((data_folder / "cache").iterdir())
    assert len(files) == 2
    assert all(path.suffix == ".npz" for path in files)  # nothing temporary is left


def test_names_are_read_alone(data_folder):
    assert cached_names("l", "c") is None
    cached("l", "c", Builder(SPARSE))
    assert cached_names("l", "c").tolist() == SPARSE.feature_names.tolist()
    cache_path("l", "c").write_bytes(b"PK junk")
    assert cached_names("l", "c") is None


def test_entries_hold_no_pickles():
    cached("l", "c", Builder(SPARSE))
    with np.load(cache_path("l", "c"), allow_pickle=False) as arrays:
        assert all(arrays[key].dtype.kind in "iuf" for key in arrays.files)


def _change_data(content):
    # The value 3.0 as little-endian bytes becomes 4.0, checksums of the zip container included or not.
    return content.replace(np.float64(3).tobytes(), np.float64(4).tobytes())


@pytest.mark.parametrize(
    "damage",
    [lambda c: c[:100], lambda c: b"", lambda c: b"\x93NUMPY junk", lambda c: c[:-30], _change_data],
    ids=["cut", "empty", "junk", "end cut", "value changed"],
)
def test_a_damaged_entry_is_deleted_and_built_again(damage, caplog):
    build = Builder(SPARSE)
    cached("l", "c", build)
    path = cache_path("l", "c")
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert path.read_bytes() != good
    with caplog.at_level(logging.WARNING, "provsel"):
        same(cached("l", "c", build), SPARSE)
    assert "is damaged" in caplog.text
    assert build.calls == 2
    same(cached("l", "c", build), SPARSE)
    assert build.calls == 2


@pytest.mark.parametrize(
    ("dataset", "key", "change"),
    [
        (SPARSE, "y", np.negative),
        (SPLIT, "official_train", np.logical_not),
        (SPARSE, "official_train", lambda _: np.array([True, False])),
    ],
)
def test_another_record_in_the_right_zip_is_noticed(dataset, key, change):
    build = Builder(dataset)
    cached("l", "c", build)
    path = cache_path("l", "c")
    with np.load(path) as arrays:
        parts = dict(arrays)
    parts[key] = change(parts.get(key))
    np.savez(path, **parts)
    same(cached("l", "c", build), dataset)
    assert build.calls == 2


@pytest.mark.parametrize("index", [-7, 11])
def test_indices_that_are_none_in_an_entry_with_the_right_digest(index):
    build = Builder(SPARSE)
    cached("l", "c", build)
    path = cache_path("l", "c")
    with np.load(path) as arrays:
        parts = dict(arrays)
    wrong = SPARSE.X.copy()
    wrong.indices[0] = parts["indices"][0] = index
    meta = {"name": "s", "source": "q", "content": content_digest(wrong, SPARSE.y, SPARSE.feature_names)}
    np.savez(path, **{**parts, "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)})
    same(cached("l", "c", build), SPARSE)
    assert build.calls == 2


def test_without_a_writable_folder_it_goes_on(data_folder):
    data_folder.write_text("a file where the folder should be")
    build = Builder(SPARSE)
    for _ in range(2):
        same(cached("l", "c", build), SPARSE)
    assert build.calls == 2


def test_a_failing_builder_leaves_nothing(data_folder):
    def fail():
        raise ValueError("broken source")

    with pytest.raises(ValueError, match="broken source"):
        cached("l", "c", fail)
    assert not data_folder.exists()
