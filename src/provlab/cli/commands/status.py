"""`provsel status`."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.table import Table

from provlab.cli.commands import add_store_arguments
from provlab.terminal import PlainConsole

HELP = "how much of each artefact is stored"
EXAMPLE = "provsel status --artefact table1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which artefacts."""
    parser.add_argument(
        "--artefact", action="append", metavar="NAME", help="such as table1; may be repeated (default: all)"
    )
    add_store_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print one line an artefact: trials stored, its state, and the command for what is missing."""
    from provlab.datasets import MissingDataError
    from provlab.plan import COMPLETE, compose_artefact, state_of, unique_cells
    from provlab.project import full_name, reproduce_command, some_artefacts
    from provlab.store import StoreSnapshot, TrialStore

    names = [full_name(name) for name in options.artefact or some_artefacts()]
    store = TrialStore(Path(options.results) / "store")
    stored = StoreSnapshot.take(store, [])
    table = Table("artefact", "trials", "state", "command")
    for name in names:
        trials, command = "", reproduce_command(name)
        try:
            artefact = compose_artefact(name, options.overrides)
            cells = unique_cells(artefact.cells)
            done, planned = stored.count(cells), sum(cell.n_trials for cell in cells)
            trials, state = f"{done} of {planned}", state_of(done, planned)
            artefact.check_data(done)
        except MissingDataError as error:
            state, command = "data missing", f"provsel fetch {error.dataset}"
        table.add_row(name, trials, state, "" if state == COMPLETE else command)
    console = PlainConsole()
    console.print(table)
    if note := store.damaged_note():
        console.print(note, soft_wrap=True)
    return 0
