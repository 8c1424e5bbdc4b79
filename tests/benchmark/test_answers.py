"""The sentences of `select`, `run`, `compare` and `rank`: what they say follows from the numbers of the folds."""

import numpy as np
import pandas as pd
import pytest

from provlab.bench.answer import Words, of_datasets, of_methods, of_standing
from provlab.verdicts.fold_differences import FoldDifferences

ERROR = Words("error", is_percent=True, decimals=1)
AUC = Words("roc_auc", is_percent=False, decimals=3, sign=-1.0)


def folds_of(means, spread=1.0, n_folds=10, sign=1.0):
    """Values of methods on folds: the mean of each is as given, and its noise is its own."""
    noise = np.random.default_rng(0).standard_normal((n_folds, len(means)))
    noise -= noise.mean(axis=0)
    values = pd.DataFrame(
        spread * noise + np.array(list(means.values())), columns=list(means)
    )
    return FoldDifferences(values, ratio=1 / (n_folds - 1), sign=sign)


def said(means, words=ERROR, spread=1.0, **options):
    folds = folds_of(means, spread, sign=words.sign)
    return " ".join(of_methods(folds, folds.means(), words, **options))


@pytest.mark.parametrize(
    ("means", "options", "parts", "absent"),
    [
        (
            {"a": 5.0, "b": 5.1, "c": 30.0},
            {},
            ["a has the least error: 5.0 % (95 % interval ", "1 of 2 other methods cannot be told apart",
             "Worse than the best: c.", "would be detected with probability 0.9"],
            ["all features"],
        ),
        (
            {"a": 5.0, "b": 5.1},
            {},
            ["The other method cannot be told apart from the best (a)."],
            ["Worse"],
        ),
        ({"a": 5.0, "b": 30.0}, {}, ["a is better than the other method."], ["cannot"]),
        (
            {"a": 5.0, "b": 30.0, "c": 31.0},
            {},
            ["a is better than each of 2 other methods."],
            ["cannot"],
        ),
        (
            {"a": 5.0, "b": 5.1, "c": 30.0, "all": 5.2},
            {"all_name": "all"},
            ["; all features: 5.2 % (", "Worse than the best and than all features: c."],
            ["Better than"],
        ),
        (
            {"a": 5.0, "b": 5.1, "all": 30.0},
            {"all_name": "all"},
            ["The other method cannot be told apart from the best (a).", "Better than all features: a and b."],
            ["Worse"],
        ),
        (
            {"a": 5.0, "b": 5.1, "all": 5.2},
            {"all_name": "all"},
            ["No method is shown to be better or worse than all features."],
            ["Worse", "Better"],
        ),
        (
            {"a": 5.0, "all": 5.2},
            {"all_name": "all"},
            ["a: 5.0 % error (95 % interval ",
             "These data cannot tell it apart from all features (difference -0.2, 95 % interval"],
            ["best", "probability 0.9"],
        ),
        ({"a": 25.0, "all": 5.2}, {"all_name": "all"}, ["It is worse than all features (difference +19.8"], []),
        ({"a": 5.0, "all": 25.2}, {"all_name": "all"}, ["It is better than all features (difference -20.2"], []),
    ],
)  # fmt: skip
def test_what_is_said_of_errors(means, options, parts, absent):
    text = said(means, **options)
    for part in parts:
        assert part in text
    for part in absent:
        assert part not in text


def test_more_is_better_of_scores():
    text = said({"a": 0.9, "b": 0.5, "all": 0.91}, AUC, spread=0.01, all_name="all")
    assert "a has the largest roc_auc: 0.900" in text
    assert "a is better than the other method" in text
    assert "Worse than the best and than all features: b." in text


@pytest.mark.parametrize("means", [{}, {"a": 5.0}, {"all": 5.0}])
def test_of_one_method_there_is_nothing_to_tell(means):
    assert said(means, all_name="all") == ""


def test_of_one_fold_there_is_nothing_to_tell():
    folds = FoldDifferences(pd.DataFrame({"a": [1.0], "b": [2.0]}), ratio=0.5)
    estimates = pd.DataFrame(
        {"value": [1.0, 2.0], "low": np.nan, "high": np.nan}, index=["a", "b"]
    )
    assert of_methods(folds, estimates, ERROR) == []
    assert of_datasets({"one": folds}, ERROR) == []


def test_many_methods_are_counted_and_names_with_commas_are_kept_apart():
    many = said({"a": 5.0, **{f"m{k}": 40.0 for k in range(9)}})
    assert (
        "a is better than each of 9 other methods. Worse than the best: 9 methods."
        in many
    )
    assert "Worse than the best: b, largest; c and d." in said(
        {"a": 5.0, "b, largest": 40.0, "c": 41.0, "d": 42.0}
    )


def test_two_folds_without_spread_show_no_difference():
    folds = FoldDifferences(
        pd.DataFrame({"a": [0.0, 0.0], "b": [10.0, 10.0]}), ratio=1.0
    )
    text = " ".join(of_methods(folds, folds.means(), ERROR))
    assert "The other method cannot be told apart from the best (a)." in text


def test_several_data_sets_are_counted():
    clear = folds_of({"a": 5.0, "b": 30.0, "c": 31.0})
    close = folds_of({"a": 5.1, "b": 5.0, "c": 40.0})
    [text] = of_datasets({"one": clear, "two": close}, ERROR)
    assert text.startswith(
        "Best or tied with the best, out of 2 data sets: a on 2, b on 1. A difference of "
    )
    assert of_datasets({"one": folds_of({"a": 1.0})}, ERROR) == []


def standing(verdicts, detectable=8.0):
    pairs = pd.DataFrame(
        {
            "verdict": verdicts,
            "difference": 2.0,
            "low": -1.0,
            "high": 5.0,
            "detectable": detectable,
        }
    )
    return " ".join(of_standing("mine", pairs, ERROR, "all features", n_domains=10))


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (
            "worse",
            "mine is worse than all features (difference +2.0, 95 % interval -1.0 to +5.0).",
        ),
        ("better", "mine is better than all features"),
        ("same", "mine has the same error as all features within a point"),
        ("inconclusive", "These data cannot tell mine apart from all features"),
    ],
)
def test_a_selector_stands_beside_all_features_first(verdict, sentence):
    text = standing(
        {
            "all features": verdict,
            "a": "better",
            "b": "worse",
            "c": "inconclusive",
            "d": "same",
        }
    )
    assert text.startswith(sentence)
    assert (
        "1 of 4 other methods cannot be told apart from it. Worse than it: a. Better than it: b. Within a point"
        in text
    )
    assert text.endswith(
        "With 10 domains, a difference of 8.0 points would be detected with probability 0.9 (median)."
    )


def test_few_domains_are_said_to_show_nothing():
    assert standing({"a": "inconclusive"}, np.inf).endswith(
        "10 domains cannot show any difference."
    )
