"""Notes in Markdown: safe HTML that fits into a page with its own headings."""

import re
from pathlib import Path

import pytest
from pages_reader import Page
from seen_paper import EVIL, NOTES

from provlab.report.notes import render_notes

REPO = Path(__file__).resolve().parents[2]


def read(tmp_path, markdown):
    path = tmp_path / "page.html"
    path.write_text(render_notes(markdown), encoding="utf-8")
    return Page(path)


def test_headings_move_below_those_of_the_page(tmp_path):
    page = read(tmp_path, "# a\n\n## b\n\n##### c\n\n###### d\n")
    assert page.tags == ["h3", "h4", "h6", "h6"]
    assert read(tmp_path, "## a\n\n### b\n").tags == ["h3", "h4"]  # none is left out where the first level is not used
    assert page.problems == []


def test_tables_get_a_region_a_caption_and_scopes(tmp_path):
    page = read(tmp_path, "# Title\n\n| a | b |\n|---|:-:|\n| 1 | `2` |\n")
    assert page.tags.count("caption") == page.tags.count("table") == 1
    assert ("div", "role", "region") in page.attributes
    assert ("div", "tabindex", "0") in page.attributes
    assert page.attributes.count(("th", "scope", "col")) == 2
    assert not [value for _, name, value in page.attributes if name == "style"]
    assert page.text == "Title Title a b 1 2"
    assert page.problems == []


def test_only_web_addresses_and_anchors_of_the_notes_are_links(tmp_path):
    markdown = (
        "# Some Title: it's\n\n[a](https://example.org/x?y=1&z=2) [b](#some-title-its) [c](#absent) [d](../e.py)"
        " [f](g.md#h) [i](mailto:j@example.org) [k](javascript:alert%281%29) [l](data:text/html,x) [m](//example.org) [n](HTTPS://o.org)"
    )
    page = read(tmp_path, markdown)
    assert page.links == ["https://example.org/x?y=1&z=2", "#note-some-title-its", "HTTPS://o.org"]
    assert "note-some-title-its" in page.ids
    text = page.text.replace("( ", "(").replace(" )", ")")
    for words in ("c (#absent)", "d (../e.py)", "f (g.md#h)", "m (//example.org)"):
        assert words in text
    assert page.problems == []


def test_images_are_their_text(tmp_path):
    page = read(tmp_path, "![a *picture*](https://example.org/x.png) after")
    assert page.tags == ["p", "em"]
    assert page.text == "a picture after"


def test_html_is_shown_not_run(tmp_path):
    for markdown in (
        EVIL,
        f"# {EVIL}\n",
        f"| {EVIL} |\n|---|\n| <b onclick=x> |\n",
        "<div onclick='x'>\n\n</div>\n",
        f"`{EVIL}`",
    ):
        page = read(tmp_path, markdown)
        assert not {"script", "img", "b", "div onclick"} & set(page.tags)
        assert not [name for _, name, _ in page.attributes if name.startswith("on")]
        assert "alert(1)" in page.text or "onclick" in page.text
        assert page.problems == []


def test_equal_headings_have_different_ids(tmp_path):
    page = read(tmp_path, "# a\n\n# a\n\n# a\n\n# a-1\n\n# !\n")
    assert len(page.ids) == len(set(page.ids)) == 5


@pytest.mark.parametrize("path", sorted(REPO.glob("experiments/*/NOTES.md")), ids=lambda path: path.parent.name)
def test_the_notes_of_the_papers_are_rendered_whole(tmp_path, path):
    markdown = path.read_text(encoding="utf-8")
    page = read(tmp_path, markdown)
    assert page.problems == []
    assert "<!--" not in page.text  # queries of the numbers
    assert page.tags.count("table") == len(re.findall(r"^\s*\|?[-| :]*-{3,}\|[-| :]*$", markdown, re.M))
    for word in re.findall(r"[A-Za-z]{12,}", re.sub(r"\]\([^)]*\)|<!--.*?-->", "]", markdown, flags=re.S)):
        assert word in page.text


def test_the_same_notes_twice_are_the_same():
    assert render_notes(NOTES) == render_notes(NOTES)
