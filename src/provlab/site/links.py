"""Names of files and anchors of the report: made from untrusted strings, safe, and different for different strings."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import quote

from provlab.identity.keys import digest
from provlab.site.model import Report

SLUG_LENGTH = 48
"""Characters of a name that stay readable in a file name; its hash tells names apart."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")


def slug(text: str) -> str:
    """Return the ascii letters and digits of a text with dashes between them, at most `SLUG_LENGTH` long; may be ""."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:SLUG_LENGTH].strip("-")


def trace_href(artefact: str, row: str, column: str, dataset: str = "") -> str:
    """Return the page of the trace of a row and column, at a data set where one is named.

    Parameters
    ----------
    artefact : str
        paper/artefact.
    row, column, dataset : str
        Exact names; two that differ have different pages or anchors, whatever characters they consist of.

    Returns
    -------
    str
        Relative to the folder of the report.
    """
    name = "-".join(part for part in (slug(row), slug(column), digest([artefact, row, column])[:12]) if part)
    anchor = f"#{dataset_anchor(dataset)}" if dataset else ""
    return f"trace/{artefact.split('/')[-1]}/{name}.html{anchor}"


def dataset_anchor(dataset: str) -> str:
    """Return the id of a data set's section on a trace page."""
    return "-".join(part for part in ("d", slug(dataset), digest(dataset)[:10]) if part)


def check_pages(report: Report) -> None:
    """Check that the names of papers, artefacts and claims can be names of files, each of another one.

    Raises
    ------
    ValueError
        Names what is wrong. Nothing untrusted becomes part of a path but through here or `slug`.
    """
    named = [("paper", paper.name, paper.href) for paper in report.papers]
    for page in (page for paper in report.papers for page in paper.artefacts):
        if page.name.count("/") != 1:
            raise ValueError(f"artefact {page.name!r}: expected paper/artefact with one '/'; rename it.")
        named.append(("artefact", page.short, page.href))
    named += [("claim", claim.id, claim.href) for paper in report.papers for claim in paper.claims]
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
