"""The opening sentences of `select`, `run`, `compare` and `rank`; they claim no more than the intervals support."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import NamedTuple

import pandas as pd

from provlab.project.messages import counted_noun, visible_line
from provlab.verdicts.fold_differences import LEVEL, FoldDifferences

NAMES_SHOWN = 8
"""Maximum number of names in a sentence; longer lists are replaced by their length."""

MAX_DETECTABLE = 100.0
"""The largest possible difference of errors, in points."""

INTERVAL = "95 % interval"

WIDTH = 80
"""Line width of the sentences, in characters."""


SHARES = re.compile(
    "(balanced_)?accuracy|top_k_|roc_auc|average_precision|f1|precision|recall|jaccard"
)
"""Prefixes of measures from 0 to 1."""
EXPLAINED = re.compile("r2|explained|d2_")
"""Prefixes of measures of at most 1 without a smallest value."""


class Estimate(NamedTuple):
    """A mean over folds with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Words:
    """Text forms of the values of a measure.

    Attributes
    ----------
    measure : str
        Name of the measure, such as "error" or "roc_auc".
    is_percent : bool
    decimals : int
    sign : float
        1 if lower is better, -1 if higher is better.
    """

    measure: str
    is_percent: bool
    decimals: int
    sign: float = 1.0

    def number(self, value: float) -> str:
        """Return a value of the measure as text, empty if it is NaN."""
        return "" if math.isnan(value) else f"{value:,.{self.decimals}f}"

    def signed(self, value: float) -> str:
        """Return a difference with its sign; a difference that rounds to 0 is never negative."""
        if math.isnan(value):
            return ""
        return f"{round(value, self.decimals) + 0.0:+,.{self.decimals}f}"

    def value(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{self.number(value)} %" if self.is_percent else self.number(value)

    def interval(self, low: float, high: float) -> str:
        """Return both ends of an interval, or an empty string if they are NaN."""
        return interval_text(low, high, self.number)

    def estimate(self, estimate: Estimate) -> str:
        """Return an estimate with the name of the measure and its interval."""
        value = self.value(estimate.value)
        named = (
            f"{value} {self.measure}" if self.is_percent else f"{self.measure} {value}"
        )
        return f"{named} ({INTERVAL} {self.interval(estimate.low, estimate.high)})"

    def short(self, estimate: Estimate) -> str:
        """Return a value with its interval, without the name of the measure."""
        return f"{self.value(estimate.value)} ({self.interval(estimate.low, estimate.high)})"

    def amount(self, difference: float) -> str:
        """Return a difference with its unit."""
        number = self.number(difference)
        return f"{number} points" if self.is_percent else f"{number} in {self.measure}"

    def difference(self, difference: float, low: float, high: float) -> str:
        """Return a difference with its interval."""
        return f"difference {self.signed(difference)}, {INTERVAL} {self.signed(low)} to {self.signed(high)}"


def limits(measure: str) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a measure, which bound all intervals."""
    if measure == "error":
        return 0.0, 100.0
    if measure == "matthews_corrcoef":
        return -1.0, 1.0
    if measure.lower() in ("rmse", "mae"):
        return 0.0, math.inf
    if SHARES.match(measure):
        return 0.0, 1.0
    if EXPLAINED.match(measure):
        return -math.inf, 1.0
    # the best value of scikit-learn's neg_ measures is 0
    return -math.inf, 0.0 if measure.startswith("neg_") else math.inf


def number_text(value: float, text_of: Callable[[float], str]) -> str:
    """Return a number as text, empty if it is NaN."""
    return "" if math.isnan(value) else text_of(value)


def interval_text(low: float, high: float, text_of: Callable[[float], str]) -> str:
    """Return both ends of an interval as text, empty if they are NaN."""
    return "" if math.isnan(low) else f"{text_of(low)} to {text_of(high)}"


def joined(names: Sequence[str]) -> str:
    """Return names for a sentence, or their number if there are more than `NAMES_SHOWN`."""
    if len(names) > NAMES_SHOWN:
        return f"{len(names)} methods"
    if len(names) == 1:
        return names[0]
    has_comma = any("," in name for name in names)
    separator = "; " if has_comma else ", "
    return f"{separator.join(names[:-1])} and {names[-1]}"


def is_or_are(names: Sequence[str]) -> str:
    """Return the verb that agrees with the number of names."""
    return "is" if len(names) == 1 else "are"


def wrapped(sentences: Iterable[str]) -> str:
    """Return sentences wrapped for a terminal; column names are not broken."""
    text = "\n".join(
        fill(
            sentence.replace(" %", "\u00a0%"),
            WIDTH,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for sentence in sentences
    )
    return text.replace("\u00a0", " ")


# ---- sentences


def beside_reference(
    subject: str, reference: str, verdict: str, difference: str
) -> str:
    """Return a sentence that compares a subject with a reference."""
    if verdict == "same":
        return f"{subject} has the same error as {reference} within a point ({difference})."
    if verdict in ("better", "worse"):
        return f"{'It' if subject == 'it' else subject} is {verdict} than {reference} ({difference})."
    return f"These data cannot tell {subject} apart from {reference} ({difference})."


def among_methods(
    folds: FoldDifferences, words: Words, to_all: pd.DataFrame | None, of_all: str
) -> str:
    """Return which methods tie with the best, which differ from all features, and the detectable difference.

    Parameters
    ----------
    folds : FoldDifferences
        Values of the methods that select features.
    words : Words
    to_all : DataFrame or None
        Their differences from all features, see `FoldDifferences.to`; None if all
        features were not run.
    of_all : str
        Name of all features in the sentences.
    """
    sentences = []
    worse: list[str] = []
    if folds.values.shape[1] > 1:
        p_values = folds.to_best()["p"]
        worse = [visible_line(str(name)) for name in p_values.index[p_values < LEVEL]]
        sentences.append(
            _beside_best(visible_line(folds.best), len(p_values), len(worse))
        )
    worse_than_all, better_than_all = [], []
    if to_all is not None:
        shown = to_all["p"] < LEVEL
        is_worse = words.sign * to_all["difference"] > 0
        worse_than_all = [
            visible_line(str(name)) for name in to_all.index[shown & is_worse]
        ]
        better_than_all = [
            visible_line(str(name)) for name in to_all.index[shown & ~is_worse]
        ]
    verdicts = {
        "Worse than the best": worse,
        f"Worse than {of_all}": worse_than_all,
        f"Better than {of_all}": better_than_all,
    }
    if worse == worse_than_all:
        verdicts = {
            f"Worse than the best and than {of_all}": worse,
            f"Better than {of_all}": better_than_all,
        }
    for verdict, names in verdicts.items():
        if names:
            sentences.append(f"{verdict}: {joined(names)}.")
    if to_all is not None and not worse_than_all and not better_than_all:
        sentences.append(f"No method is shown to be better or worse than {of_all}.")
    detectable = folds.detectable()
    if math.isfinite(detectable):
        median = " (median of the methods)" if folds.values.shape[1] > 2 else ""
        amount = words.amount(detectable)
        sentences.append(
            f"A difference of {amount} from the best would be detected with probability 0.9{median}."
        )
    return " ".join(sentences)


def _beside_best(best: str, n_others: int, n_worse: int) -> str:
    """Return a sentence with the number of methods that cannot be told apart from the best."""
    n_alike = n_others - n_worse
    if not n_alike:
        return f"{best} is better than {'the other method' if n_others == 1 else f'each of {n_others} other methods'}."
    if n_others == 1:
        return f"The other method cannot be told apart from the best ({best})."
    if not n_worse:
        return f"None of the {n_others} other methods can be told apart from the best ({best})."
    return f"{n_alike} of {n_others} other methods cannot be told apart from the best ({best})."


def of_methods(
    folds: FoldDifferences,
    estimates: pd.DataFrame,
    words: Words,
    all_name: str = "",
    of_all: str = "all features",
) -> list[str]:
    """Return the sentences about a table of methods: the best, the error with all features, and ties.

    Parameters
    ----------
    folds : FoldDifferences
        All methods with results, including all features if they were run.
    estimates : DataFrame
        Indexed by method, with the columns value, low and high.
    words : Words
    all_name : str, optional
        The method that keeps all features.
    of_all : str
        Name of all features in the sentences.
    """
    has_all = all_name in folds.values
    methods = folds
    to_all = None
    if has_all:
        methods = FoldDifferences(
            folds.values.drop(columns=all_name), folds.ratio, folds.sign
        )
        to_all = methods.to(folds.values[all_name].to_numpy())
    n_methods = methods.values.shape[1]
    has_test = len(folds.values) > 1 and math.isfinite(folds.ratio)
    if not has_test or n_methods + has_all < 2 or not n_methods:
        return []
    best = Estimate(*estimates.loc[methods.best, ["value", "low", "high"]])
    rank = "least" if words.sign > 0 else "largest"
    text = f"{visible_line(methods.best)} has the {rank} {words.measure}: {words.value(best.value)}"
    text += f" ({INTERVAL} {words.interval(best.low, best.high)})"
    if n_methods == 1:
        text = f"{visible_line(methods.best)}: {words.estimate(best)}"
    if has_all:
        text += f"; {of_all}: {words.short(Estimate(*estimates.loc[all_name, ['value', 'low', 'high']]))}"
    if n_methods > 1 or to_all is None:
        return [f"{text}.", among_methods(methods, words, to_all, of_all)]
    difference, low, high, p_value = to_all.iloc[0]
    verdict = "worse" if words.sign * difference > 0 else "better"
    verdict = verdict if p_value < LEVEL else ""
    return [
        f"{text}.",
        beside_reference(
            "it", of_all, verdict, words.difference(difference, low, high)
        ),
    ]


def of_datasets(by_dataset: Mapping[str, FoldDifferences], words: Words) -> list[str]:
    """Return the number of data sets on which each method is best or tied with the best."""
    counts: dict[str, int] = {}
    detectable = []
    for folds in by_dataset.values():
        if min(folds.values.shape) < 2:
            continue
        p_values = folds.to_best()["p"]
        for name in [folds.best, *p_values.index[p_values >= LEVEL]]:
            counts[name] = counts.get(name, 0) + 1
        detectable.append(folds.detectable())
    if not counts:
        return []
    most = sorted(counts.items(), key=lambda item: -item[1])
    names = [f"{visible_line(name)} on {count}" for name, count in most[:NAMES_SHOWN]]
    further = (
        f", and {len(most) - NAMES_SHOWN} more on fewer"
        if len(most) > NAMES_SHOWN
        else ""
    )
    text = f"Best or tied with the best, out of {len(detectable)} data sets: {', '.join(names)}{further}."
    seen = [distance for distance in detectable if math.isfinite(distance)]
    if seen:
        text += (
            f" A difference of {words.amount(sorted(seen)[len(seen) // 2])} from the best on a data set would be "
            f"detected with probability 0.9 (median)."
        )
    return [text]


def of_standing(
    name: str, pairs: pd.DataFrame, words: Words, all_name: str, n_domains: int
) -> list[str]:
    """Return how a method compares with all features, and with each other method of a benchmark.

    Parameters
    ----------
    name : str
    pairs : DataFrame
        See `provlab.verdicts.panel_pairs.pairs_of`, with a row for `all_name`.
    words : Words
    all_name : str
    n_domains : int
        Number of domains; each counts as one observation.
    """
    sentences = []
    others = pairs.drop(index=all_name, errors="ignore")
    if all_name in pairs.index:
        beside_all = pairs.loc[all_name]
        difference = words.difference(
            beside_all["difference"], beside_all["low"], beside_all["high"]
        )
        sentences.append(
            beside_reference(name, all_name, beside_all["verdict"], difference)
        )
    n_undecided = int((others["verdict"] == "inconclusive").sum())
    texts = [
        f"{n_undecided} of {len(others)} other methods cannot be told apart from it."
    ]
    for verdict, text in (
        ("better", "Worse than it"),
        ("worse", "Better than it"),
        ("same", "Within a point of it"),
    ):
        names = [
            visible_line(str(method))
            for method in others.index[others["verdict"] == verdict]
        ]
        if names:
            texts.append(f"{text}: {joined(names)}.")
    if len(others):
        sentences.append(" ".join(texts))
    detectable = float(pairs["detectable"].median())
    if detectable < MAX_DETECTABLE:
        amount = words.amount(detectable)
        sentences.append(
            f"With {n_domains} domains, a difference of {amount} would be detected with probability 0.9 (median)."
        )
    else:
        sentences.append(
            f"{counted_noun(n_domains, 'domain')} cannot show any difference."
        )
    return sentences
