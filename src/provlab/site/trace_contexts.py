"""What the page of a trace shows: what its cells share once, and each data set by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from provlab.identity.keys import canonical_json
from provlab.site.links import dataset_anchor
from provlab.site.svg import strip
from provlab.site.templating import Context, number, pattern, settings
from provlab.site.trace import Distribution, Trace, TracedCell
from provlab.site.trace_charts import trace_plot
from provlab.site.tracing import version_text

Lines = Sequence[tuple[str, str, str, str, str]]

MAX_FACTS = 6
"""Numbers of a data set that are told again beside its trials."""

MAX_OPEN = 6
"""Data sets whose sections are open; with more a reader opens those of interest, or comes by a link to one."""

PARTS = ("selector", "model", "protocol", "dataset")


def anchors_of(trace: Trace) -> set[str]:
    """Return the ids of the data sets' sections on the page of a trace."""
    return {dataset_anchor(cell.dataset) for cell in trace.cells}


def trace_context(trace: Trace) -> Context:
    """Return what the page of a trace shows."""
    axes = _axes(trace.cells)
    name = next(iter(axes), "")
    unit = next((d.unit for cell in trace.cells for d in cell.distributions if d.name == name), "")
    shared, differing = _shared(trace.cells)
    spec = trace_plot(trace)
    low, high = axes.get(name, (0.0, 0.0))
    return {
        "trace": trace,
        "datasets": {cell.dataset for cell in trace.cells},
        "shared": shared,
        "differing": differing,
        "summary_name": f"{name} ({unit})" if unit else name,
        "summary_axis": f"{number(low)} to {number(high)}{' ' + unit if unit else ''}",
        "sections": [_section(cell, name, axes, differing, trace.lines) for cell in trace.cells],
        "folded": len(trace.cells) > MAX_OPEN,
        "plot_spec": spec,
        "plots": spec is not None,
        **versions_context(trace.environments, trace.revisions),
    }


def versions_context(
    environments: Sequence[tuple[dict[str, Any], int]], revisions: Sequence[tuple[str, int]]
) -> Context:
    """Return versions as columns of texts."""
    names = list(dict.fromkeys(name for versions, _ in environments for name in versions))
    rows = [({name: version_text(value) for name, value in versions.items()}, n) for versions, n in environments]
    return {"environments": rows, "version_names": names, "revisions": revisions}


def _axes(cells: Sequence[TracedCell]) -> dict[str, tuple[float, float]]:
    """Return the ends of the axis of each measured column, over all data sets."""
    axes: dict[str, tuple[float, float]] = {}
    for distribution in (d for cell in cells for d in cell.distributions):
        if distribution.values:
            low, high = axes.get(distribution.name, (distribution.minimum, distribution.maximum))
            axes[distribution.name] = min(low, distribution.minimum), max(high, distribution.maximum)
    return axes


def _shared(cells: Sequence[TracedCell]) -> tuple[list[tuple[str, str, list[tuple[str, str]]]], list[str]]:
    """Return (part, class, settings) of what all cells have in common, and the names of the other parts."""
    shared, differing = [], []
    for part in PARTS:
        found = [cell.identity.get(part) for cell in cells]
        if found and all(each == found[0] for each in found):
            shared.append((part, *_card(found[0])))
        elif found:
            differing.append(part)
    return shared, differing


def _card(config: Any) -> tuple[str, list[tuple[str, str]]]:
    if not isinstance(config, dict):
        return ("none", []) if config is None else ("", [("value", str(config))])
    target = str(config.get("_target_", config.get("name", ""))).rpartition(".")[2]
    skipped = "_target_" if "_target_" in config else "name"
    # What a component is given comes first, and the level "arguments" says nothing to readers.
    flat = settings({name: value for name, value in config.items() if name != skipped})
    pairs = [(name.replace("arguments.", ""), text) for name, text in flat]
    return target, sorted(pairs, key=lambda pair: pair[0] == "algorithm_version")


def _section(
    cell: TracedCell, name: str, axes: dict[str, tuple[float, float]], differing: list[str], lines: Lines
) -> Context:
    main = next((d for d in cell.distributions if d.name == name and d.values), None)
    seeds = ", ".join(f"{seed} (repeat {repeat})" for repeat, seed in cell.split_seeds[:20])
    more = f", and {len(cell.split_seeds) - 20} more" if len(cell.split_seeds) > 20 else ""
    facts = [*_numbers(cell.dataset, lines), ("trials", f"{cell.n_found:,} of {cell.n_planned:,}")]
    same, close, other = cell.audited
    if any(cell.audited):
        facts.append(
            ("audited", f"computed again: {same:,} the same bits, {close:,} the same digits, {other:,} different")
        )
    for part in differing:
        target, items = _card(cell.identity.get(part))
        text = ", ".join(f"{key}={value}" for key, value in items)
        facts.append((part, f"{target}: {text}" if target and text else target or text))
    facts += [("cell", cell.cell), ("identity of the data", cell.data or "not known")]
    facts += [("seeds of the folds", seeds + more)] if seeds else []
    return {
        "cell": cell,
        "anchor": dataset_anchor(cell.dataset),
        "facts": facts,
        "main": main,
        "pattern": pattern(*axes[name]) if main else "",
        "strip": _strip(main, *axes[name], cell.dataset) if main else Markup(""),
        "columns": list(dict.fromkeys(key for trial in cell.trials for key in trial.values)),
        "json": canonical_json(cell.identity),
    }


def _numbers(dataset: str, lines: Lines) -> list[tuple[str, str]]:
    """Return the artefact's numbers on a data set as facts; where there are many the table above has them."""
    own = [line for line in lines if line[1] == dataset]
    if len(own) > MAX_FACTS:
        return []
    return [
        (
            f"number {name}",
            f"{ours or 'not stored'}{f' (sd {sd})' if sd else ''}{f', printed {printed}' if printed else ''}",
        )
        for name, _, ours, sd, printed in own
    ]


def _strip(d: Distribution, low: float, high: float, dataset: str) -> Markup:
    where = f" on {dataset}" if dataset else ""
    label = f"{d.n} values{where}: {number(d.minimum)} to {number(d.maximum)}, mean {number(d.mean)}"
    return strip(d.values, low, high, d.mean, label)
