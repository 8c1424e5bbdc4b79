"""From a store to what the pages show, artefact by artefact."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from provlab.agreement import OUTCOMES
from provlab.audit import AuditRun, read_audits
from provlab.datasets import MissingDataError
from provlab.documents import read_json
from provlab.figures.style import only_formats
from provlab.frames import planned_trials
from provlab.identity.cell import Cell
from provlab.listing import artefact_title
from provlab.plan import COMPLETE, NOT_RUN, Artefact, compose_artefact, state_of, unique_cells
from provlab.project import artefact_names, reproduce_command, tool
from provlab.recipe import Recipe, load_recipe
from provlab.site.differences import with_differences
from provlab.site.links import trace_href
from provlab.site.model import (
    BROKEN,
    DATA_MISSING,
    ArtefactPage,
    CertificateCount,
    Download,
    FigureFiles,
    FormattedTable,
    Number,
    TableCell,
)
from provlab.site.sharing import SnapshotPool, snapshot_of_this_process
from provlab.site.tracing import trace_numbers
from provlab.store import SCHEMA, StoreSnapshot
from provlab.tables import value_text

log = logging.getLogger(__name__)

MAX_NUMBERS = 4000
"""Numbers on the page of an artefact; all are in its CSV file."""

FILES = "files"
"""Folder of the report with tables and figures, one folder an artefact."""

CERTIFICATES = [
    field.name for field in SCHEMA if field.name.startswith("certificate_") and pa.types.is_string(field.type)
]

KINDS = {
    ".csv": "CSV, every number",
    ".md": "Markdown",
    ".tex": "LaTeX",
    ".pdf": "PDF",
    ".svg": "SVG",
    ".json": "JSON, the table with the origin of its numbers",
}


@dataclass
class Collector:
    """Makes the pages of artefacts from a snapshot.

    Parameters
    ----------
    snapshot : StoreSnapshot
    results : path
        Named in commands.
    folder : path
        Of the report: files of the artefacts are written into it.
    overrides : sequence of str
        The user's settings.

    Attributes
    ----------
    artefacts : dict
        What was composed, or why it could not be, for the claims.
    """

    snapshot: StoreSnapshot
    results: Path
    folder: Path
    overrides: Sequence[str] = ()
    artefacts: dict[str, Artefact | str] = field(default_factory=dict)

    def page(self, name: str) -> ArtefactPage:
        """Return the page of an artefact; what goes wrong with one is said on its page and does not stop the others."""
        command, with_settings = reproduce_command(name), reproduce_command(name, self.overrides)
        try:
            artefact = compose_artefact(name, self.overrides)
            artefact.check_data(self.snapshot.has_any(artefact.cells))
        except MissingDataError as error:
            fetch = f"{tool('provsel')} fetch {error.dataset}"
            self.artefacts[name] = f"data missing: {fetch}"
            title = artefact_title(name)
            return ArtefactPage(name, title, DATA_MISSING, command=with_settings, fetch=fetch, problem=str(error))
        except ValueError as error:
            if not self.overrides:
                raise
            self.artefacts[name] = f"the settings do not fit {name}: {str(error).splitlines()[0]}"
            problem = f"The settings of this report do not fit it: {' '.join(str(error).split())}"
            return ArtefactPage(name, artefact_title(name), NOT_RUN, command=command, problem=problem)
        self.artefacts[name] = artefact
        try:
            return self._page(artefact, load_recipe(name), with_settings)
        except Exception as error:
            log.warning("report: %s cannot be shown: %s", name, error, exc_info=log.isEnabledFor(logging.DEBUG))
            return ArtefactPage(name, artefact.title, BROKEN, command=with_settings, problem=_reason(error))

    @cached_property
    def _audits(self) -> list[AuditRun]:
        return read_audits(self.results)

    def certificates(self, cells: Iterable[Cell]) -> tuple[CertificateCount, ...]:
        """Return how many planned trials of some cells are in each state, for each certificate that any of them has."""
        found = planned_trials(self.snapshot, unique_cells(cells), CERTIFICATES)
        counts = []
        for column in CERTIFICATES:
            states = {str(name): int(n) for name, n in found[column].value_counts().items() if name != "not measured"}
            if set(states) - {"no bound"}:
                counts.append(CertificateCount(column.removeprefix("certificate_"), tuple(sorted(states.items()))))
        return tuple(counts)

    def _page(self, artefact: Artefact, recipe: Recipe, command: str) -> ArtefactPage:
        frame = with_differences(recipe.frame(artefact, self.snapshot))
        planned = sum(cell.n_trials for cell in unique_cells(artefact.cells))
        found = _n_found(artefact, frame)
        state = state_of(found, planned)
        stem = self.folder / FILES / artefact.name.split("/")[1] / artefact.name.split("/")[1]
        problem = ""
        if found:
            problem = self._write(artefact, recipe, frame, stem)
        numbers = [self._number(artefact.name, line) for line in frame.to_dict("records")]
        numbers.sort(key=lambda number: not number.printed)
        traces = trace_numbers(
            artefact,
            frame,
            self.snapshot,
            recipe.columns,
            results=self.results,
            settings=self.overrides,
            audits=audited_cells(self._audits, artefact.cells),
        )
        columns = {entry.column for entry in artefact.entries}
        return ArtefactPage(
            artefact.name,
            artefact.title,
            state,
            n_found=found,
            n_planned=planned,
            command="" if state == COMPLETE else command,
            problem=problem,
            tables=tuple(self._tables(artefact, stem)),
            figures=tuple(self._figures(artefact, stem)),
            downloads=tuple(self._downloads(stem)),
            numbers=tuple(numbers[:MAX_NUMBERS]),
            n_numbers=len(numbers),
            certificates=self.certificates(artefact.cells),
            x_is_number=all(re.fullmatch(r"[\d.]+", column) for column in columns),
            unit=recipe.unit,
            traces=tuple(traces),
        )

    def _write(self, artefact: Artefact, recipe: Recipe, frame: pd.DataFrame, stem: Path) -> str:
        """Write the files of the artefact; return why they cannot be made from what is stored, else ""."""
        try:
            with only_formats("pdf", "svg"):
                recipe.write(artefact, self.snapshot, frame, stem, stem)
        except Exception as error:  # a renderer may need what a partial store does not have
            log.warning("report: %s cannot be rendered: %s", artefact.name, error)
            return f"The table or figure cannot be made from what is stored: {_reason(error)}"
        return ""

    def _number(self, name: str, line: dict[str, Any]) -> Number:
        number = pd.to_numeric(line["value"], errors="coerce")
        return Number(
            str(line["row"]),
            str(line["column"]),
            str(line["dataset"]),
            value_text(line["value"]),
            float(number),
            float(line["sd"]),
            int(line["n_trials"]),
            value_text(line["printed_value"]),
            float(pd.to_numeric(line["printed_sd"], errors="coerce")),
            float(line["difference"]),
            float(line["standard_errors"]),
            str(line["state"]),
            trace_href(name, str(line["of_row"]), str(line["of_column"]), str(line["dataset"])),
        )

    def _tables(self, artefact: Artefact, stem: Path) -> Iterable[FormattedTable]:
        known = {(entry.row, entry.column) for entry in artefact.entries}

        def cell(content: dict[str, str]) -> TableCell:
            place = (content.get("row", ""), content.get("column", ""))
            if place not in known or not content["text"]:
                return TableCell(content["text"])
            return TableCell(content["text"], trace_href(artefact.name, *place, content.get("dataset", "")))

        for path in sorted(stem.parent.glob("*.json")):
            layout = read_json(path)
            rows = tuple(tuple(map(cell, row)) for row in layout["rows"])
            yield FormattedTable(layout["caption"], layout["note"], tuple(map(cell, layout["header"])), rows)

    def _figures(self, artefact: Artefact, stem: Path) -> Iterable[FigureFiles]:
        for path in sorted(stem.parent.glob("*.svg")):
            kind = path.stem.removeprefix(stem.name).strip("-_")
            hrefs = [self._href(path.with_suffix(suffix)) for suffix in (".svg", ".pdf")]
            yield FigureFiles(f"{artefact.title}{f': {kind}' if kind else ''}", *hrefs)

    def _downloads(self, stem: Path) -> Iterable[Download]:
        order = list(KINDS)
        paths = [path for path in stem.parent.glob("*") if path.suffix in KINDS]
        for path in sorted(paths, key=lambda path: (order.index(path.suffix), path.name)):
            part = path.stem.removeprefix(stem.name).strip("-_")
            text = KINDS[path.suffix] + (f" ({part})" if part else "")
            yield Download(text, self._href(path), path.stat().st_size)

    def _href(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


def _n_found(artefact: Artefact, frame: pd.DataFrame) -> int:
    """Return how many trials of an artefact are stored; those of a cell that stands in several columns count once."""
    places = zip(frame["of_row"], frame["of_column"], frame["dataset"], strict=True)
    counts = dict(zip(places, frame["n_trials"].tolist(), strict=True))
    by_cell: dict[str, int] = {}
    for entry in artefact.entries:
        n = counts.get((entry.row, entry.column, entry.dataset), 0)
        by_cell[entry.cell.id] = max(n, by_cell.get(entry.cell.id, 0))
    return sum(by_cell.values())


def audited_cells(audits: Iterable[AuditRun], cells: Iterable[Cell]) -> dict[str, tuple[int, int, int]]:
    """Return how often planned trials of each audited cell were identical, close and different, over all audits."""
    planned = {cell.id: cell.counts for cell in unique_cells(cells)}
    counts: dict[str, tuple[int, int, int]] = {}
    for run in audits:
        for trial in run.trials[run.trials["cell"].isin(planned)].itertuples():
            place = trial.repeat, trial.fold, trial.draw
            if all(n < most for n, most in zip(place, planned[trial.cell], strict=True)):
                found = tuple(int(trial.outcome == outcome) for outcome in OUTCOMES)
                before = counts.get(trial.cell, (0, 0, 0))
                counts[trial.cell] = (before[0] + found[0], before[1] + found[1], before[2] + found[2])
    return counts


def collect_pages(
    share: SnapshotPool, results: Path, folder: Path, overrides: Sequence[str]
) -> tuple[list[ArtefactPage], dict[str, Artefact | str]]:
    """Return the page of every artefact, without its claims, and what each was composed to.

    Most of the time goes into composing configs and drawing figures, artefact by artefact; so some processes share it.
    """
    found = list(share.map(partial(_collect_page, results, folder, tuple(overrides)), artefact_names()))
    unfit = [artefact for _, artefact in found if isinstance(artefact, str) and artefact.startswith("the settings")]
    if overrides and len(unfit) == len(found):
        raise ValueError(f"{unfit[0]}; expected settings that fit some artefact, got {' '.join(overrides)}.")
    return [page for page, _ in found], {page.name: artefact for page, artefact in found}


def _collect_page(
    results: Path, folder: Path, overrides: tuple[str, ...], name: str
) -> tuple[ArtefactPage, Artefact | str]:
    collector = _collector(snapshot_of_this_process(), results, folder, overrides)
    return collector.page(name), collector.artefacts[name]


@lru_cache(maxsize=1)
def _collector(snapshot: StoreSnapshot, results: Path, folder: Path, overrides: tuple[str, ...]) -> Collector:
    """Return the collector of this process, which loads a data set once for all artefacts."""
    return Collector(snapshot, results, folder, overrides)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
