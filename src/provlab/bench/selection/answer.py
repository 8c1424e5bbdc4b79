"""The sentences and tables of `select`: nothing is said beyond what the intervals carry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from provlab.core.tables import aligned_text
from provlab.project.messages import visible_line
from provlab.verdicts.claims.paired_tests import Side, holm

if TYPE_CHECKING:
    from provlab.bench.selection.selected import Estimate, Selected

LEVEL = 0.05

NAMES_SHOWN = 8
"""Names in a sentence; of more, how many there are."""

FREQUENT_SHOWN = 12
"""Features that only folds selected, and that are named."""

INTERVAL = "95 % interval"

WIDTH = 80
"""Characters of a line of a sentence."""


class Words:
    """Numbers and names of a selection as people read them."""

    def __init__(self, selected: Selected) -> None:
        self.measure = selected.measure
        self.copies = selected.copies
        n_columns = selected.problem.n_columns
        self.all_columns = "the only column" if n_columns == 1 else f"all {n_columns:,} columns"
        is_regression = selected.problem.dataset.is_regression
        self.guessing = f"guessing the {'mean' if is_regression else 'most frequent class'}"
        self.decimals = 3
        if self.measure.is_percent:
            self.decimals = 1
        elif not self.measure.scoring:  # RMSE has the unit of the target: three digits of the guess
            guess = float(selected.values.guess.mean())
            self.decimals = max(0, 2 - math.floor(math.log10(guess))) if guess > 0 else 3

    def number(self, value: float) -> str:
        """Return a value of the measure, empty where there is none."""
        return "" if np.isnan(value) else f"{value:,.{self.decimals}f}"

    def signed(self, value: float) -> str:
        """Return a difference."""
        return "" if np.isnan(value) else f"{value:+,.{self.decimals}f}"

    def value(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{self.number(value)} %" if self.measure.is_percent else self.number(value)

    def interval(self, low: float, high: float) -> str:
        """Return both ends."""
        return "" if np.isnan(low) else f"{self.number(low)} to {self.number(high)}"

    def estimate(self, estimate: Estimate) -> str:
        """Return the measure by its name, with its interval."""
        value = self.value(estimate.value)
        named = f"{value} error" if self.measure.is_percent else f"{self.measure.name} {value}"
        return f"{named} ({INTERVAL} {self.interval(estimate.low, estimate.high)})"

    def amount(self, difference: float) -> str:
        """Return a difference with its unit."""
        number = self.number(difference)
        return f"{number} points" if self.measure.is_percent else f"{number} in {self.measure.name}"

    def name(self, name: str) -> str:
        """Return a feature with the columns that are equal to it."""
        return visible_line(" = ".join([name, *self.copies.get(name, [])]))

    def counted(self, counts: pd.Series) -> str:
        """Return features with the numbers of folds."""
        return ", ".join([f"{self.name(str(name))} in {count}" for name, count in counts.items()])


def joined(names: Sequence[str]) -> str:
    """Return names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is_or_are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


# ---- sentences


def answer(selected: Selected) -> list[str]:
    """Return two to four sentences."""
    words = Words(selected)
    values = selected.values
    gain = values.difference(values.procedure, values.guess)
    if max(selected.measure.sign * end for end in gain.interval(0.95)) < 0:
        sentences = [_keep(selected, words), _beside_all(selected, words), _methods(selected, words)]
        if len(selected.features) < selected.problem.n_columns:
            sentences.append(_frequencies(selected, words))
        return [sentence for sentence in sentences if sentence]
    sentences = [_nothing(selected, words)]
    detectable = gain.detectable(LEVEL / 2, _better_side(selected))
    if math.isfinite(detectable):
        sentences.append(f"A gain of {words.amount(detectable)} over guessing would be seen nine times in ten.")
    return sentences


def _better_side(selected: Selected) -> Side:
    return "less" if selected.measure.sign > 0 else "greater"


def _keep(selected: Selected, words: Words) -> str:
    """Return what to keep, and what it costs."""
    error = words.estimate(selected.error)
    guess = f"{words.guessing} {words.value(float(selected.values.guess.mean()))}"
    n_kept = len(selected.features)
    if n_kept == selected.problem.n_columns:
        return f"Keep {words.all_columns}: {error}; {guess}. No smaller number is within one standard error."
    names = f"{n_kept} of {selected.problem.n_columns:,} columns, named below"
    if n_kept <= NAMES_SHOWN:
        names = joined([words.name(name) for name in selected.features])
    of_all = selected.values.estimate(selected.values.of_all, selected.measure)
    beside = f"{words.all_columns} {words.value(of_all.value)} ({words.interval(of_all.low, of_all.high)})"
    return f"Keep {names} (by {selected.method}): {error}; {beside}; {guess}."


