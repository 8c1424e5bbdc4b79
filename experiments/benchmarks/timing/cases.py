"""The common record of a measured case, and where the tables and records of a benchmark go."""

import csv
import json
import operator
import os
from pathlib import Path

from provlab.core.tables import write_text
from provlab.run.environment import environment
from timing.measure import median, numbers, repository

FOLDER_VARIABLE = "PROVSEL_BENCHMARKS"
SENSES = {">=": operator.ge, "<=": operator.le}
FIELDS = (
    "benchmark", "case", "unit", "ours_cpu", "peer", "peer_cpu", "ratio", "ratio_spread", "limit", "limit_cpu",
    "ratio_to_limit", "limit_spread", "goal", "met", "repeats",
)  # fmt: skip


def case(name, ours, *, peer=None, limit=None, goal="", judged=True, unit="CPU s"):
    """Return the record of one case, ready for JSON.

    Parameters
    ----------
    name : str
        Says the sizes too: cases of another run are compared where their names are equal.
    ours : float or list of float
        What we need, in `unit`, of one run or of several; the median counts.
    peer : (str, float or list of float), optional
        Who else does the work, and what they need. `ratio` is peer / ours: higher is better.
    limit : (str, float or list of float), optional
        What bounds us on this machine, and what that takes. `ratio_to_limit` is ours / limit: lower is better.
    goal : str, optional
        "ratio >= 10" or "ratio_to_limit <= 2".
    judged : bool, default=True
        False where the goal is for a larger size than the measured: it then is neither met nor missed.
    unit : str, default="CPU s"
        "MB", say, where the case is about memory; `ours_cpu` and its like then are in it.
    """
    record = dict.fromkeys(FIELDS)
    record |= {"case": name, "unit": unit, "ours_cpu": median(ours), "repeats": len(numbers(ours)), "goal": goal}
    if peer is not None:
        record |= {"peer": peer[0], "peer_cpu": median(peer[1])}
        record |= {"ratio": divided(median(peer[1]), median(ours)), "ratio_spread": spread(peer[1], ours)}
    if limit is not None:
        record |= {"limit": limit[0], "limit_cpu": median(limit[1])}
        record |= {"ratio_to_limit": divided(median(ours), median(limit[1])), "limit_spread": spread(ours, limit[1])}
    if goal and judged:
        field, sense, bound = goal.split()
        if record[field] is not None:
            record["met"] = bool(SENSES[sense](record[field], float(bound)))
    return record


def divided(above, below):
    """Return above / below; None where `below` is too short for the clock."""
    return above / below if below > 0 else None


def spread(above, below):
    """Return [lowest, highest] of above / below, turn by turn where both took turns; None after a single run."""
    above, below = numbers(above), numbers(below)
    if len(above) == len(below) == 1 or min(below) <= 0:
        return None
    if len(above) == len(below):
        ratios = [a / b for a, b in zip(above, below, strict=True)]
    else:
        ratios = [min(above) / max(below), max(above) / min(below)]
    return [min(ratios), max(ratios)]


def folder():
    """Return where a script leaves its files: below results/, or where run.py collects them."""
    return Path(os.environ.get(FOLDER_VARIABLE) or repository() / "results" / "benchmarks")


def rules_table(fields, rows, path):
    """Return lines, two texts and then numbers in each, as a Markdown table; write them to a CSV file if any."""
    if path:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    lines = [f"| {' | '.join(fields)} |", "|---|---|" + "--:|" * (len(fields) - 2)]
    lines += [f"| {' | '.join(str(row.get(field, '')) for field in fields)} |" for row in rows]
    return "\n".join(lines)


def report(name, tables, cases=(), **records):
    """Print the Markdown tables, and write them, the common records of the cases and `records` as name.md and .json."""
    print(tables)
    where = {**json.loads(environment()), "blas_threads": 1}
    cases = [{**found, "benchmark": name} for found in cases]
    write_text(folder() / f"{name}.md", tables + "\n")
    content = {"environment": where, "cases": cases, **records}
    write_text(folder() / f"{name}.json", json.dumps(content, indent=2) + "\n")
