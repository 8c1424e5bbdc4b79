"""Identity: known without data, the same everywhere, another one for whatever can change the data."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

from provlab.data import (
    MissingDataError,
    dataset_identity,
    dataset_members,
    dataset_names,
    identity,
    keyed_parameters,
    load_dataset,
    loader,
    missing_files,
    read_source,
    source_names,
)
from provlab.project.documents import canonical_json, digest


@pytest.mark.parametrize("name", dataset_names())
def test_it_is_known_without_data_and_holds_the_version(name, data_folder, monkeypatch):
    before = dataset_identity(name)
    assert len(before) == 64
    files = identity.files_of(name, identity.checked_parameters(name, {}))
    assert bool(files) == (name in source_names())
    assert missing_files(name) == [file.path for file in files]
    assert not data_folder.exists()
    members = vars(loader(name))
    for change, same in (
        ({"load": None}, None),
        ({"VERSION": members["VERSION"] + 1}, False),
    ):
        changed = SimpleNamespace(**{**members, **change})
        with monkeypatch.context() as patch:
            defaults = identity._defaults(name)
            patch.setattr(identity, "_loader", lambda name, changed=changed: changed)
            patch.setattr(
                identity, "_defaults", lambda name, defaults=defaults: defaults
            )
            assert (dataset_identity(name) == before) == (same is None)


@pytest.mark.parametrize("name", dataset_names())
def test_parameters_are_keywords_with_defaults(name):
    of_load = inspect.signature(loader(name).load).parameters.values()
    positional = [
        parameter.name
        for parameter in of_load
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    assert positional == (["paths", "digest"] if name in source_names() else [])
    assert not any(
        parameter.default is parameter.empty
        for parameter in of_load
        if parameter.kind is parameter.KEYWORD_ONLY
    )


def test_it_is_the_hash_of_what_it_names():
    parts = {
        "loader": "synthetic",
        "version": 1,
        "parameters": {
            "n_samples": 60,
            "n_features": 1000,
            "n_relevant": 40,
            "seed": 0,
            "unit_rows": False,
        },
        "files": [],
    }
    assert dataset_identity("synthetic", n_samples=60) == digest(parts)
    [file] = read_source("colon").published()
    parts = {
        "loader": "colon",
        "version": 1,
        "parameters": {"unit_rows": True},
        "files": [file.digest],
    }
    assert dataset_identity("colon", unit_rows=True) == digest(parts)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("synthetic", {}, {"seed": 0, "n_samples": 200}),
        # what any data set can have is named where it is no default, so that identities
        # from before stay
        ("synthetic", {}, {"shuffle_columns": None}),
        (
            "colon",
            {},
            {
                "sample_rows": None,
                "sample_classes": None,
                "sample_seed": 0,
                "min_class_size": None,
            },
        ),
        ("gaussian_clusters", {"scale": 2}, {"scale": 2.0, "n_samples": 20}),
        ("sparse_rows", {"noise": 0}, {"noise": 0.0, "unit_rows": False}),
        ("digits", {"classes": [1, 2, 0]}, {"classes": [0, 1, 2]}),
        ("digits", {"classes": [*range(10)]}, {}),
        ("mnist", {"classes": [9, 8, 7]}, {"classes": [7, 9, 8], "part": "all"}),
        ("techtc", {}, {"set": "Exp_10341_10755", "form": "auto"}),
        ("rcv1_ccat", {}, {"names": "terms", "topic": "CCAT", "sample": None}),
        ("rcv1_ccat", {"sample": 2}, {"sample": 2, "form": "subsets"}),
    ],
)
def test_equal_data_have_one_identity_and_one_key(name, first, second):
    assert canonical_json(keyed_parameters(name, **first)) == canonical_json(
        keyed_parameters(name, **second)
    )
    assert dataset_identity(name, **first) == dataset_identity(name, **second)


def test_all_else_has_another_one():
    assert dataset_identity("synthetic", n_samples=np.int64(200)) == dataset_identity(
        "synthetic"
    )
    assert dataset_identity("digits", classes=[3, 8]) != dataset_identity(
        "digits", classes=[8, 3]
    )
    changes = [{}, {"seed": 1}, {"n_relevant": 41}, {"unit_rows": True}]
    changes += [{"shuffle_columns": 0}, {"shuffle_columns": 1}]
    changes += [
        {"sample_rows": 9},
        {"sample_rows": 9, "sample_seed": 1},
        {"sample_classes": 2},
    ]
    changes += [{"min_class_size": 2}]
    assert len({dataset_identity("synthetic", **change) for change in changes}) == len(
        changes
    )
    assert dataset_identity("gaussian_clusters") != dataset_identity("sparse_rows")
    sets = dataset_members("techtc")
    assert (
        len({dataset_identity("techtc", set=name) for name in sets}) == len(sets) == 80
    )
    weightings = ("counts", "binary", "log", "l2", "log_l2", "tfidf_l2")
    assert (
        len(
            {
                dataset_identity("techtc", set=sets[0], weighting=name)
                for name in weightings
            }
        )
        == 6
    )


def test_generated_data_have_the_same_identity_whatever_their_bits_are(monkeypatch):
    """The reason for it all: exp has other last bits on other processors."""
    before = dataset_identity("gaussian_clusters", columns="lognormal", n_features=50)
    content = load_dataset(
        "gaussian_clusters", columns="lognormal", n_features=50
    ).content
    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda values: np.nextafter(exp(values), np.inf))
    assert (
        load_dataset("gaussian_clusters", columns="lognormal", n_features=50).content
        != content
    )
    assert (
        dataset_identity("gaussian_clusters", columns="lognormal", n_features=50)
        == before
    )


def test_a_set_that_is_not_registered_is_known_by_its_file(data_folder):
    with pytest.raises(
        MissingDataError,
        match=r"the set Exp_1_2 is missing\. Searched .* Run `provsel fetch techtc`",
    ):
        dataset_identity("techtc", set="Exp_1_2")
    path = data_folder / "techtc100" / "tokens" / "Exp_1_2.txt.xz"
    path.parent.mkdir(parents=True)
    seen = set()
    for content in (b"one", b"another one"):
        path.write_bytes(content)
        seen.add(dataset_identity("techtc", set="Exp_1_2"))
    assert len(seen) == 2
    assert identity.files_of("techtc", {"set": "Exp_1_2"}) == [path]


CLASSES = [
    *(
        ("at least two distinct digits from 0 to 9, got", few)
        for few in ([3], [3, 3], [3, 10])
    ),
    *(
        ("must be a list of digits such as [3, 8], or null", no_list)
        for no_list in ("38", 3)
    ),
    *(
        ("each of classes must be an integer of at least 0, got", [3, no])
        for no in ("8", -1, True)
    ),
]


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("nosuch", {}, "unknown data set 'nosuch'; known data sets are allaml"),
        *(
            (name, {}, "unknown data set")
            for name in ("_record", "synthetic.load", "..kernels", "os", "", None, 3)
        ),
        (
            "synthetic",
            {"n_sample": 3, "a": 1},
            "'synthetic' has no parameter a, n_sample; it accepts n_samples, n_fea",
        ),
        ("colon", {"set": "all"}, "'colon' has no parameter set; it accepts none"),
        (
            "digits",
            {"unit_rows": 1},
            "'digits': unit_rows must be true or false, got 1",
        ),
        (
            "digits",
            {"column_scaling": "range"},
            "'digits' has no parameter column_scaling; it accepts classes",
        ),
        *(
            (
                "digits",
                {"shuffle_columns": seed},
                f"shuffle_columns must be an integer of at least 0, got {seed}",
            )
            for seed in (True, -1)
        ),
        (
            "synthetic",
            {"n_samples": 0},
            "n_samples must be an integer of at least 1, got 0",
        ),
        (
            "synthetic",
            {"n_features": 2.5},
            "n_features must be an integer of at least 1, got 2.5",
        ),
        (
            "synthetic",
            {"n_relevant": True},
            "n_relevant must be an integer of at least 1, got True",
        ),
        (
            "synthetic",
            {"n_features": 10, "n_relevant": 11},
            "n_relevant must be at most n_features=10, got 11",
        ),
        ("synthetic", {"seed": -1}, "seed must be an integer of at least 0, got -1"),
        (
            "gaussian_clusters",
            {"n_classes": 1},
            "n_classes must be an integer of at least 2, got 1",
        ),
        (
            "gaussian_clusters",
            {"n_samples": 4, "n_classes": 5},
            "n_classes must be at most n_samples=4, got 5. Lower",
        ),
        (
            "gaussian_clusters",
            {"columns": "cauchy"},
            "columns must be one of gaussian, lognormal, disjoint, growing",
        ),
        *(
            (
                "gaussian_clusters",
                {"scale": scale},
                "gaussian_clusters: expected a positive, finite scale, got ",
            )
            for scale in (0, np.inf, np.nan, True, "1")
        ),
        (
            "sparse_rows",
            {"n_test": 0},
            "n_test must be an integer of at least 1, got 0",
        ),
        (
            "sparse_rows",
            {"n_relevant": 100_001},
            "n_relevant must be at most n_features=100000, got 100001",
        ),
        (
            "sparse_rows",
            {"nonzeros": 100_001},
            "nonzeros must be at most n_features=100000, got 100001",
        ),
        *(
            (
                "sparse_rows",
                {"signal": signal},
                f"signal must be a number between 0 and 1, got {signal!r}",
            )
            for signal in (1.0, "0.5")
        ),
        (
            "sparse_rows",
            {"noise": np.nan},
            "noise must be a number of at least 0, got nan",
        ),
        *(
            ("sparse_rows", {name: 1}, f"{name} must be true or false, got 1")
            for name in ("dense", "mirrored")
        ),
        (
            "sparse_rows",
            {"mirrored": True, "n_samples": 301},
            "n_samples must be even for mirrored rows, which come in",
        ),
        *(
            (name, {"classes": few}, message)
            for name in ("digits", "mnist")
            for message, few in CLASSES
        ),
        *(
            (name, {"part": "valid"}, "part must be one of")
            for name in ("usps", "mnist", "cifar10", "dexter")
        ),
        (
            "cifar10",
            {"features": "sift"},
            "features must be one of gist, pixels, got 'sift'",
        ),
        (
            "cifar10",
            {"form": "png"},
            "form must be one of auto, binary, jpeg, got 'png'",
        ),
        *(
            (
                "techtc",
                {"set": name},
                f"set must look like 'Exp_10341_10755', got {name!r}",
            )
            for name in ("Exp_1", "../Exp_1_2", "Exp_1_2\n", None)
        ),
        (
            "techtc",
            {"min_word_length": 0},
            "min_word_length must be an integer of at least 1, got 0",
        ),
        (
            "techtc",
            {"weighting": "idf"},
            "weighting must be one of counts, binary, log, l2, log_l2, tfidf_l2, got 'i",
        ),
        (
            "techtc",
            {"form": "official"},
            "form must be one of auto, tokens, got 'official'",
        ),
        (
            "rcv1_ccat",
            {"form": "sklearn"},
            "form must be one of auto, subsets, official, got 'sklearn'",
        ),
        ("rcv1_ccat", {"part": "test"}, "part must be one of train, all, got 'test'"),
        ("rcv1_ccat", {"n_train": True}, "n_train must be an integer"),
        (
            "rcv1_ccat",
            {"names": "words"},
            "names must be one of terms, stems, got 'words'",
        ),
        (
            "rcv1_ccat",
            {"form": "official", "n_train": 5},
            "has 23149 training documents, got n_train=5",
        ),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_loaded(name, params, message):
    for ask in (dataset_identity, keyed_parameters, load_dataset):
        with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below, as a text
            ask(name, **params)
        assert message in str(error.value)
