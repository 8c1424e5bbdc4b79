"""A store as a folder that others can read: trials, tables, verdicts and data sets as CSV, described as an RO-Crate.

The store itself is copied beside them, so that it can be merged with others. `trials.csv` has a line a trial; what is
long and the same for many stands apart: `cells.csv` has the config of each cell, `environments.csv` what each
environment is, `features.csv` the name of each feature that some trial selected. A missing value is empty, and an empty
text is quoted (`""`). Numbers have all their digits. A list of features is `3 1 2`, one of names is JSON. Before a text
that a spreadsheet would take for a formula stands a single quote, see `provlab.project.messages`.

An RO-Crate is a folder of research data with JSON-LD of schema.org (Soiland-Reyes et al. 2022, version 1.1).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from provlab.core import frames
from provlab.core.artefact import artefact_title
from provlab.core.recipe import load_recipe
from provlab.core.selected import data_names
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.core.tables import write_frame, write_text
from provlab.data import is_place, read_source, source_names
from provlab.project import artefact_names
from provlab.project.documents import MAX_CONFIG_DEPTH, canonical_json, parse_json
from provlab.project.messages import as_cell, visible
from provlab.verdicts.claims.evidence import UnavailableError
from provlab.verdicts.claims.schema import all_claim_files
from provlab.verdicts.claims.stored import Evidence
from provlab.verdicts.claims.verdicts import judge_files, write_verdicts
from provsel import __version__
from provsel.files import replacing, replacing_folder

TRIALS, CELLS, ENVIRONMENTS = "trials.csv", "cells.csv", "environments.csv"
DATA_SETS, FEATURES, CRATE = "datasets.csv", "features.csv", "ro-crate-metadata.json"

TITLES = {
    TRIALS: "Trials, one a line, by their keys",
    CELLS: "Configuration of each cell: data set, selector, model and protocol, as JSON",
    ENVIRONMENTS: "Versions and processor of each environment, as JSON",
    DATA_SETS: "Data sets, with citation and licence",
    FEATURES: "Names of the selected features, which trials.csv numbers from 0 for each data set",
}

FEATURE_LINES = pa.schema(
    {"dataset": pa.string(), "data": pa.string(), "index": pa.int32(), "name": pa.string()}.items()
)
"""Of `FEATURES`: name and identity of the data set, as in trials.csv."""

ENCODING = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}

STORE = "The trials with all their digits, for provsel merge"

DESCRIPTION = (
    "Trials of feature selection by provsel {version}: {n} trials on {m} data sets, with the tables and verdicts that "
    "follow from them. The key of a trial is the SHA-256 of its configuration and numbers; provsel merge adds these "
    "trials to a store."
)


def export(
    results: Path, target: Path, formats: Sequence[str], overrides: Sequence[str] = (), *, title: str, licence: str
) -> dict[str, str]:
    """Write what a results folder has, in place of an earlier export; other files there stay.

    Tables and verdicts are made from the stored trials, so that they belong to them. Data files are named, with their
    citations and licences, and not copied.

    Parameters
    ----------
    results : Path
    target : Path
        Folder, which is new or an earlier export.
    formats : sequence of {"csv", "ro-crate"}
        The CSV files are the same in both; "ro-crate" describes them as well.
    overrides : sequence of str
        The user's settings, which plan what is counted in tables and verdicts.
    title, licence : str
        Of the export as a whole; the licence as an address or in words.

    Returns
    -------
    dict
        Titles of the files, by their paths in the folder.

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
        TrialStore(folder / "store").add(trials)
        write_trials(trials, folder)
        write_frame(data, folder / DATA_SETS)
        names, missing = selected_names(trials)
        write_csv(names, folder / FEATURES)
        unnamed = f"; not those of {', '.join(missing)}, which are not on this machine" if missing else ""
        files = TITLES | {FEATURES: TITLES[FEATURES] + unnamed}
        files |= dict(_results(folder, Evidence(StoreSnapshot(store), overrides)))
        files |= {path.relative_to(folder).as_posix(): STORE for path in (folder / "store").iterdir()}
        if "ro-crate" in formats:
            about = DESCRIPTION.format(version=__version__, n=len(trials), m=len(data))
            crate = ro_crate(folder, files, data, {"name": title, "license": licence, "description": about})
            write_text(folder / CRATE, json.dumps(crate, indent=1, ensure_ascii=False) + "\n")
    return files


