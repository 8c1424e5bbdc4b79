"""Hydra configs: where they are, what they may say, and the cells and artefacts made of them."""

from provlab.configs.artefacts import (
    COMPLETE,
    NOT_RUN,
    PARTIAL,
    Artefact,
    Entry,
    artefact_part,
    compose_artefact,
    counted_state,
    state_of,
)
from provlab.configs.cells import cells_of
from provlab.configs.composing import CELL_GROUPS, compose_config, compose_parts, config_errors
from provlab.configs.places import artefact_names, conf_dir, experiments_dir, full_name, tool

__all__ = [
    "CELL_GROUPS", "COMPLETE", "NOT_RUN", "PARTIAL", "Artefact", "Entry", "artefact_names", "artefact_part",
    "cells_of", "compose_artefact", "compose_config", "compose_parts", "conf_dir", "config_errors", "counted_state",
    "experiments_dir", "full_name", "state_of", "tool",
]  # fmt: skip
