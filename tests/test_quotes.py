"""Texts that quote the reference: queries, refreshing, and numbers that are typed though a table has them."""

import json
import re
import shutil

import pytest

from provlab.cli import main
from provlab.project import current_project
from provlab.reference import FOLDER, Quotes, project_texts, refresh, typed_numbers, without_marks

REFERENCE = current_project().root / "results" / FOLDER
CSV = """row,column,dataset,value,sd,printed_value
A,r=1,one,10.25,1.0,41
A,r=1,two,20.25,3.0,
A,r=2,one,11,2.0,
A,r=2,two,12,2.0,
"B, 1/l",r=1,one,12,1.0,
"B, 1/l",r=1,two,19.25,1.0,
C,r=1,one,1 of 5,,
"""
MARKDOWN = """**First.**

| method | r=1   | r=2 |
|--------|-------|-----|
| A      | 15.25 | 11  |
| B      | x \\| y | 3   |

**Second one.**

| a |
|---|
| 1 |
"""
PRINT = """weights,rank,by_default,exact,printed,shared,difference,tau
log,1,False,3,4,0.8,0.5,
l2,1,False,3,4,0.8,0.5,
counts,3,True,1,4,0.25,2.0,
"""
ROBUSTNESS = """claim,universes,run,default,same,shares,turned_by,turns
p.one,24,24,replicated,0.625,replicated 0.625; no difference 0.375,C,0.25
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "reference"
    (folder / "tables" / "paper").mkdir(parents=True)
    (folder / "tables" / "paper" / "table.csv").write_text(CSV)
    (folder / "tables" / "paper" / "table.md").write_text(MARKDOWN)
    (folder / "verdicts.csv").write_text("id,verdict,effect\np.one,no difference,-0.25\n")
    readings = folder / "readings" / "paper"
    readings.mkdir(parents=True)
    (readings / "print-table.csv").write_text(PRINT)
    (readings / "robustness.csv").write_text(ROBUSTNESS)
    (folder / "summary.json").write_text(
        json.dumps({"trials": 12345, "verdicts": {"p": {"replicated": 2, "not run": 1}}})
    )
    return folder


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("table: A; r=1; one; value .1f", "10.2"),
        ("table: A; r=1; mean .2f", "15.25"),
        ("paper/table: A; r=1; sd .0f", "2"),
        ("table: A; r=1; one; printed .0f", "41"),
        ("table: A; r=1; one; times .2f", "0.25"),
        ("table: A; *; one; max .3g", "11"),
        ("table: A; *; n d", "4"),
        ("table: A - B, 1/l; r=1; median +.3f", "-0.375"),
        ("table: A / B, 1/l; r=1; max .3f", "1.052"),
        ("table: A - B, 1/l; r=1; n<0 d", "1"),
        ("table: A - A; r=1; n=0 d", "2"),
        ("table: A - A; r=1; mean .1f", "0.0"),
        ("verdict: p.one", "no difference"),
        ("verdict: p.one; effect +.2f", "-0.25"),
        ("print: paper/table; exact d", "3"),
        ("print: table; shared .0f", "80"),
        ("print: table; by default; difference .2f", "2.00"),
        ("print: table; universes d", "3"),
        ("print: table; nearest d", "2"),
        ("robustness: p.one; no difference .1f", "37.5"),
        ("robustness: p.one; contradicted .0f", "0"),
        ("robustness: p.one; universes d", "24"),
        ("robustness: p.one; default", "replicated"),
        ("robustness: p.one; turned_by", "C"),
        ("robustness: p.one; turns .0f", "25"),
        ("summary: trials; ,d", "12,345"),
        ("summary: verdicts, p; sum d", "3"),
        ("summary: verdicts, p; count d", "2"),
    ],
)
def test_a_query_gives_a_number(folder, query, expected):
    assert Quotes(folder, "paper").text(query) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("table: Z; r=1; mean .1f", r"row: expected one of A, B, 1/l, C, got 'Z'"),
        ("table: A; r=9; mean .1f", r"column: expected one of r=1, r=2, got 'r=9'"),
        ("table: A; r=1; three; value .1f", r"data set: expected one of one, two, got 'three'"),
        ("table: A; r=1; value .1f", r"expected one number, got 2; name a data set, or a statistic"),
        ("table: A; r=1; middle .1f", r"statistic: expected one of min, median"),
        ("table: A; r=1; mean", r"expected a format such as .2f"),
        ("table: A; r=1; mean d", r"expected a whole number for the format 'd', got 15.25"),
        ("table: C; r=1; value .1f", r"Unable to parse string .1 of 5."),
        ("table: A; r=2; one; times .1f", r"expected numbers, got an empty cell"),
        ("table: A - C; r=1; mean .1f", r"two rows with the same columns and data sets"),
        ("other: A; r=1; mean .1f", r"table: expected one of paper/table, got 'paper/other'"),
        ("verdict: p.two", r"claim: expected one of p.one, got 'p.two'"),
        ("print: other; exact d", r"universes beside the print: expected one of table, got 'other'"),
        ("print: table; near; exact d", r"universe: expected one of by default, got 'near'"),
        ("print: table; weight d", r"column: expected one of rank, .*, got 'weight'"),
        ("robustness: p.two; replicated .0f", r"claim: expected one of p.one, got 'p.two'"),
        ("robustness: p.one; held .0f", r"verdict: expected one of replicated, .*, got 'held'"),
        ("summary: nothing; d", r"key: expected one of trials, verdicts, got 'nothing'"),
        ("summary: trials, x; d", r"expected no more keys, got 'x'"),
        ("table", r"expected a table, a colon, and parts between semicolons"),
    ],
)
def test_a_query_that_cannot_be_answered_says_what_there_is(folder, query, message):
    with pytest.raises(ValueError, match=message):
        Quotes(folder, "paper").text(query)


def test_rows_and_columns_of_a_table_are_chosen(folder):
    quotes = Quotes(folder, "paper")
    assert quotes.lines("table; keep: method | r=2; method: A") == [
        "| method | r=2 |",
        "|--------|-----|",
        "| A      | 11  |",
    ]
    assert quotes.lines("table; method: B")[2] == r"| B      | x \| y | 3   |"
    assert quotes.lines("table; caption: Second")[0] == "| a |"
    for query, message in (
        ("table; keep: method | r=3", "column: expected one of method, r=1, r=2, got 'r=3'"),
        ("table; method: A | Z", "method: expected one of A, B, got 'Z'"),
        ("table; caption: Third", "caption: expected one of First., Second one., got 'Third'"),
    ):
        with pytest.raises(ValueError, match=message):
            quotes.lines(query)


OLD = """# Title

