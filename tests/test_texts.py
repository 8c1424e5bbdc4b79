"""Texts that state results: what templates may ask, and that the filled files are what their templates give now."""

import json
import re
import shutil

import pytest

from provlab.cli import main
from provlab.custody.texts import fill, first_in_words, templates
from provlab.project.papers import papers
from small_runs import REPO

REFERENCE = REPO / "results" / "reference"
CSV = """row,column,dataset,value,sd,printed_value
A,r=1,one,10.25,1.0,41
A,r=1,two,20.25,3.0,
A,r=2,one,11,2.0,
A,r=2,two,12,2.0,
"B, 1/l",r=1,one,12,1.0,
"B, 1/l",r=1,two,19.25,1.0,
"""
MARKDOWN = "**First.**\n\n| method | r=1   | r=2 |\n|---|---|---|\n| A | 15.25 | 11 |\n| B | x \\| y | 3 |\n\nA note.\n"
NAMELESS = "|  |  | r=1 |\n|---|---|---|\n| A | error | 1 |\n|  | time | 2 |\n"
"""Two columns without a name, as a row of several lines has them."""
PRINT = "weights,rank,by_default,exact,shared\nlog,1,False,3,0.8\nl2,1,False,3,0.8\ncounts,3,True,1,0.25\n"
ROBUSTNESS = "claim,universes,run,shares,turned_by\np.one,24,24,replicated 0.625; no difference 0.375,C\np.two,4,0,,\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "reference"
    files = {
        "tables/p/table.csv": CSV, "tables/p/table.md": MARKDOWN, "tables/p/nameless.md": NAMELESS,
        "readings/p/print-table.csv": PRINT,
        "readings/p/robustness.csv": ROBUSTNESS, "verdicts.csv": "id,verdict,effect\np.one,no difference,-0.25\n",
        "summary.json": json.dumps({"trials": 12345, "verdicts": {"p": {"replicated": 2, "not run": 1}}}),
    }  # fmt: skip
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def filled(folder, text):
    (folder / "text.md.j2").write_text(text)
    return fill(folder / "text.md.j2", folder)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('number("p/table", "A", "r=1", "value .1f", data="one")', "10.2"),
        ('number("p/table", "A", "r=1", "sd .0f")', "2"),
        ('number("p/table", "A", "r=1", "times .2f", data="one")', "0.25"),
        ('number("p/table", "A", "r=*", "max .3g", data="one")', "11"),
        ('number("p/table", "A", "r=*", "n d")', "4"),
        ('number("p/table", "A", "r=1", "median +.3f", less="B, 1/l")', "-0.375"),
        ('number("p/table", "A", "r=1", "n<0 d", less="B, 1/l")', "1"),
        ('number("p/table", "A", "r=1", "mean .1f", less="A")', "0.0"),
        ('verdicts["p.one"].effect | form("+.2f")', "-0.25"),
        ('nearest["p/table"].best.exact | form("d")', "3"),
        ('nearest["p/table"].by_default.shared | percent', "25"),
        ('nearest["p/table"].universes', "3"),
        ('robustness["p.one"]["no difference"] | percent(".1f")', "37.5"),
        ('robustness["p.one"].contradicted | percent', "0"),
        ('summary.trials | form(",d")', "12,345"),
        ('summary.verdicts.p.values() | sum', "3"),
        ('table("p/table", keep=["method"], rows={"method": ["A"]})', "| method |\n|--------|\n| A      |"),
        ('table("p/nameless").splitlines()[-1]', "|   | time  | 2   |"),
        ('table("p/table").splitlines()[-1]', r"| B      | x \| y | 3   |"),
    ],
)  # fmt: skip
def test_a_template_gets_what_it_asks(folder, expression, expected):
    assert filled(folder, f"{{{{ {expression} }}}}") == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('number("p/table", "Z", "r=1", "mean .1f")', r"row: expected one of A, B, 1/l, got 'Z'"),
        ('number("p/table", "A", "r=9", "mean .1f")', r"column: expected one of r=1, r=2, got 'r=9'"),
        ('number("p/table", "A", "r=1", "value .1f", data="three")', r"data set: expected one of one, two, got"),
        ('number("p/table", "A", "r=1", "value .1f")', r"expected one number, got 2; name a data set, or a statistic"),
        ('number("p/table", "A", "r=1", "middle .1f")', r"statistic: expected one of value, sd"),
        ('number("p/table", "A", "r=1", "mean d")', r"expected a number that 'd' can show, got 15.25"),
        ('number("p/table", "A", "r=2", "printed .1f", data="one")', r"expected a number that '.1f' can show, got nan"),
        ('number("p/other", "A", "r=1", "mean .1f")', r"table: expected one of p/table, got 'p/other'"),
        ('table("p/table", keep=["r=3"])', r"p/table: column: expected one of method, r=1, r=2, got 'r=3'"),
        ('summary.trial | form("d")', r"no attribute 'trial'"),
        ("summary.trials |", r"expected token 'name'"),
        ("number.func.__globals__", r"access to attribute '__globals__' of .* is unsafe"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_an_error_that_names_the_line(folder, expression, message):
    with pytest.raises(ValueError, match=r"text.md.j2: line 3: .*" + message):
        filled(folder, f"a\n\n{{{{ {expression} }}}}\n")


def test_every_text_is_what_its_template_gives_now():
    paths = templates()
    papers_with_notes = [
        f"experiments/{name}/NOTES.md.j2"
        for name in ("paul2016", "wang2018", "giesen2013")
    ]
    assert {REPO / name for name in ("README.md.j2", *papers_with_notes)} < {*paths}
    for path in paths:
        text = path.with_suffix("").read_text(encoding="utf-8")
        assert text == fill(path, REFERENCE), f"{path}; run: provsel reference --texts"
        assert "<!--" not in text
        if "experiments" not in path.parts:  # tables of notes may have exponents
            assert not re.search(r"\de[+]\d\d\b", text), f"{path}: got an exponent"


@pytest.mark.parametrize(
    "paper",
    [
        name
        for name, number in papers().items()
        if (number.folder / "NOTES.md.j2").is_file()
    ],
)
def test_no_number_is_typed_that_a_table_has(paper):
    """Of numbers with decimals and at least three digits; printed ones stand in brackets in tables."""
    shown = set()
    for path in (REFERENCE / "tables" / paper).glob("*.md"):
        lines = [
            re.sub(r"\\\[[^]]*\]", "", line)
            for line in path.read_text().splitlines()
            if line.startswith("|")
        ]
        numbers = re.findall(r"\d+\.\d+", " ".join(lines))
        shown |= {
            number for number in numbers if len(number.replace(".", "").lstrip("0")) > 2
        }
    assert len(shown) > 50
    template = (papers()[paper].folder / "NOTES.md.j2").read_text(encoding="utf-8")
    typed = re.sub(r"\{\{.*?\}\}|`[^`\n]*`|\]\([^)]*\)", "", template, flags=re.S)
    assert (
        set(re.findall(r"(?<![\w.,-])\d+\.\d+(?![\w-]|\.\d)", typed)) & shown == set()
    )


def test_the_command_fills_them_and_leaves_all_as_it_was_after_an_error(
    tmp_path, monkeypatch, capsys
):
    """In a project of one text, with this repository's reference."""
    (tmp_path / "results" / "reference").mkdir(parents=True)
    for name in ("summary.json", "verdicts.csv", "rankings.csv"):
        shutil.copyfile(REFERENCE / name, tmp_path / "results" / "reference" / name)
    (tmp_path / "provsel.toml").write_text("")
    (tmp_path / "README.md.j2").write_text('Runs: {{ summary.trials | form(",d") }}.\n')
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    trials = json.loads((REFERENCE / "summary.json").read_text(encoding="utf-8"))[
        "trials"
    ]
    for said in (f"written: {tmp_path / 'README.md'}", "All texts are up to date."):
        assert main(["reference", "--texts"]) == 0
        assert said in capsys.readouterr().out
        assert (tmp_path / "README.md").read_text() == f"Runs: {trials:,}.\n"
    (tmp_path / "README.md.j2").write_text("Runs: {{ summary.trial }}.\n")
    assert main(["reference", "--texts"]) == 2
    assert "README.md.j2: line 1" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "README.md").read_text() == f"Runs: {trials:,}.\n"


def test_a_method_is_called_first_only_where_it_is_in_nearly_all_resamples():
    board = [
        {"method": "all features", "first": ""},
        {"method": "RFE", "first": "0.34"},
        {"method": "JMI", "first": "0.48"},
    ]
    assert (
        first_in_words(board)
        == "No method has the best mean rank in 95 % of resamples: JMI in 48 %, RFE in 34 %"
    )
    board[1]["first"] = "0.95"
    assert first_in_words(board) == "RFE has the best mean rank, in 95 % of resamples"
