"""What it takes to start: CPU seconds of new processes that import the selectors, or print a command's help.

python experiments/benchmarks/imports.py [--repeats 7]

Beside `import provsel.selectors` stands `import sklearn.svm`, which it needs; beside `provsel --help` a Python that
parses no arguments. The processes take turns, the first turn is not counted: it compiles and warms the disk.
"""

import argparse
import resource
import subprocess
import sys

from timing import case, report

BENCH = {
    "bench": ["--repeats", "7"],
    "quick": ["--repeats", "3"],
    "full": ["--repeats", "15"],
    "left_out": "7 repeats instead of 15",
    "seconds": 120,
}
SELECTORS_GOAL, HELP_GOAL = 1.3, 0.3
PROCESSES = {
    "import sklearn.svm": ["-c", "import sklearn.svm"],
    "import provsel.selectors": ["-c", "import provsel.selectors"],
    "import provsel.models": ["-c", "import provsel.models"],
    "import provlab.data": ["-c", "import provlab.data"],
    "import argparse": ["-c", "import argparse; argparse.ArgumentParser().parse_args([])"],
    "provsel --help": ["-m", "provlab.cli", "--help"],
    "provsel status --help": ["-m", "provlab.cli", "status", "--help"],
}


def cpu_of(arguments):
    """Return the CPU seconds, of user and system, of one new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    turns = [{name: cpu_of(arguments) for name, arguments in PROCESSES.items()} for _ in range(repeats + 1)]
    seconds = {name: [turn[name] for turn in turns[1:]] for name in PROCESSES}
    svm, plain = seconds["import sklearn.svm"], seconds["import argparse"]
    cases = [
        case(name, seconds[name], limit=("import sklearn.svm", svm), goal=f"ratio_to_limit <= {SELECTORS_GOAL}")
        for name in ("import provsel.selectors", "import provsel.models", "import provlab.data")
    ]
    for name in ("provsel --help", "provsel status --help"):
        cases.append(case(name, seconds[name], limit=("import argparse", plain)))
        cases.append(
            case(f"{name}, beside {HELP_GOAL} s", seconds[name], limit=(f"{HELP_GOAL} s", HELP_GOAL),
                 goal="ratio_to_limit <= 1")
        )  # fmt: skip
    report("imports", markdown(cases), cases, seconds=seconds)


def markdown(cases):
    lines = ["| new process | CPU s | beside | CPU s | ratio | goal |", "|---|--:|---|--:|--:|---|"]
    for found in cases:
        met = {True: "met", False: "MISSED", None: ""}[found["met"]]
        lines.append(
            f"| {found['case']} | {found['ours_cpu']:.2f} | {found['limit']} | {found['limit_cpu']:.2f} "
            f"| {found['ratio_to_limit']:.2f} | {found['goal'].removeprefix('ratio_to_limit ')} {met} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
