"""The index of the reference: a line for each public name of its pages, with the first sentence of its docstring."""

from __future__ import annotations

import re
from pathlib import Path

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.M | re.S)
KEPT = re.compile(
    r"^(?P<marks>#+) (?P<title>[^\n]+)$|^```\{eval-rst\}\n(?P<block>.*?)^```",
    re.M | re.S,
)


def index_lines() -> tuple[list[str], list[Path]]:
    """Return headings and tables of all pages of the reference, and the paths of the pages.

    The title of a page links to it. Its tables are copied without generating pages for
    their entries.
    """
    text = (REFERENCE / "index.md").read_text(encoding="utf-8")
    [entries] = TOCTREE.findall(text)
    names = [
        line for line in entries.splitlines() if line.startswith(("provsel", "provlab"))
    ]
    lines: list[str] = []
    paths = []
    for name in names:
        path = REFERENCE / f"{name}.md"
        paths.append(path)
        for part in KEPT.finditer(path.read_text(encoding="utf-8")):
            if part["block"] is None:
                title = (
                    f"[{part['title']}]({name}.md)"
                    if part["marks"] == "#"
                    else part["title"]
                )
                lines += [f"#{part['marks']} {title}", ""]
            elif ".. autosummary::" in part["block"]:
                table = re.sub(
                    r"^   :toctree: .*\n",
                    "",
                    part["block"].partition(".. autodata::")[0],
                    flags=re.M,
                )
                lines += ["```{eval-rst}", table.rstrip(), "```", ""]
    return lines, paths
