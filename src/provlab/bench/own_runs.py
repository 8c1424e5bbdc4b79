"""Runs of your own: what `provsel run` and `compare` have computed, as a table, a figure and the list of its cells.

A run is a folder below results/runs whose file run.json says what its lines are. All numbers are computed from the
store, so that the folder can be anybody's: a reader takes nothing but names and counts from it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from provlab.core.artefact import COMPLETE, counted_state
from provlab.core.cell import Cell
from provlab.core.frames import (
    ERROR,
    FOLD_SIZES,
    R2,
    TIMES,
    Headline,
    headline_of,
    mean_interval,
    planned_trials,
    selection_seconds,
    standard_error_scale,
)
from provlab.core.plan import MAX_COUNT, unique_cells
from provlab.core.selected import COLUMNS, SelectedFeatures, cells_features, largest_cells
from provlab.core.store import LARGE, TrialReader
from provlab.core.tables import markdown_table, write_frame, write_text
from provlab.data.own_text import some
from provlab.project.documents import digest, read_as, read_json
from provlab.project.messages import PAGE_NAME, in_file_name, optional_figures

FOLDER = "runs"
FILE = "run.json"

MAX_CELLS, MAX_NAME, MAX_REASON = 100_000, 300, 500
"""Of a run.json: its lines, and the characters of a name and of a reason in it."""

MAX_RUNS = 200
"""That a report shows; each takes about a second."""

SIZES = ("n_features_to_select", "n_components", "k", "max_features")
"""Arguments of a selector that are its number of features."""

FURTHER = ("error", "r2", "rmse", "mae", "nmi", "ari")
"""Columns of the records that stand beside the headline measure, where they have values."""

SECONDS = Headline("seconds", "seconds", "CPU seconds of a selection")
"""Of cells that fit no model: no column of the records, but made of `TIMES`."""

ALL_FEATURES = "FullData"
"""Name of the method that does not depend on the number of features."""

STABILITY = ("stability", "stability_low", "stability_high")

FIRST = 3
"""Features that a line names."""

UP_TO_ONE = re.compile(
    "r2|(balanced_)?accuracy|top_k_|roc_auc|average_precision|f1|precision|recall|jaccard|explained|d2_"
)
"""How measures begin whose best value is 1; scikit-learn's that begin with neg_ are 0 at best."""

MAX_CURVES = 24
"""Methods whose curves can still be told apart; of more there is a table only."""

_DRAWN = ("row", "measure", "features", "dataset", "value", "low", "high", "selected")


@dataclass(frozen=True)
class RunCell:
    """A line of a run's table, and which trials of the store it is about.

    Attributes
    ----------
    id : str
        SHA-256 of what the cell is.
    method, size, label : str
        For people: the method, the number of features that was asked for, "" where the method chooses it, and the data
        set.
    data, dataset : str and mapping
        Identity of the data set, and its config, by which the names of features are found where the data are.
    measures : tuple of str
        Columns of the records: the headline measure, and others.
    repeats, n_splits, draws : int
        Planned.
    reason : str
        Why a trial failed when the cells were run, "" where none did.
    """

    id: str
    method: str
    size: str
    label: str
    data: str
    dataset: Mapping[str, Any]
    measures: tuple[str, ...]
    repeats: int
    n_splits: int
    draws: int
    reason: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch("[0-9a-f]{64}", self.id):
            raise ValueError(f"id: expected 64 hexadecimal digits, got {self.id!r:.80}.")
        for name in ("method", "size", "label", "data"):
            if len(getattr(self, name)) > MAX_NAME:
                raise ValueError(f"{name}: expected at most {MAX_NAME} characters, got {len(getattr(self, name))}.")
        if len(self.reason) > MAX_REASON:
            raise ValueError(f"reason: expected at most {MAX_REASON} characters, got {len(self.reason)}.")
        if not isinstance(self.dataset.get("name"), str):
            raise ValueError(f"dataset: expected a name, got {self.dataset!r:.80}.")
        if not all(1 <= count <= MAX_COUNT for count in self.counts):
            raise ValueError(f"repeats, n_splits, draws: expected 1 to {MAX_COUNT} of each, got {self.counts}.")
        wrong = [each for each in self.measures if not re.fullmatch(r"[A-Za-z]\w{0,80}", each) or each in LARGE]
        if wrong or not 1 <= len(self.measures) <= 100:
            raise ValueError(f"measures: expected 1 to 100 names of columns, got {[*wrong, *self.measures]!r:.80}.")

    @property
    def counts(self) -> tuple[int, int, int]:
        """Planned repeats, folds and draws."""
        return self.repeats, self.n_splits, self.draws

    @property
    def headline(self) -> Headline:
        """What the cell is judged by."""
        return measure_headline(self.measures[0])


