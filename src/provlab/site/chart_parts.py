"""What the interactive plots share: Plotly's JSON as plain dicts, since hundreds are made.

A spec is {"selects": labels, "views": [{"keys", "data", "layout"}], "layout"}: one view is shown at a time, chosen by
its keys. Fonts and the colours of paper and grid are the theme's; assets/report.js adds them. Plotly's graph objects
check each kind of plot in the tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from math import isfinite
from typing import Any

Spec = dict[str, Any]

DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot"}
"""Plotly's names of `provlab.figures.looks.LINES`."""


def plain(text: str) -> str:
    """Return untrusted text as Plotly shows it as it is: Plotly reads tags and links in names and labels."""
    return escape(text, quote=False)


def short(value: float) -> float | None:
    """Return a number with six significant digits, or None where JSON has no such number."""
    return float(f"{value:.6g}") if isfinite(value) else None


def unique(items: Iterable[Any]) -> list[Any]:
    """Return items once each, in their order."""
    return list(dict.fromkeys(items))
