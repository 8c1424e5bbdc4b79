"""Text for users: escaped untrusted text, suggested names, and installation advice.

Untrusted text comes from data files, stores, configs and labels. Stores keep it
unchanged, and displays escape it, so that no terminal, browser or spreadsheet
interprets it as a command.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""C0 and C1 without tab and newline, direction marks, line separators, and surrogates."""

_HIDDEN = re.compile(f"[{_CONTROLS}]")
_BREAKING = re.compile(rf"[\t\n{_CONTROLS}]")

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Beginnings of cells that spreadsheets treat as formulas, possibly after removing quotes."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


MODULES = {
    "lab": (
        "rich",
        "omegaconf",
        "hydra",
        "pandas",
        "pyarrow",
        "yaml",
        "pooch",
        "requests",
        "threadpoolctl",
    ),
    "report": ("matplotlib", "mpl_toolkits", "PIL", "plotly", "jinja2", "markupsafe"),
}
"""Modules of extras that are imported without first checking whether they are installed."""

MAKE_TARGETS = {"lab": "setup", "report": "setup-report"}


def explained(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that states what to install if a package of an extra is missing; other errors are unchanged."""
    module = (error.name or "").partition(".")[0]
    if module in MODULES["lab"]:
        message = (
            f"expected the packages of the laboratory, got no {module}; {to_install('lab')}. The library works "
            f"without them: from provsel.selectors import ..."
        )
    elif module in MODULES["report"]:
        message = f"expected the package {module} for figures, pages and images, got none; {to_install('report')}."
    else:
        return error
    return ModuleNotFoundError(message, name=error.name)


@contextmanager
def optional_figures() -> Iterator[None]:
    """Leave out figures and pages, with a warning, if their packages are missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if explained(error) is error:
            raise
        warnings.warn(
            f"figures and pages are left out, because packages are missing; {to_install('report')}.",
            stacklevel=3,
        )


def to_install(extra: str) -> str:
    """Return the command that installs an extra into this environment from the source of provsel."""
    checkout = Path(__file__).parents[3]
    pip = f"{shlex.quote(sys.executable)} -m pip install"
    if not (checkout / "pyproject.toml").is_file():
        return f"{pip} '{_installed_from()}[{extra}]'"
    if extra in MAKE_TARGETS and Path(sys.prefix) == checkout / ".venv":
        return f"make -C {shlex.quote(str(checkout))} {MAKE_TARGETS[extra]}"
    return f"{pip} -e '{checkout}[{extra}]'"


def _installed_from() -> str:
    """Return the folder or wheel that pip installed provsel from, or its name in the package index."""
    # slow to import, and each command imports this module
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        recorded = metadata.distribution("provsel").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        recorded = None
    if recorded is None:
        return "provsel"
    url = json.loads(recorded)["url"]
    path = Path(url2pathname(urlsplit(url).path))
    return (
        str(path) if url.startswith("file:") and path.exists() else "PATH_OF_THE_WHEEL"
    )


PAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")
"""Pattern of folder and file names of pages."""


def in_file_name(text: str) -> str:
    """Return the ASCII letters and digits of a text, with hyphens between them; empty if there are none."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")


def listed(names: Sequence[object], shown: int = 5) -> str:
    """Return the first names for a message, and the number of further names."""
    words = ", ".join(f"{name!s:.40}" for name in names[:shown])
    return f"{words} and {len(names) - shown} more" if len(names) > shown else words


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar known name, ignoring case, or None if none is similar."""
    by_form = {candidate.lower(): candidate for candidate in names}
    matches = difflib.get_close_matches(name.lower(), by_form, n=1)
    return by_form[matches[0]] if matches else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return the end of a message about an unknown name, such as "; did you mean 'leverage'?", or ""."""
    meant = nearest(name, names)
    return f"; did you mean {meant!r}?" if meant else ""


def counted_noun(n: int, noun: str) -> str:
    """Return a number with a noun in singular or plural, such as 1 file or 2 files."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def unknown_setting(part: str, name: str, settings: Iterable[str]) -> str:
    """Return the end of a message about an unknown setting, with the settings of the part of the config."""
    settings = [setting for setting in settings if not setting.startswith("_")]
    inside = [setting for setting in settings if setting.endswith(f".{name}")]
    near = inside[0] if inside else nearest(name, settings)
    path = near if part == "the config" else f"{part}.{near}"
    step = f"did you mean {path}?" if near else "leave it out."
    return f"unknown setting {name!r:.80}; settings of {part} are {', '.join(settings) or 'none':.600}; {step}"


def visible(text: str, backslash: str = "\\") -> str:
    r"""Return text with control characters escaped as `\x1b` and `\u202e`, except tabs and newlines.

    Parameters
    ----------
    text : str
    backslash : str
        Escape character; two backslashes for text inside JSON.
    """
    return _HIDDEN.sub(lambda match: backslash + _escape(match[0])[1:], text)


def visible_line(text: str) -> str:
    r"""Return text, such as a name, on one line, with all control characters escaped."""
    return _BREAKING.sub(lambda match: _escape(match[0]), text)


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def as_cell(text: str) -> str:
    """Return text with a single quote before anything that a spreadsheet would run; numbers are unchanged."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def from_cell(cell: str) -> str:
    """Return the original text of a cell made by `as_cell`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_text(frame: pd.DataFrame, numbers: Collection[str] = ()) -> str:
    """Return a DataFrame as CSV in which no text is a formula and control characters are escaped.

    `numbers` are columns that contain only numbers, possibly as strings such as "-inf".
    """
    import pandas as pd  # slow to import, and commands need only the other functions

    safe = frame.rename(columns=_cell)
    for place, kind in enumerate(frame.dtypes):
        if frame.columns[place] not in numbers and not pd.api.types.is_numeric_dtype(
            kind
        ):
            cells = [_cell(value) for value in frame.iloc[:, place].tolist()]
            safe.isetitem(place, pd.Series(cells, safe.index, dtype=object))
    return str(safe.to_csv(index=False, lineterminator="\n"))


def _cell(value: Any) -> Any:
    # pandas does not quote carriage returns, after which the text would become a
    # separate cell
    return as_cell(visible(value)) if isinstance(value, str) else value