def measure_headline(column: str) -> Headline:
    """Return how a measure is shown: the error in percent, and others as the records have them."""
    known = {each.column: each for each in (ERROR, R2, SECONDS)}
    return known.get(column, Headline(column, column, column))


@dataclass(frozen=True)
class OwnRun:
    """Some cells that were run together, and the command that runs them again; "" for a call from Python."""

    command: str
    cells: tuple[RunCell, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.cells) <= MAX_CELLS:
            raise ValueError(f"cells: expected 1 to {MAX_CELLS}, got {len(self.cells)}.")

    @property
    def name(self) -> str:
        """Of its folder: the data sets, and a hash of cells and counts, so that the same run has the same folder."""
        datasets = dict.fromkeys(in_file_name(each.label)[:40] for each in self.cells)
        first, *others = [name for name in datasets if name] or ["run"]
        more = f"-and-{len(others)}-more" if others else ""
        return f"{first}{more}-{digest([[each.id, *each.counts] for each in self.cells])[:8]}"

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets."""
        return list(dict.fromkeys(each.label for each in self.cells))

    @property
    def title(self) -> str:
        """Data sets and methods, as many as a heading has room for."""
        methods = list(dict.fromkeys(each.method for each in self.cells))
        return ": ".join(some(names, 4) for names in (self.datasets, methods))


# ---- names


def own_run(
    command: str,
    cells: Sequence[Cell],
    methods: Sequence[str] = (),
    labels: Sequence[str] = (),
    reasons: Mapping[str, str] | None = None,
) -> OwnRun:
    """Return the run of some cells, with names for people: those of classes and data sets, or the given ones.

    A name that is made here says what differs between the cells, and nothing else.

    Parameters
    ----------
    command : str
    cells : sequence of Cell
        Those that are the same are one, unless they have names.
    methods, labels : sequence of str, optional
        A name for the method of each cell, and for its data set.
    reasons : mapping, optional
        Why cells failed, by their ids, see `RunReport.reasons`.
    """
    reasons = reasons or {}
    cells = cells if methods else unique_cells(cells)
    named = labels or dataset_names([cell.dataset for cell in cells])
    lines = zip(cells, methods or _methods(cells), named, strict=True)
    found = []
    for cell, method, label in lines:
        size = next((cell.selector[name] for name in SIZES if cell.selector.get(name) is not None), "")
        size = f"{100 * size:g} %" if isinstance(size, float) and size < 1 else size
        first = headline_of(cell).column if cell.measured.uses_model else SECONDS.column
        measures = dict.fromkeys([first, *(cell.protocol.get("scoring") or ())])
        method, size, label = (str(text)[:MAX_NAME] for text in (method, size, label))
        about = cell.data, dict(cell.dataset), tuple(measures)
        reason = reasons.get(cell.id, "")[:MAX_REASON]
        found.append(RunCell(cell.id, method, size, label, *about, *cell.counts, reason))
    return OwnRun(command, tuple(found))


def size_text(size: str) -> str:
    """Return a size in words."""
    return f"{size} of the features" if "%" in size else f"{size} feature{'s' * (size != '1')}"


def _methods(cells: Sequence[Cell]) -> list[str]:
    parts = [_distinct([cell.selector for cell in cells], SIZES)]
    for others in (
        [cell.model or {} if cell.measured.uses_model else {} for cell in cells],
        [cell.protocol.get("preparation") or {} for cell in cells],
    ):
        names = _distinct(others)
        parts.append(names if len({*names}) > 1 else [""] * len(cells))
    parts.append(_differences([cell.protocol for cell in cells], ("repeats", "draws", "preparation")))
    return [", ".join(filter(None, texts)) for texts in zip(*parts, strict=True)]


def _distinct(
    configs: Sequence[Mapping[str, Any]], left_out: Sequence[str] = (), names: Sequence[str] = ()
) -> list[str]:
    """Return names, by default those of classes, each with the settings in which configs of the same name differ."""
    called = pd.Series(names or [_class_name(config) for config in configs], dtype=object)
    texts = called.copy()
    for places in called.groupby(called).groups.values():
        texts[places] = _differences([configs[place] for place in places], left_out)
    return [f"{name} ({text})" if text else name for name, text in zip(called, texts, strict=True)]


def _class_name(config: Mapping[str, Any]) -> str:
    """Return the last part of a class's name, without Selector, and that of the selector that it is around."""
    if config.get("_target_") is None:
        return "none"
    name = str(config["_target_"]).rpartition(".")[2]
    inner = config.get("selector")
    return (name.removesuffix("Selector") or name) + (f" of {_class_name(inner)}" if isinstance(inner, Mapping) else "")