def _beside_all(selected: Selected, words: Words) -> str:
    """Return whether the procedure can be told apart from all columns."""
    values = selected.values
    if np.array_equal(values.procedure, values.of_all):
        return ""
    test = values.difference(values.procedure, values.of_all)
    low, high = test.interval(0.95)
    difference = f"difference {words.signed(test.estimate)}, {INTERVAL} {words.signed(low)} to {words.signed(high)}"
    if low <= 0 <= high:
        return f"These data cannot tell it apart from {words.all_columns} ({difference})."
    verdict = "worse" if selected.measure.sign * test.estimate > 0 else "better"
    return f"It is {verdict} than {words.all_columns} ({difference})."


def _methods(selected: Selected, words: Words) -> str:
    """Return which methods cannot be told apart from the best, and which are worse or better than all columns."""
    methods = selected.table.iloc[:-2]
    compared = methods.dropna(subset="difference_p")
    if compared.empty:
        return ""
    n_alike = int((compared["difference_p"] >= LEVEL).sum())
    text = f"{selected.best} is better than each other method"
    if n_alike:
        text = f"{_alike(n_alike, len(compared))} told apart from the best ({selected.best})"
    shown = methods[methods["to_all_p"] < LEVEL]
    losses = selected.measure.sign * shown["to_all"]
    for verdict, is_so in (("worse", losses > 0), ("better", losses < 0)):
        names = shown.index[is_so].tolist()
        if names:
            text += f"; {joined(names)} {_is_or_are(names)} {verdict} than all columns"
    detectable = selected.detectable()
    if math.isfinite(detectable):
        text += f". A difference of {words.amount(detectable)} would be seen nine times in ten"
    return f"{text}."


def _alike(n_alike: int, n_others: int) -> str:
    if n_others == 1:
        return "The other method cannot be"
    if n_alike == n_others:
        return f"None of the {n_others} other methods can be"
    return f"{n_alike} of {n_others} other methods cannot be"


def _frequencies(selected: Selected, words: Words) -> str:
    """Return how often the features of the final set, and others, were selected on the outer folds."""
    n_folds = len(selected.outer)
    counts = selected.frequency.loc[selected.features, "folds"]
    always = counts.index[counts == n_folds].tolist()
    if len(counts) > NAMES_SHOWN:
        n_kept = len(selected.features)
        return f"{len(always)} of these {n_kept} {_is_or_are(always)} selected in all {n_folds} folds."
    fewer = words.counted(counts[counts < n_folds])
    text = f"Of {n_folds} folds, selected: {fewer}."
    if always:
        text = f"Selected in all {n_folds} folds: {joined([words.name(name) for name in always])}"
        text = f"{text}; {fewer}." if fewer else f"{text}."
    others = selected.frequency.loc[~selected.frequency["selected"], "folds"]
    frequent = others[2 * others >= n_folds].head(NAMES_SHOWN)
    if len(frequent):
        text += f" Not on all rows, but often in folds: {words.counted(frequent)}."
    return text


def _nothing(selected: Selected, words: Words) -> str:
    """Return that nothing can be told apart from guessing, or that some methods alone can."""
    values = selected.values
    error = words.estimate(selected.error)
    guess = f"{words.guessing} {words.value(float(values.guess.mean()))}"
    better = _better_than_guessing(selected, words)
    if better:
        text = f"The selection is not shown to be better than guessing: {error}; {guess}."
        return f"{text} Alone, {joined(better)} {_is_or_are(better)}: keep all columns, or name a method (--methods)."
    of_all = f"{words.all_columns} {words.value(float(values.of_all.mean()))}"
    return f"No method is shown to be better than guessing: {error}; {of_all}; {guess}."


def _better_than_guessing(selected: Selected, words: Words) -> list[str]:
    """Return the methods, all columns among them, that are better than guessing, by Holm."""
    values = selected.values
    named = {words.all_columns: values.of_all}
    for place, method in enumerate(selected.problem.methods):
        if not np.isnan(values.methods[:, place]).any():
            named[method.name] = values.methods[:, place]
    side = _better_side(selected)
    p_values = [values.difference(of_folds, values.guess).p_value(0.0, side) for of_folds in named.values()]
    return [name for name, p in zip(named, holm(p_values), strict=True) if p < LEVEL / 2]


