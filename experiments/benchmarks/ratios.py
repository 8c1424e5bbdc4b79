"""python experiments/benchmarks/ratios.py RUN.json [--goals FILE]: goals of a stored run.

RUN.json is what `make bench OVERRIDES=--benchmark-autosave` left below
results/benchmarks. A goal compares medians of two contenders of a group, or one with a
number of seconds; its range is of the fastest and slowest rounds. --goals writes what
the page of results/reference shows, results/reference/benchmarks.json.
"""

import argparse
import json
import operator
from pathlib import Path

import pandas as pd

from provlab.core.tables import write_text

RELATIONS = {">=": operator.ge, "<=": operator.le}
OURS = "provsel"


def rounds_of(name, contenders):
    """Return the median, fastest and slowest round of a contender; a number, such as 3 s, stands for itself."""
    if name in contenders:
        stats = contenders[name]["stats"]
        return stats["median"], stats["min"], stats["max"]
    return (float(name.removesuffix(" s")),) * 3


def goal_of(group, contenders):
    """Return the line of a group with a goal such as "textbook / provsel >= 50"."""
    [text] = {
        bench["extra_info"]["goal"]
        for bench in contenders.values()
        if "goal" in bench["extra_info"]
    }
    ratio, relation, bound = text.rsplit(" ", 2)
    above, below = ratio.split(" / ")
    median, fastest, slowest = rounds_of(above, contenders)
    beside, beside_fastest, beside_slowest = rounds_of(below, contenders)
    is_peer = below == OURS
    number = "ratio" if is_peer else "ratio_to_limit"
    return {
        "script": group.split(", ")[0],
        "case": group,
        "peer": above if is_peer else None,
        "limit": None if is_peer else below,
        "goal": f"{number} {relation} {bound}",
        number: median / beside,
        "ratio_spread" if is_peer else "limit_spread": [
            fastest / beside_slowest,
            slowest / beside_fastest,
        ],
        "met": RELATIONS[relation](median / beside, float(bound)),
    }


def goals_of(run):
    """Return the goals of all groups whose contenders were all measured."""
    groups = {}
    for bench in run["benchmarks"]:
        groups.setdefault(bench["group"], {})[bench["params"]["contender"]] = bench
    with_goal = {
        bench["group"] for bench in run["benchmarks"] if "goal" in bench["extra_info"]
    }
    return [goal_of(group, groups[group]) for group in sorted(with_goal)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--goals", type=Path)
    options = parser.parse_args()
    run = json.loads(options.run.read_text(encoding="utf-8"))
    goals = goals_of(run)
    print(pd.DataFrame(goals).to_string(index=False))
    if options.goals:
        place = run["machine_info"]["environment"]
        about = {**place, "date": run["datetime"], "cpu_features": place["cpu"]}
        write_text(
            options.goals,
            json.dumps({"environment": about, "cases": goals}, indent=1) + "\n",
        )


if __name__ == "__main__":
    main()
