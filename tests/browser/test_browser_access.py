"""Every kind of page in both themes: no serious finding of axe-core, and a picture of it to look at."""

import os
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import drawn_plot, theme_of

from small_runs import PROVSEL, REPO, TABLE1, run_python

SCREENSHOTS = REPO / "results" / "screenshots"
KINDS = {
    "overview": "index.html",
    "paper": "papers/seen2020.html",
    "artefact": "artefacts/figure.html",
    "artefact-not-run": "artefacts/absent.html",
    "claims": "claims/index.html",
    "claim": "claims/seen2020.lvg.html",
    "claim-not-run": "claims/seen2020.absent.html",
    "trace": "trace/figure/lvg-10-*.html",
    "environment": "environment.html",
}
OF_THE_README = pytest.mark.skipif(
    not os.environ.get("PROVSEL_README_SCREENSHOT"),
    reason="the README's pictures are made by make screenshots",
)
# `preload` fetches the style sheet once more, which the pages' own policy refuses.
OPTIONS = {"preload": False, "resultTypes": ["violations"]}


def serious(page):
    violations = Axe().run(page, options=OPTIONS).response["violations"]
    findings = []
    for violation in violations:
        if violation["impact"] in ("serious", "critical"):
            places = [node["html"][:120] for node in violation["nodes"][:3]]
            findings.append(
                f"{violation['id']} ({violation['impact']}): {violation['help']}: {places}"
            )
    return findings


@pytest.mark.parametrize("kind", [*KINDS, "hostile"])
def test_accessible_and_pictured(visits, report, hostile, kind):
    [path] = (
        report.glob(KINDS[kind])
        if kind in KINDS
        else [hostile / "artefacts" / "figure.html"]
    )
    page = visits.open(path, color_scheme="light", reduced_motion="reduce")
    if page.locator(".plot").count():
        drawn_plot(page)
        page.evaluate("window.scrollTo(0, 0)")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    # one page: to open it and to draw its plots takes as long as a theme
    for theme in ("light", "dark"):
        if theme == "dark":
            page.emulate_media(color_scheme="dark")
            # the page is told a moment later
            page.locator("button.theme[aria-pressed=true]").wait_for()
        assert (theme_of(page) == "rgb(255, 255, 255)") == (theme == "light")
        page.screenshot(path=SCREENSHOTS / f"{kind}-{theme}.png", full_page=True)
        assert serious(page) == [], theme


ANSWERS = {"select": "selected/index.html", "run": "results/report/runs/table-*.html"}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_comes_first_and_can_be_read_on_a_telephone(visits, answers, kind):
    """At 400 px the page does not scroll sideways, no part of it scrolls up and down, and names of lines stay."""
    [path] = answers.glob(ANSWERS[kind])
    page = visits.open(
        path,
        viewport={"width": 400, "height": 800},
        color_scheme="light",
        reduced_motion="reduce",
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    higher = (
        "all => all.filter(each => each.scrollHeight > each.clientHeight + 1).length"
    )
    assert page.locator(".scroll, pre").evaluate_all(higher) == 0
    first, figure, table = (
        page.locator(f"main {name}").first.bounding_box()
        for name in (".answer", "img", "table")
    )
    assert first["y"] < figure["y"] < table["y"]
    box = page.locator(".scroll").first
    name = box.locator("tbody th").first
    number = box.locator("tbody td").first
    before = name.bounding_box()["x"], number.bounding_box()["x"]
    assert box.evaluate("box => { box.scrollLeft = 90; return box.scrollLeft; }") == 90
    assert name.bounding_box()["x"] == before[0]
    assert number.bounding_box()["x"] == before[1] - 90
    page.screenshot(path=SCREENSHOTS / f"{kind}-narrow.png")
    assert serious(page) == []


def test_axe_finds_what_is_wrong(visits, report):
    page = visits.open(report / "index.html")
    page.locator("p").first.evaluate(
        "each => { each.style.color = '#eee'; each.style.background = '#fff'; }"
    )
    page.locator("h1").evaluate(
        "each => each.insertAdjacentHTML('afterend', '<button></button>')"
    )
    findings = " ".join(serious(page))
    assert "button-name" in findings
    assert "color-contrast" in findings


def take(seen, name):
    """Make a picture for the README of a page or a part of it: there is something on it, and it is small."""
    path = SCREENSHOTS / name
    seen.screenshot(path=path)
    assert 10_000 < path.stat().st_size < 200_000


def report_of(results, *command):
    """Run a command of the checkout into a folder of results, and return its report."""
    for arguments in (command, (*PROVSEL, "report", "--results", results)):
        done = run_python(arguments, REPO, timeout=900)
        assert done.returncode == 0, done.stderr
    return results / "report"


@OF_THE_README
def test_picture_of_the_readme(visits, tmp_path):
    """The table by the paper's protocol, which takes minutes."""
    report = report_of(tmp_path, *TABLE1, f"results={tmp_path}")
    take(
        visits.open(report / "artefacts" / "table1.html", color_scheme="light"),
        "report.png",
    )


@OF_THE_README
def test_picture_of_a_specification_curve(visits, tmp_path):
    """Of what the reference has of the readings."""
    shutil.copytree(REPO / "results" / "reference" / "readings", tmp_path / "readings")
    claim = (
        report_of(tmp_path, *PROVSEL, "list")
        / "claims"
        / "paul2016.figure1.bss-better-than-rrqr.html"
    )
    take(visits.open(claim, color_scheme="light").locator("svg.curve"), "readings.png")
