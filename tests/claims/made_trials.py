"""Artefacts and stores with numbers that a test chooses: nothing is computed, so that every verdict can be reached."""

from dataclasses import replace
from itertools import count

import numpy as np

from provlab.core.artefact import Artefact, Entry
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.verdicts.claims.stored import Evidence
from small_runs import UNIFORM, small_cell


def criteria(rule, margin):
    """Return how a rule with a margin decides on errors."""
    return rule(
        artefact="", columns=(), row="", than="", over="datasets", margin=margin
    ).criteria


class MadeArtefacts:
    """Artefacts by name, and a store of their trials."""

    def __init__(self, folder):
        self._store = TrialStore(folder)
        self._waiting = []
        self.artefacts = {}
        self._keys = count()

    @property
    def store(self):
        """The store with all that was put, in few files: of hundreds, a test would write and read schemas only."""
        self._store.append(self._waiting)
        self._waiting = []
        return self._store

    def add(
        self, name, rows, columns, datasets, *, dataset=None, summary=None, **protocol
    ):
        entries = []
        for k, (row, column) in enumerate(
            (row, column) for row in rows for column in columns
        ):
            for data in datasets:
                selector = {
                    **UNIFORM,
                    "n_features_to_select": 1 + k + 100 * len(self.artefacts),
                }
                settings = {"repeats": 1, "n_splits": 10, "draws": 1, **protocol}
                cell = small_cell(selector, dataset=dataset, identity=data, **settings)
                if "name" in (dataset or {}):
                    cell = replace(cell, dataset=dataset)
                entries.append(Entry(row, column, cell, label=data))
        self.artefacts[name] = Artefact(
            name, name, tuple(entries), {"artefact": {"summary": summary or {}}}
        )

    def put(
        self,
        name,
        row,
        column,
        values,
        *,
        data=None,
        repeat=0,
        draw=0,
        n_train=90,
        n_test=10,
        **columns,
    ):
        """Store one trial a value: errors as fractions, in folds 0, 1, ...; an array of two dimensions has draws."""
        entries = [
            e
            for e in self.artefacts[name].entries
            if (e.row, e.column) == (row, column)
        ]
        for entry in entries:
            if data is not None and entry.dataset != data:
                continue
            for fold, draws in enumerate(values):
                for number, error in enumerate(np.atleast_1d(draws), draw):
                    shared = {name: part[fold] for name, part in columns.items()}
                    sizes = {"n_train": n_train, "n_test": n_test, "n_features": 100}
                    place = {
                        "cell": entry.cell.id,
                        "repeat": repeat,
                        "fold": fold,
                        "draw": number,
                    }
                    key = f"{next(self._keys):064d}"
                    self._waiting.append(
                        {
                            "key": key,
                            **place,
                            **sizes,
                            "error": None if np.isnan(error) else float(error),
                            **shared,
                        }
                    )

    def put_means(self, name, row, column, means):
        """Store one fold of each data set, with these errors in percent."""
        datasets = dict.fromkeys(
            entry.dataset for entry in self.artefacts[name].entries
        )
        for data, mean in zip(datasets, means, strict=False):
            self.put(name, row, column, [mean / 100], data=data)

    def evidence(self):
        return Evidence(StoreSnapshot(self.store), artefacts=self.artefacts)
