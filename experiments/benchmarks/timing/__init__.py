"""CPU seconds of the scripts that write a table beside errors or picks, which pytest-benchmark does not measure."""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.core.tables import write_text

RESULTS = Path(__file__).resolve().parents[3] / "results" / "benchmarks"


def cpu_seconds(function, *arguments):
    """Return (CPU seconds of the process, result) of one call."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def several(function, repeats=3, long=1.0):
    """Return the CPU seconds of up to `repeats` calls, no further one after a call of more than `long` seconds."""
    seconds = []
    while len(seconds) < repeats and (not seconds or seconds[-1] <= long):
        seconds.append(cpu_seconds(function)[0])
    return seconds


def case(name, ours, *, peer=None, goal="", unit="CPU s"):
    """Return the medians of one case: ours, a number or several, and a package's, (its name, a number or several)."""
    record = {"case": name, "unit": unit, "ours_cpu": float(np.median(ours)), "goal": goal}
    if peer is not None:
        record |= {"peer": peer[0], "peer_cpu": float(np.median(peer[1]))}
    return record


def rules_table(fields, rows, path):
    """Return rows as a text, and write them to a CSV file if there is a path."""
    table = pd.DataFrame(rows, columns=fields)
    if path:
        table.to_csv(path, index=False)
    return table.to_string(index=False, na_rep="")


def report(name, table, cases=(), **records):
    """Print a table, and leave it with the cases and records below results/benchmarks."""
    print(table)
    write_text(RESULTS / f"{name}.txt", table + "\n")
    write_text(RESULTS / f"{name}.json", json.dumps({"cases": list(cases), **records}, indent=1) + "\n")
