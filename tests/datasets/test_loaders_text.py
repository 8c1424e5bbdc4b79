"""Loaders of texts on made files: TechTC, DEXTER and RCV1."""

import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from provlab.datasets import DataIntegrityError, MissingDataError, dataset_members, load_dataset, read_source
from provlab.datasets.loaders import techtc
from provlab.datasets.loaders.dexter import read_data
from provlab.datasets.loaders.rcv1_ccat import read_official, read_stems

SET = "Exp_1_2"
TOKENS = b"+1 a paintball gear paintball s\xa0pace\n-1 b river gear  fishing \n-1 a\n1 b the paintball\n"


def write_tokens(root, content=TOKENS, name=SET):
    path = root / "techtc100" / "tokens" / f"{name}.txt.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(content))
    return path


def load(**params):
    return load_dataset("techtc", **{"set": SET, **params})


def test_words_are_split_at_blanks_only_counted_and_sorted(mirror):
    write_tokens(mirror)
    data = load()
    assert data.feature_names.tolist() == ["fishing", "paintball", "river", "s\xa0pace"]
    np.testing.assert_array_equal(data.X.toarray(), [[0, 2, 0, 1], [1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]])
    assert data.y.tolist() == [1, -1, -1, 1]
    assert (data.name, data.official_train) == (SET, None)
    assert "token lists tokens/Exp_1_2.txt.xz, SHA-256" in data.source
    assert load(min_word_length=1).X.shape == (4, 6)
    assert load(form="tokens").content == data.content
    with pytest.raises(ValueError, match=r"Exp_1_2 has no word of 50 letters. Lower min_word_length"):
        load(min_word_length=50)


words = st.lists(st.text("abc", min_size=1, max_size=3), max_size=8)


@given(st.lists(words, min_size=1, max_size=6), st.integers(1, 3))
def test_counts_are_those_of_scikit_learn(documents, length):
    documents = [*documents, ["c" * length]]
    counted = CountVectorizer(token_pattern=rf"(?<!\S)\S{{{length},}}(?!\S)", lowercase=False)
    expected = counted.fit_transform([" ".join(document) for document in documents])
    bags = [techtc.Counter(word.encode() for word in document) for document in documents]
    X, found = techtc.count_matrix(bags, min_word_length=length)
    assert [word.decode() for word in found] == counted.get_feature_names_out().tolist()
    np.testing.assert_array_equal(X.toarray(), expected.toarray())


@given(st.integers(0, 2**32 - 1))
def test_weightings_are_those_of_scikit_learn(seed):
    before = np.random.default_rng(seed).poisson(0.6, size=(7, 9)).astype(float)
    counts = sparse.csr_array(before)
    logs = np.where(before > 0, 1 + np.log(np.maximum(before, 1)), 0)
    expected = {
        "counts": before, "binary": before > 0, "log": logs, "l2": normalize(before), "log_l2": normalize(logs),
        "tfidf_l2": TfidfTransformer().fit_transform(before).toarray(),
    }  # fmt: skip
    for weighting, X in expected.items():
        np.testing.assert_allclose(techtc.weigh(counts, weighting).toarray(), X, rtol=1e-13)
    np.testing.assert_array_equal(counts.toarray(), before)


def test_sets_that_are_there_and_sets_that_are_meant(mirror, data_folder):
    write_tokens(mirror, name="Exp_5_6")
    write_tokens(data_folder, name="Exp_5_6")
    write_tokens(data_folder, name="Exp_3_4")
    (mirror / "techtc100" / "tokens" / "Exp_not_it.txt.xz").touch()
    assert techtc.present() == ["Exp_3_4", "Exp_5_6"]
    # "all" has to be the same everywhere, whatever is there
    assert len(dataset_members("techtc")) == 80
    with pytest.raises(MissingDataError, match=r"Exp_1_2 is missing .*2 other sets are present") as caught:
        load()
    for piece in (
        str(mirror),
        str(data_folder),
        "tokens/Exp_1_2.txt.xz",
        "provsel fetch techtc",
        "PROVSEL_DATA_MIRROR",
    ):
        assert piece in str(caught.value)


def test_the_mirror_is_searched_first_and_a_changed_file_is_read_again(mirror, data_folder):
    write_tokens(data_folder)
    assert load().X.shape == (4, 4)
    write_tokens(mirror, b"+1 a paintball\n-1 a fishing\n")
    assert load().X.shape == (2, 2)
    assert str(mirror) not in load().source


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"set": "../Exp_1_2"}, "set must look like 'Exp_10341_10755', got '../Exp_1_2'"),
        ({"set": "Exp_1_2\n"}, "set must look like"),
        ({"set": None}, "set must look like 'Exp_10341_10755', got None"),
        ({"min_word_length": 0}, "min_word_length must be an integer of at least 1, got 0"),
        ({"weighting": "idf"}, "weighting must be one of counts, binary, log, l2, log_l2, tfidf_l2, got 'idf'"),
        ({"form": "official"}, "form must be one of auto, tokens, got 'official'"),
    ],
)
def test_bad_parameters_of_techtc(params, message):
    with pytest.raises(ValueError, match=message):
        load(**params)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"txt\.xz, line 1: expected a label \+1 or -1, got ''"),
        (b"+1 a x\n2 a y\n", r"txt\.xz, line 2: expected a label \+1 or -1, got '2'"),
        (b"+1 a x\n-1 word y\n", "line 2: expected the letter a or b after the label, got 'word'"),
        (b"+1 a x\n-1", "line 2: expected the letter a or b after the label, got ''"),
    ],
)
def test_damaged_token_lists(mirror, content, message):
    path = write_tokens(mirror, content)
    with pytest.raises(ValueError, match=message):
        load()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"Exp_1_2\.txt\.xz: cannot be decompressed .*Replace it"):
        load()


