"""Detective work: the universes of an artefact by their distance to the numbers that the paper prints.

Nearest is the universe with the most cells exactly as printed; then, of cells that list several things, the most of
them shared; then the smallest mean difference in standard deviations.
Ties are shown as ties: what they do not tell apart, the print cannot.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from provlab.claims import Claim
from provlab.claims.comparison import AbstractComparison
from provlab.claims.stored import artefact_layout
from provlab.frames import TIMES
from provlab.project import artefact_file
from provlab.readings.schema import DISTANCE
from provlab.readings.universes import Multiverse, Universe
from provlab.recipe import Recipe, load_recipe
from provlab.store import TrialReader


class Likeness(NamedTuple):
    """How near one number or text is to the printed one; NaN where that cannot be said, or the number is not there."""

    exact: bool = False
    shared: float = math.nan
    difference: float = math.nan
    ours: float = math.nan
    printed: float = math.nan
    missing: bool = True


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
    test = claim.rule
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


def distances(multiverse: Multiverse, artefact: str, store: TrialReader) -> pd.DataFrame:
    """Compare all universes of an artefact with its print, the nearest first.

    Returns
    -------
    DataFrame
        One line a universe that was run: the option of each place that touches a printed row, and `DISTANCE`.
    """
    recipe, rows = load_recipe(artefact), printed_rows(artefact)

    @cache
    def likenesses(row: str, universe: Universe, aside: frozenset[str]) -> list[Likeness]:
        frame = recipe.frame(multiverse.artefact(artefact, universe, [row]), store)
        frame = frame[frame["printed_value"].notna() & ~frame["column"].isin(aside)]
        lines = zip(*(frame[name] for name in ("value", "sd", "printed_value", "printed_sd")), strict=True)
        return [likeness(value, float(sd), str(printed), float(spread)) for value, sd, printed, spread in lines]

    universes, lines = list(multiverse.universes_of_rows(artefact, rows)), []
    places = [(k, place) for k, place in enumerate(multiverse.readings.places) if any(u[k] for u in universes)]
    for universe in universes:
        found: list[Likeness] = []
        for row in rows:
            aside = multiverse.columns_aside(universe, artefact, row)
            found += likenesses(row, multiverse.restricted(universe, artefact, row, summary=True), aside)
        if not any(each.missing for each in found):
            options = [place.options[universe[k]].name for k, place in places]
            lines.append((*options, not any(universe), *_numbers(found)))
    frame = pd.DataFrame(lines, columns=[*(place.id for _, place in places), *DISTANCE[1:]])
    shared, difference = (frame[name].astype(float).fillna(0).round(12).tolist() for name in ("shared", "difference"))
    order = list(zip((-frame["exact"]).tolist(), (-x for x in shared), difference, strict=True))
    in_order = sorted(order)
    ranks = [1 + bisect_left(in_order, place) for place in order]
    frame.insert(frame.columns.get_loc("by_default"), "rank", ranks)
    return frame.sort_values("rank", kind="stable", ignore_index=True)


def likeness(value: object, sd: float, printed: str, printed_sd: float) -> Likeness:
    """Compare one number or text with the printed one."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Likeness()
    try:
        ours, theirs = float(str(value)), float(printed)
    except ValueError:
        listed, found = ([item.strip() for item in text.split(",")] for text in (printed, str(value)))
        return Likeness(found == listed, len({*found} & {*listed}) / len({*listed}), missing=False)
    spread = printed_sd if printed_sd > 0 else sd
    exact = round(ours, len(printed.partition(".")[2])) == theirs
    return Likeness(exact, math.nan, abs(ours - theirs) / spread if spread > 0 else math.nan, ours, theirs, False)


def nearest(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return of each place the options that some nearest universe has: one where the print tells them apart.

    Places that no universe of the frame varies are left out.
    """
    best = frame[frame["rank"] == 1]
    places = [name for name in frame.columns[: frame.columns.get_loc("rank")] if frame[name].nunique() > 1]
    return {str(name): sorted({*best[name]}) for name in places}


def _numbers(found: list[Likeness]) -> tuple[int, int, float, float, float]:
    """Return `DISTANCE` from the third on."""
    numbers = np.array([(each.shared, each.difference, each.ours, each.printed) for each in found]).reshape(-1, 4)
    ours, theirs = numbers[~np.isnan(numbers[:, 2]), 2:].T
    varies = np.unique(ours).size > 1 and np.unique(theirs).size > 1
    tau = float(kendalltau(ours, theirs).statistic) if varies else math.nan
    return sum(each.exact for each in found), len(found), _mean(numbers[:, 0]), _mean(numbers[:, 1]), tau


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _recipe(artefact: str) -> Recipe | None:
    """Return the recipe of an artefact, None where it has no script, as one that claims alone are about."""
    return load_recipe(artefact) if artefact_file(artefact).with_suffix(".py").is_file() else None
