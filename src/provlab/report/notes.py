"""Notes in Markdown as HTML that a page may hold as it is: raw HTML is shown, not run."""

from __future__ import annotations

import re
from itertools import count

from markdown_it import MarkdownIt

REGION = '<div class="scroll" tabindex="0" role="region" aria-label="Table {n} of the notes">'
TABLE = REGION + "<table><caption>Table {n}</caption>"


def render_notes(markdown: str) -> str:
    """Return Markdown as HTML that is safe to insert unescaped.

    Parameters
    ----------
    markdown : str
        CommonMark with tables. HTML is escaped. Headings move one level down, below those of the page. Links to http(s)
        addresses stay; of others the text remains. Images become links: a report loads nothing.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        elif token.type in ("th_open", "td_open"):  # an alignment is an inline style, which a page's policy forbids
            token.attrs = {"scope": "col"} if token.type == "th_open" else {}
        is_address = True
        for child in token.children or []:
            if child.type == "link_open":
                is_address = re.match(r"https?://", str(child.attrs["href"]), re.IGNORECASE) is not None
                child.attrs = {"href": child.attrs["href"], "rel": "noreferrer"} if is_address else {}
            if child.type in ("link_open", "link_close") and not is_address:
                child.tag = "span"
    numbers = count(1)
    html = str(parser.renderer.render(tokens, parser.options, {}))
    return re.sub("<table>", lambda _: TABLE.format(n=next(numbers)), html).replace("</table>", "</table></div>")
