"""What the page of a claim shows of its readings, as plain data; strings are untrusted, as in `model`."""

from __future__ import annotations

from dataclasses import dataclass

from provsel.values import ValuesWithNaN


@dataclass(frozen=True, eq=False)
class ReadPlace(ValuesWithNaN):
    """An open place of the paper that touches a claim."""

    id: str
    asks: str
    where: str
    options: tuple[str, ...]
    turns: float
    """Of the pairs of universes that differ here alone, the share whose verdicts differ."""
    variance: float
    """Share of the variance of the mean effect; NaN where effects are not known."""


@dataclass(frozen=True, eq=False)
class UniverseLine(ValuesWithNaN):
    """A claim in one universe: the option of each place, and what came out."""

    options: tuple[str, ...]
    verdict: str
    part: str
    effect: float
    low: float
    high: float
    is_default: bool


@dataclass(frozen=True, eq=False)
class ClaimReadings(ValuesWithNaN):
    """A claim under all readings that touch it.

    Attributes
    ----------
    places : tuple of ReadPlace
    universes : tuple of UniverseLine
        Some of them, evenly taken by effect, where there are very many.
    n_universes, n_run : int
    default : str
        Verdict of the defaults on the data that the universes are of, which may be a part.
    same : float
        Share of the universes with that verdict.
    shares : tuple of (verdict, share)
    flips : tuple of (changes, verdict)
        The smallest changes of the defaults that give another verdict.
    unit : str
    margins : tuple of float
    printed : float
        NaN where the paper prints no number.
    part, settings : str
        What part of the data it is, and which settings say so; "" for all.
    """

    places: tuple[ReadPlace, ...]
    universes: tuple[UniverseLine, ...]
    n_universes: int
    n_run: int
    default: str
    same: float
    shares: tuple[tuple[str, float], ...]
    flips: tuple[tuple[str, str], ...]
    unit: str
    margins: tuple[float, ...]
    printed: float
    part: str
    settings: str
