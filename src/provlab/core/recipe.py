"""How an artefact is computed from trials: by its script, like another artefact of its paper, or as rows x columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from provlab.core.artefact import COMPLETE, Artefact
from provlab.core.composition import read_config
from provlab.core.frames import (
    COLUMNS,
    ERROR,
    Summary,
    artefact_frame,
    entry_trials,
    error_summary,
    fold_summary,
    headline_of,
    printed_numbers,
)
from provlab.core.records import NUMBERS
from provlab.core.snapshot import TrialReader
from provlab.core.store import SCHEMA
from provlab.core.tables import Traced, mean_and_sd, whole, write_frame, write_tables
from provlab.project.papers import Paper, artefact_file, paper_of

MAX_DATASETS_SHOWN = 12
"""The default table has columns for up to this many data sets; for more it has their mean."""

AS_PRINTED = "as printed"
"""Heading of a line with printed numbers, below the line with ours."""


@dataclass(frozen=True)
class Rendering:
    """The input of a renderer: the numbers, and the `stem` of its output files."""

    artefact: Artefact
    frame: pd.DataFrame
    tables: Path
    figures: Path
    store: TrialReader

    @property
    def note(self) -> str:
        """How much of the artefact is stored, shown in every caption until it is complete."""
        n_unfinished = int((self.frame["state"] != COMPLETE).sum())
        return f"PARTIAL: {n_unfinished} of {len(self.frame)} numbers lack trials." if n_unfinished else ""

    @property
    def folds(self) -> str:
        """Repeats and folds in the words of captions."""
        protocol = self.artefact.config.protocol
        return f"{protocol.repeats} x {protocol.n_splits}-fold"

    def trials(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return the stored trials of the artefact with row and column, for figures of single trials."""
        return entry_trials(self.artefact, self.store, columns)[["row", "column", "dataset", *NUMBERS, *columns]]


@dataclass(frozen=True)
class Recipe:
    """A summary and a renderer: the constant `RECIPE` of an artefact's script.

    Attributes
    ----------
    name : str
        paper/artefact.
    render : callable
        Writes files from a `Rendering`, and returns the text to print.
    summarise : callable
        See `artefact_frame`. It also gets the entries of `artefact.summary` as keyword arguments.
    columns : sequence of str
        Columns of the records that `summarise` reads, beside the measures that the cells are judged by.
    unit : str
        Unit of the numbers, such as "test error (%)"; "" if an axis makes no sense.
    prints : str
        Artefact of the same paper whose printed numbers are compared, without the paper's name; by default its own.
    """

    name: str
    render: Callable[[Rendering], str]
    summarise: Summary = error_summary
    columns: Sequence[str] = ("error",)
    unit: str = ""
    prints: str = ""

    def frame(self, artefact: Artefact, store: TrialReader) -> pd.DataFrame:
        """Return the numbers of the artefact in long form, see `artefact_frame`; errors as `check`."""
        self.check(artefact)
        summarise = partial(self.summarise, **artefact.summary)
        return artefact_frame(artefact, store, summarise, columns=list(self.columns), printed=self.printed())

    def check(self, artefact: Artefact) -> None:
        """Raise for settings that replace the error by another measure, unless `unit` names it.

        Raises
        ------
        ValueError
            Names both.
        """
        labels = {headline_of(cell).label for cell in artefact.cells} - {ERROR.label, self.unit}
        if labels:
            raise ValueError(
                f"{self.name}: expected cells that are judged by the {self.unit or ERROR.label}, which its script "
                f"expects, got {', '.join(sorted(labels))}; leave out protocol.scoring and models of regression, or "
                f"state the unit in the script: unit={min(labels)!r}; an artefact without a script states "
                f"artefact.unit in its file."
            )

    def printed(self) -> pd.DataFrame:
        """Return the paper's printed numbers of the artefact, or of the one that it is compared with, see `PRINTED`."""
        return printed_numbers(paper_of(self.name).folder / "published.csv", self.prints or self.name.partition("/")[2])

    def write(self, artefact: Artefact, store: TrialReader, frame: pd.DataFrame, tables: Path, figures: Path) -> str:
        """Write CSV, tables and figures under two stems, and return the text to print."""
        write_frame(frame[COLUMNS], tables.with_suffix(".csv"))
        return self.render(Rendering(artefact, frame, tables, figures, store))


def printed(text: str, paths: Sequence[Path]) -> str:
    """Return a table and the files of its figures in the form that the command prints."""
    return "\n".join([text, *map(str, paths)])


def load_recipe(name: str) -> Recipe:
    """Return the recipe of an artefact, paper/artefact.

    It is that of its script, or of the artefact of the same paper that its file names in `artefact.recipe`. Without
    either it is a table of rows x columns beside the print, see `render_table`. `artefact.prints` names the artefact
    whose printed numbers are compared.

    Raises
    ------
    ValueError
        For an unknown artefact, a script that has no `RECIPE` of its name, or an `artefact.recipe` without a script.
    """
    paper = paper_of(name)
    layout: dict[str, Any] = read_config("", artefact_file(name)).get("artefact", {})
    scripted = str(layout.get("recipe", name.partition("/")[2]))
    script = paper.folder / f"{scripted}.py"
    has_script = scripted in paper.artefacts() and script.is_file()
    if "recipe" not in layout:
        return _load_script(paper, scripted) if has_script else _table_recipe(name, layout)
    if not has_script:
        raise ValueError(
            f"{name}: expected artefact.recipe to name an artefact of {paper.name} that has a script, got "
            f"{scripted!r:.80}; correct it, or leave it out for a table of rows and columns."
        )
    return replace(_load_script(paper, scripted), name=name, prints=str(layout.get("prints", "")))


