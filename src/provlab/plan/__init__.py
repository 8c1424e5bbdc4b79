"""What is to be computed, before anything is: configs, artefacts, their cells, trials, and the tasks these make."""

from provlab.plan.artefact import (
    COMPLETE,
    NOT_RUN,
    PARTIAL,
    Artefact,
    Entry,
    artefact_part,
    column_settings,
    compose_artefact,
    counted_state,
    state_of,
)
from provlab.plan.composition import Composer, compose_config, executor_settings, results_folder
from provlab.plan.overrides import CELL_GROUPS
from provlab.plan.plan import (
    MANY_ROWS,
    MAX_COUNT,
    Task,
    Trial,
    cells_of,
    feature_names_of,
    files_missing,
    identity_of,
    load_again,
    load_from,
    make_tasks,
    places_of_first,
    trials_of,
    unique_cells,
)

__all__ = [
    "CELL_GROUPS", "COMPLETE", "MANY_ROWS", "MAX_COUNT", "NOT_RUN", "PARTIAL", "Artefact", "Composer", "Entry", "Task",
    "Trial", "artefact_part", "cells_of", "column_settings", "compose_artefact", "compose_config", "counted_state",
    "executor_settings", "feature_names_of", "files_missing", "identity_of", "load_again", "load_from", "make_tasks",
    "places_of_first", "results_folder", "state_of", "trials_of", "unique_cells",
]  # fmt: skip
