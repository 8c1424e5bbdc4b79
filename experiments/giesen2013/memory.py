"""Memory that training took, against the number of rows and of features, beside the lines that it should follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provlab.core.artefact import Entry
from provlab.core.tables import Traced
from provlab.report.figures.looks import looks
from provlab.report.figures.style import TWO_COLUMNS, legend_of, save_figure, style
from provsel.kernels.gaussian_blocks import is_kept

LOG_FACTOR = 8
"""l = 8 ln n in the paper's O((n + m) log n), which has no constant."""

COLUMNS = ["peak_memory", "file_bytes", "n_train", "n_features", "error"]
"""Columns of the records that `memory_summary` reads."""

REGENERATED, KEPT = "Lambda regenerated", "Lambda kept"


def line_megabytes(model: Mapping[str, Any], n: float, m: float) -> float:
    """Return what the compressed rows and Lambda or the result take for a compressed model's config; else NaN.

    8 (n + m) l bytes where Lambda is kept, shape (l, m); 8 n l + 8 m where it is regenerated.
    """
    if "n_components" not in model:
        return np.nan
    size = model["n_components"]
    return 8e-6 * ((n + m) * size if _keeps(model, m) else n * size + m)


def _keeps(model: Mapping[str, Any], m: float) -> bool:
    return is_kept(model.get("store", "auto"), model["n_components"], int(m))


def paper_megabytes(n: Any, m: Any) -> Any:
    """Return the paper's line, 8 (n + m) l bytes with l = LOG_FACTOR ln n."""
    return 8e-6 * (np.asarray(n) + m) * LOG_FACTOR * np.log(n)


