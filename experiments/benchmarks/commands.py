"""python experiments/benchmarks/commands.py [--records 685454] [--repeats 5]: `provsel status` and `provsel verify`.

Wall seconds of new processes over the plan of all artefacts, with nothing and with everything stored (a store like that
of report.py: numbers are drawn, keys and cells are the real ones). Beside them stands `import sklearn.svm`, as a
measure of the machine; the goal of each is three seconds. The processes take turns. The first turn is separate:
artefacts are composed and remembered then, modules compiled, and the disk is cold.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from timing import case, report

from provlab.data import data_dir
from report import make_store

BENCH = {
    "bench": ["--records", "50000", "--repeats", "3"],
    "quick": ["--records", "5000", "--repeats", "1"],
    "left_out": "635,454 of the plan's 685,454 records, 3 repeats instead of 5",
    "seconds": 240,
}
FULL, GOAL = 685_454, 3.0
"""Trials of all artefacts; seconds."""


def seconds_of(arguments, data):
    """Return the wall seconds of one new process, which remembers in the folder `data` and has the user's data sets."""
    found = os.environ.get("PROVSEL_DATA_MIRROR") or str(data_dir())
    start = time.perf_counter()
    subprocess.run([sys.executable, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "PROVSEL_DATA": str(data), "PROVSEL_DATA_MIRROR": found})  # fmt: skip
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=FULL)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        empty, full = Path(temporary) / "empty", Path(temporary) / "full"
        make_store(full / "store", options.records)
        processes = {"import sklearn.svm": ["-c", "import sklearn.svm"]}
        for command in ("status", "verify"):
            for results, stored in ((empty, "nothing"), (full, f"{options.records:,} trials")):
                processes[f"{command}, {stored} stored"] = ["-m", "provlab.cli", command, "--results", results]
        data = {name: Path(temporary) / "data" / name.replace(" ", "") for name in processes}
        turns = [
            {name: seconds_of(each, data[name]) for name, each in processes.items()} for _ in range(options.repeats + 1)
        ]
    seconds = {name: [turn[name] for turn in turns[1:]] for name in processes}
    svm = seconds.pop("import sklearn.svm")
    judged = options.records == FULL
    cases = []
    for name, found in seconds.items():
        cases.append(case(name, found, limit=("import sklearn.svm", svm), unit="wall s"))
        cases.append(case(f"{name}, beside {GOAL:g} s", found, limit=(f"{GOAL:g} s", GOAL),
                          goal="ratio_to_limit <= 1", judged=judged, unit="wall s"))  # fmt: skip
    lines = ["| command | wall s | beside import sklearn.svm | goal: at most 3 s | the first time (s) |"]
    lines.append("|---|--:|--:|---|--:|")
    for name, found in seconds.items():
        median = statistics.median(found)
        met = "met" if median <= GOAL else "MISSED"
        beside, goal = median / statistics.median(svm), met if judged else ""
        lines.append(f"| {name} | {median:.2f} | {beside:.2f} | {goal} | {turns[0][name]:.2f} |")
    report("commands", "\n".join(lines), cases, seconds=seconds | {"import sklearn.svm": svm})


if __name__ == "__main__":
    main()
