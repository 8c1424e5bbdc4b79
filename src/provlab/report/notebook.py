"""Representation of a result in notebooks: sentences, then the figure, then the table."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def notebook_html(
    sentences: Iterable[str],
    draw: Callable[[], Figure],
    table: pd.DataFrame,
    notes: Iterable[str],
) -> str:
    """Return escaped HTML, without a figure if Matplotlib is missing.

    Parameters
    ----------
    sentences, notes : iterable of str
        Paragraphs above and below.
    draw : callable
        Returns the figure.
    table : DataFrame of str
    """
    first = _paragraphs(sentences)
    last = f'<div style="overflow-x: auto">{table.to_html()}</div>{_paragraphs(notes)}'
    try:
        figure = draw()
    except ModuleNotFoundError:  # Matplotlib belongs to the extra "report"
        return f"{first}{last}"
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg")
    svg = drawn.getvalue()
    return f"{first}{svg[svg.index('<svg') :]}{last}"


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)
