"""Measured certificates beside the bounds of the theorems, drawn over all folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provlab.reports.figures import MARKERS, PALETTE, TWO_COLUMNS, legend_below, save_titled, style

CERTIFICATES = {"spectral": "Lemmas 1-2", "margin": "Theorems 1-4", "soft": "equation 11", "radius": "Theorem 5"}
"""Certificates in a record, and where the paper promises what they check."""

TRIAL_COLUMNS = [
    "rank",
    "n_selected",
    *(f"certificate_{name}" for name in CERTIFICATES),
    *(f"certificate_{name}" for name in ("spectral_error", "margin_ratio", "radius_ratio")),
]
"""Columns of the records that this module reads."""


def draw_certificates(trials: pd.DataFrame, settings: dict[str, list[str]], stem: Path, title: str) -> list[Path]:
    """Draw ||E||_2, margin and radius ratios of all trials against their bounds, a row of panels a setting.

    Parameters
    ----------
    trials : DataFrame
        `row` (method), `column`, `TRIAL_COLUMNS`, and `r`, the number of steps or draws.
    settings : dict
        Name of a setting, and the artefact's columns that belong to it.
    stem : path
    title : str

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    methods = list(trials["row"].unique())
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.7 + 2.1 * len(settings)), layout="constrained")
        panels = figure.subplots(len(settings), 3, squeeze=False)
        for line, (setting, columns) in zip(panels, settings.items(), strict=True):
            found = trials[trials["column"].isin(columns)]
            _spectral(line[0], found, methods, setting)
            _ratio(line[1], found, methods, "margin")
            _ratio(line[2], found, methods, "radius")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        legend_below(figure, handles, labels)
        return save_titled(figure, stem, title)


def _spectral(panel: Axes, trials: pd.DataFrame, methods: list[str], setting: str) -> None:
    _points(panel, trials["rank"] / trials["r"], trials["certificate_spectral_error"], trials["row"], methods)
    x = np.linspace(0, max(1.0, float((trials["rank"] / trials["r"]).max() or 0)), 200)
    panel.plot(x, 3 * np.sqrt(x), color="black", label=r"bound (of $\|E\|_2$: for BSS)")
    panel.axhline(0.5, color="0.5", linestyle=":", label=r"$\|E\|_2=1/2$: above it no margin bound")
    panel.set_xlabel(r"rank / $r$")
    panel.set_ylabel(f"{setting}\n" + r"$\|E\|_2$")
    panel.set_ylim(bottom=0)


def _ratio(panel: Axes, trials: pd.DataFrame, methods: list[str], which: str) -> None:
    error, ratio = trials["certificate_spectral_error"], trials[f"certificate_{which}_ratio"]
    panel.set_xlabel(r"$\|E\|_2$")
    if not ratio.notna().any():
        panel.set_axis_off()
        panel.text(0.5, 0.5, f"{which}: not stated\nfor this setting", ha="center", va="center", color="0.4")
        return
    _points(panel, error, ratio, trials["row"], methods)
    top = float(error.max())
    if which == "margin":
        x = np.linspace(0, 0.5, 100)
        panel.plot(x, 1 - x / (1 - x), color="black")
        panel.axvline(0.5, color="0.5", linestyle=":")
        panel.set_ylabel(r"margin$^2$ after / before")
        panel.set_xlim(0, max(1.0, top * 1.02))
    else:
        x = np.linspace(0, max(1.0, top), 2)
        panel.plot(x, 1 + x, color="black")
        panel.set_ylabel(r"radius$^2$ after / before")
    panel.set_ylim(bottom=0)


def _points(panel: Axes, x: pd.Series, y: pd.Series, rows: pd.Series, methods: list[str]) -> None:
    """Draw one point a trial, as pixels: a vector file with a hundred thousand circles opens in no reader."""
    for k, method in enumerate(methods):
        chosen = rows == method
        look: dict[str, Any] = {"color": PALETTE[k], "marker": MARKERS[k], "s": 2.0, "linewidths": 0, "alpha": 0.25}
        look["zorder"] = 1 + (len(methods) - k) / 10  # the first method on top
        panel.scatter(x[chosen], y[chosen], rasterized=True, **look)
        panel.scatter([], [], label=method, **(look | {"s": 16.0, "alpha": 1.0}))
