"""The command line: the one place that wires configs, runs, the store, claims and reports."""

from provsel.cli._artefacts import artefact_main, run_main
from provsel.cli._guard import INTERRUPTED
from provsel.cli._main import main
from provsel.cli._sweeps import run_job, sweep_main
from provsel.reports.recipe import Recipe, Rendering

__all__ = ["INTERRUPTED", "Recipe", "Rendering", "artefact_main", "main", "run_job", "run_main", "sweep_main"]
