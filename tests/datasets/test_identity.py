"""Identity: known without data, the same everywhere, another one for whatever can change the data."""

import inspect
import json

import numpy as np
import pytest

from provlab.datasets import (
    MissingDataError,
    dataset_files,
    dataset_identity,
    dataset_members,
    dataset_names,
    keyed_parameters,
    load_dataset,
    missing_files,
    read_source,
    source_names,
)
from provlab.datasets import identity as identity_module
from provlab.datasets.identity import loader
from provlab.identity.keys import canonical_json, digest

ANY = {"techtc": {"set": "Exp_10341_10755"}}
"""What a name alone does not say."""


@pytest.fixture
def nothing_here(tmp_path, monkeypatch):
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", dataset_names())
def test_it_is_known_without_data_and_loads_nothing(name, nothing_here, monkeypatch):
    module = loader(name)
    identity = dataset_identity(name, **ANY.get(name, {}))
    monkeypatch.setattr(module, "load", None)
    assert dataset_identity(name, **ANY.get(name, {})) == identity
    assert len(identity) == 64
    assert list(nothing_here.iterdir()) == []


@pytest.mark.parametrize("name", source_names())
def test_the_registry_knows_what_missing_files_hold(name, nothing_here):
    files = dataset_files(name, **ANY.get(name, {}))
    assert files
    assert all(file.digest is not None for file in files)
    assert missing_files(name, **ANY.get(name, {})) == [file.path for file in files]


@pytest.mark.parametrize("name", dataset_names())
def test_every_loader_has_a_version_that_is_part_of_it(name, nothing_here, monkeypatch):
    module, before = loader(name), dataset_identity(name, **ANY.get(name, {}))
    assert isinstance(module.VERSION, int)
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    assert dataset_identity(name, **ANY.get(name, {})) != before


@pytest.mark.parametrize("name", [name for name in dataset_names() if hasattr(loader(name), "files")])
def test_files_takes_the_parameters_of_load(name):
    assert list(inspect.signature(loader(name).files).parameters) == list(
        inspect.signature(loader(name).load).parameters
    )


def test_it_is_the_hash_of_what_it_names():
    parts = {
        "loader": "synthetic",
        "version": 1,
        "parameters": {"n_samples": 60, "n_features": 1000, "n_relevant": 40, "seed": 0, "unit_rows": False},
        "files": [],
    }
    assert dataset_identity("synthetic", n_samples=60) == digest(parts)
    [file] = read_source("colon").published()
    parts = {"loader": "colon", "version": 1, "parameters": {"unit_rows": True}, "files": [file.digest]}
    assert dataset_identity("colon", unit_rows=True) == digest(parts)


def test_defaults_order_and_kinds_of_numbers_do_not_matter():
    plain = dataset_identity("synthetic")
    assert dataset_identity("synthetic", seed=0, n_samples=200) == plain
    assert dataset_identity("synthetic", n_samples=np.int64(200)) == plain
    # what any data set can have is named where it is no default, so that identities from before stay
    assert dataset_identity("synthetic", column_scaling=None, shuffle_columns=None) == plain


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("gaussian_clusters", {"scale": 2}, {"scale": 2.0, "n_samples": 20}),
        ("sparse_rows", {"noise": 0}, {"noise": 0.0, "unit_rows": False}),
        ("digits", {"classes": [1, 2, 0]}, {"classes": [0, 1, 2]}),
        ("digits", {"classes": [*range(10)]}, {"column_scaling": None}),
        ("mnist", {"classes": [9, 8, 7]}, {"classes": [7, 9, 8], "part": "all"}),
        ("techtc", {"set": "Exp_1_2"}, {"set": "Exp_1_2", "form": "auto"}),
        ("rcv1_ccat", {}, {"names": "terms"}),
    ],
)
def test_keys_have_one_spelling_of_equal_data(name, one, other):
    assert keyed_parameters(name, **one) == keyed_parameters(name, **other)
    assert canonical_json(keyed_parameters(name, **one)) == canonical_json(keyed_parameters(name, **other))
    if name != "techtc":  # nobody knows that set
        assert dataset_identity(name, **one) == dataset_identity(name, **other)


