"""Notes in Markdown as HTML that a page may hold as it is: raw HTML is shown, not run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

TOP = 3
"""Level of the highest headings: a page has one h1, and its sections have h2."""

PREFIX = "note-"
"""Of ids, which other sections of the page do not have."""


def render_notes(markdown: str) -> str:
    """Return Markdown as HTML.

    Parameters
    ----------
    markdown : str
        CommonMark with tables. HTML is escaped. Links to http(s)
        addresses and within the notes are kept; of others the text and the path remain. Of images the text remains: a
        report loads nothing.

    Returns
    -------
    str
        Safe to insert unescaped.
    """
    tokens = _parser().parse(markdown)
    anchors = _name_headings(tokens)
    highest = min((int(token.tag[1]) for token in tokens if token.type == "heading_open"), default=1)
    for k, token in enumerate(tokens):
        if token.type == "th_open" and not tokens[k + 1].content.strip():
            token.type, tokens[k + 2].type = "td_open", "td_close"  # an empty header would be read out as one
            tokens[k + 2].tag = "td"
        elif token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + TOP - highest)}"
        elif token.type == "inline" and token.children:
            token.children = _plain(token.children, anchors)
    return str(_parser().renderer.render(tokens, _parser().options, {}))


def _name_headings(tokens: Sequence[Token]) -> set[str]:
    """Give headings ids, and return the anchors by which Markdown is used to link to them."""
    anchors: set[str] = set()
    for k, token in enumerate(tokens):
        if token.type == "heading_open":
            words = re.sub(r"[^\w\- ]", "", tokens[k + 1].content.lower()).replace(" ", "-")
            name = next(name for name in (words, *(f"{words}-{n}" for n in range(1, 9999))) if name not in anchors)
            anchors.add(name)
            token.attrSet("id", PREFIX + name)
    return anchors


def _plain(children: Sequence[Token], anchors: set[str]) -> list[Token]:
    """Return inline tokens without images and without links that lead out of the page and are no web address."""
    kept: list[Token] = []
    pending: list[str | None] = []  # for each open link its path, if the link itself is dropped
    for child in children:
        if child.type == "link_open":
            href = str(child.attrGet("href") or "")
            address = re.match(r"https?://", href, re.IGNORECASE) is not None
            inside = href.startswith("#") and href[1:] in anchors
            pending.append(None if address or inside else href)
            if address:
                child.attrSet("rel", "noreferrer")
                kept.append(child)
            elif inside:
                child.attrSet("href", "#" + PREFIX + href[1:])
                kept.append(child)
        elif child.type == "link_close":
            path = pending.pop()
            if path is None:
                kept.append(child)
            else:
                kept += [_text(" ("), Token("code_inline", "code", 0, content=path), _text(")")]
        elif child.type == "image":
            kept += _plain(child.children or [], anchors)
        else:
            kept.append(child)
    return kept


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", _close_table)
    parser.add_render_rule("th_open", _open_header)
    parser.add_render_rule("td_open", _open_cell)
    return parser


def _open_table(renderer: Any, tokens: Sequence[Token], k: int, options: Any, env: dict[str, int]) -> str:
    env["tables"] = env.get("tables", 0) + 1
    heading = next(
        (tokens[j + 1].content for j in range(k - 1, -1, -1) if tokens[j].type == "heading_open"), "Notes"
    )  # fmt: skip
    label = escape(f"{heading}, table {env['tables']}")
    region = f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
    return f"{region}<table><caption>{escape(heading)}</caption>"


def _close_table(renderer: Any, tokens: Sequence[Token], k: int, options: Any, env: dict[str, int]) -> str:
    return "</table></div>\n"


def _open_header(renderer: Any, tokens: Sequence[Token], k: int, options: Any, env: dict[str, int]) -> str:
    return '<th scope="col">'


def _open_cell(renderer: Any, tokens: Sequence[Token], k: int, options: Any, env: dict[str, int]) -> str:
    return "<td>"
