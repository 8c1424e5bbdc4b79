"""Data sets of the real files: the content that stored trials have, and what publishers say of them."""

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from provlab.data import dataset_members, load_dataset, read_source
from provlab.data.identity import checked_parameters, files_of

REPO = Path(__file__).parents[2]


def needs(mirror, *paths):
    missing = [path for path in paths if not (mirror / path).is_file()]
    if missing:
        pytest.skip(f"needs real data: the mirror has no {missing[0]}")


CONTENT = [
    (
        "allaml",
        {},
        (72, 7129),
        "568178f6992e57b8048fdb7f886307d5d3b7f84cd1c4f89f7e757bd5e4354114",
    ),
    (
        "ar",
        {},
        (1400, 2200),
        "ad35ed1402fae499e8325a8ecceb3543bf157386be5af68439245e03724478e3",
    ),
    (
        "arcene",
        {},
        (200, 10000),
        "1b34009c36fcd422b428da9ca81f403088d74d2185dc967c42773eb865de1753",
    ),
    (
        "coil20",
        {},
        (1440, 1024),
        "1d675eca5c0dd1c0ab2c50db30914800d7a5d44bab0a91d0eedfa8970b123501",
    ),
    (
        "colon",
        {},
        (62, 2000),
        "afd05062945498e5cb0d50e3e0d90a1717f8b4dad3ba275c022ef9facdebb9d7",
    ),
    (
        "dexter",
        {},
        (300, 20000),
        "967dde86da5e8907d7bc7dfeb594f1c7ef6033137f0be1d97235b1acd23a5483",
    ),
    (
        "dexter",
        {"part": "all"},
        (600, 20000),
        "b64555b37cc993a07c47ab105175a84f32b6fe97c6be07720c10e376d03e8e7c",
    ),
    (
        "isolet",
        {},
        (1560, 617),
        "0da42bbf7a652f0ed98056e8894990e68817a3ad5d327a0f3716e6f834daecad",
    ),
    (
        "leukemia",
        {},
        (72, 7070),
        "d89079fb21ee3ac88b720cab08d2795c97bc0b3138379d000cf93b520aa080bb",
    ),
    (
        "madelon",
        {},
        (2600, 500),
        "70a5143ef84aac2d0ecee97e5fa270adccbeca1774364120fe4b00367d7e42b7",
    ),
    *(
        ("microarray", {"set": name}, shape, content)
        for name, shape, content in (
            (
                "alon",
                (62, 2000),
                "a4fb817ce1bf961b815554050f282d6cbeed710e0d4457e293df9abff44c082e",
            ),
            (
                "borovecki",
                (31, 22283),
                "a70b97c9cbc8973b7e5095ca4c71ebb60deba00f77182c31cc77755cf370083c",
            ),
            (
                "chowdary",
                (104, 22283),
                "9ba8cf3ab17bb3b9f5e496b2d24cfd088a7e7c47d37adbb608a56d57e07022dd",
            ),
            (
                "christensen",
                (217, 1413),
                "79fa8d160e54471358a0c3f5f9e5782fab9ca3aaf7ba16979ddc102db25d6762",
            ),
            (
                "golub",
                (72, 7129),
                "ca89258ca8440a5e67fa7d96b945775a399e5f4f6df8fae7327d27a51b474649",
            ),
            (
                "gordon",
                (181, 12533),
                "f90d6fd2915abbe5b8ed497ac38f225aa24e95052d72ffa9cf26aa74f977df1e",
            ),
            (
                "gravier",
                (168, 2905),
                "57e3875121e7a782eded4da4b37a2ac7df86d4eac0958b95e73e574563897d3a",
            ),
            (
                "nakayama",
                (105, 22283),
                "be6a4c3f5d11864e9cb347437c86507e52e452e0cc1cda047e7c7fe4862700e6",
            ),
            (
                "sorlie",
                (85, 456),
                "2bff1a03a25bab2d808a5433fc0473739b73f094e2a8261e4118584701fb0753",
            ),
            (
                "su",
                (102, 5565),
                "ef91560d706440d984132b40d48792e88e9662c094182d0c611147c172b98383",
            ),
            (
                "west",
                (49, 7129),
                "45074c9550afb493adae7fac93f56e668784a115dbef1c1d099edb32b852b1da",
            ),
        )
    ),
    (
        "mnist",
        {"classes": [3, 8]},
        (13966, 784),
        "9282a358afa47b7e65ea926040b82594bbbf04810c3dc337947a35e79f9594e1",
    ),
    (
        *("mnist", {"part": "train", "classes": [3, 8]}, (11982, 784)),
        "89f38104bc07c0c59eef693d19d1b9d1bd0be63472773d103da813db00300389",
    ),
    (
        "orl",
        {},
        (400, 1024),
        "e3d9adcdc2f007d373855199cbac1bc66a189c4375e522eb66f1f76c87c8c7f3",
    ),
    (
        "rcv1_ccat",
        {},
        (23149, 47236),
        "bccf929e1f1ac5880f5a230966af32f38bf325e88a7528973fde7c56bb714951",
    ),
    (
        *("rcv1_ccat", {"part": "all"}, (27613, 47236)),
        "a3b6177d283885fe6d52de8a2026d433914296e0c06df42d7aa6c794539612f7",
    ),
    (
        *("techtc", {"set": "Exp_10341_10755"}, (145, 11933)),
        "6c18d61da59b869369375b94565f9461181dcb494152af004e4961cab1115c46",
    ),
    (
        *("techtc", {"set": "Exp_8308_8366", "weighting": "tfidf_l2"}, (144, 10945)),
        "4f6c3d8d4627bf7737d52fec81ba768ee50934e90c3048470d469bfefd76f78a",
    ),
    (
        *(
            "techtc",
            {"set": "Exp_85489_90753", "weighting": "log_l2", "min_word_length": 1},
            (154, 14087),
        ),
        "d28caf975b10bcb00c2ea1f883b31ff4506d8b7b720bdcb070e309f4a0503357",
    ),
    (
        "usps",
        {},
        (9298, 256),
        "3e14a28e05bc819f8669d970950962d22818c0e352344060ffaa74c7a52c060c",
    ),
    (
        "usps",
        {"part": "train"},
        (7291, 256),
        "48d3ac5ebd261ee2aa53f95582dad5df39fc664a4d7c9be9525678a82eb4013b",
    ),
    (
        "warpar10p",
        {},
        (130, 2400),
        "96dedfee4fecf07ae5274fe47f3d04a6d5e619eeea667b0a212e99f80996794b",
    ),
]


