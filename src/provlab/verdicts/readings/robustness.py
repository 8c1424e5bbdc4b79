"""How firm a verdict is: what becomes of a claim over all its universes, and which choice turns it.

A verdict that takes a side counts as itself where it is firm: at least half of all universes take a side, and at least
80 % of those agree with it. Where fewer than half take a side, the claim is *inconclusive under most readings*, else it
*depends on the reading*. Where a paper has readings and none of them was asked of a claim, it has *one reading*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.verdicts.claims.rules import (
    DECIDED,
    DEPENDS_ON_READING,
    NOT_CONTRADICTED,
    NOT_RUN,
    ONE_READING,
    OPEN_UNDER_READINGS,
    REPLICATED,
    VERDICTS,
)
from provlab.verdicts.readings.schema import Readings

COLUMNS = [
    "claim", "universes", "run", "default", "same", "shares", "turned_by", "turns", "varied_by", "variance", "flip",
    "flip_verdict", "flips",
]  # fmt: skip
"""Columns of robustness.csv."""

FIRM = 0.8
"""Share of the universes that decide, with one verdict, that makes it firm."""

MOST = 0.5
"""Share of all universes that must decide; of fewer nothing is said."""

ROUNDING = 1e-4
"""Shares are stored with four decimals."""

SIDE = {NOT_CONTRADICTED: REPLICATED}
"""Verdicts that agree with another one."""

LARGEST = {"turned_by": "turns", "varied_by": "variance"}
"""Columns that name a place, and those that say how much it turns or varies."""


@dataclass(frozen=True)
class Robustness:
    """What becomes of a claim under all readings that touch it.

    Attributes
    ----------
    claim : str
    n_universes, n_run : int
        Those that there are, and those with evidence; all else is about the second.
    default : str
        Verdict in the universe of the defaults.
    shares : dict
        Share of the universes with each verdict, the most frequent first.
    turns : dict
        For each place, the largest first: of two universes that differ in its option alone, how often do the verdicts
        differ?
    variance : dict
        For each place: share of the variance of the mean effect that its options explain (first-order index; Saltelli
        et al. 2008, chapter 1). What is left to 1 is interaction. Empty where effects are not known or all the same.
    flips : list of (str, str)
        All of the smallest number of changes of the defaults that give another verdict, such as "C=1, weights=log", and
        that verdict; empty where no universe has another one.
    """

    claim: str
    n_universes: int
    n_run: int
    default: str
    shares: dict[str, float]
    turns: dict[str, float]
    variance: dict[str, float]
    flips: list[tuple[str, str]]

    @property
    def same(self) -> float:
        """Share of the universes with the verdict of the defaults; NaN where that was not run."""
        return self.shares.get(self.default, np.nan) if self.default != NOT_RUN else np.nan

    @property
    def decided(self) -> float:
        """Share of the universes that take a side."""
        return sum(share for verdict, share in self.shares.items() if verdict in DECIDED)

    @property
    def decides(self) -> bool:
        """Whether at least half of the universes take a side."""
        return self.decided >= MOST - ROUNDING

    def agrees(self, verdict: str) -> bool:
        """Whether at least `FIRM` of the universes that decide are on the side of a verdict.

        Not contradicted is on the side of replicated: a part of the data can be too small to show what all show.
        """
        side = SIDE.get(verdict, verdict)
        same = sum(share for other, share in self.shares.items() if SIDE.get(other, other) == side)
        return same >= FIRM * self.decided - ROUNDING

    @property
    def firm(self) -> str:
        """The most frequent verdict that takes a side, where it is firm; else ""."""
        if not self.decides:
            return ""
        return next((verdict for verdict in self.shares if verdict in DECIDED and self.agrees(verdict)), "")

    @property
    def turned_by(self) -> str:
        """The place that turns most verdicts; "" where none turns any."""
        return next((place for place, share in self.turns.items() if share), "")

    def counts_as(self, verdict: str) -> str:
        """Return what a verdict on the claim counts as, see the module."""
        if verdict not in DECIDED:
            return verdict
        if self.n_universes == 1:
            return ONE_READING
        if not self.decides:
            return OPEN_UNDER_READINGS
        return verdict if self.agrees(verdict) else DEPENDS_ON_READING


def robustness_of(readings: Readings, universes: pd.DataFrame) -> list[Robustness]:
    """Return the robustness of each claim of a frame that `judge_universes` made."""
    found = []
    for claim, lines in universes.groupby("claim", sort=False):
        defaults = {place.id: place.options[0].name for place in readings.places if (lines[place.id] != "").all()}
        default, run = str(lines["verdict"].iloc[0]), lines[lines["verdict"] != NOT_RUN]
        shares = {verdict: n / len(run) for verdict, n in Counter(run["verdict"]).most_common()}
        turns = {name: _turning(run, ["claim", *(other for other in defaults if other != name)]) for name in defaults}
        flips = _smallest_flips(run[run["verdict"] != default], defaults) if default != NOT_RUN else []
        numbers = str(claim), len(lines), len(run), default, shares
        found.append(Robustness(*numbers, _largest_first(turns), _variance(run, [*defaults]), flips))
    return found


def robustness_frame(found: Sequence[Robustness]) -> pd.DataFrame:
    """Return one line a claim, with `COLUMNS`."""
    lines = []
    for each in found:
        # no place is named where none turns the verdict
        turned = each.turned_by, each.turns.get(each.turned_by, 0.0 if each.turns else np.nan)
        varied, flip = next(iter(each.variance.items()), ("", np.nan)), next(iter(each.flips), ("", ""))
        shares = "; ".join(f"{verdict} {share:.4f}" for verdict, share in each.shares.items())
        numbers = (each.claim, each.n_universes, each.n_run, each.default, each.same, shares)
        lines.append((*numbers, *turned, *varied, *flip, len(each.flips)))
    return pd.DataFrame(lines, columns=COLUMNS)


def count_text(n_run: int, n_universes: int) -> str:
    """Return how many universes have evidence, of how many where some have none."""
    return f"{n_run}" if n_run == n_universes else f"{n_run} of {n_universes}"


def stored_robustness(results: Path) -> dict[str, Robustness]:
    """Return what became of each claim that was asked under readings, by its id, as `robustness_frame` wrote it.

    Of the places the one is there that turns or varies most, and no flips are.
    """
    found = {}
    for path in sorted(results.glob("readings/*/robustness.csv")):
        frame = pd.read_csv(path, keep_default_na=False, na_values={name: [""] for name in ("turns", "variance")})
        for line in frame[frame["run"] > 0].to_dict("records"):
            turns, variance = ({line[name]: line[n]} if line[name] else {} for name, n in LARGEST.items())
            numbers = line["claim"], line["universes"], line["run"], line["default"]
            found[str(line["claim"])] = Robustness(*numbers, _read_shares(line["shares"]), turns, variance, [])
    return found


def stored_subsamples(results: Path) -> dict[str, str]:
    """Return, where a paper has it, the verdicts of each claim on subsamples of the default as large as a universe."""
    found = {}
    for path in sorted(results.glob("readings/*/subsamples.csv")):
        for line in pd.read_csv(path, dtype=str).to_dict("records"):
            found[line["claim"]] = _percentages(_read_shares(line["shares"]))
    return found


def counted(claim: str, verdict: str, asked: Mapping[str, Robustness]) -> str:
    """Return what a verdict on a claim counts as, see the module; itself where no claim of its paper was asked."""
    if claim in asked:
        return asked[claim].counts_as(verdict)
    paper = claim.partition(".")[0]
    has_readings = any(name.startswith(f"{paper}.") for name in asked)
    return ONE_READING if has_readings and verdict in DECIDED else verdict


def tallied(verdicts: Iterable[str]) -> list[tuple[str, int]]:
    """Return how many there are of each verdict, in the order of `VERDICTS`."""
    counts = Counter(verdicts)
    return [(verdict, counts[verdict]) for verdict in VERDICTS]


def under_readings(claim: str, asked: Mapping[str, Robustness]) -> str:
    """Return what became of a claim under readings, in a few words."""
    found = asked.get(claim)
    if found is None:
        return "not asked"
    if found.n_universes == 1:
        return "one reading"
    turned = f"; turned by {found.turned_by}" if found.turned_by else ""
    return f"{_percentages(found.shares)} of {count_text(found.n_run, found.n_universes)}{turned}"


def _read_shares(text: str) -> dict[str, float]:
    """Return the share of each verdict, as robustness.csv and subsamples.csv have it."""
    parts = (part.rpartition(" ") for part in text.split("; "))
    return {verdict: float(share) for verdict, _, share in parts}


def _percentages(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{share:.0%} {verdict}" for verdict, share in shares.items())


def _turning(run: pd.DataFrame, others: list[str]) -> float:
    """Return of all pairs of universes that differ in one place alone the share whose verdicts differ."""
    pairs, alike = (_n_pairs(run.groupby(names, sort=False).size()) for names in (others, [*others, "verdict"]))
    return (pairs - alike) / pairs if pairs else 0.0


def _n_pairs(sizes: pd.Series) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _variance(run: pd.DataFrame, names: list[str]) -> dict[str, float]:
    effects = run["mean_effect"].to_numpy(float)
    if not effects.size or np.isnan(effects).any():
        return {}
    total = float(((effects - effects.mean()) ** 2).sum())
    if total <= 1e-20 * float((effects**2).sum()):
        return {}
    means = {name: run.groupby(name)["mean_effect"].transform("mean").to_numpy(float) for name in names}
    return _largest_first({name: float(((each - effects.mean()) ** 2).sum()) / total for name, each in means.items()})


def _largest_first(found: dict[str, float]) -> dict[str, float]:
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _smallest_flips(others: pd.DataFrame, defaults: dict[str, str]) -> list[tuple[str, str]]:
    """Return the smallest changes, and the verdicts that they give, of the universes that have another verdict."""
    options = others[[*defaults]]
    n_changes = options.ne(pd.Series(defaults, dtype=object)).sum(axis=1)
    nearest = others[n_changes == n_changes.min()].to_dict("records")
    return [
        (", ".join(f"{name}={line[name]}" for name in defaults if line[name] != defaults[name]), line["verdict"])
        for line in nearest
    ]
