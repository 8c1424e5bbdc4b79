"""python experiments/benchmarks/run.py [--full|--quick] [--against FILE] [--strict] [NAME ...]: all benchmarks.

Each .py of this folder runs in a process of its own, one BLAS thread, with a limit of time; one that fails does not
stop the rest. At the end one table: what we need, beside the peers and beside what bounds us on this machine, each as
a ratio [lowest, highest of the repeats], and against the last stored run. "now / last" is how many times as much we
need now in terms of the peer or of the limit; more than 1.2 is flagged, and said to be within the spread where the
repeats of both runs overlap. What the default leaves out of a benchmark stands below its cases; --full has it.

Stored below results/benchmarks: NAME.json and NAME.md of each benchmark, and latest.json (latest-full.json,
latest-quick.json) of the last run of all. Runs of some benchmarks are compared but not stored as the latest.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from timing.cases import folder
from timing.compare import compare, is_certain, is_flagged
from timing.machine import machine
from timing.runs import StoredRunError, about, load_run, store_run, stored_name
from timing.scripts import find_scripts, run_script
from timing.table import run_table

from provlab.core.tables import write_text
from provlab.run.environment import environment
from provsel.files import replacing


def collected(scripts, form, seconds=None):
    """Run the scripts and return (outcomes by name, cases); each one's files are stored as it ends."""
    outcomes, cases = {}, []
    for script in scripts:
        print(f"{script.name} ...", end=" ", flush=True)
        outcome, files = run_script(script, form, seconds=seconds)
        outcomes[script.name] = outcome
        for name, content in files.items() if outcome["status"] == "ok" else ():
            with replacing(folder() / name) as temporary:
                temporary.write_bytes(content)
            if name.endswith(".json"):
                cases += [{**found, "script": script.name} for found in json.loads(content).get("cases", [])]
        took = f"{outcome['cpu']:.1f} CPU s, " if "cpu" in outcome else ""
        took += f"{outcome['peak_megabytes']:.0f} MB, " if "peak_megabytes" in outcome else ""
        print(f"{took}{outcome['wall']:.1f} s, {outcome['status']}", flush=True)
    return outcomes, cases


def stored_run(against, form):
    """Return (path, run) to compare with; (path, None) where no run is stored and none was named."""
    path = Path(against) if against else folder() / stored_name(form)
    return path, load_run(path) if against or path.exists() else None


def summary(outcomes, cases, changes, missing):
    """Return the lines below the table."""
    lines = []
    if missing:
        lines.append("Cases of the stored run that are missing now: " + ", ".join(f"{b}: {c}" for b, c in missing))
    flagged = {name: found for name, found in changes.items() if is_flagged(found)}
    for certain, words in (
        (True, "WARNING: worse by more than 20 % than in the stored run"),
        (False, "Worse by more than 20 %, but within the spread of the repeats"),
    ):
        which = [f"{b}: {c} ({found.factor:.2f})" for (b, c), found in flagged.items() if is_certain(found) is certain]
        if which:
            lines.append(f"{words}: {', '.join(which)}")
    judged = [found for found in cases if found["met"] is not None]
    missed = [found for found in judged if not found["met"]]
    lines.append(f"Goals: {len(judged) - len(missed)} of {len(judged)} met.")
    cpu = sum(outcome.get("cpu", 0.0) for outcome in outcomes.values())
    lines.append(f"{len(outcomes)} benchmarks, {cpu / 60:.1f} CPU minutes.")
    return lines


def busy(where):
    """Return a line on a machine that did other work at the start, or nothing."""
    load = (where["load_average"] or [0.0])[0]
    if load <= where["cores"] / 2:
        return []
    return [f"Load average {load:g} on {where['cores']} cores at the start: not a quiet machine, ratios are noisy."]


def parsed(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks, all by default")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--full", dest="form", action="store_const", const="full", help="nothing left out: an hour or more"
    )
    forms.add_argument("--quick", dest="form", action="store_const", const="quick", help="small sizes, to see it run")
    parser.add_argument("--against", metavar="FILE", help="compare with this run instead of the last")
    parser.add_argument(
        "--strict", action="store_true", help="exit status 1 for a flag that the spread does not explain"
    )
    parser.add_argument("--seconds", type=float, help="time limit of each benchmark, instead of its own")
    parser.set_defaults(form="bench")
    return parser.parse_args(argv)


def main(argv=None, scripts=None):
    """Run, compare, store, print; return the exit status."""
    options = parsed(argv)
    scripts = find_scripts(Path(__file__).parent) if scripts is None else scripts
    unknown = sorted(set(options.names) - {script.name for script in scripts})
    if unknown:
        known = ", ".join(script.name for script in scripts)
        print(f"NAME: expected one of {known}, got {', '.join(unknown)}.", file=sys.stderr)
        return 2
    try:
        path, stored = stored_run(options.against, options.form)  # before the minutes that the run takes
    except StoredRunError as error:
        print(error, file=sys.stderr)
        return 2
    chosen = [script for script in scripts if not options.names or script.name in options.names]
    start = time.perf_counter()
    where = {**json.loads(environment()), **machine(), "blas_threads": 1}
    outcomes, cases = collected(chosen, options.form, options.seconds)
    before = [found for found in stored["cases"] if found.get("script") in outcomes] if stored else []
    changes, missing = compare(cases, before) if stored else ({}, [])
    left_out = {script.name: script.left_out for script in chosen if options.form == "bench"}
    lines = [run_table(cases, outcomes, changes, left_out), ""]
    lines.append(about(stored, where) if stored else f"No stored run to compare with at {path}.")
    lines += [
        *busy(where),
        *summary(outcomes, cases, changes, missing),
        f"{(time.perf_counter() - start) / 60:.1f} minutes.",
    ]
    if len(chosen) == len(scripts):
        latest = folder() / stored_name(options.form)
        store_run(latest, options.form, where, outcomes, cases)
        write_text(latest.with_suffix(".md"), "\n".join(lines) + "\n")
    print("\n" + "\n".join(lines))
    if any(outcome["status"].startswith("failed") for outcome in outcomes.values()):
        return 1
    return int(options.strict and any(is_certain(found) for found in changes.values()))


if __name__ == "__main__":
    raise SystemExit(main())
