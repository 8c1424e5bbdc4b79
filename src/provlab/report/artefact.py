"""The pages of one artefact: its numbers beside the printed ones, its traces, and the claims that are tested on it."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.audit import AuditRun
from provlab.claims import Evidence, Verdict, judge
from provlab.claims.schema import Claim
from provlab.datasets import MissingDataError
from provlab.documents import read_json
from provlab.figures.style import only_formats
from provlab.frames import NO_TRIALS, StoreSnapshot, planned_trials
from provlab.identity.cell import Cell
from provlab.listing import artefact_title
from provlab.plan import COMPLETE, NOT_RUN, PARTIAL, Artefact, compose_artefact, state_of, unique_cells
from provlab.project import reproduce_command, tool
from provlab.recipe import Recipe, load_recipe
from provlab.report.claim import write_claim
from provlab.report.plots import numbers_plot, strip, trace_plot
from provlab.report.templating import Site, number, settings, trace_href
from provlab.report.trace import PERCENT, Trace, trace_numbers
from provlab.store import SCHEMA
from provlab.tables import value_text

log = logging.getLogger(__name__)

DATA_MISSING, BROKEN = "data missing", "broken"
"""Further states of an artefact. "broken": it could not be shown; the page says why."""

MAX_NUMBERS, MAX_PRINTED = 4000, 1500
"""Lines of the tables of a page: numbers, and those beside printed ones; the CSV file has all."""

MAX_OPEN = 6
"""Data sets of a trace whose sections are open; with more a reader opens those of interest, or comes by a link."""

CERTIFICATES = [
    field.name for field in SCHEMA if field.name.startswith("certificate_") and pa.types.is_string(field.type)
]

NO_CERTIFICATES = pd.DataFrame(columns=["cell", "certificate", "state", "n"])

FILES = {
    ".csv": "CSV, every number", ".md": "Markdown", ".tex": "LaTeX", ".pdf": "PDF", ".svg": "SVG",
    ".json": "JSON, the table with the origin of its numbers",
}  # fmt: skip


@dataclass(eq=False)
class ArtefactPage:
    """What the other pages say of an artefact.

    Attributes
    ----------
    name, title : str
        paper/artefact, and what it is.
    state : str
        Complete, partial, not run, `DATA_MISSING` or `BROKEN`.
    problem : str
        Why nothing or not everything is shown, else "".
    commands : list of str
        What to run for what is missing: get the data, then compute.
    n_found, n_planned : int
        Trials; n_planned is 0 where it is not known because data are missing.
    n_numbers, n_waiting : int
        Numbers, and of these the ones without trials.
    certificates : DataFrame
        `cell`, `certificate`, `state`, `n`: planned trials in each state.
    verdicts : list of Verdict
        On the claims that are tested on it.
    """

    name: str
    title: str
    state: str
    problem: str = ""
    commands: list[str] = field(default_factory=list)
    n_found: int = 0
    n_planned: int = 0
    n_numbers: int = 0
    n_waiting: int = 0
    certificates: pd.DataFrame = field(default_factory=lambda: NO_CERTIFICATES)
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def paper(self) -> str:
        """Name of the paper."""
        return self.name.split("/")[0]

    @property
    def short(self) -> str:
        """Name without the paper; unique among all artefacts."""
        return self.name.split("/")[1]

    @property
    def href(self) -> str:
        """Page of the artefact."""
        return f"artefacts/{self.short}.html"

    @property
    def state_text(self) -> str:
        """The state, with the percentage of what is stored; rounded down, as "100 %" is for what is complete."""
        percent = math.floor(100 * self.n_found / self.n_planned) if self.n_planned else 0
        return f"partial, {percent} %" if self.state == PARTIAL and self.n_planned else self.state

    @property
    def state_line(self) -> str:
        """What the state means for the artefact."""
        found = f"{self.n_found:,} of {self.n_planned:,} trials are stored" if self.n_planned else ""
        return {
            PARTIAL: f"{found or 'Not all trials are stored'}. Numbers below are of these.",
            NOT_RUN: f"None of {self.n_planned:,} trials is stored." if self.n_planned else "No trial is stored.",
            DATA_MISSING: f"Data are missing on this machine{', ' + found if found else ''}.",
        }.get(self.state, "It could not be shown.")

    @property
    def numbers_text(self) -> str:
        """How many numbers there are, and of how many where some wait for trials."""
        found = self.n_numbers - self.n_waiting
        return f"{found:,} of {self.n_numbers:,}" if self.n_waiting else f"{found:,}"


def write_artefact(
    site: Site,
    store: StoreSnapshot,
    name: str,
    family: Sequence[Claim],
    readings: Mapping[str, Mapping[str, Any]],
    audits: Sequence[AuditRun],
) -> ArtefactPage:
    """Write the page of an artefact with its files, traces and claims.

    What goes wrong with one artefact is said on its page and does not stop the others.

    Parameters
    ----------
    site : Site
    store : StoreSnapshot
    name : str
        paper/artefact.
    family : sequence of Claim
        All claims of the paper, which corrections for many comparisons refer to.
    readings : mapping
        By claim, what its page shows of other readings: see `readings_of`.
    audits : sequence of AuditRun
    """
    artefact, page = _composed(site, store, name)
    content: dict[str, Any] = {"tables": [], "figures": [], "downloads": [], "numbers": pd.DataFrame(), "unit": ""}
    content |= {"plot_spec": None, "known": set()}
    if artefact is not None:
        try:
            content |= _shown(site, store, artefact, page, audits)
        except Exception as error:
            log.warning("report: %s cannot be shown: %s", name, error, exc_info=log.isEnabledFor(logging.DEBUG))
            page.state, page.problem = BROKEN, _reason(error)
    claims = [claim for claim in family if claim.rule.artefact == name]
    absent = page.commands[0] if page.state == DATA_MISSING else ""
    given = artefact or (f"data missing: {absent}" if absent else page.problem)
    page.verdicts = judge(claims, Evidence(store, site.overrides, artefacts={name: given}), family)
    for verdict in page.verdicts:
        write_claim(site, page.title, page.href, verdict, readings.get(verdict.claim.id))
    numbers, known = content["numbers"], content["known"]

    def href_of(cell: Mapping[str, str]) -> str:
        """Return the trace of a cell of a formatted table, where it is a number of one cell or a mean of some."""
        place = (cell.get("row", ""), cell.get("column", ""))
        return trace_href(name, *place, cell.get("dataset", "")) if place in known and cell["text"] else ""

    printed = numbers[numbers["printed"] != ""] if len(numbers) else numbers
    site.write(
        page.href, "artefact.html", page.title, page.paper, page.short, page=page, readings=readings,
        counts=counted(page.certificates), certified=certified(page.certificates), n_printed=len(printed),
        with_errors=len(printed) > 0 and np.isfinite(printed["standard_errors"]).any(),
        by_dataset=len(numbers) > 0 and numbers["dataset"].ne("").any(),
        plots=content["plot_spec"] is not None, href_of=href_of,
        **{**content, "printed": printed[:MAX_PRINTED].to_dict("records"),
           "numbers": numbers[:MAX_NUMBERS].to_dict("records")},
    )  # fmt: skip
    return page


def _composed(site: Site, store: StoreSnapshot, name: str) -> tuple[Artefact | None, ArtefactPage]:
    """Return an artefact, None where it cannot be had, with its page as far as that is known."""
    command = reproduce_command(name, site.overrides)
    try:
        artefact = compose_artefact(name, site.overrides)
        artefact.check_data(store.has_any(artefact.cells))
    except MissingDataError as error:
        fetch = f"{tool('provsel')} fetch {error.dataset}"
        return None, ArtefactPage(name, artefact_title(name), DATA_MISSING, str(error), [fetch, command])
    except ValueError as error:
        if not site.overrides:
            raise
        problem = f"The settings of this report do not fit it: {' '.join(str(error).split())}"
        return None, ArtefactPage(name, artefact_title(name), NOT_RUN, problem, [reproduce_command(name)])
    return artefact, ArtefactPage(name, artefact.title, NOT_RUN, commands=[command])


def _shown(
    site: Site, store: StoreSnapshot, artefact: Artefact, page: ArtefactPage, audits: Sequence[AuditRun]
) -> dict[str, Any]:
    """Complete the page, write files and traces, and return what the template shows."""
    recipe, cells = load_recipe(artefact.name), unique_cells(artefact.cells)
    frame = recipe.frame(artefact, store)
    page.n_planned, page.n_found = sum(cell.n_trials for cell in cells), store.count(cells)
    page.state = state_of(page.n_found, page.n_planned)
    page.n_numbers, page.n_waiting = len(frame), int((frame["state"] == NO_TRIALS).sum())
    page.commands = [] if page.state == COMPLETE else page.commands
    page.certificates = count_certificates(store, cells)
    stem = site.folder / "files" / page.short / page.short
    if page.n_found:
        page.problem = _write_files(recipe, artefact, store, frame, stem)
    numbers = compared(frame)
    numbers = numbers.assign(text=numbers["value"].map(value_text), printed=numbers["printed_value"].map(value_text))
    numbers["trace"] = [
        trace_href(artefact.name, *place)
        for place in zip(*(frame[name] for name in ("of_row", "of_column", "dataset")), strict=True)
    ]
    numbers = numbers.sort_values("printed", key=lambda texts: texts == "", kind="stable")
    traces = trace_numbers(
        artefact, frame, store, recipe.columns, results=site.results, audits=audited(audits, artefact.cells)
    )
    for trace in traces:
        _write_trace(site, page, trace)
    columns = {entry.column: None for entry in artefact.entries}
    paths = sorted(stem.parent.glob("*"), key=lambda path: (list(FILES).index(path.suffix), path.name))
    return {
        "numbers": numbers, "unit": recipe.unit, "plot_spec": numbers_plot(numbers[:MAX_NUMBERS], columns, recipe.unit),
        "known": {(entry.row, entry.column) for entry in artefact.entries},
        "tables": [read_json(path) for path in paths if path.suffix == ".json"],
        "figures": [
            (f"{page.title}{f': {part}' if (part := _part(path, page)) else ''}", f"files/{page.short}/{path.stem}")
            for path in paths if path.suffix == ".svg"
        ],
        "downloads": [
            (FILES[path.suffix] + (f" ({part})" if (part := _part(path, page)) else ""),
             path.relative_to(site.folder).as_posix(), path.stat().st_size)
            for path in paths
        ],
    }  # fmt: skip


def _part(path: Path, page: ArtefactPage) -> str:
    return path.stem.removeprefix(page.short).strip("-_")


def _write_files(recipe: Recipe, artefact: Artefact, store: StoreSnapshot, frame: pd.DataFrame, stem: Path) -> str:
    """Write the files of the artefact; return why they cannot be made from what is stored, else ""."""
    try:
        with only_formats("pdf", "svg"):
            recipe.write(artefact, store, frame, stem, stem)
    except Exception as error:  # a renderer may need what a partial store does not have
        log.warning("report: %s cannot be rendered: %s", artefact.name, error)
        return f"The table or figure cannot be made from what is stored: {_reason(error)}"
    return ""


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def compared(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers with `difference`, ours minus printed, and `standard_errors`, on that scale.

    The standard error of each side is its sd times the scale of ours, see `standard_error_scale`: the paper's protocol
    is ours. Where the paper prints no sd, its standard error counts as ours. NaN where a side is no number, or where
    nothing is randomised: then any difference is real. `number` and `printed_number` are NaN for text.
    """
    names = ("value", "printed_value", "scale", "sd", "printed_sd")
    ours, printed, scale, sd, printed_sd = (pd.to_numeric(frame[name], errors="coerce") for name in names)
    own, difference = sd * scale, ours - printed
    error = np.hypot(own, (printed_sd * scale).fillna(own))
    in_errors = (difference / error.where(error > 0)).where(difference != 0, 0.0 * error)
    return frame.assign(
        number=ours, printed_number=printed, sd=sd, printed_sd=printed_sd, difference=difference,
        standard_errors=in_errors,
    )  # fmt: skip