def dataset_names(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each data set: its set's or file's, with the settings in which those of one name differ."""
    names = [str(config.get("set") or Path(str(config.get("path") or config["name"])).stem) for config in configs]
    return _distinct(configs, ("name", "set", "path"), names)


def _flat(config: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in config.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return found


def _differences(configs: Sequence[Mapping[str, Any]], left_out: Sequence[str]) -> list[str]:
    """Return the settings of each config that are not the same in all."""
    settings = [_flat({name: value for name, value in each.items() if name not in left_out}) for each in configs]
    names = dict.fromkeys(name for each in settings for name in each)
    differing = [name for name in names if len({str(each.get(name)) for each in settings}) > 1]
    return [", ".join(f"{name}={each[name]}" for name in differing if name in each) for each in settings]


# ---- numbers


def limits(measure: str) -> tuple[float, float]:
    """Return the least and the largest value of a measure as it is shown: no interval goes beyond."""
    if measure == "error":
        return 0.0, 100.0
    return -np.inf, 1.0 if UP_TO_ONE.match(measure) else 0.0 if measure.startswith("neg_") else np.inf


def run_frame(cells: Sequence[RunCell], store: TrialReader, selected: Mapping[str, SelectedFeatures]) -> pd.DataFrame:
    """Return a line for each cell of a run.

    Parameters
    ----------
    cells : sequence of RunCell
    store : TrialReader
    selected : mapping
        What each cell selected, by its id, see `cells_features`.

    Returns
    -------
    DataFrame
        method, features (the number that was asked for), dataset; measure, the headline, with value, its mean over
        folds, after the mean over the draws of a fold, sd, and low and high, a 95 % interval of the mean by the
        standard error of Nadeau and Bengio (2003), see `standard_error_scale`, within its `limits`; selected, the mean
        number of features; stability of the selected features with the ends of its interval; seconds, the mean CPU
        time of a selection with what it shares; trials; reason, why a trial failed, where any did; state; and the mean
        of each further measure. There are no means of a cell with a failed trial: they would be of easier folds.
    """
    measures = dict.fromkeys(name for cell in cells for name in cell.measures)
    names = [*(measures | dict.fromkeys([*FURTHER, "n_selected", SECONDS.column]))]
    trials = planned_trials(store, cells, [*names, *TIMES, *FOLD_SIZES])
    trials[SECONDS.column] = selection_seconds(trials)
    trials[names] = trials[names].apply(pd.to_numeric, errors="coerce")
    folds = trials.groupby(["place", "repeat", "fold"])[names].mean()
    scales, n_trials = standard_error_scale(trials, ["place"]), trials.groupby("place").size()
    lines = []
    for place, cell in enumerate(cells):
        n, planned = int(n_trials.get(place, 0)), math.prod(cell.counts)
        reason = cell.reason if n < planned else ""
        own = folds.loc[place] if n and not reason else folds[:0]
        headline, [first, *others] = cell.headline, dict.fromkeys([*cell.measures, *FURTHER])
        values, found = headline.factor * own[first].dropna(), selected.get(cell.id)
        mean, *ends, _ = mean_interval(values, float(scales.get(place, np.nan)))
        low, high = np.clip(ends, *limits(first))
        line: dict[str, Any] = {"method": cell.method, "features": cell.size, "dataset": cell.label}
        line |= {"measure": headline.column, "value": mean, "sd": values.std(ddof=1), "low": low, "high": high}
        line["selected"] = own["n_selected"].mean()
        stable = (np.nan,) * 3 if found is None or reason else (found.index, *found.interval)
        line |= dict(zip(STABILITY, stable, strict=True)) | {"seconds": own[SECONDS.column].mean(), "trials": n}
        line["reason"] = reason
        line["state"] = counted_state(n, planned) if n else "missing"
        lines.append(line | {name: measure_headline(name).factor * own[name].mean() for name in others})
    frame = pd.DataFrame(lines)
    empty = [name for name in names if name in frame and frame[name].isna().all()]
    if not frame["reason"].any():
        empty.append("reason")
    return frame.drop(columns=empty)


class RunTable:
    """What a run came to: `frame`, see `run_frame`, and by the id of each cell the features that it `selected`."""

    def __init__(self, run: OwnRun, store: TrialReader) -> None:
        self.selected = dict(cells_features(store, largest_cells(run.cells)))
        self.run, self.frame = run, run_frame(run.cells, store, self.selected)

    @property
    def features(self) -> pd.DataFrame:
        """A line for each cell and feature that it selected: method, features, dataset and `COLUMNS`."""
        lines = [
            self.selected[cell.id].frame.assign(method=cell.method, features=cell.size, dataset=cell.label)
            for cell in self.run.cells
            if cell.id in self.selected
        ]
        names = ["method", "features", "dataset", *COLUMNS]
        return pd.concat(lines, ignore_index=True)[names] if lines else pd.DataFrame(columns=names)

    @property
    def lines(self) -> list[dict[str, str]]:
        """The table as people read it: a mapping of names to texts for each line."""
        frame = self.frame
        further = frame.columns[frame.columns.get_loc("state") + 1 :]
        several = {name: frame[name].nunique() > 1 for name in ("dataset", "measure")}
        is_complete = (frame["state"] == COMPLETE).all()
        lines = []
        for cell, line in zip(self.run.cells, frame.to_dict("records"), strict=True):
            headline, found = cell.headline, self.selected.get(cell.id)
            value, sd, *ends = (_text(line.get(name), headline.text) for name in ("value", "sd", "low", "high"))
            measure = headline.in_units(headline.name)
            shown = {"method": line["method"], "features": line["features"]}
            shown |= {"data set": line["dataset"]} if several["dataset"] else {}
            shown |= {"measure": measure, "value": value} if several["measure"] else {measure: value}
            shown |= {"sd": sd, "95 % interval": " to ".join(ends) if all(ends) else ""}
            for name in further:
                shown[measure_headline(name).in_units(name)] = _text(line[name], "{:.4g}".format)
            shown["selected"] = _text(line["selected"], "{:.4g}".format)
            if selects_fewer(line["selected"], cell.size):
                shown["selected"] += f" (asked {cell.size})"
            shown["stability"] = _text(line["stability"], lambda index: f"{round(index, 2) + 0.0:.2f}")
            shown |= {"seconds": _text(line.get("seconds"), "{:.3f}".format)} if headline != SECONDS else {}
            shown |= {"trials": str(line["trials"])} | ({} if is_complete else {"state": line["state"]})
            shown |= {"failed": line["reason"]} if "reason" in frame else {}
            names = [] if found is None else found.frame["feature"][:FIRST]
            if found is not None and found.sizes[0] == found.n_features > 0:
                names = ["all"]
            lines.append(shown | {"most frequent features": ", ".join(f"{name:.40}" for name in names)})
        return lines

    def write(self, folder: Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
        """Write what the run is, its table, its features and figures of some formats; return the figures.

        The files follow from what is stored, to the byte: the same run again changes nothing.
        """
        run = self.run
        content = {"command": run.command, "cells": [asdict(each) for each in run.cells]}
        write_text(folder / FILE, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        write_frame(self.frame, folder / "table.csv")
        rows = [[*line.values()] for line in self.lines]
        write_text(folder / "table.md", markdown_table([*self.lines[0]], rows, ", ".join(run.datasets), run.command))
        write_frame(self.features, folder / "features.csv")
        figures: list[Path] = []
        with optional_figures():
            figures += draw_run(run, self.frame, folder, formats)
        return figures


def selects_fewer(n_selected: float, asked: str) -> bool:
    """Tell whether a mean number of selected features is below the number that was asked for, if one was."""
    return asked.isdecimal() and n_selected < int(asked)


def _text(value: float | None, form: Callable[[float], str]) -> str:
    return "" if value is None or np.isnan(value) else form(value)


def draw_run(run: OwnRun, frame: pd.DataFrame, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw each headline measure against the number of features, or as dots where each method has one number.

    Bars are 95 % intervals of the mean. Lines without a value are left out, and so is a figure without any or with
    more than `MAX_CURVES` curves.
    """
    if not formats:
        return []
    from provlab.report.figures.curves import dots, draw_curves
    from provlab.report.figures.style import only_formats, save_figure, style

    paths: list[Path] = []
    headlines = {each.headline.column: each.headline for each in run.cells}
    drawn = frame.rename(columns={"method": "row"}).reindex(columns=[*_DRAWN]).dropna(subset="value")
    with only_formats(*formats), style():
        for measure, found in drawn.groupby("measure", sort=False):
            headline = headlines[str(measure)]
            stem = folder / ("figure" if len(headlines) == 1 else f"figure-{measure}")
            if found.groupby(["row", "dataset"]).size().max() == 1:
                sizes = found["features"].map(lambda size: f", {size_text(size)}" if size else "")
                paths += save_figure(dots(found.assign(row=found["row"] + sizes), xlabel=headline.label), stem)
            elif found["row"].nunique() <= MAX_CURVES:
                sizes = pd.to_numeric(found["features"], errors="coerce")
                x = sizes.where(sizes > 1, found["selected"].round(1))  # of a share of the features, how many these are
                found = found.assign(column=x.map("{:g}".format))
                paths += draw_curves(found, stem, "", ylabel=headline.label, flat=ALL_FEATURES)
    return paths


def read_runs(results: Path) -> tuple[dict[str, OwnRun], list[str]]:
    """Return the runs below a results folder by their folders' names, the newest first, and what is wrong with others.

    The folder may be anybody's: names and counts are checked, and no number is taken from it.
    """
    runs: dict[str, OwnRun] = {}
    problems = []
    files = sorted((results / FOLDER).glob(f"*/{FILE}"), key=lambda path: path.lstat().st_mtime, reverse=True)
    for path in files[:MAX_RUNS]:
        name = path.parent.name
        try:
            if not PAGE_NAME.fullmatch(name):
                raise ValueError(f"{path}: expected a folder named by letters, digits, '.', '_' and '-'; rename it.")
            runs[name] = read_as(OwnRun, read_json(path), str(path))
        except (OSError, ValueError) as error:
            problems.append(f"{error} Run the same again, or remove the folder.")
    if len(files) > MAX_RUNS:
        problems.append(f"{results / FOLDER}: {len(files)} runs, of which the newest {MAX_RUNS} are shown.")
    return runs, problems
