"""What the end of a sweep says: what is done, what failed, and the commands that try it again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from provlab.cli._errors import ERRORS
from provlab.cli._guard import called
from provlab.cli._ledger import Job, Ledger, Outcome
from provlab.configs import compose_config

LISTED = 20
"""Jobs that are printed of a list; failures.txt has all that failed."""

CHECKED = 100
"""Jobs that are composed again to find which of them Hydra has refused."""


def heads(ledger: Ledger, jobs: Sequence[Job], outcomes: Sequence[Outcome], *, interrupted: bool) -> list[str]:
    """Return how many jobs are done, and which were not finished."""
    n_failed = sum(bool(outcome.reason) for outcome in outcomes)
    known = {outcome.number for outcome in outcomes}
    left = [job for number, job in enumerate(jobs) if number not in known]
    text = f"sweep: {len(outcomes) - n_failed} of {len(jobs)} jobs done, {n_failed} failed"
    text = f"{text}, interrupted" if interrupted else text
    if not left:
        return [text]
    names = [ledger.title(job) for job in left[:LISTED]] + _rest(left, LISTED)
    return [f"{text}, {len(left)} skipped or not finished:", *(f"  {name}" for name in names)]


def failure_lines(failures: Sequence[Outcome], most: int | None = None) -> list[str]:
    """Return each reason once, below it the command that runs each of its jobs again; of `LISTED` jobs by default."""
    most = LISTED if most is None else most
    jobs: dict[str, list[Job]] = {}
    for failure in failures[:most]:
        jobs.setdefault(failure.reason, []).append(failure.overrides)
    lines = []
    for reason, found in jobs.items():
        number = f"{len(found)} jobs" if len(found) > 1 else "1 job"
        lines += [f"failed, {number}: {reason}", *(f"  {called(*job)}" for job in found)]
    return lines + _rest(failures, most)


def _rest(items: Sequence[Any], most: int) -> list[str]:
    return [f"and {len(items) - most} more"] if len(items) > most else []


def advice(failures: Sequence[Outcome], settings: Sequence[str], again: str) -> list[str]:
    """Return the commands for all that failed: one sweep where those jobs are all combinations of some values."""
    lines = [f"The same sweep again skips what is stored:\n  {again}"]
    values: dict[str, list[str]] = {}
    for outcome in failures:
        for text in outcome.overrides:
            key, _, value = text.partition("=")
            values.setdefault(key, [])
            values[key] += [value] if value not in values[key] else []
    if len(failures) > 1 and math.prod(map(len, values.values())) == len(failures):
        combined = [f"{key}={','.join(chosen)}" for key, chosen in values.items()]
        lines.append(f"Only those that failed:\n  {called('-m', *settings, *combined)}")
    return lines


def refusal(ledger: Ledger, jobs: Sequence[Job]) -> list[str]:
    """Return which jobs cannot be composed, as Hydra tells only of the first, and without its settings."""
    reasons = {}
    for job in jobs[:CHECKED]:
        try:
            compose_config(job)
        except ERRORS as error:
            reasons[ledger.title(job)] = str(error).splitlines()[0]
    lines = [f"  {title}: {reason}" for title, reason in reasons.items()]
    return [f"sweep: refused, nothing was run; {len(lines)} of {len(jobs)} jobs:", *lines[:LISTED]] if lines else []
