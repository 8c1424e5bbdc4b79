"""The command line: the one place that wires configs, runs, the store, claims and reports.

The command `provsel` imports little until it knows what to do; the scripts below `experiments/` start from
`provsel.cli.scripts`.
"""

from provsel.cli._guard import INTERRUPTED
from provsel.cli._main import main

__all__ = ["INTERRUPTED", "main"]
