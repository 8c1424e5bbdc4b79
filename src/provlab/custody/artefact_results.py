"""Results of an artefact for the report: numbers, traces, verdicts and reference results."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from provlab.core.artefact import (
    COMPLETE,
    NOT_RUN,
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
from provlab.core.selected import cells_features, cells_that_select, largest_cells
from provlab.core.snapshot import StoreSnapshot
from provlab.core.tables import value_text
from provlab.core.trace import beside_reference, reference_numbers, trace_numbers
from provlab.data import MissingDataError
from provlab.project.documents import read_json
from provlab.project.papers import reproduce_command
from provlab.project.project import current_project, tool
from provlab.report.artefact import (
    BROKEN,
    DATA_MISSING,
    FILES,
    ArtefactContent,
    ArtefactPage,
    write_artefact,
    write_trace,
)
from provlab.report.claim import ClaimReadings, write_claim
from provlab.report.features import FeaturesLine, FeaturesPart, write_features
from provlab.report.figures.specification import by_effect
from provlab.report.figures.style import only_formats
from provlab.report.reference import ProjectReference, ReferencePart, formatted_table
from provlab.report.templating import Site, trace_href
from provlab.verdicts.claims.provenance import Provenance
from provlab.verdicts.claims.schema import PANEL, Claim, ClaimFile
from provlab.verdicts.claims.stored import Evidence
from provlab.verdicts.claims.verdicts import Verdict, judge
from provlab.verdicts.readings.prints import printed_effect
from provlab.verdicts.readings.robustness import counted, tallied
from provlab.verdicts.readings.study import Outcome, stored_outcome
from provlab.verdicts.reference import FOLDER, STATES, Reference, changes_since

log = logging.getLogger(__name__)


class Sources(NamedTuple):
    """The data from which the pages of all artefacts are made.

    Attributes
    ----------
    store : StoreSnapshot
    families : mapping
        All claims by paper, which corrections for multiple comparisons need.
    readings : mapping
        Readings by claim, see `readings_of`.
    audited : mapping
        How many trials of each cell audits found identical, close and different.
    reference : ProjectReference
    """

    store: StoreSnapshot
    families: Mapping[str, Sequence[Claim]]
    readings: Mapping[str, ClaimReadings]
    audited: Mapping[str, Mapping[str, int]]
    reference: ProjectReference


def show_artefact(site: Site, sources: Sources, name: str) -> ArtefactPage:
    """Write the pages of an artefact, named paper/artefact, and return its summary for the other pages.

    An error in one artefact is stated on its page and does not stop the others.
    """
    artefact, page = _compose(site, sources.store, name)
    page.reference = sources.reference.parts.get(name)
    content = ArtefactContent(
        compare_with_print(pd.DataFrame(columns=[*COLUMNS, *ORIGIN]))
    )
    if artefact is not None:
        try:
            content = _results(site, sources, artefact, page)
        except Exception as error:
            log.warning(
                "report: %s cannot be shown: %s",
                name,
                error,
                exc_info=log.isEnabledFor(logging.DEBUG),
            )
            page.state, page.problem = BROKEN, _reason(error)
    if page.reference:
        content.numbers = beside_reference(content.numbers, page.reference.numbers)
    content.differs = artefact_difference(name)
    content.compared = _state_of_reference(site, artefact, page)
    page.certificates = sum_certificates([page])
    page.verdicts = _judge(site, sources, artefact, page)
    page.tally = tally(page.verdicts, sources.readings)
    for verdict in page.verdicts:
        readings = sources.readings.get(verdict.claim.id)
        write_claim(site, verdict, (page.title, page.href), readings, sources.reference)
    write_artefact(site, page, content, sources.readings, sources.reference)
    return page


def _compose(
    site: Site, store: StoreSnapshot, name: str
) -> tuple[Artefact | None, ArtefactPage]:
    """Return an artefact with its unfinished page, or None if the artefact cannot be read."""
    program = tool("provsel")
    command = reproduce_command(name, site.overrides, program)
    try:
        artefact = compose_artefact(name, site.overrides)
        artefact.check_data(store.has_any(artefact.cells))
    except MissingDataError as error:
        fetch = f"{program} fetch {error.dataset}"
        return None, ArtefactPage(
            name, artefact_title(name), DATA_MISSING, str(error), [fetch, command]
        )
    except ValueError as error:
        if not site.overrides:
            raise
        problem = (
            f"The settings of this report do not fit it: {' '.join(str(error).split())}"
        )
        return None, ArtefactPage(
            name,
            artefact_title(name),
            NOT_RUN,
            problem,
            [reproduce_command(name, (), program)],
        )
    return artefact, ArtefactPage(name, artefact.title, commands=[command])


def _results(
    site: Site, sources: Sources, artefact: Artefact, page: ArtefactPage
) -> ArtefactContent:
    """Complete the page, write files and traces, and return the content of the artefact's page."""
    store = sources.store
    recipe = load_recipe(artefact.name)
    frame = recipe.frame(artefact, store)
    cells = unique_cells(artefact.cells)
    page.n_planned = sum(cell.n_trials for cell in cells)
    page.n_stored = store.count(cells)
    page.state = state_of(page.n_stored, page.n_planned)
    page.n_numbers = len(frame)
    page.n_waiting = int((frame["state"] == NO_TRIALS).sum())
    if page.state == COMPLETE:
        page.commands = []
    stem = site.folder / "files" / page.short / page.short
    if page.n_stored:
        page.states = count_certificates(store, cells)
        try:
            with only_formats("svg"):
                recipe.write(artefact, store, frame, stem, stem)
        except Exception as error:  # a renderer may need trials that are not stored
            log.warning("report: %s cannot be rendered: %s", artefact.name, error)
            page.problem = f"The table or figure cannot be made from the stored trials: {_reason(error)}"
    files = sorted(
        stem.parent.glob("*"),
        key=lambda path: (list(FILES).index(path.suffix), path.name),
    )
    features = (
        _features(site, store, artefact, page) if page.n_stored else FeaturesPart()
    )
    traced = (
        beside_reference(frame, page.reference.numbers) if page.reference else frame
    )
    for trace in trace_numbers(artefact, traced, store, recipe.columns):
        write_trace(site, page, trace, sources.audited, features)
    numbers = compare_with_print(frame)
    places = zip(frame["of_row"], frame["of_column"], frame["dataset"], strict=True)
    numbers["trace"] = [trace_href(artefact.name, *place) for place in places]
    return ArtefactContent(
        numbers=numbers.sort_values(
            "printed", key=lambda texts: texts == "", kind="stable"
        ),
        unit=recipe.unit,
        columns=list(dict.fromkeys(entry.column for entry in artefact.entries)),
        places={(entry.row, entry.column) for entry in artefact.entries},
        files=files,
        tables=[read_json(path) for path in files if path.suffix == ".json"],
        features=features,
    )