def test_registered_files_are_verified(mirror, data_folder):
    file = read_source("techtc").find("techtc100/tokens/Exp_10341_10755.txt.xz")
    path = write_tokens(mirror, name="Exp_10341_10755")
    with pytest.raises(DataIntegrityError, match=f"expected {file.size} bytes or .*found .*`provsel fetch"):
        load_dataset("techtc")
    path.write_bytes(b"\0" * file.size)
    with pytest.raises(DataIntegrityError, match=f"expected SHA-256 {file.sha256} .*found SHA-256"):
        load_dataset("techtc")
    assert techtc.categories("Exp_10341_10755") is None
    (mirror / "techtc100" / "datasets.tsv").write_text("dataset\tcategory_positive\nExp_10341_10755\ta\n")
    with pytest.raises(DataIntegrityError, match=r"datasets\.tsv: expected 18711 bytes"):
        techtc.categories("Exp_10341_10755")


# ---- DEXTER


def test_documents_of_dexter(tmp_path):
    (tmp_path / "a.data").write_bytes(b"1:5 20000:7 \n\n2:1\n")
    X = read_data(tmp_path / "a.data")
    assert X.shape == (3, 20000)
    entries = {(i, j): v for i, j, v in zip(*X.nonzero(), X.data, strict=True)}
    assert entries == {(0, 0): 5, (0, 19999): 7, (2, 1): 1}


def test_dexter_that_is_wished_otherwise_missing_or_another_file(mirror):
    with pytest.raises(ValueError, match="part must be one of train, all, got 'valid'"):
        load_dataset("dexter", part="valid")
    with pytest.raises(MissingDataError, match=r"dexter: the file dexter/dexter_train\.data is missing"):
        load_dataset("dexter")
    (mirror / "dexter").mkdir()
    (mirror / "dexter" / "dexter_train.data").write_bytes(b"1:5\n")
    with pytest.raises(DataIntegrityError, match="expected 249183 bytes"):
        load_dataset("dexter")


# ---- RCV1


def packed(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_official_files_of_rcv1(tmp_path):
    """Vectors begin with the number of the document; labels are those of the topics' file, in any order."""
    train = packed(tmp_path / "train.gz", "2286  1:0.5 3:.25 47236:1\n2287  9:1e-3\n26150 \n")
    test = packed(tmp_path / "test.gz", "26151  2:0.125\n")
    topics = packed(tmp_path / "topics.gz", "CCAT 26151 1\nECAT 2287 1\nC15 2286 1\nCCAT 2286 1\nXCCAT 26150 1\n")
    X, y, n_train, words = read_official([train, test, topics], 23149)
    assert (X.shape, n_train, words) == ((4, 47236), 3, "files of LYRL2004")
    entries = {(i, j): v for i, j, v in zip(*X.nonzero(), X.data, strict=True)}
    assert entries == {(0, 0): 0.5, (0, 2): 0.25, (0, 47235): 1, (1, 8): 0.001, (3, 1): 0.125}
    assert y.tolist() == [1, -1, -1, 1]
    assert read_official([train, topics], 23149)[0].shape == (3, 47236)


def test_stems_stand_at_the_number_of_their_term(tmp_path):
    (tmp_path / "stems").write_text("ab-c 2 8.4\n_ 1 10.05\nzz 4 2.25\n0x 3 1\n")
    assert read_stems(tmp_path / "stems") == ["_", "ab-c", "0x", "zz"]


def test_what_rcv1_reads_depends_on_what_is_there_and_what_is_wished(mirror):
    (mirror / "rcv1").mkdir()
    with pytest.raises(MissingDataError, match=r"rcv1v2_subsets_fixed.npz is missing\. .* fetch rcv1_ccat`"):
        load_dataset("rcv1_ccat")
    for name in ("lyrl2004_vectors_train.dat", "rcv1-v2.topics.qrels"):
        packed(mirror / "rcv1" / f"{name}.gz", "")
    with pytest.raises(DataIntegrityError, match=r"expected SHA-256 5468f656.* found SHA-256"):
        load_dataset("rcv1_ccat")  # "auto" takes the official files, which are others here
    with pytest.raises(MissingDataError, match=r"rcv1v2_subsets_fixed.npz is missing"):
        load_dataset("rcv1_ccat", n_train=100)  # of which they have another number
    with pytest.raises(MissingDataError, match=r"rcv1v2_subsets_fixed.npz is missing"):
        load_dataset("rcv1_ccat", part="all")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"form": "sklearn"}, "form must be one of auto, subsets, official, got 'sklearn'"),
        ({"part": "test"}, "part must be one of train, all, got 'test'"),
        ({"n_train": True}, "n_train must be an integer"),
        ({"names": "words"}, "names must be one of terms, stems, got 'words'"),
        ({"n_train": 5, "form": "official"}, "form='official' has 23149 training documents, got n_train=5"),
    ],
)
def test_bad_parameters_of_rcv1(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("rcv1_ccat", **params)
