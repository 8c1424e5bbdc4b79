"""Jinja2 environment of the report: everything is escaped, unknown names are errors, and addresses are safe."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

from provlab.core.tables import limited, value_text
from provlab.project.documents import canonical_json, digest
from provlab.project.messages import PAGE_NAME, visible
from provlab.project.project import tool
from provlab.report.figures.looks import kind_of
from provsel import __version__

MISSING = "–"
"""Shown instead of a missing number."""

TABLE = '<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table><caption>{caption}</caption>'


@cache
def environment() -> Environment:
    """Return the environment, which compiles each template at first use and caches it."""
    templates = Environment(
        loader=PackageLoader("provlab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(
        num=number, count="{:,}".format, script_json=script_json, canonical=canonical_json, anchor=dataset_anchor,
        value=value, step=step, like=like, pattern=pattern, when=when, kind=kind_of, join_items=join_items,
        markup=Markup, text=value_text,
    )  # fmt: skip
    templates.globals.update(
        MISSING=MISSING,
        NAN=math.nan,
        nan=math.isnan,
        limited=limited,
        tool=tool,
        card=card,
        version=__version__,
    )
    return templates


@dataclass(frozen=True)
class Site:
    """Settings that all pages share.

    Attributes
    ----------
    results, folder : path
        Results folder, which commands name, and output folder of the pages.
    overrides : tuple of str
        The user's settings, to which states and verdicts refer.
    written : str
        When the report was written, UTC.
    n_trials : int or None
        Number of trials in the store; None for pages without a store.
    papers : tuple of str
    n_runs : int
        Number of the project's own runs.
    has_benchmark : bool
    alone : bool
        Whether the report has only the pages of one command, such as `provsel rank`.
    """

    results: Path
    folder: Path
    overrides: tuple[str, ...]
    written: str
    n_trials: int | None
    papers: tuple[str, ...]
    n_runs: int = 0
    has_benchmark: bool = False
    alone: bool = False

    @property
    def parts(self) -> list[tuple[str, str, str]]:
        """Name, text and page of each entry of the navigation."""
        parts = [("index", "Overview", "index.html")]
        if self.papers and self.n_runs:
            parts.append(("runs", "Runs", "runs/index.html"))
        parts += [(name, name, f"papers/{name}.html") for name in self.papers]
        if self.papers:
            parts.append(("claims", "Claims", "claims/index.html"))
        if self.has_benchmark:
            parts.append(("benchmark", "Benchmark", "benchmark/index.html"))
        if not self.alone:
            parts.append(("environment", "Environment", "environment.html"))
        return parts

    def write(
        self, href: str, template: str, title: str, section: str, crumb: str = "", *,
        above: Sequence[tuple[str, str]] = (), plots: bool = False, **content: Any,
    ) -> None:  # fmt: skip
        """Write a page.

        Parameters
        ----------
        href, template, title : str
        section : str
            Navigation entry that the page belongs to: a paper, or "index", "runs",
            "claims", "environment".
        crumb : str
            Name of the page in the breadcrumbs, which start at the overview and include
            its paper and `above`.
        above : sequence of (text, href)
        plots : bool
            Whether to load Plotly.
        content
            Variables of the template.
        """
        crumbs = []
        if crumb:
            crumbs.append(("Overview", "index.html"))
            paper_page = f"papers/{section}.html"
            if section in self.papers and href != paper_page:
                crumbs.append((section, paper_page))
            crumbs += [*above, (crumb, "")]
        text = environment().get_template(template).render(
            content, site=self, title=title, crumbs=crumbs, section=section, plots=plots, root="../" * href.count("/"),
            style_ids=style_ids() if plots else (),
        )  # fmt: skip
        path = self.folder / href
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(visible(text), encoding="utf-8", newline="\n")


# ---- Formatting


def number(x: float, digits: int = 4) -> str:
    """Return a number with `digits` significant digits, or a dash for NaN."""
    if math.isnan(x):
        return MISSING
    text = f"{x:.{digits}g}"
    if "e" in text and 1e-4 <= abs(x) < 1e9:
        text = f"{x:.0f}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def like(x: float, text: str) -> str:
    """Format a number with as many decimals as `text` has, or with four digits if `text` is not a number."""
    pattern = re.fullmatch(r"[-+\N{MINUS SIGN}]?[\d,]+(?:\.(\d+))?", text)
    if pattern is None or not math.isfinite(x):
        return number(x)
    digits = len(pattern[1] or "")
    shown = f"{round(x, digits) + 0.0:,.{digits}f}"  # adding 0 makes "-0.00" "0.00"
    return shown.replace("-", "\N{MINUS SIGN}", 1)


def pattern(ends: Iterable[float]) -> str:
    """Return a pattern for `like` with which the larger of two numbers has four significant digits."""
    size = max(map(abs, ends))
    if not 1e-4 <= size < 1e7:
        return ""
    return f"{0:.{max(0, 3 - math.floor(math.log10(size)))}f}"


def value(x: float) -> Markup:
    """Return the attribute by which a script sorts a cell, or nothing for NaN, because empty cells come last."""
    return Markup("") if math.isnan(x) else Markup(f' data-value="{x:.12g}"')


def step(standard_errors: float) -> tuple[str, str]:
    """Return the size class of a difference: a class of the style sheet and a label."""
    if math.isnan(standard_errors):
        return "", ""
    distance = abs(standard_errors)
    if distance < 2:
        return "near", "below 2"
    return ("apart", "2 to 4") if distance <= 4 else ("far", "above 4")


def when(text: str) -> str:
    """Convert an ISO 8601 time in UTC to readable text."""
    return f"{text[:16].replace('T', ' ')} UTC"


def join_items(value: Any) -> str:
    """Return a value as text; a list, such as the BLAS libraries, is joined by commas."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def card(part: Mapping[str, Any] | None) -> tuple[str, list[tuple[str, str]]]:
    """Return the class and the settings of a part of a cell's identity; its arguments precede its version."""
    if part is None:
        return "none", []
    items = []
    for key, value in {**part.get("arguments", {}), **part}.items():
        if key not in ("name", "arguments"):
            text = (
                value
                if isinstance(value, str)
                else json.dumps(value, ensure_ascii=False, default=str)
            )
            items.append((key, text))
    return part.get("name", "").rpartition(".")[2], items


