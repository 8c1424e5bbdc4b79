"""Compute and render the artefacts of papers, and count their stored trials."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from provlab.cli.commands import add_json, add_settings, add_store_arguments
from provlab.project.terminal import PlainConsole, print_json, table

if TYPE_CHECKING:
    from provlab.core.artefact import Artefact
    from provlab.core.recipe import Recipe


def reproduce_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the artefact and the options of the run."""
    parser.epilog = "Interrupt at any time; the same command resumes."
    parser.add_argument(
        "name",
        help="an artefact, such as table1 or PAPER/table1; a paper, for all its artefacts; or all",
    )
    parser.add_argument(
        "--render", action="store_true", help="render stored trials, compute nothing"
    )
    parser.add_argument(
        "--fail-fast", action="store_true", help="end the run at the first failed trial"
    )
    add_settings(parser)


def call_reproduce(options: argparse.Namespace) -> int:
    """Reproduce one artefact after the other; the exit status is the largest."""
    from provlab.core.recipe import load_recipe
    from provlab.project.papers import full_name, papers, some_artefacts

    if options.name == "all":
        names = some_artefacts()
    elif options.name in papers():
        names = [
            f"{options.name}/{artefact}"
            for artefact in papers()[options.name].artefacts()
        ]
    else:
        names = [full_name(options.name, also=["all", *papers()])]
    return max([_reproduce(load_recipe(name), options) for name in names], default=0)


def _reproduce(recipe: Recipe, options: argparse.Namespace) -> int:
    """Run the missing trials of an artefact, write its CSV, render it, and return 1 if a trial failed."""
    from provlab.core.artefact import compose_artefact
    from provlab.core.composition import executor_settings, results_folder
    from provlab.core.store import TrialStore
    from provlab.project.papers import reproduce_command
    from provlab.run.runner import RunReport, run_cells

    artefact = compose_artefact(recipe.name, options.overrides)
    recipe.check(artefact)
    results = results_folder(artefact.parts)
    store = TrialStore(results / "store")
    report = RunReport()
    if not options.render:
        if note := executor_note(artefact):
            print(note, file=sys.stderr)
        ends_early, where = (
            options.fail_fast or artefact.parts["fail_fast"],
            executor_settings(artefact.parts),
        )
        report = run_cells(
            artefact.cells, store, where, label=recipe.name, fail_fast=ends_early
        )
        print(report.counts(), file=sys.stderr)
    if not report.stopped:  # otherwise the table would hide the failure
        frame = recipe.frame(artefact, store)
        print(
            recipe.write(
                artefact,
                store,
                frame,
                results / "tables" / recipe.name,
                results / "figures" / recipe.name,
            )
        )
        print(
            "To trace a number, use provsel report or provsel explain.", file=sys.stderr
        )
    if not report.failures:
        return 0
    first = f"{len(report.failures)} of {report.n_planned} trials failed:"
    if report.stopped:
        first = f"Stopped at the first failure, {report.n_skipped} trials skipped, nothing rendered:"
    again = reproduce_command(
        recipe.name, [*options.overrides, *["--fail-fast"] * options.fail_fast]
    )
    lines = [first, *(f"  {line}" for line in report.kinds())]
    lines += [
        "Finished trials are stored. This command computes the missing ones:",
        f"  {again}",
    ]
    print("\n".join(lines), file=sys.stderr)  # after the table, where it is seen
    return 1


def executor_note(artefact: Artefact) -> str:
    """Return a note if an artefact requires a single process but the executor has several; otherwise ""."""
    from provlab.core.artefact import artefact_part
    from provlab.core.composition import executor_settings

    used = executor_settings(artefact.parts)["name"]
    if used == "serial" or artefact_part(artefact.name, "executor")["name"] != "serial":
        return ""
    return (
        f"{artefact.name}: expected executor=serial, because it measures times, got {used}; "
        f"parallel trials take longer: omit executor=... unless times do not matter."
    )


def status_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses artefacts."""
    parser.add_argument(
        "--artefact",
        action="append",
        metavar="NAME",
        help="such as table1; may be repeated (default: all)",
    )
    add_json(parser)
    add_store_arguments(parser)


def call_status(options: argparse.Namespace) -> int:
    """Print the number of stored trials, the state, and the command for missing trials of each artefact."""
    from provlab.core.artefact import COMPLETE, compose_artefact, state_of
    from provlab.core.plan import unique_cells
    from provlab.core.snapshot import StoreSnapshot
    from provlab.core.store import TrialStore
    from provlab.data import MissingDataError
    from provlab.project.papers import full_name, reproduce_command, some_artefacts

    names = [full_name(name) for name in options.artefact or some_artefacts()]
    store = TrialStore(Path(options.results) / "store")
    stored = StoreSnapshot(store, [])
    lines = []
    for name in names:
        done = planned = None
        command = reproduce_command(name)
        try:
            artefact = compose_artefact(name, options.overrides)
            cells = unique_cells(artefact.cells)
            done, planned = stored.count(cells), sum(cell.n_trials for cell in cells)
            state = state_of(done, planned)
            artefact.check_data(done)
        except MissingDataError as error:
            state, command = "data missing", f"provsel fetch {error.dataset}"
        command = "" if state == COMPLETE else command
        lines.append(
            {
                "artefact": name,
                "stored": done,
                "planned": planned,
                "state": state,
                "command": command,
            }
        )
    if options.json:
        print_json(lines)
        return 0
    console = PlainConsole()
    shown = []
    for line in lines:
        trials = (
            "" if line["stored"] is None else f"{line['stored']} of {line['planned']}"
        )
        shown.append({
            "artefact": line["artefact"], "trials": trials, "state": line["state"], "command": line["command"]
        })  # fmt: skip
    console.print(table(shown))
    if note := store.damaged_note():
        console.print(note, soft_wrap=True)
    return 0


COMMANDS = {
    "reproduce": (reproduce_arguments, call_reproduce),
    "status": (status_arguments, call_status),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