def count_certificates(store: StoreSnapshot, cells: Sequence[Cell]) -> pd.DataFrame:
    """Return how many planned trials of distinct cells are in each state, see `ArtefactPage.certificates`."""
    found = planned_trials(store, cells, CERTIFICATES)
    counts = [NO_CERTIFICATES]
    for column in CERTIFICATES:
        lines = found.groupby(["cell", column]).size().rename("n").reset_index().rename(columns={column: "state"})
        counts.append(lines.assign(certificate=column.removeprefix("certificate_"))[NO_CERTIFICATES.columns])
    states = pd.concat([lines for lines in counts if len(lines)] or counts[:1])
    return states[states["state"] != "not measured"]


def counted(certificates: pd.DataFrame) -> dict[str, list[tuple[str, int]]]:
    """Return by certificate (state, trials), of those with a bound; cells that two artefacts have count once."""
    once = certificates.groupby(["cell", "certificate", "state"])["n"].max()
    counts: dict[str, list[tuple[str, int]]] = {}
    for (name, state), n in once.groupby(level=["certificate", "state"]).sum().items():  # type: ignore[misc, unused-ignore]
        counts.setdefault(str(name), []).append((str(state), int(n)))
    return {name: found for name, found in counts.items() if {state for state, _ in found} - {"no bound"}}


