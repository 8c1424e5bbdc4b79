"""Files that all pages share: style sheet, scripts, icon, and Plotly's bundle as its package ships it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

OWN = ("report.css", "report.js", "theme.js", "icon.svg")

PLOTLY = "plotly.min.js"


@cache
def style_ids() -> tuple[str, ...]:
    """Return ids of style sheets that Plotly's bundle adds for its maps, unless an element has the id.

    The pages have no maps, and their policy forbids style sheets in a page: with these ids taken nothing is tried.
    """
    return tuple(dict.fromkeys(re.findall(r'getElementById\("([0-9a-f]{64})"\)', _bundle())))


def write_assets(folder: Path) -> list[Path]:
    """Write the shared files, and return their paths.

    Parameters
    ----------
    folder : Path
        Made when needed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = {name: files("provlab.site").joinpath("assets", name).read_text(encoding="utf-8") for name in OWN}
    contents[PLOTLY] = _bundle()
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in contents]


@cache
def _bundle() -> str:
    # Imported here: other commands need not wait for it.
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    return str(get_plotlyjs())
