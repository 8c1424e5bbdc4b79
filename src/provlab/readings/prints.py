"""Detective work: the universes of an artefact by their distance to the numbers that the paper prints.

Nearest is the universe with the most cells exactly as printed; then, of cells that list several things, the most of
them shared; then the smallest mean difference in standard deviations.
Ties are shown as ties: what they do not tell apart, the print cannot.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from provlab.claims import Claim
from provlab.claims.evaluators import AbstractComparison
from provlab.claims.evidence import artefact_layout
from provlab.frames import TIMES
from provlab.project import artefact_file
from provlab.readings.schema import DISTANCE
from provlab.readings.universes import Multiverse, RowEntries, Universe
from provlab.recipe import Recipe, load_recipe
from provlab.store import TrialReader


@dataclass
class Likeness:
    """How near some numbers are to the printed ones."""

    exact: int = 0
    printed: int = 0
    missing: int = 0
    shared: list[float] = field(default_factory=list)
    differences: list[float] = field(default_factory=list)
    pairs: list[tuple[float, float]] = field(default_factory=list)

    def __add__(self, other: Likeness) -> Likeness:
        return Likeness(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    def add(self, value: object, sd: float, printed: str, printed_sd: float) -> None:
        """Compare one number or text with the printed one."""
        self.printed += 1
        if value is None or (isinstance(value, float) and math.isnan(value)):
            self.missing += 1
            return
        try:
            ours, theirs = float(str(value)), float(printed)
        except ValueError:
            listed = [item.strip() for item in printed.split(",")]
            found = [item.strip() for item in str(value).split(",")]
            self.exact += found == listed
            self.shared.append(len({*found} & {*listed}) / len({*listed}))
            return
        decimals = len(printed.partition(".")[2])
        self.exact += round(ours, decimals) == theirs
        self.pairs.append((ours, theirs))
        spread = printed_sd if printed_sd > 0 else sd
        if spread > 0:
            self.differences.append(abs(ours - theirs) / spread)

    def numbers(self) -> tuple[int, int, float, float, float]:
        """Return `DISTANCE` from the third on."""
        ours, theirs = np.array(self.pairs).reshape(-1, 2).T
        varies = len({*ours.tolist()}) > 1 and len({*theirs.tolist()}) > 1
        tau = float(kendalltau(ours, theirs).statistic) if varies else math.nan
        return self.exact, self.printed, _mean(self.shared), _mean(self.differences), tau


def _recipe(artefact: str) -> Recipe | None:
    """Return the recipe of an artefact, None where it has no script, as one that claims alone are about."""
    return load_recipe(artefact) if artefact_file(artefact).with_suffix(".py").is_file() else None


def printed_rows(artefact: str) -> list[str]:
    """Return the rows of an artefact of which a number is printed that a reading can give.

    Times are none: those of another machine and program, which differ from run to run. Claims are about their ratios.
    """
    recipe = _recipe(artefact)
    if recipe is None or {*TIMES} & {*recipe.columns}:
        return []
    named = {*recipe.printed()["row"]}
    return [row for row in artefact_layout(artefact)[0] if row in named]


def printed_effect(claim: Claim) -> float | None:
    """Return the mean printed difference of the two rows that a claim compares, None where it is not printed."""
    test = claim.evaluator
    if not isinstance(test, AbstractComparison) or test.than_artefact or (recipe := _recipe(test.artefact)) is None:
        return None
    printed = recipe.printed()
    printed = printed[printed["dataset"].fillna("") == test.dataset]
    values = {(line["row"], line["column"]): line["printed_value"] for line in printed.to_dict("records")}
    try:
        differences = [float(values[test.row, column]) - float(values[test.than, column]) for column in test.columns]
    except (KeyError, ValueError):
        return None
    return float(np.mean(differences))


def distances(multiverse: Multiverse, entries: RowEntries, artefact: str, store: TrialReader) -> pd.DataFrame:
    """Compare all universes of an artefact with its print, the nearest first.

    Returns
    -------
    DataFrame
        One line a universe that was run: the option of each place that touches a printed row, and `DISTANCE`.
    """
    recipe, rows = load_recipe(artefact), printed_rows(artefact)
    universes = list(multiverse.of_rows(artefact, rows))
    of_row: dict[tuple[str, Universe, frozenset[str]], Likeness] = {}
    lines = []
    for universe in universes:
        total = Likeness()
        for row in rows:
            aside = multiverse.columns_aside(universe, artefact, row)
            part = row, multiverse.restricted(universe, artefact, row, summary=True), aside
            if part not in of_row:
                of_row[part] = _likeness(entries, recipe, *part, store)
            total = total + of_row[part]
        if not total.missing:
            lines.append((universe, total.numbers()))
    places = [(k, place) for k, place in enumerate(multiverse.readings.places) if any(u[k] for u in universes)]
    frame = pd.DataFrame(
        [
            {**{place.id: place.options[universe[k]].name for k, place in places}}
            | dict(zip(DISTANCE[1:], (not any(universe), *numbers), strict=True))
            for universe, numbers in lines
        ],
        columns=[*(place.id for _, place in places), *DISTANCE[1:]],
    )
    return _ranked(frame)


def _ranked(frame: pd.DataFrame) -> pd.DataFrame:
    shared, difference = frame["shared"].fillna(0).round(12), frame["difference"].fillna(0).round(12)
    order = list(zip((-frame["exact"]).tolist(), (-shared).tolist(), difference.tolist(), strict=True))
    in_order = sorted(order)
    ranks = [1 + bisect_left(in_order, place) for place in order]
    frame.insert(frame.columns.get_loc("by_default"), "rank", ranks)
    return frame.sort_values("rank", kind="stable").reset_index(drop=True)


def _likeness(
    entries: RowEntries, recipe: Recipe, row: str, universe: Universe, aside: frozenset[str], store: TrialReader
) -> Likeness:
    found = Likeness()
    frame = recipe.frame(entries.artefact(recipe.name, universe, [row]), store)
    for line in frame[frame["printed_value"].notna() & ~frame["column"].isin(aside)].to_dict("records"):
        found.add(line["value"], float(line["sd"]), str(line["printed_value"]), float(line["printed_sd"]))
    return found


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def nearest(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return of each place the options that some nearest universe has: one where the print tells them apart."""
    best = frame[frame["rank"] == 1]
    places = frame.columns[: frame.columns.get_loc("rank")]
    return {str(name): sorted({*best[name]}) for name in places}
