"""Detective work: the universes of an artefact by their distance to the numbers that the paper prints.

Nearest is the universe with the most cells exactly as printed; then, of cells that list several things, the most of
them shared; then the smallest mean difference in standard deviations.
Ties are shown as ties: the print cannot separate them.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from provlab.core.frames import TIMES
from provlab.core.recipe import load_recipe
from provlab.core.store import TrialReader
from provlab.verdicts.claims.comparison import AbstractComparison
from provlab.verdicts.claims.schema import Claim
from provlab.verdicts.claims.stored import artefact_layout
from provlab.verdicts.readings.schema import DISTANCE
from provlab.verdicts.readings.universes import Multiverse, Universe

Likeness = tuple[bool, float, float, float, float]
"""Of one number or text: whether it is as printed, the share of the listed things that are there, the difference in
standard deviations, and both numbers; NaN where that cannot be said."""


def printed_rows(artefact: str) -> list[str]:
    """Return the rows of an artefact of which a number is printed that a reading can give.

    Times are none: those of another machine and program, which differ from run to run. Claims are about their ratios.
    """
    recipe = load_recipe(artefact)
    if {*TIMES} & {*recipe.columns}:
        return []
    named = {*recipe.printed()["row"]}
    return [row for row in artefact_layout(artefact).rows if row in named]


def printed_effect(claim: Claim) -> float | None:
    """Return the mean printed difference of the two rows that a claim compares, None where it is not printed."""
    test = claim.rule
    if not isinstance(test, AbstractComparison) or test.than_artefact:
        return None
    printed = load_recipe(test.artefact).printed()
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
    recipe = load_recipe(artefact)

    @cache
    def likenesses(row: str, universe: Universe) -> list[tuple[str, Likeness | None]]:
        frame = recipe.frame(multiverse.artefact(artefact, universe, [row]), store)
        frame = frame[frame["printed_value"].notna()]
        lines = zip(*(frame[name] for name in ("value", "sd", "printed_value", "printed_sd")), strict=True)
        found = [likeness(value, float(sd), str(printed), float(spread)) for value, sd, printed, spread in lines]
        return list(zip(frame["column"], found, strict=True))

    universes, lines = list(multiverse.universes_of_print(artefact)), []
    varied = [k for k in range(len(multiverse.readings.places)) if any(universe[k] for universe in universes)]
    for universe in universes:
        found = []
        for row in multiverse.printed[artefact]:
            aside = {
                column
                for place, k in zip(multiverse.readings.places, universe, strict=True)
                if place.touches_row(artefact, row)
                for column in place.columns_aside(k)
            }
            of_row = likenesses(row, multiverse.restricted(universe, artefact, row, summary=True))
            found += [each for column, each in of_row if column not in aside]
        known = [each for each in found if each is not None]
        if len(known) == len(found):
            options = [option.name for option in multiverse.chosen(universe, varied)]
            lines.append((*options, not any(universe), *_numbers(known)))
    places = [multiverse.readings.places[k].id for k in varied]
    frame = pd.DataFrame(lines, columns=[*places, *DISTANCE[1:]])
    keys = ["exact", "shared", "difference"]
    compared = frame[keys].astype(float).fillna(0).round(12).sort_values(keys, ascending=[False, False, True])
    ranks = pd.Series(range(1, len(frame) + 1), compared.index).groupby([compared[key] for key in keys])
    frame.insert(len(places), "rank", ranks.transform("min"))
    return frame.loc[compared.index].reset_index(drop=True)


def likeness(value: object, sd: float, printed: str, printed_sd: float) -> Likeness | None:
    """Compare one number or text with the printed one; None where it is not there."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    try:
        ours, theirs = float(str(value)), float(printed)
    except ValueError:
        listed, found = ([item.strip() for item in text.split(",")] for text in (printed, str(value)))
        return found == listed, len({*found} & {*listed}) / len({*listed}), math.nan, math.nan, math.nan
    spread = printed_sd if printed_sd > 0 else sd
    exact = round(ours, len(printed.partition(".")[2])) == theirs
    return exact, math.nan, abs(ours - theirs) / spread if spread > 0 else math.nan, ours, theirs


def nearest(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return of each place the options that some nearest universe has: one where the print separates them.

    Places that no universe of the frame varies are left out.
    """
    best = frame[frame["rank"] == 1]
    places = [name for name in frame.columns[: frame.columns.get_loc("rank")] if frame[name].nunique() > 1]
    return {str(name): sorted({*best[name]}) for name in places}


def _numbers(found: list[Likeness]) -> tuple[float, ...]:
    """Return `DISTANCE` from the third on."""
    exact, shared, difference, *both = np.array(found, float).reshape(-1, 5).T
    ours, theirs = np.array(both)[:, ~np.isnan(both[0])]
    varies = np.unique(ours).size > 1 and np.unique(theirs).size > 1
    tau = float(kendalltau(ours, theirs).statistic) if varies else math.nan
    known = (each[~np.isnan(each)] for each in (shared, difference))
    return int(exact.sum()), len(found), *(float(each.mean()) if each.size else math.nan for each in known), tau
