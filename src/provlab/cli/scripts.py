"""What the scripts below `experiments/` are made of: artefacts, and sweeps over cells."""

from provlab.cli._artefacts import artefact_main, run_main
from provlab.cli._sweeps import run_job, sweep_main
from provlab.reports.recipe import Recipe, Rendering

__all__ = ["Recipe", "Rendering", "artefact_main", "run_job", "run_main", "sweep_main"]
