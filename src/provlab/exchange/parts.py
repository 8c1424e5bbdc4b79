"""What an export consists of: files with what their columns are, and the data sets behind the trials."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa

from provlab.datasets import Source, read_source, source_names

CSV = "text/csv"


@dataclass(frozen=True)
class Part:
    """One CSV file.

    Attributes
    ----------
    path : str
        Relative to the export.
    title : str
    columns : dict
        Name and type of each column, one of "text", "integer" and "number".
    size : int
        Bytes.
    sha256 : str
    """

    path: str
    title: str
    columns: dict[str, str]
    size: int
    sha256: str

    @classmethod
    def of(cls, folder: Path, path: str, title: str, table: pa.Table | None = None) -> Part:
        """Describe a file that has been written; `table` has its columns, where it is large."""
        with (folder / path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if table is None:
            table = pa.Table.from_pandas(pd.read_csv(folder / path), preserve_index=False)
        columns = {name: _kind(table[name]) for name in table.column_names}
        return cls(path, title, columns, (folder / path).stat().st_size, digest)


@dataclass(frozen=True)
class DataSet:
    """A data set that trials were computed on.

    Attributes
    ----------
    name : str
    identity : str
        SHA-256 of loader, parameters and files: see CONTRIBUTING, 'Data flow'.
    parameters : str
        JSON.
    source : str
        What the records say of it.
    n_samples, n_features, n_classes, n_trials : int
    registered : Source or None
        Citation, licence, addresses and hashes of the files; None for data that are generated or a user's own.
    """

    name: str
    identity: str
    parameters: str
    source: str
    n_samples: int
    n_features: int
    n_classes: int
    n_trials: int
    registered: Source | None

    def as_line(self) -> dict[str, object]:
        """Return a line of datasets.csv."""
        found = self.registered
        stated = (found.title, found.citation, found.licence, found.homepage) if found else ("", "", "", "")
        numbers = {name: getattr(self, name) for name in ("n_samples", "n_features", "n_classes", "n_trials")}
        named = dict(zip(("title", "citation", "licence", "homepage"), stated, strict=True))
        return {"name": self.name, "identity": self.identity, "parameters": self.parameters, "source": self.source,
                **numbers, **named}  # fmt: skip


def _kind(column: pa.ChunkedArray) -> str:
    """Return the type of a column; integers of which some are missing count as numbers, as most readers take them."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return "integer"
    return "number" if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) else "text"


def data_sets(trials: pa.Table) -> list[DataSet]:
    """Return the data sets of some trials, sorted by name."""
    columns = ["dataset", "data", "source", "n_train", "n_test", "n_features", "n_classes"]
    frame = trials.select(columns).to_pandas()
    known, found = source_names(), []
    for (name, identity), lines in frame.groupby(["dataset", "data"], sort=True):
        parameters = json.loads(trials["config"][int(lines.index[0])].as_py())["dataset"]  # long: of one trial only
        loader = parameters.get("name")
        first = lines.dropna(subset=["n_train", "n_features", "n_classes"]).head(1)
        sizes = (0, 0, 0)
        if len(first):
            [line] = first.fillna({"n_test": 0}).itertuples(index=False)
            sizes = int(line.n_train + line.n_test), int(line.n_features), int(line.n_classes)
        found.append(
            DataSet(
                str(name), str(identity), json.dumps(parameters, sort_keys=True), str(lines["source"].iloc[0]), *sizes,
                len(lines), read_source(loader) if loader in known else None,
            )
        )  # fmt: skip
    return found
