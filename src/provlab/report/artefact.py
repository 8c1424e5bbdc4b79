"""The pages of one artefact: its numbers beside the printed ones, its traces, and the claims that are tested on it.

The page of a claim has its verdict, what was found in each part, and what becomes of it under other readings.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from provlab.core.artefact import (
    COMPLETE,
    NOT_RUN,
    PARTIAL,
    Artefact,
    artefact_difference,
    artefact_title,
    compose_artefact,
    state_of,
)
from provlab.core.cell import Cell
from provlab.core.frames import COLUMNS, NO_TRIALS, ORIGIN, planned_trials
from provlab.core.plan import unique_cells
from provlab.core.recipe import load_recipe
from provlab.core.snapshot import StoreSnapshot
from provlab.core.tables import value_text
from provlab.data import MissingDataError
from provlab.project.documents import read_json
from provlab.project.papers import reproduce_command
from provlab.project.project import tool
from provlab.report.features import FeaturesLine, FeaturesPart, write_features
from provlab.report.figures.specification import by_effect, specification_curve
from provlab.report.figures.style import only_formats
from provlab.report.plots import numbers_plot, strip
from provlab.report.reference import ProjectReference, ReferencePart
from provlab.report.templating import Site, number, trace_href
from provlab.report.trace import PERCENT, Trace, beside_reference, trace_numbers
from provlab.verdicts.claims.rules import Finding
from provlab.verdicts.claims.schema import Claim, ClaimFile
from provlab.verdicts.claims.stored import Evidence
from provlab.verdicts.claims.verdicts import Verdict, judge
from provlab.verdicts.readings.prints import printed_effect
from provlab.verdicts.readings.robustness import Robustness
from provlab.verdicts.readings.study import Outcome, stored_outcome
from provlab.verdicts.reference import STATES, changes_since

log = logging.getLogger(__name__)

DATA_MISSING, BROKEN = "data missing", "broken"
"""Further states of an artefact. "broken": it could not be shown; the page says why."""

MAX_NUMBERS = 2000
"""Lines of the table of a page, those first that the paper prints; the CSV file has all."""

MAX_OPEN = 6
"""Data sets of a trace whose sections are open. With more a reader opens those of interest, or comes by a link; those
without a trial have no section, but for the first one, which shows what is run."""

MAX_TRIALS = 100
"""Trials of a cell that a page lists; `provsel explain --trials` lists all."""

MAX_SAMPLES = 3000
"""Values of the samples of a claim that its table lists."""

FILES = {
    ".csv": "CSV, every number", ".md": "Markdown", ".tex": "LaTeX", ".svg": "SVG",
    ".json": "JSON, the table with the origin of its numbers",
}  # fmt: skip


class ClaimReadings(NamedTuple):
    """What `provsel readings` found of a claim: its robustness, and the outcome that has its universes."""

    robustness: Robustness
    outcome: Outcome


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
    certificates : Series
        Planned trials by `certificate`, `cell`, `state`, see `count_certificates`.
    verdicts : list of Verdict
        On the claims that are tested on it.
    reference : ReferencePart, optional
        What the project's reference run gave.
    """

    name: str
    title: str
    state: str = NOT_RUN
    problem: str = ""
    commands: list[str] = field(default_factory=list)
    n_found: int = 0
    n_planned: int = 0
    n_numbers: int = 0
    n_waiting: int = 0
    certificates: pd.Series | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    reference: ReferencePart | None = None

    @property
    def paper(self) -> str:
        """Name of the paper."""
        return self.name.partition("/")[0]

    @property
    def short(self) -> str:
        """Name without the paper; unique among all artefacts."""
        return self.name.partition("/")[2]

    @property
    def href(self) -> str:
        """Page of the artefact."""
        return f"artefacts/{self.short}.html"

    @property
    def state_text(self) -> str:
        """The state, with the percentage of what is stored; rounded down, as "100 %" is for what is complete."""
        return f"partial, {math.floor(100 * self.n_found / self.n_planned)} %" if self.state == PARTIAL else self.state


