"""Stored runs: what is in one, and reading it back."""

import json
import math
from datetime import datetime
from pathlib import Path

from provlab.core.tables import write_text

FORMAT = "provsel benchmarks 1"
SAME_MACHINE = ("processor", "cores", "cpu_features", "machine", "blas")
NUMBERS = ("ours_cpu", "peer_cpu", "ratio", "limit_cpu", "ratio_to_limit")
SPREADS = ("ratio_spread", "limit_spread")


class StoredRunError(ValueError):
    """A file that should hold a run of the benchmarks does not."""


def stored_name(form):
    """Return the name of the file of the last run of a form: latest.json of the form "bench"."""
    return "latest.json" if form == "bench" else f"latest-{form}.json"


def store_run(path, form, environment, benchmarks, cases):
    """Write a run as JSON, whole or not at all."""
    content = {"format": FORMAT, "form": form, "environment": environment, "benchmarks": benchmarks, "cases": cases}
    write_text(Path(path), json.dumps(content) + "\n")


def load_run(path):
    """Return a stored run.

    Raises
    ------
    StoredRunError
        When the file is not there, damaged, or of something else.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else f"{type(error).__name__}: {error}"
        raise refused(path, what) from None
    found = content.get("format") if isinstance(content, dict) else type(content).__name__
    if found != FORMAT:
        raise refused(path, f"the format {found!r}")
    if not isinstance(content.get("environment"), dict) or not isinstance(content.get("benchmarks"), dict):
        raise refused(path, "no environment or no benchmarks in it")
    cases = content.get("cases")
    if not isinstance(cases, list):
        raise refused(path, "no list of cases in it")
    for place, found in enumerate(cases):
        if not is_case(found):
            raise refused(path, f"a damaged case at place {place}")
    return content


def refused(path, got):
    """Return the error of a file that is no stored run."""
    return StoredRunError(
        f"{path}: expected a stored run of `make bench` (format {FORMAT!r}), got {got}; "
        "name another with --against FILE, or delete it to start anew."
    )


def is_case(found):
    """Tell whether a comparison can read a record."""
    return (
        isinstance(found, dict)
        and all(isinstance(found.get(name), str) for name in ("benchmark", "case"))
        and all(found.get(name) is None or is_number(found[name]) for name in NUMBERS)
        and all(found.get(name) is None or is_spread(found[name]) for name in SPREADS)
    )


def is_number(value):
    """Tell whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_spread(value):
    """Tell whether a value is [lowest, highest]."""
    return isinstance(value, list) and len(value) == 2 and all(is_number(end) for end in value)


def about(run, here):
    """Return a line on a stored run: when it was made, and where that was another place than `here`."""
    there = run["environment"]
    different = [name for name in SAME_MACHINE if there.get(name) != here.get(name)]
    line = f"Compared with the run of {when(there.get('date'))}"
    if not different:
        return line + ", on this machine."
    names = ", ".join(f"{name.replace('_', ' ')}: {there.get(name)}" for name in different if name != "cpu_features")
    return line + f", on ANOTHER machine or BLAS ({names or 'other features of the processor'}): ratios may differ."


def when(date):
    """Return a stored date without its zone, or "an unknown date"."""
    try:
        return f"{datetime.fromisoformat(date):%Y-%m-%d %H:%M} UTC"
    except (TypeError, ValueError):
        return "an unknown date"