def certified(certificates: pd.DataFrame) -> tuple[int, int]:
    """Return how many trials meet a bound that says something, and how many have one."""
    counts = [count for found in counted(certificates).values() for count in found]
    held, violated = (sum(n for state, n in counts if state == wanted) for wanted in ("held", "violated"))
    return held, held + violated


def audited(audits: Iterable[AuditRun], cells: Iterable[Cell]) -> dict[str, tuple[int, int, int]]:
    """Return how often planned trials of each audited cell were identical, close and different, over all audits."""
    planned = {cell.id: cell.counts for cell in unique_cells(cells)}
    counts: dict[str, tuple[int, int, int]] = {}
    for run in audits:
        for trial in run.trials[run.trials["cell"].isin(planned)].itertuples():
            place = (trial.repeat, trial.fold, trial.draw)
            if all(n < most for n, most in zip(place, planned[trial.cell], strict=True)):
                same, close, other = counts.get(trial.cell, (0, 0, 0))
                found = trial.outcome
                counts[trial.cell] = (
                    same + (found == "identical"), close + (found == "close"), other + (found == "different")
                )  # fmt: skip
    return counts


# ---- Traces

PARTS = ("selector", "model", "protocol", "dataset")


def _write_trace(site: Site, page: ArtefactPage, trace: Trace) -> None:
    """Write the page behind a row and column: what its cells share once, and each data set by itself."""
    identities = [cell.entry.cell.identity for cell in trace.cells]
    found = {part: [identity.get(part) for identity in identities] for part in PARTS}
    shared = {part: card(each[0]) for part, each in found.items() if all(other == each[0] for other in each)}
    axes: dict[str, tuple[float, float]] = {}  # one axis for all data sets
    for each in (each for cell in trace.cells for each in cell.measured):
        low, high = axes.get(each["name"], (math.inf, -math.inf))
        axes[each["name"]] = min(low, each["minimum"]), max(high, each["maximum"])
    main = next(iter(axes), "")
    strips = {}
    for cell in trace.cells:
        for each in (each for each in cell.measured if each["name"] == main):
            where = f" on {cell.entry.dataset}" if cell.entry.dataset else ""
            span = f"{number(each['minimum'])} to {number(each['maximum'])}, mean {number(each['mean'])}"
            label = f"{each['n']} values{where}: {span}"
            strips[cell.entry.dataset] = each, strip(each["points"], axes[main], label, mean=each["mean"])
    title = ", ".join(part for part in (trace.row, trace.column) if part)
    plot_spec = trace_plot(trace)
    site.write(
        trace_href(trace.artefact, trace.row, trace.column), "trace.html", f"{title} · {page.short}", page.paper, title,
        above=[(page.short, page.href)], trace=trace, shared=shared,
        differing=[part for part in found if part not in shared], main=main, unit="%" if main in PERCENT else "",
        axis=axes.get(main, (0.0, 0.0)), strips=strips, card=card,
        folded=len(trace.cells) > MAX_OPEN, plot_spec=plot_spec, plots=plot_spec is not None,
        datasets={cell.entry.dataset for cell in trace.cells}, text_of=value_text,
        **versions_content(trace.environments, trace.revisions),
    )  # fmt: skip


def versions_content(environments: Sequence[tuple[dict[str, Any], int]], revisions: object) -> dict[str, Any]:
    """Return what versions.html shows."""
    names = list(dict.fromkeys(name for versions, _ in environments for name in versions))
    return {"environments": environments, "version_names": names, "revisions": revisions}


def card(config: Any) -> tuple[str, list[tuple[str, str]]]:
    """Return the class of a part of a cell, and its settings: what it is given first."""
    if not isinstance(config, dict):
        return ("none", []) if config is None else ("", [("value", str(config))])
    named = "_target_" if "_target_" in config else "name"
    flat = settings({name: value for name, value in config.items() if name != named})
    # the level "arguments" says nothing to readers
    pairs = [(name.replace("arguments.", ""), text) for name, text in flat]
    return str(config.get(named, "")).rpartition(".")[2], sorted(pairs, key=lambda pair: pair[0] == "algorithm_version")
