"""Loading by name: nothing else can be imported through a name, and the cache is a shortcut that changes nothing."""

import logging
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from provlab.data import (
    DataIntegrityError,
    MissingDataError,
    dataset_identity,
    dataset_members,
    dataset_names,
    identity,
    load_dataset,
    loader,
    make_dataset,
    read_source,
)
from small_runs import section

SPARSE = make_dataset(
    sparse.csr_array([[1.0, 0, 2], [0, 0, 3]]),
    [1, -1],
    ["é" * 9, "b\xa0c", "d"],
    name="s",
    source="q",
)
SPLIT = make_dataset(
    np.eye(2), [1, -1], ["x", "y"], name="p", source="q", official_train=[False, True]
)
DENSE = make_dataset(np.array([[1.0, 2.0]]), [7], ["x", ""], name="d", source="q")


@pytest.fixture
def parsing(mirror, monkeypatch):
    """Return a function that has the files of `techtc` parse as a data set; it returns how often that was asked for."""
    (mirror / "techtc100" / "tokens").mkdir(parents=True)
    (mirror / "techtc100" / "tokens" / "Exp_1_2.txt.xz").write_bytes(b"some file")

    def parses_as(dataset):
        parsed = []

        def load(paths, digest, **parameters):
            parsed.append(parameters)
            return dataset

        members = SimpleNamespace(**{**vars(loader("techtc")), "load": load})
        defaults = identity._defaults("techtc")
        monkeypatch.setattr(identity, "_loader", lambda name: members)
        monkeypatch.setattr(identity, "_defaults", lambda name: defaults)
        return parsed

    return parses_as


def load(**params):
    return load_dataset("techtc", set="Exp_1_2", **params)


def same(first, two):
    assert (first.name, first.source, first.content) == (
        two.name,
        two.source,
        two.content,
    )
    assert type(first.X) is type(two.X)
    np.testing.assert_array_equal(
        sparse.csr_array(first.X).toarray(), sparse.csr_array(two.X).toarray()
    )
    np.testing.assert_array_equal(first.y, two.y)
    assert first.feature_names.tolist() == two.feature_names.tolist()
    np.testing.assert_array_equal(first.official_train, two.official_train)


@pytest.mark.parametrize(
    "dataset", [SPARSE, DENSE, SPLIT], ids=["sparse", "dense", "official split"]
)
def test_the_second_time_comes_from_the_cache(dataset, parsing, data_folder):
    parsed = parsing(dataset)
    for _ in range(3):
        same(load(), dataset)
    assert len(parsed) == 1
    load(weighting="l2")
    assert len(parsed) == 2
    entries = [*(data_folder / "cache").iterdir()]
    assert len(entries) == 2  # nothing temporary is left
    for entry in entries:
        with np.load(entry, allow_pickle=False) as arrays:
            assert all(arrays[key].dtype.kind in "iufb" for key in arrays.files)


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "junk": lambda path: path.write_bytes(b"\x93NUMPY junk"),
    # 3.0 as little-endian bytes becomes 4.0
    "value": lambda path: path.write_bytes(
        path.read_bytes().replace(np.float64(3).tobytes(), np.float64(4).tobytes())
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_built_again(damage, parsing, data_folder, caplog):
    parsed = parsing(SPARSE)
    load()
    damage(*(data_folder / "cache").iterdir())
    with caplog.at_level(logging.WARNING, "provlab"):
        same(load(), SPARSE)
    assert "is damaged" in caplog.text
    same(load(), SPARSE)
    assert len(parsed) == 2


def test_without_a_writable_folder_it_goes_on(parsing, data_folder):
    data_folder.write_text("a file where the folder should be")
    parsed = parsing(SPARSE)
    for _ in range(2):
        same(load(), SPARSE)
    assert len(parsed) == 2


def test_the_folder_is_the_registry():
    names = dataset_names()
    assert names == sorted(names)
    assert {"digits", "synthetic", "techtc", "colon"} <= set(names)
    assert not {"file", "sources", "loaders"} & set(names)
    assert loader("colon").load.__doc__.startswith(
        "Load 62 samples with 2000 gene expressions, discretised to"
    )
    assert (dataset_members("synthetic"), len(dataset_members("techtc"))) == ([], 80)


def test_what_contributing_says_of_a_data_set(tmp_path, monkeypatch):
    [code] = re.findall(r"```python\n(.*?)```", section("Add a data set"), re.S)
    (tmp_path / "rings.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr("provlab.data.loaders.__path__", [str(tmp_path)])
    monkeypatch.setattr(identity, "_names", lambda: ("rings",))
    data = load_dataset("rings")
    assert (data.name, data.X.shape, [*data.feature_names]) == (
        "rings",
        (200, 2),
        ["x", "y"],
    )
    assert len(dataset_identity("rings")) == 64


@pytest.mark.parametrize(
    "name",
    ["ar", "cifar10", "coil20", "dexter", "mnist", "rcv1_ccat", "techtc", "usps"],
)
def test_files_that_are_missing_or_not_the_registered_ones(mirror, name):
    with pytest.raises(
        MissingDataError, match=f"{name}: the file .* is missing.*provsel fetch {name}"
    ):
        load_dataset(name)
    [file, *_] = identity.files_of(name, identity.checked_parameters(name, {}))
    (mirror / file.path).parent.mkdir(parents=True)
    (mirror / file.path).write_bytes(b"x")
    with pytest.raises(DataIntegrityError, match=f"expected {file.size} bytes"):
        load_dataset(name)
    assert read_source(name).find(file.path) == file


def test_loaders_do_not_even_import_what_could_download():
    code = (
        "import sys; from provlab.data import load_dataset; load_dataset('synthetic'); "
        "assert not {'pooch', 'requests', 'urllib3'} & set(sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
