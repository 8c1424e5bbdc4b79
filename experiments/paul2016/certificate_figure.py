"""Measured certificates beside the bounds of the theorems, drawn over all folds."""

from __future__ import annotations

from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb
from matplotlib.figure import Figure

from provlab.report.figures.looks import Look, looks
from provlab.report.figures.style import TWO_COLUMNS, legend_of, save_figure, style

CERTIFICATES = {
    "spectral": "Lemmas 1-2",
    "margin": "Theorems 1-4",
    "soft": "equation 11",
    "radius": "Theorem 5",
}
"""Certificates in a record, and where the paper promises what they check."""

MEASURES = ("spectral_error", "margin_ratio", "radius_ratio")
TRIAL_COLUMNS = [
    "rank",
    "n_selected",
    *(f"certificate_{name}" for name in (*CERTIFICATES, *MEASURES)),
]
"""Columns of the records that this module reads."""

RATIOS = ("margin", "radius")

HEXAGONS = (40, 18)
"""Across and up, in a panel."""

PALEST, DARKEST = 0.25, 0.45
"""Shares of a method's colour in a hexagon of one trial, and of its brightness in that of the most."""


def draw_certificates(
    trials: pd.DataFrame, settings: dict[str, list[str]], stem: Path, title: str
) -> list[Path]:
    """Draw ||E||_2, margin and radius ratios of all trials against their bounds, counted in hexagons.

    A row of panels is a setting and a method, in its colour, as two methods in one
    panel would hide each other.

    Parameters
    ----------
    trials : DataFrame
        `row` (method), `column`, `TRIAL_COLUMNS`, and `r`, the number of steps or
        draws.
    settings : dict
        Name of a setting, and the artefact's columns that belong to it.
    stem : path
    title : str

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    look = looks(trials["row"])
    lines = list(product(settings, look))
    n_lines = max(len(lines), 1)  # one empty line where nothing is stored
    with style():
        figure = Figure(
            figsize=(TWO_COLUMNS, 0.8 + 1.6 * n_lines), layout="constrained"
        )
        panels = figure.subplots(n_lines, 3, squeeze=False)
        bins_of_lines = []
        for line, (setting, method) in zip(panels, lines, strict=False):
            part = trials[
                (trials["row"] == method) & trials["column"].isin(settings[setting])
            ]
            shades = _shades(look[method])
            bins = [
                _spectral(line[0], part, shades),
                *map(partial(_ratio, part, shades), line[1:], RATIOS),
            ]
            bins_of_lines.append(
                [hexagons for hexagons in bins if hexagons is not None]
            )
            line[0].set_ylabel(f"{setting}\n{method}: " + r"$\|E\|_2$")
        most = 10.0
        for hexagons in chain(*bins_of_lines):
            most = max(most, float(hexagons.get_array().max()))
        # one scale of counts, so that all panels can be compared
        for hexagons in chain(*bins_of_lines):
            hexagons.set_norm(LogNorm(1, most))
        for line, bins in zip(panels, bins_of_lines, strict=False):
            if bins:
                figure.colorbar(
                    bins[0], ax=list(line), label="trials", aspect=12, pad=0.01
                )
        legend_of(figure, panels.flat)
        return save_figure(figure, stem, title)


def _shades(look: Look) -> LinearSegmentedColormap:
    """Return the colour of a method from pale to full."""
    full = np.array(to_rgb(look.colour))
    return LinearSegmentedColormap.from_list(
        "shades", [1 - PALEST * (1 - full), full, DARKEST * full]
    )


def _spectral(
    panel: Axes, trials: pd.DataFrame, shades: LinearSegmentedColormap
) -> PolyCollection | None:
    x = trials["rank"].astype(float) / trials["r"]
    drawn = _bins(panel, x, trials["certificate_spectral_error"], shades)
    line = np.linspace(0, max(1.0, float(x.max()) if len(x) else 0.0), 200)
    panel.plot(
        line, 3 * np.sqrt(line), color="black", label=r"bound (of $\|E\|_2$: for BSS)"
    )
    panel.axhline(
        0.5,
        color="0.5",
        linestyle=":",
        label=r"$\|E\|_2=1/2$: above it no margin bound",
    )
    panel.set_xlabel(r"rank / $r$")
    panel.set_ylim(bottom=0)
    return drawn


def _ratio(
    trials: pd.DataFrame, shades: LinearSegmentedColormap, panel: Axes, which: str
) -> PolyCollection | None:
    error, ratio = (
        trials["certificate_spectral_error"],
        trials[f"certificate_{which}_ratio"],
    )
    panel.set_xlabel(r"$\|E\|_2$")
    if not ratio.notna().any():
        panel.set_axis_off()
        panel.text(
            0.5,
            0.5,
            f"{which}: not stated\nfor this setting",
            ha="center",
            va="center",
            color="0.4",
        )
        return None
    drawn = _bins(panel, error, ratio, shades)
    top = float(error.max())
    if which == "margin":
        x = np.linspace(0, 0.5, 100)
        panel.plot(x, 1 - x / (1 - x), color="black")
        panel.axvline(0.5, color="0.5", linestyle=":")
        panel.set_xlim(0, max(1.0, top * 1.02))
    else:
        x = np.linspace(0, max(1.0, top), 2)
        panel.plot(x, 1 + x, color="black")
    panel.set_ylabel(rf"{which}$^2$ after / before")
    panel.set_ylim(bottom=0)
    return drawn


def _bins(
    panel: Axes, x: pd.Series, y: pd.Series, shades: LinearSegmentedColormap
) -> PolyCollection | None:
    """Draw how many trials fall into each hexagon: a hundred thousand points hide each other, and open in no reader."""
    points = pd.DataFrame({"x": x, "y": y}).dropna().astype(float)
    if points.empty:
        return None
    options: dict[str, Any] = {
        "gridsize": HEXAGONS,
        "mincnt": 1,
        "linewidths": 0.1,
        "rasterized": True,
    }
    return panel.hexbin(points["x"], points["y"], cmap=shades, **options)
