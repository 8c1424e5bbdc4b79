"""The goals of speed, and the run of all benchmarks that is kept with the reference."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from provlab.documents import read_json
from provlab.tables import markdown_table

BENCHMARKS = "benchmarks.json"
"""`results/benchmarks/latest.json` as `make bench` stored it on a quiet machine."""

NUMBERS = {
    "ratio": ("peer", "ratio_spread", "{peer} / ours"),
    "ratio_to_limit": ("limit", "limit_spread", "ours / {limit}"),
}
WORDS = {"<=": "at most", ">=": "at least"}


def stored_benchmarks(folder: Path) -> dict[str, Any]:
    """Return the run that a folder has, or nothing."""
    path = folder / BENCHMARKS
    found: dict[str, Any] = read_json(path) if path.is_file() else {}
    return found


def goals_table(run: Mapping[str, Any]) -> list[str]:
    """Return the table of the goals of a run, where it has any."""
    judged = [case for case in run.get("cases", []) if case["met"] is not None]
    if not judged:
        return []
    rows = []
    for case in judged:
        number, relation, bound = case["goal"].split()
        beside, spread, what = NUMBERS[number]
        low, high = case[spread] or (case[number],) * 2
        measured = f"{case[number]:.3g} ({low:.3g} - {high:.3g})"
        state = "met" if case["met"] else "missed"
        rows.append(
            [
                case["script"],
                case["case"],
                what.format(**{beside: case[beside]}),
                measured,
                f"{WORDS[relation]} {bound}",
                state,
            ]
        )
    where = run["environment"]
    note = (
        f"{sum(case['met'] for case in judged)} of {len(judged)} met. Ratios of CPU time, one BLAS thread, medians and "
        f"range of the repeats in one process; `make bench`, {where['date'][:10]}, {', '.join(where['cpu_features'])}."
    )
    return [markdown_table(["benchmark", "case", "ratio", "measured", "goal", ""], rows, "Goals of speed", note)]
