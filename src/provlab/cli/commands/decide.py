"""`provsel decide`."""

from __future__ import annotations

import argparse
from pathlib import Path

from provlab.cli.commands import add_store_arguments
from provlab.messages import did_you_mean

HELP = "more repeats for claims that are open, by a rule fixed beforehand, within a budget"
EXAMPLE = "provsel decide --claim figure1 --cpu-hours 2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which claims, and the budget."""
    parser.epilog = "Interrupt at any time; the same command resumes."
    parser.add_argument(
        "--claim", action="append", default=[], metavar="TEXT", help="only claims with this in the id; may be repeated"
    )
    parser.add_argument("--cpu-hours", type=float, help="the budget; without it, only the plan is shown")
    parser.add_argument("--most", type=int, default=150, help="repeats of the last look at most (default: 150)")
    parser.add_argument("--looks", type=int, default=4, help="looks at a claim (default: 4)")
    add_store_arguments(parser, "executor=serial")


def run(options: argparse.Namespace) -> int:
    """Print the plans, the cheapest first, and take the looks that the budget allows."""
    from rich.table import Table

    from provlab.claims.judged import claim_files
    from provlab.cli._guard import wide_console
    from provlab.deciding import Decider, Plan, by_worth

    if options.cpu_hours is not None and not options.cpu_hours > 0:
        raise ValueError(f"--cpu-hours: expected more than 0, got {options.cpu_hours}; name a budget.")
    console, decider = wide_console(), Decider(Path(options.results), options.overrides, options.most, options.looks)
    found: list[Plan | str] = []
    files = claim_files()
    known = [claim.id for file in files for claim in file.claims]
    for text in options.claim:
        if not any(text in name for name in known):
            raise ValueError(
                f"--claim: expected a part of the id of a claim, got {text!r:.80}" + (did_you_mean(text, known) or ".")
            )
    for file in files:
        found += decider.plans(file.named(options.claim), file.claims)
    plans = by_worth([each for each in found if isinstance(each, Plan)])
    table = Table("open claim", "looks at repeats", "levels", "CPU hours")
    for plan in plans:
        looks = [str(look.repeats) for look in plan.looks], [f"{look.level:.2g}" for look in plan.looks]
        table.add_row(plan.claim.id, ", ".join(looks[0]), ", ".join(looks[1]), f"{plan.cpu_hours:.2g}")
    if plans:
        console.print(table)
    for each in found:
        if isinstance(each, str):
            console.print(each)
    if options.cpu_hours is None:
        what = "--cpu-hours H begins with the cheapest." if plans else "nothing to compute."
        console.print(f"{len(plans)} claims; {what}")
        return 0
    decider.fix(plans)
    left = options.cpu_hours
    for plan in plans:
        spent = 0.0
        for look, made, spent in decider.run(plan, left):  # noqa: B007 - the last is what the claim has cost
            console.print(f"{plan.claim.id}: {made.verdict} at {look.repeats} repeats (level {look.level:.2g})")
        left -= spent
    console.print(f"{options.cpu_hours - left:.2g} CPU hours spent")
    return 0
