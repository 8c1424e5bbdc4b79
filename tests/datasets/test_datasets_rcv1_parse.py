"""The text formats of LYRL2004 against scikit-learn's SVMlight reader and plain Python, and damaged files."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from provlab.datasets import _rcv1_parse
from provlab.datasets._rcv1_parse import N_TERMS, parse_topics, parse_vectors

VECTORS = b"2286  864:0.0497 1523:0.044 47236:1\n2287  1:5e-1 3:.25 5:0.5 \n2288\n26150  12:+1.5"
QRELS = b"E11 2286 1\nECAT 2286 1\nM11 2287 1\nCCAT 2288 1\nC15 2288 1\nCCAT 26150 1\nXCCAT 7 1\n"


def packed(folder, content, name="file.dat.gz"):
    path = folder / name
    path.write_bytes(gzip.compress(content))
    return path


def random_text(seed, n_rows):
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n_rows):
        terms = np.sort(rng.choice(N_TERMS, size=rng.integers(0, 60), replace=False)) + 1
        pairs = " ".join(
            f"{term}:{value!r}" for term, value in zip(terms, rng.random(terms.size).tolist(), strict=True)
        )
        lines.append(f"{2286 + 3 * i}  {pairs}\n")
    return "".join(lines).encode()


def test_a_small_file(tmp_path):
    documents, lengths, columns, values = parse_vectors(packed(tmp_path, VECTORS), max_rows=4)
    assert documents.tolist() == [2286, 2287, 2288, 26150]
    assert lengths.tolist() == [3, 3, 0, 1]
    assert columns.tolist() == [863, 1522, 47235, 0, 2, 4, 11]
    assert values.tolist() == [0.0497, 0.044, 1, 0.5, 0.25, 0.5, 1.5]


@pytest.mark.parametrize("block", [1500, 1 << 23])
def test_agrees_with_the_reader_of_scikit_learn(tmp_path, monkeypatch, block):
    monkeypatch.setattr(_rcv1_parse, "_BLOCK", block)
    path = packed(tmp_path, random_text(0, 200))
    documents, lengths, columns, values = parse_vectors(path, max_rows=200)
    X, numbers = load_svmlight_file(str(path), n_features=N_TERMS, zero_based=False)
    ours = sparse.csr_array((values, columns, np.append(0, np.cumsum(lengths))), shape=(200, N_TERMS))
    assert documents.tolist() == numbers.tolist()
    assert (sparse.csr_array(X) != ours).nnz == 0
    assert ours.nnz > 4000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"2290 1:0.5 x:1", r"line 4: expected a document number and term:value pairs, got '2290 1:0.5 x:1'"),
        (b"-1  1:0.5", r"line 4: expected a document number"),
        (b"2290  1", r"line 4: expected a document number"),
        (b"2290  1:0.5 2:", r"line 4: expected a document number"),
        (b"2290  1:1.2.3", r"line 4: expected a document number"),
        (b"2290  1:0x10", r"line 4: expected a document number"),
        (b"2290\t1:0.5", r"line 4: expected a document number"),
        (b"", r"line 4: expected a document number"),
        (b"2290  1:0.5 7:nan 9:2", r"line 4: expected finite values, got '7:nan'"),
        (b"2290  1:0.5 7:inf", r"line 4: expected finite values, got '7:inf'"),
        (b"2290  1:0.5 7:1e999", r"line 4: expected finite values, got '7:inf'"),
        (b"2290  0:0.5", r"line 4: expected terms from 1 to 47236, got '0:0.5'"),
        (b"2290  5:1 47237:0.5", r"line 4: expected terms from 1 to 47236, got '47237:0.5'"),
        (b"2290  5:1 5:0.5", r"line 4: expected increasing terms, got '5:0.5'"),
        (b"2290  5:1 4:0.5", r"line 4: expected increasing terms, got '4:0.5'"),
    ],
)
@pytest.mark.parametrize("block", [16, 1 << 23])
def test_a_bad_line_is_named(tmp_path, monkeypatch, block, line, message):
    monkeypatch.setattr(_rcv1_parse, "_BLOCK", block)
    content = b"1  9:1\n2  1:1\n3\n" + line + b"\n5  1:1\n"
    with pytest.raises(ValueError, match=r"file\.dat\.gz, " + message):
        parse_vectors(packed(tmp_path, content), max_rows=9)


def test_a_file_that_is_cut_empty_too_long_or_no_gzip(tmp_path, monkeypatch):
    path = packed(tmp_path, random_text(1, 100))
    whole = path.read_bytes()
    with pytest.raises(ValueError, match="expected at most 99 documents, got more"):
        parse_vectors(path, max_rows=99)
    for cut in (whole[:-4], whole[: len(whole) // 2], whole[:20] + b"xxxxxxxxxxxx" + whole[32:], b"plain text"):
        path.write_bytes(cut)
        with pytest.raises(ValueError, match=r"cannot be decompressed \(.*expected a complete \.gz file"):
            parse_vectors(path, max_rows=100)
    with pytest.raises(ValueError, match="expected documents, found none"):
        parse_vectors(packed(tmp_path, b""), max_rows=1)
    monkeypatch.setattr(_rcv1_parse, "_BLOCK", 1 << 10)
    monkeypatch.setattr(_rcv1_parse, "_MAX_LINE", 1 << 12)
    with pytest.raises(ValueError, match="a line has more than 4096 bytes"):
        parse_vectors(packed(tmp_path, b"1  " + b" " * 10000), max_rows=1)


@pytest.mark.parametrize("block", [16, 1 << 23])
def test_topics(tmp_path, monkeypatch, block):
    monkeypatch.setattr(_rcv1_parse, "_BLOCK", block)
    labelled, positive = parse_topics(packed(tmp_path, QRELS), "CCAT")
    assert labelled.tolist() == [7, 2286, 2287, 2288, 26150]
    assert positive.tolist() == [2288, 26150]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"CCAT 2290", "line 8: expected a topic, a document number and 1, got 'CCAT 2290'"),
        (b"CCAT 2290 0", "line 8: expected a topic"),
        (b"2290 1", "line 8: expected a topic"),
        (b"CCAT x 1", "line 8: expected a topic"),
        (b"CCAT 12 1 1", "line 8: expected a topic"),
    ],
)
def test_a_bad_assignment_is_named(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        parse_topics(packed(tmp_path, QRELS + line + b"\nCCAT 1 1\n"), "CCAT")


def test_topics_without_the_topic(tmp_path):
    with pytest.raises(ValueError, match="expected documents with topic GCAT, found none among 7 assignments"):
        parse_topics(packed(tmp_path, QRELS), "GCAT")
