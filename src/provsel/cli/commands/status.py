"""`provsel status`."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from provsel.cli.commands import add_store_arguments
from provsel.configs import Artefact, artefact_names, compose_artefact, full_name
from provsel.datasets import MissingDataError
from provsel.evaluation.plan import trials_of, unique_cells
from provsel.store import TrialStore

HELP = "how much of each artefact is stored"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which artefacts."""
    parser.add_argument(
        "--artefact", action="append", metavar="NAME", help="such as table1; may be repeated (default: all)"
    )
    add_store_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print one line an artefact: trials stored, its state, and the command for what is missing."""
    names = [full_name(name) for name in options.artefact or artefact_names()]
    store = TrialStore(Path(options.results) / "store")
    stored = store.keys()
    table = Table("artefact", "trials", "state", "command")
    for name in names:
        command = f"make reproduce-{name.split('/')[1]}"
        try:
            artefact = compose_artefact(name, options.overrides)
        except MissingDataError as error:
            table.add_row(name, "", "data missing", f"provsel fetch {error.dataset}")
            continue
        planned = planned_keys(artefact)
        done = len(planned & stored)
        state = "complete" if done == len(planned) else "partial" if done else "not run"
        table.add_row(name, f"{done} of {len(planned)}", state, "" if state == "complete" else command)
    console = Console()
    console.print(table)
    if note := store.damaged_note():
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    return 0


def planned_keys(artefact: Artefact) -> set[str]:
    """Return the keys of all trials of an artefact."""
    return {key for cell in unique_cells(artefact.cells) for *_, key in trials_of(cell)}
