"""Pages in a real browser: they load without complaint, fit, and lead from the overview to a trace."""

import pytest
from seen_paper import EVIL
from test_browser_access import KINDS


def test_what_is_watched_is_noticed(visits, tmp_path):
    """The control of all others: a page that does everything wrong."""
    page = tmp_path / "index.html"
    page.write_text(
        "<script>console.error('complaint'); alert('hello'); setTimeout(() => { throw Error('thrown'); });</script>"
        "<img src='http://127.0.0.1:9/outside.png'><img src='../other.png'>"
    )
    visits.open(page).wait_for_load_state("networkidle")
    problems = "\n".join(visits.problems)
    for expected in (
        "console error",
        "complaint",
        "dialog",
        "thrown",
        "request at",
        "outside.png",
        "other.png",
    ):
        assert expected in problems
    visits.problems.clear()


def test_the_overview(visits, report):
    page = visits.open(report / "index.html")
    assert page.title().endswith("provsel report")
    assert page.locator("table.artefacts .badge").all_inner_texts() == [
        "complete",
        "data missing",
    ]
    assert "Audited" in page.locator("main").inner_text()
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
    # the buttons at the right edge are in sight
    assert page.locator(".scroll").evaluate_all(cut) == 0


def test_three_clicks_from_the_overview_to_a_number(visits, report):
    page = visits.open(report / "index.html")
    page.get_by_role("link", name="figure", exact=True).click()
    page.wait_for_url("**/artefacts/figure.html")
    number = (
        page.locator("#number-table tbody tr", has_text="Lvg")
        .filter(has_text="set 3")
        .first.locator("td a")
    )
    shown = number.inner_text()
    number.click()
    page.wait_for_url("**/trace/figure/lvg-**")
    section = page.locator("details.cell:target")
    assert section.get_attribute("open") is not None  # of the data set that was clicked
    assert shown in section.inner_text()
    assert "provsel run" in section.locator(".command code").first.inner_text()


def test_without_javascript(visits, report):
    page = visits.open(report / "artefacts" / "figure.html", java_script_enabled=False)
    assert page.locator("#number-table tbody tr").first.is_visible()
    assert page.locator("figure.static img").first.is_visible()
    for absent in (".filters", "button.theme", "button.copy", ".plot", "th button"):
        assert page.locator(f"{absent}:visible").count() == 0, absent
    claim = visits.open(
        next((report / "claims").glob("*lvg*")), java_script_enabled=False
    )
    assert claim.locator("svg.claim-plot").first.is_visible()
    assert (
        claim.get_by_role("region", name="Parts of the claim")
        .locator("tbody tr")
        .count()
        == 1
    )


def test_hostile_strings_stay_text(visits, hostile):
    """What would run opens a dialog, or is refused by the page's policy with a message: both are watched."""
    page = visits.open(hostile / "index.html")
    for path in [
        *hostile.glob("*.html"),
        *hostile.glob("[apc]*/*.html"),
        *sorted(hostile.glob("trace/*/*"))[:6],
    ]:
        page.goto(path.as_uri())
        assert (
            page.locator(
                "img[src='x'], img[onerror], main script:not([type='application/json'])"
            ).count()
            == 0
        )
    page.goto((hostile / "artefacts" / "figure.html").as_uri())
    tag = EVIL.split("\"'")[0]
    assert tag in page.locator("#number-table").inner_text()
    page.locator("#number-table").evaluate(
        "table => table.querySelector('th button').click()"
    )
    page.locator(".filters select").first.select_option(index=1)
    assert page.locator(".filters output").first.inner_text()


@pytest.mark.parametrize("kind", KINDS)
def test_a_narrow_screen_does_not_scroll_sideways(visits, report, kind):
    [path] = report.glob(KINDS[kind])
    page = visits.open(path, viewport={"width": 400, "height": 800})
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 400
    page.locator("h1").evaluate(
        "heading => { heading.style.width = '900px'; heading.style.maxWidth = 'none'; }"
    )
    assert page.evaluate(width) > 400  # so that it would be seen
