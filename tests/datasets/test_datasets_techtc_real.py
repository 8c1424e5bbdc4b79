"""The token lists of TechTC-100 against the table that comes with them."""

import csv

import numpy as np
import pytest

from provlab.datasets import dataset_members, load_dataset, read_source
from provlab.datasets.loaders import techtc

# Every ninth set, and those with two empty documents or the longest word.
_ALWAYS = {"Exp_8308_8366", "Exp_85489_90753", "Exp_10341_61792"}


def table(real_mirror):
    with (real_mirror / "techtc100" / "datasets.tsv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def test_registry_and_members_agree_with_the_table(real_mirror):
    rows = table(real_mirror)
    assert len(rows) == 80
    assert dataset_members("techtc") == sorted(row["dataset"] for row in rows)
    source = read_source("techtc")
    for row in rows:
        assert source.find(f"techtc100/tokens/{row['dataset']}.txt.xz").sha256 == row["sha256"]


def test_sets_have_the_published_sizes(real_mirror):
    chosen = [row for i, row in enumerate(table(real_mirror)) if i % 9 == 0 or row["dataset"] in _ALWAYS]
    assert len(chosen) >= 10
    for row in chosen:
        short = load_dataset("techtc", set=row["dataset"], min_word_length=1)
        data = load_dataset("techtc", set=row["dataset"])
        assert data.X.shape == (int(row["documents"]), int(row["terms_longer_than_4"]))
        assert short.X.shape == (int(row["documents"]), int(row["terms"]))
        assert (data.y == 1).sum() == int(row["positive"])
        assert (data.y == -1).sum() == int(row["negative"])
        # The table counts documents without any word; more are left without one when short words go.
        assert (np.diff(short.X.indptr) == 0).sum() == int(row["empty_documents"])
        assert (np.diff(data.X.indptr) == 0).sum() >= int(row["empty_documents"])
        assert min(len(name) for name in data.feature_names) == 5
        assert list(data.feature_names) == sorted(data.feature_names)


def test_categories_are_those_of_the_table(real_mirror):
    for row in table(real_mirror):
        assert techtc.categories(row["dataset"]) == (row["category_positive"], row["category_negative"])
    assert techtc.categories("Exp_1_2") is None
    assert techtc.categories("Exp_10341_186330")[0] == "Regional/North_America/United_States/Arkansas"


@pytest.mark.parametrize("weighting", ["counts", "tfidf_l2"])
def test_a_cached_set_is_the_same_and_is_not_parsed_again(real_mirror, weighting, monkeypatch):
    first = load_dataset("techtc", set="Exp_10341_186330", weighting=weighting)

    def forbidden(*_, **__):
        raise AssertionError("a cached set was parsed again")

    monkeypatch.setattr(techtc, "_read_corpus", forbidden)
    again = load_dataset("techtc", set="Exp_10341_186330", weighting=weighting)
    assert again.content == first.content
    np.testing.assert_array_equal(again.X.toarray(), first.X.toarray())
    assert (again.feature_names == first.feature_names).all()