def script_json(content: Any) -> Markup:
    """Return JSON that is safe inside a script element: nothing in it can end the element."""
    text = json.dumps(
        content, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # a chart shows control characters as a page does
    return Markup(visible(text, backslash="\\\\"))


def render_notes(markdown: str, title: str = "", source: str = "notes") -> str:
    """Return Markdown as HTML that is safe to insert unescaped.

    Parameters
    ----------
    markdown : str
        CommonMark with tables. HTML is escaped. Headings move one level down, below
        those of the page. Links to http(s) addresses are kept; other links are reduced
        to their text. Images become links, because a report loads nothing.
    title : str, optional
        Caption of the table, in Markdown; by default tables are numbered.
    source : str
        Name of the text in which the tables are numbered.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens, caption = parser.parse(markdown), parser.parseInline(title)
    for token in [*tokens, *caption]:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        elif token.type in ("th_open", "td_open"):
            # an alignment would be an inline style, which the policy forbids
            token.attrs = {"scope": "col"} if token.type == "th_open" else {}
        is_address = True
        for child in token.children or []:
            if child.type == "link_open":
                is_address = (
                    re.match(r"https?://", str(child.attrs["href"]), re.IGNORECASE)
                    is not None
                )
                child.attrs = (
                    {"href": child.attrs["href"], "rel": "noreferrer"}
                    if is_address
                    else {}
                )
            if child.type in ("link_open", "link_close") and not is_address:
                child.tag = "span"
    html = str(parser.renderer.render(tokens, parser.options, {}))
    caption_html = str(parser.renderer.render(caption, parser.options, {}))
    html = html.replace('<th scope="col"></th>', "<td></td>").replace(
        "</table>", "</table></div>"
    )
    first, *tables = html.split("<table>")
    for place, table in enumerate(tables, 1):
        label = f"Table {place} of the {source}"
        first += TABLE.format(label=label, caption=caption_html or label) + table
    return first


def fold_notes(html: str) -> tuple[Markup, list[tuple[Markup, Markup]]]:
    """Split rendered notes into the text above the sections, and the title and text of each section."""
    above, *sections = html.split("<h3>")
    folded = []
    for section in sections:
        title, _, text = section.partition("</h3>")
        folded.append((Markup(title), Markup(text)))
    return Markup(above), folded


# ---- Addresses: safe although made from untrusted strings, and unique


def slug(*texts: str) -> str:
    """Join the ASCII letters and digits of some texts with dashes, with at most 48 characters of each text."""
    parts = (re.sub(r"[^a-z0-9]+", "-", text.lower())[:48].strip("-") for text in texts)
    return "-".join(part for part in parts if part)


def trace_href(artefact: str, row: str, column: str, dataset: str = "") -> str:
    """Return the address of the trace of a row and column, with an anchor if a data set is given.

    The address is relative to the report.

    Different names have different pages or anchors, whatever characters they contain.
    """
    name = slug(row, column, digest([artefact, row, column])[:12])
    anchor = f"#{dataset_anchor(dataset)}" if dataset else ""
    return f"trace/{artefact.split('/')[-1]}/{name}.html{anchor}"


def dataset_anchor(dataset: str) -> str:
    """Return the id of the section of a data set on a trace page."""
    return slug("d", dataset, digest(dataset)[:10])


def check_names(
    papers: Iterable[str], artefacts: Iterable[str], claims: Iterable[str]
) -> None:
    """Check that the names of papers, artefacts and claims are valid and distinct file names.

    Raises
    ------
    ValueError
        If a name is invalid or occurs twice. Untrusted text becomes part of a path only
        through here or `slug`.
    """
    names = [("paper", name) for name in papers]
    names += [("artefact", name.partition("/")[2]) for name in artefacts]
    names += [("claim", name) for name in claims]
    seen = {("claim", "index")}
    for kind, name in names:
        if not PAGE_NAME.fullmatch(name) or ".." in name:
            raise ValueError(
                f"{kind} {name!r}: expected a name of letters, digits, '.', '_' and '-' that starts with a letter or "
                "digit, at most 150 long, because it names a page; rename it."
            )
        if (kind, name.lower()) in seen:  # because some file systems ignore case
            raise ValueError(f"{kind} {name!r}: two pages have this name; rename one.")
        seen.add((kind, name.lower()))


# ---- Files that all pages share


@cache
def style_ids() -> tuple[str, ...]:
    """Return the ids of the style sheets that Plotly's bundle adds for its maps unless an element has that id.

    The pages have no maps, and their policy forbids inline style sheets. Elements with
    these ids keep Plotly from adding any.
    """
    return tuple(
        dict.fromkeys(re.findall(r'getElementById\("([0-9a-f]{64})"\)', get_plotlyjs()))
    )


def write_assets(folder: Path, *, plots: bool = True) -> None:
    """Write the style sheet, scripts and icon of all pages, and the bundle from the Plotly package."""
    folder.mkdir(parents=True, exist_ok=True)
    for asset in files("provlab.report").joinpath("assets").iterdir():
        (folder / asset.name).write_bytes(asset.read_bytes())
    if plots:
        (folder / "plotly.min.js").write_text(
            get_plotlyjs(), encoding="utf-8", newline="\n"
        )
