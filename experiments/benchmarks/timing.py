"""What the benchmarks share: CPU seconds of a call, and where their tables and records go."""

import json
import time
from pathlib import Path

from provsel.evaluation.environment import environment
from provsel.reports.tables import write_text

FOLDER = Path(__file__).resolve().parents[2] / "results" / "benchmarks"


def cpu_seconds(function, *arguments):
    """Return (CPU seconds of the process, result) of one call."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def report(name, tables, **records):
    """Print the Markdown tables, and write them and the records with the environment below results/benchmarks."""
    print(tables)
    where = {**json.loads(environment()), "blas_threads": 1}
    write_text(FOLDER / f"{name}.md", tables + "\n")
    write_text(FOLDER / f"{name}.json", json.dumps({"environment": where, **records}, indent=2) + "\n")
