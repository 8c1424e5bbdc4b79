"""Pages in a real browser: they load without complaint, lead from the overview to a trace, and keep their promise."""

import re
import shlex
import sys

import pytest
from browsing import find_chromium
from seen_paper import EVIL
from small_results import SETTINGS, run_command

from provlab.store import TrialStore

KINDS = {
    "overview": "index.html",
    "paper": "papers/paul2016.html",
    "artefact": "artefacts/table1.html",
    "claims": "claims/index.html",
    "environment": "environment.html",
}


def pages_of(folder, pattern, most):
    return sorted(folder.glob(pattern))[:most]


def test_what_is_watched_is_noticed(visits, tmp_path):
    """The control of all others: a page that does everything wrong."""
    page = tmp_path / "index.html"
    page.write_text(
        "<script>console.error('complaint'); alert('hello'); setTimeout(() => { throw Error('thrown'); });</script>"
        "<img src='http://127.0.0.1:9/outside.png'><img src='../other.png'>"
    )
    visits.open(page).wait_for_load_state("networkidle")
    found = "\n".join(visits.problems)
    for expected in ("console error", "complaint", "dialog", "thrown", "request at", "outside.png", "other.png"):
        assert expected in found
    visits.problems.clear()


def test_without_a_browser(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(pytest.skip.Exception, match="no Chromium: apt-get install chromium, or set PROVSEL_CHROMIUM"):
        find_chromium({})
    with pytest.raises(pytest.fail.Exception, match="no Chromium: apt-get install"):
        find_chromium({"CI": "true"})
    with pytest.raises(pytest.fail.Exception, match="expected a browser, got /nowhere"):
        find_chromium({"PROVSEL_CHROMIUM": "/nowhere"})


def test_the_overview(visits, report):
    page = visits.open(report / "index.html")
    assert page.title().endswith("provsel report")
    assert page.locator("h1").count() == 1
    states = page.locator("table.artefacts .badge").all_inner_texts()
    assert "complete" in states
    assert "data missing" in states
    assert any(re.fullmatch(r"partial, \d+ %", text) for text in states)
    assert "Audited" in page.locator("main").inner_text()
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
    assert page.locator(".scroll").evaluate_all(cut) == 0  # the buttons at the right edge are in sight


@pytest.mark.parametrize("name", ["report", "made"])
def test_all_kinds_of_pages_open(visits, report, made, name):
    """All overviews, papers and artefacts, and a sample of claims and traces."""
    folder = {"report": report, "made": made}[name]
    page = visits.open(folder / "index.html")
    patterns = {"*.html": 9, "papers/*": 9, "artefacts/*": 99, "claims/*": 4, "trace/*/*": 4}
    paths = [path for pattern, most in patterns.items() for path in pages_of(folder, pattern, most)]
    assert {path.parent.name for path in paths} >= {folder.name, "papers", "artefacts", "claims"}
    for path in paths:
        page.goto(path.as_uri())
        assert page.locator("h1").count() == 1, path
        assert page.locator("main").inner_text().strip(), path


def test_three_clicks_from_the_overview_to_a_number(visits, results):
    page = visits.open(results / "report" / "index.html")
    page.get_by_role("link", name="table1", exact=True).click()
    page.wait_for_url("**/artefacts/table1.html")
    row = page.locator("#number-table tbody tr", has_text="BSS").filter(has_text="r=30, k=40").first
    number = row.locator("td a")
    shown = number.inner_text()
    number.click()
    page.wait_for_url("**/trace/table1/**")
    text = page.locator("main").inner_text()
    assert shown in page.locator("#numbers + .scroll").inner_text()
    stored = TrialStore(results / "store").query().to_pylist()
    key = page.locator("code[title]").first.get_attribute("title")
    record = next(record for record in stored if record["key"] == key)
    cell = [each for each in stored if each["cell"] == record["cell"]]
    assert f"{len(cell)} of {len(cell)}" in text  # number of trials
    for expected in (
        "BSSSelector",
        "n_features_to_select",
        "LibsvmSVM",
        "seeds of the folds",
        "python",
        "numpy",
        "scikit-learn",
    ):
        assert expected in text
    for trial in cell:
        assert str(trial["seed"]) in page.content()
    assert (record["git_revision"] or "not known") in text
    assert "provsel run" in page.locator(".command code").first.inner_text()
    assert set(SETTINGS) <= set(shlex.split(page.locator(".command code").first.inner_text()))


@pytest.mark.parametrize(
    ("artefact", "pattern", "extra"),
    [
        ("table1", "bss-r-30-k-40-*", ""),
        ("theorem7", "kernel-weights-1-l-10-*", " executor=serial"),  # quicker, and the same by design
    ],
)
def test_the_command_on_the_page_computes_the_number_again(visits, report, tmp_path, artefact, pattern, extra):
    """The promise of a trace: its command, in a shell, gives the numbers that stand beside it."""
    (path,) = (report / "trace" / artefact).glob(pattern)
    page = visits.open(path)
    with_error = page.locator("table", has_text="Measured values").filter(has_text="error").first
    mean = with_error.locator("tbody tr", has_text="error").locator("td").nth(2).inner_text()
    section = with_error.locator("xpath=ancestor::*[contains(@class, 'cell')]")
    section.evaluate("each => { if (each.tagName === 'DETAILS') each.open = true; }")
    keys = set(section.locator("code[title]").evaluate_all("all => all.map(each => each.title)"))
    command = section.locator(".command code").first.inner_text()
    assert command.count("results=results/again") == 1
    again = command.replace("results=results/again", f"results={shlex.quote(str(tmp_path / 'again'))}")
    output = run_command(re.sub(r"^\S*python\b", shlex.quote(sys.executable), again) + extra, tmp_path)
    assert float(re.search(r"error ([\d.]+) %", output)[1]) == pytest.approx(float(mean), abs=0.005)
    assert TrialStore(tmp_path / "again" / "store").keys() == keys
    if artefact == "theorem7":
        assert float(mean) > 0


def test_without_javascript(visits, made):
    page = visits.open(made / "artefacts" / "figure.html", java_script_enabled=False)
    assert page.locator("#number-table tbody tr").first.is_visible()
    assert page.locator("figure.static img").is_visible()
    for absent in (".filters", "button.theme", "button.copy", ".plot", "th button"):
        assert page.locator(f"{absent}:visible").count() == 0, absent
    claim = visits.open(next((made / "claims").glob("*lvg*")), java_script_enabled=False)
    assert claim.locator("svg.claim-plot").first.is_visible()
    assert claim.get_by_role("region", name="Parts of the claim").locator("tbody tr").count() == 1


def test_hostile_strings_stay_text(visits, hostile):
    """What would run opens a dialog, or is refused by the page's policy with a message: both are watched."""
    page = visits.open(hostile / "index.html")
    for path in [*hostile.glob("*.html"), *hostile.glob("[apc]*/*.html"), *pages_of(hostile, "trace/*/*", 6)]:
        page.goto(path.as_uri())
        assert page.locator("img[src='x'], img[onerror], main script:not([type='application/json'])").count() == 0
    page.goto((hostile / "artefacts" / "figure.html").as_uri())
    tag = EVIL.split("\"'")[0]
    assert tag in page.locator("#number-table").inner_text()
    page.locator("#number-table").evaluate("table => table.querySelector('th button').click()")
    page.locator(".filters select").first.select_option(index=1)
    assert page.locator(".filters output").first.inner_text()


def test_on_paper(visits, made):
    page = visits.open(made / "artefacts" / "figure.html")
    assert page.locator("header.site nav").is_visible()
    page.emulate_media(media="print")
    for hidden in ("header.site nav", "button.theme", ".filters"):
        assert page.locator(f"{hidden}:visible").count() == 0, hidden
    assert page.locator("#number-table tbody tr").first.is_visible()
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 10_000


@pytest.mark.parametrize("kind", [*KINDS, "readings"])
def test_a_narrow_screen_does_not_scroll_sideways(visits, report, made, kind):
    path = report / KINDS[kind] if kind in KINDS else made / "claims" / "seen2020.lvg.html"
    page = visits.open(path, viewport={"width": 400, "height": 800})
    assert page.locator("#readings").count() == (kind == "readings")
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 400
    page.locator("h1").evaluate("heading => { heading.style.width = '900px'; heading.style.maxWidth = 'none'; }")
    assert page.evaluate(width) > 400  # so that it would be seen
