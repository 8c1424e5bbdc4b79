"""Results of your own run: its table, its figure and the features that its cells selected."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from provlab.bench.answer import (
    Words,
    interval_text,
    limits,
    number_text,
    of_datasets,
    of_methods,
)
from provlab.bench.own_runs import RUN_FILE, SECONDS, OwnRun, RunCell, measure_headline
from provlab.bench.run_names import size_text
from provlab.core.artefact import COMPLETE, counted_state
from provlab.core.frames import (
    ERROR,
    FOLD_SIZES,
    TIMES,
    Headline,
    fold_means,
    mean_interval,
    planned_trials,
    selection_seconds,
    standard_error_scale,
)
from provlab.core.selected import (
    COLUMNS,
    SelectedFeatures,
    cells_features,
    largest_cells,
)
from provlab.core.snapshot import TrialReader
from provlab.core.tables import markdown_table, write_frame, write_text
from provlab.project.messages import optional_figures
from provlab.verdicts.fold_differences import FoldDifferences

FURTHER = ("error", "r2", "rmse", "mae", "nmi", "ari")
"""Columns of the records that are shown beside the headline measure if they have values."""

ALL_FEATURES = "FullData"
"""Name of the method that keeps all features, whatever their number."""

STABILITY = ("stability", "stability_low", "stability_high")

FEATURES_NAMED = 3
"""Number of features named in a row."""

MAX_CURVES = 24
"""Maximum number of curves that remain distinguishable; with more methods there is only a table."""

DRAWN = ["row", "measure", "features", "dataset", "value", "low", "high", "selected"]
"""Columns that `draw_run` reads."""


def _measures(cells: Sequence[RunCell]) -> list[str]:
    """Return the measure columns that are averaged over folds."""
    measures = dict.fromkeys(name for cell in cells for name in cell.measures)
    return list(dict.fromkeys([*measures, *FURTHER, "n_selected", SECONDS.column]))


def run_trials(cells: Sequence[RunCell], store: TrialReader) -> pd.DataFrame:
    """Return the stored trials of the given cells with numeric measures, see `planned_trials`."""
    names = _measures(cells)
    trials = planned_trials(store, cells, [*names, *TIMES, *FOLD_SIZES])
    trials[SECONDS.column] = selection_seconds(trials)
    trials[names] = trials[names].apply(pd.to_numeric, errors="coerce")
    return trials


def run_frame(
    cells: Sequence[RunCell],
    trials: pd.DataFrame,
    selected: Mapping[str, SelectedFeatures],
) -> pd.DataFrame:
    """Return one row per cell of a run.

    Parameters
    ----------
    cells : sequence of RunCell
    trials : DataFrame
        See `run_trials`.
    selected : mapping
        Selected features by cell id, see `cells_features`.

    Returns
    -------
    DataFrame
        method; features, the requested number; dataset; measure, the name of the
        headline measure; value, its mean over folds, each of which is a mean over
        draws; sd; low and high, the 95 % interval of the mean; selected, the mean
        number of features; stability of the selected features with the ends of its
        interval; seconds, the mean CPU time of a selection including shared
        computations; trials; reason for a failed trial, if any; state; and the mean of
        each further measure. The interval uses the standard error of Nadeau and Bengio
        (2003), see `standard_error_scale`, and is clipped to the `limits` of the
        measure. A cell with a failed trial has no means, because they would come from
        the easier folds.
    """
    names = _measures(cells)
    folds = fold_means(trials, names)
    scales = standard_error_scale(trials, ["place"])
    n_trials = trials.groupby("place").size()
    lines = []
    for place, cell in enumerate(cells):
        n_stored = int(n_trials.get(place, 0))
        reason = cell.reason if n_stored < math.prod(cell.counts) else ""
        of_cell = folds[:0] if reason else folds[folds["place"] == place]
        scale = float(scales.get(place, np.nan))
        line = _line(cell, of_cell, scale, None if reason else selected.get(cell.id))
        line["trials"] = n_stored
        line["reason"] = reason
        line["state"] = (
            counted_state(n_stored, math.prod(cell.counts)) if n_stored else "missing"
        )
        for name in dict.fromkeys([*cell.measures[1:], *FURTHER]):
            if name != cell.measures[0]:
                line[name] = measure_headline(name).factor * of_cell[name].mean()
        lines.append(line)
    frame = pd.DataFrame(lines)
    empty = [name for name in names if name in frame and frame[name].isna().all()]
    if not frame["reason"].any():
        empty.append("reason")
    return frame.drop(columns=empty)


def _line(
    cell: RunCell, folds: pd.DataFrame, scale: float, selected: SelectedFeatures | None
) -> dict[str, Any]:
    """Return the headline, stability and time of a cell from the means of its folds."""
    headline = cell.headline
    values = headline.factor * folds[headline.column].dropna()
    mean, low, high, _ = mean_interval(values, scale)
    low, high = np.clip((low, high), *limits(headline.column))
    stability = (
        (np.nan, np.nan, np.nan)
        if selected is None
        else (selected.index, *selected.interval)
    )
    return {
        "method": cell.method, "features": cell.size, "dataset": cell.label, "measure": headline.column,
        "value": mean, "sd": values.std(ddof=1), "low": low, "high": high, "selected": folds["n_selected"].mean(),
        **dict(zip(STABILITY, stability, strict=True)), "seconds": folds[SECONDS.column].mean(),
    }  # fmt: skip


class RunTable:
    """Results of a run: `frame`, see `run_frame`, and `selected`, the selected features by cell id."""

    def __init__(self, run: OwnRun, store: TrialReader) -> None:
        self.run = run
        self.selected = dict(cells_features(store, largest_cells(run.cells)))
        self.trials = run_trials(run.cells, store)
        self.frame = run_frame(run.cells, self.trials, self.selected)

    @cached_property
    def folds(self) -> pd.DataFrame:
        """Headline measures and numbers of rows of each fold, see `fold_means`."""
        headlines = dict.fromkeys(cell.headline.column for cell in self.run.cells)
        return fold_means(self.trials, [*headlines, *FOLD_SIZES])

    @cached_property
    def answer(self) -> list[str]:
        """Conclusions of the run in sentences; empty if it has only one method or allows no test."""
        by_dataset: dict[str, list[int]] = {}
        for place, cell in enumerate(self.run.cells):
            by_dataset.setdefault(cell.label, []).append(place)
        differences = {}
        for label, places in by_dataset.items():
            if self._is_comparable(places):
                differences[label] = self.differences(places)
        if not differences:
            return []
        first = next(iter(differences))
        places = by_dataset[first]
        words = words_of(self.run.cells[places[0]].headline)
        if len(by_dataset) > 1:
            return of_datasets(differences, words)
        names = self._names(places)
        estimates = self.frame.iloc[places].set_axis(names)
        with_all = [
            name
            for name, place in zip(names, places, strict=True)
            if self._keeps_all(place)
        ]
        return of_methods(
            differences[first],
            estimates,
            words,
            with_all[0] if len(with_all) == 1 else "",
        )

    def _is_comparable(self, places: Sequence[int]) -> bool:
        """Return whether the cells have distinct names, the same measure and the same folds."""
        cells = [self.run.cells[place] for place in places]
        folds = {cell.counts[:2] for cell in cells}
        headlines = {cell.headline for cell in cells}
        has_names = len({*self._names(places)}) == len(places)
        return (
            has_names and len(folds) == len(headlines) == 1 and headlines != {SECONDS}
        )

    def _names(self, places: Sequence[int]) -> list[str]:
        """Return the names of the methods, with the number of features for methods that have several."""
        cells = [self.run.cells[place] for place in places]
        has_one_size = len({cell.method for cell in cells}) == len(cells)
        names = []
        for cell in cells:
            with_size = f"{cell.method} with {size_text(cell.size)}"
            names.append(cell.method if has_one_size or not cell.size else with_size)
        return names

    def _keeps_all(self, place: int) -> bool:
        selected = self.selected.get(self.run.cells[place].id)
        return selected is not None and selected.sizes[0] == selected.n_features > 0

    def differences(self, places: Sequence[int]) -> FoldDifferences:
        """Return the headline measure by fold of the cells that have a value on every fold."""
        headline = self.run.cells[places[0]].headline
        columns = {}
        for name, place in zip(self._names(places), places, strict=True):
            if not np.isnan(self.frame["value"].iloc[place]):
                of_cell = self.folds[self.folds["place"] == place].set_index(
                    ["repeat", "fold"]
                )
                columns[name] = headline.factor * of_cell[headline.column]
        values = pd.DataFrame(columns).dropna(axis="columns")
        ratio = float((self.folds["n_test"] / self.folds["n_train"]).mean())
        return FoldDifferences(values, ratio, words_of(headline).sign)

    @property
    def features(self) -> pd.DataFrame:
        """One row per cell and selected feature: method, features, dataset and `COLUMNS`."""
        names = ["method", "features", "dataset", *COLUMNS]
        frames = [pd.DataFrame(columns=names)]
        for cell in self.run.cells:
            if cell.id in self.selected:
                frame = self.selected[cell.id].frame
                frames.append(
                    frame.assign(
                        method=cell.method, features=cell.size, dataset=cell.label
                    )
                )
        return pd.concat(frames[1:] or frames, ignore_index=True)[names]

    @property
    def lines(self) -> list[dict[str, str]]:
        """The printed table: one mapping of column names to strings per row."""
        lines = []
        for cell, line in zip(
            self.run.cells, self.frame.to_dict("records"), strict=True
        ):
            lines.append(self._texts(cell, line))
        return lines

    def _texts(self, cell: RunCell, line: Mapping[Any, Any]) -> dict[str, str]:
        frame = self.frame
        headline = cell.headline
        measure = headline.in_units(headline.name)
        texts = {"method": line["method"], "features": line["features"]}
        if frame["dataset"].nunique() > 1:
            texts["data set"] = line["dataset"]
        if frame["measure"].nunique() > 1:
            texts |= {
                "measure": measure,
                "value": number_text(line["value"], headline.text),
            }
        else:
            texts[measure] = number_text(line["value"], headline.text)
        texts["sd"] = number_text(line["sd"], headline.text)
        texts["95 % interval"] = interval_text(line["low"], line["high"], headline.text)
        for name in frame.columns[frame.columns.get_loc("state") + 1 :]:
            texts[measure_headline(name).in_units(name)] = number_text(
                line[name], "{:.4g}".format
            )
        texts["selected"] = number_text(line["selected"], "{:.4g}".format)
        if cell.size.isdecimal() and line["selected"] < int(cell.size):
            texts["selected"] += f" (requested {cell.size})"
        texts["stability"] = number_text(line["stability"], "{:.2f}".format).replace(
            "-0.00", "0.00"
        )
        if headline != SECONDS:
            texts["seconds"] = number_text(line.get("seconds", np.nan), "{:.3f}".format)
        texts["trials"] = str(line["trials"])
        if (frame["state"] != COMPLETE).any():
            texts["state"] = line["state"]
        if "reason" in frame:
            texts["failed"] = line["reason"]
        return texts | {"most frequent features": self._most_frequent(cell)}

    def _most_frequent(self, cell: RunCell) -> str:
        """Return the most frequent features of a cell, or a note that it selects all."""
        selected = self.selected.get(cell.id)
        if selected is None:
            return ""
        if selected.sizes[0] == selected.n_features > 0:
            return "all"
        return ", ".join(
            f"{name:.40}" for name in selected.frame["feature"][:FEATURES_NAMED]
        )

    def write(
        self, folder: Path, formats: Sequence[str] = ("png", "svg")
    ) -> list[Path]:
        """Write the run's description, its table, its features and its figures; return the figures.

        The files depend only on stored results, so repeating the run does not change a
        byte.
        """
        run = self.run
        content = {
            "command": run.command,
            "cells": [asdict(cell) for cell in run.cells],
        }
        write_text(
            folder / RUN_FILE, json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        )
        write_frame(self.frame, folder / "table.csv")
        lines = self.lines
        rows = [[*line.values()] for line in lines]
        write_text(
            folder / "table.md",
            markdown_table([*lines[0]], rows, ", ".join(run.datasets), run.command),
        )
        write_frame(self.features, folder / "features.csv")
        figures: list[Path] = []
        with optional_figures():
            figures += draw_run(run, self.frame, folder, formats)
        return figures


def words_of(headline: Headline) -> Words:
    """Return the format of a measure in sentences; all measures except the error are treated as scores."""
    if headline == ERROR:
        return Words(headline.name, is_percent=True, decimals=1)
    return Words(headline.name, is_percent=False, decimals=3, sign=-1.0)


def draw_run(
    run: OwnRun, frame: pd.DataFrame, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Draw each headline measure against the number of features, or as dots if each method has only one number.

    Bars are 95 % intervals of the mean. Rows without a value are left out. Figures
    without values or with more than `MAX_CURVES` curves are skipped.
    """
    if not formats:
        return []
    from provlab.report.figures.curves import dots, draw_curves
    from provlab.report.figures.style import (
        ON_A_PAGE,
        TWO_COLUMNS,
        only_formats,
        save_figure,
        style,
    )

    paths: list[Path] = []
    headlines = {cell.headline.column: cell.headline for cell in run.cells}
    width = ON_A_PAGE if frame["dataset"].nunique() == 1 else TWO_COLUMNS
    drawn = (
        frame.rename(columns={"method": "row"})
        .reindex(columns=DRAWN)
        .dropna(subset="value")
    )
    with only_formats(*formats), style():
        for measure, lines in drawn.groupby("measure", sort=False):
            label = headlines[str(measure)].label
            stem = folder / ("figure" if len(headlines) == 1 else f"figure-{measure}")
            if lines.groupby(["row", "dataset"]).size().max() == 1:
                sizes = lines["features"].map(
                    lambda size: f", {size_text(size)}" if size else ""
                )
                paths += save_figure(
                    dots(
                        lines.assign(row=lines["row"] + sizes),
                        xlabel=label,
                        width=width,
                    ),
                    stem,
                )
            elif lines["row"].nunique() <= MAX_CURVES:
                n_asked = pd.to_numeric(lines["features"], errors="coerce")
                # counts instead of shares of the features
                x = n_asked.where(n_asked > 1, lines["selected"].round(1))
                lines = lines.assign(column=x.map("{:g}".format))
                paths += draw_curves(
                    lines, stem, "", ylabel=label, flat=ALL_FEATURES, width=width
                )
    return paths
