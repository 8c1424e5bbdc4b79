"""Robustness of verdicts: the verdicts on a claim in all universes, and the choices that change them.

A verdict that takes a side counts if it is firm: at least half of all universes take a
side, and at least 80 % of those agree with it. If fewer than half take a side, the
claim is *inconclusive under most readings*, otherwise it *depends on the reading*. A
claim has *one reading* if its paper has readings but none was tested for it.
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
"""Share of the decisive universes that must agree for a firm verdict."""

MIN_DECIDED = 0.5
"""Share of all universes that must be decisive for a firm verdict."""

ROUNDING = 1e-4
"""Tolerance for shares, which are stored with four decimals."""

SIDE = {NOT_CONTRADICTED: REPLICATED}
"""Verdicts that count as agreeing with another verdict."""


@dataclass(frozen=True)
class Robustness:
    """The verdicts on a claim under all readings that affect it.

    Attributes
    ----------
    claim : str
    n_universes, n_run : int
        Numbers of all universes and of those with evidence; all other fields concern
        the latter.
    default : str
        Verdict in the default universe.
    shares : dict
        Share of the universes with each verdict, the most frequent first.
    turns : dict
        Share of pairs of universes with different verdicts among pairs that differ only
        in one place, by place, the largest first.
    variance : dict
        Share of the variance of the mean effect that the options of a place explain, by
        place (first-order index; Saltelli et al. 2008, chapter 1). The rest is
        interaction. Empty if effects are unknown or all the same.
    flips : list of (str, str)
        All smallest sets of changes to the defaults that give another verdict, such as
        "C=1, weights=log", with that verdict. Empty if all verdicts are the same.
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
        """Share of the universes with the default verdict; NaN if the default was not run."""
        if self.default == NOT_RUN:
            return np.nan
        return self.shares.get(self.default, np.nan)

    @property
    def decided(self) -> float:
        """Share of the universes that take a side."""
        return sum(
            share for verdict, share in self.shares.items() if verdict in DECIDED
        )

    @property
    def decides(self) -> bool:
        """Whether at least half of the universes take a side."""
        return self.decided >= MIN_DECIDED - ROUNDING

    def agrees(self, verdict: str) -> bool:
        """Return whether at least `FIRM` of the decisive universes are on the side of a verdict.

        Not contradicted is on the side of replicated, because part of the data can be
        too small to show what all data show.
        """
        side = SIDE.get(verdict, verdict)
        same = sum(
            share for name, share in self.shares.items() if SIDE.get(name, name) == side
        )
        return same >= FIRM * self.decided - ROUNDING

    @property
    def turned_by(self) -> str:
        """The place that changes most verdicts; "" if no place changes any."""
        return next((place for place, share in self.turns.items() if share), "")

    def counts_as(self, verdict: str) -> str:
        """Return the counted verdict on the claim, see the module docstring."""
        if verdict not in DECIDED:
            return verdict
        if self.n_universes == 1:
            return ONE_READING
        if not self.decides:
            return OPEN_UNDER_READINGS
        if not self.agrees(verdict):
            return DEPENDS_ON_READING
        return verdict


def robustness_of(readings: Readings, universes: pd.DataFrame) -> list[Robustness]:
    """Return the robustness of each claim in a frame of `judge_universes`."""
    claims = []
    for claim, lines in universes.groupby("claim", sort=False):
        defaults = {}
        for place in readings.places:
            if (lines[place.id] != "").all():
                defaults[place.id] = place.options[0].name
        default = str(lines["verdict"].iloc[0])
        run = lines[lines["verdict"] != NOT_RUN]
        flips: list[tuple[str, str]] = []
        if default != NOT_RUN:
            flips = _smallest_flips(run[run["verdict"] != default], defaults)
        shares = {
            verdict: n / len(run)
            for verdict, n in Counter(run["verdict"]).most_common()
        }
        turns = {}
        for name in defaults:
            turns[name] = _share_of_turns(
                run, [place for place in defaults if place != name]
            )
        variance = _variance(run, [*defaults])
        counts = str(claim), len(lines), len(run), default
        claims.append(
            Robustness(*counts, shares, _largest_first(turns), variance, flips)
        )
    return claims


def robustness_frame(claims: Sequence[Robustness]) -> pd.DataFrame:
    """Return one row per claim, with `COLUMNS`."""
    lines = []
    for claim in claims:
        turns = claim.turns.get(claim.turned_by, np.nan)
        # no place is named if none changes the verdict
        if claim.turns and not claim.turned_by:
            turns = 0.0
        varied_by, variance = next(iter(claim.variance.items()), ("", np.nan))
        flip, flip_verdict = next(iter(claim.flips), ("", ""))
        lines.append((
            claim.claim, claim.n_universes, claim.n_run, claim.default, claim.same, shares_text(claim.shares),
            claim.turned_by, turns, varied_by, variance, flip, flip_verdict, len(claim.flips),
        ))  # fmt: skip
    return pd.DataFrame(lines, columns=COLUMNS)


def count_text(n_run: int, n_universes: int) -> str:
    """Return the number of universes with evidence, out of all universes if some have none."""
    if n_run == n_universes:
        return f"{n_run}"
    return f"{n_run} of {n_universes}"