def memory_summary(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Return the peak memory in MB, the test error in %, MB over the line, and the size of the file in MB."""
    peak = trials["peak_memory"].astype(float) / 1e6
    n, m = trials["n_train"].iloc[0], trials["n_features"].iloc[0]
    numbers = {
        entry.column: peak,
        f"{entry.column}, error": 100 * trials["error"],
        f"{entry.column}, ratio to the line": peak / line_megabytes(entry.cell.model, n, m),
        f"{entry.column}, file": trials["file_bytes"].astype(float) / 1e6,
    }
    return [{"column": name, "value": found.mean(), "sd": found.std(ddof=1)} for name, found in numbers.items()]


def memory_points(entries: Iterable[Entry], trials: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each entry with trials: means over draws, in MB and %.

    Parameters
    ----------
    entries : iterable of Entry
    trials : DataFrame
        As `Rendering.trials` returns for `COLUMNS`.

    Returns
    -------
    DataFrame
        dataset, row, column; kind: KEPT, REGENERATED, or the row for a model without l; l (NaN there), n, m, measured,
        line, file, error.
    """
    groups = dict(iter(trials.groupby(["row", "column", "dataset"]))) if len(trials) else {}
    lines = []
    for entry in entries:
        found = groups.get((entry.row, entry.column, entry.dataset))
        if found is None:
            continue
        model, n, m = entry.cell.model, int(found["n_train"].iloc[0]), int(found["n_features"].iloc[0])
        kind = (KEPT if _keeps(model, m) else REGENERATED) if "n_components" in model else entry.row
        lines.append({
            "dataset": entry.dataset, "row": entry.row, "column": entry.column,
            "kind": kind, "l": model.get("n_components", np.nan), "n": n, "m": m,
            "measured": found["peak_memory"].astype(float).mean() / 1e6, "line": line_megabytes(model, n, m),
            "file": found["file_bytes"].astype(float).mean() / 1e6, "error": 100 * found["error"].mean(),
        })  # fmt: skip
    names = ["dataset", "row", "column", "kind", "l", "n", "m", "measured", "line", "file", "error"]
    return pd.DataFrame(lines, columns=names)


def memory_rows(points: pd.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    """Return the lines of a table: data set and size of its file, row, and for each l MB, times the line, error.

    A model without l has one number, in the first column that the data set has.
    """
    rows = []
    for (dataset, row), found in points.groupby(["dataset", "row"], sort=False):
        size = found["file"].iloc[0]
        texts, written = [], False
        for column in columns:
            part = found[found["column"] == column]
            again = written and part["l"].isna().all()
            texts.append("" if part.empty or again else Traced(_cell(part.iloc[0]), row, column, dataset))
            written = written or not part.empty
        rows.append([dataset, f"{size:.0f}", row, *texts])
    return rows


def _cell(point: pd.Series) -> str:
    parts = [] if np.isnan(point["line"]) else [f"{point['measured'] / point['line']:.1f} x"]
    parts.append(f"{point['error']:.1f} %")
    return f"{point['measured']:.1f} ({', '.join(parts)})"


def draw_memory(points: pd.DataFrame, stem: Path, title: str) -> list[Path]:
    """Draw memory against n and against m, log-log: Lambda kept above, regenerated below.

    Parameters
    ----------
    points : DataFrame
        See `memory_points`. Against n are drawn those of the m with the most n, and the other way round; a model
        without l in all panels. Data sets of neither m nor n are in the table only.
    stem : path
        Where the files go, without suffix.
    title : str

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    points = points.dropna(subset=["measured"])
    sizes = sorted(points["l"].dropna().unique())
    others = [kind for kind in points["kind"].unique() if kind not in (KEPT, REGENERATED)]
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 5.2), layout="constrained")
        panels = figure.subplots(2, 2, sharex="col", sharey=True)
        for panel_row, kind in zip(panels, (KEPT, REGENERATED), strict=True):
            for panel, (x, fixed) in zip(panel_row, (("n", "m"), ("m", "n")), strict=True):
                _draw_panel(panel, points, kind, x, fixed, sizes, others)
            panel_row[0].set_ylabel(f"{kind}: memory (MB)")
        for panel, text in zip(panels[1], ("rows n", "features m"), strict=True):
            panel.set_xlabel(text)
        # column by column: what was measured and its line below each other
        order = [f"l = {size:.0f}, {what}" for size in sizes for what in ("measured", "line")]
        legend_of(figure, panels.flat, [*order, *others], ncols=4)
        return save_figure(figure, stem, title)


def _draw_panel(panel: Axes, points: pd.DataFrame, kind: str, x: str, fixed: str, sizes: Any, others: Any) -> None:
    if points.empty:
        return
    value = points.groupby(fixed)[x].nunique().idxmax()
    found = points[points[fixed] == value].sort_values(x)
    # a size is no method: it takes what is left of the looks
    look = looks([*(f"l = {size:.0f}" for size in sizes), *others])
    for size in sizes:
        part = found[(found["kind"] == kind) & (found["l"] == size)]
        if part.empty:
            continue
        name = f"l = {size:.0f}"
        color = look[name].colour
        measured = {"color": color, "label": f"{name}, measured", "markersize": 3.5}
        panel.plot(part[x], part["measured"], look[name].marker + "-", **measured)
        panel.plot(part[x], part["line"], "--", color=color, label=f"{name}, line")
    for other in others:
        part = found[found["kind"] == other].drop_duplicates([x])
        if len(part):
            style_of = {"color": look[other].colour, "label": other, "markersize": 4}
            panel.plot(part[x], part["measured"], look[other].marker + "-", **style_of)
    values = np.array(sorted(found[x].unique()), dtype=float)
    n, m = (values, float(value)) if x == "n" else (float(value), values)
    paper = f"8 (n + m) l, l = {LOG_FACTOR} ln n"
    panel.plot(values, paper_megabytes(n, m), ":", color="0.4", linewidth=1.2, label=paper)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(values, [f"{number:,.0f}" for number in values])
    panel.minorticks_off()
    panel.set_title(f"{fixed} = {value:,}")
    panel.grid(axis="y")
