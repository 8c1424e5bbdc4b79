"""Jinja2 as the report uses it: everything is escaped, an unknown name is an error, and addresses are safe."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from provlab.figures.looks import kind_of
from provlab.identity.keys import canonical_json, digest
from provlab.messages import visible
from provlab.project import tool

MISSING = "–"
"""Stands where there is no number."""

OWN = ("report.css", "report.js", "theme.js", "icon.svg")
"""Files of the folder assets; beside them stands Plotly's bundle, as its package ships it."""

SLUG_LENGTH = 48
"""Characters of a name that stay readable in a file name; its hash tells names apart."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")


@cache
def environment() -> Environment:
    """Return the environment, with its templates compiled at first use and kept."""
    made = Environment(
        loader=PackageLoader("provlab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        num=number, count=count, size=size, local=local_href, script_json=script_json, canonical=canonical_json,
        anchor=dataset_anchor, value=value, step=step, like=like, pattern=pattern, when=when, kind=kind_of,
        listed=listed, markup=Markup,
    )  # fmt: skip
    made.globals.update(MISSING=MISSING, NAN=math.nan, nan=math.isnan, tool=tool)
    return made


@dataclass(frozen=True)
class Site:
    """What all pages share.

    Attributes
    ----------
    results, folder : path
        Results folder, which commands name; and where the pages go.
    overrides : tuple of str
        The user's settings: states and verdicts are about these.
    made : str
        When the report was made, UTC.
    version : str
        Of provsel.
    n_trials : int
        In the store.
    papers : tuple of str
    """

    results: Path
    folder: Path
    overrides: tuple[str, ...] = ()
    made: str = ""
    version: str = ""
    n_trials: int = 0
    papers: tuple[str, ...] = ()

    def write(
        self, href: str, template: str, title: str, section: str, crumb: str = "", *,
        above: Sequence[tuple[str, str]] = (), plots: bool = False, **content: Any,
    ) -> None:  # fmt: skip
        """Write a page.

        Parameters
        ----------
        href, template, title : str
        section : str
            The part of the navigation that it belongs to: a paper, or "index", "claims", "environment".
        crumb : str
            Its name in the breadcrumbs, which go from the overview through its paper and `above`.
        above : sequence of (text, href)
        plots : bool
            Load Plotly.
        content
            What the template shows.
        """
        paper = [(section, f"papers/{section}.html")] if section in self.papers else []
        crumbs = [("Overview", "index.html"), *paper, *above, (crumb, "")] if crumb else []
        context = {
            **content, "site": self, "title": title, "crumbs": crumbs, "section": section, "plots": plots,
            "root": "../" * href.count("/"), "style_ids": style_ids() if plots else (),
        }  # fmt: skip
        path = self.folder / href
        path.parent.mkdir(parents=True, exist_ok=True)
        text = environment().get_template(template).render(context)
        path.write_text(visible(text), encoding="utf-8", newline="\n")


# ---- Words


def number(x: float, digits: int = 4) -> str:
    """Return a number with `digits` significant digits, or a dash for NaN."""
    if math.isnan(x):
        return MISSING
    text = f"{x:.{digits}g}"
    if "e" in text and 1e-4 <= abs(x) < 1e9:
        text = f"{x:.0f}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def like(x: float, text: str) -> str:
    """Return a number with as many decimals as `text` has, or with four digits where that is no number."""
    found = re.fullmatch(r"[-+\N{MINUS SIGN}]?[\d,]+(?:\.(\d+))?", text)
    if found is None or not math.isfinite(x):
        return number(x)
    digits = len(found[1] or "")
    shown = f"{round(x, digits) + 0.0:,.{digits}f}"  # adding 0 makes "-0.00" "0.00"
    return shown.replace("-", "\N{MINUS SIGN}", 1)


def pattern(ends: Iterable[float]) -> str:
    """Return for `like` a number with the decimals that give the larger of two four digits."""
    size = max(map(abs, ends))
    if not (math.isfinite(size) and 1e-4 <= size < 1e7):
        return ""
    return f"{0:.{max(0, 3 - math.floor(math.log10(size)))}f}"


def value(x: float) -> Markup:
    """Return the attribute by which a script sorts a cell, or nothing for NaN: empty cells come last."""
    return Markup("") if math.isnan(x) else Markup(f' data-value="{x:.12g}"')


def count(n: int) -> str:
    """Return an integer with commas between thousands."""
    return f"{n:,}"


def size(n: int) -> str:
    """Return a file size in bytes, kB or MB."""
    if n < 1000:
        return f"{n} bytes"
    return f"{n / 1000:.0f} kB" if n < 1e6 else f"{n / 1e6:.1f} MB"


def step(standard_errors: float) -> tuple[str, str]:
    """Return in which of three steps a difference lies: a class of the style sheet, and words."""
    if math.isnan(standard_errors):
        return "", ""
    distance = abs(standard_errors)
    if distance < 2:
        return "near", "below 2"
    return ("apart", "2 to 4") if distance <= 4 else ("far", "above 4")


def when(text: str) -> str:
    """Return a time in UTC as people write it; other text as it is."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(\.\d+)?)?(Z|\+00:00)", text)
    return f"{found[1]} {found[2]} UTC" if found else text


