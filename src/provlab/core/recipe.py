"""How an artefact is made from trials: what each script of a paper declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from provlab.core.artefact import COMPLETE, Artefact
from provlab.core.frames import (
    COLUMNS,
    ERROR,
    Summary,
    artefact_frame,
    entry_trials,
    error_summary,
    headline_of,
    printed_numbers,
)
from provlab.core.records import NUMBERS
from provlab.core.store import TrialReader
from provlab.core.tables import write_frame
from provlab.project.papers import artefact_file, paper_of


@dataclass(frozen=True)
class Rendering:
    """What a renderer gets: the numbers, and where its files go (`stem` plus a suffix)."""

    artefact: Artefact
    frame: pd.DataFrame
    tables: Path
    figures: Path
    store: TrialReader

    @property
    def note(self) -> str:
        """How much of the artefact is there: said in every caption until it is complete."""
        n_unfinished = int((self.frame["state"] != COMPLETE).sum())
        return f"PARTIAL: {n_unfinished} of {len(self.frame)} numbers lack trials." if n_unfinished else ""

    def trials(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return the stored trials of the artefact with its row and column beside each, for what is drawn by trial."""
        return entry_trials(self.artefact, self.store, columns)[["row", "column", "dataset", *NUMBERS, *columns]]


@dataclass(frozen=True)
class Recipe:
    """A summary and a renderer: the constant `RECIPE` of an artefact's script.

    Attributes
    ----------
    name : str
        paper/artefact.
    render : callable
        Writes files from a `Rendering`, and returns what is printed.
    summarise : callable
        See `artefact_frame`. It also gets what the artefact's YAML has in `artefact.summary`, by name.
    columns : sequence of str
        Columns of the records that `summarise` reads, beside the measures that the cells are judged by.
    unit : str
        Of the number of each row and column, such as "test error (%)"; "" where an axis would have no sense.
    prints : str
        Artefact of the same paper whose printed numbers stand beside these, without the paper; by default its own.
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
        """Refuse settings by which the cells are judged by another measure than the error, unless `unit` says it.

        Raises
        ------
        ValueError
            Names both.
        """
        others = {headline_of(cell).label for cell in artefact.cells} - {ERROR.label, self.unit}
        if others:
            raise ValueError(
                f"{self.name}: expected cells that are judged by the {self.unit or ERROR.label}, as its script has it, "
                f"got {', '.join(sorted(others))}; leave out protocol.scoring and models of numbers, or say in the "
                f"script what its numbers are: unit={min(others)!r}."
            )

    def printed(self) -> pd.DataFrame:
        """Return what the paper prints of the artefact, or of the one that it stands beside, see `PRINTED`."""
        return printed_numbers(paper_of(self.name).folder / "published.csv", self.prints or self.name.partition("/")[2])

    def write(self, artefact: Artefact, store: TrialReader, frame: pd.DataFrame, tables: Path, figures: Path) -> str:
        """Write CSV, tables and figures under two stems, and return what is printed."""
        write_frame(frame[COLUMNS], tables.with_suffix(".csv"))
        return self.render(Rendering(artefact, frame, tables, figures, store))


def load_recipe(name: str) -> Recipe:
    """Return the recipe of an artefact, paper/artefact.

    Raises
    ------
    ValueError
        For an unknown artefact, or one whose script has no `RECIPE` of that name.
    """
    script = artefact_file(name).with_suffix(".py")
    if not script.is_file():
        raise ValueError(f"{name}: expected its script at {script}, found none; write it.")
    recipe = getattr(paper_of(name).module(name.partition("/")[2]), "RECIPE", None)
    if not isinstance(recipe, Recipe) or recipe.name != name:
        raise ValueError(
            f"{script}: expected RECIPE = Recipe({name!r}, render, ...), got {recipe!r:.120}; see CONTRIBUTING, "
            "'Add a paper'."
        )
    return recipe
