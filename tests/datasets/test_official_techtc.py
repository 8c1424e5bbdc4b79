"""The official archive of TechTC-300, on files made in its form: comments, `vectors.dat` and `features.idx`."""

import lzma
import zipfile
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provlab.bench.run_names import dataset_names
from provlab.cli import main
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.core.store import TrialStore
from provlab.custody.agreement import DIFFERENT, IDENTICAL
from provlab.custody.audit import run_audit
from provlab.data import dataset_identity, dataset_members, fetch, load_dataset
from provlab.data.loaders import techtc, techtc300
from small_runs import run_quietly

SET = "Exp_10341_14271"
DOCUMENTS = [
    (1, ["paintball", "gear", "paintball", "s\xa0pace"]),
    (-1, ["river", "gear", "fishing", "c#sharp"]),
    (-1, []),
    (1, ["the", "paintball"]),
]
FEATURES = """\
# Dataset: Exp_10341_14271
#
# Features of the dataset, one per line:
#   <index> <word>
# Indices start at 1.
#
# Number of features: 9

1 c#sharp
2 fishing
3 gear
4 paintball
5 river
6 s\xa0pace
7 the
8 never
9 river
""".encode("latin-1")
VECTORS = b"""\
# Dataset: Exp_10341_14271
# Vectors, one per line: <label> <index>:<count> ...
# 10341/0001.txt
+1 3:1 4:2 6:1
# 14271/0001.txt
-1 1:1 2:1 3:1 5:1 8:0 9:2
# 14271/0002.txt
-1
# 10341/0002.txt
+1 4:1 7:1 # a comment
"""


def tokens(documents):
    """Return the same documents as a token list."""
    lines = [" ".join([f"{label:+d}", "a", *words]) for label, words in documents]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def official(documents, order):
    """Return `vectors.dat` and `features.idx` of documents, with the words' indices in this order."""
    index = {word: k for k, word in enumerate(order, 1)}
    features = "# words\n\n" + "".join(f"{k} {word}\n" for word, k in index.items())
    vectors = "# vectors\n"
    for number, (label, words) in enumerate(documents):
        pairs = sorted((index[word], count) for word, count in Counter(words).items())
        vectors += f"# document {number}\n{label:+d} {' '.join(f'{k}:{count}' for k, count in pairs)}\n"
    return vectors.encode("latin-1"), features.encode("latin-1")


def write_folder(folder, vectors=VECTORS, features=FEATURES, name=SET):
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "vectors.dat").write_bytes(vectors)
    (folder / name / "features.idx").write_bytes(features)
    return str(folder)


def write_zip(path, top="", names=(SET,), vectors=VECTORS, features=FEATURES):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{top}readme.txt", "of the collection")
        for name in names:
            archive.writestr(f"{top}{name}/features.idx", features)
            archive.writestr(f"{top}{name}/vectors.dat", vectors)
    return str(path)


def load(path, **params):
    return load_dataset("techtc300", path=path, **{"set": SET, **params})


