"""The parsers of both TechTC forms: same corpora, and only clear errors on damaged bytes."""

import numpy as np
import pytest
from datasets_corpora import SMALL, official_bytes, tokens_bytes
from hypothesis import example, given
from hypothesis import strategies as st

from provlab.datasets import make_dataset
from provlab.datasets._bag import count_matrix
from provlab.datasets._techtc_parse import parse_tokens, parse_vectors

# Bytes of words: anything but ASCII white space, which separates words in the official form.
word = st.binary(min_size=1, max_size=8).filter(lambda text: len(text.split()) == 1 and text.split()[0] == text)
document = st.tuples(st.sampled_from([-1, 1]), st.lists(word, max_size=12))
corpora = st.lists(document, min_size=1, max_size=6)


def record(corpus, min_word_length):
    counts, words = count_matrix(corpus, min_word_length=min_word_length)
    names = [text.decode("latin-1") for text in words]
    return make_dataset(counts, corpus.labels, names, name="x", source="x")


@given(corpora, st.integers(1, 4), st.randoms())
def test_both_forms_of_a_corpus_give_the_same_record(documents, min_word_length, random):
    words = {text for _, texts in documents for text in texts}
    order = random.sample(range(len(words)), len(words))
    tokens = parse_tokens(tokens_bytes(documents), "t")
    official = parse_vectors(*official_bytes(documents, order), "o")
    assert tokens.labels == official.labels == [label for label, _ in documents]
    if not any(len(text) >= min_word_length for text in words):
        return
    one, two = record(tokens, min_word_length), record(official, min_word_length)
    assert one.content == two.content
    assert one.X.shape == (len(documents), sum(len(text) >= min_word_length for text in words))
    assert one.X.sum() == sum(len(text) >= min_word_length for _, texts in documents for text in texts)


@given(st.binary(max_size=200))
@example(b"+1 a word\n-1 c word")
def test_random_bytes_as_token_lists_raise_nothing_but_value_errors(content):
    try:
        parse_tokens(content, "x")
    except ValueError as error:
        assert str(error).startswith("x, line ")  # noqa: PT017


lines = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.from_regex(rb"[+-]?1( [0-9]{1,3}:[0-9eE.+_nainf-]{1,5}){0,3}", fullmatch=True),
        st.from_regex(rb"[0-9]{1,3} [a-z]{1,3}", fullmatch=True),
    ),
    max_size=6,
).map(b"\n".join)


@given(lines, lines)
def test_random_bytes_as_official_vectors_raise_nothing_but_value_errors(vectors, features):
    try:
        corpus = parse_vectors(vectors, features, "x")
    except ValueError as error:
        assert str(error).startswith("x/")  # noqa: PT017
    else:
        assert all(0 < count < np.inf for counts in corpus.documents for count in counts.values())


def test_token_lists_keep_other_white_space_inside_words():
    corpus = parse_tokens(b"+1 a 501\xa0327 x\ty\x85  z \n-1 b\n", "t")
    assert corpus.labels == [1, -1]
    assert corpus.documents == [{b"501\xa0327": 1, b"x\ty\x85": 1, b"z": 1}, {}]


def test_official_form_takes_carriage_returns_comments_fractions_zeros_and_repeated_words():
    features = b"# header\r\n1 gear\r\n2\tgear\r\n\r\n3 rod\r\n"
    vectors = b"# a\r\n1 1:2 2:1.5 3:0 # trailing 9:9\r\n   \r\n-1\r\n"
    assert parse_vectors(vectors, features, "o").documents == [{b"gear": 3.5}, {}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"tokens, line 1: expected a label \+1 or -1, got ''"),
        (b"+1 a x\n\n-1 a y\n", r"tokens, line 2: expected a label \+1 or -1, got ''"),
        (b"+1 a x\n2 a y\n", r"tokens, line 2: expected a label \+1 or -1, got '2'"),
        (b"+1 a x\n-1 word y\n", "tokens, line 2: expected the letter a or b after the label, got 'word'"),
        (b"+1 a x\n-1", "tokens, line 2: expected the letter a or b after the label, got ''"),
    ],
)
def test_damaged_token_lists(content, message):
    with pytest.raises(ValueError, match=message):
        parse_tokens(content, "tokens")


VECTORS, FEATURES = official_bytes(SMALL)


@pytest.mark.parametrize(
    ("vectors", "features", "message"),
    [
        (b"", FEATURES, "set/vectors.dat: expected documents, found none"),
        (b"# only\n", FEATURES, "set/vectors.dat: expected documents, found none"),
        (b"+2 1:1\n", FEATURES, r"set/vectors.dat, line 1: expected a label \+1 or -1, got '\+2'"),
        (b"# c\n+1 1\n", FEATURES, "vectors.dat, line 2: expected index:count pairs, got '1'"),
        (b"+1 a:1\n", FEATURES, "vectors.dat, line 1: expected index:count pairs, got 'a:1'"),
        (b"+1 -1:1\n", FEATURES, "vectors.dat, line 1: expected index:count pairs, got '-1:1'"),
        (b"+1 1_0:1\n", FEATURES, "vectors.dat, line 1: expected index:count pairs, got '1_0:1'"),
        (b"+1 1:1 2:1 1:3\n", FEATURES, "vectors.dat, line 1: expected each index once, got '1:3'"),
        (b"+1 99:1\n", FEATURES, "vectors.dat, line 1: expected an index that features.idx lists, got '99:1'"),
        (b"+1 0:1\n", FEATURES, "vectors.dat, line 1: expected an index that features.idx lists, got '0:1'"),
        (b"+1 1:one\n", FEATURES, "vectors.dat, line 1: expected a finite count of at least 0, got '1:one'"),
        (b"+1 1:-2\n", FEATURES, "expected a finite count of at least 0, got '1:-2'"),
        (b"+1 1:nan\n", FEATURES, "expected a finite count of at least 0, got '1:nan'"),
        (b"+1 1:1e999\n", FEATURES, "expected a finite count of at least 0, got '1:1e999'"),
        (b"+1 1:1_0\n", FEATURES, "expected a finite count of at least 0, got '1:1_0'"),
        (b"+1 1:\n", FEATURES, "expected a finite count of at least 0, got '1:'"),
        (VECTORS, b"1\n", "set/features.idx, line 1: expected an index and a word, got '1'"),
        (VECTORS, b"one word\n", "set/features.idx, line 1: expected an index and a word, got 'one word'"),
        (VECTORS, b"#\n1 a\n1 b\n", "set/features.idx, line 3: expected each index once, got '1 b'"),
    ],
)
def test_damaged_official_vectors(vectors, features, message):
    with pytest.raises(ValueError, match=message):
        parse_vectors(vectors, features, "set")


def test_messages_show_a_short_piece_of_a_long_line():
    with pytest.raises(ValueError, match=r"line 1") as caught:
        parse_tokens(b"\xff" * 10_000, "t")
    assert len(str(caught.value)) < 200
