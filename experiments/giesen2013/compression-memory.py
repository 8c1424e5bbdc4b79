"""make reproduce-compression-memory | provsel reproduce giesen2013/compression-memory [protocol.draws=3].

Memory that training took, against the number of rows and of features, beside the lines
that it should follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from provlab.core.artefact import Entry
from provlab.core.frames import mean_lines
from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import Traced, write_tables
from provlab.report.figures.looks import Look, looks
from provlab.report.figures.style import TWO_COLUMNS, legend_of, save_figure, style
from provsel.kernels.gaussian_blocks import is_kept

LOG_FACTOR = 8
"""l = 8 ln n in the paper's O((n + m) log n), which has no constant."""

COLUMNS = ["peak_memory", "file_bytes", "n_train", "n_features", "error"]
"""Columns of the records that `summarise` reads."""

REGENERATED, KEPT = "Lambda regenerated", "Lambda kept"
NOTE = (
    "In parentheses: how many times the line, which is 8 (n + m) l bytes where Lambda is kept, 8 n l + 8 m where it is "
    "regenerated; and the test error in %. LIBLINEAR has no l. Measured is the growth of the resident memory from "
    "after the imports to its peak, in a process that only trains. It has a fixed part beside the line: two chunks of "
    "at most 1,024 rows and 2^18 non-zeros, some 3 MB each, and, of Lambda and of what is added up, 8 MB each or twice "
    "the compressed chunk. Rows have 100 non-zeros, in the dense data set all m."
)


def line_megabytes(model: Mapping[str, Any], n: float, m: float) -> float:
    """Return what the compressed rows and Lambda or the result take for a compressed model's config; else NaN.

    8 (n + m) l bytes where Lambda is kept, shape (l, m); 8 n l + 8 m where it is
    regenerated.
    """
    if "n_components" not in model:
        return np.nan
    size = model["n_components"]
    numbers = (n + m) * size if _keeps(model, m) else n * size + m
    return 8e-6 * numbers


def _keeps(model: Mapping[str, Any], m: float) -> bool:
    return is_kept(model.get("store", "auto"), model["n_components"], int(m))


def paper_megabytes(n: Any, m: Any) -> Any:
    """Return the paper's line, 8 (n + m) l bytes with l = LOG_FACTOR ln n."""
    return 8e-6 * (n + m) * LOG_FACTOR * np.log(n)