At 3.5<!--= table: A; r=1; mean .2f --> points, *replicated*<!--= verdict:
p.one -->; new: ?<!--= summary: trials; ,d -->.

<!-- table table; keep: method | r=1; method: A -->

| method |
|---|
| old |

<!-- /table -->
"""


def test_a_text_is_refreshed_and_then_stays_as_it_is(folder):
    quotes = Quotes(folder, "paper")
    text = OLD.replace("*replicated*", "replicated")
    new = refresh(text, quotes)
    assert "At 15.25<!--= table: A" in new
    assert "no difference<!--= verdict:\np.one -->; new: 12,345<!--=" in new
    assert "| A      | 15.25 |" in new
    assert "| old |" not in new
    assert refresh(new, quotes) == new
    assert "<!--" not in without_marks(new)
    assert "no difference; new: 12,345.\n\n\n| method | r=1   |" in without_marks(new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\nabout <!--= table: A; r=1; mean .2f -->", r"line 3: expected a number, a verdict or \?"),
        ("1<!--= table: A; r=7; mean .2f -->", r"line 1: .*column: expected one of r=1"),
        ("1<!--= table: A; r=1; mean .2f", r"line 1: expected a whole mark"),
        ("a\n<!-- table table -->\n| x |\n", r"line 2: expected a whole mark"),
        ("<!-- typed -->", r"line 1: expected a whole mark, got '<!-- typed -->'"),
        ("<!-- typed measured: -->", r"expected a whole mark"),
        ("<!-- /table -->", r"expected a whole mark"),
    ],
)
def test_a_mark_that_cannot_be_read_is_an_error(folder, text, message):
    with pytest.raises(ValueError, match=message):
        refresh(text, Quotes(folder, "paper"))


def test_typed_numbers_are_found():
    text = (
        "# Title 1.5\n\nAt 33.9 points, in 22 of 80 sets of 20,000, or 5 %; not `1.5`, Sections 6.3.2 or 6.5, r = 3.\n"
        "\n- 0.5<!--= table: A; r=1; mean .1f --> and 0.7.\n- 0.9 <!-- typed printed -->\n\n"
        "<!-- table table -->\n| 1.5 |\n<!-- /table -->\n\n| 7.5 |\n"
        "\nOf 2.5\n0.7<!--= table: B; r=1; mean .1f -->\nor 3.5. <!-- typed parameter -->\n"
    )
    assert typed_numbers(text) == [
        (1, "1.5", False), (3, "33.9", False), (3, "22 of 80", False), (3, "20,000", False), (3, "5 %", False),
        (5, "0.7", False), (6, "0.9", True), (12, "7.5", False),
        (14, "2.5", True), (16, "3.5", True),
    ]  # fmt: skip


def rendered(paper):
    """Return the numbers with decimals, of at least three digits, that a paper's tables show as ours."""
    found = set()
    for path in sorted((REFERENCE / "tables" / paper).glob("*.md")):
        for line in path.read_text(encoding="utf-8").splitlines():
            shown = re.sub(r"\\\[[^]]*\]", "", line) if line.startswith("|") else ""  # printed ones are in brackets
            found |= {each for each in re.findall(r"\d+\.\d+", shown) if len(each.replace(".", "").lstrip("0")) > 2}
    return found


