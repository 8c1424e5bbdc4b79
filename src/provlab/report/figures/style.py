"""One style for all figures, and saving them so that the same numbers give the same bytes."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provsel.files import replacing

ONE_COLUMN, TWO_COLUMNS = 3.4, 7.0
"""Widths in inches."""

ON_A_PAGE = 4.8
"""Width of one panel, whose letters can be read on a telephone."""

TITLE_WIDTH = 110
"""Characters of a title in one line of two columns."""

_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],  # an SVG names all of them at each text
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "grid.linewidth": 0.3,
    "grid.color": "0.85",
    "lines.linewidth": 0.8,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "svg.hashsalt": "provsel",  # ids in an SVG are random without it
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}

METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}
"""What a format would say of the time and the version that wrote it."""

FORMATS = tuple(METADATA)

_formats: ContextVar[tuple[str, ...]] = ContextVar("formats", default=FORMATS)


@contextmanager
def only_formats(*kinds: str) -> Iterator[None]:
    """Save figures in some of `FORMATS` only."""
    token = _formats.set(kinds)
    try:
        yield
    finally:
        _formats.reset(token)


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the project, whatever the user's matplotlib settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def legend_of(
    figure: Figure, panels: Iterable[Axes], order: Sequence[str] = (), ncols: int = 0, room: float = 0.73
) -> None:
    """Put a legend of what the panels show below them: each label once, none without a drawing.

    It has as many columns as the width of the figure has room for. The figure grows where it is higher than `room`.

    Parameters
    ----------
    figure : Figure
    panels : iterable of Axes
        Whose labelled lines and points have an entry.
    order : sequence of str, optional
        Labels, as they should follow; others come after these.
    ncols : int, optional
        The most columns.
    room : float, optional
        Inches that the figure has for it: four lines of text take 0.73, two 0.38.
    """
    shown: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    labels = sorted(shown, key=lambda label: order.index(label) if label in order else len(order))
    for columns in range(ncols or max(len(labels), 1), 0, -1):
        legend = figure.legend([shown[label] for label in labels], labels, loc="outside lower center", ncols=columns)
        size = legend.get_window_extent()
        if columns == 1 or size.width <= figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + max(size.height / figure.dpi - room, 0.0))
            return
        legend.remove()


def draw_bars(panel: Axes, x: tuple[Any, Any], y: tuple[Any, Any], **look: Any) -> None:
    """Draw lines from (x[0], y[0]) to (x[1], y[1]) as one, which takes a quarter of the bytes of many in an SVG."""
    gap = np.full(len(x[0]), np.nan)
    panel.plot(
        np.column_stack([*x, gap]).ravel(), np.column_stack([*y, gap]).ravel(), "-", solid_capstyle="butt", **look
    )


def save_figure(figure: Figure, stem: Path, title: str = "") -> list[Path]:
    """Write `stem`.pdf, .png and .svg, or what `only_formats` asks for, each whole or not at all, without dates.

    Parameters
    ----------
    figure : Figure
    stem : path
        Where the files go, without suffix.
    title : str, optional
        Stands above the panels, in as many lines as the width needs.
    """
    if title:
        width = int(TITLE_WIDTH * figure.get_figwidth() / TWO_COLUMNS)
        figure.suptitle(textwrap.fill(title, width), fontsize=8)
    # One layout for all formats: it takes longer than drawing. It keeps everything inside the figure, whose width is
    # then that of the column it is made for; without one the figure is cut to what is drawn.
    layout = figure.get_layout_engine()
    box: Any = "tight" if layout is None else None
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine(None)  # "none" would draw once more a format
    paths = []
    for kind in _formats.get():
        paths.append(stem.with_name(f"{stem.name}.{kind}"))
        drawn = io.BytesIO()  # Matplotlib's PDF writer hides the error of a full disk behind one of zlib
        figure.savefig(drawn, format=kind, metadata=METADATA[kind], bbox_inches=box)
        with replacing(paths[-1]) as temporary:
            temporary.write_bytes(drawn.getvalue())
    return paths