def summarise(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Return the peak memory in MB, the test error in %, MB over the line, and the size of the file in MB."""
    peak = trials["peak_memory"].astype(float) / 1e6
    line = line_megabytes(
        entry.cell.model, trials["n_train"].iloc[0], trials["n_features"].iloc[0]
    )
    numbers = {
        entry.column: peak,
        f"{entry.column}, error": 100 * trials["error"],
        f"{entry.column}, ratio to the line": peak / line,
        f"{entry.column}, file": trials["file_bytes"].astype(float) / 1e6,
    }
    return mean_lines(numbers)


def render(rendering: Rendering) -> str:
    artefact = rendering.artefact
    draws = max((cell.n_draws for cell in artefact.cells), default=0)
    recoveries = ", ".join(
        sorted(
            {
                cell.model["recovery"]
                for cell in artefact.cells
                if "recovery" in cell.model
            }
        )
    )
    how = f"Draws of Lambda: {draws}, of the data: 1; recovery: {recoveries}."
    points = memory_points(artefact.entries, rendering.trials(COLUMNS))
    sizes = list(artefact.config.artefact.columns)
    text = write_tables(
        rendering.tables,
        ["training rows", "file (MB)", "model", *(f"l = {size}" for size in sizes)],
        memory_rows(points, sizes),
        caption=f"{artefact.title}, in MB.",
        note=f"{rendering.note} {how} {NOTE}".strip(),
    )
    title = f"{artefact.title}: growth from after the imports to the peak; sparse rows. {how} {rendering.note}"
    return printed(
        text, draw_memory(points, rendering.figures, title.strip().rstrip("."))
    )


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
        dataset, row, column; kind: KEPT, REGENERATED, or the row for a model without l;
        l (NaN there), n, m, measured, line, file, error.
    """
    groups = (
        dict(iter(trials.groupby(["row", "column", "dataset"]))) if len(trials) else {}
    )
    lines = []
    for entry in entries:
        part = groups.get((entry.row, entry.column, entry.dataset))
        if part is None:
            continue
        model = entry.cell.model
        n, m = int(part["n_train"].iloc[0]), int(part["n_features"].iloc[0])
        kind = entry.row
        if "n_components" in model:
            kind = KEPT if _keeps(model, m) else REGENERATED
        lines.append({
            "dataset": entry.dataset, "row": entry.row, "column": entry.column,
            "kind": kind, "l": model.get("n_components", np.nan), "n": n, "m": m,
            "measured": part["peak_memory"].astype(float).mean() / 1e6, "line": line_megabytes(model, n, m),
            "file": part["file_bytes"].astype(float).mean() / 1e6, "error": 100 * part["error"].mean(),
        })  # fmt: skip
    names = [
        "dataset",
        "row",
        "column",
        "kind",
        "l",
        "n",
        "m",
        "measured",
        "line",
        "file",
        "error",
    ]
    return pd.DataFrame(lines, columns=names)


def memory_rows(points: pd.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    """Return the lines of a table: data set and size of its file, row, and for each l MB, times the line, error.

    A model without l has one number, in the first column that the data set has.
    """
    rows = []
    for (dataset, row), part in points.groupby(["dataset", "row"], sort=False):
        if part["l"].isna().all():
            part = part.iloc[:1]
        cells = dict.fromkeys(columns, "")
        for point in part.itertuples():
            cells[point.column] = Traced(_cell(point), row, point.column, dataset)
        rows.append([dataset, f"{part['file'].iloc[0]:.0f}", row, *cells.values()])
    return rows


def _cell(point: Any) -> str:
    error = f"{point.error:.1f} %"
    if not np.isnan(point.line):
        error = f"{point.measured / point.line:.1f} x, {error}"
    return f"{point.measured:.1f} ({error})"


def draw_memory(points: pd.DataFrame, stem: Path, title: str) -> list[Path]:
    """Draw memory against n and against m, log-log: Lambda kept above, regenerated below.

    Parameters
    ----------
    points : DataFrame
        See `memory_points`. Against n are drawn those of the m with the most n, and the
        other way round; a model without l in all panels. Data sets of neither m nor n
        are in the table only.
    stem : path
        Where the files go, without suffix.
    title : str

    Returns
    -------
    list of path
        PDF, PNG and SVG.
    """
    points = points.dropna(subset=["measured"])
    names = {size: f"l = {size:.0f}" for size in sorted(points["l"].dropna().unique())}
    models = [
        kind for kind in points["kind"].unique() if kind not in (KEPT, REGENERATED)
    ]
    # a size is no method: it takes what is left of the looks
    look = looks([*names.values(), *models])
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 5.2), layout="constrained")
        panels = figure.subplots(2, 2, sharex="col", sharey=True)
        for panel_row, kind in zip(panels, (KEPT, REGENERATED), strict=True):
            for panel, (x, fixed) in zip(
                panel_row, (("n", "m"), ("m", "n")), strict=True
            ):
                if len(points):
                    value = points.groupby(fixed)[x].nunique().idxmax()
                    part = points[points[fixed] == value].sort_values(x)
                    _draw_sizes(panel, part[part["kind"] == kind], x, names, look)
                    _draw_models(panel, part, x, models, look)
                    _finish(panel, part, x, fixed)
            panel_row[0].set_ylabel(f"{kind}: memory (MB)")
        for panel, text in zip(panels[1], ("rows n", "features m"), strict=True):
            panel.set_xlabel(text)
        order = []
        # column by column: what was measured and its line below each other
        for name in names.values():
            order += [f"{name}, measured", f"{name}, line"]
        legend_of(figure, panels.flat, [*order, *models], ncols=4)
        return save_figure(figure, stem, title)


def _draw_sizes(
    panel: Axes,
    points: pd.DataFrame,
    x: str,
    names: Mapping[float, str],
    look: Mapping[str, Look],
) -> None:
    for size, name in names.items():
        part = points[points["l"] == size]
        if len(part):
            colour, marker = look[name].colour, look[name].marker
            label = f"{name}, measured"
            panel.plot(
                part[x],
                part["measured"],
                marker + "-",
                color=colour,
                label=label,
                markersize=3.5,
            )
            panel.plot(part[x], part["line"], "--", color=colour, label=f"{name}, line")


def _draw_models(
    panel: Axes,
    points: pd.DataFrame,
    x: str,
    models: Sequence[str],
    look: Mapping[str, Look],
) -> None:
    for model in models:
        part = points[points["kind"] == model].drop_duplicates([x])
        if len(part):
            form = look[model].marker + "-"
            panel.plot(
                part[x],
                part["measured"],
                form,
                color=look[model].colour,
                label=model,
                markersize=4,
            )


def _finish(panel: Axes, points: pd.DataFrame, x: str, fixed: str) -> None:
    """Draw the paper's line and the axes."""
    sizes = points.drop_duplicates([x])
    n, m = sizes["n"], sizes["m"]
    label = f"8 (n + m) l, l = {LOG_FACTOR} ln n"
    panel.plot(
        sizes[x], paper_megabytes(n, m), ":", color="0.4", linewidth=1.2, label=label
    )
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(sizes[x], [f"{number:,.0f}" for number in sizes[x]])
    panel.minorticks_off()
    panel.set_title(f"{fixed} = {sizes[fixed].iloc[0]:,}")
    panel.grid(axis="y")


RECIPE = Recipe(
    "giesen2013/compression-memory",
    render,
    summarise=summarise,
    columns=COLUMNS,
    unit="memory (MB)",
)
