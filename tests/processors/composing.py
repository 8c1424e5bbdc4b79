"""Prints, as JSON, cells with their first keys and seeds: of artefacts that need no download, and of all of TechTC."""

import json

from small_work import WEIGHTINGS

from provlab.core.artefact import compose_artefact
from provlab.core.cell import trial_seed
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, make_tasks, trials_of

ARTEFACTS = (
    "paul2016/table1", "paul2016/table1_sets", "wang2018/ofs-certificates", "giesen2013/theorem5",
    "giesen2013/theorem7", "giesen2013/compression-memory",
)  # fmt: skip


def described(cell):
    """Return what decides where a trial's record is looked for, and what it draws."""
    repeat, fold, draw, key = next(trials_of(cell))
    return [cell.data, cell.id, key, trial_seed(cell, repeat, fold, draw)]


def main():
    cells_by_name = {name: compose_artefact(name).cells for name in ARTEFACTS}
    for weighting in WEIGHTINGS:
        techtc = [
            "dataset=techtc",
            f"dataset.weighting={weighting}",
            "selector=bss",
            "protocol.repeats=1",
        ]
        cells_by_name[f"techtc {weighting}"] = cells_of(compose_config(techtc))
    folds = sorted(
        {
            (task.data, task.repeat, task.split_seed)
            for cells in cells_by_name.values()
            for task in make_tasks(cells)
        }
    )
    print(
        json.dumps(
            {
                "cells": {
                    name: list(map(described, cells))
                    for name, cells in cells_by_name.items()
                },
                "folds": folds,
            }
        )
    )


if __name__ == "__main__":
    main()
