"""Pickles that are no token lists, or damaged ones: each one error that names the file, and nothing half-written."""

from collections import Counter

import pytest
from test_hostile_pickles import CALL, STATE, WHOLE, refused

import made_sources as made
from provlab.datasets._token_pickle import read_token_pickle
from provlab.datasets.converters import techtc_tokens

# ---- damage


def test_a_pickle_that_ends_anywhere(tmp_path):
    for stop in range(len(WHOLE)):
        refused(tmp_path, WHOLE[:stop], "expected (the opcode of the end|an argument of)")
    refused(tmp_path, WHOLE + b"\n", "expected the end after one object, got an end elsewhere")
    refused(tmp_path, WHOLE + WHOLE, "expected the end after one object, got an end elsewhere")


def test_any_flipped_bit(tmp_path):
    """An error that names the file, or as many documents: a letter may be another one."""
    path = tmp_path / "x.pkl"
    counts = Counter()
    for place in range(len(WHOLE)):
        for bit in range(8):
            path.write_bytes(WHOLE[:place] + bytes([WHOLE[place] ^ 1 << bit]) + WHOLE[place + 1 :])
            try:
                documents = list(techtc_tokens._documents(path, read_token_pickle(path)))
            except ValueError as error:
                counts["named" if "x.pkl" in str(error) else "not named"] += 1
            else:
                counts["read" if len(documents) == 5 else "lost"] += 1
    assert counts.keys() == {"named", "read"}
    assert counts["named"] > counts["read"] > 0


FORMS = {
    "no quotes": (b"S'alpha'", b"Salpha", r"expected a quoted string of printable ASCII, got b'alpha'"),
    "one quote": (b"S'alpha'", b"S'", "expected a quoted string"),
    "other quotes": (b"S'alpha'", b"S'alpha\"", "expected a quoted string"),
    "a quote inside": (b"S'alpha'", b"S'al'pha'", "expected a quoted string"),
    "a raw byte": (b"S'alpha'", b"S'al\xe9pha'", "expected a quoted string"),
    "an octal escape": (b"S'alpha'", b"S'al\\101pha'", "expected a quoted string"),
    "half an escape": (b"S'alpha'", b"S'alpha\\'", "expected a quoted string"),
    "half a number": (b"S'alpha'", b"S'alpha\\x4'", "expected a quoted string"),
    "a blank in a token": (b"S'alpha'", b"S'al pha'", "expected tokens of 1 to 10000 bytes without blanks"),
    "a newline in a token": (b"S'alpha'", b"S'al\\npha'", "expected tokens of 1 to 10000 bytes without blanks"),
    "an empty token": (b"S'alpha'", b"S''", "expected tokens of 1 to 10000 bytes"),
    "a number as token": (b"S'alpha'", b"I5", "expected tokens that are strings, got int"),
    "a long number": (b"(L3L", b"(L" + b"9" * 5000 + b"L", "expected a long integer of at most nine digits"),
    "a number with underscores": (b"(L3L", b"(L1_0L", "expected a long integer of at most nine digits"),
    "a long without its letter": (b"(L3L", b"(L3", "expected a long integer of at most nine digits"),
    "an int that is none": (b"I3\n", b"I3 \n", "expected an integer of at most nine digits, got b'3 '"),
    "an int in other digits": (b"I3\n", b"I\xd9\xa3\n", "expected an integer of at most nine digits"),
    "more labels than bytes": (b"(L3L", b"(L4L", "expected a vector of at most 1000 numbers of 4 bytes"),
    "labels of gigabytes": (b"(L3L", b"(L999999999L", "expected a vector of at most 1000 numbers of 4 bytes"),
    "a negative length": (b"(L3L", b"(L-3L", "expected a vector of at most 1000 numbers of 4 bytes"),
    "another byte order": (b"S'<'", b"S'>'", STATE),
    "another type": (b"S'i4'", b"S'O8'", CALL),
    "another version": (b"(I1\n(L3L", b"(I2\n(L3L", "expected little-endian int32, version 1, got another type"),
    "in Fortran's order": (b"bI00\n", b"bI01\n", "expected little-endian int32, version 1, got another type"),
    "a label 2": (b"S'\\x01\\x00", b"S'\\x02\\x00", r"expected labels 0 and 1, got \{"),
    "a gap in the memo": (b"p1\n", b"p2\n", "expected the memo's next entry, 1, got b'2'"),
    "a memo entry far away": (b"p1\n", b"p999999999\n", "expected the memo's next entry, 1"),
    "a zero in front": (b"p1\n", b"p01\n", "expected the memo's next entry, 1, got b'01'"),
    "nothing remembered there": (b"\ng", b"\ng9", "expected an entry of the memo of [0-9]+, got b'9"),
    "a memo entry with a sign": (b"\ng", b"\ng+", "expected an entry of the memo of"),
    "an append to a tuple": (b"(lp1\n", b"(tp1\n", "expected a list to append to, got tuple"),
    "a document that is no list": (b"(lp7\n", b"Np7\n", "expected a list of tokens for each document, got NoneType"),
    "a label too much": (b"(L3L", b"(L4L", "expected a label for each document, got 3 documents and 4 labels"),
    "a mark too much": (b"(((l", b"((((l", "expected the end after one object, got an end elsewhere"),
    "a mark too little": (b"(((l", b"((l", "expected a mark on the stack, got none"),
}


@pytest.mark.parametrize("case", FORMS)
def test_forms_that_no_token_list_has(case, tmp_path):
    old, new, message = FORMS[case]
    assert old in WHOLE
    content = WHOLE.replace(old, new, 1)
    if case == "a label too much":
        content = content.replace(b"\\x00'\np", b"\\x00" + b"\\x00" * 4 + b"'\np", 1)
    refused(tmp_path, content, message)


TREES = {
    "one half": (b"((l(lt.", "expected a pair of documents and labels in each half, got something else"),
    "three halves": (b"(NNNt.", "expected a pair of halves, got tuple"),
    "no halves": (b"N.", "expected a pair of halves, got NoneType"),
    "a list of halves": (b"(l.", "expected a pair of halves, got list"),
    "labels in a list": (b"((" + b"(l(lt" + b"((l(ltt.", "expected a pair of documents and labels in each half"),
    "uneven halves": (
        made.token_pickle([(1, []), (0, []), (1, [])], [(0, [])]),
        "expected two halves that documents were dealt out to in turn, got 3 and 1 documents",
    ),
    "a longer second half": (made.token_pickle([], [(0, [])]), "dealt out to in turn, got 0 and 1 documents"),
    "a vector without numbers": (
        b"(((lcnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntRtNt.",
        "expected a pair of documents and labels in each half, got something else",
    ),
}


@pytest.mark.parametrize("case", TREES)
def test_trees_that_no_token_list_is(case, tmp_path):
    refused(tmp_path, *TREES[case])