def _load_script(paper: Paper, artefact: str) -> Recipe:
    """Return the `RECIPE` of a script of a paper; raise ValueError if it has none of that name."""
    name = f"{paper.name}/{artefact}"
    recipe = getattr(paper.module(artefact), "RECIPE", None)
    if not isinstance(recipe, Recipe) or recipe.name != name:
        raise ValueError(
            f"{paper.folder / artefact}.py: expected RECIPE = Recipe({name!r}, render, ...), got {recipe!r:.120}; see "
            "CONTRIBUTING, 'Add a paper'."
        )
    return recipe


def _table_recipe(name: str, layout: dict[str, Any]) -> Recipe:
    """Return the recipe of a table of `artefact.measure`, by default the measure of its cells."""
    prints = str(layout.get("prints", ""))
    if "measure" not in layout:
        return Recipe(name, render_table, unit=str(layout.get("unit", ERROR.label)), prints=prints)
    measure = str(layout["measure"])
    summarise = partial(fold_summary, measure=measure)
    return Recipe(name, render_table, summarise, [measure], str(layout.get("unit", measure)), prints)


def render_table(rendering: Rendering) -> str:
    """Write rows x columns of an artefact, and return the table: the mean (and standard deviation) over folds.

    Printed numbers are in a line below their row.

    Each data set has its own columns; for more than `MAX_DATASETS_SHOWN` data sets only means are shown.
    `artefact.caption`, `artefact.note` and `artefact.corner`, the heading of the rows, replace the defaults if the file
    has them.
    """
    layout = rendering.artefact.parts["artefact"]
    n_datasets = rendering.frame["dataset"].nunique()
    is_mean = n_datasets > MAX_DATASETS_SHOWN
    frame = _over_datasets(rendering.frame) if is_mean else rendering.frame
    measure = str(layout.get("measure", headline_of(rendering.artefact.cells[0]).label))
    is_count = measure in SCHEMA.names and pa.types.is_integer(SCHEMA.field(measure).type)
    cells = frame.assign(heading=_headings(frame))
    texts = [number_text(line, is_count=is_count) for line in frame.itertuples()]
    cells["text"] = pd.Series(texts, frame.index, dtype=object)  # as a column of strings they would lose their traces
    cells["print"] = [mean_and_sd(line.printed_value, line.printed_sd) for line in frame.itertuples()]
    columns = list(cells["heading"].unique())
    rows = []
    for row, numbers in cells.groupby("row", sort=False):
        lines = numbers.set_index("heading")[["text", "print"]].reindex(columns, fill_value="")
        rows.append([row, *lines["text"]])
        if lines["print"].any():
            rows.append([AS_PRINTED, *lines["print"]])
    spread = "mean of the data sets' standard deviations" if is_mean else "standard deviation"
    usual_note = f"In parentheses: the {spread} over folds." if frame["sd"].notna().any() else ""
    quantity = re.sub(r" \((.+)\)$", r" in \1", measure)
    over = f", mean over {n_datasets} data sets" if is_mean else ""
    return write_tables(
        rendering.tables,
        [layout.get("corner", ""), *columns],
        rows,
        caption=layout.get("caption", f"{rendering.artefact.title}: {quantity}{over}."),
        note=f"{rendering.note} {layout.get('note', usual_note)}".strip(),
    )


def _over_datasets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over data sets of values and standard deviations, and the printed numbers for all of them."""
    numbers = frame.astype({"value": float, "sd": float})
    by_entry = numbers.groupby(["row", "column"], sort=False)
    means = by_entry[["value", "sd"]].mean()
    origins = by_entry[["of_row", "of_column", "printed_value", "printed_sd"]].first()
    printed = by_entry["printed_value"]
    is_of_all = (printed.nunique() == 1) & (printed.count() == by_entry.size())
    origins.loc[~is_of_all, ["printed_value", "printed_sd"]] = None
    return means.join(origins).assign(dataset="").reset_index()


def _headings(frame: pd.DataFrame) -> pd.Series:
    """Return the headings of the columns: column, data set, or both if there are several of both."""
    if frame["dataset"].nunique() == 1:
        return frame["column"]
    if frame["column"].nunique() == 1:
        return frame["dataset"]
    return frame["dataset"] + ", " + frame["column"]


def number_text(line: Any, *, is_count: bool = False) -> str:
    """Return a line of a frame as text: its value with the standard deviation, if there is one, and its trace."""
    text = mean_and_sd(line.value, line.sd)
    if is_count:
        text = whole(text)
    return Traced(text, line.of_row, line.of_column, line.dataset) if text else ""
