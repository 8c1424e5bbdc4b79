"""The command line: the one place that wires configs, runs, the store, claims and reports.

The command `provsel` imports little until it knows what to do.
"""

from provlab.cli._guard import INTERRUPTED
from provlab.cli._main import main

__all__ = ["INTERRUPTED", "main"]
