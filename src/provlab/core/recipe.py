"""Computation of artefacts from trials: by a script, like another artefact of the paper, or as a table."""

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
"""Maximum number of data sets with their own columns in the default table; for more it has their mean."""

AS_PRINTED = "as printed"
"""Heading of a row with published numbers, below the row with ours."""


@dataclass(frozen=True)
class Rendering:
    """Input of a renderer: the numbers, and the `stem` of its output files."""

    artefact: Artefact
    frame: pd.DataFrame
    tables: Path
    figures: Path
    store: TrialReader

    @property
    def note(self) -> str:
        """Note on missing trials, shown in every caption until the artefact is complete."""
        n_unfinished = int((self.frame["state"] != COMPLETE).sum())
        return (
            f"PARTIAL: {n_unfinished} of {len(self.frame)} numbers lack trials."
            if n_unfinished
            else ""
        )

    @property
    def folds(self) -> str:
        """Repeats and folds as text for captions."""
        protocol = self.artefact.config.protocol
        return f"{protocol.repeats} x {protocol.n_splits}-fold"

    def trials(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return the stored trials of the artefact with row and column, for figures that show single trials."""
        return entry_trials(self.artefact, self.store, columns)[
            ["row", "column", "dataset", *NUMBERS, *columns]
        ]


@dataclass(frozen=True)
class Recipe:
    """Summary and renderer of an artefact: the constant `RECIPE` of its script.

    Attributes
    ----------
    name : str
        paper/artefact.
    render : callable
        Function that writes files from a `Rendering` and returns the text to print.
    summarise : callable
        Function as in `artefact_frame`, which also gets the items of `artefact.summary`
        as keyword arguments.
    columns : sequence of str
        Columns of the records that `summarise` reads, in addition to the headline
        measures of the cells.
    unit : str
        Unit of the numbers, such as "test error (%)"; "" if they have no common axis.
    prints : str
        Artefact of the same paper, without the paper's name, whose published numbers
        are compared; by default its own.
    """

    name: str
    render: Callable[[Rendering], str]
    summarise: Summary = error_summary
    columns: Sequence[str] = ("error",)
    unit: str = ""
    prints: str = ""

    def frame(self, artefact: Artefact, store: TrialReader) -> pd.DataFrame:
        """Return the numbers of the artefact in long form, see `artefact_frame`; raises as `check` does."""
        self.check(artefact)
        summarise = partial(self.summarise, **artefact.summary)
        return artefact_frame(
            artefact,
            store,
            summarise,
            columns=list(self.columns),
            printed=self.printed(),
        )

    def check(self, artefact: Artefact) -> None:
        """Raise if settings replace the error by another measure that `unit` does not name.

        Raises
        ------
        ValueError
            If they do. The message names both measures.
        """
        labels = {headline_of(cell).label for cell in artefact.cells} - {
            ERROR.label,
            self.unit,
        }
        if labels:
            raise ValueError(
                f"{self.name}: expected cells measured by the {self.unit or ERROR.label}, as its script "
                f"requires, got {', '.join(sorted(labels))}; leave out protocol.scoring and regression models, or "
                f"state the unit in the script: unit={min(labels)!r}; an artefact without a script states "
                f"artefact.unit in its file."
            )

    def printed(self) -> pd.DataFrame:
        """Return the published numbers of the artefact, or of the one it is compared with, see `PRINTED`."""
        return printed_numbers(
            paper_of(self.name).folder / "published.csv",
            self.prints or self.name.partition("/")[2],
        )

    def write(
        self,
        artefact: Artefact,
        store: TrialReader,
        frame: pd.DataFrame,
        tables: Path,
        figures: Path,
    ) -> str:
        """Write CSV, tables and figures under two stems, and return the text to print."""
        write_frame(frame[COLUMNS], tables.with_suffix(".csv"))
        return self.render(Rendering(artefact, frame, tables, figures, store))


def printed(text: str, paths: Sequence[Path]) -> str:
    """Return a table and the paths of its figures as the command prints them."""
    return "\n".join([text, *map(str, paths)])


def load_recipe(name: str) -> Recipe:
    """Return the recipe of an artefact, named as paper/artefact.

    It is that of its script, or of the artefact of the same paper that its file names
    in `artefact.recipe`. Otherwise it is a table of rows x columns with the published
    numbers, see `render_table`. `artefact.prints` names the artefact whose published
    numbers are compared.

    Raises
    ------
    ValueError
        If the artefact is unknown, a script has no `RECIPE` of its name, or
        `artefact.recipe` has no script.
    """
    paper = paper_of(name)
    layout: dict[str, Any] = read_config("", artefact_file(name)).get("artefact", {})
    scripted = str(layout.get("recipe", name.partition("/")[2]))
    script = paper.folder / f"{scripted}.py"
    has_script = scripted in paper.artefacts() and script.is_file()
    if "recipe" not in layout:
        return (
            _load_script(paper, scripted) if has_script else _table_recipe(name, layout)
        )
    if not has_script:
        raise ValueError(
            f"{name}: expected artefact.recipe to name an artefact of {paper.name} that has a script, got "
            f"{scripted!r:.80}; correct it, or leave it out for a table of rows and columns."
        )
    return replace(
        _load_script(paper, scripted), name=name, prints=str(layout.get("prints", ""))
    )


def _load_script(paper: Paper, artefact: str) -> Recipe:
    """Return the `RECIPE` of a script of a paper; raise ValueError if it has none with the artefact's name."""
    name = f"{paper.name}/{artefact}"
    recipe = getattr(paper.module(artefact), "RECIPE", None)
    if not isinstance(recipe, Recipe) or recipe.name != name:
        raise ValueError(
            f"{paper.folder / artefact}.py: expected RECIPE = Recipe({name!r}, render, ...), got {recipe!r:.120}; see "
            "CONTRIBUTING, 'Add a paper'."
        )
    return recipe


def _table_recipe(name: str, layout: dict[str, Any]) -> Recipe:
    """Return the recipe of a table of `artefact.measure`; by default the measure of its cells."""
    prints = str(layout.get("prints", ""))
    if "measure" not in layout:
        return Recipe(
            name, render_table, unit=str(layout.get("unit", ERROR.label)), prints=prints
        )
    measure = str(layout["measure"])
    summarise = partial(fold_summary, measure=measure)
    return Recipe(
        name,
        render_table,
        summarise,
        [measure],
        str(layout.get("unit", measure)),
        prints,
    )


def render_table(rendering: Rendering) -> str:
    """Write the table of an artefact and return it, with means (and standard deviations) over folds.

    Published numbers are in a line below their row.

    Each data set has its own columns. For more than `MAX_DATASETS_SHOWN` data sets,
    only means are shown. `artefact.caption`, `artefact.note` and `artefact.corner`, the
    heading of the rows, replace the defaults if the file has them.
    """
    layout = rendering.artefact.parts["artefact"]
    n_datasets = rendering.frame["dataset"].nunique()
    is_mean = n_datasets > MAX_DATASETS_SHOWN
    frame = _over_datasets(rendering.frame) if is_mean else rendering.frame
    measure = str(layout.get("measure", headline_of(rendering.artefact.cells[0]).label))
    is_count = measure in SCHEMA.names and pa.types.is_integer(
        SCHEMA.field(measure).type
    )
    cells = frame.assign(heading=_headings(frame))
    texts = [number_text(line, is_count=is_count) for line in frame.itertuples()]
    # a string column would lose their traces
    cells["text"] = pd.Series(texts, frame.index, dtype=object)
    cells["print"] = [
        mean_and_sd(line.printed_value, line.printed_sd) for line in frame.itertuples()
    ]
    columns = list(cells["heading"].unique())
    rows = []
    for row, numbers in cells.groupby("row", sort=False):
        lines = numbers.set_index("heading")[["text", "print"]].reindex(
            columns, fill_value=""
        )
        rows.append([row, *lines["text"]])
        if lines["print"].any():
            rows.append([AS_PRINTED, *lines["print"]])
    spread = (
        "mean of the data sets' standard deviations"
        if is_mean
        else "standard deviation"
    )
    usual_note = (
        f"In parentheses: the {spread} over folds." if frame["sd"].notna().any() else ""
    )
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
    """Return the means over data sets of values and standard deviations, with the published overall numbers."""
    numbers = frame.astype({"value": float, "sd": float})
    by_entry = numbers.groupby(["row", "column"], sort=False)
    means = by_entry[["value", "sd"]].mean()
    origins = by_entry[["of_row", "of_column", "printed_value", "printed_sd"]].first()
    printed = by_entry["printed_value"]
    is_of_all = (printed.nunique() == 1) & (printed.count() == by_entry.size())
    origins.loc[~is_of_all, ["printed_value", "printed_sd"]] = None
    return means.join(origins).assign(dataset="").reset_index()


def _headings(frame: pd.DataFrame) -> pd.Series:
    """Return the column headings: column, data set, or both if there are several of each."""
    if frame["dataset"].nunique() == 1:
        return frame["column"]
    if frame["column"].nunique() == 1:
        return frame["dataset"]
    return frame["dataset"] + ", " + frame["column"]


def number_text(line: Any, *, is_count: bool = False) -> str:
    """Return a row of a frame as text: its value with any standard deviation, and its trace."""
    text = mean_and_sd(line.value, line.sd)
    if is_count:
        text = whole(text)
    return Traced(text, line.of_row, line.of_column, line.dataset) if text else ""
