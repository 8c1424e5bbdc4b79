"""Texts that quote the reference: each number stands beside its query, in a comment that no reader of the page sees.

In Markdown, ``35.05<!--= figure1: BSS; r=300; mean .2f -->`` is a number (or the word of a verdict) and its query
(`provlab.reference.quotes`); a new one is written ``?<!--= ... -->``. A whole table stands between
``<!-- table figure1; method: BSS | RFE -->`` and ``<!-- /table -->``. `refresh` writes what the reference has in
place of what stands there, so that a new reference needs no editing.

A number that no table has says why it is typed: ``<!-- typed printed -->`` (in the paper), ``<!-- typed parameter -->``
(a setting, a bound, or what arithmetic makes of these) or ``<!-- typed measured: by what -->``. It covers the
paragraph, list item or table in which it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from provlab.claims import VERDICTS
from provlab.project import current_project, papers
from provlab.reference.quotes import Quotes
from provsel.files import replacing

_NUMBER = r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?"
_VALUE = "|".join([*VERDICTS, _NUMBER, r"\?"])
_QUERY = re.compile(rf"(?P<value>{_VALUE})?<!--=\s+(?P<query>.*?)\s+-->", re.DOTALL)
_TABLE = re.compile(r"(?P<indent> *)<!-- table (?P<query>[^\n]*?) -->\n(?P<lines>.*?)<!-- /table -->", re.DOTALL)
_TYPED = re.compile(r"<!-- typed (?:printed|parameter|measured: \S[^>]*?) -->", re.DOTALL)
_MARK = re.compile(r"<!--(?:=| table | /table | typed ).*?-->", re.DOTALL)
_OWN_LINE = re.compile(rf"^ *{_MARK.pattern}\n", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(
    r"\b(?:Sections?|Equations?|Python|versions?)\s+\d[\d.]*(?:(?:, | and | or | to )\d[\d.]*)*", re.IGNORECASE
)
_CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL)
_SHARE = re.compile(rf"(?<![\w.,-]){_NUMBER} %|(?<![\w.,-])\d[\d,]* of (?:the )?\d[\d,]*")
_MEASURED = re.compile(r"(?<![\w.,-])[-+]?(?:\d+(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)(?![\w-]|\.\d)")


@dataclass(frozen=True)
class Text:
    """A file that quotes.

    Attributes
    ----------
    path : path
    paper : str
        Whose tables need no prefix in it; "" for none.
    """

    path: Path
    paper: str = ""


def project_texts() -> list[Text]:
    """Return README.md of the project, the pages of `docs` that quote, and the NOTES.md of each of its own papers."""
    root = current_project().root
    texts = [Text(root / "README.md")]
    texts += [Text(page) for page in sorted(root.glob("docs/*.md")) if _MARK.search(page.read_text(encoding="utf-8"))]
    texts += [Text(paper.folder / "NOTES.md", name) for name, paper in papers().items()]
    return [text for text in texts if text.path.is_file() and text.path.is_relative_to(root)]


def refresh(markdown: str, quotes: Quotes) -> str:
    """Return a text with all quotes as the reference has them now.

    Raises
    ------
    ValueError
        For a query that cannot be answered, and for a mark that cannot be read, with its line.
    """

    def inline(found: re.Match[str]) -> str:
        if found["value"] is None:
            raise ValueError("expected a number, a verdict or ? directly before the query, got none.")
        answer = quotes.text(" ".join(found["query"].split()))
        if not re.fullmatch(_VALUE, answer):  # it could not be found again
            raise ValueError(f"{found['query']!r}: expected a number or a verdict, got {answer!r:.80}.")
        return answer + found[0][len(found["value"]) :]

    def table(found: re.Match[str]) -> str:
        indent = found["indent"]  # of a list item
        lines = "".join(f"{indent}{line}\n" for line in quotes.lines(found["query"]))
        return f"{indent}<!-- table {found['query']} -->\n\n{lines}\n{indent}<!-- /table -->"

    unknown = markdown
    for pattern in (_QUERY, _TABLE, _TYPED):
        unknown = _blank(pattern, unknown)
    for mark in re.finditer(r"<!--(?:=| table| /table| typed)[^\n]*", unknown):
        raise ValueError(f"line {_line(markdown, mark.start())}: expected a whole mark, got {mark[0]!r:.80}.")
    for pattern, made in ((_TABLE, table), (_QUERY, inline)):
        parts, end = [], 0
        for found in pattern.finditer(markdown):
            try:
                parts += [markdown[end : found.start()], made(found)]
            except ValueError as error:
                raise ValueError(f"line {_line(markdown, found.start())}: {error}") from None
            end = found.end()
        markdown = "".join(parts) + markdown[end:]
    return markdown


def refresh_texts(folder: Path) -> list[Path]:
    """Write what the reference in a folder has into the project's texts, and return those that changed.

    Raises
    ------
    ValueError
        As `refresh`, with the file; no text is changed then.
    """
    changed: list[tuple[Path, str]] = []
    for text in project_texts():
        old = text.path.read_text(encoding="utf-8")
        try:
            new = refresh(old, Quotes(folder, text.paper))
        except ValueError as error:
            raise ValueError(f"{text.path}: {error} Mend it, then: provsel reference --texts") from None
        if new != old:
            changed.append((text.path, new))
    for path, new in changed:
        with replacing(path) as unfinished:
            unfinished.write_text(new, encoding="utf-8")
    return [path for path, _ in changed]


def without_marks(markdown: str) -> str:
    """Return a text as its readers see it."""
    return _MARK.sub("", _OWN_LINE.sub("", markdown))


def typed_numbers(markdown: str) -> list[tuple[int, str, bool]]:
    """Return the numbers that look measured and are no quotes.

    These are numbers with decimals or thousands, percentages, and counts such as "22 of 80", outside code and the
    addresses of links.

    Returns
    -------
    list of (int, str, bool)
        Line, number, and whether its block says why it is typed.
    """
    visible = markdown
    for pattern in (_TABLE, _QUERY, _CODE, _NAMED):
        visible = _blank(pattern, visible)
    found, lines = [], visible.split("\n")
    for start, end in _blocks(markdown):  # a line of a quote alone is none without it, and would end a paragraph
        block = "\n".join(lines[start - 1 : end])
        said, text = _TYPED.search(block) is not None, _blank(_MARK, block)
        hits = {match.start(): match[0] for pattern in (_MEASURED, _SHARE) for match in pattern.finditer(text)}
        found += [(start + text.count("\n", 0, at), number, said) for at, number in sorted(hits.items())]
    return found


def _blocks(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the first and the last line of paragraphs, list items and tables."""
    lines = markdown.split("\n")
    start = 0
    for k, line in enumerate([*lines, ""]):
        if not line.strip() or re.match(r"\s*- ", line) or line.startswith("#"):
            if any(each.strip() for each in lines[start:k]):
                yield start + 1, k
            start = k


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """Return a text of the same lines, without what a pattern finds."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _line(markdown: str, at: int) -> int:
    return markdown.count("\n", 0, at) + 1
