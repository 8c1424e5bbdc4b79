"""Notes in Markdown: safe HTML that fits into a page with its own headings."""

import re
from pathlib import Path

import pytest
from pages_reader import Page
from seen_paper import EVIL

from provlab.report.templating import fold_notes, render_notes

REPO = Path(__file__).resolve().parents[2]


def read(tmp_path, markdown, **options):
    path = tmp_path / "page.html"
    path.write_text(render_notes(markdown, **options), encoding="utf-8")
    page = Page(path)
    assert page.problems == []
    return page


def test_headings_tables_and_links_fit_into_a_page(tmp_path):
    page = read(
        tmp_path,
        "## a\n\n### b\n\n###### c\n\n| a | b |\n|---|:-:|\n| 1 | `2` |\n\n|x|\n|-|\n",
    )
    assert [tag for tag in page.tags if re.fullmatch(r"h\d", tag)] == ["h3", "h4", "h6"]
    assert (
        page.tags.count("caption")
        == page.tags.count("table")
        == page.attributes.count(("div", "tabindex", "0"))
        == 2
    )
    assert page.attributes.count(("th", "scope", "col")) == 3
    assert not [value for _, name, value in page.attributes if name == "style"]
    assert page.text == "a b c Table 1 of the notes a b 1 2 Table 2 of the notes x"


def test_a_title_is_the_caption_and_cells_stay_as_they_are(tmp_path):
    page = read(
        tmp_path,
        "| x |\n|---|\n| of the notes |\n",
        title="a **b** <i> {0}",
        source="reference",
    )
    assert page.text == "a b <i> {0} x of the notes"
    assert ("div", "aria-label", "Table 1 of the reference") in page.attributes


def test_only_web_addresses_are_links_and_nothing_is_loaded(tmp_path):
    page = read(
        tmp_path,
        "[a](https://example.org/x?y=1&z=2) [c](#absent) [d](../e.py) [i](mailto:j@example.org)"
        " [k](javascript:alert%281%29) [l](data:text/html,x) [m](//example.org) [n](HTTPS://o.org) ![p](../q.png)",
    )
    assert page.links == ["https://example.org/x?y=1&z=2", "HTTPS://o.org"]
    assert not {"img", "script"} & {*page.tags}
    assert {*"acdimnp"} <= {*page.text.split()} | {"p"}


@pytest.mark.parametrize(
    "markdown",
    [
        EVIL,
        f"# {EVIL}\n",
        f"| {EVIL} |\n|---|\n| <b onclick=x> |\n",
        "<div onclick='x'>\n\n</div>\n",
        f"`{EVIL}`",
    ],
)
def test_html_is_shown_not_run(tmp_path, markdown):
    page = read(tmp_path, markdown)
    assert not {"script", "img", "b", "div onclick"} & {*page.tags}
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "alert(1)" in page.text or "onclick" in page.text


@pytest.mark.parametrize(
    "path",
    sorted(REPO.glob("experiments/*/NOTES.md")),
    ids=lambda path: path.parent.name,
)
def test_the_notes_of_the_papers_are_rendered_whole(tmp_path, path):
    markdown = path.read_text(encoding="utf-8")
    page = read(tmp_path, markdown)
    assert page.tags.count("table") == len(
        re.findall(r"^\s*\|?[-| :]*-{3,}\|[-| :]*$", markdown, re.M)
    )
    for word in re.findall(
        r"[A-Za-z]{12,}", re.sub(r"\]\([^)]*\)|<!--.*?-->", "]", markdown, flags=re.S)
    ):
        assert word in page.text


def test_notes_fold_at_their_sections():
    above, sections = fold_notes(
        render_notes(
            "# Notes\n\nFirst words.\n\n## Data\n\nRows.\n\n### Slips\n\n## <i>End</i>\n"
        )
    )
    assert "First words." in above
    assert [title for title, _ in sections] == ["Data", "&lt;i&gt;End&lt;/i&gt;"]
    assert "Rows." in sections[0][1]
    assert "<h4>Slips</h4>" in sections[0][1]