def _features(
    site: Site, store: StoreSnapshot, artefact: Artefact, page: ArtefactPage
) -> FeaturesPart:
    lines = []
    for entry in artefact.entries:
        place = entry.row, entry.column, entry.dataset
        lines.append(
            FeaturesLine(*place, entry.cell.id, trace_href(artefact.name, *place))
        )
    cells = largest_cells(artefact.cells)
    selects = cells_that_select(store, cells)
    features = cells_features(store, [cell for cell in cells if selects.get(cell.id)])
    try:
        return write_features(site, lines, selects, features, f"files/{page.short}")
    except ValueError as error:
        # damaged feature lists must not remove numbers from a page
        return FeaturesPart(notes=[_reason(error).rstrip(".")])


def _judge(
    site: Site, sources: Sources, artefact: Artefact | None, page: ArtefactPage
) -> list[Verdict]:
    """Return the verdicts on the claims that are tested on an artefact."""
    family = sources.families.get(page.paper, ())
    absent = (
        f"data missing: {page.commands[0]}"
        if page.state == DATA_MISSING
        else page.problem
    )
    evidence = Evidence(
        sources.store, site.overrides, artefacts={page.name: artefact or absent}
    )
    return judge(
        [claim for claim in family if claim.rule.artefact == page.name],
        evidence,
        family,
    )