@pytest.mark.parametrize(("name", "params", "shape", "content"), CONTENT)
def test_the_content_is_that_of_stored_trials_parsed_or_cached(
    real_mirror, name, params, shape, content
):
    needs(
        real_mirror,
        *(file.path for file in files_of(name, checked_parameters(name, params))),
    )
    for _ in range(2):
        data = load_dataset(name, **params)
        assert (data.X.shape, data.content) == (shape, content)


def counts(y):
    return dict(
        zip(*(a.tolist() for a in np.unique(y, return_counts=True)), strict=True)
    )


CLASSES = {
    "allaml": {-1: 47, 1: 25}, "arcene": {-1: 112, 1: 88}, "colon": {-1: 40, 1: 22}, "leukemia": {-1: 47, 1: 25},
    "madelon": {-1: 1300, 1: 1300}, "isolet": dict.fromkeys(range(1, 27), 60),
    "warpar10p": dict.fromkeys(range(1, 11), 13), "coil20": dict.fromkeys(range(1, 21), 72),
    "orl": dict.fromkeys(range(1, 41), 10), "ar": dict.fromkeys(range(1, 101), 14),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_matlab_sets_have_the_values_of_their_file_and_the_published_classes(
    real_mirror, name
):
    [file] = read_source(name).published()
    needs(real_mirror, file.path)
    raw = scipy.io.loadmat(real_mirror / file.path)
    data = load_dataset(name)
    np.testing.assert_array_equal(data.X, raw["DAT"].T if name == "ar" else raw["X"])
    labels = raw["labels" if name == "ar" else "Y"].ravel()
    assert counts(data.y) == CLASSES[name]
    # the smaller of two becomes -1
    assert (np.diff(data.y[np.argsort(labels, kind="stable")]) >= 0).all()
    assert data.official_train is None


def test_dexter_has_the_published_check_sums(real_mirror):
    needs(real_mirror, "dexter/dexter.param")
    lines = (real_mirror / "dexter" / "dexter.param").read_text().splitlines()
    rows = {
        line.split()[0]: line.split()[1:]
        for line in lines
        if line[:5] in ("Train", "Valid")
    }
    data = load_dataset("dexter", part="all")
    train = load_dataset("dexter")
    for kind, part in (("Train", data.official_train), ("Valid", ~data.official_train)):
        positive, negative, total, check_sum = (float(value) for value in rows[kind])
        assert ((data.y[part] == 1).sum(), (data.y[part] == -1).sum(), part.sum()) == (
            positive,
            negative,
            total,
        )
        assert data.X[part].sum() == check_sum
    assert (data.X[:300] != train.X).nnz == 0


def test_the_subsets_of_rcv1_stand_in_for_the_official_split(real_mirror):
    needs(real_mirror, "rcv1_subsets/rcv1v2_subsets_fixed.npz")
    data = load_dataset("rcv1_ccat", part="all")
    assert abs((data.y == 1).mean() - 0.447) < 0.005
    np.testing.assert_allclose(
        np.sqrt(data.X.multiply(data.X).sum(axis=1)), 1, atol=1e-5
    )
    assert data.official_train.tolist() == [True] * 23149 + [False] * (27613 - 23149)
    assert "five public subsets of 6,000, not the official split" in data.source
    assert load_dataset("rcv1_ccat", n_train=27613).X.shape[0] == 27613
    with pytest.raises(
        ValueError,
        match=r"n_train must be at most 27613 for part='train', got 27614\. Lower it",
    ):
        load_dataset("rcv1_ccat", n_train=27614)
    with pytest.raises(
        ValueError, match="n_train must be at most 27612 for part='all', got 27613"
    ):
        load_dataset("rcv1_ccat", n_train=27613, part="all")


def test_samples_of_rcv1_are_its_distinct_documents_and_topics_are_those_of_the_file(
    real_mirror,
):
    needs(real_mirror, "rcv1_subsets/rcv1v2_subsets_fixed.npz")
    # columns of the file, by its description
    topics = {"CCAT": 33, "ECAT": 59, "GCAT": 70}
    with np.load(real_mirror / "rcv1_subsets/rcv1v2_subsets_fixed.npz") as parts:
        first = parts["first_occurrence"]
        subset = parts["subset"]
        labels = {
            name: np.unpackbits(parts["topics"], axis=1)[:, k]
            for name, k in topics.items()
        }
    whole = load_dataset("rcv1_ccat", n_train=27613).X
    for number, topic in ((1, "GCAT"), (3, "ECAT"), (5, "CCAT")):
        data = load_dataset("rcv1_ccat", sample=number, topic=topic)
        assert (whole[subset[first] == number] != data.X).nnz == 0
        np.testing.assert_array_equal(
            data.y == 1, labels[topic][first & (subset == number)]
        )
        assert data.name == f"rcv1_{topic.lower()}"
    for params in (
        {"sample": 6},
        {"sample": 1, "part": "all"},
        {"sample": 1, "n_train": 9},
    ):
        with pytest.raises(
            ValueError,
            match=r"sample from 1 to 5 of the subsets, .* got sample=.*Leave out sample",
        ):
            load_dataset("rcv1_ccat", **params)


# Every ninth set of TechTC, and those with two empty documents or the longest word.
ALWAYS = {"Exp_8308_8366", "Exp_85489_90753", "Exp_10341_61792"}


def test_sets_of_techtc_have_the_published_sizes_and_categories(real_mirror):
    with (real_mirror / "techtc100" / "datasets.tsv").open(
        encoding="utf-8", newline=""
    ) as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    assert dataset_members("techtc") == sorted(row["dataset"] for row in rows)
    with (REPO / "experiments" / "paul2016" / "techtc_categories.csv").open(
        encoding="utf-8", newline=""
    ) as handle:
        named = [
            (row["dataset"], row["id1"], row["id2"]) for row in csv.DictReader(handle)
        ]
    assert named == sorted(
        (row["dataset"], row["category_positive"], row["category_negative"])
        for row in rows
    )
    for row in rows:
        file = read_source("techtc").find(f"techtc100/tokens/{row['dataset']}.txt.xz")
        assert file.sha256 == row["sha256"]
    for row in (
        row for i, row in enumerate(rows) if i % 9 == 0 or row["dataset"] in ALWAYS
    ):
        short = load_dataset("techtc", set=row["dataset"], min_word_length=1)
        data = load_dataset("techtc", set=row["dataset"])
        assert data.X.shape == (int(row["documents"]), int(row["terms_longer_than_4"]))
        assert short.X.shape == (int(row["documents"]), int(row["terms"]))
        assert ((data.y == 1).sum(), (data.y == -1).sum()) == (
            int(row["positive"]),
            int(row["negative"]),
        )
        # The table counts documents without any word; more are left without one when
        # short words go.
        empty = [(np.diff(X.indptr) == 0).sum() for X in (short.X, data.X)]
        assert empty[0] == int(row["empty_documents"]) <= empty[1]
        assert min(len(name) for name in data.feature_names) == 5
        assert list(data.feature_names) == sorted(data.feature_names)