def write_artefact(
    site: Site,
    store: StoreSnapshot,
    name: str,
    family: Sequence[Claim],
    readings: Mapping[str, ClaimReadings],
    audited: Mapping[str, Mapping[str, int]],
    reference: ProjectReference,
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
        By claim, see `readings_of`.
    audited : mapping
        By cell, how many of its trials audits found to be identical, close and different.
    reference : ProjectReference
        What the project's reference run gave, which stands beside.
    """
    artefact, page = _compose(site, store, name)
    page.reference = reference.parts.get(name)
    content: dict[str, Any] = {"unit": "", "plot": None, "files": [], "features": FeaturesPart(), "tables": []}
    content["numbers"] = compare_with_print(pd.DataFrame(columns=[*COLUMNS, *ORIGIN]))
    if artefact is not None:
        try:
            content |= _write_numbers(site, store, artefact, page, audited)
        except Exception as error:
            log.warning("report: %s cannot be shown: %s", name, error, exc_info=log.isEnabledFor(logging.DEBUG))
            page.state, page.problem = BROKEN, _reason(error)
    claims = [claim for claim in family if claim.rule.artefact == name]
    absent = f"data missing: {page.commands[0]}" if page.state == DATA_MISSING else page.problem
    page.verdicts = judge(claims, Evidence(store, site.overrides, artefacts={name: artefact or absent}), family)
    for verdict in page.verdicts:
        write_claim(site, page, verdict, readings.get(verdict.claim.id), reference)
    numbers = content.pop("numbers")
    if page.reference:
        numbers = beside_reference(numbers, page.reference.numbers)
    printed = numbers[numbers["printed"] != ""]
    site.write(
        page.href, "artefact.html", page.title, page.paper, page.short, page=page, readings=readings, labels=FILES,
        differs=artefact_difference(name),
        reference=reference, compared=_state_of_reference(site, artefact, page),
        counts=sum_certificates([page]), numbers=numbers[:MAX_NUMBERS].to_dict("records"), n_printed=len(printed),
        plots=content["plot"] is not None,
        with_errors=np.isfinite(printed["standard_errors"]).any(), by_dataset=numbers["dataset"].nunique() > 1,
        trace_href=trace_href,
        places={(entry.row, entry.column) for entry in artefact.entries} if artefact else set(), **content,
    )  # fmt: skip
    return page


def _compose(site: Site, store: StoreSnapshot, name: str) -> tuple[Artefact | None, ArtefactPage]:
    """Return an artefact, None where it cannot be had, with its page as far as that is known."""
    program = tool("provsel")
    command = reproduce_command(name, site.overrides, program)
    try:
        artefact = compose_artefact(name, site.overrides)
        artefact.check_data(store.has_any(artefact.cells))
    except MissingDataError as error:
        fetch = f"{program} fetch {error.dataset}"
        return None, ArtefactPage(name, artefact_title(name), DATA_MISSING, str(error), [fetch, command])
    except ValueError as error:
        if not site.overrides:
            raise
        problem = f"The settings of this report do not fit it: {' '.join(str(error).split())}"
        return None, ArtefactPage(name, artefact_title(name), NOT_RUN, problem, [reproduce_command(name, (), program)])
    return artefact, ArtefactPage(name, artefact.title, commands=[command])


def _write_numbers(
    site: Site, store: StoreSnapshot, artefact: Artefact, page: ArtefactPage, audited: Mapping[str, Mapping[str, int]]
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
        try:
            with only_formats("svg"):
                recipe.write(artefact, store, frame, stem, stem)
        except Exception as error:  # a renderer may need what a partial store does not have
            log.warning("report: %s cannot be rendered: %s", artefact.name, error)
            page.problem = f"The table or figure cannot be made from what is stored: {_reason(error)}"
    numbers = compare_with_print(frame)
    numbers["trace"] = [
        trace_href(artefact.name, *place)
        for place in zip(frame["of_row"], frame["of_column"], frame["dataset"], strict=True)
    ]
    numbers = numbers.sort_values("printed", key=lambda texts: texts == "", kind="stable")
    columns = dict.fromkeys(entry.column for entry in artefact.entries)
    files = sorted(stem.parent.glob("*"), key=lambda path: (list(FILES).index(path.suffix), path.name))
    features = _features(site, store, artefact, page)
    compared = beside_reference(frame, page.reference.numbers) if page.reference else frame
    for trace in trace_numbers(artefact, compared, store, recipe.columns):
        _write_trace(site, page, trace, audited, features)
    return {
        "numbers": numbers, "unit": recipe.unit, "plot": numbers_plot(numbers[:MAX_NUMBERS], columns, recipe.unit),
        "files": files, "features": features, "tables": [read_json(path) for path in files if path.suffix == ".json"],
    }  # fmt: skip


def _features(site: Site, store: StoreSnapshot, artefact: Artefact, page: ArtefactPage) -> FeaturesPart:
    places = [(entry.row, entry.column, entry.dataset) for entry in artefact.entries]
    cells = zip(places, artefact.cells, strict=True)
    lines = [FeaturesLine(*place, cell, trace_href(artefact.name, *place)) for place, cell in cells]
    try:
        return write_features(site, store, lines, f"files/{page.short}")
    except ValueError as error:  # damaged lists take no number from a page
        return FeaturesPart(notes=[_reason(error).rstrip(".")])


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def compare_with_print(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers with `difference`, ours minus printed, and `standard_errors`, on that scale.

    The standard error of each side is its sd times the scale of ours, see `standard_error_scale`: the paper's protocol
    is ours. Where the paper prints no sd, its standard error counts as ours. NaN where a side is no number, or where
    nothing is randomised: then any difference is real. `number` and `printed_number` are NaN for text; `text` and
    `printed` are both as text.
    """
    names = ("value", "printed_value", "scale", "sd", "printed_sd")
    ours, printed, scale, sd, printed_sd = (pd.to_numeric(frame[name], errors="coerce") for name in names)
    own, difference = sd * scale, ours - printed
    error = np.hypot(own, (printed_sd * scale).fillna(own))
    in_errors = (difference / error.where(error > 0)).where(difference != 0, 0.0 * error)
    return frame.assign(
        number=ours, printed_number=printed, sd=sd, printed_sd=printed_sd, difference=difference,
        standard_errors=in_errors, text=frame["value"].map(value_text), printed=frame["printed_value"].map(value_text),
    )  # fmt: skip


def count_certificates(store: StoreSnapshot, cells: Sequence[Cell]) -> pd.Series:
    """Return the number of planned trials by `certificate`, `cell` and `state`, of those that were measured."""
    found = planned_trials(store, cells, [*STATES.values()])
    counts = {name: found.groupby(["cell", found[column].rename("state")]).size() for name, column in STATES.items()}
    return pd.concat(counts, names=["certificate"]).drop("not measured", level="state", errors="ignore")


def sum_certificates(pages: Sequence[ArtefactPage]) -> dict[str, dict[str, int]]:
    """Return by certificate the trials in each state, where there is a bound; cells of two artefacts count once."""
    found = [page.certificates for page in pages if page.certificates is not None]
    if not found:
        return {}
    names = ["certificate", "cell", "state"]
    once = pd.concat(found).groupby(level=names).max().groupby(level=["certificate", "state"]).sum()
    counts: dict[str, dict[str, int]] = {}
    for (name, state), n in once.items():  # type: ignore[misc, unused-ignore]
        counts.setdefault(str(name), {})[str(state)] = int(n)
    return {name: states for name, states in counts.items() if states.keys() != {"no bound"}}


# ---- Traces

PARTS = ("selector", "model", "protocol", "dataset")


def _write_trace(
    site: Site,
    page: ArtefactPage,
    trace: Trace,
    audited: Mapping[str, Mapping[str, int]],
    features: FeaturesPart,
) -> None:
    """Write the page behind a row and column: what its cells share once, and each data set by itself."""
    identities = [cell.entry.cell.identity for cell in trace.cells]
    shared = [part for part in PARTS if all(each[part] == identities[0][part] for each in identities)]
    main = next((each["name"] for cell in trace.cells for each in cell.measured), "")
    drawn = {cell.entry.dataset: each for cell in trace.cells for each in cell.measured if each["name"] == main}
    ends = [each[end] for each in drawn.values() for end in ("minimum", "maximum")] or [0.0]
    axis = min(ends), max(ends)  # one for all data sets
    datasets = [cell.entry.dataset for cell in trace.cells]
    numbers_of = {name: [line for line in trace.numbers if line["dataset"] == name] for name in datasets}
    strips = {}
    for dataset, each in drawn.items():
        words = f"{each['n']} values on {dataset or 'the data'}, mean {number(each['mean'])}"
        strips[dataset] = each, strip(each["points"], axis, words, mean=each["mean"])
    title = ", ".join(part for part in (trace.row, trace.column) if part)
    folded = len(trace.cells) > MAX_OPEN
    told = [cell for place, cell in enumerate(trace.cells) if not folded or cell.n_found or not place]
    site.write(
        trace_href(trace.artefact, trace.row, trace.column), "trace.html", f"{title} · {page.short}", page.paper, title,
        above=[(page.short, page.href)], trace=trace, shared={part: identities[0][part] for part in shared},
        differing=[part for part in PARTS if part not in shared], main=main, unit="%" if main in PERCENT else "",
        axis=axis, strips=strips, numbers_of=numbers_of, folded=folded, told=told, audited=audited,
        environments=trace.environments, revisions=trace.revisions, features=features, MAX_TRIALS=MAX_TRIALS,
    )  # fmt: skip


def _state_of_reference(site: Site, artefact: Artefact | None, page: ArtefactPage) -> str:
    """Say how the code differs from what the reference of an artefact was made with."""
    if page.reference is None or site.overrides:
        return "With the settings of the papers."
    made = page.reference.made
    try:
        changes = changes_since(page.name, made, None if made.settings else artefact)
    except MissingDataError:
        return "Not compared with the code, as data are missing."
    return f"Older than the code: {'; '.join(changes)}." if changes else "Up to date with the code."


def write_claim(
    site: Site, page: ArtefactPage, verdict: Verdict, readings: ClaimReadings | None, reference: ProjectReference
) -> None:
    """Write the page of a claim; `page` is that of the artefact that it is tested on."""
    claim, parts, shown = verdict.claim, [*verdict.parts, *verdict.beside], {}
    samples = [(part.part, name, value) for part in parts for name, value in part.sample]
    if readings:
        outcome, options, printed = readings.outcome, readings.outcome.places_of(claim.id), printed_effect(claim)
        universes = by_effect(outcome.universes[outcome.universes["claim"] == claim.id])
        shown = {
            "places": [place for place in outcome.multiverse.readings.places if place.id in options],
            "universes": universes, "printed": printed, "data": outcome.multiverse.part(claim.rule.artefact),
            "options": [(place, "filter") for place in options],
            "curve": specification_curve(
                universes, options, unit=str(universes["unit"].iloc[0]), margins=getattr(claim.rule, "margins", ()),
                printed=printed,
            ),
        }  # fmt: skip
    site.write(
        f"claims/{claim.id}.html", "claim.html", claim.text, "claims", claim.id,
        above=[("Claims", "claims/index.html")], verdict=verdict, claim=claim, artefact=(page.title, page.href),
        drawn=_strips(parts), readings=readings, reference=reference, samples=samples[:MAX_SAMPLES],
        n_samples=len(samples), **shown,
    )  # fmt: skip


def _strips(parts: Sequence[Finding]) -> dict[str, Markup]:
    """Return a drawing of each part; those of one unit share an axis, which shows zero."""
    drawn = {}
    for unit in dict.fromkeys(part.unit for part in parts):
        same = [part for part in parts if part.unit == unit]
        ends = [end for part in same for end in (part.effect, part.low, part.high, *part.margins)]
        ends += [value for part in same for _, value in part.sample]
        finite = [0.0, *(end for end in ends if math.isfinite(end))]
        low, high = min(finite), max(finite)
        for part in same:
            words = f"{part.part}: {part.verdict}, effect {number(part.effect)}; axis {number(low)} to {number(high)}"
            drawn[part.part] = strip(
                (value for _, value in part.sample), (low, high), words, mean=part.effect,
                interval=(part.low, part.high), margins=part.margins, verdict=part.verdict,
            )  # fmt: skip
    return drawn


def readings_of(files: Iterable[ClaimFile], results: Path) -> dict[str, ClaimReadings]:
    """Return by claim what `provsel readings` found; what cannot be read is left out with a warning."""
    found: dict[str, ClaimReadings] = {}
    for file in files:
        try:
            outcome = stored_outcome(file.paper, results)
        except (ValueError, OSError) as error:
            log.warning("report: the readings of %s cannot be shown: %s", file.paper, error)
            continue
        if outcome is None:
            continue
        for robustness in outcome.robustness:
            if robustness.n_run and outcome.places_of(robustness.claim):
                found[robustness.claim] = ClaimReadings(robustness, outcome)
    return found
