"""Find the system's Chromium, and open pages that tell what they complained about and asked for."""

import os
import shutil
import time
from urllib.parse import unquote, urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
LONGEST_WAIT = 30_000  # ms


def find_chromium():
    """Return the browser's path. Without one the tests are skipped, but fail where CI counts on them."""
    chosen = os.environ.get("PROVSEL_CHROMIUM")
    path = (
        shutil.which(chosen)
        if chosen
        else next(filter(None, map(shutil.which, NAMES)), None)
    )
    if path:
        return path
    message = "no Chromium: apt-get install chromium, or set PROVSEL_CHROMIUM"
    if chosen:
        pytest.fail(f"PROVSEL_CHROMIUM: expected a browser, got {chosen}; {message}")
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(message)
    pytest.skip(message)


def made_once(tmp_path_factory, name, write):
    """Return a folder that is written once, by whichever of several test processes comes first."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / f"browser-{name}"
    done = shared / f"browser-{name}.done"
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + 300
        while not done.exists():
            assert time.monotonic() < deadline, (
                f"{folder} was not finished by another test process"
            )
            time.sleep(0.1)
        return folder
    write(folder)
    done.touch()
    return folder


def folder_of(path):
    """Return the folder of the report that a page belongs to."""
    return next(
        (parent for parent in path.parents if (parent / "assets").is_dir()), path.parent
    )


def theme_of(page):
    """Return the colour behind the page, which differs between themes."""
    return page.locator("body").evaluate(
        "body => getComputedStyle(body).backgroundColor"
    )


def focused(page):
    """Return what has the focus, in words: its tag, text, and where it leads."""
    return page.evaluate(
        "(() => { const e = document.activeElement;"
        " return {tag: e.tagName, id: e.id, text: e.textContent.trim(), href: e.getAttribute('href') || '',"
        " outline: getComputedStyle(e).outlineStyle, width: parseFloat(getComputedStyle(e).outlineWidth)}; })()"
    )


def drawn_plot(page):
    """Return the plot of a page, drawn and in sight."""
    plot = page.locator(".plot")
    plot.evaluate("plot => plot.scrollIntoView({block: 'center'})")
    plot.locator("svg.main-svg").first.wait_for()
    return plot


class Visits:
    """Opens pages in contexts of their own, and collects what is wrong with any of them."""

    def __init__(self, browser):
        self.browser = browser
        self.problems = []
        self._contexts = []

    def open(self, path, **options):
        """Open a page of a report; options are those of a Playwright context."""
        options.setdefault("viewport", {"width": 1200, "height": 800})
        context = self.browser.new_context(**options)
        context.set_default_timeout(LONGEST_WAIT)
        self._contexts.append(context)
        page = context.new_page()
        self._watch(page, folder_of(path))
        page.goto(path.as_uri())
        return page

    def _watch(self, page, folder):
        def complain(kind, text):
            self.problems.append(f"{kind} at {page.url}: {text}")

        def dialog(event):
            complain("dialog", event.message)
            event.dismiss()

        def request(event):
            parts = urlsplit(event.url)
            path = unquote(parts.path)
            if (
                parts.scheme != "file"
                or parts.netloc
                or not path.startswith(f"{folder.as_posix()}/")
            ):
                complain("request", event.url)

        def failed(event):
            # the next page was opened before this one was complete
            if event.failure != "net::ERR_ABORTED":
                complain("failed request", f"{event.url}, {event.failure}")

        page.on("console", lambda event: complain(f"console {event.type}", event.text))
        page.on("pageerror", lambda event: complain("error", str(event)))
        page.on("requestfailed", failed)
        page.on("dialog", dialog)
        page.on("request", request)

    def close(self):
        for context in self._contexts:
            context.close()