def _results(folder: Path, evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Write the numbers of each artefact of which something is stored, and all verdicts; yield paths and titles."""
    for name in artefact_names():
        with suppress(UnavailableError):
            artefact = evidence.artefact(name)
            if evidence.store.has_any(artefact.cells):
                write_frame(
                    load_recipe(name).frame(artefact, evidence.store)[frames.COLUMNS], folder / f"tables/{name}.csv"
                )
                yield f"tables/{name}.csv", artefact_title(name)
    if claims := all_claim_files():
        write_verdicts(folder, *judge_files(claims, evidence))
        yield "verdicts.csv", "Verdicts on the claims of the papers"
        yield "rankings.csv", "Rankings of methods"
    evidence.raise_if_nothing_fits()


def data_sets(trials: pa.Table) -> pd.DataFrame:
    """Return the data sets of some trials, sorted by name: what records say, and the registry where they are in it."""
    columns = ["dataset", "data", "source", "n_train", "n_test", "n_features", "n_classes"]
    frame = trials.select(columns).to_pandas()
    known, found = source_names(), []
    for (name, identity), lines in frame.groupby(["dataset", "data"], sort=True):
        parameters = _dataset_of(trials["config"][int(lines.index[0])].as_py())  # long: of one trial only
        stated = read_source(parameters["name"]) if parameters.get("name") in known else None
        sizes = lines.dropna(subset=["n_train", "n_features", "n_classes"]).head(1)[columns[3:]].sum().astype(int)
        line = {
            "name": str(name), "identity": str(identity), "parameters": json.dumps(parameters, sort_keys=True),
            "source": str(lines["source"].iloc[0]), "n_samples": sizes["n_train"] + sizes["n_test"],
            "n_features": sizes["n_features"], "n_classes": sizes["n_classes"], "n_trials": len(lines),
        }  # fmt: skip
        found.append(line | {part: getattr(stated, part, "") for part in ("title", "citation", "licence", "homepage")})
    return pd.DataFrame(found)


def _dataset_of(config: str | None) -> dict[str, Any]:
    """Return the data set of a config; of a record that has none, as older ones, nothing."""
    found: dict[str, Any] = parse_json(config or "{}", MAX_CONFIG_DEPTH).get("dataset", {})
    return found


def selected_names(trials: pa.Table) -> tuple[pa.Table, list[str]]:
    """Return the names of the features that some trial selected, and the data sets whose names cannot be read.

    Those of columns that a preparation made are no features of the data set: the records have their names.
    """
    listed = trials.filter(pc.and_(pc.is_valid(trials["features"]), pc.is_null(trials["feature_names"])))
    tables, missing = [FEATURE_LINES.empty_table()], []
    for data in listed["data"].unique().to_pylist():
        own = listed.filter(pc.equal(listed["data"], data))
        config, dataset, source = (own[name][0].as_py() for name in ("config", "dataset", "source"))
        parameters = _dataset_of(config)
        if is_place(parameters.get("name", ""), "path"):
            parameters["path"] = source
        names, _ = data_names(data, canonical_json(parameters))
        if names is None:
            missing.append(dataset)
            continue
        index = [
            k for k in sorted(pc.list_flatten(own["features"]).unique().drop_null().to_pylist()) if 0 <= k < len(names)
        ]
        columns = [[dataset] * len(index), [data] * len(index), index, [names[k] for k in index]]
        tables.append(pa.table(dict(zip(FEATURE_LINES.names, columns, strict=True)), schema=FEATURE_LINES))
    return pa.concat_tables(tables), sorted({*missing})


def ro_crate(folder: Path, files: dict[str, str], data: pd.DataFrame, stated: dict[str, str]) -> dict[str, Any]:
    """Return the content of ro-crate-metadata.json: files, the data sets behind them, and how they were made.

    The date is that of SOURCE_DATE_EPOCH, where this is set, so that a build can be repeated.
    """
    date = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), UTC).date().isoformat()
    parts = [{"@id": path} for path in files]
    size = "{0.n_samples} rows, {0.n_features} features, {0.n_classes} classes"
    used = [
        {
            "@id": f"#data-{line.identity[:16]}", "@type": "Dataset", "name": line.name, "identifier": line.identity,
            "description": f"{line.source}; {size.format(line)}",
            **({"url": line.homepage, "creditText": line.citation, "license": line.licence} if line.licence else {}),
        }
        for line in data.itertuples(index=False)
    ]  # fmt: skip
    references = [{"@id": each["@id"]} for each in used]
    entities: list[dict[str, Any]] = [
        {"@id": CRATE, "@type": "CreativeWork", "about": {"@id": "./"},
         "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}},
        {"@id": "./", "@type": "Dataset", **stated, "datePublished": date, "hasPart": parts,
         "mentions": [{"@id": "#run"}, *references]},
        *({"@id": path, "@type": "File", "name": title, "encodingFormat": ENCODING[Path(path).suffix],
           **_content(folder / path)}
          for path, title in files.items()),
        *used,
        {"@id": "#provsel", "@type": "SoftwareApplication", "name": "provsel", "softwareVersion": __version__,
         "description": "Provable feature selection with measured guarantees"},
        {"@id": "#run", "@type": "CreateAction", "name": "Trials and what follows from them", "endTime": date,
         "instrument": {"@id": "#provsel"}, "object": references, "result": parts},
    ]  # fmt: skip
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": entities}


def _content(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        return {"contentSize": str(path.stat().st_size), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def write_trials(trials: pa.Table, folder: Path) -> None:
    """Write records as the three files of a folder.

    Parameters
    ----------
    trials : Table
        As `TrialStore.query` gives them, with all columns.
    folder : Path
    """
    cells = trials.select(["cell", "config"]).group_by(["cell", "config"], use_threads=False).aggregate([])
    write_csv(cells.sort_by("cell"), folder / CELLS)
    texts = trials["environment"].unique().drop_null()
    names = pa.array([hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts.to_pylist()], pa.string())
    write_csv(pa.table({"environment": names, "text": texts}).sort_by("environment"), folder / ENVIRONMENTS)
    columns = {name: trials[name] for name in trials.column_names if name != "config"}
    columns["environment"] = names.take(pc.index_in(trials["environment"], value_set=texts))
    write_csv(pa.table(columns), folder / TRIALS)


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table whole or not at all, no text of which is a formula; lists are texts such as "3 1 2"."""
    for place, field in enumerate(table.schema):
        column = table[field.name]
        if pa.types.is_list(field.type) and pa.types.is_string(field.type.value_type):  # a name may have spaces
            texts = (None if each is None else [visible(text) for text in each] for each in column.to_pylist())
            column = pa.array([each and json.dumps(each, ensure_ascii=False) for each in texts], pa.string())
        elif pa.types.is_list(field.type):
            column = pc.binary_join(pc.cast(column, pa.list_(pa.string())), " ")
        elif pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = column.unique().drop_null()
            safe = pa.array([as_cell(visible(text)) for text in texts.to_pylist()], pa.string())
            column = safe.take(pc.index_in(column, value_set=texts))
        table = table.set_column(place, field.name, column)
    with replacing(path) as temporary:
        pcsv.write_csv(table, temporary)
