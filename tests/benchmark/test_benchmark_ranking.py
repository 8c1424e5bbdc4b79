"""Ranks, pairs, win rates and fronts, beside the same numbers by pandas and SciPy from the frame alone."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from provlab.verdicts.panel_frame import as_panel
from provlab.verdicts.panel_pairs import (
    EVERY_SOURCE,
    EVERYWHERE,
    adjusted,
    against_all,
    compared_with_all,
    pairs,
    pairs_of,
    win_rates,
)
from provlab.verdicts.panel_ranking import (
    everywhere,
    front,
    interval,
    leaderboard,
    ranks,
    resampled,
    sets_of,
    share_first,
)
from provlab.verdicts.panel_scores import ALL, MEASURES, Scores, over_domains

DOMAINS = {"text": 4, "genes": 3, "images": 2, "designs": 2, "speech": 1}
METHODS = {ALL: 0.0, "good": -0.02, "random": 0.1, "slow": 0.0, "two classes": 0.02}


@pytest.fixture(scope="module")
def panel():
    """Return a panel of methods with known effects on data sets of several domains.

    "slow" fails in a fold of the first set of text, "two classes" has no trial on
    images.
    """
    rng = np.random.default_rng(0)
    lines = []
    for domain, dataset in [
        (domain, f"{domain} {k}")
        for domain, n_sets in DOMAINS.items()
        for k in range(n_sets)
    ]:
        base = rng.uniform(0.1, 0.3)
        for method, effect in METHODS.items():
            own = base + effect * rng.uniform(0.5, 1.5) + 0.01 * rng.standard_normal()
            if (method, domain) == ("two classes", "images"):
                continue
            for size in [0] if method == ALL else [5, 20]:
                index, index_se, f1 = rng.uniform(size=3) if size else [np.nan] * 3
                f1 = f1 if domain == "designs" else np.nan
                for model, fold in product(("linear", "forest"), range(3)):
                    error = np.clip(
                        own + 0.2 / (size or 1000) + 0.02 * rng.standard_normal(), 0, 1
                    )
                    measured = {
                        "n_selected": size or 100, "error": error, "balanced_accuracy": 1 - error,
                        "neg_log_loss": -2 * error if model == "forest" else np.nan, "roc_auc": 1 - error / 2,
                        "subset_frobenius_ratio": 1 + error, "select_cpu": rng.lognormal(), "peak_bytes": 1e6,
                    }  # fmt: skip
                    failed = (method, dataset, fold) == ("slow", "text 0", 2)
                    lines.append({
                        "method": method, "dataset": dataset, "domain": domain, "source": f"source of {dataset}",
                        "size": size, "model": model, "support_recall": f1,
                        "fold": fold, "cell": f"{len(lines):064x}", "failure": "took 301 s" if failed else "",
                        "stability": index, "stability_se": index_se, "support_f1": f1, "false_discovery": 1 - f1,
                        **(dict.fromkeys(measured, np.nan) if failed else measured),
                    })  # fmt: skip
    same = {
        "task": "classification", "repeat": 0, "n_features": 100, "r2": np.nan, "mae": np.nan, "environment": "",
        "git_revision": "",
    }  # fmt: skip
    return as_panel(pd.DataFrame(lines).assign(**same))


@pytest.fixture(scope="module")
def scores(panel):
    return Scores.of(panel)


def errors_of(trials, size, model):
    """Return 100 (1 - balanced accuracy) by data set and method, with what is not there as NaN."""
    chosen = trials[trials["size"].isin([0, size]) & (trials["model"] == model)]
    ok = chosen.groupby(["domain", "dataset", "method"])["failure"].agg(
        lambda texts: (texts == "").all()
    )
    accuracy = chosen.groupby(["domain", "dataset", "method"])[
        "balanced_accuracy"
    ].mean()
    return 100 * (1 - accuracy.where(ok)).unstack()


def test_ranks_follow_from_the_frame_alone(panel, scores):
    errors = errors_of(panel, 20, "forest")
    # failed; "two classes" is not defined on images
    errors["slow"] = errors["slow"].fillna(np.inf)
    expected = errors.copy()
    for place, values in errors.iterrows():
        defined = values.dropna()
        expected.loc[place, defined.index] = 0.5 + (
            stats.rankdata(defined) - 0.5
        ) * len(values) / len(defined)
    ours = ranks(scores.of_slice(size=20, model="forest")).droplevel(
        ["source", "size", "model"]
    )
    assert_allclose(ours.loc[[*expected.index], expected.columns], expected)
    board = leaderboard(scores, size=20, model="forest")
    means = expected.groupby(level="domain").mean().mean()
    assert_allclose(board["rank"], means[board.index])
    assert board.index[0] == "good"
    assert (board["low"] <= board["rank"]).all()
    assert (board["rank"] <= board["high"]).all()


def by_textbook(values):
    """Return the p-values of `adjusted` and its level, a sign and a step at a time."""
    values = np.asarray(values, float)

    def p_of(signed):
        tests = [
            stats.ttest_1samp(column[np.isfinite(column)], 0, alternative="less")
            for column in signed.T
        ]
        return np.array([test.pvalue for test in tests])

    by_signs = np.array(
        [
            p_of(values * np.array(signs)[:, None])
            for signs in product([1, -1], repeat=len(values))
        ]
    )
    left = [*range(values.shape[1])]
    p_values = np.empty(values.shape[1])
    previous = 0.0
    while left:
        least = min(left, key=by_signs[0].__getitem__)
        previous = max(
            previous,
            np.mean(by_signs[:, left].min(axis=1) <= by_signs[0, least] * (1 + 1e-9)),
        )
        p_values[least] = previous
        left.remove(least)
    smallest = np.sort(by_signs.min(axis=1))
    return p_values, max(
        (level for level in smallest if np.mean(smallest <= level) <= 0.05), default=0
    )


def test_tests_follow_from_the_frame_alone(panel, scores):
    table = pairs(scores.of_slice(size=5, model="linear"))
    errors = errors_of(panel, 5, "linear")
    # failed; "two classes" has no trial on images
    errors["slow"] = errors["slow"].fillna(errors.max(axis=1))
    means = (
        errors.drop(columns=ALL).sub(errors[ALL], axis=0).groupby(level="domain").mean()
    )
    level = by_textbook(means)[1]
    for method, line in table.iterrows():
        own = means[method].dropna()
        ends = stats.ttest_1samp(own, 0).confidence_interval(0.95)
        assert_allclose(
            line[["difference", "low", "high"]].astype(float), [own.mean(), *ends]
        )
        for shift, power in ((1.0, 0.9), (0.8, 0.8)):
            df = len(own) - 1
            error = own.sem()
            chance = stats.nct.sf(
                stats.t.isf(level, df), df, shift * line["detectable"] / error
            )
            assert (
                chance == pytest.approx(0.9, abs=1e-6) if shift == 1 else chance < power
            )
    sides = {
        "p_better": [means],
        "p_worse": [-means],
        "p_same": [means - 1, -means - 1],
    }
    for name, samples in sides.items():
        p_values, _ = by_textbook(pd.concat(samples, axis=1))
        assert_allclose(table[name], np.max(np.split(p_values, len(samples)), axis=0))
    assert table["domains"].to_dict() == {
        "good": 5,
        "random": 5,
        "slow": 5,
        "two classes": 4,
    }
    assert table.loc["random", "verdict"] == "worse"


def test_all_sizes_are_one_family(scores):
    table = against_all(scores)
    errors = [scores.of_slice(size=size) for size in (5, 20)]
    means = [
        over_domains(of_size.drop(columns=ALL).sub(of_size[ALL], axis=0).mask(np.isinf))
        for of_size in errors
    ]
    # has the largest error of others where it failed
    chosen = [name for name in means[0] if name != "slow"]
    together = pd.concat([of_size[chosen] for of_size in means], axis=1)
    alone, _ = adjusted(together.to_numpy())
    assert (
        table.loc[pd.IndexSlice[:, chosen], "p_better"].to_numpy() >= alone - 1e-12
    ).all()
    of_one = pairs(errors[0])
    assert (
        table.loc[5]["p_better"] >= of_one["p_better"][table.loc[5].index] - 1e-12
    ).all()
    assert table.loc[5]["difference"].to_dict() == pytest.approx(
        of_one["difference"].to_dict()
    )


def test_sources_of_a_single_domain_are_its_witnesses(panel, scores):
    errors = scores.on("text").of_slice(size=20)
    table = pairs(errors)
    sets = errors.groupby(level="dataset").mean()
    assert table.loc["random", "domains"] == table.loc["random", "sets"] == 4
    assert table.loc["random", "p_worse"] == pytest.approx(
        by_textbook(-(sets[["random"]].sub(sets[ALL], axis=0)))[0]
    )
    alone = pairs(errors[errors.index.get_level_values("dataset") == "text 0"])
    assert alone[["low", "high", "detectable"]].isna().all(axis=None)
    assert alone["verdict"].value_counts().to_dict() == {"inconclusive": 3, "failed": 1}
    assert np.isnan(alone.loc["slow", "difference"])
    assert scores.decidable == []  # four signs alike are no 5 %
    fifth = panel[panel["dataset"] == "text 0"].assign(dataset="text 4")
    # of a source that is there
    assert Scores.of(pd.concat([panel, fifth])).decidable == []
    assert Scores.of(pd.concat([panel, fifth.assign(source="another")])).decidable == [
        "text"
    ]


def test_a_source_counts_once_however_many_sets_it_has(panel, scores):
    same = panel["source"].replace(
        {"source of text 1": "source of text 0", "source of text 2": "source of text 0"}
    )
    errors = scores.of_slice(size=20)
    sets = errors["random"].sub(errors[ALL]).groupby(level=["domain", "dataset"]).mean()
    expected = [sets["text"][:3].mean(), sets["text"]["text 3"]]
    merged = Scores.of(panel.assign(source=same))
    assert pairs(merged.on("text").of_slice(size=20)).loc["random", "domains"] == 2
    assert pairs(merged.on("text").of_slice(size=20)).loc[
        "random", "difference"
    ] == pytest.approx(np.mean(expected))
    of_domains = sets.groupby(level="domain").mean()
    of_domains["text"] = np.mean(expected)
    assert pairs(merged.of_slice(size=20)).loc["random", "difference"] == pytest.approx(
        of_domains.mean()
    )


def test_each_task_has_scores_of_its_own(panel, scores):
    numbers = panel["domain"].isin(["genes", "images"])
    tasks = panel.assign(task=np.where(numbers, "regression", "classification"))
    of_task = {
        task: Scores.of(tasks, task) for task in ("classification", "regression")
    }
    assert {*of_task["regression"].domains.index} == {"genes", "images"}
    assert {*of_task["classification"].domains.index} == {*DOMAINS} - {
        "genes",
        "images",
    }
    assert of_task["regression"].task == "regression"
    expected = scores.on("genes").lines.reset_index(drop=True)
    pd.testing.assert_frame_equal(
        of_task["regression"].on("genes").lines.reset_index(drop=True), expected
    )


matrices = st.integers(2, 7).flatmap(
    lambda n: arrays(
        float,
        st.tuples(st.just(n), st.integers(1, 4)),
        elements=st.integers(-8, 8).map(float),
    )
)


@given(matrices, st.integers(-40, 40))
def test_p_values_keep_with_units_orders_and_copies(values, exponent):
    p_values, _ = adjusted(values)
    assert ((p_values > 0) & (p_values <= 1)).all()
    assert p_values.min() >= 2.0 ** -len(values) - 1e-12
    assert_array_equal(adjusted(np.ldexp(values, exponent))[0], p_values)
    assert_allclose(adjusted(values[::-1])[0], p_values)
    assert_array_equal(
        adjusted(np.hstack([values, values]))[0], np.hstack([p_values, p_values])
    )
    alone = np.hstack([adjusted(column[:, None])[0] for column in values.T])
    assert (p_values >= alone - 1e-12).all()


def test_one_row_or_column_without_values_is_never_significant():
    assert adjusted(np.array([[-5.0, 3.0]]))[0].tolist() == [1, 1]
    values = np.column_stack(
        [
            [-1.0, -1.1, -0.9, -1.05, -1.0, -0.95],
            np.full(6, np.nan),
            [-3.0] + [np.nan] * 5,
        ]
    )
    p_values, _ = adjusted(values)
    assert p_values.tolist() == [1 / 64, 1, 1]


def test_what_failed_is_last_and_what_is_not_defined_has_no_rank(scores):
    by_set = ranks(scores.of_slice())
    n = by_set.shape[1]
    assert (by_set.xs("text 0", level="dataset")["slow"] == n).all()
    assert by_set.loc["images"]["two classes"].isna().all()
    board = leaderboard(scores)
    assert board.loc["slow", ["sets", "failed", "missing"]].tolist() == [11, 1, 0]
    assert board.loc["two classes", ["sets", "failed", "missing"]].tolist() == [
        10,
        0,
        2,
    ]
    assert sorted(everywhere(board).index) == ["good", "random", "slow"]
    assert scores.lines.query("failed > 0")["reason"].unique().tolist() == [
        "took 301 s"
    ]
    assert board["reason"].to_dict() == dict.fromkeys(board.index, "") | {
        "slow": "took 301 s"
    }


def test_a_method_that_failed_everywhere_has_no_number(panel, scores):
    failed = panel["method"] == "slow"
    own = panel.assign(failure=panel["failure"].mask(failed, "ValueError: no"))
    measured = [measure.column for measure in MEASURES.values()]
    own.loc[failed, measured] = np.nan
    judged = Scores.of(own)
    board = leaderboard(judged)
    assert board.index[-1] == "slow"
    numbers = board.drop(columns=["sets", "failed", "missing", "reason"])
    assert numbers.loc["slow"].isna().all()
    assert board.loc["slow", ["sets", "failed", "reason"]].tolist() == [
        0,
        12,
        "ValueError: no",
    ]
    assert numbers.drop("slow")["balanced_error"].notna().all()
    for beside, name in (
        (pairs(judged.of_slice()), "slow"),
        (pairs_of(judged.of_slice(), "slow"), "good"),
    ):
        assert beside.loc[name, "verdict"] == "failed"
        assert np.isnan(beside.loc[name, "difference"])
    assert sets_of(judged.of_slice(), "slow").empty
    same = pairs(judged.of_slice()).drop(index="slow")
    expected = pairs(Scores.of(panel[~failed]).of_slice())
    pd.testing.assert_frame_equal(same, expected.loc[same.index])


def test_equal_errors_tie_whatever_the_order_of_their_folds(panel):
    own = panel[panel["method"] == "good"].copy()
    right = np.random.default_rng(0).integers(20, 36, len(own))
    own["balanced_accuracy"] = (right / 37).astype(np.float32).astype(float)
    again = own.assign(
        method="again",
        fold=2 - own["fold"],
        balanced_accuracy=1 - np.float32((37 - right) / 37),
    )
    scores = Scores.of(
        pd.concat(
            [
                panel[panel["method"] != "good"],
                own,
                again.sort_values("fold", kind="stable"),
            ]
        )
    )
    errors = scores.of_slice()
    assert (errors["good"] != errors["again"]).any(), "rounding differs"
    assert (ranks(errors)["good"] == ranks(errors)["again"]).all()
    assert (
        win_rates(errors).loc["good", "again"]
        == pairs(errors, "again").loc["good", "wins"]
        == 0.5
    )


def test_memory_is_the_largest_of_any_trial(panel):
    large = panel.assign(peak_bytes=1e6)
    large.loc[
        large.query("method == 'good' and dataset == 'genes 1'").index[0], "peak_bytes"
    ] = 7e6
    assert leaderboard(Scores.of(large))["memory"].to_dict() == {
        **dict.fromkeys(panel["method"], 1.0),
        "good": 7.0,
    }


def test_the_worst_domain_is_that_of_the_largest_loss(panel, scores):
    errors = pd.concat({size: errors_of(panel, size, "linear") for size in (5, 20)})
    loss = (
        errors.sub(errors[ALL], axis=0)
        .groupby(["domain", "dataset"])
        .mean()
        .groupby("domain")
        .mean()["random"]
    )
    line = leaderboard(scores, model="linear").loc["random"]
    assert line["worst"] == pytest.approx(loss.max())
    assert line["worst_domain"] == loss.idxmax()
    assert line["worst"] > line["loss"]


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_a_leaderboard(scores, measure):
    board = leaderboard(scores, measure)
    assert board["rank"].is_monotonic_increasing
    assert board["win_rate"].between(0, 1).all()
    assert (ALL in board.index) == (
        measure not in ("stability", "support_f1", "support_recall", "false_discovery")
    )
    if measure == "log_loss":  # of the model that has probabilities
        assert scores.of_slice(measure).index.unique("model").tolist() == ["forest"]
    best = (
        board[measure].idxmin() if MEASURES[measure].lower else board[measure].idxmax()
    )
    assert board.loc[best, "rank"] < board["rank"].median() + 1


def test_resampling_is_that_of_domains_then_sets(scores):
    frame = scores.of_slice(size=20, model="linear")[["good", "random"]]
    ours = interval(frame)
    rng = np.random.default_rng(1)
    means = []
    for _ in range(3000):
        drawn = []
        for domain in rng.choice([*DOMAINS], len(DOMAINS)):
            own = frame.loc[domain].to_numpy()
            drawn.append(own[rng.integers(len(own), size=len(own))].mean(axis=0))
        means.append(np.mean(drawn, axis=0))
    spread = np.std(means, axis=0)
    for side, share in (("low", 0.025), ("high", 0.975)):
        assert (
            np.abs(ours[side] - np.quantile(means, share, axis=0)) < 0.2 * spread
        ).all()


def test_the_share_of_resamples_in_which_a_method_is_first(scores):
    # not defined on images
    by_set = ranks(scores.of_slice(size=20, model="linear")).drop(columns="two classes")
    shares = share_first(by_set)
    drawn = pd.DataFrame(resampled(by_set.drop(columns=ALL)), columns=shares.index)
    assert (
        shares.to_dict()
        == drawn.idxmin(axis=1)
        .value_counts(normalize=True)
        .reindex(shares.index, fill_value=0)
        .to_dict()
    )
    assert shares.sum() == pytest.approx(1)


def test_sources_count_the_same_where_a_table_says_so(panel, scores):
    compared = compared_with_all(scores)
    by_source = compared[EVERY_SOURCE]
    by_domain = compared[EVERYWHERE]
    errors = pd.concat(
        [errors_of(panel, 20, model) for model in ("linear", "forest")],
        keys=["linear", "forest"],
    )
    loss = errors.sub(errors[ALL], axis=0).groupby("dataset").mean()["random"]
    assert by_source.loc[(20, "random"), "difference"] == pytest.approx(loss.mean())
    assert by_source.loc[(20, "random"), "domains"] == len(loss)
    assert by_domain.loc[(20, "random"), "domains"] == len(DOMAINS)
    assert EVERY_SOURCE not in compared_with_all(scores.on("genes"))


def test_win_rates_of_a_pair_add_up_to_one(panel, scores):
    rates = win_rates(scores.of_slice())
    assert_allclose(rates + rates.T, 1)
    assert rates.loc["good", "random"] > 0.9
    everywhere_defined = Scores.of(panel[panel["method"] != "two classes"])
    rates = win_rates(everywhere_defined.of_slice())
    board = leaderboard(everywhere_defined)
    assert_allclose(
        board["win_rate"], (rates.sum(axis=1) - 0.5)[board.index] / (len(board) - 1)
    )


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)
)
def test_a_front_has_what_nothing_dominates(points):
    places = front(pd.DataFrame(points, columns=["stability", "loss"]), "stability")
    for place, (x, y) in enumerate(points):
        dominated = any(a >= x and b <= y and (a, b) != (x, y) for a, b in points)
        assert (place in places) != dominated
