"""Sentences and tables of `select`, which claim no more than the intervals support."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from provlab.bench.answer import (
    INTERVAL,
    NAMES_SHOWN,
    among_methods,
    beside_reference,
    is_or_are,
    joined,
    limits,
    number_text,
    wrapped,
)
from provlab.core.tables import aligned_text
from provlab.project.messages import visible_line
from provlab.verdicts.claims.paired_tests import CorrectedT, Side, holm
from provlab.verdicts.fold_differences import LEVEL

if TYPE_CHECKING:
    from provlab.bench.selection.selected import Selected

FREQUENT_SHOWN = 12
"""Maximum number of named features that were selected in folds only."""


def all_columns(selected: Selected) -> str:
    """Return the phrase for all columns."""
    n_columns = selected.problem.n_columns
    return "the only column" if n_columns == 1 else f"all {n_columns:,} columns"


def guessing(selected: Selected) -> str:
    """Return the phrase about the error of guessing."""
    kind = "mean" if selected.problem.dataset.is_regression else "most frequent class"
    return f"guessing the {kind} {selected.words.value(float(selected.guess.mean()))}"


def feature_name(selected: Selected, name: str) -> str:
    """Return the name of a feature with those of its copies."""
    return visible_line(" = ".join([name, *selected.copies.get(name, [])]))


# ---- sentences


def answer(selected: Selected) -> list[str]:
    """Return the answer as a list of sentences."""
    gain = selected.methods.test(selected.procedure, selected.guess)
    is_better = max(selected.measure.sign * end for end in gain.interval(0.95)) < 0
    if not is_better:
        return [_nothing(selected), _gain_seen(selected, gain)]
    sentences = [_keep(selected), _beside_all(selected)]
    if selected.methods.values.shape[1] > 1:
        to_all = selected.methods.to(selected.of_all)
        sentences.append(
            among_methods(selected.methods, selected.words, to_all, "all columns")
        )
    if len(selected.features) < selected.problem.n_columns:
        sentences.append(_frequencies(selected))
    return [sentence for sentence in sentences if sentence]


def _gain_seen(selected: Selected, gain: CorrectedT) -> str:
    """Return the sentence about the smallest gain over guessing that these folds can detect."""
    detectable = gain.detectable(LEVEL / 2, _better_side(selected))
    least, largest = limits(selected.measure.name)
    perfect = max(least, 0.0) if selected.measure.sign > 0 else largest
    if detectable > abs(perfect - float(selected.guess.mean())):
        n_folds = len(selected.outer)
        return f"These {n_folds} folds differ too much, or are too few, to show any gain over guessing."
    return f"A gain of {selected.words.amount(detectable)} over guessing would be detected with probability 0.9."


def _better_side(selected: Selected) -> Side:
    return "less" if selected.measure.sign > 0 else "greater"


def _keep(selected: Selected) -> str:
    """Return the sentence about the features to keep and their error."""
    error = selected.words.estimate(selected.error)
    guess = guessing(selected)
    of_all = selected.estimate(selected.of_all)
    n_kept = len(selected.features)
    if n_kept == selected.problem.n_columns:
        text = (
            f"Keep {all_columns(selected)}: {selected.words.estimate(of_all)}; {guess}."
        )
        if not np.array_equal(selected.procedure, selected.of_all):
            text += f" Selection in each fold, which dropped columns in some: {error}."
        return f"{text} No smaller number is within one standard error."
    names = f"{n_kept} of {selected.problem.n_columns:,} columns, named below"
    if n_kept <= NAMES_SHOWN:
        names = joined([feature_name(selected, name) for name in selected.features])
    beside = f"{all_columns(selected)} {selected.words.short(of_all)}"
    return f"Keep {names} (by {selected.method}): {error}; {beside}; {guess}."


def _beside_all(selected: Selected) -> str:
    """Return the sentence about the difference between the procedure and all columns."""
    keeps_all = len(selected.features) == selected.problem.n_columns
    if keeps_all or np.array_equal(selected.procedure, selected.of_all):
        return ""
    test = selected.methods.test(selected.procedure, selected.of_all)
    low, high = test.interval(0.95)
    verdict = ""
    if not low <= 0 <= high:
        verdict = "worse" if selected.measure.sign * test.estimate > 0 else "better"
    return beside_reference(
        "it",
        all_columns(selected),
        verdict,
        selected.words.difference(test.estimate, low, high),
    )


def _frequencies(selected: Selected) -> str:
    """Return the sentence about how often features were selected on the outer folds."""
    n_folds = len(selected.outer)
    counts = selected.frequency.loc[selected.features, "folds"]
    always = counts.index[counts == n_folds].tolist()
    if len(counts) > NAMES_SHOWN:
        n_kept = len(selected.features)
        return f"{len(always)} of these {n_kept} {is_or_are(always)} selected in all {n_folds} folds."
    fewer = _counted(selected, counts[counts < n_folds])
    text = f"Selected, out of {n_folds} folds: {fewer}."
    if always:
        text = f"Selected in all {n_folds} folds: {joined([feature_name(selected, name) for name in always])}"
        text = f"{text}; {fewer}." if fewer else f"{text}."
    others = selected.frequency.loc[~selected.frequency["selected"], "folds"]
    frequent = others[2 * others >= n_folds].head(NAMES_SHOWN)
    if len(frequent):
        text += f" Often selected in folds, but not on all rows: {_counted(selected, frequent)}."
    return text


def _counted(selected: Selected, counts: pd.Series) -> str:
    """Return features with the number of folds that selected each."""
    return ", ".join(
        [
            f"{feature_name(selected, str(name))} in {count or 'none'}"
            for name, count in counts.items()
        ]
    )


def _nothing(selected: Selected) -> str:
    """Return the sentence that the procedure or all methods are not shown to be better than guessing."""
    error = selected.words.estimate(selected.error)
    guess = guessing(selected)
    better = _better_than_guessing(selected)
    if better:
        text = (
            f"The selection is not shown to be better than guessing: {error}; {guess}."
        )
        return f"{text} Used alone, {joined(better)} {is_or_are(better)} better: keep all columns, or use --methods."
    of_all = (
        f"{all_columns(selected)} {selected.words.value(float(selected.of_all.mean()))}"
    )
    return f"No method is shown to be better than guessing: {error}; {of_all}; {guess}."


def _better_than_guessing(selected: Selected) -> list[str]:
    """Return the methods, including all columns, that beat guessing after Holm's correction."""
    methods = selected.methods.values.copy()
    methods.insert(0, all_columns(selected), selected.of_all)
    side = _better_side(selected)
    p_values = []
    for name in methods:
        test = selected.methods.test(methods[name].to_numpy(), selected.guess)
        p_values.append(test.p_value(0.0, side))
    return [
        str(name)
        for name, p in zip(methods, holm(p_values), strict=True)
        if p < LEVEL / 2
    ]


