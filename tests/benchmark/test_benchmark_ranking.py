"""Ranks, pairs, win rates and fronts, beside the same numbers by pandas and SciPy from the Parquet file alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_panel import DOMAINS, made_panel
from scipy import stats
from statsmodels.stats.multitest import multipletests

from provlab.benchmark.ranking import (
    ALL,
    MEASURES,
    front,
    interval,
    leaderboard,
    of_slice,
    pairs,
    ranks,
    scores,
    win_rates,
)


@pytest.fixture(scope="module")
def panel():
    return made_panel()


@pytest.fixture(scope="module")
def lines(panel):
    return scores(panel)


@pytest.fixture(scope="module")
def file(panel, tmp_path_factory):
    path = tmp_path_factory.mktemp("panel") / "trials.parquet"
    panel.to_parquet(path)
    return path


def errors_of(path, size, model):
    """Return 100 (1 - balanced accuracy) by data set and method, from the file, with what is not there as NaN."""
    trials = pd.read_parquet(path)
    chosen = trials[trials["size"].isin([0, size]) & (trials["model"] == model)]
    ok = chosen.groupby(["domain", "dataset", "method"])["failure"].agg(lambda texts: (texts == "").all())
    accuracy = chosen.groupby(["domain", "dataset", "method"])["balanced_accuracy"].mean()
    return 100 * (1 - accuracy.where(ok)).unstack()


def test_ranks_follow_from_the_file_alone(file, lines):
    errors = errors_of(file, 20, "forest")
    last = errors.fillna(np.inf).to_numpy()
    expected = pd.DataFrame(stats.rankdata(last, axis=1), errors.index, errors.columns)
    found = ranks(of_slice(lines, size=20, model="forest")).droplevel(["size", "model"])
    np.testing.assert_array_equal(found.loc[[*expected.index], expected.columns], expected)
    board = leaderboard(lines, size=20, model="forest")
    means = expected.groupby(level="domain").mean().mean()
    np.testing.assert_allclose(board["rank"], means[board.index])
    assert board.index[0] == "good"
    assert (board["low"] <= board["rank"]).all()
    assert (board["rank"] <= board["high"]).all()


def test_tests_follow_from_the_file_alone(file, lines):
    found = pairs(of_slice(lines, size=5, model="linear"))
    errors = errors_of(file, 5, "linear")
    errors["slow"] = errors["slow"].fillna(errors.max(axis=1))  # failed; "two classes" has no trial on images
    p_better = []
    for method, line in found.iterrows():
        means = (errors[method] - errors[ALL]).groupby(level="domain").mean().dropna()
        test = stats.ttest_1samp(means, 0, alternative="less")
        low, high = stats.ttest_1samp(means, 0).confidence_interval(0.95)
        same = max(stats.ttest_1samp(means, 1, alternative="less").pvalue,
                   stats.ttest_1samp(means, -1, alternative="greater").pvalue)  # fmt: skip
        expected = [means.mean(), low, high, test.pvalue, 1 - test.pvalue, same, len(means)]
        names = ["difference", "low", "high", "p_better", "p_worse", "p_same", "domains"]
        np.testing.assert_allclose(line[names].astype(float), expected, rtol=1e-9, atol=1e-12)
        p_better.append(test.pvalue)
    better = multipletests(p_better, 0.05, "holm")[0]
    assert [*(found["verdict"] == "better")] == [*better]
    assert found["domains"].to_dict() == {"good": 5, "random": 5, "slow": 5, "two classes": 4}
    assert found.loc["random", "verdict"] == "worse"
    for shift, power in ((1.0, 0.9), (0.8, 0.75)):  # by the noncentral t, at the first step of Holm
        line, df = found.loc["good"], 4
        error = (line["high"] - line["low"]) / 2 / stats.t.ppf(0.975, df)
        chance = stats.nct.sf(stats.t.isf(0.05 / 4, df), df, shift * line["detectable"] / error)
        assert chance == pytest.approx(0.9, abs=1e-6) if shift == 1 else chance < power


def test_what_failed_or_was_not_computed_is_last(lines):
    found = ranks(of_slice(lines))
    n = found.shape[1]
    assert (found.xs("text 0", level="dataset")["slow"] == n).all()
    assert (found.loc["images"]["two classes"] == n).all()
    board = leaderboard(lines)
    assert board.loc["slow", ["sets", "failed", "missing"]].tolist() == [11, 1, 0]
    assert board.loc["two classes", ["sets", "failed", "missing"]].tolist() == [10, 0, 2]
    assert lines.loc[lines["failed"] > 0, "reason"].unique().tolist() == ["took 301 s"]


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_a_leaderboard(lines, measure):
    board = leaderboard(lines, measure)
    assert board["rank"].is_monotonic_increasing
    assert board["win_rate"].between(0, 1).all()
    assert (ALL in board.index) == (measure not in ("stability", "support_f1", "false_discovery"))
    if measure == "log_loss":  # of the model that has probabilities
        assert of_slice(lines, measure).index.unique("model").tolist() == ["forest"]
    best = board[measure].idxmin() if MEASURES[measure].lower else board[measure].idxmax()
    assert board.loc[best, "rank"] < board["rank"].median() + 1


def test_resampling_is_that_of_domains_then_sets(lines):
    frame = of_slice(lines, size=20, model="linear")[["good", "random"]]
    found, rng, means = interval(frame), np.random.default_rng(1), []
    for _ in range(3000):
        drawn = []
        for domain in rng.choice([*DOMAINS], len(DOMAINS)):
            own = frame.loc[domain].to_numpy()
            drawn.append(own[rng.integers(len(own), size=len(own))].mean(axis=0))
        means.append(np.mean(drawn, axis=0))
    spread = np.std(means, axis=0)
    for side, share in (("low", 0.025), ("high", 0.975)):
        assert (np.abs(found[side] - np.quantile(means, share, axis=0)) < 0.2 * spread).all()


def test_win_rates_of_a_pair_add_up_to_one(lines):
    rates = win_rates(of_slice(lines))
    np.testing.assert_allclose(rates + rates.T, 1)
    assert rates.loc["good", "random"] > 0.9
    board = leaderboard(lines)
    np.testing.assert_allclose(board["win_rate"], (rates.sum(axis=1) - 0.5)[board.index] / (len(board) - 1))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_a_front_has_what_nothing_dominates(points):
    found = front(pd.DataFrame(points, columns=["stability", "loss"]), "stability")
    for place, (x, y) in enumerate(points):
        dominated = any(a >= x and b <= y and (a, b) != (x, y) for a, b in points)
        assert (place in found) != dominated
