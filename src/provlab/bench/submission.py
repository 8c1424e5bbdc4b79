"""File with the trials of a new method, which anybody can audit and a maintainer can add to the stored panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from provlab.bench.methods import PanelMethod, panel_methods
from provlab.bench.panel import PanelCell, panel_cells, panel_datasets
from provlab.bench.stored_panel import (
    CELL_DIGITS,
    SCHEMA,
    file_of,
    lacking,
    replace_trials,
)
from provlab.project.documents import canonical_json, parse_json, read_as
from provsel.files import replacing

SUFFIX = ".parquet"

SUBMITTED = SCHEMA.append(pa.field("dataset", pa.string()))
"""Columns of the file: those of the stored panel and the name of the data set."""

ENTRY = b"submission"
"""Key of the file metadata that holds an `Entry` as JSON."""


@dataclass(frozen=True)
class Entry:
    """Description of the method in the file."""

    name: str
    n_variants: int
    method: PanelMethod


class Submission(NamedTuple):
    """A method that is not yet in the panel, with its trials.

    Attributes
    ----------
    name : str
    method : PanelMethod
        The method as it will be listed in `methods.yaml`.
    n_variants : int
        Number of variants, selectors with settings, that the author has ranked.
    trials : DataFrame
        Trials with the columns of `SUBMITTED`.
    """

    name: str
    method: PanelMethod
    n_variants: int
    trials: pd.DataFrame

    @property
    def entry(self) -> str:
        """Entry of the method in `methods.yaml`."""
        return f"  {canonical_json(self.name)}: {canonical_json(self._settings)}"

    @property
    def _settings(self) -> dict[str, Any]:
        """Attributes of the method that a ranked selector can have."""
        names = ("choose", "sizes", "tasks", "chosen")
        return {name: getattr(self.method, name) for name in names}

    def write(self, path: Path | str) -> Path:
        """Write the file.

        Raises
        ------
        ValueError
            If the file name does not end in .parquet, or the class exists in this
            session only.
        """
        path = checked_path(path)
        check_is_public(self.method)
        document = {
            "name": self.name,
            "n_variants": self.n_variants,
            "method": self._settings,
        }
        table = pa.Table.from_pandas(
            self.trials[SUBMITTED.names], SUBMITTED, preserve_index=False
        )
        with replacing(path) as temporary:
            pq.write_table(
                table.replace_schema_metadata({ENTRY: canonical_json(document)}),
                temporary,
            )
        return path

    def add_to(self, folder: Path) -> list[str]:
        """Add the trials to a stored panel, and return the names of the data sets.

        Raises
        ------
        ValueError
            If the panel has a method of this name, the trials for a stored data set are
            incomplete, or the file has trials that the panel does not plan. In these
            cases nothing is written.
        """
        if self.name in panel_methods():
            raise ValueError(
                f"panel: expected a method that the panel does not have, got {self.name!r}; rename it."
            )
        datasets = {
            name: dataset
            for name, dataset in panel_datasets().items()
            if file_of(name, folder).is_file()
        }
        cells = panel_cells({self.name: self.method}, datasets)
        missing = lacking(cells, self.trials)
        if missing:
            first = missing[0]
            raise ValueError(
                f"panel: expected all trials of {self.name} on the data sets of the stored panel, got none or too few "
                f"of {first.size} features of {first.dataset} by {first.model} (and {len(missing) - 1} other cells); "
                f"rank the method with --panel full first."
            )
        self._check_planned(cells)
        for name, trials in self.trials.groupby("dataset"):
            replace_trials(name, trials, folder)
        return sorted({*self.trials["dataset"]})

    def _check_planned(self, cells: Sequence[PanelCell]) -> None:
        planned = {entry.cell.id[:CELL_DIGITS] for entry in cells}
        unplanned = self.trials[~self.trials["cell"].isin(planned)]
        if len(unplanned):
            line = unplanned.iloc[0]
            raise ValueError(
                f"panel: expected trials that the panel plans for {self.name}, got {len(unplanned)} others, such as "
                f"cell {line['cell']} of {line['dataset']}; write the file with the same version of provsel."
            )


def checked_path(path: Path | str) -> Path:
    """Return the path for a file of trials; raise if the name does not end in .parquet."""
    path = Path(path)
    if path.suffix != SUFFIX:
        raise ValueError(
            f"rank: expected a file name that ends in {SUFFIX} for the trials, got {path}; rename it."
        )
    return path


def check_is_public(method: PanelMethod) -> None:
    """Raise if others cannot import the class of a method."""
    in_session = [text for text in method.choose if "._target_=__main__." in text]
    if in_session:
        raise ValueError(
            f"rank: expected a class of a module that others can import, got {in_session[0].partition('=')[2]}; move "
            f"it into a package, and rank it again."
        )


def read_submission(path: Path | str) -> Submission:
    """Return the submission in a file that `Submission.write` wrote.

    Raises
    ------
    ValueError
        If the file is of another kind. The message names the file.
    """
    try:
        table = pq.read_table(path, columns=SUBMITTED.names)
        entry: Entry = read_as(
            Entry, parse_json(table.schema.metadata[ENTRY].decode()), "submission"
        )
        return Submission(
            entry.name,
            entry.method,
            entry.n_variants,
            table.cast(SUBMITTED).to_pandas(),
        )
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: expected a file written by provsel rank --export, got another file: {error!r:.200}."
        ) from None
