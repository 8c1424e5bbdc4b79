"""How firm a verdict is: what becomes of a claim over all its universes, and which choice turns it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from provlab.claims import NOT_RUN
from provlab.readings.schema import Readings

log = logging.getLogger(__name__)

COLUMNS = [
    "claim", "universes", "run", "default", "same", "shares", "turned_by", "turns", "varied_by", "variance", "flip",
    "flip_verdict", "flips",
]  # fmt: skip
"""Columns of robustness.csv."""


class Flip(NamedTuple):
    """A smallest set of changes of the defaults that gives another verdict."""

    changes: tuple[tuple[str, str], ...] = ()
    verdict: str = ""

    def text(self) -> str:
        """Return the changes for people."""
        return ", ".join(f"{place}={option}" for place, option in self.changes)


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
    flips : tuple of Flip
        All of the smallest number of changes; empty where no universe has another verdict.
    """

    claim: str
    n_universes: int
    n_run: int
    default: str
    shares: dict[str, float]
    turns: dict[str, float]
    variance: dict[str, float]
    flips: tuple[Flip, ...]

    @property
    def same(self) -> float:
        """Share of the universes with the verdict of the defaults; NaN where that was not run."""
        return self.shares.get(self.default, np.nan) if self.default != NOT_RUN else np.nan


def robustness_of(readings: Readings, universes: pd.DataFrame) -> list[Robustness]:
    """Return the robustness of each claim of a frame that `judge_universes` made."""
    return [_robustness(readings, str(claim), found) for claim, found in universes.groupby("claim", sort=False)]


def robustness_frame(found: Sequence[Robustness]) -> pd.DataFrame:
    """Return one line a claim, with `COLUMNS`."""
    lines = []
    for made in found:
        # no place is named where none turns the verdict
        turned = next(((place, n) for place, n in made.turns.items() if n), ("", 0.0 if made.turns else np.nan))
        varied, flip = next(iter(made.variance.items()), ("", np.nan)), next(iter(made.flips), Flip())
        shares = "; ".join(f"{verdict} {share:.4f}" for verdict, share in made.shares.items())
        numbers = (made.claim, made.n_universes, made.n_run, made.default, made.same, shares)
        lines.append((*numbers, *turned, *varied, flip.text(), flip.verdict, len(made.flips)))
    return pd.DataFrame(lines, columns=COLUMNS)


def count_text(n_run: int, n_universes: int) -> str:
    """Return how many universes have evidence, of how many where some have none."""
    return f"{n_run}" if n_run == n_universes else f"{n_run} of {n_universes}"


def stored_shares(results: Path) -> dict[str, str]:
    """Return in how many of its universes each claim has the verdict of the defaults, as `robustness_frame` wrote it.

    A claim that has one reading only is left out, and with a warning what cannot be read: the verdicts do without it.
    """
    found = {}
    for path in sorted(results.glob("readings/*/robustness.csv")):
        try:
            frame = pd.read_csv(path, dtype={"claim": str, "default": str})
            several = frame[(frame["universes"] > 1) & (frame["run"] > 0)]
            for claim, default, same, n in several[["claim", "default", "same", "run"]].itertuples(index=False):
                found[claim] = f"{default} in {same:.0%} of {n}" if same == same else f"{n}, not by default"
        except (KeyError, ValueError, TypeError, OSError) as error:
            log.warning("%s cannot be read (%s); run provsel readings again", path, error)
    return found


def _robustness(readings: Readings, claim: str, universes: pd.DataFrame) -> Robustness:
    defaults = {place.id: place.options[0].name for place in readings.places if (universes[place.id] != "").all()}
    run = universes[universes["verdict"] != NOT_RUN].reset_index(drop=True)
    default = str(universes["verdict"].iloc[0])
    shares = {verdict: n / len(run) for verdict, n in Counter(run["verdict"]).most_common()}
    turns = {name: _turning(run, [other for other in defaults if other != name]) for name in defaults}
    flips = tuple(_smallest_flips(run, defaults, default))
    variance = _variance(run, list(defaults))
    return Robustness(claim, len(universes), len(run), default, shares, _largest_first(turns), variance, flips)


def _turning(run: pd.DataFrame, others: list[str]) -> float:
    """Return of all pairs of universes that differ in one place alone the share whose verdicts differ."""
    groups = run.groupby(others, sort=False)["verdict"] if others else [((), run["verdict"])]
    pairs = different = 0
    for _, verdicts in groups:
        n, counts = len(verdicts), np.array(list(Counter(verdicts).values()))
        pairs += n * (n - 1) // 2
        different += (n * n - int((counts**2).sum())) // 2
    return different / pairs if pairs else 0.0


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


def _smallest_flips(run: pd.DataFrame, defaults: dict[str, str], default: str) -> Iterator[Flip]:
    other = run[run["verdict"] != default]
    if default == NOT_RUN or other.empty:
        return
    changed = pd.DataFrame({name: other[name] != value for name, value in defaults.items()})
    n_changes = changed.sum(axis=1)
    for k in n_changes.index[n_changes == n_changes.min()]:
        changes = tuple((name, str(other.at[k, name])) for name in defaults if changed.at[k, name])
        yield Flip(changes, str(other.at[k, "verdict"]))
