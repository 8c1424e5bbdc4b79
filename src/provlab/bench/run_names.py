"""Readable names of the cells of a run, built from the settings that differ between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.bench.own_runs import MAX_TEXT, SECONDS, OwnRun, RunCell
from provlab.core.cell import Cell
from provlab.core.frames import headline_of
from provlab.core.plan import unique_cells

SIZES = ("n_features_to_select", "n_components", "k", "max_features")
"""Parameter names that selectors use for the number of features."""


def own_run(
    command: str,
    cells: Sequence[Cell],
    methods: Sequence[str] = (),
    labels: Sequence[str] = (),
    reasons: Mapping[str, str] | None = None,
) -> OwnRun:
    """Return the run of the given cells, with readable names: given ones, or names of classes and data sets.

    Parameters
    ----------
    command : str
    cells : sequence of Cell
        Cells of the run; equal cells are merged unless names are given.
    methods, labels : sequence of str, optional
        Names for the method and the data set of each cell.
    reasons : mapping, optional
        Reasons for failures by cell id, see `RunReport.reasons`.
    """
    reasons = reasons or {}
    if not methods:
        cells = unique_cells(cells)
        methods = _method_names(cells)
    labels = labels or dataset_names([cell.dataset for cell in cells])
    lines = []
    for cell, method, label in zip(cells, methods, labels, strict=True):
        headline = headline_of(cell) if cell.measured.uses_model else SECONDS
        measures = dict.fromkeys([headline.column, *cell.method.scoring])
        repeats, n_splits, draws = cell.counts
        lines.append(
            RunCell(
                id=cell.id,
                method=str(method)[:MAX_TEXT],
                size=_size_of(cell)[:MAX_TEXT],
                label=str(label)[:MAX_TEXT],
                data=cell.data,
                dataset=dict(cell.dataset),
                measures=tuple(measures),
                repeats=repeats,
                n_splits=n_splits,
                draws=draws,
                reason=reasons.get(cell.id, "")[:MAX_TEXT],
            )
        )
    return OwnRun(command, tuple(lines))


def _size_of(cell: Cell) -> str:
    """Return the number of features requested from a selector; "" if it chooses the number itself."""
    sizes = [
        cell.selector[name] for name in SIZES if cell.selector.get(name) is not None
    ]
    if not sizes:
        return ""
    if isinstance(sizes[0], float) and sizes[0] < 1:
        return f"{100 * sizes[0]:g} %"
    return str(sizes[0])


def size_text(size: str) -> str:
    """Return a size as text."""
    if "%" in size:
        return f"{size} of the features"
    return "1 feature" if size == "1" else f"{size} features"


def dataset_names(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each data set from its set or file; equal names are extended by the differing settings."""
    names = [
        str(config.get("set") or Path(str(config.get("path") or config["name"])).stem)
        for config in configs
    ]
    return _distinct(names, configs, ("name", "set", "path"))


def _method_names(cells: Sequence[Cell]) -> list[str]:
    """Return a name for each cell from the settings in which selectors, models, preparations and protocols differ."""
    selectors = [cell.selector for cell in cells]
    parts = [_distinct([_class_name(config) for config in selectors], selectors, SIZES)]
    models: list[Mapping[str, Any]] = []
    for cell in cells:
        models.append(cell.model or {} if cell.measured.uses_model else {})
    preparations = [cell.protocol.get("preparation") or {} for cell in cells]
    for configs in (models, preparations):
        names = _distinct([_class_name(config) for config in configs], configs)
        if len({*names}) > 1:
            parts.append(names)
    parts.append(
        _differences(
            [cell.protocol for cell in cells], ("repeats", "draws", "preparation")
        )
    )
    return [", ".join(filter(None, texts)) for texts in zip(*parts, strict=True)]


def _class_name(config: Mapping[str, Any]) -> str:
    """Return a class name without its module and "Selector", followed by the class that it wraps, if any."""
    if config.get("_target_") is None:
        return "none"
    class_name = str(config["_target_"]).rpartition(".")[2]
    name = class_name.removesuffix("Selector") or class_name
    inner = config.get("selector")
    return f"{name} of {_class_name(inner)}" if isinstance(inner, Mapping) else name


def _distinct(
    names: Sequence[str],
    configs: Sequence[Mapping[str, Any]],
    left_out: Sequence[str] = (),
) -> list[str]:
    """Return distinct names: equal names are extended by the settings in which their configs differ."""
    series = pd.Series(names, dtype=object)
    settings = pd.Series("", index=series.index, dtype=object)
    for places in series.groupby(series).groups.values():
        settings[places] = _differences([configs[place] for place in places], left_out)
    return [
        f"{name} ({text})" if text else name
        for name, text in zip(names, settings, strict=True)
    ]


def _differences(
    configs: Sequence[Mapping[str, Any]], left_out: Sequence[str]
) -> list[str]:
    """Return the settings of each config that differ between the configs."""
    settings = [_flat(config, left_out) for config in configs]
    names = dict.fromkeys(name for flat in settings for name in flat)
    differing = []
    for name in names:
        values = {str(flat.get(name)) for flat in settings}
        if len(values) > 1:
            differing.append(name)
    texts = []
    for flat in settings:
        texts.append(
            ", ".join(f"{name}={flat[name]}" for name in differing if name in flat)
        )
    return texts


def _flat(config: Mapping[str, Any], left_out: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a config by dotted name, without the given top-level settings."""
    settings: dict[str, Any] = {}
    for name, value in config.items():
        if name in left_out:
            continue
        if isinstance(value, Mapping):
            settings |= {
                f"{name}.{inner}": setting
                for inner, setting in _flat(value, ()).items()
            }
        else:
            settings[name] = value
    return settings