def test_the_order_of_two_classes_says_their_labels():
    assert dataset_identity("digits", classes=[3, 8]) != dataset_identity("digits", classes=[8, 3])


def test_all_else_does():
    changes = [{}, {"seed": 1}, {"n_relevant": 41}, {"unit_rows": True}, {"column_scaling": "norm"}]
    changes += [{"shuffle_columns": 0}, {"shuffle_columns": 1}]
    assert len({dataset_identity("synthetic", **change) for change in changes}) == len(changes)
    assert dataset_identity("gaussian_clusters") != dataset_identity("sparse_rows")
    sets = dataset_members("techtc")
    assert len({dataset_identity("techtc", set=name) for name in sets}) == len(sets) == 80
    weightings = ("counts", "binary", "log", "l2", "log_l2", "tfidf_l2")
    assert len({dataset_identity("techtc", set=sets[0], weighting=name) for name in weightings}) == 6


def test_generated_data_have_the_same_identity_whatever_their_bits_are(monkeypatch):
    """The reason for it all: exp has other last bits on other processors."""
    before = dataset_identity("gaussian_clusters", columns="lognormal", n_features=50)
    content = load_dataset("gaussian_clusters", columns="lognormal", n_features=50).content
    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda values: np.nextafter(exp(values), np.inf))
    assert load_dataset("gaussian_clusters", columns="lognormal", n_features=50).content != content
    assert dataset_identity("gaussian_clusters", columns="lognormal", n_features=50) == before


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("nosuch", {}, "unknown data set 'nosuch'; known data sets are allaml"),
        ("synthetic", {"n_sample": 3}, "'synthetic' has no parameter n_sample; it accepts n_samples, n_features"),
        ("synthetic", {"n_samples": -3}, "n_samples must be an integer of at least 1, got -3"),
        ("synthetic", {"unit_rows": "yes"}, "unit_rows must be true or false, got 'yes'"),
        ("digits", {"classes": [3]}, "classes must hold at least two distinct digits"),
        ("gaussian_clusters", {"scale": 0}, "scale must be a positive finite number, got 0"),
        ("sparse_rows", {"signal": 1.5}, "signal must be a number between 0 and 1, got 1.5"),
        ("usps", {"part": "test"}, "part must be one of all, train, got 'test'"),
        ("techtc", {"set": "Exp_1"}, "set must look like 'Exp_10341_10755', got 'Exp_1'"),
        ("rcv1_ccat", {"form": "official", "n_train": 5}, "has 23149 training documents, got n_train=5"),
        ("colon", {"set": "all"}, "'colon' has no parameter set; it accepts none"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_loaded(name, params, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        dataset_identity(name, **params)


def test_a_set_that_nobody_knows_is_missing(nothing_here):
    with pytest.raises(MissingDataError, match=r"the set Exp_1_2 is missing .* Run `provsel fetch techtc`"):
        dataset_identity("techtc", set="Exp_1_2")


def test_files_of_the_user_are_part_of_it_by_what_they_hold(nothing_here):
    folder = nothing_here / "techtc100" / "tokens"
    folder.mkdir(parents=True)
    path = folder / "Exp_1_2.txt.xz"
    seen = []
    for content in (b"one", b"another one"):
        path.write_bytes(content)
        seen.append(dataset_identity("techtc", set="Exp_1_2"))
    assert seen[0] != seen[1]
    assert dataset_files("techtc", set="Exp_1_2") == [path]


def test_it_holds_nothing_but_text_numbers_and_truth_values(monkeypatch, nothing_here):
    seen = []
    monkeypatch.setattr(identity_module, "digest", lambda parts: seen.append(json.dumps(parts)) or "x" * 64)
    for name in dataset_names():
        dataset_identity(name, **ANY.get(name, {}))
    assert len(seen) == len(dataset_names())