TEXTS = {text.path.relative_to(current_project().root).as_posix(): text for text in project_texts()}


def test_all_texts_are_looked_at():
    assert {"README.md", *(f"experiments/{name}/NOTES.md" for name in ("paul2016", "wang2018", "giesen2013"))} <= set(
        TEXTS
    )


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_says_what_the_tables_say(name):
    text = TEXTS[name]
    markdown = text.path.read_text(encoding="utf-8")
    assert refresh(markdown, Quotes(REFERENCE, text.paper)) == markdown, "run: provsel reference --texts"


@pytest.mark.parametrize("name", TEXTS)
def test_no_number_is_typed_without_a_reason(name):
    typed = typed_numbers(TEXTS[name].path.read_text(encoding="utf-8"))
    assert [(line, number) for line, number, said in typed if not said] == []


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if text.paper])
def test_no_number_is_typed_that_a_table_has(name):
    typed = typed_numbers(TEXTS[name].path.read_text(encoding="utf-8"))
    assert [(line, number) for line, number, _ in typed if number in rendered(TEXTS[name].paper)] == []


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A project of one text, with this repository's reference."""
    root = tmp_path / "own"
    shutil.copytree(REFERENCE, root / "results" / FOLDER)
    (root / "provsel.toml").write_text('papers = "experiments"\n')
    (root / "README.md").write_text("Runs: 1<!--= summary: trials; ,d -->.\n")
    monkeypatch.setenv("PROVSEL_PROJECT", str(root))
    return root


def test_the_command_writes_what_the_reference_has(own, capsys):
    assert main(["reference", "--texts"]) == 0
    assert f"written: {own / 'README.md'}" in capsys.readouterr().out
    trials = json.loads((REFERENCE / "summary.json").read_text(encoding="utf-8"))["trials"]
    assert (own / "README.md").read_text().startswith(f"Runs: {trials:,}<!--=")
    assert main(["reference", "--texts"]) == 0
    assert "up to date" in capsys.readouterr().out


def test_a_text_with_an_error_stays_and_is_named(own, capsys):
    (own / "README.md").write_text("Runs: 1<!--= summary: trial; ,d -->.\n")
    assert main(["reference", "--texts"]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "README.md: line 1" in message
    assert "got 'trial'" in message
    assert (own / "README.md").read_text().startswith("Runs: 1<")
