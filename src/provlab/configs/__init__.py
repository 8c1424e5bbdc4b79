"""Hydra configs: what they may say, and the cells and artefacts made of them."""

from provlab.configs.artefacts import (
    COMPLETE,
    NOT_RUN,
    PARTIAL,
    Artefact,
    Entry,
    artefact_part,
    compose_artefact,
    counted_state,
    fitting,
    state_of,
)
from provlab.configs.cells import cells_of
from provlab.configs.composing import (
    CELL_GROUPS,
    Composer,
    compose_config,
    compose_parts,
    config_errors,
    executor_settings,
)
from provlab.configs.memory import remembered_artefact

__all__ = [
    "CELL_GROUPS", "COMPLETE", "NOT_RUN", "PARTIAL", "Artefact", "Composer", "Entry", "artefact_part", "cells_of",
    "compose_artefact", "compose_config", "compose_parts", "config_errors", "counted_state",
    "executor_settings", "fitting", "remembered_artefact", "state_of",
]  # fmt: skip