def listed(value: Any) -> str:
    """Return a value as a text; a list, such as of BLAS libraries or of columns, becomes one."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def settings(config: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Return a nested config as flat (dotted name, value) pairs, in the order in which they stand."""
    if isinstance(config, dict):
        pairs = [pair for name, inner in config.items() for pair in settings(inner, f"{prefix}{name}.")]
        return pairs or ([(prefix[:-1], "{}")] if prefix else [])
    if isinstance(config, str):
        return [(prefix[:-1], config)]
    return [(prefix[:-1], json.dumps(config, ensure_ascii=False, default=str))]


def script_json(content: Any) -> Markup:
    """Return JSON for a script element: nothing in it can end the element."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(visible(text, backslash="\\\\"))  # a chart shows them as the text of a page does


# ---- Addresses: made from untrusted strings, safe, and different for different strings


def slug(text: str) -> str:
    """Return the ascii letters and digits of a text with dashes between them, at most `SLUG_LENGTH` long; may be ""."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:SLUG_LENGTH].strip("-")


def trace_href(artefact: str, row: str, column: str, dataset: str = "") -> str:
    """Return the page of the trace of a row and column, at a data set where one is named; relative to the report.

    Exact names that differ have different pages or anchors, whatever characters they consist of.
    """
    name = "-".join(part for part in (slug(row), slug(column), digest([artefact, row, column])[:12]) if part)
    anchor = f"#{dataset_anchor(dataset)}" if dataset else ""
    return f"trace/{artefact.split('/')[-1]}/{name}.html{anchor}"


def dataset_anchor(dataset: str) -> str:
    """Return the id of a data set's section on a trace page."""
    return "-".join(part for part in ("d", slug(dataset), digest(dataset)[:10]) if part)


def check_names(papers: Iterable[str], artefacts: Iterable[str], claims: Iterable[str]) -> None:
    """Check that the names of papers, artefacts and claims can be names of files, each of another one.

    Raises
    ------
    ValueError
        Names what is wrong. Nothing untrusted becomes part of a path but through here or `slug`.
    """
    named = [("paper", name, f"papers/{name}.html") for name in papers]
    for name in artefacts:
        if name.count("/") != 1:
            raise ValueError(f"artefact {name!r}: expected paper/artefact with one '/'; rename it.")
        named.append(("artefact", name.split("/")[1], f"artefacts/{name.split('/')[1]}.html"))
    named += [("claim", name, f"claims/{name}.html") for name in claims]
    seen = {"claims/index.html"}
    for kind, name, href in named:
        if not _NAME.fullmatch(name) or ".." in name:
            raise ValueError(
                f"{kind} {name!r}: expected a name of letters, digits, '.', '_' and '-' that starts with a letter or "
                "digit, at most 150 long, since it names a page; rename it."
            )
        if href.lower() in seen:  # some file systems do not tell cases apart
            raise ValueError(f"{kind} {name!r}: expected each page once, got {href} twice; rename one.")
        seen.add(href.lower())


def local_href(href: str) -> str:
    """Return a relative path of the report as it stands in an attribute, with "%20" for a space.

    Raises
    ------
    ValueError
        For an address, an absolute path, or one that leaves the report.
    """
    path, _, fragment = href.partition("#")
    if not path or "\\" in path or path.startswith("/") or ":" in path or ".." in PurePosixPath(path).parts:
        raise ValueError(f"link {href!r}: expected a relative path below the report's folder; correct who made it.")
    return quote(path) + (f"#{quote(fragment)}" if fragment else "")


# ---- Files that all pages share


@cache
def style_ids() -> tuple[str, ...]:
    """Return ids of style sheets that Plotly's bundle adds for its maps, unless an element has the id.

    The pages have no maps, and their policy forbids style sheets in a page: with these ids taken nothing is tried.
    """
    return tuple(dict.fromkeys(re.findall(r'getElementById\("([0-9a-f]{64})"\)', _bundle())))


def write_assets(folder: Path) -> None:
    """Write the style sheet, scripts and icon of all pages."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {name: files("provlab.report").joinpath("assets", name).read_text(encoding="utf-8") for name in OWN}
    for name, text in {**contents, "plotly.min.js": _bundle()}.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


@cache
def _bundle() -> str:
    # Imported here: other commands need not wait for it.
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    return str(get_plotlyjs())