# ---- tables


def method_texts(selected: Selected) -> pd.DataFrame:
    """Return the table of methods as strings, best method first."""
    table, measure = selected.table, selected.measure
    losses = measure.sign * table[measure.name].iloc[:-2]
    names = [*losses.sort_values(kind="stable").index, *table.index[-2:]]
    lines = {}
    for name in names:
        line = table.loc[name]
        lines[visible_line(str(name))] = {
            measure.label: selected.words.number(line[measure.name]),
            INTERVAL: selected.words.interval(line["low"], line["high"]),
            "difference": selected.words.signed(line["difference"]),
            "p": number_text(line["difference_p"], "{:.3f}".format),
            "to all": selected.words.signed(line["to_all"]),
            "columns": f"{line['features']:g}",
            "stability": number_text(line["stability"], "{:.2f}".format),
            "family": line["family"],
            "seconds": number_text(line["seconds"], "{:.3f}".format),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def curve_texts(selected: Selected) -> pd.DataFrame:
    """Return the measure for each number of columns as strings."""
    lines = {}
    for size, line in selected.curve.iterrows():
        label = f"all {size:,}" if size == selected.problem.n_columns else f"{size:,}"
        value = selected.words.number(line[selected.measure.name])
        lines[label] = {
            selected.measure.label: value,
            INTERVAL: selected.words.interval(line["low"], line["high"]),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def methods_caption(selected: Selected) -> str:
    """Return the explanation of the numbers in the table of methods."""
    return (
        f"{selected.measure.label} is the mean over {len(selected.outer)} folds; the number of columns of each "
        f"method is chosen inside the folds. difference: from {selected.best}, with p adjusted for all pairs of "
        f"methods. to all: difference from all columns."
    )


def frequency_texts(selected: Selected) -> pd.DataFrame:
    """Return the number of folds that selected each column, and whether it is in the final set, as strings."""
    frame = selected.frequency
    names = [feature_name(selected, str(name)) for name in frame.index]
    n_folds = len(selected.outer)
    texts = {
        "selected": frame["selected"]
        .map({True: "on all rows", False: "in folds only"})
        .tolist()
    }
    texts["folds"] = [f"{count} of {n_folds}" for count in frame["folds"]]
    return pd.DataFrame(texts, index=names)


def how_computed(selected: Selected) -> list[str]:
    """Return notes on the fits behind the features and the error, on the model, and further remarks."""
    notes = [
        _whole(selected),
        f"The model is {selected.problem.model!r}.",
        *selected.notes,
    ]
    return [visible_line(note) for note in notes]


def printed(selected: Selected) -> str:
    """Return the answer, then the tables, then the notes."""
    parts = [
        wrapped(selected.answer),
        f"{aligned_text(method_texts(selected))}{wrapped([methods_caption(selected)])}",
    ]
    if len(selected.curve) > 1:
        parts.append(
            f"{selected.method} by the number of columns:\n{aligned_text(curve_texts(selected))}".rstrip()
        )
    if len(selected.features) < selected.problem.n_columns:
        parts.append(_frequency_lines(selected))
    parts.append(wrapped(how_computed(selected)))
    return "\n\n".join(parts)


def _whole(selected: Selected) -> str:
    """Return the note on the fits from which the features and the error come."""
    problem = selected.problem
    inside = "the method" if problem.is_fixed else "the method and the number"
    text = (
        f"The features are selected on all {problem.dataset.n_rows:,} rows by {selected.method}; the error is that of "
        f"the whole procedure, which chooses {inside} separately inside each of {len(selected.outer)} training folds."
    )
    if len(problem.methods) == 1:
        return text
    n_times = int((selected.folds["method"] == selected.method).sum())
    return f"{text} It chooses {selected.method} in {n_times} of them."


def _frequency_lines(selected: Selected) -> str:
    """Return the final features, and some selected in outer folds only, by the number of folds."""
    frame = selected.frequency
    final = frame.loc[frame["selected"], "folds"]
    others = frame.loc[~frame["selected"], "folds"]
    lines = [
        f"Selected on all rows, by number of folds (of {len(selected.outer)}):",
        *_by_count(selected, final),
    ]
    if len(others):
        lines += [
            "Selected in folds only:",
            *_by_count(selected, others.head(FREQUENT_SHOWN)),
        ]
    if len(others) > FREQUENT_SHOWN:
        lines.append(f"       and {len(others) - FREQUENT_SHOWN:,} more")
    return "\n".join(lines)


def _by_count(selected: Selected, counts: pd.Series) -> list[str]:
    """Return a line for each number of folds, with the features selected in that many folds."""
    lines = []
    for count, features in counts.groupby(counts, sort=False):
        names = [feature_name(selected, str(name)) for name in features.index]
        lines.append(f"  {count:>3}  {', '.join(names)}")
    return lines