# ---- tables


def method_texts(selected: Selected) -> pd.DataFrame:
    """Return the table of methods as texts, the best first."""
    words = Words(selected)
    table, measure = selected.table, selected.measure
    losses = measure.sign * table[measure.name].iloc[:-2]
    names = [*losses.sort_values(kind="stable").index, *table.index[-2:]]
    lines = {}
    for name in names:
        line = table.loc[name]
        lines[visible_line(str(name))] = {
            "family": line["family"],
            "columns": f"{line['features']:g}",
            measure.label: words.number(line[measure.name]),
            INTERVAL: words.interval(line["low"], line["high"]),
            "difference": words.signed(line["difference"]),
            "p": _or_empty(line["difference_p"], ".3f"),
            "to all": words.signed(line["to_all"]),
            "stability": _or_empty(line["stability"], ".2f"),
            "seconds": _or_empty(line["seconds"], ".3f"),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def _or_empty(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def curve_texts(selected: Selected) -> pd.DataFrame:
    """Return the measure against the number of columns as texts."""
    words = Words(selected)
    lines = {}
    for size, line in selected.curve.iterrows():
        label = f"all {size:,}" if size == selected.problem.n_columns else f"{size:,}"
        value = words.number(line[selected.measure.name])
        lines[label] = {selected.measure.label: value, INTERVAL: words.interval(line["low"], line["high"])}
    return pd.DataFrame.from_dict(lines, orient="index")


def printed(selected: Selected) -> str:
    """Return the answer, then the tables, then the notes."""
    n_folds = len(selected.outer)
    label = selected.measure.label
    caption = (
        f"{label} is over {n_folds} folds, each method with its own number of columns, chosen inside. difference: to "
        f"{selected.best}; p by Holm over the methods. to all: difference to all columns."
    )
    parts = [_wrapped(selected.answer), f"{aligned_text(method_texts(selected))}{_wrapped([caption])}"]
    if len(selected.curve) > 1:
        parts.append(f"{selected.method} by the number of columns:\n{aligned_text(curve_texts(selected))}".rstrip())
    if len(selected.features) < selected.problem.n_columns:
        parts.append(_frequency_lines(selected))
    notes = [_whole(selected), f"The model is {selected.problem.model!r}.", *selected.notes]
    parts.append(_wrapped(visible_line(note) for note in notes))
    return "\n\n".join(parts)


def _wrapped(sentences: Iterable[str]) -> str:
    """Return sentences as lines of a terminal; names of columns stay whole."""
    text = "\n".join(
        fill(sentence.replace(" %", "\u00a0%"), WIDTH, break_long_words=False, break_on_hyphens=False)
        for sentence in sentences
    )
    return text.replace("\u00a0", " ")


def _whole(selected: Selected) -> str:
    """Return what the features and the error are of."""
    problem = selected.problem
    inside = "the method" if problem.is_fixed else "method and number"
    text = (
        f"The features are selected on all {problem.dataset.n_rows:,} rows by {selected.method}; the error is that of "
        f"the whole procedure, with {inside} chosen anew inside each of {len(selected.outer)} training folds."
    )
    if len(problem.methods) == 1:
        return text
    n_times = int((selected.folds["method"] == selected.method).sum())
    return f"{text} {selected.method} is chosen in {n_times} of them."


def _frequency_lines(selected: Selected) -> str:
    """Return all features of the final set, and some that were selected on the outer folds only, by their folds."""
    words = Words(selected)
    frame = selected.frequency
    final = frame.loc[frame["selected"], "folds"]
    others = frame.loc[~frame["selected"], "folds"]
    lines = [f"Selected on all rows, and in how many of {len(selected.outer)} folds:", *_by_count(final, words)]
    if len(others):
        lines += ["Selected in folds only:", *_by_count(others.head(FREQUENT_SHOWN), words)]
    if len(others) > FREQUENT_SHOWN:
        lines.append(f"       and {len(others) - FREQUENT_SHOWN:,} more")
    return "\n".join(lines)


def _by_count(counts: pd.Series, words: Words) -> list[str]:
    """Return a line for each number of folds, with the features that were selected in so many."""
    lines = []
    for count, features in counts.groupby(counts, sort=False):
        names = [words.name(str(name)) for name in features.index]
        lines.append(f"  {count:>3}  {', '.join(names)}")
    return lines
