"""Every kind of page in both themes: no serious finding of axe-core, and a picture of it to look at."""

import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import drawn_plot, theme_of
from small_results import PICTURE, run_command

from small_runs import PROVSEL, REPO

SCREENSHOTS = REPO / "results" / "screenshots"
KINDS = {
    "overview": ("report", "index.html"),
    "paper": ("report", "papers/paul2016.html"),
    "artefact-table": ("report", "artefacts/table1.html"),
    "artefact-partial": ("report", "artefacts/theorem7.html"),
    "artefact-not-run": ("report", "artefacts/figure1.html"),
    "artefact-figure": ("made", "artefacts/figure.html"),
    "claims": ("made", "claims/index.html"),
    "claim": ("made", "claims/seen2020.lvg.html"),
    "claim-not-run": ("made", "claims/seen2020.absent.html"),
    "trace": ("report", "trace/table1/bss-r-30-k-40-*.html"),
    "trace-folded": ("made", "trace/figure/lvg-10-*.html"),
    "environment": ("report", "environment.html"),
    "hostile": ("hostile", "artefacts/figure.html"),
}
OF_THE_README = pytest.mark.skipif(not PICTURE, reason="the README's pictures are made by make screenshots")
# `preload` fetches the style sheet once more, which the pages' own policy refuses.
OPTIONS = {"preload": False, "resultTypes": ["violations"]}


def serious(page):
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {[node['html'][:120] for node in each['nodes']][:3]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_accessible_and_pictured(visits, report, made, hostile, kind):
    name, pattern = KINDS[kind]
    (path,) = {"report": report, "made": made, "hostile": hostile}[name].glob(pattern)
    page = visits.open(path, color_scheme="light", reduced_motion="reduce")
    if page.locator(".plot").count():
        drawn_plot(page)
        page.evaluate("window.scrollTo(0, 0)")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):  # one page: to open it and to draw its plots takes as long as a theme
        if theme == "dark":
            page.emulate_media(color_scheme="dark")
            page.locator("button.theme[aria-pressed=true]").wait_for()  # the page is told a moment later
        assert (theme_of(page) == "rgb(255, 255, 255)") == (theme == "light")
        page.screenshot(path=SCREENSHOTS / f"{kind}-{theme}.png", full_page=True)
        assert serious(page) == [], theme


def test_axe_finds_what_is_wrong(visits, report):
    page = visits.open(report / "index.html")
    page.locator("p").first.evaluate("each => { each.style.color = '#eee'; each.style.background = '#fff'; }")
    page.locator("h1").evaluate("each => each.insertAdjacentHTML('afterend', '<button></button>')")
    found = " ".join(serious(page))
    assert "button-name" in found
    assert "color-contrast" in found


def take(seen, name):
    """Make a picture for the README of a page or a part of it: there is something on it, and it is small."""
    path = SCREENSHOTS / name
    seen.screenshot(path=path)
    assert 10_000 < path.stat().st_size < 200_000


@OF_THE_README
def test_picture_of_the_readme(visits, report):
    page = visits.open(report / "artefacts" / "table1.html", color_scheme="light")
    take(page, "report.png")


@OF_THE_README
def test_picture_of_a_specification_curve(visits, tmp_path):
    """Of what the reference has of the readings."""
    shutil.copytree(REPO / "results" / "reference" / "readings", tmp_path / "readings")
    run_command([*PROVSEL, "report", "--results", tmp_path], tmp_path)
    claim = tmp_path / "report" / "claims" / "paul2016.figure1.bss-better-than-rrqr.html"
    take(visits.open(claim, color_scheme="light").locator("svg.curve"), "readings.png")
