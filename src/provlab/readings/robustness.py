"""How firm a verdict is: what becomes of a claim over all its universes, and which choice turns it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.claims import NOT_RUN
from provlab.readings.schema import Readings

COLUMNS = [
    "claim", "universes", "run", "default", "same", "shares", "turned_by", "turns", "varied_by", "variance", "flip",
    "flip_verdict", "flips",
]  # fmt: skip
"""Columns of robustness.csv."""


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
        turned = next(((place, n) for place, n in each.turns.items() if n), ("", 0.0 if each.turns else np.nan))
        varied, flip = next(iter(each.variance.items()), ("", np.nan)), next(iter(each.flips), ("", ""))
        shares = "; ".join(f"{verdict} {share:.4f}" for verdict, share in each.shares.items())
        numbers = (each.claim, each.n_universes, each.n_run, each.default, each.same, shares)
        lines.append((*numbers, *turned, *varied, *flip, len(each.flips)))
    return pd.DataFrame(lines, columns=COLUMNS)


def count_text(n_run: int, n_universes: int) -> str:
    """Return how many universes have evidence, of how many where some have none."""
    return f"{n_run}" if n_run == n_universes else f"{n_run} of {n_universes}"


def stored_shares(results: Path) -> dict[str, str]:
    """Return in how many of its universes each claim has the verdict of the defaults, as `robustness_frame` wrote it.

    A claim that has one reading only is left out.
    """
    found = {}
    for path in sorted(results.glob("readings/*/robustness.csv")):
        frame = pd.read_csv(path)
        several = frame[(frame["universes"] > 1) & (frame["run"] > 0)]
        for claim, default, same, n in several[["claim", "default", "same", "run"]].itertuples(index=False):
            found[str(claim)] = f"{default} in {same:.0%} of {n}" if same == same else f"{n}, not by default"
    return found


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
