"""Loading by name: nothing else can be imported through a name, and the cache is a shortcut that changes nothing."""

import inspect
import json
import logging
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from provlab.datasets import (
    dataset_feature_names,
    dataset_identity,
    dataset_members,
    dataset_names,
    identity,
    load_dataset,
    loader,
    make_dataset,
)
from provlab.datasets.dataset import content_digest
from provlab.datasets.loading import cache_path, parsed
from provlab.datasets.mat import loader_of
from small_runs import section

SPARSE = make_dataset(
    sparse.csr_array([[1.0, 0, 2], [0, 0, 3]]), [1, -1], ["é" * 9, "b\xa0c", "d"], name="s", source="q"
)
SPLIT = make_dataset(np.eye(2), [1, -1], ["x", "y"], name="p", source="q", official_train=[False, True])
DENSE = make_dataset(np.array([[1.0, 2.0]]), [7], ["x", ""], name="d", source="q")
ENTRY = cache_path("synthetic", dataset_identity("synthetic")).name


class Builder:
    """Stands for a loader's parsing: counts how often it is asked."""

    def __init__(self, dataset):
        self.dataset, self.calls = dataset, 0

    def __call__(self, paths, content):
        self.calls += 1
        return self.dataset

    def load(self, **changes):
        return parsed("synthetic", identity.checked_parameters("synthetic", changes), self)


def same(one, two):
    assert (one.name, one.source, one.content) == (two.name, two.source, two.content)
    assert type(one.X) is type(two.X)
    np.testing.assert_array_equal(sparse.csr_array(one.X).toarray(), sparse.csr_array(two.X).toarray())
    np.testing.assert_array_equal(one.y, two.y)
    assert one.feature_names.tolist() == two.feature_names.tolist()
    np.testing.assert_array_equal(one.official_train, two.official_train)


@pytest.mark.parametrize("dataset", [SPARSE, DENSE, SPLIT], ids=["sparse", "dense", "official split"])
def test_second_time_comes_from_the_cache(dataset, data_folder):
    build = Builder(dataset)
    for _ in range(3):
        same(build.load(), dataset)
    assert build.calls == 1
    build.load(seed=1)
    assert build.calls == 2
    assert len(list((data_folder / "cache").iterdir())) == 2  # nothing temporary is left
    assert dataset_feature_names("synthetic").tolist() == dataset.feature_names.tolist()
    with np.load(data_folder / "cache" / ENTRY, allow_pickle=False) as arrays:
        assert all(arrays[key].dtype.kind in "iufb" for key in arrays.files)


def rewritten(change):
    """Return a damage that writes other arrays into a sound zip."""

    def damage(path):
        with np.load(path) as arrays:
            parts = dict(arrays)
        np.savez(path, **{**parts, **change(parts)})

    return damage


def with_wrong_index(parts):
    """Return arrays with the digest of exactly these, of which one index is none."""
    wrong = SPARSE.X.copy()
    wrong.indices[0] = 11
    meta = {"name": "s", "source": "q", "content": content_digest(wrong, SPARSE.y, SPARSE.feature_names)}
    return {"indices": wrong.indices, "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)}


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\x93NUMPY junk"),
        # 3.0 as little-endian bytes becomes 4.0, checksums of the zip container included or not
        lambda path: path.write_bytes(path.read_bytes().replace(np.float64(3).tobytes(), np.float64(4).tobytes())),
        rewritten(lambda parts: {"y": -parts["y"]}),
        rewritten(lambda parts: {"official_train": np.array([True, False])}),
        rewritten(with_wrong_index),
    ],
    ids=["cut", "empty", "junk", "value", "labels", "split", "index"],
)
def test_a_damaged_entry_is_built_again(damage, data_folder, caplog):
    build = Builder(SPARSE)
    build.load()
    damage(data_folder / "cache" / ENTRY)
    with caplog.at_level(logging.WARNING, "provlab"):
        same(build.load(), SPARSE)
    assert "is damaged" in caplog.text
    same(build.load(), SPARSE)
    assert build.calls == 2


def test_without_a_writable_folder_it_goes_on(data_folder):
    data_folder.write_text("a file where the folder should be")
    build = Builder(SPARSE)
    for _ in range(2):
        same(build.load(), SPARSE)
    assert build.calls == 2


def test_the_folder_is_the_registry():
    names = dataset_names()
    assert names == sorted(names)
    assert {"digits", "synthetic", "techtc"} <= set(names)
    assert not any(name.startswith("_") for name in names)
    assert "sources" not in names