def stored_robustness(results: Path) -> dict[str, Robustness]:
    """Return the robustness of each claim, by its id, from the files that `robustness_frame` describes.

    These files contain only the places with the largest turns and variance, and flips
    are not read.
    """
    claims: dict[str, Robustness] = {}
    for path in sorted(results.glob("readings/*/robustness.csv")):
        claims |= read_robustness(path.parent)
    return claims


def read_robustness(folder: Path) -> dict[str, Robustness]:
    """Return the robustness of each claim by its id from the file in a folder; empty if there is none."""
    path = folder / "robustness.csv"
    if not path.is_file():
        return {}
    claims = {}
    frame = pd.read_csv(
        path,
        keep_default_na=False,
        na_values={name: [""] for name in ("turns", "variance")},
    )
    for line in frame[frame["run"] > 0].to_dict("records"):
        turns: dict[str, float] = {}
        variance: dict[str, float] = {}
        if line["turned_by"]:
            turns[line["turned_by"]] = line["turns"]
        if line["varied_by"]:
            variance[line["varied_by"]] = line["variance"]
        claim = str(line["claim"])
        counts = claim, line["universes"], line["run"], line["default"]
        claims[claim] = Robustness(
            *counts, read_shares(line["shares"]), turns, variance, []
        )
    return claims


def stored_subsamples(results: Path) -> dict[str, str]:
    """Return the stored verdicts on each claim for subsamples of the default that are as large as a universe."""
    texts = {}
    for path in sorted(results.glob("readings/*/subsamples.csv")):
        for line in pd.read_csv(path, dtype=str).to_dict("records"):
            texts[line["claim"]] = percentages(read_shares(line["shares"]))
    return texts


def counted(claim: str, verdict: str, robustness: Mapping[str, Robustness]) -> str:
    """Return the counted verdict on a claim, which is unchanged if no claim of its paper has readings."""
    if claim in robustness:
        return robustness[claim].counts_as(verdict)
    prefix = claim.partition(".")[0] + "."
    if verdict in DECIDED and any(name.startswith(prefix) for name in robustness):
        return ONE_READING
    return verdict


def tallied(verdicts: Iterable[str]) -> list[tuple[str, int]]:
    """Return the number of each verdict, in the order of `VERDICTS`."""
    counts = Counter(verdicts)
    return [(verdict, counts[verdict]) for verdict in VERDICTS]


def under_readings(claim: str, robustness: Mapping[str, Robustness]) -> str:
    """Summarise the verdicts on a claim under readings in a few words."""
    if claim not in robustness:
        return "not tested"
    result = robustness[claim]
    if result.n_universes == 1:
        return "one reading"
    text = f"{percentages(result.shares)} of {count_text(result.n_run, result.n_universes)}"
    if result.turned_by:
        text += f"; most often changed by {result.turned_by}"
    return text


def shares_text(shares: Mapping[str, float]) -> str:
    """Format the share of each verdict, as in robustness.csv and subsamples.csv."""
    return "; ".join(f"{verdict} {share:.4f}" for verdict, share in shares.items())


def read_shares(text: str) -> dict[str, float]:
    """Parse the text of `shares_text`."""
    shares = {}
    for part in text.split("; "):
        verdict, _, share = part.rpartition(" ")
        shares[verdict] = float(share)
    return shares


def percentages(shares: Mapping[str, float]) -> str:
    """Format shares of verdicts for readers."""
    return ", ".join(f"{share:.0%} {verdict}" for verdict, share in shares.items())


def _share_of_turns(run: pd.DataFrame, places: list[str]) -> float:
    """Return the share of pairs with different verdicts among pairs of universes that agree in the given places."""
    n_pairs = _count_pairs(run, ["claim", *places])
    if not n_pairs:
        return 0.0
    return (n_pairs - _count_pairs(run, ["claim", *places, "verdict"])) / n_pairs


def _count_pairs(run: pd.DataFrame, columns: list[str]) -> int:
    """Return the number of pairs of rows that agree in the given columns."""
    sizes = run.groupby(columns, sort=False).size()
    return int((sizes * (sizes - 1) // 2).sum())


def _variance(run: pd.DataFrame, places: list[str]) -> dict[str, float]:
    """Return the share of the variance of the mean effect that each place explains; see `Robustness`."""
    effects = run["mean_effect"].to_numpy(float)
    if not effects.size or np.isnan(effects).any():
        return {}
    mean = effects.mean()
    total = float(((effects - mean) ** 2).sum())
    if total <= 1e-20 * float((effects**2).sum()):
        return {}
    shares = {}
    for place in places:
        means = run.groupby(place)["mean_effect"].transform("mean").to_numpy(float)
        shares[place] = float(((means - mean) ** 2).sum()) / total
    return _largest_first(shares)


def _largest_first(shares: dict[str, float]) -> dict[str, float]:
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _smallest_flips(
    flipped: pd.DataFrame, defaults: dict[str, str]
) -> list[tuple[str, str]]:
    """Return the smallest changes of the defaults that change the verdict, with the new verdicts."""
    is_changed = flipped[[*defaults]].ne(pd.Series(defaults, dtype=object))
    n_changes = is_changed.sum(axis=1)
    flips = []
    for line in flipped[n_changes == n_changes.min()].to_dict("records"):
        changes = [
            f"{place}={line[place]}"
            for place, default in defaults.items()
            if line[place] != default
        ]
        flips.append((", ".join(changes), line["verdict"]))
    return flips
