"""Common style of all figures, and reproducible saving: the same numbers give the same bytes."""

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
"""Width of a single panel whose text is readable on a phone, in inches."""

TITLE_WIDTH = 110
"""Characters per line of a title at a width of two columns."""

_STYLE: dict[Any, Any] = {
    "font.size": 8,
    # an SVG repeats this list at each text
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
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
    "svg.hashsalt": "provsel",  # without it, ids in an SVG are random
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}

METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
}
"""Metadata of each format that would state the time or a version, and is therefore left out."""

FORMATS = tuple(METADATA)

_formats: ContextVar[tuple[str, ...]] = ContextVar("formats", default=FORMATS)


@contextmanager
def only_formats(*kinds: str) -> Iterator[None]:
    """Save figures only in the given formats."""
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
    figure: Figure,
    panels: Iterable[Axes],
    order: Sequence[str] = (),
    ncols: int = 0,
    room: float = 0.73,
) -> None:
    """Add a legend below the panels, with each label once and only labels that are drawn.

    It has as many columns as fit into the width of the figure. The figure grows if the
    legend is higher than `room`.

    Parameters
    ----------
    figure : Figure
    panels : iterable of Axes
        Panels whose labelled lines and points get an entry.
    order : sequence of str, optional
        Order of the labels; other labels come last.
    ncols : int, optional
        Largest number of columns.
    room : float, optional
        Space for the legend in the figure, in inches. Four lines of text need 0.73, two
        lines 0.38.
    """
    shown: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    labels = sorted(
        shown, key=lambda label: order.index(label) if label in order else len(order)
    )
    for columns in range(ncols or max(len(labels), 1), 0, -1):
        legend = figure.legend(
            [shown[label] for label in labels],
            labels,
            loc="outside lower center",
            ncols=columns,
        )
        size = legend.get_window_extent()
        if columns == 1 or size.width <= figure.bbox.width:
            figure.set_figheight(
                figure.get_figheight() + max(size.height / figure.dpi - room, 0.0)
            )
            return
        legend.remove()


def draw_bars(panel: Axes, x: tuple[Any, Any], y: tuple[Any, Any], **look: Any) -> None:
    """Draw lines from (x[0], y[0]) to (x[1], y[1]) as one path, which needs a quarter of the bytes in an SVG."""
    gap = np.full(len(x[0]), np.nan)
    panel.plot(
        np.column_stack([*x, gap]).ravel(),
        np.column_stack([*y, gap]).ravel(),
        "-",
        solid_capstyle="butt",
        **look,
    )


def save_figure(figure: Figure, stem: Path, title: str = "") -> list[Path]:
    """Write `stem`.pdf, .png and .svg, or the formats of `only_formats`, atomically and without dates.

    Parameters
    ----------
    figure : Figure
    stem : path
        Where the files go, without suffix.
    title : str, optional
        Title above the panels, wrapped to the width of the figure.
    """
    if title:
        width = int(TITLE_WIDTH * figure.get_figwidth() / TWO_COLUMNS)
        figure.suptitle(textwrap.fill(title, width), fontsize=8)
    # All formats share one layout, because it takes longer than drawing. It keeps
    # everything inside the figure, so that the width is that of the column. Without a
    # layout the figure is cropped to its content.
    layout = figure.get_layout_engine()
    box: Any = "tight" if layout is None else None
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine(None)  # "none" would redraw for each format
    paths = []
    for kind in _formats.get():
        paths.append(stem.with_name(f"{stem.name}.{kind}"))
        # on a full disk Matplotlib's PDF writer would raise an error of zlib instead
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind, metadata=METADATA[kind], bbox_inches=box)
        with replacing(paths[-1]) as temporary:
            temporary.write_bytes(drawn.getvalue())
    return paths
