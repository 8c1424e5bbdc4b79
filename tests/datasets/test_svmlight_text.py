"""Svmlight text parsed at once, against scikit-learn's parser: the same bits, or the same refusal."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from provsel.streams import svmlight_text

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = (
    FINITE.map(repr)
    | FINITE.map("{:.16g}".format)
    | FINITE.map("{:g}".format)
    | st.integers(-99, 99).map(str)
)


@st.composite
def plain_lines(draw):
    """Rows as programs write them."""
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        columns = sorted(draw(st.sets(st.integers(1, 300), max_size=6)))
        label = draw(st.sampled_from(["1", "-1", "+1", "3", "0.5", "-2e-3"]))
        pairs = [f"{j}:{draw(NUMBERS)}" for j in columns]
        lines.append(
            (
                " ".join([label, *pairs]) + draw(st.sampled_from(["\n", " \n", "\r\n"]))
            ).encode()
        )
    return lines


def by_scikit_learn(lines, **options):
    X, y = load_svmlight_file(BytesIO(b"".join(lines)), **options)
    return svmlight_text.Rows(y, np.diff(X.indptr), X.indices, X.data)


def same_bits(parsed, expected):
    for name, mine, theirs in zip(parsed._fields, parsed, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
    assert parsed.values.tobytes() == np.asarray(expected.values).tobytes()


def outcome(parse, lines, **options):
    try:
        return parse(lines, **options)
    except Exception as error:  # the refusals of scikit-learn are of several kinds
        return type(error), str(error)


@settings(max_examples=150, deadline=None)
@given(plain_lines(), st.booleans(), st.sampled_from([None, 300]))
@example([b"1\n", b"-1 1:5e-324 2:1.7976931348623157e+308 3:-0.0 4:0\n"], False, None)
@example([b"1\n"], True, 3)
@example(
    [
        b"1\n",
        b"-2e-3 1:-1.6128e-2770 2:1e-2770 3:0.0 4:-3e-0500\n",
        b"-1e-400 1:-1e-323\n",
    ],
    False,
    None,
)
def test_plain_rows_have_the_bits_of_scikit_learn(lines, zero_based, width):
    options = {
        "zero_based": zero_based,
        "n_features": 301 if width and zero_based else width,
    }
    parsed = svmlight_text._plain(lines, **options)
    if parsed is None:  # -0 only
        assert svmlight_text._NEGATIVE_ZERO.search(b"".join(lines))
        parsed = svmlight_text.parsed(lines, **options)
    same_bits(parsed, by_scikit_learn(lines, **options))
    same_bits(svmlight_text.parsed(lines, **options), parsed)


@settings(max_examples=150, deadline=None)
@given(plain_lines(), st.data())
def test_whatever_stands_in_a_line_is_read_or_refused_as_by_scikit_learn(lines, data):
    text = bytearray(b"".join(lines))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        odd = data.draw(
            st.sampled_from(
                [
                    b"",
                    b" ",
                    b":",
                    b"-",
                    b".",
                    b"e",
                    b"+",
                    b"0",
                    b"1",
                    b"#",
                    b",",
                    b"\t",
                    b"x",
                    b"\0",
                ]
            )
        )
        text[place : place + data.draw(st.integers(0, 1))] = odd
    lines = [
        line for line in BytesIO(bytes(text)).readlines() if line.split(b"#")[0].strip()
    ]
    if not lines:
        return
    options = {
        "zero_based": data.draw(st.booleans()),
        "n_features": data.draw(st.sampled_from([None, 301, 20])),
    }
    parsed = outcome(svmlight_text.parsed, lines, **options)
    expected = outcome(by_scikit_learn, lines, **options)
    if isinstance(expected, svmlight_text.Rows):
        assert isinstance(parsed, svmlight_text.Rows), parsed
        same_bits(parsed, expected)
    else:
        assert isinstance(parsed[0], type), (
            f"read {parsed}, where scikit-learn says {expected}"
        )
        assert parsed == expected


LINES = [
    # two numbers in one, several points or exponents, what is missing, hexadecimal
    *(b"1 2:1-2", b"1 2:1.2.3", b"1 2:1.22.3", b"1 2:12-3", b"1 2:1e-5.3", b"1 2:1e-5e-3", b"1 2:1e", b"1 2:", b"1 :2"),
    *(b"1 2.0:2", b"1 1e1:2", b"1 -2:2", b"2:1 3:1", b"1 2:1 3", b"1 2:0x10", b"1,2 2:1"),
    # indices that decrease, occur twice, are zero or too large
    *(b"1 3:1 2:1", b"1 3:1 3:1", b"1 0:1", b"1 9:1"),
    # numbers that are written otherwise, which scikit-learn reads
    *(b"1 2:.5", b"1 2:5.", b"1 2:1_0", b"1  2:1", b"1\t2:1", b"1 qid:3 2:1", b"1 2:1 # note 3:4", b"1 2:1E5"),
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_odd_rows_among_good_ones_are_read_or_refused_as_by_scikit_learn(line):
    lines = [b"1 1:2\n", line + b"\n", b"-1 1:2 2:3\n"]
    options = {"zero_based": False, "n_features": 4}
    assert svmlight_text._plain(lines, **options) is None
    parsed = outcome(svmlight_text.parsed, lines, **options)
    expected = outcome(by_scikit_learn, lines, **options)
    if isinstance(expected, svmlight_text.Rows):
        same_bits(parsed, expected)
    else:
        assert parsed == expected


def test_without_the_check_of_the_text_two_numbers_in_one_would_pass(monkeypatch):
    """The reader of numbers stops at the first character that it does not know."""
    monkeypatch.setattr(svmlight_text, "_is_plain", lambda text: True)
    parsed = svmlight_text._plain([b"1 2:1-2\n"], zero_based=False, n_features=None)
    assert parsed is not None
    assert parsed.values.tolist() == [1.0]
