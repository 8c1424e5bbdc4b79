"""The techtc loader: both forms, search order, parameters and damaged files."""

import lzma

import numpy as np
import pytest
from datasets_corpora import SMALL, write_official, write_tokens

from provlab.datasets import DataIntegrityError, MissingDataError, dataset_members, load_dataset, read_source
from provlab.datasets.loaders import techtc

SET = "Exp_1_2"


def load(**params):
    return load_dataset("techtc", **{"set": SET, **params})


def test_both_forms_load_to_the_same_record(mirror):
    write_tokens(mirror, SET, SMALL)
    write_official(mirror, SET, SMALL)
    for params in ({}, {"min_word_length": 1, "weighting": "log_l2"}, {"min_word_length": 4, "weighting": "l2"}):
        tokens, official = load(form="tokens", **params), load(form="official", **params)
        assert tokens.content == official.content
        assert "token lists" in tokens.source
        assert "official preprocessed vectors" in official.source
    data = load()
    assert data.feature_names.tolist() == ["fishing", "paintball", "river", "s\xa0pace"]
    np.testing.assert_array_equal(data.X.toarray(), [[0, 2, 0, 1], [1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]])
    assert data.y.tolist() == [1, -1, -1, 1]
    assert data.name == SET
    assert "token lists" in data.source  # auto takes them first


@pytest.mark.parametrize("collection", ["techtc300", "techtc100", "techtc300/techtc300_preprocessed"])
def test_official_folders_are_found_in_mirror_and_data_folder(mirror, data_folder, collection):
    write_official(data_folder, SET, SMALL, collection)
    first = load()
    write_official(mirror, SET, [*SMALL, (1, [b"another"])], collection)
    second = load()
    assert first.X.shape[0] == 4
    assert second.X.shape[0] == 5  # the mirror is searched first
    assert str(mirror) not in second.source


def test_members_lists_both_forms(mirror, data_folder):
    write_tokens(mirror, "Exp_5_6", SMALL)
    write_tokens(data_folder, "Exp_5_6", SMALL)
    write_official(data_folder, "Exp_3_4", SMALL)
    (mirror / "techtc100" / "Exp_not_it").mkdir()
    assert techtc.present() == ["Exp_3_4", "Exp_5_6"]
    # "all" has to be the same everywhere, whatever is there
    assert len(dataset_members("techtc")) == 80


def test_missing_set_says_where_and_what_to_do(mirror, data_folder):
    write_tokens(mirror, "Exp_5_6", SMALL)
    with pytest.raises(MissingDataError, match=r"Exp_1_2 is missing .*1 other sets are present") as caught:
        load()
    message = str(caught.value)
    for piece in (str(mirror), str(data_folder), "techtc300/Exp_1_2/", "provsel fetch techtc", "PROVSEL_DATA_MIRROR"):
        assert piece in message
    with pytest.raises(FileNotFoundError, match="form='official'"):
        load_dataset("techtc", set="Exp_5_6", form="official")


def test_missing_mirror_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(tmp_path / "gone"))
    with pytest.raises(MissingDataError, match=r"gone \(no such folder\)"):
        load()


@pytest.mark.parametrize("part", ["features.idx", "vectors.dat"])
def test_an_incomplete_official_folder(mirror, part):
    (write_official(mirror, SET, SMALL) / part).unlink()
    with pytest.raises(MissingDataError, match=f"Exp_1_2 lacks {part}: expected vectors.dat and features.idx"):
        load()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"set": "../Exp_1_2"}, "set must look like 'Exp_10341_10755', got '../Exp_1_2'"),
        ({"set": "Exp_*_2"}, "set must look like"),
        ({"set": "Exp_1_2\n"}, "set must look like"),
        ({"set": None}, "set must look like 'Exp_10341_10755', got None"),
        ({"min_word_length": 0}, "min_word_length must be an integer of at least 1, got 0"),
        ({"weighting": "idf"}, "weighting must be one of counts, binary, log, l2, log_l2, tfidf_l2, got 'idf'"),
        ({"weighting": ["l2"]}, "weighting must be one of"),
        ({"form": "pickle"}, "form must be one of auto, tokens, official, got 'pickle'"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        load(**params)


def test_no_word_is_long_enough(mirror):
    write_tokens(mirror, SET, SMALL)
    with pytest.raises(ValueError, match=r"Exp_1_2 has no word of 50 letters. Lower min_word_length"):
        load(min_word_length=50)


def test_one_class_only(mirror):
    write_tokens(mirror, SET, SMALL[:1])
    with pytest.raises(ValueError, match=r"expected documents of both labels, \+1 and -1, got \{1\}"):
        load()


def test_truncated_and_foreign_xz(mirror):
    path = write_tokens(mirror, SET, SMALL)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"not xz at all", b""):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"Exp_1_2.txt.xz: cannot be decompressed .*Replace it"):
            load()


def test_a_list_that_expands_too_much(mirror, monkeypatch):
    monkeypatch.setattr("provlab.datasets.loaders.techtc._MAX_EXPANDED", 1000)
    write_tokens(mirror, SET, [*SMALL, (1, [b"x" * 2000])])
    with pytest.raises(ValueError, match="expands to more than 1000 bytes"):
        load()


def test_registered_lists_are_verified(mirror, data_folder):
    registered = read_source("techtc").find("techtc100/tokens/Exp_10341_10755.txt.xz")
    path = write_tokens(mirror, "Exp_10341_10755", SMALL)
    with pytest.raises(DataIntegrityError, match=f"expected {registered.size} bytes or .*found .*`provsel fetch"):
        load_dataset("techtc")
    path.write_bytes(b"\0" * registered.size)
    with pytest.raises(DataIntegrityError, match=f"expected SHA-256 {registered.sha256} .*found SHA-256"):
        load_dataset("techtc")
    assert not data_folder.exists()


def test_a_changed_file_is_not_taken_from_the_cache(mirror):
    path = write_tokens(mirror, SET, SMALL)
    first = load()
    path.write_bytes(lzma.compress(b"+1 a paintball\n-1 a fishing\n"))
    assert load().X.shape == (2, 2)
    assert first.X.shape == (4, 4)


def test_categories_without_a_table_or_with_another_one(mirror):
    assert techtc.categories("Exp_10341_10755") is None
    (mirror / "techtc100").mkdir()
    (mirror / "techtc100" / "datasets.tsv").write_text("dataset\tcategory_positive\nExp_10341_10755\ta\n")
    with pytest.raises(DataIntegrityError, match=r"datasets\.tsv: expected 18711 bytes"):
        techtc.categories("Exp_10341_10755")
