"""A browser, pages that are watched, and the reports that it opens."""

import os
import sys
from pathlib import Path

import pytest
from browsing import Visits, find_chromium
from playwright.sync_api import sync_playwright
from small_results import make_once, write_results, write_seen

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))


@pytest.fixture(scope="session")
def chromium():
    return find_chromium(os.environ)


# One a module, not one a session: while it is open, its event loop is in the way of other tests that need their own.
@pytest.fixture(scope="module")
def browser(chromium):
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def visits(browser):
    """Open pages; at the end of the test none of them may have complained or asked for anything outside."""
    visits = Visits(browser)
    yield visits
    visits.close()
    assert visits.problems == []


@pytest.fixture(scope="session")
def results(chromium, tmp_path_factory):
    """A results folder by real runs: table1 complete, two artefacts partial, an audit; and its report."""
    return make_once(tmp_path_factory, "results", write_results)


@pytest.fixture(scope="session")
def report(results):
    return results / "report"


@pytest.fixture(scope="session")
def made(chromium, tmp_path_factory):
    """The report of a small paper with eight data sets, and readings of a claim."""
    return make_once(tmp_path_factory, "made", write_seen(evil=False)) / "results" / "report"


@pytest.fixture(scope="session")
def hostile(chromium, tmp_path_factory):
    return make_once(tmp_path_factory, "hostile", write_seen(evil=True)) / "results" / "report"
