"""The documentation as `make docs` built it: links, accessibility, and the search, from the disk."""

import re
from urllib.parse import unquote, urlsplit

import pytest
from test_browser_access import serious

from small_runs import REPO

HTML = REPO / "docs" / "_build" / "html"
PAGES = [
    "index", "start", "which_selector", "guarantees", "readings", "gallery/index", "gallery/bss_and_sampling",
    "reference/index", "reference/provsel.selectors", "reference/generated/provlab.compare", "papers/index",
    "papers/paul2016_claims", "papers/report", "search",
]  # fmt: skip
CUT = """() => {
  const own = each => {
    for (let up = each; up; up = up.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(up).overflowX) && up.matches("article *")) return true;
    return false;
  };
  const beyond = each => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
  const texts = document.querySelectorAll("article p, article li, article dt, article dd, article td");
  return [...texts].filter(each => beyond(each) && !own(each)).map(each => each.textContent.trim().slice(0, 60));
}"""
"""Texts that end beyond the screen and stand in no box of their own that scrolls."""
pytestmark = pytest.mark.skipif(not (HTML / "index.html").is_file(), reason="no built pages: make docs")


def targets(path):
    """Return the ids of a page."""
    return set(re.findall(r'\b(?:id|name)="([^"]+)"', path.read_text(encoding="utf-8")))


def test_links_between_pages_lead_to_files_and_anchors():
    pages = [path for path in HTML.rglob("*.html") if path.relative_to(HTML).parts[0] not in ("report", "_static")]
    assert len(pages) > 80
    known, broken = {}, []
    for page in pages:
        for link in re.findall(
            r'<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")
        ):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not path.is_file():
                broken.append(f"{page.relative_to(HTML)}: {link}")
            elif parts.fragment and path.suffix == ".html":
                known.setdefault(path, targets(path))
                if unquote(parts.fragment) not in known[path]:
                    broken.append(f"{page.relative_to(HTML)}: {link}")
    assert broken == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible_and_fit(visits, theme, width):
    size = {"width": width, "height": 900}
    page = visits.open(HTML / "index.html", watched=False, color_scheme=theme, reduced_motion="reduce", viewport=size)
    assert page.locator("html").get_attribute("data-theme") == theme
    for name in PAGES:
        page.goto((HTML / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, name
        assert page.evaluate(CUT) == [], name
        assert serious(page) == [], name


def test_the_search_works_from_the_disk(visits):
    page = visits.open(HTML / "index.html", watched=False)
    page.goto(f"{(HTML / 'search.html').as_uri()}?q=leverage")
    page.locator("#search-results li a", has_text="LeverageScoreSelector").first.wait_for()
