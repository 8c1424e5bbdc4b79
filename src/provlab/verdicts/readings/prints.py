"""Universes of an artefact, ranked by their distance from the numbers that the paper prints.

The nearest universe has the most cells exactly as printed. Next come the largest share
of printed items, for cells with lists, and the smallest mean difference in standard
deviations. Ties share a rank, because the printed values do not separate them.
Artefacts whose printed values are compared by a likelihood are left out.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from provlab.core.frames import TIMES
from provlab.core.recipe import load_recipe
from provlab.core.snapshot import TrialReader
from provlab.verdicts.claims.comparison import AbstractComparison
from provlab.verdicts.claims.schema import Claim
from provlab.verdicts.claims.stored import artefact_layout
from provlab.verdicts.readings.schema import DISTANCE, Readings
from provlab.verdicts.readings.universes import Multiverse, Universe


class Likeness(NamedTuple):
    """Similarity of a number or list to the printed one, with NaN for unknown values.

    Attributes
    ----------
    exact : bool
        Whether it is exactly as printed.
    shared : float
        Share of the printed items of a list that our list contains.
    difference : float
        Difference divided by the printed standard deviation, or by ours if none is
        printed.
    ours, theirs : float
    """

    exact: bool
    shared: float = math.nan
    difference: float = math.nan
    ours: float = math.nan
    theirs: float = math.nan


def printed_rows(artefact: str, readings: Readings) -> list[str]:
    """Return the rows of an artefact that are compared with printed values.

    Times on another machine and program are not compared, because claims are about
    their ratios.
    """
    recipe = load_recipe(artefact)
    if artefact in readings.likelihood or {*TIMES} & {*recipe.columns}:
        return []
    printed = {*recipe.printed()["row"]}
    return [row for row in artefact_layout(artefact).rows if row in printed]


def printed_effect(claim: Claim) -> float | None:
    """Return the mean printed difference of the two rows that a claim compares, or None if it is not printed."""
    test = claim.rule
    if not isinstance(test, AbstractComparison) or test.than_artefact:
        return None
    printed = load_recipe(test.artefact).printed()
    printed = printed[printed["dataset"].fillna("") == test.dataset]
    values = printed.drop_duplicates(["row", "column"], keep="last").set_index(
        ["row", "column"]
    )["printed_value"]
    try:
        differences = [
            float(values[test.row, column]) - float(values[test.than, column])
            for column in test.columns
        ]
    except (KeyError, ValueError):
        return None
    return float(np.mean(differences))


def distances(
    multiverse: Multiverse, artefact: str, store: TrialReader
) -> pd.DataFrame:
    """Compare all universes of an artefact with the printed values, the nearest first.

    Returns
    -------
    DataFrame
        One line per universe that was run: the option of each place that affects a
        printed row, and `DISTANCE`.
    """
    recipe = load_recipe(artefact)

    @cache  # universes share rows
    def row_likenesses(row: str, universe: Universe) -> dict[str, Likeness | None]:
        frame = recipe.frame(multiverse.artefact(artefact, universe, [row]), store)
        frame = frame[frame["printed_value"].notna()]
        likenesses = {}
        for line in frame.to_dict("records"):
            numbers = (
                float(line["sd"]),
                str(line["printed_value"]),
                float(line["printed_sd"]),
            )
            likenesses[str(line["column"])] = likeness(line["value"], *numbers)
        return likenesses

    universes = list(multiverse.universes_of_print(artefact))
    places = multiverse.readings.places
    varied = np.flatnonzero(np.any(universes, axis=0)).tolist()
    lines = []
    for universe in universes:
        likenesses: list[Likeness | None] = []
        for row in multiverse.printed[artefact]:
            aside = _columns_aside(multiverse, artefact, row, universe)
            by_column = row_likenesses(
                row, multiverse.restricted(universe, artefact, row, summary=True)
            )
            likenesses += [
                likeness
                for column, likeness in by_column.items()
                if column not in aside
            ]
        complete = [likeness for likeness in likenesses if likeness is not None]
        if len(complete) == len(likenesses):
            options = [option.name for option in multiverse.chosen(universe, varied)]
            lines.append((*options, not any(universe), *_summary(complete)))
    return _ranked(
        pd.DataFrame(lines, columns=[*(places[k].id for k in varied), *DISTANCE[1:]])
    )


def likeness(
    value: object, sd: float, printed: str, printed_sd: float
) -> Likeness | None:
    """Compare our number or list with the printed one; None if there is no value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    try:
        ours, theirs = float(str(value)), float(printed)
    except ValueError:
        return _list_likeness(str(value), printed)
    n_decimals = len(printed.partition(".")[2])
    spread = printed_sd if printed_sd > 0 else sd
    difference = abs(ours - theirs) / spread if spread > 0 else math.nan
    return Likeness(
        round(ours, n_decimals) == theirs, math.nan, difference, ours, theirs
    )


def nearest(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the options of the nearest universes at each place, a single one if the printed values determine it.

    Places with the same option in all universes are left out.
    """
    best = frame[frame["rank"] == 1]
    options = {}
    for name in frame.columns[: frame.columns.get_loc("rank")]:
        if frame[name].nunique() > 1:
            options[str(name)] = sorted({*best[name]})
    return options


def _list_likeness(text: str, printed: str) -> Likeness:
    ours = [item.strip() for item in text.split(",")]
    theirs = [item.strip() for item in printed.split(",")]
    shared = {*ours} & {*theirs}
    return Likeness(ours == theirs, len(shared) / len({*theirs}))


def _columns_aside(
    multiverse: Multiverse, artefact: str, row: str, universe: Universe
) -> set[str]:
    """Return the columns of a row that a universe omits from the comparison, see `Place.columns_aside`."""
    columns: set[str] = set()
    for place, chosen in zip(multiverse.readings.places, universe, strict=True):
        if place.touches_row(artefact, row):
            columns |= place.columns_aside(chosen)
    return columns


def _summary(likenesses: list[Likeness]) -> tuple[float, ...]:
    """Return the columns of `DISTANCE` from the third on."""
    frame = pd.DataFrame(likenesses, columns=Likeness._fields)
    numbers = frame[["ours", "theirs"]].dropna()
    tau = math.nan
    if (numbers.nunique() > 1).all():
        tau = float(kendalltau(numbers["ours"], numbers["theirs"]).statistic)
    shared, difference = (
        frame["shared"].dropna().mean(),
        frame["difference"].dropna().mean(),
    )
    return int(frame["exact"].sum()), len(frame), shared, difference, tau


def _ranked(frame: pd.DataFrame) -> pd.DataFrame:
    """Rank the universes, the nearest first; ties share a rank."""
    keys = ["exact", "shared", "difference"]
    compared = (
        frame[keys]
        .astype(float)
        .fillna(0)
        .round(12)
        .sort_values(keys, ascending=[False, False, True])
    )
    places = pd.Series(range(1, len(frame) + 1), compared.index)
    ranks = places.groupby([compared[key] for key in keys]).transform("min")
    frame.insert(frame.columns.get_loc("by_default"), "rank", ranks)
    return frame.loc[compared.index].reset_index(drop=True)
