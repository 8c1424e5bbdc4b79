"""Foreign text: terminals, browsers and spreadsheets show it and take no part of it for a command."""

import contextlib
import csv
import io
import logging
import sys

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from provlab.cli.commands import guarded
from provlab.custody.export import write_csv
from provlab.project.messages import as_cell, csv_text, from_cell, visible, visible_line
from provlab.project.terminal import PlainConsole

CONTROLS = [
    *range(32),
    *range(0x7F, 0xA0),
    0x061C,
    0x200E,
    0x200F,
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
]
EVIL = "a\x1b[2J\x1b]0;owned\x07\x9b31m\u202eb\u2066c\rd"
SHOWN = r"a\x1b[2J\x1b]0;owned\x07\x9b31m\u202eb\u2066c\rd"
STARTS = "=+-@\t\r\n＝＋－＠"

texts = st.text(st.sampled_from("=+-@'\t\r\n＝1.5e \"a,;"), max_size=6) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20
)


def is_number(text):
    try:
        return float(text) is not None and not text.lower().strip("+-").startswith(
            ("i", "n")
        )
    except ValueError:
        return False


@pytest.mark.parametrize("code", CONTROLS, ids=hex)
def test_each_control_character_is_shown(code):
    letter = chr(code)
    assert visible(letter) == (letter if letter in "\t\n" else visible_line(letter))
    assert visible_line(f"x{letter}y").isprintable()
    assert (
        visible_line(f"x{letter}y").encode().decode("unicode_escape") == f"x{letter}y"
    )


def test_ordinary_text_stays():
    text = "naïve ✓ 数 – 𝔽 [red]\\x1b 'a'\n\tb"
    assert visible(text) == text
    # a file's name of other bytes than UTF-8 cannot be written as it is
    assert visible("\udcff") == r"\udcff"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_command_obeys_what_it_prints(is_terminal, monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return is_terminal

    screens = Screen(), Screen()
    monkeypatch.setenv("TERM", "xterm-256color")
    # commands of other tests, and Hydra, have left theirs
    for name in (None, "provlab"):
        monkeypatch.setattr(logging.getLogger(name), "handlers", [])

    def body():
        logging.getLogger("provlab").addHandler(
            handler := logging.StreamHandler(sys.stderr)
        )
        logging.getLogger("provlab").warning(EVIL)
        logging.getLogger("provlab").removeHandler(handler)
        print(EVIL)
        table = Table("[bold]name", EVIL, width=200)
        table.add_row("[red]x", EVIL, style="red")
        for stderr in (False, True):
            PlainConsole(stderr=stderr, width=200).print(EVIL, table)
        raise ValueError(EVIL)

    with contextlib.redirect_stdout(screens[0]), contextlib.redirect_stderr(screens[1]):
        assert guarded(body) == 2
        assert sys.stdout is screens[0]
    out, error = (screen.getvalue() for screen in screens)
    begin = SHOWN[: SHOWN.index(r"\x07")]  # rich leaves out bells and carriage returns
    assert [out.count(begin), error.count(begin)] == [4, 5]
    assert f"provsel: {SHOWN}\n" in error
    # rich's own, which a terminal is to obey
    colours = "\x1b[31m" if is_terminal else "[red]x"
    for text in (out, error):
        assert colours in text
        assert not {"\x07", "\x9b", "\u202e", "\u2066", "\r"} & {*text}
        assert "\x1b[2J" not in text
        assert is_terminal or "\x1b" not in text


@given(texts)
def test_no_text_of_a_cell_is_a_formula_and_each_comes_back(text):
    cell = as_cell(text)
    assert from_cell(cell) == text
    assert cell[:1] not in STARTS or cell == "" or is_number(cell)
    assert cell in (text, f"'{text}")
    assert cell == text or text.lstrip("'")[0] in STARTS


COMPUTED = [
    "=1+1",
    "-1+cmd|' /C calc'!A0",
    "+1 2",
    "@SUM(A1)",
    "-inf",
    "-1.5\n",
    "\t=1",
    "-x",
]


@pytest.mark.parametrize("text", ["-1.5", "+3", "-.5e-7", "1", "-1.", "0.1", *COMPUTED])
def test_what_is_computed_is_quoted_and_numbers_stay_numbers(text):
    quote = "'" * (text in COMPUTED)
    assert as_cell(text) == quote + text
    assert as_cell(as_cell(text)) == quote * 2 + text
    assert from_cell(as_cell(text)) == text


@given(
    st.lists(texts, min_size=1, max_size=5),
    st.sampled_from(["object", "str", "category"]),
)
def test_a_frame_as_csv_has_no_formula(values, kind):
    frame = pd.DataFrame(
        {"=name": pd.Series(values, dtype=kind), "number": -1.5, "count": -3}
    )
    header, *lines = csv.reader(io.StringIO(csv_text(frame), newline=""))
    assert header == ["'=name", "number", "count"]
    assert [from_cell(line[0]) for line in lines] == [
        visible(value) for value in values
    ]
    assert [line[1:] for line in lines] == [["-1.5", "-3"]] * len(values)
    assert all(
        line[0][:1] not in STARTS or not line[0] or is_number(line[0]) for line in lines
    )
    assert list(frame.columns) == ["=name", "number", "count"]


def test_an_ordinary_frame_has_the_bytes_that_pandas_gives_it():
    mixed = pd.Series([1, None, "a", -1.5, True, "it's"], dtype=object)
    frame = pd.DataFrame(
        {
            "mixed": mixed,
            "number": [-0.5, None, 1e-300, 3, 4, 5],
            "text": list("abcdef"),
        }
    )
    assert csv_text(frame) == frame.to_csv(index=False, lineterminator="\n")


@given(
    st.lists(st.none() | texts, min_size=1, max_size=5),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_records_as_csv_have_no_formula(tmp_path_factory, values, kind):
    path = tmp_path_factory.getbasetemp() / "texts.csv"
    write_csv(
        pa.table({"text": pa.array(values, kind), "number": [-1.5] * len(values)}), path
    )
    with path.open(newline="", encoding="utf-8") as file:
        [_, *lines] = csv.reader(file)
    cells = [as_cell(visible(text or "")) for text in values]
    assert lines == [[cell, "-1.5"] for cell in cells]
