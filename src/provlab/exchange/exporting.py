"""A store as a folder that others can read: trials, tables, verdicts and data sets as CSV, with metadata on request."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from provlab import frames
from provlab.claims import Evidence
from provlab.claims.judged import all_claim_files, judge_files
from provlab.claims.outcome import UnavailableError
from provlab.exchange.croissant import croissant
from provlab.exchange.parts import DataSet, Part, data_sets
from provlab.exchange.ro_crate import ro_crate
from provlab.exchange.statement import Statement
from provlab.exchange.trials_csv import CELLS, COLUMNS, ENVIRONMENTS, TRIALS, write_trials
from provlab.listing import artefact_title
from provlab.project import artefact_names
from provlab.recipe import load_recipe
from provlab.store import StoreSnapshot, TrialStore
from provlab.tables import write_frame, write_text
from provsel.files import replacing_folder

Describe = Callable[[Statement], dict[str, Any]]

FORMATS: dict[str, tuple[str, Describe] | None] = {
    "csv": None,
    "ro-crate": ("ro-crate-metadata.json", ro_crate),
    "croissant": ("croissant.json", croissant),
}
"""Formats with their file of metadata and what fills it; the CSV files are the same in all."""


def export(
    results: Path, target: Path, formats: Sequence[str], overrides: Sequence[str] = (), *, title: str, licence: str
) -> list[Part]:
    """Write what a results folder has, in place of an earlier export, and return its files; other files there stay.

    Tables and verdicts are made from the stored trials, so that they belong to them. Data files are named, with their
    addresses, hashes and licences, and not copied.

    Parameters
    ----------
    results : Path
    target : Path
        Folder, which is new or an earlier export.
    formats : sequence of str
        Of `FORMATS`.
    overrides : sequence of str
        The user's settings, which plan what is counted in tables and verdicts.
    title, licence : str
        Of the export as a whole; the licence as an address or in words.

    Raises
    ------
    ValueError
        Nothing stored, or a folder that holds something else.
    OSError
        When the folder cannot be written; the old one stays.
    """
    store = TrialStore(results / "store")
    trials = store.query()
    if not len(trials):
        raise ValueError(f"export: expected stored trials in {store.folder}, found none; run provsel reproduce first.")
    if target.is_dir() and any(target.iterdir()) and not (target / TRIALS).is_file():
        raise ValueError(f"export: expected a new folder or an earlier export, got {target}; name another folder.")
    with replacing_folder(target, keep=True) as folder:
        data = data_sets(trials)
        parts = _write(folder, store, trials, data, overrides)
        made = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", _now())), UTC).date().isoformat()
        statement = Statement(title, licence, made, tuple(parts), tuple(data), len(trials))
        for file, describe in filter(None, (FORMATS[name] for name in formats)):
            text = json.dumps(describe(statement), indent=1, ensure_ascii=False)
            write_text(folder / file, text + "\n")
    return parts


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _write(
    folder: Path, store: TrialStore, trials: pa.Table, data: Sequence[DataSet], overrides: Sequence[str]
) -> list[Part]:
    write_trials(trials, folder)
    write_frame(pd.DataFrame([each.as_line() for each in data]), folder / "datasets.csv")
    titles = {
        CELLS: "Configuration of each cell: data set, selector, model and protocol, as JSON",
        ENVIRONMENTS: "Versions and processor of each environment, as JSON",
        COLUMNS: "Types of the columns of trials.csv",
        "datasets.csv": "Data sets, with citation and licence",
    }
    files = all_claim_files()
    evidence = Evidence(StoreSnapshot.take(store), overrides)
    titles |= dict(_tables(folder, evidence))
    if files:
        judge_files(files, evidence).write(folder)
        titles |= {"verdicts.csv": "Verdicts on the claims of the papers", "rankings.csv": "Rankings of methods"}
    evidence.raise_if_nothing_fits()
    plain = trials.drop_columns("config")
    return [
        Part.of(folder, TRIALS, "Trials, one a line, by their keys", plain),
        *(Part.of(folder, path, title) for path, title in titles.items()),
    ]


def _tables(folder: Path, evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Write the numbers of each artefact of which something is stored."""
    for name in artefact_names():
        with suppress(UnavailableError):
            artefact = evidence.artefact(name)
            if evidence.store.has_any(artefact.cells):
                frame = load_recipe(name).frame(artefact, evidence.store)
                path = f"tables/{name}.csv"
                write_frame(frame[frames.COLUMNS], folder / path)
                yield path, artefact_title(name)