def test_documents_are_rows_words_are_features_and_labels_are_signs(tmp_path):
    data = load(write_folder(tmp_path))
    assert data.feature_names.tolist() == [
        "c#sharp",
        "fishing",
        "paintball",
        "river",
        "s\xa0pace",
    ]
    expected = [[0, 0, 2, 0, 1], [1, 1, 0, 3, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]
    np.testing.assert_array_equal(data.X.toarray(), expected)
    assert data.y.tolist() == [1, -1, -1, 1]
    assert (data.name, data.source) == (SET, str(tmp_path))
    with pytest.raises(
        ValueError,
        match=r"techtc300: Exp_10341_14271 has no word of 50 letters\. Lower",
    ):
        load(str(tmp_path), min_word_length=50)


WORD = st.text("abé#\xa0\x85", min_size=1, max_size=8)
PAIR = st.lists(
    st.tuples(st.sampled_from([1, -1]), st.lists(WORD, max_size=9)), max_size=5
)


@pytest.mark.parametrize("weighting", techtc300.WEIGHTINGS)
@settings(max_examples=20)
@given(
    documents=PAIR,
    random=st.randoms(use_true_random=False),
    min_word_length=st.integers(1, 5),
)
def test_it_is_the_data_set_of_the_same_documents_as_tokens(
    weighting, documents, random, min_word_length, tmp_path_factory
):
    documents = [*DOCUMENTS, *documents]
    order = sorted({word for _, words in documents for word in words})
    random.shuffle(order)
    vectors, features = official(documents, order)
    folder = tmp_path_factory.mktemp("techtc")
    write_folder(folder, vectors, features)
    path = folder / "tokens.txt.xz"
    path.write_bytes(lzma.compress(tokens(documents), preset=0))
    options = {"set": SET, "min_word_length": min_word_length, "weighting": weighting}
    expected = techtc.load([path], "", **options)
    assert load(str(folder), **options).content == expected.content


def test_archive_and_folder_are_one_data_set(tmp_path):
    folder = write_folder(tmp_path / "folder")
    places = [
        folder,
        write_zip(tmp_path / "a.zip"),
        write_zip(tmp_path / "b.zip", "techtc300/", (SET, "Exp_1_2")),
    ]
    assert (
        len({dataset_identity("techtc300", path=path, set=SET) for path in places}) == 1
    )
    assert len({load(path).content for path in places}) == 1
    assert dataset_members("techtc300", places[2]) == ["Exp_10341_14271", "Exp_1_2"]
    assert dataset_members("techtc300", folder) == [SET]


@pytest.mark.parametrize(
    "changed",
    [{"vectors": VECTORS + b"-1 2:1\n"}, {"features": FEATURES + b"10 other\n"}],
)
def test_each_file_is_in_the_identity(changed, tmp_path):
    identities = {dataset_identity("techtc300", path=write_folder(tmp_path), set=SET)}
    identities.add(
        dataset_identity("techtc300", path=write_folder(tmp_path, **changed), set=SET)
    )
    identities.add(
        dataset_identity(
            "techtc300", path=write_zip(tmp_path / "a.zip", **changed), set=SET
        )
    )
    assert len(identities) == 2


DAMAGED = {
    "empty": (
        {"vectors": b"# only\n"},
        r"vectors\.dat: expected documents with both labels, .* got 0 documents",
    ),
    "cut": (
        {"vectors": b"+1 1:1\n+1 2:1\n"},
        r"both labels, \+1 and -1, got 2 documents of the labels \[1\]",
    ),
    "label": (
        {"vectors": b"#\n+2 1:1\n"},
        r"/vectors\.dat, line 2: expected a label \+1 or -1, got '\+2'",
    ),
    "zero": ({"vectors": b"0 1:1\n"}, r"line 1: expected a label \+1 or -1, got '0'"),
    "no count": (
        {"vectors": b"+1 1:1 2\n"},
        "line 1: expected index:count, .* got '2'",
    ),
    "fraction": (
        {"vectors": b"+1 1:1.5\n"},
        "a whole number of at most 9 digits, got '1:1.5'",
    ),
    "negative": ({"vectors": b"+1 1:-2\n"}, "got '1:-2'"),
    "huge": ({"vectors": b"+1 1:" + b"9" * 5000}, "at most 9 digits, got '1:9999"),
    "other index": (
        {"vectors": b"+1 10:1\n"},
        r"expected an index that features\.idx lists, got '10:1'",
    ),
    "twice": ({"vectors": b"+1 1:1 2:1 1:3\n"}, "expected each index once, got '1:3'"),
    "no word": (
        {"features": b"# f\n1\n"},
        r"/features\.idx, line 2: expected an index and a word, got '1'",
    ),
    "no index": (
        {"features": b"one word\n"},
        "expected an index and a word, got 'one word'",
    ),
    "index twice": (
        {"features": b"1 a\n\n1 b\n"},
        r"/features\.idx, line 3: expected each index once, got '1 b'",
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_say_line_and_value(case, tmp_path):
    changed, message = DAMAGED[case]
    for path in (
        write_folder(tmp_path, **changed),
        write_zip(tmp_path / "a.zip", **changed),
    ):
        with pytest.raises(ValueError, match=message) as error:
            load(path)
        assert len(str(error.value)) < 400


def test_what_is_no_archive_says_where_to_get_one(tmp_path):
    archive = tmp_path / "other.zip"
    archive.write_bytes(b"no zip")
    missing = "techtc300: expected one file Exp_1_2/vectors.dat in .*, got 0; correct dataset.set or dataset.path"
    places = {
        "": r"dataset\.path: expected the official archive .* got ''; get techtc300_preprocessed\.zip from https://",
        str(
            tmp_path / "none"
        ): "none', which does not exist in .*; correct the path, or get techtc300_preprocessed",
        str(
            archive
        ): "expected an intact zip archive, got BadZipFile: File is not a zip file; download it again",
        write_folder(tmp_path / "folder"): missing,
        write_zip(tmp_path / "a.zip"): missing,
    }
    for path, message in places.items():
        with pytest.raises(ValueError, match=message):
            load(path, set="Exp_1_2")
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        ValueError,
        match=r"expected folders Exp_<id1>_<id2> with vectors\.dat in .*, got none",
    ):
        dataset_members("techtc300", str(tmp_path / "empty"))
    with pytest.raises(
        ValueError,
        match=r"techtc300: set must look like 'Exp_10341_10755', got '\.\./Exp_1_2'",
    ):
        load(str(tmp_path), set="../Exp_1_2")


def test_a_packed_flood_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch, peak_memory
):
    flood = write_zip(tmp_path / "flood.zip", vectors=b"#" * 30_000_000)
    monkeypatch.setenv("PROVSEL_MEMORY_GB", "1")
    with pytest.raises(
        ValueError,
        match=f"{SET}: expected contents .* got {30_000_000 + len(FEATURES):,} bytes of text",
    ):
        load(flood)
    # and where the archive claims less than it holds
    content = (
        (tmp_path / "flood.zip")
        .read_bytes()
        .replace((30_000_000).to_bytes(4, "little"), (99).to_bytes(4, "little"))
    )
    (tmp_path / "flood.zip").write_bytes(content)

    def refused():
        with pytest.raises(
            ValueError,
            match=r"vectors\.dat: expected an intact zip archive, got .*Bad CRC-32",
        ):
            load(flood)

    assert peak_memory(refused) < 5_000_000


def test_a_run_and_its_audit(tmp_path):
    """The path is where data are: in no key, and beside the records for audits."""
    rng = np.random.default_rng(0)
    words = [f"word{k:02d}" for k in range(30)]
    documents = [(label, rng.choice(words, 12).tolist()) for label in [-1, 1] * 10]
    vectors, features = official(documents, words)
    archive = write_zip(
        tmp_path / "a.zip", names=(SET, "Exp_1_2"), vectors=vectors, features=features
    )
    small = [
        "selector=uniform",
        "selector.n_features_to_select=5",
        "protocol.repeats=1",
        "protocol.n_splits=2",
    ]
    cells = cells_of(
        compose_config(["dataset=techtc300", f"dataset.path={archive}", *small])
    )
    assert dataset_names([cell.dataset for cell in cells]) == [
        "Exp_10341_14271",
        "Exp_1_2",
    ]
    folder = write_folder(tmp_path / "folder", vectors, features)
    [moved] = cells_of(
        compose_config(
            [
                "dataset=techtc300",
                f"dataset.path={folder}",
                f"dataset.set={SET}",
                *small,
            ]
        )
    )
    assert moved.id == cells[0].id
    assert archive not in cells[0].json
    store = TrialStore(tmp_path / "results" / "store")
    run_quietly(cells, store)
    run, _ = run_audit(tmp_path / "results", fraction=1.0, executor={"name": "serial"})
    assert (run.count(IDENTICAL), run.count(DIFFERENT)) == (4 * cells[0].n_draws, 0)


def test_it_is_not_fetched(capsys):
    with pytest.raises(
        ValueError,
        match=r"techtc300: it consists of your own files .*; get techtc300_pre",
    ):
        fetch(["techtc300"])
    assert main(["fetch", "techtc300"]) == 2
    assert (
        "dataset=techtc300 dataset.path=techtc300_preprocessed.zip"
        in capsys.readouterr().err
    )
