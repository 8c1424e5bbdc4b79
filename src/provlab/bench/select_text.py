"""The sentences and tables of `select`: nothing is said beyond what the intervals carry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from provlab.core.tables import aligned_text
from provlab.project.messages import visible_line
from provlab.verdicts.claims.paired_tests import Side, holm

if TYPE_CHECKING:
    from provlab.bench.selected import Estimate, Selected

LEVEL = 0.05

NAMES_SHOWN = 8
"""Names in a sentence; of more, how many there are."""

FREQUENT_SHOWN = 12
"""Lines of the table of frequencies."""


def answer(selected: Selected) -> list[str]:
    """Return one to four sentences."""
    values = selected.values
    gain = values.difference(values.procedure, values.guess)
    if max(selected.measure.sign * end for end in gain.interval(0.95)) < 0:
        sentences = [_keep(selected), _beside_all(selected), _methods(selected), _frequencies(selected)]
        return [sentence for sentence in sentences if sentence]
    detectable = gain.detectable(0.025, "less" if selected.measure.sign > 0 else "greater")
    sentence = f"A gain of {_amount(selected, detectable)} over guessing would be seen nine times in ten."
    return [_nothing(selected), sentence] if np.isfinite(detectable) else [_nothing(selected)]


def _keep(selected: Selected) -> str:
    """Return what to keep, and what it costs."""
    n_columns = selected.problem.n_columns
    error = _with_interval(selected, selected.error)
    guess = f"{_guessing(selected)} {_value(selected, selected.table.loc['guessing', selected.measure.name])}"
    if len(selected.features) == n_columns:
        return f"Keep all {n_columns} columns: {error}; {guess}. No smaller number is within one standard error."
    of_all = selected.values.estimate(selected.values.of_all, selected.measure)
    beside = f"all {n_columns:,} columns {_value(selected, of_all.value)} ({_range(selected, of_all)})"
    names = names_text(selected, selected.features)
    return f"Keep {names} (by {selected.method}): {error}; {beside}; {guess}."


def _beside_all(selected: Selected) -> str:
    """Return whether the procedure can be told apart from all columns."""
    values = selected.values
    n_columns = f"{selected.problem.n_columns:,}"
    if np.array_equal(values.procedure, values.of_all):
        return ""
    test = values.difference(values.procedure, values.of_all)
    low, high = test.interval(0.95)
    sign = selected.measure.sign
    interval = (
        f"{_signed(selected, test.estimate)}, 95 % interval {_signed(selected, low)} to {_signed(selected, high)}"
    )
    if low <= 0 <= high:
        return f"These data cannot tell it apart from all {n_columns} columns (difference {interval})."
    verb = "worse" if sign * test.estimate > 0 else "better"
    return f"It is {verb} than all {n_columns} columns (difference {interval})."


def _methods(selected: Selected) -> str:
    """Return which methods cannot be told apart from the best, and which are worse or better than all columns."""
    table = selected.table.iloc[:-2]
    if len(table) < 2:
        return ""
    compared = table.dropna(subset="difference_p")
    alike = compared.index[compared["difference_p"] >= LEVEL].tolist()
    text = f"{_alike(len(alike), len(compared))} told apart from the best ({selected.best})"
    if not alike:
        text = f"{selected.best} is better than each other method"
    against = table.dropna(subset="to_all_p")
    shown = against[against["to_all_p"] < LEVEL]
    sign = selected.measure.sign
    for word, names in (
        ("worse", shown.index[sign * shown["to_all"] > 0]),
        ("better", shown.index[sign * shown["to_all"] < 0]),
    ):
        if len(names):
            verb = "is" if len(names) == 1 else "are"
            text += f"; {_joined(list(names))} {verb} {word} than all columns"
    detectable = selected.detectable()
    if np.isfinite(detectable):
        text += f". A difference of {_amount(selected, detectable)} would be seen nine times in ten"
    return f"{text}."


def _alike(n_alike: int, n_others: int) -> str:
    if n_alike == n_others:
        return "The other method cannot be" if n_others == 1 else f"None of the {n_others} other methods can be"
    return f"{n_alike} of {n_others} other methods cannot be"


def _frequencies(selected: Selected) -> str:
    """Return how often the features of the final set were selected on the outer folds."""
    n_folds = len(selected.outer)
    frame = selected.frequency
    if len(selected.features) == selected.problem.n_columns:
        return ""
    counts = frame.loc[selected.features, "folds"]
    always = [name for name in selected.features if counts[name] == n_folds]
    if len(selected.features) > NAMES_SHOWN:
        verb = "is" if len(always) == 1 else "are"
        return f"{len(always)} of these {len(selected.features)} {verb} selected in all {n_folds} folds."
    fewer = [f"{_name(selected, name)} in {counts[name]}" for name in selected.features if counts[name] < n_folds]
    text = f"Of {n_folds} folds, selected: {', '.join(fewer)}."
    if always:
        text = f"Selected in all {n_folds} folds: {_joined([_name(selected, name) for name in always])}"
        text = f"{text}; {', '.join(fewer)}." if fewer else f"{text}."
    others = frame[~frame["selected"] & (2 * frame["folds"] >= n_folds)]
    if len(others):
        counted = [f"{_name(selected, str(name))} in {count}" for name, count in others["folds"].items()]
        text += f" Not on all rows, but often in folds: {', '.join(counted[:NAMES_SHOWN])}."
    return text


def _nothing(selected: Selected) -> str:
    """Return that nothing can be told apart from guessing, or that some methods alone can."""
    values, sign = selected.values, selected.measure.sign
    named = [(method.name, values.methods[:, place]) for place, method in enumerate(selected.problem.methods)]
    named.append((f"all {selected.problem.n_columns:,} columns", values.of_all))
    measured = [(name, of_folds) for name, of_folds in named if not np.isnan(of_folds).any()]
    side: Side = "less" if sign > 0 else "greater"
    p_values = [values.difference(of_folds, values.guess).p_value(0.0, side) for _, of_folds in measured]
    adjusted = holm(p_values)
    better = [name for (name, _), p in zip(measured, adjusted, strict=True) if p < LEVEL / 2]
    error = _with_interval(selected, selected.error)
    guess = f"{_guessing(selected)} {_value(selected, float(values.guess.mean()))}"
    if better:
        verb = "is" if len(better) == 1 else "are"
        text = f"The selection is not shown to be better than guessing: {error}; {guess}. {_joined(better)} {verb}"
        return f"{text}, so keep all columns, or name the method (--methods)."
    of_all = _value(selected, float(values.of_all.mean()))
    n_columns = f"{selected.problem.n_columns:,}"
    return f"No method is shown to be better than guessing: {error}; all {n_columns} columns {of_all}; {guess}."


# ---- numbers and names in words


def _value(selected: Selected, value: float) -> str:
    if selected.measure.is_percent:
        return f"{value:.1f} %"
    return f"{value:,.{_decimals(selected)}f}"


def _decimals(selected: Selected) -> int:
    """Return the decimals of three digits of the guess: RMSE has the unit of the target."""
    if selected.measure.scoring:
        return 3
    scale = abs(float(selected.values.guess.mean()))
    return max(0, 2 - math.floor(math.log10(scale))) if scale > 0 else 3


def _range(selected: Selected, estimate: Estimate) -> str:
    low, high = _value(selected, estimate.low), _value(selected, estimate.high)
    return f"{low.removesuffix(' %')} to {high.removesuffix(' %')}"


def _with_interval(selected: Selected, estimate: Estimate) -> str:
    value = _value(selected, estimate.value)
    named = f"{value} error" if selected.measure.is_percent else f"{selected.measure.name} {value}"
    return f"{named} (95 % interval {_range(selected, estimate)})"


def _signed(selected: Selected, value: float) -> str:
    decimals = 1 if selected.measure.is_percent else _decimals(selected)
    return f"{value:+,.{decimals}f}"


def _amount(selected: Selected, value: float) -> str:
    if selected.measure.is_percent:
        return f"{value:.1f} points"
    return f"{_value(selected, value)} in {selected.measure.name}"


def _guessing(selected: Selected) -> str:
    return "guessing the mean" if selected.problem.dataset.is_regression else "guessing the most frequent class"


def _name(selected: Selected, name: str) -> str:
    """Return a feature as it is named: with the columns that are equal to it."""
    return visible_line(" = ".join([name, *selected.copies.get(name, [])]))


def names_text(selected: Selected, names: Sequence[str]) -> str:
    """Return names in a sentence, or how many there are."""
    if len(names) > NAMES_SHOWN:
        return f"{len(names)} of {selected.problem.n_columns:,} columns, named below"
    return _joined([_name(selected, name) for name in names])


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---- tables


def method_texts(selected: Selected) -> pd.DataFrame:
    """Return the table of methods as texts, the best first."""
    table, measure = selected.table, selected.measure
    rows = table.index[:-2]
    order = (measure.sign * table.loc[rows, measure.name]).sort_values(kind="stable").index
    lines = {}
    for name in [*order, *table.index[-2:]]:
        line = table.loc[name]
        lines[visible_line(str(name))] = {
            "family": line["family"],
            "columns": f"{line['features']:g}",
            measure.label: _number(selected, line[measure.name]),
            "95 % interval": _interval(selected, line["low"], line["high"]),
            "difference": _difference(selected, line["difference"]),
            "p": _p(line["difference_p"]),
            "to all": _difference(selected, line["to_all"]),
            "stability": "" if np.isnan(line["stability"]) else f"{line['stability']:.2f}",
            "seconds": "" if np.isnan(line["seconds"]) else f"{line['seconds']:.3f}",
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def _number(selected: Selected, value: float) -> str:
    return "" if np.isnan(value) else _value(selected, value).removesuffix(" %")


def _interval(selected: Selected, low: float, high: float) -> str:
    return "" if np.isnan(low) else f"{_number(selected, low)} to {_number(selected, high)}"


def _difference(selected: Selected, value: float) -> str:
    return "" if np.isnan(value) else _signed(selected, value)


def _p(value: float) -> str:
    if np.isnan(value):
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def curve_texts(selected: Selected) -> pd.DataFrame:
    """Return the measure against the number of columns as texts."""
    lines = {}
    for size, line in selected.curve.iterrows():
        label = f"all {size:,}" if size == selected.problem.n_columns else f"{size:,}"
        lines[label] = {
            selected.measure.label: _number(selected, line[selected.measure.name]),
            "95 % interval": _interval(selected, line["low"], line["high"]),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def printed(selected: Selected) -> str:
    """Return the answer, then the tables, then the notes."""
    problem = selected.problem
    n_folds = len(selected.outer)
    parts = ["\n".join(selected.answer)]
    by_one = (
        f"{selected.measure.label} is over {n_folds} folds, each method with its own number of columns, chosen inside"
    )
    caption = (
        f"{by_one}. difference: to {selected.best}; p by Holm over the methods. to all: difference to all columns."
    )
    parts.append(f"{aligned_text(method_texts(selected))}{caption}")
    if len(selected.curve) > 1:
        parts.append(f"{selected.method} by the number of columns:\n{aligned_text(curve_texts(selected))}".rstrip())
    if len(selected.features) < problem.n_columns:
        parts.append(_frequency_lines(selected))
    whole = (
        f"The features are selected on all {problem.dataset.n_rows:,} rows by {selected.method}; the error is that of "
        f"the whole procedure, with method and number chosen anew inside each of {n_folds} training folds."
    )
    if problem.is_fixed:
        whole = whole.replace("method and number", "the method")
    if len(problem.methods) > 1:
        n_times = int((selected.folds["method"] == selected.method).sum())
        whole += f" {selected.method} is chosen in {n_times} of them."
    notes = [whole, f"The model is {problem.model!r}.", *selected.notes]
    parts.append("\n".join(visible_line(note) for note in notes))
    return "\n\n".join(parts)


def _frequency_lines(selected: Selected) -> str:
    """Return the features of the final set, and others that were often selected, with their folds."""
    frame = selected.frequency
    n_folds = len(selected.outer)
    final = frame[frame["selected"]]
    others = frame[~frame["selected"]]
    lines = [f"Selected on all rows, and in how many of {n_folds} folds:"]
    lines += _counted(selected, final)
    if len(others):
        lines.append("Selected in folds only:")
        lines += _counted(selected, others)
    return "\n".join(lines)


def _counted(selected: Selected, frame: pd.DataFrame) -> list[str]:
    lines = [f"  {n:>3}  {_name(selected, str(name))}" for name, n in frame["folds"].head(FREQUENT_SHOWN).items()]
    n_more = len(frame) - FREQUENT_SHOWN
    return [*lines, f"       and {n_more} more"] if n_more > 0 else lines