def _state_of_reference(
    site: Site, artefact: Artefact | None, page: ArtefactPage
) -> str:
    """Return how the code has changed since the reference of an artefact was computed."""
    if page.reference is None or site.overrides:
        return "With the settings of the papers."
    provenance = page.reference.provenance
    try:
        changes = changes_since(
            page.name, provenance, None if provenance.settings else artefact
        )
    except MissingDataError:
        return "Not compared with the code, because data are missing."
    return (
        f"Older than the code: {'; '.join(changes)}."
        if changes
        else "Up to date with the code."
    )


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def compare_with_print(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers with `difference`, ours minus printed, and `standard_errors`, on that scale.

    The standard error of each side is its sd times our scale, see
    `standard_error_scale`, because both use the same protocol. If the paper prints no
    sd, our standard error is used for both. The result is NaN if a side is not a
    number, or if nothing is randomised, because any difference is then real. `number`
    and `printed_number` are NaN for text; `text` and `printed` hold both values as
    text.
    """
    names = ("value", "printed_value", "scale", "sd", "printed_sd")
    ours, printed, scale, sd, printed_sd = (
        pd.to_numeric(frame[name], errors="coerce") for name in names
    )
    difference = ours - printed
    error = np.hypot(sd * scale, (printed_sd * scale).fillna(sd * scale))
    standard_errors = (difference / error.where(error > 0)).where(
        difference != 0, 0.0 * error
    )
    return frame.assign(
        number=ours, printed_number=printed, sd=sd, printed_sd=printed_sd, difference=difference,
        standard_errors=standard_errors, text=frame["value"].map(value_text),
        printed=frame["printed_value"].map(value_text),
    )  # fmt: skip


def count_certificates(store: StoreSnapshot, cells: Sequence[Cell]) -> pd.Series:
    """Return the number of measured planned trials by `certificate`, `cell` and `state`."""
    trials = planned_trials(store, cells, [*STATES.values()])
    counts = {
        name: trials.groupby(["cell", trials[column].rename("state")]).size()
        for name, column in STATES.items()
    }
    return pd.concat(counts, names=["certificate"]).drop(
        "not measured", level="state", errors="ignore"
    )


def sum_certificates(pages: Iterable[ArtefactPage]) -> dict[str, dict[str, int]]:
    """Return the number of trials in each state, by certificate with a bound, counting shared cells once."""
    frames = [page.states for page in pages if page.states is not None]
    if not frames:
        return {}
    by_cell = pd.concat(frames).groupby(level=["certificate", "cell", "state"]).max()
    sums: dict[str, dict[str, int]] = {}
    by_state = by_cell.groupby(level=["certificate", "state"]).sum()
    for (name, state), n_trials in by_state.items():  # type: ignore[misc, unused-ignore]
        sums.setdefault(str(name), {})[str(state)] = int(n_trials)
    return {
        name: states for name, states in sums.items() if states.keys() != {"no bound"}
    }


def tally(
    verdicts: Iterable[Verdict], readings: Mapping[str, ClaimReadings]
) -> list[tuple[str, int]]:
    """Return the number of the papers' own claims with each verdict, firm or depending on the reading."""
    robustness = {claim: of_claim.robustness for claim, of_claim in readings.items()}
    own = [verdict for verdict in verdicts if verdict.claim.kind == "paper"]
    return tallied(
        counted(verdict.claim.id, verdict.verdict, robustness) for verdict in own
    )


# ---- Readings and reference


def readings_of(files: Iterable[ClaimFile], results: Path) -> dict[str, ClaimReadings]:
    """Return the results of `provsel readings` by claim; unreadable ones are left out with a warning."""
    readings: dict[str, ClaimReadings] = {}
    for file in files:
        try:
            outcome = stored_outcome(file.paper, results)
        except (ValueError, OSError) as error:
            log.warning(
                "report: the readings of %s cannot be shown: %s", file.paper, error
            )
            continue
        if outcome is not None:
            readings |= claim_readings(outcome)
    return readings


def claim_readings(outcome: Outcome) -> dict[str, ClaimReadings]:
    """Return the verdicts of each claim under the readings of a paper that affect it."""
    readings = {}
    for robustness in outcome.robustness:
        claim = outcome.claims[robustness.claim]
        options = outcome.places_of(claim.id)
        if robustness.n_run and options:
            readings[claim.id] = ClaimReadings(
                robustness=robustness,
                places=[
                    place
                    for place in outcome.multiverse.readings.places
                    if place.id in options
                ],
                options=options,
                universes=by_effect(
                    outcome.universes[outcome.universes["claim"] == claim.id]
                ),
                margins=getattr(claim.rule, "margins", ()),
                printed=None if claim.rule.artefact == PANEL else printed_effect(claim),
                part_of_data=outcome.multiverse.part(claim.rule.artefact),
            )
    return readings


def project_reference(report: Path, files: Iterable[ClaimFile]) -> ProjectReference:
    """Read the reference of the current project, and copy its figures into a report.

    Parameters
    ----------
    report : Path
        The folder of the new report.
    files : iterable of ClaimFile
        Claims that the reference no longer covers are left out.
    """
    folder = current_project().root / "results" / FOLDER
    reference = Reference.read(folder)
    artefact_of = {
        claim.id: claim.rule.artefact for file in files for claim in file.claims
    }
    claims = reference.claims()
    claims = claims[claims["id"].isin([*artefact_of])]
    own = claims[claims["kind"] == "paper"]
    parts = {}
    for name, part in reference.artefacts.items():
        short = name.rpartition("/")[2]
        paths = sorted(
            (folder / file for file in part["files"]),
            key=lambda path: path.stem != short,
        )
        figures = [path for path in paths if path.suffix == ".svg"]
        for path in figures:
            (report / FOLDER / short).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, report / FOLDER / short / path.name)
        parts[name] = ReferencePart(
            provenance=Provenance.from_json(part, name),
            counts=tallied(own["counted"][own["id"].map(artefact_of) == name]),
            tables=[formatted_table(path) for path in paths if path.suffix == ".md"],
            figures=[path.name for path in figures],
            numbers=reference_numbers(folder / "tables" / f"{name}.csv"),
        )
    counts = {
        str(paper): tallied(verdicts)
        for paper, verdicts in own.groupby("paper")["counted"]
    }
    by_claim = {line["id"]: line for line in claims.to_dict("records")}
    return ProjectReference(parts, by_claim, counts, int(reference.cost()["trials"]))
