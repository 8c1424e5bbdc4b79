"""A reader of written pages that is independent of what wrote them: balance, ids, links, text."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """One page: problems of its structure, its ids, links, tags, and data of its scripts."""

    def __init__(self, path: Path):
        super().__init__(convert_charrefs=True)
        self.path = path
        self.problems = []
        self.open = []
        self.ids = []
        self.links = []
        self.tags = []
        self.attributes = []
        self.texts = []
        self.data = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        self.problems += [f"<{name}> is not closed" for name in self.open]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice")
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        (self.data if self.open and self.open[-1] == "script" else self.texts).append(
            data
        )

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def read_pages(folder):
    return {path: Page(path) for path in sorted(folder.rglob("*.html"))}


def broken_links(folder, pages):
    """Return the links to files and anchors that are not there, or that lead out of the folder."""
    missing = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                continue
            target = (
                (path.parent / unquote(parts.path)).resolve() if parts.path else path
            )
            outside = (
                not target.is_relative_to(folder.resolve())
                or parts.scheme
                or parts.netloc
            )
            if (
                outside
                or not target.is_file()
                or (parts.fragment and parts.fragment not in pages[target].ids)
            ):
                missing.append((path.name, link))
    return missing