def test_what_contributing_says_of_a_data_set(tmp_path, monkeypatch):
    [code] = re.findall(r"```python\n(.*?)```", section("Add a data set"), re.S)
    (tmp_path / "wine.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr("provlab.datasets.loaders.__path__", [str(tmp_path)])
    for name, names in (("_names", ("wine",)), ("_modules", {"wine"})):
        monkeypatch.setattr(identity, name, lambda names=names: names)
    data = load_dataset("wine")
    assert (data.name, data.X.shape, len(data.feature_names)) == ("wine", (178, 13), 13)
    assert len(dataset_identity("wine")) == 64
    with pytest.raises(ValueError, match="'wine' has no parameter set; it accepts none"):
        load_dataset("wine", set="all")


@pytest.mark.parametrize("name", ["nothing", "_record", "synthetic.load", "..kernels", "os", "", "Synthetic", None, 3])
def test_unknown_names_are_refused_before_any_import(name):
    before = set(sys.modules)
    with pytest.raises(ValueError, match=r"unknown data set .*; known data sets are .*digits, .*synthetic, .*techtc"):
        load_dataset(name)
    assert set(sys.modules) == before


def test_unknown_parameters_are_refused():
    expected = "'synthetic' has no parameter rows, sed; it accepts n_samples, n_features, n_relevant, seed"
    with pytest.raises(ValueError, match=expected):
        load_dataset("synthetic", sed=1, rows=3, seed=2)
    with pytest.raises(ValueError, match="'digits' has no parameter name; it accepts classes"):
        load_dataset("digits", name="x")


@pytest.mark.parametrize("parameters", [{"name": "digits"}, {"name": "sparse_rows", "n_samples": 20, "n_test": 10}])
def test_rows_of_length_1(parameters):
    name, options = parameters["name"], {key: value for key, value in parameters.items() if key != "name"}
    plain, scaled = load_dataset(name, **options), load_dataset(name, unit_rows=True, **options)
    X, Z = (dataset.X.toarray() if hasattr(dataset.X, "toarray") else dataset.X for dataset in (plain, scaled))
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1.0)
    np.testing.assert_allclose(Z * np.linalg.norm(X, axis=1)[:, None], X)
    assert scaled.content == load_dataset(name, unit_rows=True, **options).content != plain.content
    np.testing.assert_array_equal(scaled.y, plain.y)
    with pytest.raises(ValueError, match="unit_rows must be true or false, got 1"):
        load_dataset(name, unit_rows=1)


def dense(dataset):
    return dataset.X.toarray() if hasattr(dataset.X, "toarray") else dataset.X


@pytest.mark.parametrize(("name", "size"), [("digits", {}), ("sparse_rows", {"n_samples": 300, "n_test": 100})])
def test_shuffled_columns_are_the_same_columns_with_their_names(name, size):
    load = partial(load_dataset, name, **size)
    plain, shuffled = load(), load(shuffle_columns=3)
    assert sorted(shuffled.feature_names) == sorted(plain.feature_names)
    assert (shuffled.feature_names != plain.feature_names).mean() > 0.9
    place = {feature: column for column, feature in enumerate(plain.feature_names)}
    order = [place[feature] for feature in shuffled.feature_names]
    np.testing.assert_array_equal(dense(shuffled), dense(plain)[:, order])
    if name == "sparse_rows":
        assert shuffled.X.has_sorted_indices
    np.testing.assert_array_equal(dataset_feature_names(name, shuffle_columns=3, **size), shuffled.feature_names)
    assert load(shuffle_columns=3).content == shuffled.content != plain.content
    assert load(shuffle_columns=4).content != shuffled.content


def test_scaled_columns():
    X = load_dataset("digits").X
    constant = np.ptp(X, axis=0) == 0
    assert 0 < constant.sum() < 10
    standard, ranged, unit = (dense(load_dataset("digits", column_scaling=by)) for by in ("standard", "range", "norm"))
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(standard.std(axis=0), np.where(constant, 0, 1))
    np.testing.assert_allclose(ranged.min(axis=0), 0)
    np.testing.assert_allclose(ranged.max(axis=0), np.where(constant, 0, 1))
    np.testing.assert_allclose(np.linalg.norm(unit, axis=0), (X != 0).any(axis=0))
    for scaled in (standard, ranged, unit):  # nothing but a shift and a scale
        moved = X[:, ~constant]
        assert np.corrcoef(moved[:, 20], scaled[:, ~constant][:, 20])[0, 1] == pytest.approx(1)
    both = load_dataset("digits", column_scaling="standard", unit_rows=True).X
    np.testing.assert_allclose(both * np.linalg.norm(standard, axis=1)[:, None], standard)
    sparse_rows = load_dataset("sparse_rows", column_scaling="norm", n_samples=50)
    lengths = np.linalg.norm(dense(sparse_rows), axis=0)
    np.testing.assert_allclose(lengths[lengths > 0], 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column_scaling": "max"}, "'digits': column_scaling must be one of standard, range, norm, got 'max'"),
        ({"shuffle_columns": True}, "'digits': shuffle_columns must be an integer of at least 0, got True"),
        ({"shuffle_columns": -1}, "'digits': shuffle_columns must be an integer of at least 0, got -1"),
    ],
)
def test_bad_preparations_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("digits", **options)
    with pytest.raises(ValueError, match=message):
        dataset_identity("digits", **options)


def test_sparse_rows_stay_sparse():
    with pytest.raises(ValueError, match="column_scaling=range shifts columns, and needs dense rows, got sparse ones"):
        load_dataset("sparse_rows", column_scaling="range")


def test_every_loader_has_keyword_parameters_with_defaults():
    for name in dataset_names():
        load = loader(name).load
        for parameter in inspect.signature(load).parameters.values():
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
            assert parameter.default is not inspect.Parameter.empty


def test_a_source_without_module_says_how_it_is_read():
    assert loader("colon").load.__doc__.startswith("Load 62 samples with 2000 gene expressions, discretised to")
    with pytest.raises(ValueError, match=r"dexter\.yaml: expected a section mat, or a module dexter, got neither"):
        loader_of("dexter")


def test_members():
    assert dataset_members("synthetic") == []
    assert len(dataset_members("techtc")) == 80
    with pytest.raises(ValueError, match="unknown data set 'x'"):
        dataset_members("x")


def test_loaders_do_not_even_import_what_could_download():
    code = (
        "import sys; from provlab.datasets import load_dataset; load_dataset('synthetic'); "
        "assert not {'pooch', 'requests', 'urllib3'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
