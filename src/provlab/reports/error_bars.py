"""Test error per data set with error bars, the papers' comparison of methods over many data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from provlab.reports.figures import TWO_COLUMNS, legend_of, save_titled, style
from provlab.reports.looks import looks
from provlab.reports.tables import Traced


def draw_error_bars(frame: pd.DataFrame, stem: Path, title: str) -> list[Path]:
    """Draw one panel a column of the artefact: data sets along x, a marker and a bar of one sd a method.

    Parameters
    ----------
    frame : DataFrame
        Long form, see `provlab.frames`; values in percent.
    stem : path
        Where the files go, without suffix.
    title : str

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    rows, columns = list(frame["row"].unique()), frame["column"].unique()
    look = looks(rows)
    datasets = _by_error(frame)
    place = {name: k for k, name in enumerate(datasets)}
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.6 + 2.0 * len(columns)), layout="constrained")
        panels = np.atleast_1d(figure.subplots(len(columns), 1, sharex=True, sharey=True))
        for panel, column in zip(panels, columns, strict=True):
            for k, row in enumerate(rows):
                part = frame[(frame["row"] == row) & (frame["column"] == column)].dropna(subset=["value"])
                if part.empty:
                    continue
                shift = 0.6 * ((k + 0.5) / len(rows) - 0.5)
                x = [place[name] + 1 + shift for name in part["dataset"]]
                y, spread = part["value"].astype(float), part["sd"].astype(float)
                # bars stay pale, so that hundreds of them do not hide the markers
                panel.vlines(x, y - spread, y + spread, color=look[row].colour, linewidth=0.4, alpha=0.35)
                size = {"markersize": 2.2, "markeredgewidth": 0.6}
                panel.plot(x, y, look[row].marker, color=look[row].colour, label=row, **size)
            panel.set_ylabel(f"test error (%)\n{column}")
            panel.set_xlim(0, len(datasets) + 1)
            panel.set_ylim(bottom=0)
            panel.grid(axis="y", linewidth=0.3, color="0.85")
            panel.set_axisbelow(True)
        panels[-1].set_xlabel("data set, by the mean error of all methods (names in the CSV file)")
        legend_of(figure, panels, rows)
        return save_titled(figure, stem, title)


def _by_error(frame: pd.DataFrame) -> list[str]:
    """Return the data sets by increasing mean error of all methods; an order by name would be no order to the eye."""
    means = frame.assign(value=frame["value"].astype(float)).groupby("dataset")["value"].mean()
    return [str(name) for name in means.sort_values(kind="stable").index]


def mean_over_datasets(frame: pd.DataFrame, baseline: str) -> list[list[str]]:
    """Return table rows: mean error (mean sd) over data sets, and on how many sets a row beats the baseline row.

    Where the baseline was left out of the artefact, only the means.
    """
    columns = list(frame["column"].unique())
    values = frame.assign(value=frame["value"].astype(float)).pivot(index="dataset", columns=["row", "column"])
    rows = []
    for row in frame["row"].unique():
        means = [values["value"][row, column] for column in columns]
        spreads = [values["sd"][row, column] for column in columns]
        texts = [_mean_text(m, s) for m, s in zip(means, spreads, strict=True)]
        rows.append([row, *(Traced(text, row, column) for text, column in zip(texts, columns, strict=True))])
    for row in frame["row"].unique():
        if row != baseline and baseline in set(frame["row"]):
            wins = [_wins(values["value"][row, column], values["value"][baseline, column]) for column in columns]
            rows.append([f"{row}: sets better than {baseline}", *wins])
    return rows


def _mean_text(means: pd.Series, spreads: pd.Series) -> str:
    return "" if means.isna().all() else f"{means.mean():.2f} ({spreads.mean():.2f})"


def _wins(values: pd.Series, baseline: pd.Series) -> str:
    both = values.notna() & baseline.notna()
    return f"{int((values[both] < baseline[both]).sum())} of {int(both.sum())}"
